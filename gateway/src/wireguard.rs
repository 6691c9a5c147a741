//! WireGuard sessions, through boringtun. There is no cryptography here.
//!
//! boringtun has one tunnel per pair of keys. This module finds the tunnel of a datagram, and has a common
//! limit of handshakes for all peers. Above that limit, a sender must prove with a cookie that it receives
//! datagrams at its address, and each address has its own limit.
//!
//! While an end changes its key, a peer has several tunnels: with the old key and with the new one. The one
//! in use is the first on which something has arrived since its handshake. A replaced tunnel still accepts
//! datagrams in flight.

use crate::flood::Buckets;
use crate::keys::{PrivateKey, PublicKey, SharedKey};
use crate::sessions::{Opened, Sessions};
use accord_units::{Duration, Time};
use boringtun::noise::handshake::parse_handshake_anon;
use boringtun::noise::rate_limiter::RateLimiter;
use boringtun::noise::{Packet, Tunn, TunnResult};
use boringtun::x25519;
use std::net::SocketAddr;
use std::sync::Arc;

/// The handshakes per second of all peers above which cookies are required.
const HANDSHAKES: u64 = 100;
/// The longest datagram, and the bytes that encryption adds to a packet.
const LONGEST: usize = 65_535;
const ADDED: usize = 32;
/// The least room that boringtun needs: the size of a handshake.
const ROOM: usize = 148;
/// The type of datagrams with data, in their first byte.
const DATA: u8 = 4;
/// The time for which a replaced tunnel accepts datagrams in flight.
const ON_THE_WAY: Duration = Duration::from_secs(10);
/// The bits of an index that boringtun uses for the sessions of a peer.
const PER_PEER: u32 = 8;

/// The parameters of sessions with a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerKeys {
    /// The public keys: one, or two while the peer changes its own.
    pub publics: Vec<PublicKey>,
    /// The key that both ends share.
    pub shared: Option<SharedKey>,
    /// The interval, in seconds, of packets that keep mappings open.
    pub keepalive: Option<u16>,
}

/// A tunnel to a peer.
struct Tunnel {
    /// The public keys of this end and of the peer.
    own: PublicKey,
    theirs: PublicKey,
    tunn: Tunn,
    /// The index by which the peer's datagrams name the tunnel. It is never used for another peer.
    slot: u32,
    open: bool,
    /// True if a handshake of the peer was ever taken.
    used: bool,
    /// When another tunnel replaced it.
    replaced: Option<Time>,
    /// The index of a session that the peer has asked for since, which brings it back into use.
    asked: Option<u32>,
}

/// A peer and its tunnels. The first one is in use.
struct Line {
    keys: PeerKeys,
    tunnels: Vec<Tunnel>,
}

impl Line {
    fn is_open(&self) -> bool {
        self.tunnels.iter().any(|t| t.open)
    }

    /// Returns whether a session on a tunnel should be begun or maintained: on the one in use, on all while
    /// none has a session, and on those with a new key of this end.
    fn is_called(&self, place: usize, own: PublicKey) -> bool {
        let tunnel = &self.tunnels[place];
        let newer = tunnel.own == own && self.tunnels[0].own != own;
        tunnel.replaced.is_none() && (place == 0 || !self.is_open() || newer)
    }

    /// Notes that something has arrived on a session of a tunnel: it is the one in use from now on. One that
    /// was replaced is not, unless the peer has begun that session since: datagrams on the way, or held up
    /// there, change nothing.
    fn use_from(&mut self, place: usize, session: Option<u32>, at: Time) {
        let tunnel = &self.tunnels[place];
        if place > 0 && (tunnel.replaced.is_none() || session.is_some() && tunnel.asked == session)
        {
            let mut tunnel = self.tunnels.remove(place);
            (tunnel.replaced, tunnel.asked) = (None, None);
            (self.tunnels[0].replaced, self.tunnels[0].asked) = (Some(at), None);
            self.tunnels.insert(0, tunnel);
        }
    }
}

