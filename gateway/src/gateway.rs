//! The gateway without I/O and without a clock: packets and datagrams in, datagrams and packets out.
//!
//! The driver passes packets of the device, datagrams of the socket and the time. The gateway returns
//! packets and datagrams to send, and the time of the next call. The clock may start anywhere and only
//! goes forward.

mod timers;
mod trials;

use crate::config::{Mode, Site};
use crate::edge::{Head, wire_size};
use crate::inner;
use crate::keys::PublicKey;
use crate::message::{self, Message};
use crate::outer;
use crate::path_mtu::{PathMtu, Probe};
use crate::peer::{Control, Peer, Way};
use crate::repair;
use crate::routes::Routes;
use crate::sender::Next;
use crate::sessions::{Opened, Sessions};
use crate::too_big;
use accord_family::Invalid;
use accord_transport::ip::{self, Packet};
use accord_transport::tunnel::repair::{LONGEST_WAIT, Place};
use accord_transport::wire::{ECN, EXPEDITED, MARKED};
use accord_units::{Duration, Time};
use std::net::{IpAddr, SocketAddr};

/// The time from one look at the timers of sessions to the next.
const TICK: Duration = Duration::from_ms(100);
/// The maximum number of packets of a peer that are sent before another peer has its turn.
const BATCH: usize = 64;
/// The DSCP of handshakes, AF41, as in the kernel's WireGuard.
const HANDSHAKE: u8 = 34 << 2;

/// An output for the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<'a> {
    /// Send a datagram.
    Datagram(Way, &'a [u8]),
    /// Pass a packet to the device.
    Packet(&'a [u8]),
}

/// Returns the way of a handshake. It is short, so it need not stay whole.
fn handshake(to: SocketAddr) -> Way {
    Way { to, tos: HANDSHAKE, whole: false }
}

/// The fields of a datagram that the network may change.
#[derive(Clone, Copy)]
struct Collected {
    /// The octet of DSCP and ECN.
    tos: u8,
    /// The virtual delay of the outer header.
    virtual_delay: Duration,
    /// The place of the datagram in its session, and whether it was reported missing before it arrived.
    place: Option<Place>,
    reported: bool,
}

/// Dropped packets, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// From the device: not an IP packet, or between link-local addresses.
    pub foreign: u64,
    /// From the device: not to a network of a peer.
    pub no_route: u64,
    /// From the device: larger than the path takes, and not allowed to be cut.
    pub too_big: u64,
    /// From the network: forged, replayed, damaged, late, or from an unknown sender.
    pub refused: u64,
    /// From the network: a handshake beyond those allowed to its address.
    pub flood: u64,
    /// From a peer: a source that is not behind it.
    pub wrong_source: u64,
    /// From a peer: between link-local addresses, and not one of our control messages.
    pub wrong_message: u64,
    /// From a peer: marked on the way, with ends that do not understand marks [RFC 6040 §4.2].
    pub marked: u64,
}

/// A gateway and its peers.
pub struct Gateway<S> {
    sessions: S,
    peers: Vec<Peer>,
    routes: Routes,
    /// The class of each DSCP.
    classes: [u8; 64],
    /// The dropped packets.
    pub dropped: Dropped,
    next_tick: Time,
    /// A datagram or a packet under construction.
    room: Vec<u8>,
    seed: u64,
    /// The length of the largest packet of a site.
    mtu: usize,
    /// The number of trials so far.
    trials: u64,
    /// The ICMP messages to senders of packets that are too large.
    told: Vec<Vec<u8>>,
    /// The address of the latest handshake beyond the allowed number.
    pub flooding: Option<IpAddr>,
}

impl<S: Sessions> Gateway<S> {
    /// Creates a gateway with sessions with the peers of the site, in their order. `seed` is random.
    ///
    /// # Errors
    /// Fails if the controller does not take the target of the site.
    pub fn new(site: &Site, sessions: S, seed: u64) -> Result<Gateway<S>, Invalid> {
        let mut gateway = Gateway {
            sessions,
            peers: Vec::new(),
            routes: Routes::default(),
            classes: [0; 64],
            dropped: Dropped::default(),
            next_tick: Time::ZERO,
            room: Vec::new(),
            seed,
            mtu: usize::from(site.interface.mtu),
            trials: 0,
            told: Vec::new(),
            flooding: None,
        };
        gateway.set_peers(site)?;
        Ok(gateway)
    }

