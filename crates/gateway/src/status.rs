//! The state of a gateway for people and programs: a document, a table and metrics.

use crate::config::Site;
use crate::gateway::Gateway;
use crate::sessions::Sessions;
use accord_door::metrics::Metrics;
use serde::Serialize;
use std::fmt::Write;

/// What the kernel can do for a gateway: join and cut packets of TCP and of UDP at the device, cut what
/// the socket sends, and join what it receives.
pub const OFFLOADS: [&str; 4] = ["device-tcp", "device-udp", "send", "receive"];

/// The state of a gateway.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// The version of the program.
    pub version: &'static str,
    /// The seconds since the start.
    pub uptime_s: f64,
    /// The site file in force.
    pub config: ConfigStatus,
    /// The offloads of the kernel in use, of [`OFFLOADS`].
    pub offloads: Vec<&'static str>,
    /// The peers, in the order of the file.
    pub peers: Vec<PeerStatus>,
    /// The packets that went nowhere, by reason.
    pub dropped_packets: Vec<(&'static str, u64)>,
}

/// The state of the site file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConfigStatus {
    /// When it was last read and taken, in seconds since 1970.
    pub loaded_unix_s: f64,
    /// The reason why the file that was read last is not in force, if it is not.
    pub error: Option<String>,
}

/// The state of a peer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeerStatus {
    /// The name.
    pub name: String,
    /// The public key.
    pub public_key: String,
    /// The address, if it is known.
    pub endpoint: Option<String>,
    /// The largest packet that is sent to it, in bytes inside of the tunnel.
    pub mtu_bytes: u16,
    /// True if there is a session.
    pub up: bool,
    /// The age of its keys in seconds.
    pub handshake_age_s: Option<u64>,
    /// The mode.
    pub mode: &'static str,
    /// What is known of the other end: unknown, plain, controlled or blind; or tripped while the
    /// circuit breaker is.
    pub state: &'static str,
    /// The signal that the other end measures our queue by: pairs or delay.
    pub signal: Option<&'static str>,
    /// The contracted rate in bytes per second.
    pub contract_bytes_per_s: f64,
    /// The weight.
    pub weight: f64,
    /// The cap in bytes per second.
    pub cap_bytes_per_s: f64,
    /// The rate that the tunnel may send at, in bytes per second.
    pub rate_bytes_per_s: f64,
    /// The rate at which data arrived at the other end, in bytes per second.
    pub egress_bytes_per_s: Option<f64>,
    /// What is queued in the network, in bytes.
    pub accumulation_bytes: Option<f64>,
    /// The queuing delay in the network, in seconds.
    pub queue_delay_s: Option<f64>,
    /// The virtual delay that routers wrote, in seconds, as far as it counts.
    pub virtual_delay_s: Option<f64>,
    /// The smoothed round-trip time in seconds.
    pub srtt_s: Option<f64>,
    /// The least round-trip time in seconds.
    pub min_rtt_s: Option<f64>,
    /// The control pairs that found a loss.
    pub lost_pairs: u64,
    /// The part of the bytes that the latest interval of the circuit breaker lost.
    pub loss_ratio: Option<f64>,
    /// The number of times that the circuit breaker tripped.
    pub breaker_trips: u64,
    /// The control pairs that were not answered in time.
    pub unanswered_pairs: u64,
    /// The bytes that arrived, on the wire.
    pub rx_bytes: u64,
    /// The packets that arrived.
    pub rx_packets: u64,
    /// The packets that arrived with the mark of a router.
    pub ce_packets: u64,
    /// The classes, in the order of the file; the default last.
    pub classes: Vec<ClassStatus>,
}

/// The state of a class of a peer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassStatus {
    /// The name.
    pub name: String,
    /// The bytes sent, on the wire.
    pub tx_bytes: u64,
    /// The packets sent.
    pub tx_packets: u64,
    /// The packets that wait at the edge.
    pub waiting_packets: u64,
    /// The bytes that wait at the edge.
    pub waiting_bytes: u64,
    /// The packets that were dropped at the edge because they had waited too long.
    pub late_packets: u64,
    /// The packets that were dropped at the edge because there was no room.
    pub overflowed_packets: u64,
    /// The packets that were marked at the edge.
    pub marked_packets: u64,
}

