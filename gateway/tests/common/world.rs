//! Two gateways and a hostile network, without sockets and without a clock: the same seed gives the
//! same course, but for the random keys of handshakes.

use crate::dice::Dice;
use accord_gateway::config::{Site, parse};
use accord_gateway::keys::{PrivateKey, PublicKey};
use accord_gateway::{Gateway, Opened, Output, PeerKeys, Sessions, Way, WireGuard, outer};
use accord_units::{Bytes, Duration, Rate, Time};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::rc::Rc;

/// Sessions whose handshakes are repeated by the clock of the world. boringtun's own timers are of
/// real time, of which hardly any passes.
pub struct Timed {
    inner: WireGuard,
    now: Rc<Cell<Time>>,
    greeted: Time,
    /// The latest key of this end.
    own: PublicKey,
}

impl Sessions for Timed {
    fn open(&mut self, from: SocketAddr, datagram: &[u8], at: Time, out: &mut Vec<u8>) -> Opened {
        self.inner.open(from, datagram, at, out)
    }

    fn seal(&mut self, peer: usize, packet: &[u8], out: &mut Vec<u8>) -> bool {
        self.inner.seal(peer, packet, out)
    }

    fn is_open(&self, peer: usize) -> bool {
        self.inner.is_open(peer)
    }

    fn greet(&mut self, peer: usize, again: bool, send: &mut dyn FnMut(&[u8])) {
        let (greeted, now) = (&mut self.greeted, self.now.get());
        self.inner.greet(peer, again, &mut |datagram| {
            *greeted = now;
            send(datagram);
        });
    }

    fn tick(&mut self, peer: usize, now: Time, send: &mut dyn FnMut(&[u8])) {
        let due = self.now.get().since(self.greeted) >= Duration::from_ms(500);
        if due && self.keys(peer).is_none_or(|(own, _)| own != self.own) {
            return self.greet(peer, true, send);
        }
        self.inner.tick(peer, now, send);
    }

    fn keys(&self, peer: usize) -> Option<(PublicKey, PublicKey)> {
        self.inner.keys(peer)
    }

    fn age(&self, peer: usize) -> Option<u64> {
        self.inner.age(peer)
    }
}

/// The probabilities of the network's treatments of a datagram, in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Malice {
    pub lost: u64,
    pub duplicated: u64,
    pub late: u64,
    pub truncated: u64,
    pub flipped: u64,
    pub replayed: u64,
    pub forged: u64,
    /// The loss of small datagrams alone: control messages.
    pub control_lost: u64,
    /// The datagrams with a mark.
    pub marked: u64,
    /// The length from which on datagrams that must stay whole are lost without a word, or zero.
    pub too_long: usize,
}

/// The link from one gateway to the other: a rate, a buffer and a delay.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub rate: Rate,
    pub buffer: u64,
    pub delay: Duration,
    /// True if expedited datagrams overtake the queue.
    pub expedites: bool,
}

/// The virtual delay that the router ahead of the link writes into outer headers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Writes {
    Nothing,
    /// The delay of a virtual queue that is served at this part of the link's rate [Xia05 §IV-D].
    VirtualQueue(f64),
    /// Any number.
    Anything,
    /// The largest number for this time, and then nothing for as long.
    Waves(Duration),
}

/// The two gateways, and the network between them.
pub struct World {
    pub gateways: [Gateway<Timed>; 2],
    pub malice: Malice,
    pub link: Link,
    pub writes: Writes,
    pub now: Time,
    shared: Rc<Cell<Time>>,
    dice: Dice,
    /// Datagrams under way: when they arrive, their numbers, to whom, the octet and the bytes.
    under_way: BTreeMap<(Time, u64), (usize, u8, Vec<u8>)>,
    number: u64,
    /// When the link of each way is free.
    free: [Time; 2],
    /// When the virtual queue of each way is empty.
    virtually_free: [Time; 2],
    pub wake: [Time; 2],
    /// The datagrams that went over, for replays.
    history: Vec<(usize, Vec<u8>)>,
    /// The packets of hosts that were sent and have not arrived, by direction.
    expected: [BTreeSet<Vec<u8>>; 2],
    /// The largest packets that hosts at each end send, since a message of a smaller MTU.
    pub told: [usize; 2],
    /// The packets that arrived, and the bytes of data that each gateway sent.
    pub arrived: [u64; 2],
    pub sent: [u64; 2],
    /// The segments of TCP that arrived: their ports and numbers.
    pub segments: Vec<(u16, u32)>,
    serial: u32,
    /// The address of the second gateway that is used, and the one that nothing reaches or leaves.
    pub home: SocketAddr,
    pub cut: Option<SocketAddr>,
    /// The gateway whose datagrams alone are cut there, if the other's pass.
    pub cut_from: Option<usize>,
    /// The time for which the clock of each gateway stood still.
    lag: [Duration; 2],
    /// The gateway that is suspended: nothing reaches it, and it does nothing.
    asleep: Option<usize>,
    privates: [PrivateKey; 2],
}