    /// Changes the site: peers that stay keep their queues and the state of their paths. The caller
    /// changes the sessions in the same way.
    ///
    /// # Errors
    /// Fails if the controller does not take the target of the site. In this case nothing is
    /// changed.
    pub fn reconfigure(
        &mut self,
        site: &Site,
        sessions: impl FnOnce(&mut S),
    ) -> Result<(), Invalid> {
        self.set_peers(site)?;
        sessions(&mut self.sessions);
        Ok(())
    }

    fn set_peers(&mut self, site: &Site) -> Result<(), Invalid> {
        let control = Control::new(&site.interface)?;
        let mut before = std::mem::take(&mut self.peers);
        for config in &site.peers {
            let same = before.iter().position(|p| {
                let known = config.public_keys.iter().any(|key| p.config.has(key));
                known && p.edge.classes() == config.shares.len()
            });
            let peer = match same {
                Some(i) => {
                    let mut peer = before.swap_remove(i);
                    peer.reconfigure(config);
                    peer
                }
                None => {
                    // The generator of splitmix64, whose outputs are all different.
                    self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                    let x = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                    Peer::new(config, &site.interface, &control, x ^ (x >> 31))
                }
            };
            self.peers.push(peer);
        }
        self.routes = Routes::new(site);
        self.classes = [site.classes.len() as u8; 64];
        for (i, class) in site.classes.iter().enumerate() {
            for point in &class.dscp {
                self.classes[usize::from(point.0)] = i as u8;
            }
        }
        Ok(())
    }

    /// Takes a packet of the device.
    pub fn on_packet(&mut self, packet: &[u8], now: Time) {
        let Some(inner) = Packet::new(packet).filter(|p| !message::is_link_local(p)) else {
            self.dropped.foreign += 1;
            return;
        };
        let Some(peer) = self.routes.peer(inner.destination) else {
            self.dropped.no_route += 1;
            return;
        };
        let class = usize::from(self.classes[usize::from(inner::dscp(&inner).0)]);
        let limit = self.peers[peer].path_mtu.as_ref().map(PathMtu::limit);
        if let Some(limit) = limit.map(usize::from).filter(|limit| packet.len() > *limit) {
            self.cut(packet, &inner, limit, (peer, class), now);
            return;
        }
        self.peers[peer].edge.push(packet, &inner, class, now);
        self.peers[peer].due = Time::ZERO;
    }

    /// Takes a packet of the device that exceeds the size for the path to its peer. Cuts it if that is
    /// allowed, and otherwise sends a message to its sender.
    fn cut(
        &mut self,
        packet: &[u8],
        inner: &Packet,
        limit: usize,
        (peer, class): (usize, usize),
        now: Time,
    ) {
        if let Some(fragments) = too_big::fragments(packet, limit) {
            let peer = &mut self.peers[peer];
            for fragment in &fragments {
                if let Some(inner) = Packet::new(fragment) {
                    peer.edge.push(fragment, &inner, class, now);
                }
            }
            peer.due = Time::ZERO;
            return;
        }
        self.dropped.too_big += 1;
        if self.peers[peer].tells.allows(now) {
            self.told.extend(too_big::message(packet, inner, limit));
        }
    }

