//! The sessions of a gateway with its peers: their identities, and the encryption of packets.

use crate::keys::PublicKey;
use accord_units::Time;
use std::net::SocketAddr;

/// The sessions of a gateway, one per peer. Peers are identified by their index.
pub trait Sessions {
    /// Takes a datagram that arrived at `at`. A packet in the datagram, and any answer, replace the contents
    /// of `out`.
    fn open(&mut self, from: SocketAddr, datagram: &[u8], at: Time, out: &mut Vec<u8>) -> Opened;

    /// Puts the datagram of a packet to a peer into `out`, in place of its contents. Returns `false` if
    /// there is no session.
    fn seal(&mut self, peer: usize, packet: &[u8], out: &mut Vec<u8>) -> bool;

    /// Returns whether there is a session with a peer.
    fn is_open(&self, peer: usize) -> bool;

    /// Begins a session with a peer, unless that is under way, or `again` if it is.
    fn greet(&mut self, peer: usize, again: bool, send: &mut dyn FnMut(&[u8]));

    /// Runs the timers of a session with a peer. Call it several times per second.
    fn tick(&mut self, peer: usize, now: Time, send: &mut dyn FnMut(&[u8]));

    /// Returns the seconds since the agreement on the keys of a session.
    fn age(&self, peer: usize) -> Option<u64>;

    /// Returns the keys of a session, of this end and of the peer, if one is open.
    fn keys(&self, peer: usize) -> Option<(PublicKey, PublicKey)>;
}

/// The contents of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// A packet of this peer, which was authenticated.
    Packet(usize),
    /// Something authentic of this peer that holds no packet, such as a keep-alive.
    Nothing(usize),
    /// A question of this peer for a session, with the answer in `out`. Somebody else may have sent it again:
    /// only a datagram of the session reveals the place of the peer.
    Question(usize),
    /// Another message of a handshake, with the answer in `out` if there is one. The peer is known if it was
    /// authenticated, and has answered a question of this end.
    Answer(Option<usize>),
    /// A datagram that no peer can have sent now: forged, replayed, damaged or late.
    Refused,
    /// A handshake beyond the number allowed to its address.
    Flood,
}
