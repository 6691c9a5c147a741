//! The state of an attached controller: a JSON document, a table and metrics.

use crate::registry::Registry;
use crate::report::ALONE;
use accord_control::Controller;
use accord_door::metrics::Metrics;
use serde::Serialize;
use std::fmt::Write;

/// The state of an attached controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// The version of the program.
    pub version: &'static str,
    /// The name of the congestion control in the kernel.
    pub name: String,
    /// The family of the controller.
    pub controller: &'static str,
    /// True if the kernel reports once per round trip instead of once per acknowledgement.
    pub per_round: bool,
    /// The deciding process.
    pub pid: u32,
    /// The seconds since the start.
    pub uptime_s: f64,
    /// The number of connections since the start.
    pub connections_total: u64,
    /// The number of connections whose controller failed.
    pub failed_connections_total: u64,
    /// The reason of the latest failure of a controller.
    pub failure: Option<String>,
    /// The number of connections without a slot, which use the BPF program's Reno.
    pub refused_connections_total: u64,
    /// The number of times that a connection continued as Reno, since no decision came.
    pub silences_total: u64,
    /// The number of reports received.
    pub reports_total: u64,
    /// The number of reports lost to a full ring buffer.
    pub lost_reports_total: u64,
    /// The ages of decisions at the time of writing: from the report to the decision.
    pub decision_age_s: Ages,
    /// The connections.
    pub connections: Vec<ConnectionStatus>,
}

impl Status {
    /// Returns a line for each kind of event in which connections had no decisions, or reports
    /// were lost.
    pub fn problems(&self) -> Vec<String> {
        let latest = match &self.failure {
            Some(why) => format!(" (the latest: {why})"),
            None => String::new(),
        };
        let all = [
            ("turns to Reno, since no decision came", self.silences_total, ""),
            (
                "connections that continue as Reno, since their controller failed",
                self.failed_connections_total,
                &latest,
            ),
            (
                "connections beyond the number of slots, which use Reno",
                self.refused_connections_total,
                "",
            ),
            ("reports lost to a full ring buffer", self.lost_reports_total, ""),
        ];
        let all = all.iter().filter(|(_, count, _)| *count > 0);
        all.map(|(what, count, more)| format!("{what}: {count}{more}")).collect()
    }
}

/// A distribution of ages, in seconds. All are zero before the first decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Ages {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

/// The state of a connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConnectionStatus {
    /// The address and the port of the other end.
    pub peer: String,
    /// The port of this end.
    pub port: u16,
    /// The state in the kernel: open, disorder, reduced, recovery or loss.
    pub state: &'static str,
    /// True while the connection continues as Reno, since no decision came.
    pub alone: bool,
    /// The window in the kernel, in packets.
    pub cwnd_packets: u32,
    /// The controller's window in bytes, headers included.
    pub window_bytes: u64,
    /// The slow-start threshold in packets, if it is set.
    pub ssthresh_packets: Option<u32>,
    /// The pace in bytes of payload per second.
    pub pacing_bytes_per_s: u64,
    /// The smoothed round-trip time in seconds.
    pub srtt_s: f64,
    /// The smallest round-trip time in seconds, if there was one.
    pub min_rtt_s: Option<f64>,
    /// The bytes delivered, headers included.
    pub delivered_bytes: u64,
    /// The packets declared lost.
    pub lost_packets: u32,
    /// The packets delivered whose acknowledgements echoed marks.
    pub marked_packets: u32,
    /// The timeouts.
    pub timeouts: u32,
    /// The age of the latest decision at the time of writing, in seconds.
    pub decision_age_s: f64,
    /// The maximum age of a decision.
    pub most_decision_age_s: f64,
    /// The reason why the controller is no longer used, if there is one.
    pub error: Option<String>,
}

const NANO: f64 = 1e-9;

/// Returns the state. `base` has the facts outside of the registry, and `peer` returns the remote
/// address and the local port of the connection in a slot.
pub fn status(registry: &Registry, base: Status, peer: impl Fn(u32) -> (String, u16)) -> Status {
    let connections = registry.entries().map(|(slot, entry)| {
        let (peer, port) = peer(slot);
        let (connection, last) = (entry.connection.as_ref(), &entry.last);
        ConnectionStatus {
            peer,
            port,
            state: last.state().word(),
            alone: last.is(ALONE),
            cwnd_packets: last.cwnd,
            window_bytes: match (&entry.failed, connection) {
                (None, Some(connection)) => connection.controller().cwnd().get(),
                _ => 0,
            },
            ssthresh_packets: Some(last.ssthresh).filter(|n| *n < 0x7fff_ffff),
            pacing_bytes_per_s: last.pacing_rate,
            srtt_s: f64::from(last.srtt_us) * 1e-6,
            min_rtt_s: connection.and_then(|c| Some(c.min_rtt()?.as_secs_f64())),
            delivered_bytes: connection.map_or(0, |c| c.delivered().get()),
            lost_packets: last.lost,
            marked_packets: last.delivered_ce,
            timeouts: last.timeouts,
            decision_age_s: entry.age_ns.0 as f64 * NANO,
            most_decision_age_s: entry.age_ns.1 as f64 * NANO,
            error: entry.failed.clone(),
        }
    });
    let ages = match registry.ages.len() {
        0 => Ages::default(),
        _ => Ages {
            mean: registry.ages.mean() * NANO,
            p50: registry.ages.value_at_quantile(0.5) as f64 * NANO,
            p99: registry.ages.value_at_quantile(0.99) as f64 * NANO,
            max: registry.ages.max() as f64 * NANO,
        },
    };
    Status {
        version: env!("CARGO_PKG_VERSION"),
        connections_total: registry.connections,
        failed_connections_total: registry.failed,
        failure: registry.failure.clone(),
        reports_total: registry.reports,
        decision_age_s: ages,
        connections: connections.collect(),
        ..base
    }
}

