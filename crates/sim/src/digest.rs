//! The digest of a run.

use crate::packet::Packet;
use accord_transport::Segment;
use accord_units::{Duration, Time};

/// The sum, over all packets, of a hash of each packet's end (delivered or lost) and its time. The
/// sum does not depend on the order in which packets are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// Creates the digest of a run before its start.
    pub fn new(seed: u64) -> Digest {
        Digest(seed)
    }

    /// Adds a delivered packet.
    #[inline]
    pub fn delivered(&mut self, at: Time, flow: u32, segment: &Segment) {
        let (kind, content) = match *segment {
            Segment::Data { number, .. } => (0, number),
            Segment::Ack { next, block, .. } => return self.ack(at, flow, next, block),
            Segment::OutOfBand { pair, .. } => (2, pair),
            Segment::InBand { pair, .. } => (3, pair),
            Segment::Report { pair, .. } => (4, pair),
            Segment::Count { received, .. } => return self.count(at, flow, received),
            Segment::Missing { first, behind } => (9, first ^ behind.rotate_left(32)),
        };
        self.add(at, flow, kind, content);
    }

    /// Adds a delivered data packet.
    #[inline]
    pub fn data(&mut self, at: Time, flow: u32, number: u64) {
        self.add(at, flow, 0, number);
    }

    /// Adds a delivered acknowledgement.
    #[inline]
    pub fn ack(&mut self, at: Time, flow: u32, next: u64, block: u32) {
        self.add(at, flow, 1, next ^ u64::from(block) << 32);
    }

    /// Adds a delivered count of a tunnel's receiver.
    #[inline]
    pub fn count(&mut self, at: Time, flow: u32, received: u64) {
        self.add(at, flow, 8, received);
    }

    /// Adds a lost packet.
    pub fn lost(&mut self, at: Time, packet: &Packet) {
        self.add(at, packet.flow, 5, u64::from(packet.size));
    }

    /// Adds the packets of another digest of the same run.
    pub fn merge(&mut self, seed: u64, other: Digest) {
        self.0 = self.0.wrapping_add(other.0.wrapping_sub(seed));
    }

    /// Adds a jump in time.
    pub fn skipped(&mut self, from: Time, by: Duration) {
        self.add(from, 0, 7, by.as_ps());
    }

    #[inline]
    fn add(&mut self, at: Time, flow: u32, kind: u64, content: u64) {
        let who = u64::from(flow) << 3 | kind;
        let x = at.as_ps().wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ content.wrapping_mul(0xd6e8_feb8_6659_fd93)
            ^ who.rotate_left(32);
        let x = (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.0 = self.0.wrapping_add(x ^ x >> 32);
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