    /// Takes a datagram that arrived at `at`, with its octet of DSCP and ECN. Returns whether it came from a
    /// peer whose endpoint is not in the site file. Such a peer has called, and expects answers from the
    /// address that it called.
    pub fn on_datagram(
        &mut self,
        from: SocketAddr,
        tos: u8,
        datagram: &[u8],
        at: Time,
        sink: &mut dyn FnMut(Output),
    ) -> bool {
        let mut room = std::mem::take(&mut self.room);
        let (virtual_delay, datagram) = outer::split(datagram);
        let (place, expedited) = (repair::place(datagram), tos & !ECN == EXPEDITED);
        let opened = self.sessions.open(from, datagram, at, &mut room);
        let reported = match (opened, place) {
            (Opened::Nothing(peer) | Opened::Packet(peer), Some(place)) => {
                self.peers[peer].gaps.on_arrival(place, expedited)
            }
            _ => false,
        };
        if let Opened::Question(peer) | Opened::Answer(Some(peer)) | Opened::Nothing(peer) = opened
        {
            // A session may now be open.
            self.peers[peer].due = Time::ZERO;
        }
        match opened {
            Opened::Refused => self.dropped.refused += 1,
            Opened::Flood => {
                self.dropped.flood += 1;
                self.flooding = Some(from.ip());
            }
            Opened::Question(peer) => {
                self.peers[peer].on_handshake(from, at);
                sink(Output::Datagram(handshake(from), &room));
            }
            Opened::Answer(peer) => {
                if let Some(peer) = peer {
                    self.peers[peer].on_call(from);
                    self.peers[peer].sender.answered = at;
                    self.peers[peer].on_handshake(from, at);
                }
                if !room.is_empty() {
                    sink(Output::Datagram(handshake(from), &room));
                }
            }
            Opened::Nothing(peer) => {
                self.peers[peer].on_call(from);
                self.peers[peer].heard = at;
            }
            Opened::Packet(peer) => {
                self.peers[peer].on_call(from);
                self.peers[peer].heard = at;
                let collected = Collected { tos, virtual_delay, place, reported };
                self.take(peer, collected, &mut room, at, sink);
            }
        }
        self.room = room;
        match opened {
            Opened::Question(peer)
            | Opened::Answer(Some(peer))
            | Opened::Nothing(peer)
            | Opened::Packet(peer) => self.peers[peer].config.endpoint.is_none(),
            Opened::Answer(None) | Opened::Refused | Opened::Flood => false,
        }
    }

    /// Takes a packet of a peer.
    fn take(
        &mut self,
        from: usize,
        Collected { tos, virtual_delay, place, reported }: Collected,
        packet: &mut [u8],
        at: Time,
        sink: &mut dyn FnMut(Output),
    ) {
        let Some(inner) = Packet::new(packet) else {
            self.dropped.wrong_message += 1;
            return;
        };
        let peer = &mut self.peers[from];
        if message::is_link_local(&inner) {
            match message::decode(&inner) {
                Some(message) => {
                    if let Message::MtuProbe(number) = message {
                        // The answer is the length of the probe.
                        let answer = Message::MtuAnswer(number, packet.len() as u16);
                        self.tell(from, &answer, sink);
                        return;
                    }
                    if let Message::Test(_) = message {
                        // The packet counts as data for the controller of the other end.
                        let size = wire_size(packet.len());
                        peer.receiver.on_data(size, at);
                        peer.received.add(size.get());
                    }
                    self.on_control(from, &message, virtual_delay, at, sink);
                }
                None => self.dropped.wrong_message += 1,
            }
            return;
        }
        let size = wire_size(packet.len());
        peer.receiver.on_data(size, at);
        peer.received.add(size.get());
        peer.marked += u64::from(tos & ECN == MARKED);
        if self.routes.peer(inner.source) != Some(from) {
            self.dropped.wrong_source += 1;
        } else if peer.gaps.is_repeated(packet, reported, at) {
            // The second of a late packet and its repair has arrived.
        } else {
            let waits = !peer.wait.is_zero() && peer.gaps.is_open(at);
            let part = if waits { inner::part(&inner, peer.secret) } else { None };
            if !ip::exit(packet, tos) {
                self.dropped.marked += 1;
            } else if let (Some(part), Some(place)) = (part, place) {
                peer.put_in_order(packet, part, place, at, &mut |p| sink(Output::Packet(p)));
            } else {
                sink(Output::Packet(packet));
            }
        }
    }