/// Sessions of WireGuard.
pub struct WireGuard {
    private: x25519::StaticSecret,
    public: x25519::PublicKey,
    /// The first limiter asks no sender for a cookie, the other asks every sender.
    relaxed: RateLimiter,
    strict: RateLimiter,
    /// The handshakes since the start of a second.
    handshakes: (Time, u64),
    buckets: Buckets,
    peers: Vec<Line>,
    next_slot: u32,
}

impl WireGuard {
    /// Creates sessions with these peers.
    pub fn new(private_key: &PrivateKey, peers: &[PeerKeys]) -> WireGuard {
        let private = private_key.secret();
        let public = x25519::PublicKey::from(&private);
        let mut sessions = WireGuard {
            relaxed: RateLimiter::new(&public, u64::MAX),
            strict: RateLimiter::new(&public, 0),
            handshakes: (Time::ZERO, 0),
            buckets: Buckets::default(),
            private,
            public,
            peers: Vec::new(),
            next_slot: 0,
        };
        sessions.set(private_key, peers);
        sessions
    }

    /// Changes the key of this end and the peers. Sessions with a key that a peer still has continue. Those
    /// with the old key of this end continue until there is one with the new key, or until they are too old.
    pub fn set(&mut self, private: &PrivateKey, peers: &[PeerKeys]) {
        let own = private.public();
        let changed = own.0 != self.public.to_bytes();
        if changed {
            self.private = private.secret();
            self.public = x25519::PublicKey::from(&self.private);
            self.relaxed = RateLimiter::new(&self.public, u64::MAX);
            self.strict = RateLimiter::new(&self.public, 0);
        }
        let mut before = std::mem::take(&mut self.peers);
        for keys in peers {
            let same = before.iter().position(|line| {
                let known = keys.publics.iter().any(|key| line.keys.publics.contains(key));
                known && line.keys.shared == keys.shared && line.keys.keepalive == keys.keepalive
            });
            let mut tunnels = same.map_or(Vec::new(), |i| before.swap_remove(i).tunnels);
            // A key that the peer no longer has is worth nothing from now on.
            tunnels.retain(|t| keys.publics.contains(&t.theirs) && (t.own == own || t.open));
            if changed {
                // The key may be the one before: its sessions have to begin again.
                for tunnel in tunnels.iter_mut().filter(|t| t.own == own) {
                    self.close(tunnel);
                }
            }
            for public in &keys.publics {
                if !tunnels.iter().any(|t| t.own == own && t.theirs == *public) {
                    tunnels.push(self.tunnel(keys, *public));
                }
            }
            tunnels[0].replaced = None;
            self.peers.push(Line { keys: keys.clone(), tunnels });
        }
    }

    /// Ends the sessions of a tunnel of the present key. The times of handshakes stay, so old ones are not taken
    /// again.
    fn close(&self, tunnel: &mut Tunnel) {
        let limiter = Arc::new(RateLimiter::new(&self.public, u64::MAX));
        tunnel.tunn.set_static_private(self.private.clone(), self.public, Some(limiter));
        (tunnel.open, tunnel.replaced, tunnel.asked) = (false, None, None);
    }

    fn tunnel(&mut self, keys: &PeerKeys, theirs: PublicKey) -> Tunnel {
        let slot = self.next_slot;
        // 24 bits of an index are left, more than the number of reloads.
        self.next_slot = (self.next_slot + 1) % (1 << (32 - PER_PEER));
        Tunnel {
            tunn: Tunn::new(
                self.private.clone(),
                x25519::PublicKey::from(theirs.0),
                keys.shared.as_ref().map(|k| k.0),
                keys.keepalive,
                slot,
                // This limit applies to all peers together.
                Some(Arc::new(RateLimiter::new(&self.public, u64::MAX))),
            ),
            own: PublicKey(self.public.to_bytes()),
            theirs,
            slot,
            open: false,
            used: false,
            replaced: None,
            asked: None,
        }
    }