/// The clock of the second gateway is ahead by an hour, and runs faster by 50 ppm.
const AHEAD: Duration = Duration::from_secs(3600);
const FASTER: u64 = 20_000;

/// A line of a peer that gives the second gateway a second uplink.
pub const UPLINKS: &str = "# two uplinks";

/// The second uplink of the second gateway.
pub fn uplink() -> SocketAddr {
    SocketAddr::from(([198, 51, 100, 2], 51820))
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1 + end as u8], 51820))
}

impl World {
    /// Makes two gateways that do not know each other's addresses by half.
    pub fn new(seed: u64, link: Link) -> World {
        World::with(seed, link, "", "")
    }

    /// Makes two gateways with more keys for themselves and for their peers.
    pub fn with(seed: u64, link: Link, gateway: &str, peer: &str) -> World {
        let mut dice = Dice(seed);
        let keys = [0, 1].map(|_| PrivateKey::new(dice.bytes()));
        let shared = Rc::new(Cell::new(Time::ZERO));
        let sites = [0, 1].map(|i| site(i, &[keys[1 - i].public()], gateway, peer));
        let gateways = [0, 1].map(|i| {
            let peer =
                PeerKeys { publics: vec![keys[1 - i].public()], shared: None, keepalive: None };
            let sessions = Timed {
                inner: WireGuard::new(&keys[i], &[peer]),
                now: shared.clone(),
                greeted: Time::ZERO,
                own: keys[i].public(),
            };
            let seed = dice.next();
            Gateway::new(&sites[i], sessions, seed).expect("a gateway")
        });
        World {
            gateways,
            malice: Malice::default(),
            link,
            writes: Writes::Nothing,
            now: Time::ZERO + Duration::from_secs(1),
            shared,
            dice,
            under_way: BTreeMap::new(),
            number: 0,
            free: [Time::ZERO; 2],
            virtually_free: [Time::ZERO; 2],
            wake: [Time::ZERO; 2],
            history: Vec::new(),
            expected: Default::default(),
            told: [usize::MAX; 2],
            arrived: [0; 2],
            sent: [0; 2],
            segments: Vec::new(),
            serial: 0,
            home: address(1),
            cut: None,
            cut_from: None,
            lag: [Duration::ZERO; 2],
            asleep: None,
            privates: keys,
        }
    }

    /// Has a gateway read a site file with this key of its own, and these of its peer.
    #[allow(dead_code, reason = "each test uses its own part")]
    pub fn reload(&mut self, end: usize, own: &PrivateKey, theirs: &[PublicKey]) {
        let peer = PeerKeys { publics: theirs.to_vec(), shared: None, keepalive: None };
        let site = site(end, theirs, "", "");
        let set = |sessions: &mut Timed| {
            sessions.own = own.public();
            sessions.inner.set(own, &[peer]);
        };
        self.gateways[end].reconfigure(&site, set).expect("a site");
        self.wake[end] = self.now;
    }

    /// Returns the key that a gateway began with.
    #[allow(dead_code, reason = "each test uses its own part")]
    pub fn key(&self, end: usize) -> PrivateKey {
        self.privates[end].clone()
    }

    /// Suspends a gateway for `length`. Its clock stands still.
    pub fn suspend(&mut self, end: usize, length: Duration) {
        self.asleep = Some(end);
        self.run(self.now + length);
        self.asleep = None;
        self.lag[end] += length;
        self.wake[end] = self.now;
    }

    /// Lets time pass in which neither gateway does anything, although their clocks go on: both
    /// machines stood still. Datagrams on the way are late.
    pub fn stop(&mut self, length: Duration) {
        self.now += length;
    }

