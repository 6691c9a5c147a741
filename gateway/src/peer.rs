//! The state of one peer.

use crate::config::{Endpoint, Interface, Loss, Mode, PeerConfig};
use crate::edge::{Edge, Head};
use crate::keys::PublicKey;
use crate::message::Answer;
use crate::path_mtu::PathMtu;
use crate::promise::{Moment, Promise};
use crate::receiver::Receiver;
use crate::sender::{Sender, State};
use crate::too_big::Limit;
use crate::trial::{Tally, Trial};
use accord_control::monaco::LossName;
use accord_control::{AnyController, Maker, Meter, Sending, Transport, monaco};
use accord_family::Invalid;
use accord_transport::tunnel::repair::{Place, Repairs};
use accord_transport::tunnel::{Gaps, Order, Part};
use accord_units::{Duration, Time};
use std::net::SocketAddr;

/// Packets and bytes, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Traffic {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
    }
}

/// The destination and header fields of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The address.
    pub to: SocketAddr,
    /// The octet of DSCP and ECN.
    pub tos: u8,
    /// True if it is sent in one piece or not at all.
    pub whole: bool,
}

/// The number of counts of data per round trip. More of them would improve the use of a link by
/// less than one per cent, and cost the same amount again: 140 bytes each.
const COUNTS: f64 = 10.0;

/// A peer and its tunnel.
#[derive(Debug)]
pub struct Peer {
    /// The configuration in the site file.
    pub config: PeerConfig,
    /// The address of the peer's socket, if known.
    pub endpoint: Option<SocketAddr>,
    /// The time of the last authentic arrival in a session, and that of the last handshake begun or
    /// answered.
    pub(crate) heard: Time,
    pub(crate) greeted: Time,
    /// The time at which this end began to call the peer at its latest endpoint, if the peer may
    /// have another one.
    pub(crate) called: Option<Time>,
    /// The endpoint that was given up then.
    pub(crate) left: Option<SocketAddr>,
    /// The packets that wait to be sent.
    pub edge: Edge,
    /// The search for the largest packet that the path takes, unless the site file sets it.
    pub path_mtu: Option<PathMtu>,
    /// The sending half.
    pub sender: Sender,
    /// The receiving half.
    pub receiver: Receiver,
    /// The packets that may have to be sent again.
    pub repairs: Repairs<Head>,
    /// The datagrams that have not arrived.
    pub(crate) gaps: Gaps,
    /// The record of the kept part of the contract.
    pub promise: Promise,
    /// The keys of the latest session, of this end and of the peer.
    pub(crate) keys: Option<(PublicKey, PublicKey)>,
    /// The number of handshakes that the peer has made or answered.
    pub handshakes: u64,
    /// The packets that wait for others of their flows, which the peer sends again.
    pub(crate) order: Order<Vec<u8>>,
    /// The longest time for which these packets wait. It is zero if the peer does not send lost packets
    /// again.
    pub(crate) wait: Duration,
    /// The secret of the flows' numbers.
    pub(crate) secret: u64,
    /// The sent packets, by class.
    pub sent: Vec<Traffic>,
    /// The received packets.
    pub received: Traffic,
    /// The number of packets that arrived with the mark of a router.
    pub marked: u64,
    /// The time of the peer's next work, unless something arrives before.
    pub(crate) due: Time,
    /// The limit of ICMP messages to senders of packets that are too large.
    pub(crate) tells: Limit,
    /// The latest trial to the peer.
    pub trial: Option<Trial>,
    /// The counts of the latest trial of the peer.
    pub tally: Tally,
}

/// The parts of the controller that a tunnel needs.
pub struct Control {
    controller: AnyController,
    sending: Sending,
    meter: Meter,
    counts: f64,
}

impl Control {
    /// Creates the controller of a site's tunnels: Monaco with the target of the site.
    ///
    /// # Errors
    /// Fails if the target is beyond what Monaco takes.
    pub fn new(interface: &Interface) -> Result<Control, Invalid> {
        let config = monaco::Config {
            target: interface.target,
            loss: Some(match interface.loss {
                Loss::Window => LossName::Window,
                Loss::Accumulation => LossName::Accumulation,
                Loss::Contract => LossName::Contract,
            }),
            counts: COUNTS,
            ..monaco::Config::default()
        };
        let values = config.values()?;
        let Transport::Tunnel { sending, meter, counts } = Maker::of(values.family()).transport
        else {
            return Err("the controller does not run on tunnels".into());
        };
        Ok(Control {
            controller: AnyController::build(&values, interface.packet()),
            sending: sending(&values),
            meter: meter(&values),
            counts: counts(&values),
        })
    }
}