    /// Returns whether there are more handshakes than allowed, including this one.
    fn is_under_load(&mut self, at: Time) -> bool {
        let (start, count) = &mut self.handshakes;
        if at.since(*start) >= Duration::from_secs(1) {
            (*start, *count) = (at, 0);
        }
        *count += 1;
        *count > HANDSHAKES
    }

    /// Returns the indices of the peer that sent a datagram and of its tunnel, as far as the datagram
    /// identifies them.
    fn whose(&self, packet: &Packet) -> Option<(usize, usize)> {
        let index = match packet {
            Packet::HandshakeInit(init) => {
                let half = parse_handshake_anon(&self.private, &self.public, init).ok()?;
                let public = half.peer_static_public;
                let own = self.public.to_bytes();
                return self.find(|t| t.own.0 == own && t.theirs.0 == public);
            }
            Packet::HandshakeResponse(p) => p.receiver_idx,
            Packet::PacketCookieReply(p) => p.receiver_idx,
            Packet::PacketData(p) => p.receiver_idx,
        };
        let slot = index >> PER_PEER;
        self.find(|t| t.slot == slot)
    }

    fn find(&self, is: impl Fn(&Tunnel) -> bool) -> Option<(usize, usize)> {
        let place = |line: &Line| line.tunnels.iter().position(&is);
        (self.peers.iter().enumerate()).find_map(|(i, line)| Some((i, place(line)?)))
    }

    /// Ends the sessions of replaced tunnels after a while. The peer may begin another one with a key that
    /// both ends still have.
    fn forget_replaced(&mut self, peer: usize, now: Time) {
        let over = |t: &Tunnel| t.replaced.is_some_and(|at| now.since(at) >= ON_THE_WAY);
        if !self.peers[peer].tunnels.iter().any(over) {
            return;
        }
        let own = PublicKey(self.public.to_bytes());
        let mut tunnels = std::mem::take(&mut self.peers[peer].tunnels);
        tunnels.retain(|t| t.own == own || !over(t));
        for tunnel in tunnels.iter_mut().filter(|t| over(t)) {
            self.close(tunnel);
        }
        self.peers[peer].tunnels = tunnels;
    }

    /// Calls boringtun with room for the result in `out`. Returns the result.
    fn with(
        tunnel: &mut Tunnel,
        length: usize,
        out: &mut Vec<u8>,
        work: impl FnOnce(&mut Tunn, &mut [u8]) -> Done,
    ) -> Done {
        out.resize((length + ADDED).max(ROOM), 0);
        let done = work(&mut tunnel.tunn, out);
        match done {
            Done::Packet(n) | Done::Datagram(n) => out.truncate(n),
            Done::Nothing | Done::Refused => out.clear(),
        }
        done
    }
}

impl Tunnel {
    /// Begins a session, unless that is under way, or `again` if it is.
    fn greet(&mut self, again: bool, send: &mut dyn FnMut(&[u8])) {
        let mut room = Vec::new();
        let done = WireGuard::with(self, 0, &mut room, |tunn, room| {
            tunn.format_handshake_initiation(room, again).into()
        });
        if let Done::Datagram(_) = done {
            send(&room);
        }
    }
}

/// A result of boringtun, without borrows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    Packet(usize),
    Datagram(usize),
    Nothing,
    Refused,
}

impl From<TunnResult<'_>> for Done {
    fn from(result: TunnResult) -> Done {
        match result {
            TunnResult::Done => Done::Nothing,
            TunnResult::Err(_) => Done::Refused,
            TunnResult::WriteToNetwork(d) => Done::Datagram(d.len()),
            TunnResult::WriteToTunnelV4(p, _) | TunnResult::WriteToTunnelV6(p, _) => {
                Done::Packet(p.len())
            }
        }
    }
}