/// Returns the state of a gateway of a site.
pub fn status(
    gateway: &Gateway<impl Sessions>,
    site: &Site,
    config: &ConfigStatus,
    offloads: Vec<&'static str>,
    uptime_s: f64,
) -> Status {
    let peers = gateway.peers().iter().enumerate().map(|(i, peer)| {
        let (view, latest) = (peer.sender.view(), peer.sender.latest());
        let names = site.classes.iter().map(|c| c.name.as_str());
        let classes = names
            .chain(["default"])
            .zip(&peer.sent)
            .zip(peer.edge.counts());
        let classes = classes.map(|((name, sent), counts)| ClassStatus {
            name: name.to_string(),
            tx_bytes: sent.bytes,
            tx_packets: sent.packets,
            waiting_packets: counts.waiting.0,
            waiting_bytes: counts.waiting.1,
            late_packets: counts.late,
            overflowed_packets: counts.overflowed,
            marked_packets: counts.marked,
        });
        PeerStatus {
            name: peer.config.name.clone(),
            public_key: peer.config.public_key.to_string(),
            endpoint: peer.endpoint.map(|e| e.to_string()),
            mtu_bytes: match &peer.path_mtu {
                Some(search) => search.limit(),
                None => site.interface.mtu,
            },
            up: gateway.sessions().is_open(i),
            handshake_age_s: gateway.sessions().age(i),
            mode: peer.sender.mode().word(),
            state: match peer.sender.breaker().is_tripped() {
                true => "tripped",
                false => peer.sender.state().word(),
            },
            signal: latest.map(|answer| if answer.by_delay { "delay" } else { "pairs" }),
            contract_bytes_per_s: peer.config.service.contract.as_bps_f64() / 8.0,
            weight: peer.config.service.weight,
            cap_bytes_per_s: peer.config.cap.as_bps_f64() / 8.0,
            rate_bytes_per_s: peer.sender.rate().as_bps_f64() / 8.0,
            egress_bytes_per_s: latest.map(|answer| f64::from(answer.egress_bps) / 8.0),
            accumulation_bytes: latest.map(|answer| f64::from(answer.accumulation)),
            queue_delay_s: latest.map(|answer| f64::from(answer.queued)),
            virtual_delay_s: latest.map(|answer| f64::from(answer.virtual_delay)),
            srtt_s: view.rtt.map(|d| d.as_secs_f64()),
            min_rtt_s: view.min_rtt.map(|d| d.as_secs_f64()),
            lost_pairs: peer.sender.losses(),
            loss_ratio: peer.sender.breaker().ratio(),
            breaker_trips: peer.sender.breaker().trips(),
            unanswered_pairs: peer.sender.timeouts(),
            rx_bytes: peer.received.bytes,
            rx_packets: peer.received.packets,
            ce_packets: peer.marked,
            classes: classes.collect(),
        }
    });
    let dropped = gateway.dropped();
    Status {
        version: env!("CARGO_PKG_VERSION"),
        uptime_s,
        config: config.clone(),
        offloads,
        peers: peers.collect(),
        dropped_packets: vec![
            ("foreign", dropped.foreign),
            ("no_route", dropped.no_route),
            ("too_big", dropped.too_big),
            ("refused", dropped.refused),
            ("wrong_source", dropped.wrong_source),
            ("wrong_message", dropped.wrong_message),
            ("marked", dropped.marked),
        ],
    }
}