    /// Forgets the packets of hosts that have not arrived. None of them may be under way.
    #[allow(dead_code, reason = "each test uses its own part")]
    pub fn forget(&mut self) {
        assert_eq!(self.gateways.each_ref().map(|g| g.peers()[0].edge.len()), [0; 2]);
        self.expected = Default::default();
    }

    /// The packets of hosts at one end that have neither arrived nor been given up by their gateway.
    pub fn missing(&self, end: usize) -> usize {
        self.expected[end].len()
    }

    /// The queue of the link to a gateway, in time.
    pub fn queued(&self, to: usize) -> Duration {
        self.free[to].since(self.now)
    }

    /// The clock of a gateway.
    fn clock(&self, end: usize) -> Time {
        let clock = match end {
            0 => self.now,
            _ => self.now + AHEAD + Duration::from_ps(self.now.as_ps() / FASTER),
        };
        Time::ZERO + clock.since(Time::ZERO + self.lag[end])
    }

    /// A host at one end sends a packet to one at the other, which must not be cut. It is no longer
    /// than the MTU of the latest message to the host.
    pub fn host_sends(&mut self, end: usize, length: usize, tos: u8) {
        self.flow_sends(end, 0, length, tos);
    }

    /// A host sends a packet of the flow with this port.
    pub fn flow_sends(&mut self, end: usize, port: u16, length: usize, tos: u8) {
        self.sends(end, port, length, tos, None);
    }

    /// A host sends a segment of TCP with this number.
    pub fn segment_sends(&mut self, end: usize, port: u16, number: u32, length: usize) {
        self.sends(end, port, length, 0, Some(number));
    }

    fn sends(&mut self, end: usize, port: u16, length: usize, tos: u8, segment: Option<u32>) {
        let (from, to) = (1 + end as u8, 2 - end as u8);
        let length = length.min(self.told[end]).max(32);
        let mut packet = vec![0; length];
        packet[0] = 0x45;
        packet[1] = tos;
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet[6] = 0x40;
        packet[8] = 64;
        packet[9] = 17;
        packet[12..16].copy_from_slice(&[10, from, 0, 1]);
        packet[16..20].copy_from_slice(&[10, to, 0, 1]);
        packet[20..22].copy_from_slice(&port.to_be_bytes());
        self.serial += 1;
        packet[28..32].copy_from_slice(&self.serial.to_be_bytes());
        if let Some(number) = segment {
            packet[9] = 6;
            packet[24..28].copy_from_slice(&number.to_be_bytes());
            (packet[32], packet[33]) = (5 << 4, 0x10);
        }
        self.expected[end].insert(packet.clone());
        let now = self.clock(end);
        self.gateways[end].on_packet(&packet, now);
        self.wake[end] = self.now;
    }

    /// Lets time pass until `until`.
    pub fn run(&mut self, until: Time) {
        loop {
            let arrival = self.under_way.keys().next().map_or(Time::MAX, |(at, _)| *at);
            let wakes =
                |end: usize| if self.asleep == Some(end) { Time::MAX } else { self.wake[end] };
            let next = arrival.min(wakes(0)).min(wakes(1));
            if next > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(next);
            self.shared.set(self.now);
            if arrival <= self.now {
                if let Some((_, (end, tos, bytes))) = self.under_way.pop_first() {
                    self.arrive(end, tos, &bytes);
                }
                continue;
            }
            for end in 0..2 {
                if self.wake[end] <= self.now && self.asleep != Some(end) {
                    let clock = self.clock(end);
                    let mut out = Vec::new();
                    let wake = self.gateways[end].poll(clock, &mut |o| out.push(owned(o)));
                    let wait = wake.since(clock);
                    self.wake[end] = self.now + wait.max(Duration::from_us(1));
                    self.handle(end, out);
                }
            }
        }
    }

    fn arrive(&mut self, end: usize, tos: u8, bytes: &[u8]) {
        if self.asleep == Some(end) {
            return;
        }
        let (clock, mut out) = (self.clock(end), Vec::new());
        let from = if end == 0 { self.home } else { address(0) };
        self.gateways[end].on_datagram(from, tos, bytes, clock, &mut |o| out.push(owned(o)));
        self.handle(end, out);
        self.wake[end] = self.now;
    }