impl Sessions for WireGuard {
    fn open(&mut self, from: SocketAddr, datagram: &[u8], at: Time, out: &mut Vec<u8>) -> Opened {
        if datagram.len() > LONGEST {
            return Opened::Refused;
        }
        out.resize(ROOM, 0);
        let source = Some(from.ip());
        let Ok(packet) = self.relaxed.verify_packet(source, datagram, out) else {
            return Opened::Refused;
        };
        let begins = matches!(packet, Packet::HandshakeInit(_) | Packet::HandshakeResponse(_));
        if begins && self.is_under_load(at) {
            match self.strict.verify_packet(source, datagram, out) {
                // Without the proof anybody could use up the tokens of a peer.
                Ok(_) if !self.buckets.allows(from.ip(), at) => return Opened::Flood,
                Ok(_) => {}
                Err(TunnResult::WriteToNetwork(cookie)) => {
                    let length = cookie.len();
                    out.truncate(length);
                    return Opened::Answer(None);
                }
                Err(_) => return Opened::Refused,
            }
        }
        let Some((peer, place)) = self.whose(&packet) else {
            return Opened::Refused;
        };
        let asks = matches!(packet, Packet::HandshakeInit(_));
        let session = match packet {
            Packet::PacketData(p) => Some(p.receiver_idx),
            _ => None,
        };
        let line = &mut self.peers[peer];
        let was_open = line.is_open();
        let tunnel = &mut line.tunnels[place];
        let done = WireGuard::with(tunnel, datagram.len(), out, |tunn, room| {
            tunn.decapsulate(source, datagram, room).into()
        });
        if done != Done::Refused {
            tunnel.open |= tunnel.tunn.time_since_last_handshake().is_some();
            if asks && done != Done::Nothing {
                tunnel.used = true;
                // The index of the new session is in the answer.
                let index = out.get(4..8).and_then(|bytes| bytes.try_into().ok());
                tunnel.asked = index.map(u32::from_le_bytes);
            }
            // A peer that asks for a session does not yet have it.
            if tunnel.open && (!asks || !was_open) {
                let session = if asks { tunnel.asked } else { session };
                line.use_from(place, session, at);
            }
        }
        match done {
            Done::Packet(_) => Opened::Packet(peer),
            // Cookies do not reveal the place of the peer.
            Done::Nothing if datagram[0] != DATA => Opened::Answer(None),
            Done::Nothing => Opened::Nothing(peer),
            Done::Datagram(_) => Opened::Answer(Some(peer)),
            Done::Refused => Opened::Refused,
        }
    }

    fn seal(&mut self, peer: usize, packet: &[u8], out: &mut Vec<u8>) -> bool {
        let tunnels = &mut self.peers[peer].tunnels;
        let Some(tunnel) = tunnels.iter_mut().find(|t| t.open) else {
            return false;
        };
        let done = WireGuard::with(tunnel, packet.len(), out, |tunn, room| {
            tunn.encapsulate(packet, room).into()
        });
        // If the session has just expired, the result is a handshake, which is sent nevertheless.
        matches!(done, Done::Datagram(_))
    }

    fn is_open(&self, peer: usize) -> bool {
        self.peers[peer].is_open()
    }

    fn greet(&mut self, peer: usize, again: bool, send: &mut dyn FnMut(&[u8])) {
        let own = PublicKey(self.public.to_bytes());
        let line = &mut self.peers[peer];
        for place in 0..line.tunnels.len() {
            let tunnel = &line.tunnels[place];
            // This end accepts no answer to its old key.
            if tunnel.own == own
                && (again && tunnel.replaced.is_none() || line.is_called(place, own))
            {
                line.tunnels[place].greet(again, send);
            }
        }
    }