/// Returns a table for people.
pub fn table(status: &Status) -> String {
    let mut text = String::new();
    let mbps = |bytes: f64| format!("{:.2}", bytes * 8e-6);
    let or = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    let row = |cells: [&str; 9]| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip([14, 9, 10, 6, 9, 9, 9, 9, 9]) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        line.trim_end().to_string() + "\n"
    };
    text += &row([
        "peer",
        "mode",
        "state",
        "signal",
        "contract",
        "may send",
        "arrives",
        "queued",
        "round trip",
    ]);
    text += &row(["", "", "", "", "Mbps", "Mbps", "Mbps", "ms", "ms"]);
    for peer in &status.peers {
        let state = match (peer.up, peer.state) {
            (false, _) => "down",
            (true, state) => state,
        };
        text += &row([
            &peer.name,
            peer.mode,
            state,
            peer.signal.unwrap_or("-"),
            &mbps(peer.contract_bytes_per_s),
            &mbps(peer.rate_bytes_per_s),
            &or(peer.egress_bytes_per_s.map(mbps)),
            &or(peer.queue_delay_s.map(|s| format!("{:.2}", s * 1e3))),
            &or(peer.srtt_s.map(|s| format!("{:.2}", s * 1e3))),
        ]);
    }
    for peer in &status.peers {
        match (peer.up, peer.state) {
            (false, _) => {
                let _ = writeln!(text, "{}: no session", peer.name);
            }
            (true, "plain") => {
                let _ = writeln!(
                    text,
                    "{}: it answers no control messages, so it is plain WireGuard: sent to at the \
                     cap, uncontrolled",
                    peer.name
                );
            }
            (true, "blind") => {
                let _ = writeln!(
                    text,
                    "{}: no reports come any more: sent to at the cap until they do",
                    peer.name
                );
            }
            (true, "tripped") => {
                let _ = writeln!(
                    text,
                    "{}: too much was lost, or no reports came, for too long: sent to slowly until \
                     that is over, or a mode is set",
                    peer.name
                );
            }
            _ => {}
        }
    }
    if let Some(error) = &status.config.error {
        let _ = writeln!(text, "the site file is not in force: {error}");
    }
    text
}