impl Peer {
    /// Creates a peer about which nothing is known yet. `seed` is random.
    pub fn new(config: &PeerConfig, interface: &Interface, control: &Control, seed: u64) -> Peer {
        let packet = interface.packet();
        let run = (seed >> 32) as u32;
        Peer {
            endpoint: config.endpoint.as_ref().and_then(Endpoint::address),
            heard: Time::ZERO,
            greeted: Time::ZERO,
            called: None,
            left: None,
            edge: Edge::new(&config.shares, interface.queue, packet, seed),
            path_mtu: interface.finds_mtu.then(|| PathMtu::new(interface.mtu)),
            sender: Sender::new(control.controller.clone(), control.sending, packet, config, run),
            receiver: Receiver::new(
                control.meter.clone(),
                control.counts,
                config.signal,
                config.most_virtual(),
            ),
            repairs: Repairs::default(),
            gaps: Gaps::default(),
            promise: Promise::default(),
            keys: None,
            handshakes: 0,
            order: Order::default(),
            wait: Duration::ZERO,
            secret: seed,
            sent: vec![Traffic::default(); config.shares.len()],
            received: Traffic::default(),
            marked: 0,
            due: Time::ZERO,
            tells: Limit::default(),
            trial: None,
            tally: Tally::default(),
            config: config.clone(),
        }
    }

    /// Takes a new configuration, and keeps the queues and the state of the path.
    pub fn reconfigure(&mut self, config: &PeerConfig) {
        let endpoint = config.endpoint.as_ref().and_then(Endpoint::address);
        if endpoint.is_some() && config.endpoint != self.config.endpoint {
            self.set_endpoint(endpoint, "the site file has another one");
        }
        self.edge.set_shares(&config.shares);
        if config.service != self.config.service {
            self.sender.set_service(&config.service);
            self.promise.forget();
        }
        self.sender.cap = config.cap;
        self.sender.breaker.config = config.breaker;
        if config.mode != self.config.mode {
            self.sender.set_mode(config.mode);
        }
        self.sender.most_virtual = config.most_virtual();
        self.receiver.set_signals(config.signal, config.most_virtual());
        self.due = Time::ZERO;
        self.config = config.clone();
    }

    /// Passes on a packet of the peer and those that waited for it, or lets the packet wait.
    pub(crate) fn put_in_order(
        &mut self,
        packet: &[u8],
        part: Part,
        place: Place,
        at: Time,
        sink: &mut dyn FnMut(&[u8]),
    ) {
        let gaps = &self.gaps;
        let since = Time::from_ps(at.as_ps().saturating_sub(self.wait.as_ps()));
        self.order.push(
            packet.to_vec(),
            (part, place.counter, packet.len()),
            |after, before| gaps.is_between(place.session, after, before, since),
            at + self.wait,
            &mut |packet| sink(&packet),
        );
    }

    /// Sets the place of the peer, and logs the reason. Another place means another path.
    pub(crate) fn set_endpoint(&mut self, endpoint: Option<SocketAddr>, reason: &str) {
        if self.endpoint != endpoint {
            let text = |e: Option<SocketAddr>| e.map_or("none".into(), |e| e.to_string());
            let (from, to) = (text(self.endpoint), text(endpoint));
            tracing::info!(event = "endpoint", peer = self.config.name, from, to, reason);
            self.endpoint = endpoint;
            if let Some(search) = &mut self.path_mtu {
                search.restart();
            }
        }
    }

    /// Counts and logs a message of a handshake.
    pub(crate) fn on_handshake(&mut self, from: SocketAddr, at: Time) {
        self.greeted = at;
        self.handshakes += 1;
        tracing::debug!(event = "handshake", peer = self.config.name, from = %from);
    }

    /// Notes the state of the tunnel from now on. Without a session nothing arrives. A blind tunnel has sent
    /// data, and only counts report arrivals.
    pub(crate) fn look(&mut self, up: bool, now: Time) {
        let (controlled, blind) =
            (self.sender.state == State::Controlled, self.sender.state == State::Blind);
        let moment = Moment {
            waiting: !self.edge.is_empty() || !self.repairs.is_empty() || blind,
            limited: self.sender.at_limit && controlled,
            known: (controlled || blind || !up) && self.sender.mode != Mode::Bypass,
            arrived: self.sender.losses_and_arrivals().1,
        };
        self.promise.look(moment, now);
    }

    /// Logs a report of the other end, and the rate that follows from it.
    pub(crate) fn tell_report(&self, answer: &Answer) {
        tracing::debug!(
            event = "report",
            peer = self.config.name,
            may_send_bps = self.sender.rate().as_bps(),
            arrives_bps = answer.egress_bps,
            queued_s = answer.queued,
            accumulation = answer.accumulation,
            lost = answer.lost,
            waiting = self.edge.len(),
            repairs = self.repairs.count,
        );
    }

    /// Returns whether the search for the largest packet of the path is active. A peer that does not report
    /// would not answer probes, and one in mode bypass is not asked.
    pub(crate) fn is_probed(&self) -> bool {
        let reports = matches!(self.sender.state, State::Controlled | State::Blind);
        self.path_mtu.is_some() && reports && self.sender.mode != Mode::Bypass
    }

    /// Returns the way of a datagram with this octet of DSCP and ECN, if the place of the peer is known.
    /// Routers may cut a datagram that is too long if the path MTU is not discovered.
    pub(crate) fn way(&self, tos: u8) -> Option<Way> {
        Some(Way { to: self.endpoint?, tos, whole: self.is_probed() })
    }

    /// The name of the peer among gateways.
    pub fn key(&self) -> PublicKey {
        self.config.public_keys[0]
    }
}
