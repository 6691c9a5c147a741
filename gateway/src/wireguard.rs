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
use std::collections::VecDeque;
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
/// The sessions that boringtun keeps for a peer.
const MOST_ASKED: usize = 8;
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
    /// The indices of the latest sessions that the peer has asked for since. Each of them brings it back into
    /// use: the answer to a later question may be lost.
    asked: VecDeque<u32>,
}

/// A peer and its tunnels. The first one is in use.
struct Line {
    keys: PeerKeys,
    tunnels: Vec<Tunnel>,
    /// The time of the latest packet that keeps mappings open. boringtun's are not used: its interval is that of
    /// the tunnel, for good.
    kept_open: Time,
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
        let is_asked = |session| tunnel.asked.contains(&session);
        if place > 0 && (tunnel.replaced.is_none() || session.is_some_and(is_asked)) {
            let mut tunnel = self.tunnels.remove(place);
            (tunnel.replaced, tunnel.asked) = (None, VecDeque::new());
            (self.tunnels[0].replaced, self.tunnels[0].asked) = (Some(at), VecDeque::new());
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

    /// Changes the key of this end and the peers. Sessions with a key that a peer still has continue, unless
    /// the key that both ends share has changed. Those
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
                known && line.keys.shared == keys.shared
            });
            let (mut tunnels, kept_open) = match same.map(|i| before.swap_remove(i)) {
                Some(line) => (line.tunnels, line.kept_open),
                None => (Vec::new(), Time::ZERO),
            };
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
            self.peers.push(Line { keys: keys.clone(), tunnels, kept_open });
        }
    }

    /// Ends the sessions of a tunnel, and gives it the current key. The times of handshakes stay, so old
    /// handshakes are not accepted again.
    fn close(&self, tunnel: &mut Tunnel) {
        let limiter = Arc::new(RateLimiter::new(&self.public, u64::MAX));
        tunnel.tunn.set_static_private(self.private.clone(), self.public, Some(limiter));
        (tunnel.open, tunnel.replaced) = (false, None);
        tunnel.asked.clear();
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
                None,
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
            asked: VecDeque::new(),
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
                tunnel.asked.extend(index.map(u32::from_le_bytes));
                if tunnel.asked.len() > MOST_ASKED {
                    tunnel.asked.pop_front();
                }
            }
            // A peer that asks for a session does not yet have it.
            if tunnel.open && (!asks || !was_open) {
                let session = if asks { tunnel.asked.back().copied() } else { session };
                line.use_from(place, session, at);
            }
        }
        match done {
            Done::Packet(_) => Opened::Packet(peer),
            // Cookies do not reveal the place of the peer.
            Done::Nothing if datagram[0] != DATA => Opened::Answer(None),
            Done::Nothing => Opened::Nothing(peer),
            Done::Datagram(_) if asks => Opened::Question(peer),
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
        let due = line.keys.keepalive.map(|s| line.kept_open + Duration::from_secs(s.into()));
        if due.is_some_and(|due| now >= due)
            && let Some(tunnel) = line.tunnels.iter_mut().find(|t| t.open)
        {
            line.kept_open = now;
            let done = WireGuard::with(tunnel, 0, &mut room, |tunn, room| {
                tunn.encapsulate(&[], room).into()
            });
            if let Done::Datagram(_) = done {
                send(&room);
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
mod tests;