/// Returns the metrics in the text format of Prometheus.
pub fn metrics(status: &Status) -> String {
    let mut metrics = Metrics::new("accord_gateway");
    let mut family = |name: &str, kind: &str, help: &str, samples: Vec<(String, f64)>| {
        metrics.family(name, kind, help, samples);
    };
    let version = format!("{{version=\"{}\"}}", status.version);
    family("build_info", "gauge", "The program.", vec![(version, 1.0)]);
    family(
        "config_last_reload_success_timestamp_seconds",
        "gauge",
        "When the site file was last taken.",
        vec![(String::new(), status.config.loaded_unix_s)],
    );
    family(
        "config_last_reload_successful",
        "gauge",
        "1 if the site file that was read last is in force.",
        vec![(
            String::new(),
            f64::from(u8::from(status.config.error.is_none())),
        )],
    );
    let offloads = OFFLOADS.map(|kind| {
        let used = status.offloads.contains(&kind);
        (format!("{{kind=\"{kind}\"}}"), f64::from(u8::from(used)))
    });
    family(
        "offload",
        "gauge",
        "1 for an offload of the kernel that is in use.",
        offloads.into(),
    );
    let dropped = status.dropped_packets.iter();
    let dropped = dropped.map(|(why, n)| (format!("{{reason=\"{why}\"}}"), *n as f64));
    let classes = status.peers.iter().flat_map(|peer| {
        (peer.classes.iter()).flat_map(|class| {
            [
                ("late", class.late_packets),
                ("overflow", class.overflowed_packets),
            ]
            .map(|(why, n)| {
                let (peer, class) = (&peer.name, &class.name);
                let labels = format!("{{reason=\"{why}\",peer=\"{peer}\",class=\"{class}\"}}");
                (labels, n as f64)
            })
        })
    });
    family(
        "dropped_packets_total",
        "counter",
        "Packets that went nowhere, by reason.",
        dropped.chain(classes).collect(),
    );
    type OfPeer = fn(&PeerStatus) -> Option<f64>;
    let peers: &[(&str, &str, &str, OfPeer)] = &[
        ("peer_up", "gauge", "1 if there is a session.", |p| {
            Some(f64::from(u8::from(p.up)))
        }),
        (
            "path_mtu_bytes",
            "gauge",
            "The largest packet that is sent to the peer, inside of the tunnel.",
            |p| Some(f64::from(p.mtu_bytes)),
        ),
        (
            "rx_bytes_total",
            "counter",
            "Bytes that arrived, on the wire.",
            |p| Some(p.rx_bytes as f64),
        ),
        (
            "ecn_ce_packets_total",
            "counter",
            "Packets that arrived with the mark of a router.",
            |p| Some(p.ce_packets as f64),
        ),
        (
            "tunnel_min_rate_bytes_per_second",
            "gauge",
            "The contracted rate.",
            |p| Some(p.contract_bytes_per_s),
        ),
        (
            "tunnel_max_rate_bytes_per_second",
            "gauge",
            "The cap.",
            |p| Some(p.cap_bytes_per_s),
        ),
        (
            "tunnel_rate_bytes_per_second",
            "gauge",
            "The rate that the tunnel may send at.",
            |p| Some(p.rate_bytes_per_s),
        ),
        (
            "egress_rate_bytes_per_second",
            "gauge",
            "The rate at which data arrives at the peer.",
            |p| p.egress_bytes_per_s,
        ),
        (
            "accumulation_bytes",
            "gauge",
            "What the tunnel has queued in the network.",
            |p| p.accumulation_bytes,
        ),
        (
            "queue_delay_seconds",
            "gauge",
            "The queuing delay in the network.",
            |p| p.queue_delay_s,
        ),
        (
            "virtual_delay_seconds",
            "gauge",
            "The virtual delay that routers wrote, as far as it counts.",
            |p| p.virtual_delay_s,
        ),
        (
            "srtt_seconds",
            "gauge",
            "The smoothed round-trip time.",
            |p| p.srtt_s,
        ),
        (
            "min_rtt_seconds",
            "gauge",
            "The least round-trip time.",
            |p| p.min_rtt_s,
        ),
        (
            "lost_pairs_total",
            "counter",
            "Control pairs that found a loss.",
            |p| Some(p.lost_pairs as f64),
        ),
        (
            "loss_ratio",
            "gauge",
            "The part of the bytes that was lost of late.",
            |p| p.loss_ratio,
        ),
        (
            "breaker_trips_total",
            "counter",
            "How often the circuit breaker tripped.",
            |p| Some(p.breaker_trips as f64),
        ),
        (
            "unanswered_pairs_total",
            "counter",
            "Control pairs without an answer in time.",
            |p| Some(p.unanswered_pairs as f64),
        ),
        (
            "handshake_age_seconds",
            "gauge",
            "The age of the keys.",
            |p| p.handshake_age_s.map(|s| s as f64),
        ),
    ];
    for (name, kind, help, value) in peers {
        let samples = status.peers.iter().filter_map(|peer| {
            let value = value(peer)?;
            Some((format!("{{peer=\"{}\"}}", peer.name), value))
        });
        family(name, kind, help, samples.collect());
    }
    let words = |name: &str, help: &str, all: &[&str], of: fn(&PeerStatus) -> &str| {
        let samples = status.peers.iter().flat_map(|peer| {
            all.iter().map(move |word| {
                let labels = format!("{{peer=\"{}\",{name}=\"{word}\"}}", peer.name);
                (labels, f64::from(u8::from(of(peer) == *word)))
            })
        });
        (
            name.to_string(),
            help.to_string(),
            samples.collect::<Vec<_>>(),
        )
    };
    let modes = words(
        "mode",
        "1 for the mode.",
        &["shadow", "enforce", "bypass"],
        |p| p.mode,
    );
    let known = ["unknown", "plain", "controlled", "blind", "tripped"];
    let states = words("state", "1 for what is known of the peer.", &known, |p| {
        p.state
    });
    for (name, help, samples) in [modes, states] {
        family(&name, "gauge", &help, samples);
    }
    type OfClass = fn(&ClassStatus) -> u64;
    let classes: &[(&str, &str, &str, OfClass)] = &[
        (
            "tx_bytes_total",
            "counter",
            "Bytes sent, on the wire.",
            |c| c.tx_bytes,
        ),
        ("tx_packets_total", "counter", "Packets sent.", |c| {
            c.tx_packets
        }),
        (
            "edge_waiting_bytes",
            "gauge",
            "Bytes that wait at the edge.",
            |c| c.waiting_bytes,
        ),
        (
            "edge_marked_packets_total",
            "counter",
            "Packets marked at the edge.",
            |c| c.marked_packets,
        ),
    ];
    for (name, kind, help, value) in classes {
        let samples = status.peers.iter().flat_map(|peer| {
            peer.classes.iter().map(|class| {
                let labels = format!("{{peer=\"{}\",class=\"{}\"}}", peer.name, class.name);
                (labels, value(class) as f64)
            })
        });
        family(name, kind, help, samples.collect());
    }
    metrics.text()
}
