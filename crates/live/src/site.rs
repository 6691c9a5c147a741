//! A site of a tunnel for a station: the devices by which packets reach its gateway, and the
//! reports of the gateway.

use crate::tun::Tun;
use accord_transport::{View, ip};
use accord_units::Duration;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

/// The length of the datagrams with control messages between gateways.
const CONTROL: usize = 140;
/// The type of a datagram that carries a packet [WireGuard §5.4.6].
const TRANSPORT: u8 = 4;
/// The length of a datagram of that type without a packet.
const EMPTY: usize = 60;

/// A site with its gateway, in its own namespace.
#[derive(Debug)]
pub struct Site {
    /// The device whose far side is the network: datagrams of the tunnel.
    pub wan: Tun,
    /// The device whose far side is the site: packets of the flows in the tunnel.
    pub lan: Tun,
    /// The addresses of the gateway and of the other one.
    pub ends: (Ipv4Addr, Ipv4Addr),
    /// The flows whose sinks have these addresses.
    pub riders: Arc<BTreeMap<Ipv4Addr, usize>>,
    /// The latest report of the gateway.
    pub report: LatestReport,
}

/// The latest report of a gateway, written by the polling thread.
#[derive(Clone, Debug, Default)]
pub struct LatestReport(Arc<Mutex<Report>>);

/// The report of a gateway on its tunnel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// True if the controller is active.
    pub controlled: bool,
    /// The round-trip times and the accumulation.
    pub view: View,
    /// The bytes that wait at the edge, and the packets that were dropped there.
    pub edge: (u64, u64),
}

impl LatestReport {
    /// Returns the report.
    pub fn get(&self) -> Report {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the report.
    pub fn set(&self, report: Report) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = report;
    }
}

impl Report {
    /// Reads the metrics of a gateway with one peer and one class.
    pub fn read(metrics: &str) -> Report {
        let value = |name: &str| {
            let samples = metrics.lines().filter_map(|line| {
                let (key, value) = line.rsplit_once(' ')?;
                let of_it = key.strip_prefix("accord_gateway_")?.strip_prefix(name)?;
                (of_it.is_empty() || of_it.starts_with(['{', ','])).then_some(value)
            });
            let values = samples.filter_map(|value| value.parse::<f64>().ok());
            let values = values.filter(|value| value.is_finite() && *value >= 0.0);
            values.reduce(|sum, value| sum + value)
        };
        let time = |name| value(name).map(Duration::from_secs_f64);
        let drops = |why| value(&format!("dropped_packets_total{{reason=\"{why}\"")).unwrap_or(0.0);
        Report {
            controlled: metrics.lines().any(|line| {
                line.starts_with("accord_gateway_state{")
                    && line.ends_with("state=\"controlled\"} 1")
            }),
            view: View {
                rtt: time("srtt_seconds"),
                min_rtt: time("min_rtt_seconds"),
                accumulation: value("accumulation_bytes"),
                ..View::default()
            },
            edge: (
                value("edge_waiting_bytes").unwrap_or(0.0) as u64,
                (drops("late") + drops("overflow")) as u64,
            ),
        }
    }
}

/// Returns true for a datagram of a tunnel that carries a packet of a site.
pub fn carries_data(packet: &[u8]) -> bool {
    let payload = ip::Packet::new(packet).and_then(|p| p.udp());
    payload.is_some_and(|p| p.first() == Some(&TRANSPORT))
        && packet.len() != CONTROL
        && packet.len() > EMPTY
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: &str = "\
# TYPE accord_gateway_state gauge
accord_gateway_state{peer=\"other\",state=\"unknown\"} 0
accord_gateway_state{peer=\"other\",state=\"controlled\"} 1
accord_gateway_dropped_packets_total{reason=\"no_route\"} 7
accord_gateway_dropped_packets_total{reason=\"late\",peer=\"other\",class=\"default\"} 3
accord_gateway_dropped_packets_total{reason=\"overflow\",peer=\"other\",class=\"default\"} 2
accord_gateway_edge_waiting_bytes{peer=\"other\",class=\"default\"} 2120
accord_gateway_accumulation_bytes{peer=\"other\"} 3000.5
accord_gateway_srtt_seconds{peer=\"other\"} 0.025
";

    #[test]
    fn metrics_are_read() {
        let report = Report::read(METRICS);
        assert!(report.controlled);
        assert_eq!(report.edge, (2120, 5));
        assert_eq!(report.view.rtt, Some(Duration::from_ms(25)));
        assert_eq!(report.view.accumulation, Some(3000.5));
        assert_eq!(report.view.min_rtt, None);
        let blind = METRICS.replace("controlled\"} 1", "controlled\"} 0");
        assert!(!Report::read(&blind).controlled);
        assert_eq!(Report::read(""), Report::default());
    }
}