    /// Handles the output of a gateway.
    fn handle(&mut self, end: usize, out: Vec<Owned>) {
        for output in out {
            match output {
                Owned::Packet(packet) if packet[9] == 1 => {
                    // ICMP: the packet is too large, and the largest has this length.
                    assert_eq!((packet[20], packet[21]), (3, 4), "{packet:?}");
                    let mtu = u16::from_be_bytes([packet[26], packet[27]]);
                    self.told[end] = self.told[end].min(usize::from(mtu));
                }
                Owned::Packet(packet) => {
                    // A mark is the one thing that may have changed.
                    let mut plain = packet.clone();
                    if packet[1] & 3 == 3 {
                        plain[1] = packet[1] & !1;
                        plain[10..12].fill(0);
                    }
                    let known = self.expected[1 - end].remove(&plain);
                    assert!(known, "nobody sent this, or it arrives again: {packet:?}");
                    self.arrived[end] += 1;
                    if packet[9] == 6 {
                        let port = u16::from_be_bytes([packet[20], packet[21]]);
                        let number = [packet[24], packet[25], packet[26], packet[27]];
                        self.segments.push((port, u32::from_be_bytes(number)));
                    }
                }
                Owned::Datagram(Way { to, tos, whole }, bytes) => {
                    // The second gateway answers from where it was called.
                    let home = if end == 0 { to } else { self.home };
                    if self.cut == Some(home) && self.cut_from.is_none_or(|from| from == end) {
                        continue;
                    }
                    self.home = home;
                    if bytes.len() > 200 {
                        self.sent[end] += bytes.len() as u64 + 28;
                    }
                    let too_long = self.malice.too_long;
                    if whole && too_long > 0 && bytes.len() >= too_long {
                        continue;
                    }
                    self.carry(end, tos, bytes);
                }
            }
        }
    }

    /// Carries a datagram, or loses, repeats, damages or delays it.
    fn carry(&mut self, from: usize, mut tos: u8, bytes: Vec<u8>) {
        let malice = self.malice;
        if self.dice.in_thousand(malice.marked) && tos & 3 == 2 {
            tos |= 1;
        }
        self.history.push((1 - from, bytes.clone()));
        if self.history.len() > 200 {
            let oldest = self.dice.below(200) as usize;
            self.history.swap_remove(oldest);
        }
        if self.dice.in_thousand(malice.truncated) {
            let length = self.dice.below(bytes.len() as u64) as usize;
            self.put(1 - from, tos, bytes[..length].to_vec());
        }
        if self.dice.in_thousand(malice.flipped) {
            let mut other = bytes.clone();
            let bit = self.dice.below(8 * other.len() as u64) as usize;
            other[bit / 8] ^= 1 << (bit % 8);
            self.put(1 - from, tos, other);
        }
        if self.dice.in_thousand(malice.replayed) {
            let which = self.dice.below(self.history.len() as u64) as usize;
            let (to, old) = self.history[which].clone();
            self.put(to, tos, old);
        }
        if self.dice.in_thousand(malice.forged) {
            let length = 4 + self.dice.below(300) as usize;
            let mut forged: Vec<u8> = (0..length).map(|_| self.dice.next() as u8).collect();
            forged[..4].copy_from_slice(&[1 + self.dice.below(4) as u8, 0, 0, 0]);
            let to = self.dice.below(2) as usize;
            self.put(to, tos, forged);
        }
        // Handshakes are not control messages, although they may be as short.
        let small = bytes.len() < 130 && !matches!(bytes[..], [1..=3, ..]);
        let lost = malice.lost + if small { malice.control_lost } else { 0 };
        if self.dice.in_thousand(lost) {
            return;
        }
        if self.dice.in_thousand(malice.duplicated) {
            self.put(1 - from, tos, bytes.clone());
        }
        self.put(1 - from, tos, bytes);
    }

