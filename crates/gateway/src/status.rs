//! The state of a gateway for people and programs: a document, a table and metrics.

use self::Samples::{Class, Gateway, Peer, Word};
use crate::config::Site;
use crate::gateway;
use crate::sessions::Sessions;
use accord_door::metrics::Metrics;
use serde::Serialize;
use std::fmt::Write;

/// The offloads of the kernel: joining and cutting of packets of TCP and of UDP at the device, cutting
/// of sent datagrams, and joining of received ones.
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
    /// The number of networks of peers that have no route to the device.
    pub missing_routes: usize,
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
    /// The state of the other end: unknown, plain, controlled or blind; or tripped while the circuit
    /// breaker is.
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
    /// The tunnel's queue in the network, in bytes.
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
    /// The packets that were sent again.
    pub repaired_packets: u64,
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
    gateway: &gateway::Gateway<impl Sessions>,
    site: &Site,
    config: &ConfigStatus,
    offloads: Vec<&'static str>,
    uptime_s: f64,
) -> Status {
    let peers = gateway.peers().iter().enumerate().map(|(i, peer)| {
        let (view, latest) = (peer.sender.view(), peer.sender.latest);
        let names = site.classes.iter().map(|c| c.name.as_str());
        let classes = names.chain(["default"]).zip(&peer.sent).zip(peer.edge.counts());
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
            mode: peer.sender.mode.word(),
            state: if peer.sender.breaker.is_tripped() {
                "tripped"
            } else {
                peer.sender.state.word()
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
            lost_pairs: peer.sender.losses,
            repaired_packets: peer.repairs.count,
            loss_ratio: peer.sender.breaker.ratio,
            breaker_trips: peer.sender.breaker.trips,
            unanswered_pairs: peer.sender.timeouts(),
            rx_bytes: peer.received.bytes,
            rx_packets: peer.received.packets,
            ce_packets: peer.marked,
            classes: classes.collect(),
        }
    });
    let dropped = &gateway.dropped;
    Status {
        version: env!("CARGO_PKG_VERSION"),
        uptime_s,
        config: config.clone(),
        offloads,
        peers: peers.collect(),
        missing_routes: 0,
        dropped_packets: vec![
            ("foreign", dropped.foreign),
            ("no_route", dropped.no_route),
            ("too_big", dropped.too_big),
            ("refused", dropped.refused),
            ("flood", dropped.flood),
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
        let why = match (peer.up, peer.state) {
            (false, _) => "no session",
            (true, "plain") => {
                "the peer answers no control messages, as plain WireGuard: packets go at the cap, without control"
            }
            (true, "blind") => "no reports any more: packets go at the cap until reports come",
            (true, "tripped") => {
                "too many losses, or no reports for too long: the circuit breaker limits the tunnel until it \
                 re-arms or a mode is set"
            }
            _ => continue,
        };
        let _ = writeln!(text, "{}: {why}", peer.name);
    }
    if status.missing_routes > 0 {
        let _ = writeln!(
            text,
            "{} networks of peers have no route to the device: packets to them take other routes",
            status.missing_routes
        );
    }
    if let Some(error) = &status.config.error {
        let _ = writeln!(text, "the site file is not in force: {error}");
    }
    text
}

/// A row of the table of metrics: the kind, the name, the meaning and the samples with their labels.
type Row = (&'static str, &'static str, &'static str, Samples);

/// The samples of a metric.
enum Samples {
    /// Of the gateway, with labels of their own.
    Gateway(fn(&Status) -> Vec<(String, f64)>),
    /// One per peer, if it has a value.
    Peer(fn(&PeerStatus) -> Option<f64>),
    /// One per peer and word of a list, which is 1 for the word that holds. The label is the metric's name.
    Word(&'static [&'static str], fn(&PeerStatus) -> &'static str),
    /// One per class of each peer.
    Class(fn(&ClassStatus) -> u64),
}

impl Samples {
    fn of(&self, name: &str, status: &Status) -> Vec<(String, f64)> {
        let peers = status.peers.iter();
        match self {
            Samples::Gateway(read) => read(status),
            Samples::Peer(read) => {
                peers.filter_map(|p| Some((format!("{{peer=\"{}\"}}", p.name), read(p)?))).collect()
            }
            Samples::Word(words, read) => peers
                .flat_map(|p| {
                    words.iter().map(move |word| {
                        let labels = format!("{{peer=\"{}\",{name}=\"{word}\"}}", p.name);
                        (labels, flag(read(p) == *word))
                    })
                })
                .collect(),
            Samples::Class(read) => peers
                .flat_map(|p| {
                    p.classes.iter().map(|c| {
                        let labels = format!("{{peer=\"{}\",class=\"{}\"}}", p.name, c.name);
                        (labels, read(c) as f64)
                    })
                })
                .collect(),
        }
    }
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// Returns the dropped packets of the gateway by reason, and those of edge queues by peer and class, too.
fn dropped(status: &Status) -> Vec<(String, f64)> {
    let gateway = status.dropped_packets.iter();
    let gateway = gateway.map(|(why, n)| (format!("{{reason=\"{why}\"}}"), *n as f64));
    let classes = (status.peers.iter()).flat_map(|p| p.classes.iter().map(move |c| (p, c)));
    let classes = classes.flat_map(|(p, c)| {
        [("late", c.late_packets), ("overflow", c.overflowed_packets)].map(|(why, n)| {
            let (peer, class) = (&p.name, &c.name);
            let labels = format!("{{reason=\"{why}\",peer=\"{peer}\",class=\"{class}\"}}");
            (labels, n as f64)
        })
    });
    gateway.chain(classes).collect()
}

/// Returns the offloads of the kernel, with 1 for those in use.
fn offloads(status: &Status) -> Vec<(String, f64)> {
    let used = |kind| {
        let labels = format!("{{kind=\"{kind}\"}}");
        (labels, flag(status.offloads.contains(&kind)))
    };
    OFFLOADS.map(used).into()
}

/// The metrics, in the order of their text.
#[rustfmt::skip]
const METRICS: &[Row] = &[
    ("gauge", "build_info", "The version of the program.", Gateway(|s| vec![(format!("{{version=\"{}\"}}", s.version), 1.0)])),
    ("gauge", "config_last_reload_success_timestamp_seconds", "Time of the last site file in force.", Gateway(|s| vec![(String::new(), s.config.loaded_unix_s)])),
    ("gauge", "config_last_reload_successful", "1 if the site file that was read last is in force.", Gateway(|s| vec![(String::new(), flag(s.config.error.is_none()))])),
    ("gauge", "offload", "1 for an offload of the kernel in use.", Gateway(offloads)),
    ("gauge", "missing_routes", "Networks of peers without a route to the device: packets to them take other routes.", Gateway(|s| vec![(String::new(), s.missing_routes as f64)])),
    ("counter", "dropped_packets_total", "Dropped packets by reason.", Gateway(dropped)),
    ("gauge", "peer_up", "1 if there is a session.", Peer(|p| Some(flag(p.up)))),
    ("gauge", "path_mtu_bytes", "Largest packet to the peer, inside of the tunnel.", Peer(|p| Some(f64::from(p.mtu_bytes)))),
    ("counter", "rx_bytes_total", "Received bytes, on the wire.", Peer(|p| Some(p.rx_bytes as f64))),
    ("counter", "ecn_ce_packets_total", "Received packets with the mark of a router.", Peer(|p| Some(p.ce_packets as f64))),
    ("gauge", "tunnel_min_rate_bytes_per_second", "Contracted rate.", Peer(|p| Some(p.contract_bytes_per_s))),
    ("gauge", "tunnel_max_rate_bytes_per_second", "Cap.", Peer(|p| Some(p.cap_bytes_per_s))),
    ("gauge", "tunnel_rate_bytes_per_second", "Rate at which the tunnel may send.", Peer(|p| Some(p.rate_bytes_per_s))),
    ("gauge", "egress_rate_bytes_per_second", "Rate at which data arrives at the peer.", Peer(|p| p.egress_bytes_per_s)),
    ("gauge", "accumulation_bytes", "Bytes of the tunnel that are queued in the network.", Peer(|p| p.accumulation_bytes)),
    ("gauge", "queue_delay_seconds", "Queuing delay in the network.", Peer(|p| p.queue_delay_s)),
    ("gauge", "virtual_delay_seconds", "Virtual delay from routers, as far as it counts.", Peer(|p| p.virtual_delay_s)),
    ("gauge", "srtt_seconds", "Smoothed round-trip time.", Peer(|p| p.srtt_s)),
    ("gauge", "min_rtt_seconds", "Smallest round-trip time.", Peer(|p| p.min_rtt_s)),
    ("counter", "lost_pairs_total", "Control pairs that found a loss.", Peer(|p| Some(p.lost_pairs as f64))),
    ("counter", "repaired_packets_total", "Packets that were sent again.", Peer(|p| Some(p.repaired_packets as f64))),
    ("gauge", "loss_ratio", "Part of the bytes that was lost in the latest interval of the breaker.", Peer(|p| p.loss_ratio)),
    ("counter", "breaker_trips_total", "Trips of the circuit breaker.", Peer(|p| Some(p.breaker_trips as f64))),
    ("counter", "unanswered_pairs_total", "Control pairs without an answer in time.", Peer(|p| Some(p.unanswered_pairs as f64))),
    ("gauge", "handshake_age_seconds", "Age of the keys.", Peer(|p| p.handshake_age_s.map(|s| s as f64))),
    ("gauge", "mode", "1 for the mode.", Word(&["shadow", "enforce", "bypass"], |p| p.mode)),
    ("gauge", "state", "1 for the state of the peer.", Word(&["unknown", "plain", "controlled", "blind", "tripped"], |p| p.state)),
    ("counter", "tx_bytes_total", "Sent bytes, on the wire.", Class(|c| c.tx_bytes)),
    ("counter", "tx_packets_total", "Sent packets.", Class(|c| c.tx_packets)),
    ("gauge", "edge_waiting_bytes", "Bytes in the edge queue.", Class(|c| c.waiting_bytes)),
    ("counter", "edge_marked_packets_total", "Packets marked in the edge queue.", Class(|c| c.marked_packets)),
];

/// Returns the metrics in the text format of Prometheus.
pub fn metrics(status: &Status) -> String {
    let mut metrics = Metrics::new("accord_gateway");
    for (kind, name, help, samples) in METRICS {
        metrics.family(name, kind, help, samples.of(name, status));
    }
    metrics.text()
}