    fn tick(&mut self, peer: usize, now: Time, send: &mut dyn FnMut(&[u8])) {
        self.forget_replaced(peer, now);
        let own = PublicKey(self.public.to_bytes());
        let line = &mut self.peers[peer];
        let (mut room, mut expired) = (Vec::new(), None);
        for place in 0..line.tunnels.len() {
            let called = line.is_called(place, own);
            let tunnel = &mut line.tunnels[place];
            // The clock of a tunnel goes on by its timers alone, so they run in those that are not in use, too.
            let done =
                WireGuard::with(tunnel, 0, &mut room, |tunn, room| tunn.update_timers(room).into());
            // This end takes no answer to its old key.
            let begins = room.first().is_some_and(|first| *first != DATA);
            if done != Done::Refused && !room.is_empty() && called && (tunnel.own == own || !begins)
            {
                send(&room);
            }
            tunnel.open = tunnel.tunn.time_since_last_handshake().is_some();
            if called && place > 0 && !tunnel.open && tunnel.own == own {
                tunnel.greet(false, send);
            }
            if done == Done::Refused && place > 0 && !tunnel.used {
                expired = Some(place);
            }
        }
        // boringtun gives up unused tunnels, and then has no timers for a peer that uses one.
        if let Some(place) = expired {
            let (keys, theirs) = (line.keys.clone(), line.tunnels[place].theirs);
            self.peers[peer].tunnels[place] = self.tunnel(&keys, theirs);
        }
    }

    fn age(&self, peer: usize) -> Option<u64> {
        let tunnel = self.peers[peer].tunnels.iter().find(|t| t.open)?;
        Some(tunnel.tunn.time_since_last_handshake()?.as_secs())
    }

