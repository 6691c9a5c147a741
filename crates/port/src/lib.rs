//! An output port: two strict-priority FIFO queues, a queue discipline, exact service,
//! and counters that add up.
//!
//! There are two forms of the same port. [`Port`] holds packets and is stepped: a packet
//! is offered, service begins, service ends. It can do all that a port can do. [`Timeline`]
//! holds no packets: where only one FIFO queue is used, its discipline judges arrivals only
//! and the rate never changes, the departure of a packet is known the moment it arrives, and
//! that is all it computes.
//! Tests hold the two against each other.
//!
//! A packet that arrives at the very instant at which another has left may find that one's place
//! free, or still taken: a coin says which, thrown by the port's secret and the time (`ties.rs`).

mod counters;
mod flow_queues;
mod packet;
mod port;
mod service;
mod ties;
mod timeline;
mod waiting;

pub use counters::{Area, Count, Counters, DropReason};
pub use packet::Packet;
pub use port::Port;
pub use service::Service;
pub use timeline::Timeline;

use accord_units::Bytes;

/// The limit of a queue, the packet in service included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The most packets.
    pub packets: u64,
    /// The most bytes.
    pub bytes: Bytes,
}

impl Limit {
    /// Everything fits.
    pub const UNLIMITED: Limit = Limit {
        packets: u64::MAX,
        bytes: Bytes::new(u64::MAX),
    };

    /// Room for `n` packets of any size.
    pub const fn packets(n: u64) -> Limit {
        Limit {
            packets: n,
            ..Limit::UNLIMITED
        }
    }

    /// Room for so many bytes.
    pub const fn bytes(bytes: Bytes) -> Limit {
        Limit {
            bytes,
            ..Limit::UNLIMITED
        }
    }

    /// Whether a packet of `size` fits beside `packets` packets of `bytes` together.
    #[inline]
    fn fits(&self, packets: u64, bytes: u64, size: Bytes) -> bool {
        packets < self.packets && bytes + size.get() <= self.bytes.get()
    }

    /// Whether so much fits.
    fn holds(&self, queued: Count) -> bool {
        queued.packets <= self.packets && queued.bytes <= self.bytes.get()
    }

    /// The capacity in bytes, where there is one.
    fn capacity(&self) -> Option<Bytes> {
        (self.bytes.get() != u64::MAX).then_some(self.bytes)
    }
}