    /// Handles a control message. Its datagram has collected `virtual_delay`.
    fn on_control(
        &mut self,
        from: usize,
        message: &Message,
        virtual_delay: Duration,
        at: Time,
        sink: &mut dyn FnMut(Output),
    ) {
        let peer = &mut self.peers[from];
        tracing::trace!(event = "received", peer = peer.config.name, message = ?message);
        match message {
            Message::OutOfBand(half) => peer.receiver.on_out_of_band(half, at),
            Message::InBand(half, sent, wait) => {
                let wait = Duration::from_secs_f64(f64::from(*wait));
                peer.wait = wait.min(LONGEST_WAIT);
                let answer = (peer.receiver).on_in_band(half, *sent, virtual_delay, at);
                if let Some(answer) = answer {
                    self.tell(from, &Message::Report(answer), sink);
                }
            }
            Message::Report(answer) => {
                peer.sender.on_report(answer, at);
                peer.tell_report(answer);
                peer.edge.set_round_trip(peer.sender.round_trip());
                if let Some(search) = &mut peer.path_mtu {
                    let (lost, arrived) = peer.sender.losses_and_arrivals();
                    search.on_heard(at);
                    search.on_losses(lost, arrived, at);
                }
                peer.due = Time::ZERO;
            }
            Message::Count(count) => {
                peer.sender.on_count(count);
                peer.due = Time::ZERO;
            }
            Message::Missing(missing) => {
                if peer.sender.repairs() {
                    peer.repairs.set_round_trip(peer.sender.round_trip());
                    peer.repairs.on_missing(missing, at);
                    peer.due = Time::ZERO;
                }
            }
            Message::Test(test) => peer.tally.on_test(test, at),
            Message::Ask(trial) => {
                let counts = peer.tally.counts(*trial);
                self.tell(from, &Message::Counts(counts), sink);
            }
            Message::Counts(counts) => {
                if let Some(trial) = &mut peer.trial {
                    trial.on_counts(counts);
                }
            }
            // The probe is answered where its length is known.
            Message::MtuProbe(_) => {}
            Message::MtuAnswer(number, size) => {
                if let Some(search) = &mut peer.path_mtu {
                    search.on_answer(*number, *size, at);
                }
            }
        }
    }

    /// Sends a control message.
    fn tell(&mut self, to: usize, message: &Message, sink: &mut dyn FnMut(Output)) {
        let peer = &self.peers[to];
        let tos = if message.is_expedited() { EXPEDITED } else { 0 };
        let Some(way) = peer.way(tos) else {
            return;
        };
        tracing::trace!(event = "sent", peer = peer.config.name, message = ?message);
        let packet = message::encode(message);
        let mut room = Vec::new();
        if self.sessions.seal(to, &packet, &mut room) {
            if matches!(message, Message::InBand(..)) && peer.config.virtual_delay.is_some() {
                outer::prepend(&mut room);
            }
            sink(Output::Datagram(way, &room));
        }
    }

    /// Does the work that is due. Returns the time of the next call if nothing arrives before.
    pub fn poll(&mut self, now: Time, sink: &mut dyn FnMut(Output)) -> Time {
        for told in self.told.drain(..) {
            sink(Output::Packet(&told));
        }
        if now >= self.next_tick {
            self.next_tick = now + TICK;
            for peer in 0..self.peers.len() {
                self.tick(peer, now, sink);
                // The session may have changed.
                self.peers[peer].due = Time::ZERO;
            }
        }
        let mut wake = self.next_tick;
        for peer in &mut self.peers {
            peer.order.expire(now, &mut |packet| sink(Output::Packet(&packet)));
            wake = wake.min(peer.order.next());
        }
        for peer in 0..self.peers.len() {
            if let Some(count) = self.peers[peer].receiver.count() {
                self.tell(peer, &Message::Count(count), sink);
            }
            // A peer without pairs is plain WireGuard, or sends no data.
            while let Some(missing) = self.peers[peer].gaps.take(now) {
                if self.peers[peer].receiver.pairs > 0 {
                    self.tell(peer, &Message::Missing(missing), sink);
                }
            }
            wake = wake.min(self.go_on_with_trial(peer, now, sink));
            wake = wake.min(self.probe_path(peer, now, sink));
            if self.peers[peer].due <= now {
                self.peers[peer].due = self.pump(peer, now, sink);
                let up = self.sessions.is_open(peer);
                self.peers[peer].look(up, now);
            }
            wake = wake.min(self.peers[peer].due);
        }
        wake
    }

