//! Sessions of WireGuard, by boringtun. There is no cryptography here.
//!
//! boringtun has one tunnel for each peer. This module finds the tunnel of a datagram, and has one
//! limit of handshakes for all peers. Above that limit, a sender has to prove by a cookie that it
//! receives datagrams at its address, and each address has a limit of its own.

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

/// The handshakes per second of all peers above which cookies are asked for.
const HANDSHAKES: u64 = 100;
/// The longest datagram, and what encryption adds to a packet.
const LONGEST: usize = 65_535;
const ADDED: usize = 32;
/// The least room that boringtun needs: that of a handshake.
const ROOM: usize = 148;
/// The type of datagrams with data, in their first byte.
const DATA: u8 = 4;
/// The bits of an index that boringtun uses for the sessions of a peer.
const PER_PEER: u32 = 8;

/// The parameters of sessions with a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerKeys {
    /// The public key.
    pub public: PublicKey,
    /// The key that both ends share.
    pub shared: Option<SharedKey>,
    /// The seconds between packets that keep mappings open.
    pub keepalive: Option<u16>,
}

/// The tunnel of one peer.
struct Tunnel {
    keys: PeerKeys,
    tunn: Tunn,
    /// The index by which the peer's datagrams name the tunnel. It is never used for another peer.
    slot: u32,
    open: bool,
}

/// Sessions of WireGuard.
pub struct WireGuard {
    private: x25519::StaticSecret,
    public: x25519::PublicKey,
    /// The one asks no sender for a cookie, the other one each.
    relaxed: RateLimiter,
    strict: RateLimiter,
    /// The handshakes since the start of a second.
    handshakes: (Time, u64),
    buckets: Buckets,
    tunnels: Vec<Tunnel>,
    next_slot: u32,
}

impl WireGuard {
    /// Creates sessions with these peers.
    pub fn new(private: &PrivateKey, peers: &[PeerKeys]) -> WireGuard {
        let private = private.secret();
        let public = x25519::PublicKey::from(&private);
        let mut sessions = WireGuard {
            relaxed: RateLimiter::new(&public, u64::MAX),
            strict: RateLimiter::new(&public, 0),
            handshakes: (Time::ZERO, 0),
            buckets: Buckets::default(),
            private,
            public,
            tunnels: Vec::new(),
            next_slot: 0,
        };
        sessions.set_peers(peers);
        sessions
    }

    /// Changes the peers. Those with the same keys as before keep their sessions.
    pub fn set_peers(&mut self, peers: &[PeerKeys]) {
        let mut before = std::mem::take(&mut self.tunnels);
        for keys in peers {
            let same = before.iter().position(|t| t.keys == *keys);
            let tunnel = match same {
                Some(i) => before.swap_remove(i),
                None => self.tunnel(keys),
            };
            self.tunnels.push(tunnel);
        }
    }

    fn tunnel(&mut self, keys: &PeerKeys) -> Tunnel {
        let slot = self.next_slot;
        // 24 bits are left of an index, which is more than anybody reloads.
        self.next_slot = (self.next_slot + 1) % (1 << (32 - PER_PEER));
        Tunnel {
            tunn: Tunn::new(
                self.private.clone(),
                x25519::PublicKey::from(keys.public.0),
                keys.shared.as_ref().map(|k| k.0),
                keys.keepalive,
                slot,
                // The limit is kept here, for all peers together.
                Some(Arc::new(RateLimiter::new(&self.public, u64::MAX))),
            ),
            keys: keys.clone(),
            slot,
            open: false,
        }
    }

    /// Returns whether there are more handshakes than anybody may make, this one included.
    fn is_under_load(&mut self, at: Time) -> bool {
        let (start, count) = &mut self.handshakes;
        if at.since(*start) >= Duration::from_secs(1) {
            (*start, *count) = (at, 0);
        }
        *count += 1;
        *count > HANDSHAKES
    }

    /// Returns the place of the peer that a datagram is from, as far as the datagram says.
    fn whose(&self, packet: &Packet) -> Option<usize> {
        let index = match packet {
            Packet::HandshakeInit(init) => {
                let half = parse_handshake_anon(&self.private, &self.public, init).ok()?;
                let public = half.peer_static_public;
                return (self.tunnels.iter()).position(|t| t.keys.public.0 == public);
            }
            Packet::HandshakeResponse(p) => p.receiver_idx,
            Packet::PacketCookieReply(p) => p.receiver_idx,
            Packet::PacketData(p) => p.receiver_idx,
        };
        let slot = index >> PER_PEER;
        self.tunnels.iter().position(|t| t.slot == slot)
    }

    /// Does the work of boringtun with room for its result in `out`. Returns the result.
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
        let Some(peer) = self.whose(&packet) else {
            return Opened::Refused;
        };
        let tunnel = &mut self.tunnels[peer];
        let done = WireGuard::with(tunnel, datagram.len(), out, |tunn, room| {
            tunn.decapsulate(source, datagram, room).into()
        });
        if done != Done::Refused && !tunnel.open {
            tunnel.open = tunnel.tunn.time_since_last_handshake().is_some();
        }
        match done {
            Done::Packet(_) => Opened::Packet(peer),
            // Cookies say nothing of where the peer is.
            Done::Nothing if datagram[0] != DATA => Opened::Answer(None),
            Done::Nothing => Opened::Nothing(peer),
            Done::Datagram(_) => Opened::Answer(Some(peer)),
            Done::Refused => Opened::Refused,
        }
    }

    fn seal(&mut self, peer: usize, packet: &[u8], out: &mut Vec<u8>) -> bool {
        let tunnel = &mut self.tunnels[peer];
        if !tunnel.open {
            return false;
        }
        let done = WireGuard::with(tunnel, packet.len(), out, |tunn, room| {
            tunn.encapsulate(packet, room).into()
        });
        // A session that has just expired makes it a handshake, which is sent all the same.
        matches!(done, Done::Datagram(_))
    }

    fn is_open(&self, peer: usize) -> bool {
        self.tunnels[peer].open
    }

    fn greet(&mut self, peer: usize, again: bool, out: &mut Vec<u8>) -> bool {
        let tunnel = &mut self.tunnels[peer];
        let done = WireGuard::with(tunnel, 0, out, |tunn, room| {
            tunn.format_handshake_initiation(room, again).into()
        });
        matches!(done, Done::Datagram(_))
    }

    fn tick(&mut self, peer: usize, out: &mut Vec<u8>) -> bool {
        let tunnel = &mut self.tunnels[peer];
        let done = WireGuard::with(tunnel, 0, out, |tunn, room| tunn.update_timers(room).into());
        tunnel.open = tunnel.tunn.time_since_last_handshake().is_some();
        matches!(done, Done::Datagram(_))
    }

    fn age(&self, peer: usize) -> Option<u64> {
        let age = self.tunnels[peer].tunn.time_since_last_handshake()?;
        Some(age.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Initiations of one address with the right cookie: 100 in a second go without it, and then five and
    /// 20 per second are looked at. A peer with another address gets in all the same.
    #[test]
    fn a_flood_behind_the_cookie_has_the_rate_of_its_address() {
        let own = PrivateKey::new([1; 32]);
        let keys = |byte| PeerKeys {
            public: PrivateKey::new([byte; 32]).public(),
            shared: None,
            keepalive: None,
        };
        let mut sessions = WireGuard::new(&own, &[keys(2)]);
        let tunnel = |byte: u8| {
            let private = PrivateKey::new([byte; 32]).secret();
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
        // 100, and from 0.1 s on five and sixteen.
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
