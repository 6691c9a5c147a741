//! Sessions of WireGuard, by boringtun. There is no cryptography here.
//!
//! boringtun has one tunnel for each peer. This module finds the tunnel of a datagram, and has one
//! limit of handshakes for all peers. Above that limit, a sender has to prove by a cookie that it
//! receives datagrams at its address.

use crate::keys::{PrivateKey, PublicKey, SharedKey};
use crate::sessions::{Opened, Sessions};
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
    limiter: RateLimiter,
    tunnels: Vec<Tunnel>,
    next_slot: u32,
}

impl WireGuard {
    /// Creates sessions with these peers.
    pub fn new(private: &PrivateKey, peers: &[PeerKeys]) -> WireGuard {
        let private = private.secret();
        let public = x25519::PublicKey::from(&private);
        let mut sessions = WireGuard {
            limiter: RateLimiter::new(&public, HANDSHAKES),
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
    fn open(&mut self, from: SocketAddr, datagram: &[u8], out: &mut Vec<u8>) -> Opened {
        if datagram.len() > LONGEST {
            return Opened::Refused;
        }
        out.resize(ROOM, 0);
        let packet = match self.limiter.verify_packet(Some(from.ip()), datagram, out) {
            Ok(packet) => packet,
            Err(TunnResult::WriteToNetwork(cookie)) => {
                let length = cookie.len();
                out.truncate(length);
                return Opened::Answer(None);
            }
            Err(_) => return Opened::Refused,
        };
        let Some(peer) = self.whose(&packet) else {
            return Opened::Refused;
        };
        let tunnel = &mut self.tunnels[peer];
        let source = Some(from.ip());
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
        self.limiter.reset_count();
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