/// Returns the state as a table.
pub fn table(status: &Status) -> String {
    let mut text = String::new();
    let reports = if status.per_round { "once per round trip" } else { "per acknowledgement" };
    let _ = writeln!(
        text,
        "{}: {}, reports {reports}, for {:.0} s; connections so far: {}",
        status.name, status.controller, status.uptime_s, status.connections_total
    );
    let ages = status.decision_age_s;
    let _ = writeln!(
        text,
        "decisions after {:.2} ms (mean), {:.2} ms (99th percentile), {:.2} ms (maximum)",
        ages.mean * 1e3,
        ages.p99 * 1e3,
        ages.max * 1e3
    );
    for problem in status.problems() {
        let _ = writeln!(text, "{problem}");
    }
    let row = |cells: &[&str]| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip([28, 6, 9, 8, 10, 8, 8, 12, 8, 8]) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        line.trim_end().to_string() + "\n"
    };
    if !status.connections.is_empty() {
        let heads = "peer port state window pace srtt min_rtt delivered lost age";
        text += &row(&heads.split(' ').collect::<Vec<_>>());
        text += &row(&["", "", "", "packets", "Mbps", "ms", "ms", "bytes", "packets", "ms"]);
    }
    for c in &status.connections {
        let state = match (&c.error, c.alone) {
            (Some(_), _) => "failed",
            (None, true) => "alone",
            (None, false) => c.state,
        };
        let least = c.min_rtt_s.map_or("-".into(), |s| format!("{:.2}", s * 1e3));
        text += &row(&[
            &c.peer,
            &c.port.to_string(),
            state,
            &c.cwnd_packets.to_string(),
            &format!("{:.2}", c.pacing_bytes_per_s as f64 * 8e-6),
            &format!("{:.2}", c.srtt_s * 1e3),
            &least,
            &c.delivered_bytes.to_string(),
            &c.lost_packets.to_string(),
            &format!("{:.2}", c.decision_age_s * 1e3),
        ]);
    }
    for c in &status.connections {
        if let Some(error) = &c.error {
            let _ = writeln!(text, "{}: continues as Reno: {error}", c.peer);
        }
    }
    text
}

/// Returns the metrics in the text format of Prometheus.
pub fn metrics(status: &Status) -> String {
    let mut metrics = Metrics::new("accord_kernel");
    let version = format!(
        "{{version=\"{}\",name=\"{}\",controller=\"{}\"}}",
        status.version, status.name, status.controller
    );
    metrics.family("build_info", "gauge", "The program.", [(version, 1.0)]);
    let all = |value: f64| [(String::new(), value)];
    let open = status.connections.len() as f64;
    metrics.family("connections", "gauge", "Connections now.", all(open));
    macro_rules! total {
        ($field:ident, $help:literal) => {
            metrics.family(stringify!($field), "counter", $help, all(status.$field as f64));
        };
    }
    total!(connections_total, "Connections since the start.");
    total!(failed_connections_total, "Connections whose controller failed.");
    total!(refused_connections_total, "Connections without a slot.");
    total!(silences_total, "Times that a connection continued as Reno, since no decision came.");
    total!(reports_total, "Reports received.");
    total!(lost_reports_total, "Reports lost to a full ring buffer.");
    let ages = status.decision_age_s;
    let quantiles = [("0.5", ages.p50), ("0.99", ages.p99), ("1", ages.max)];
    metrics.family(
        "decision_age_seconds",
        "gauge",
        "The ages of decisions at the time of writing.",
        quantiles.map(|(q, s)| (format!("{{quantile=\"{q}\"}}"), s)),
    );
    type Of = fn(&ConnectionStatus) -> Option<f64>;
    let connections: [(&str, &str, &str, Of); 7] = [
        ("delivered_bytes_total", "counter", "Bytes delivered, headers included.", |c| {
            Some(c.delivered_bytes as f64)
        }),
        ("lost_packets_total", "counter", "Packets declared lost.", |c| {
            Some(c.lost_packets.into())
        }),
        ("window_packets", "gauge", "The window in the kernel.", |c| Some(c.cwnd_packets.into())),
        ("pacing_bytes_per_second", "gauge", "The pace of payload.", |c| {
            Some(c.pacing_bytes_per_s as f64)
        }),
        ("srtt_seconds", "gauge", "The smoothed round-trip time.", |c| Some(c.srtt_s)),
        ("min_rtt_seconds", "gauge", "The smallest round-trip time.", |c| c.min_rtt_s),
        (
            "alone",
            "gauge",
            "1 while the connection continues as Reno, since no decision came.",
            |c| Some(f64::from(u8::from(c.alone))),
        ),
    ];
    for (name, kind, help, of) in connections {
        let samples = status.connections.iter().filter_map(|c| {
            let labels = format!("{{peer=\"{}\",port=\"{}\"}}", c.peer, c.port);
            Some((labels, of(c)?))
        });
        metrics.family(name, kind, help, samples);
    }
    metrics.text()
}