    /// Sends the probe of the path MTU that is due, if one is. Returns the time at which to ask again.
    fn probe_path(&mut self, to: usize, now: Time, sink: &mut dyn FnMut(Output)) -> Time {
        let peer = &mut self.peers[to];
        let (asked, way) = (peer.is_probed() && self.sessions.is_open(to), peer.way(0));
        let (Some(search), Some(way), true) = (&mut peer.path_mtu, way, asked) else {
            return Time::MAX;
        };
        let round_trip = peer.sender.round_trip();
        if let Some(Probe { number, size }) = search.next(round_trip, now) {
            let probe = Message::MtuProbe(number);
            let packet = message::padded(&probe, usize::from(size));
            if self.sessions.seal(to, &packet, &mut self.room) {
                sink(Output::Datagram(way, &self.room));
            }
        }
        search.next
    }

    /// Sends the packets and messages that a peer's sender releases. Returns the time of the next call.
    fn pump(&mut self, to: usize, now: Time, sink: &mut dyn FnMut(Output)) -> Time {
        if !self.sessions.is_open(to) {
            return Time::MAX;
        }
        for _ in 0..BATCH {
            let peer = &mut self.peers[to];
            let Some(way) = peer.way(0) else {
                return Time::MAX;
            };
            let repair = peer.repairs.head(now).map(|head| wire_size(head.packet.len()));
            let head = repair.or_else(|| peer.edge.head(now));
            let waiting = peer.edge.len() + peer.repairs.len();
            match peer.sender.next(head, waiting, now) {
                Next::Wait(until) => return until,
                Next::Message(message) => self.tell(to, &message, sink),
                Next::Data => {
                    if let Some((sent, repair)) = peer.repairs.take() {
                        self.send(to, way, repair, sent, now, sink);
                        continue;
                    }
                    let Some(head) = peer.edge.take() else {
                        continue;
                    };
                    self.send(to, way, head, now, now, sink);
                }
            }
        }
        now
    }

    /// Sends a packet of a site, which was first sent at `first`.
    fn send(
        &mut self,
        to: usize,
        way: Way,
        packet: Head,
        first: Time,
        now: Time,
        sink: &mut dyn FnMut(Output),
    ) {
        let peer = &mut self.peers[to];
        let size = wire_size(packet.packet.len());
        peer.sent[packet.class].add(size.get());
        // The datagram has the codepoint of the packet [RFC 6040 §4.1].
        let tos = Packet::new(&packet.packet).map_or(0, |p| p.tos & ECN);
        if !self.sessions.seal(to, &packet.packet, &mut self.room) {
            return;
        }
        sink(Output::Datagram(Way { tos, ..way }, &self.room));
        match repair::place(&self.room).filter(|_| peer.repairs.keeps(now)) {
            Some(place) => {
                let length = packet.packet.len();
                peer.repairs.keep(place, (packet, length), first, now)
            }
            None => peer.edge.recycle(packet),
        }
    }

    /// Returns whether packets wait at the edge.
    pub fn is_waiting(&self) -> bool {
        (self.peers.iter()).any(|peer| !peer.edge.is_empty() || !peer.repairs.is_empty())
    }

    /// Changes the mode of a peer. Returns `false` if there is no such peer.
    pub fn set_mode(&mut self, peer: &str, mode: Mode) -> bool {
        let Some(peer) = self.peers.iter_mut().find(|p| p.config.name == peer) else {
            return false;
        };
        peer.sender.set_mode(mode);
        peer.due = Time::ZERO;
        true
    }

    /// Sets the place of the peer with this key, if there is one, and logs the reason.
    pub fn set_endpoint(&mut self, key: &PublicKey, endpoint: SocketAddr, reason: &str) {
        if let Some(peer) = self.peers.iter_mut().find(|p| p.config.has(key)) {
            peer.set_endpoint(Some(endpoint), reason);
        }
    }

    /// The peers.
    pub fn peers(&self) -> &[Peer] {
        &self.peers
    }

    /// The sessions.
    pub fn sessions(&self) -> &S {
        &self.sessions
    }
}