    /// Puts a datagram on the link.
    fn put(&mut self, to: usize, tos: u8, mut bytes: Vec<u8>) {
        let size = Bytes::new(bytes.len() as u64 + 28);
        match self.writes {
            Writes::Nothing => {}
            Writes::VirtualQueue(part) => {
                let rate = Rate::from_bps_f64(self.link.rate.as_bps_f64() * part);
                let free = self.virtually_free[to].max(self.now);
                outer::add(&mut bytes, free.since(self.now));
                self.virtually_free[to] = free + rate.transmission(size);
            }
            Writes::Waves(length) => {
                let up = (self.now.as_ps() / length.as_ps()).is_multiple_of(2);
                outer::add(&mut bytes, if up { Duration::MAX } else { Duration::ZERO });
            }
            Writes::Anything => {
                let any = self.dice.next() as u32 >> self.dice.below(32);
                outer::add(&mut bytes, Duration::from_us(u64::from(any)));
            }
        }
        if self.link.expedites && tos == 46 << 2 {
            // Its own time on the link is not worth counting.
            self.number += 1;
            let at = self.now + self.link.rate.transmission(size) + self.link.delay;
            self.under_way.insert((at, self.number), (to, tos, bytes));
            return;
        }
        let free = self.free[to].max(self.now);
        if free.since(self.now) > self.link.rate.transmission(Bytes::new(self.link.buffer)) {
            return;
        }
        self.free[to] = free + self.link.rate.transmission(size);
        let late = if self.dice.in_thousand(self.malice.late) {
            Duration::from_us(self.dice.below(30_000))
        } else {
            Duration::ZERO
        };
        self.number += 1;
        let at = self.free[to] + self.link.delay + late;
        self.under_way.insert((at, self.number), (to, tos, bytes));
    }
}

/// Handshakes of strangers, made once and sent again and again.
pub struct Flood {
    handshakes: Vec<Vec<u8>>,
}

impl Flood {
    /// Makes handshakes of `count` strangers with the second gateway.
    pub fn new(world: &World, dice: &mut Dice, strangers: usize) -> Flood {
        let to = world.privates[1].public();
        let handshakes = (0..strangers).map(|_| {
            let peer = PeerKeys { publics: vec![to], shared: None, keepalive: None };
            let mut sessions = WireGuard::new(&PrivateKey::new(dice.bytes()), &[peer]);
            let mut bytes = Vec::new();
            sessions.greet(0, true, &mut |datagram| bytes = datagram.to_vec());
            assert!(!bytes.is_empty());
            bytes
        });
        Flood { handshakes: handshakes.collect() }
    }

    /// Sends them to the second gateway, each from another address. Returns the number that were
    /// answered by a cookie.
    pub fn hit(&mut self, world: &mut World, count: usize, dice: &mut Dice) -> u64 {
        let (clock, mut cookies) = (world.clock(1), 0);
        for _ in 0..count {
            let which = dice.below(self.handshakes.len() as u64) as usize;
            let from = SocketAddr::from(((dice.next() as u32).to_be_bytes(), 1000));
            let datagram = &self.handshakes[which];
            world.gateways[1].on_datagram(from, 0, datagram, clock, &mut |output| {
                let Output::Datagram(Way { to, .. }, bytes) = output else {
                    panic!("a stranger's packet comes out");
                };
                // A cookie is shorter than its handshake, so it does not amplify.
                assert!(to == from && bytes.len() == 64 && bytes[0] == 3, "{bytes:?}");
                cookies += 1;
            });
        }
        cookies
    }
}

enum Owned {
    Packet(Vec<u8>),
    Datagram(Way, Vec<u8>),
}

fn owned(output: Output) -> Owned {
    match output {
        Output::Packet(packet) => Owned::Packet(packet.to_vec()),
        Output::Datagram(way, bytes) => Owned::Datagram(way, bytes.to_vec()),
    }
}

fn site(end: usize, peer: &[PublicKey], gateway: &str, more: &str) -> Site {
    // The first one knows a second uplink of the other.
    let endpoint = match end == 0 && more.contains(UPLINKS) {
        true => format!("[\"{}\", \"{}\"]", address(1), uplink()),
        false => format!("\"{}\"", address(1 - end)),
    };
    let service = if more.contains("service") { "" } else { "service = { contract = \"5 Mbps\" }" };
    let keys: Vec<_> = peer.iter().map(|key| format!("\"{key}\"")).collect();
    let text = format!(
        "[gateway]\nkey = \"x\"\nlisten = \"{}\"\nqueue = \"200 KB\"\n{gateway}\n\
         [peer.other]\npublic_key = [{}]\nendpoint = {endpoint}\nnetworks = [\"10.{}.0.0/16\"]\n\
         cap = \"30 Mbps\"\n{service}\n{more}\n",
        address(end),
        keys.join(", "),
        2 - end
    );
    parse("", &text).expect("a site")
}
