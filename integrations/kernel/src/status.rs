//! The state of an attached controller: a JSON document, a table and metrics.

use crate::registry::Registry;
use crate::report::ALONE;
use accord_control::Controller;
use accord_door::metrics::Metrics;
use accord_door::{State, fields};
use serde::Serialize;
use std::fmt::Write;

fields! {
    /// The state of an attached controller.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct Status {
        "The version of the program." version: &'static str;
        "The name of the congestion control in the kernel." name: String;
        "The family of the controller." controller: &'static str;
        "Whether the kernel reports once per round trip instead of once per acknowledgement."
            per_round: bool;
        "The deciding process." pid: u32;
        "Seconds since the start." uptime_s: f64;
        "Connections since the start." connections_total: u64, counter "connections_total";
        "Connections whose controller failed."
            failed_connections_total: u64, counter "failed_connections_total";
        "The reason of the latest failure of a controller." failure: Option<String>;
        "Connections without a slot, which use the BPF program's Reno."
            refused_connections_total: u64, counter "refused_connections_total";
        "Times that a connection continued as Reno, since no decision came."
            silences_total: u64, counter "silences_total";
        "Reports received." reports_total: u64, counter "reports_total";
        "Reports lost to a full ring buffer."
            lost_reports_total: u64, counter "lost_reports_total";
        "The ages of decisions at the time of writing: from the report to the decision."
            decision_age_s: Ages;
        "The connections." connections: Vec<ConnectionStatus>;
    }
}

impl Status {
    /// Returns a line per kind of event in which connections had no decisions or reports were lost.
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

fields! {
    /// The state of a connection.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct ConnectionStatus {
        "The address and the port of the other end." peer: String;
        "The address and the port of this end." local: String;
        "The inode number of the network namespace." namespace: u32;
        "The state in the kernel: open, disorder, reduced, recovery or loss." state: &'static str;
        "Whether the connection continues as Reno, since no decision came."
            alone: bool, gauge "alone";
        "The window in the kernel, in packets." cwnd_packets: u32, gauge "window_packets";
        "The controller's window in bytes, headers included." window_bytes: u64;
        "The slow-start threshold in packets, if it is set." ssthresh_packets: Option<u32>;
        "The pace in bytes of payload per second."
            pacing_bytes_per_s: u64, gauge "pacing_bytes_per_second";
        "Smoothed round-trip time in seconds." srtt_s: f64, gauge "srtt_seconds";
        "Smallest round-trip time in seconds, if there was one."
            min_rtt_s: Option<f64>, gauge "min_rtt_seconds";
        "Bytes delivered, headers included." delivered_bytes: u64, counter "delivered_bytes_total";
        "Packets declared lost." lost_packets: u32, counter "lost_packets_total";
        "Packets delivered whose acknowledgements echoed marks." marked_packets: u32;
        "Timeouts." timeouts: u32;
        "The age of the latest decision at the time of writing, in seconds." decision_age_s: f64;
        "The maximum age of a decision." most_decision_age_s: f64;
        "The reason why the controller is no longer used, if there is one." error: Option<String>;
    }
}

const NANO: f64 = 1e-9;

/// The ends of a connection. Several namespaces may have connections with the same addresses.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// The address and the port of the other end.
    pub peer: String,
    /// The address and the port of this end.
    pub local: String,
    /// The inode number of the network namespace.
    pub namespace: u32,
}

/// Returns the state. `base` has the facts outside the registry, and `ends` returns the ends of the connection
/// in a slot.
pub fn status(registry: &Registry, base: Status, ends: impl Fn(u32) -> Ends) -> Status {
    let connections = registry.entries().map(|(slot, entry)| {
        let Ends { peer, local, namespace } = ends(slot);
        let (connection, last) = (entry.connection.as_ref(), &entry.last);
        ConnectionStatus {
            peer,
            local,
            namespace,
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

impl State for Status {
    fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn table(&self) -> String {
        let reports = if self.per_round { "once per round trip" } else { "per acknowledgement" };
        let ages = self.decision_age_s;
        let mut text = format!(
            "{}: {}, reports {reports}, for {:.0} s; connections so far: {}\n\
             decisions after {:.2} ms (mean), {:.2} ms (99th percentile), {:.2} ms (maximum)\n",
            self.name,
            self.controller,
            self.uptime_s,
            self.connections_total,
            ages.mean * 1e3,
            ages.p99 * 1e3,
            ages.max * 1e3
        );
        for problem in self.problems() {
            let _ = writeln!(text, "{problem}");
        }
        let columns = [
            ("peer", "", 28),
            ("local", "", 28),
            ("state", "", 9),
            ("window", "packets", 8),
            ("pace", "Mbps", 10),
            ("srtt", "ms", 8),
            ("min_rtt", "ms", 8),
            ("delivered", "bytes", 12),
            ("lost", "packets", 8),
            ("age", "ms", 8),
        ];
        let ms = |s: f64| format!("{:.2}", s * 1e3);
        let row = |c: &ConnectionStatus| {
            let state = match (&c.error, c.alone) {
                (Some(_), _) => "failed",
                (None, true) => "alone",
                (None, false) => c.state,
            };
            [
                c.peer.clone(),
                c.local.clone(),
                state.into(),
                c.cwnd_packets.to_string(),
                format!("{:.2}", c.pacing_bytes_per_s as f64 * 8e-6),
                ms(c.srtt_s),
                c.min_rtt_s.map_or("-".into(), ms),
                c.delivered_bytes.to_string(),
                c.lost_packets.to_string(),
                ms(c.decision_age_s),
            ]
        };
        if !self.connections.is_empty() {
            text += &accord_door::table(columns, self.connections.iter().map(row));
        }
        for c in &self.connections {
            if let Some(error) = &c.error {
                let _ = writeln!(text, "{}: continues as Reno: {error}", c.peer);
            }
        }
        text
    }

    fn metrics(&self) -> String {
        let mut metrics = Metrics::new("accord_kernel");
        let version = format!(
            "{{version=\"{}\",name=\"{}\",controller=\"{}\"}}",
            self.version, self.name, self.controller
        );
        metrics.family("build_info", "gauge", "The program.", [(version, 1.0)]);
        let open = [(String::new(), self.connections.len() as f64)];
        metrics.family("connections", "gauge", "Connections now.", open);
        metrics.fields(Status::METRICS, [(String::new(), self)]);
        let ages = self.decision_age_s;
        let quantiles = [("0.5", ages.p50), ("0.99", ages.p99), ("1", ages.max)];
        metrics.family(
            "decision_age_seconds",
            "gauge",
            "The ages of decisions at the time of writing.",
            quantiles.map(|(q, s)| (format!("{{quantile=\"{q}\"}}"), s)),
        );
        let labels = |c: &ConnectionStatus| {
            let ConnectionStatus { peer, local, namespace, .. } = c;
            format!("{{peer=\"{peer}\",local=\"{local}\",namespace=\"{namespace}\"}}")
        };
        metrics.fields(ConnectionStatus::METRICS, self.connections.iter().map(|c| (labels(c), c)));
        metrics.text()
    }
}