    fn keys(&self, peer: usize) -> Option<(PublicKey, PublicKey)> {
        let tunnel = self.peers[peer].tunnels.iter().find(|t| t.open)?;
        Some((tunnel.own, tunnel.theirs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: &str = "192.0.2.9:7";

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn key(byte: u8) -> PrivateKey {
        PrivateKey::new([byte; 32])
    }

    fn peer(bytes: &[u8]) -> [PeerKeys; 1] {
        let publics = bytes.iter().map(|byte| key(*byte).public()).collect();
        [PeerKeys { publics, shared: None, keepalive: None }]
    }

    fn open(sessions: &mut WireGuard, datagram: &[u8], at: Time) -> (Opened, Vec<u8>) {
        let mut out = Vec::new();
        let opened = sessions.open(FROM.parse().expect("an address"), datagram, at, &mut out);
        (opened, out)
    }

    fn sealed(sessions: &mut WireGuard) -> Vec<u8> {
        let mut packet = [0; 28];
        (packet[0], packet[3]) = (0x45, 28);
        let mut out = Vec::new();
        assert!(sessions.seal(0, &packet, &mut out));
        out
    }

    fn initiations(sessions: &mut WireGuard) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        sessions.greet(0, true, &mut |datagram| sent.push(datagram.to_vec()));
        sent
    }

    /// Ends a handshake that one end has begun. Returns the last answer of the other one.
    fn joined(begins: &mut WireGuard, other: &mut WireGuard, initiation: &[u8], ms: u64) -> Opened {
        let (_, answer) = open(other, initiation, at(ms));
        let (_, confirms) = open(begins, &answer, at(ms));
        open(other, &confirms, at(ms)).0
    }

    fn theirs(sessions: &WireGuard) -> Option<PublicKey> {
        sessions.keys(0).map(|(_, theirs)| theirs)
    }

    /// Recorded datagrams, and those held up on the way, do not bring an old key back into use.
    #[test]
    fn old_datagrams_change_nothing_after_a_change_of_keys() {
        let mut a = WireGuard::new(&key(1), &peer(&[2]));
        let mut b = WireGuard::new(&key(2), &peer(&[3, 1]));
        let recorded = initiations(&mut a).remove(0);
        assert_eq!(joined(&mut a, &mut b, &recorded, 1000), Opened::Nothing(0));
        // The last initiation and a datagram of the old key are held up.
        let held = [initiations(&mut a).remove(0), sealed(&mut a)];
        a.set(&key(3), &peer(&[2]));
        let new = initiations(&mut a).remove(0);
        joined(&mut a, &mut b, &new, 2000);
        assert_eq!(theirs(&b), Some(key(3).public()));
        assert!(matches!(open(&mut b, &held[0], at(3000)).0, Opened::Answer(Some(0))));
        assert!(matches!(open(&mut b, &held[1], at(3000)).0, Opened::Packet(0)));
        assert_eq!(theirs(&b), Some(key(3).public()));
        let datagram = sealed(&mut b);
        assert_eq!(open(&mut a, &datagram, at(3000)).0, Opened::Packet(0));
        // The old session has ended, and an old initiation begins none.
        for sessions in [&mut a, &mut b] {
            sessions.tick(0, at(13_000), &mut |_| {});
        }
        assert_eq!(open(&mut b, &recorded, at(14_000)).0, Opened::Refused);
        assert_eq!(open(&mut b, &held[1], at(14_000)).0, Opened::Refused);
        assert_eq!((a.peers[0].tunnels.len(), b.peers[0].tunnels.len()), (1, 2));
        // The old key is a key still: the change can be taken back.
        a.set(&key(1), &peer(&[2]));
        let back = initiations(&mut a).remove(0);
        joined(&mut a, &mut b, &back, 20_000);
        assert_eq!(theirs(&b), Some(key(1).public()));
    }

    /// Keys without a session are forgotten when they change, however often that is.
    #[test]
    fn keys_without_sessions_leave_nothing() {
        let mut sessions = WireGuard::new(&key(1), &peer(&[100]));
        for byte in 2..20 {
            sessions.set(&key(byte), &peer(&[100, 100 + byte]));
            assert_eq!(sessions.peers[0].tunnels.len(), 2);
            // An old key is not called with.
            let own = key(byte).public();
            assert!(sessions.peers[0].tunnels.iter().all(|tunnel| tunnel.own == own));
        }
    }

    /// Initiations of one address with the right cookie: 100 in a second go without it, and then five and
    /// 20 per second are looked at. A peer with another address gets in all the same.
    #[test]
    fn a_flood_behind_the_cookie_has_the_rate_of_its_address() {
        let own = key(1);
        let mut sessions = WireGuard::new(&own, &peer(&[2]));
        let tunnel = |byte: u8| {
            let private = key(byte).secret();
            let limiter =
                Some(Arc::new(RateLimiter::new(&x25519::PublicKey::from(&private), u64::MAX)));
            Tunn::new(private, x25519::PublicKey::from(own.public().0), None, None, 1, limiter)
        };
        let (mut attacker, mut room) = (tunnel(9), vec![0; 1000]);
        let mut from = |tunn: &mut Tunn, address: &str, at: Time| {
            let made = Done::from(tunn.format_handshake_initiation(&mut room, true));
            let Done::Datagram(length) = made else { panic!("no initiation") };
            let mut out = Vec::new();
            let address = address.parse().expect("an address");
            let opened = sessions.open(address, &room[..length], at, &mut out);
            if !out.is_empty() && opened == Opened::Answer(None) {
                // The cookie, with which the next one is sent.
                let mut scratch = vec![0; 1000];
                let _ = tunn.decapsulate(None, &out, &mut scratch);
            }
            opened
        };
        let mut count = std::collections::BTreeMap::new();
        for ms in 0..900 {
            let at = Time::ZERO + Duration::from_ms(5000 + ms);
            let opened = from(&mut attacker, "192.0.2.9:7", at);
            *count.entry(format!("{opened:?}")).or_insert(0) += 1;
        }
        // 100 initiations, and from 0.1 s on five and sixteen.
        let of = |name: &str| count.get(name).copied().unwrap_or(0);
        assert_eq!(of("Answer(None)"), 1, "{count:?}");
        assert!((116..=122).contains(&of("Refused")), "{count:?}");
        assert!(of("Flood") > 770, "{count:?}");
        let mut peer = tunnel(2);
        let at = Time::ZERO + Duration::from_ms(5950);
        assert_eq!(from(&mut peer, "198.51.100.1:7", at), Opened::Answer(None));
        assert_eq!(from(&mut peer, "198.51.100.1:7", at), Opened::Answer(Some(0)));
    }
}
