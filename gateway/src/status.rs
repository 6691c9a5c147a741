//! The state of a gateway for people and programs, as a document, a table and metrics.

use crate::breaker::Cause;
use crate::config::Site;
use crate::gateway;
use crate::peer::Peer;
use crate::sender::State;
use crate::sessions::Sessions;
use accord_door::fields;
use accord_door::metrics::Metrics;
use serde::Serialize;
use std::fmt::Write;

/// The kernel's offloads: coalescing and segmentation of TCP and UDP packets at the device, segmentation of
/// sent datagrams and coalescing of received ones.
pub const OFFLOADS: [&str; 4] = ["device-tcp", "device-udp", "send", "receive"];

fields! {
    /// The state of a gateway.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Status {
        "The version of the program." version: &'static str;
        "Seconds since the start." uptime_s: f64;
        "The site file in force." config: ConfigStatus;
        "The offloads of the kernel in use, of [`OFFLOADS`]." offloads: Vec<&'static str>;
        "The peers, in the order of the file." peers: Vec<PeerStatus>;
        "Networks of peers without a route to the device: packets to them take other routes."
            missing_routes: u64, gauge "missing_routes";
        "The longest time by which the pacing thread was late in the latest 5 to 10 s."
            lateness_s: f64, gauge "lateness_seconds";
        "Time by which it was later than the millisecond that it makes up for."
            late_s: f64, counter "late_seconds_total";
        "Packets that went nowhere, by reason." dropped_packets: Vec<(&'static str, u64)>;
    }
}

fields! {
    /// The state of the site file.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct ConfigStatus {
        "Time of the last site file in force, in seconds since 1970."
            loaded_unix_s: f64, gauge "config_last_reload_success_timestamp_seconds";
        "Why the file that was read last is not in force, if it is not." error: Option<String>;
    }
}

fields! {
    /// The state of a peer. Rates and queues are those of its tunnel, on the wire.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct PeerStatus {
        "The name." name: String;
        "The public key in use." public_key: String;
        "The public key of this end in use." own_public_key: Option<String>;
        "The address, if it is known." endpoint: Option<String>;
        "Largest packet to the peer, inside of the tunnel." mtu_bytes: u32, gauge "path_mtu_bytes";
        "Whether there is a session." up: bool, gauge "peer_up";
        "Handshakes that the peer made or answered."
            handshakes: u64, counter "handshakes_total";
        "Age of the keys." handshake_age_s: Option<u64>, gauge "handshake_age_seconds";
        "The mode." mode: &'static str;
        "The state of the other end, of [`STATES`]: tripped while the circuit breaker is, and limited while the limit holds the contract down."
            state: &'static str;
        "Why it is not controlled." reason: Option<String>;
        "The signal that the other end measures our queue by: pairs or delay."
            signal: Option<&'static str>;
        "Contracted rate."
            contract_bytes_per_s: f64, gauge "tunnel_min_rate_bytes_per_second";
        "Part of the contract that arrived in the latest ten seconds in which data for it waited; above 1 if more did, and absent if there were none in the last minute."
            contract_kept: Option<f64>, gauge "contract_kept_ratio";
        "Seconds in which data waited, those of outages included."
            busy_s: f64, counter "busy_seconds_total";
        "Bytes that arrived in these seconds."
            busy_arrived_bytes: u64, counter "busy_arrived_bytes_total";
        "Queuing delay of the path above which the contract yields to its limit."
            yields_from_s: Option<f64>, gauge "contract_yields_from_seconds";
        "Seconds in which the limit held the contract down."
            limited_s: f64, counter "limited_seconds_total";
        "The weight." weight: f64;
        "Cap." cap_bytes_per_s: f64, gauge "tunnel_max_rate_bytes_per_second";
        "Rate at which the tunnel may send."
            rate_bytes_per_s: f64, gauge "tunnel_rate_bytes_per_second";
        "Rate at which data arrives at the peer."
            egress_bytes_per_s: Option<f64>, gauge "egress_rate_bytes_per_second";
        "Bytes of the tunnel that are queued in the network."
            accumulation_bytes: Option<f64>, gauge "accumulation_bytes";
        "Queuing delay in the network." queue_delay_s: Option<f64>, gauge "queue_delay_seconds";
        "Virtual delay from routers, as far as it counts."
            virtual_delay_s: Option<f64>, gauge "virtual_delay_seconds";
        "Smoothed round-trip time." srtt_s: Option<f64>, gauge "srtt_seconds";
        "Smallest round-trip time." min_rtt_s: Option<f64>, gauge "min_rtt_seconds";
        "Control pairs that found a loss." lost_pairs: u64, counter "lost_pairs_total";
        "Packets that were sent again." repaired_packets: u64, counter "repaired_packets_total";
        "Part of the bytes that was lost in the latest interval of the breaker."
            loss_ratio: Option<f64>, gauge "loss_ratio";
        "Trips of the circuit breaker." breaker_trips: u64, counter "breaker_trips_total";
        "Control pairs without an answer in time."
            unanswered_pairs: u64, counter "unanswered_pairs_total";
        "Received bytes, on the wire." rx_bytes: u64, counter "rx_bytes_total";
        "Received packets." rx_packets: u64;
        "Received packets with the mark of a router."
            ce_packets: u64, counter "ecn_ce_packets_total";
        "The classes, in the order of the file; the default last." classes: Vec<ClassStatus>;
    }
}

fields! {
    /// The state of a class of a peer.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct ClassStatus {
        "The name." name: String;
        "Sent bytes, on the wire." tx_bytes: u64, counter "tx_bytes_total";
        "Sent packets." tx_packets: u64, counter "tx_packets_total";
        "Packets in the edge queue." waiting_packets: u64;
        "Bytes in the edge queue." waiting_bytes: u64, gauge "edge_waiting_bytes";
        "Packets dropped at the edge because they had waited too long." late_packets: u64;
        "Packets dropped at the edge because there was no room." overflowed_packets: u64;
        "Packets marked in the edge queue."
            marked_packets: u64, counter "edge_marked_packets_total";
    }
}

/// The modes of a peer.
const MODES: [&str; 3] = ["shadow", "enforce", "bypass"];
/// The states of a peer.
pub const STATES: [&str; 6] = ["unknown", "plain", "controlled", "limited", "blind", "tripped"];

/// Returns the state of a peer.
fn state(peer: &Peer) -> &'static str {
    match peer.sender.state {
        _ if peer.sender.breaker.is_tripped() => "tripped",
        State::Controlled if peer.promise.is_limited => "limited",
        state => state.word(),
    }
}

/// Returns the reason, if any, why a peer is not controlled.
fn reason(peer: &Peer, up: bool, site: &Site) -> Option<String> {
    Some(match (up, state(peer)) {
        (false, _) => match peer.endpoint {
            None => "no session: its address is not known, so it has to call".into(),
            Some(endpoint) => format!("no session: nothing at {endpoint} answers"),
        },
        (true, "plain") => {
            "the peer answers no control messages, as plain WireGuard: packets go at \
                            the cap, without control"
                .into()
        }
        (true, "blind") => "no reports any more: packets go at the cap until reports come".into(),
        (true, "tripped") => {
            let config = &peer.sender.breaker.config;
            let why = match peer.sender.breaker.cause()? {
                Cause::Loss(part) => format!(
                    "{:.0} % of the bytes was lost, above the limit for {}",
                    100.0 * part,
                    config.over
                ),
                Cause::Silence(time) => {
                    format!("no reports came for {:.0} s", time.as_secs_f64())
                }
            };
            format!("{why}: at most {} until it re-arms or a mode is set", config.rate)
        }
        (true, "limited") => {
            let limit = peer.config.service.limit.unwrap_or_default();
            let queue = site.yields_from(&peer.config).unwrap_or_default().as_secs_f64();
            format!(
                "{limit} of the tunnel are queued in the network, its limit: the queue there is longer \
                 than {:.0} ms, and the contract yields",
                1e3 * queue
            )
        }
        _ => return None,
    })
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
        let (up, promise) = (gateway.sessions().is_open(i), &peer.promise);
        let keys = gateway.sessions().keys(i);
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
            public_key: keys.map_or(peer.key(), |(_, theirs)| theirs).to_string(),
            own_public_key: keys.map(|(own, _)| own.to_string()),
            endpoint: peer.endpoint.map(|e| e.to_string()),
            mtu_bytes: match &peer.path_mtu {
                Some(search) => search.limit(),
                None => site.interface.mtu,
            }
            .into(),
            up,
            handshakes: peer.handshakes,
            handshake_age_s: gateway.sessions().age(i),
            mode: peer.sender.mode.word(),
            state: state(peer),
            reason: reason(peer, up, site),
            signal: latest.map(|answer| if answer.by_delay { "delay" } else { "pairs" }),
            contract_bytes_per_s: peer.config.service.contract.as_bps_f64() / 8.0,
            contract_kept: promise.kept(peer.config.service.contract),
            busy_s: promise.busy.0.as_secs_f64(),
            busy_arrived_bytes: promise.busy.1,
            yields_from_s: site.yields_from(&peer.config).map(|d| d.as_secs_f64()),
            limited_s: promise.at_limit.as_secs_f64(),
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
        lateness_s: 0.0,
        late_s: 0.0,
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

impl accord_door::State for Status {
    fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    fn table(&self) -> String {
        let mbps = |bytes: f64| format!("{:.2}", bytes * 8e-6);
        let ms = |s: Option<f64>| s.map_or("-".into(), |s| format!("{:.2}", s * 1e3));
        let columns = [
            ("peer", "", 14),
            ("mode", "", 9),
            ("state", "", 10),
            ("signal", "", 6),
            ("contract", "Mbps", 9),
            ("kept", "%", 5),
            ("may send", "Mbps", 9),
            ("arrives", "Mbps", 9),
            ("queued", "ms", 9),
            ("round trip", "ms", 9),
        ];
        let row = |p: &PeerStatus| {
            [
                p.name.clone(),
                p.mode.into(),
                if p.up { p.state } else { "down" }.into(),
                p.signal.unwrap_or("-").into(),
                mbps(p.contract_bytes_per_s),
                p.contract_kept.map_or("-".into(), |kept| format!("{:.0}", 100.0 * kept)),
                mbps(p.rate_bytes_per_s),
                p.egress_bytes_per_s.map_or("-".into(), mbps),
                ms(p.queue_delay_s),
                ms(p.srtt_s),
            ]
        };
        let mut text = accord_door::table(columns, self.peers.iter().map(row));
        for peer in &self.peers {
            if let Some(reason) = &peer.reason {
                let _ = writeln!(text, "{}: {reason}", peer.name);
            }
        }
        if self.missing_routes > 0 {
            let _ = writeln!(
                text,
                "{} networks of peers have no route to the device: packets to them take other routes",
                self.missing_routes
            );
        }
        if let Some(error) = &self.config.error {
            let _ = writeln!(text, "the site file is not in force: {error}");
        }
        text
    }

    fn metrics(&self) -> String {
        let mut metrics = Metrics::new("accord_gateway");
        let version = format!("{{version=\"{}\"}}", self.version);
        metrics.family("build_info", "gauge", "The version of the program.", [(version, 1.0)]);
        let in_force = [(String::new(), flag(self.config.error.is_none()))];
        let help = "1 if the site file that was read last is in force.";
        metrics.family("config_last_reload_successful", "gauge", help, in_force);
        metrics.fields(ConfigStatus::METRICS, [(String::new(), &self.config)]);
        metrics.fields(Status::METRICS, [(String::new(), self)]);
        let used = OFFLOADS
            .map(|kind| (format!("{{kind=\"{kind}\"}}"), flag(self.offloads.contains(&kind))));
        metrics.family("offload", "gauge", "1 for an offload of the kernel in use.", used);
        metrics.family(
            "dropped_packets_total",
            "counter",
            "Dropped packets by reason.",
            self.dropped(),
        );
        let labels = |p: &PeerStatus| format!("{{peer=\"{}\"}}", p.name);
        metrics.fields(PeerStatus::METRICS, self.peers.iter().map(|p| (labels(p), p)));
        let mut words = |name: &str, help: &str, words: &[&str], read: fn(&PeerStatus) -> &str| {
            let samples = self.peers.iter().flat_map(|p| {
                words.iter().map(move |word| {
                    let labels = format!("{{peer=\"{}\",{name}=\"{word}\"}}", p.name);
                    (labels, flag(read(p) == *word))
                })
            });
            metrics.family(name, "gauge", help, samples);
        };
        words("mode", "1 for the mode.", &MODES, |p| p.mode);
        words("state", "1 for the state of the peer.", &STATES, |p| p.state);
        metrics.fields(
            ClassStatus::METRICS,
            self.classes()
                .map(|(p, c)| (format!("{{peer=\"{}\",class=\"{}\"}}", p.name, c.name), c)),
        );
        metrics.text()
    }
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

impl Status {
    /// Returns the classes of all peers.
    fn classes(&self) -> impl Iterator<Item = (&PeerStatus, &ClassStatus)> {
        self.peers.iter().flat_map(|p| p.classes.iter().map(move |c| (p, c)))
    }

    /// Returns the dropped packets of the gateway by reason. Those of edge queues are also by peer and class.
    fn dropped(&self) -> Vec<(String, f64)> {
        let gateway = self.dropped_packets.iter();
        let gateway = gateway.map(|(why, n)| (format!("{{reason=\"{why}\"}}"), *n as f64));
        let classes = self.classes().flat_map(|(p, c)| {
            [("late", c.late_packets), ("overflow", c.overflowed_packets)].map(|(why, n)| {
                let (peer, class) = (&p.name, &c.name);
                let labels = format!("{{reason=\"{why}\",peer=\"{peer}\",class=\"{class}\"}}");
                (labels, n as f64)
            })
        });
        gateway.chain(classes).collect()
    }
}
