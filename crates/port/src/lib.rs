//! An output port: two strict-priority FIFO queues, a queue discipline, exact service, and counters
//! that add up.
//!
//! There are two forms of the same port. [`Port`] holds packets and proceeds in steps: a packet is
//! offered, its service begins, its service ends. It has all features. [`Timeline`] holds no
//! packets. It computes the departure of a packet when the packet arrives. This is possible with
//! one FIFO queue, a discipline that judges arrivals only and a rate that never changes. Tests
//! compare the two. [`PortState`] is the state of a [`Port`] without its packets, for a caller that
//! holds the packets of a droptail port itself.
//!
//! [`Edge`] is the queue of a tunnel between two sites: a port for each class of packets, scheduled
//! by contracts and weights.
//!
//! A packet may arrive at the very instant at which another one leaves. The other's place may then
//! count as free or as taken. A coin toss decides, as a function of the port's secret and the time
//! (`ties.rs`).
//!
//! ```
//! use accord_aqm::{AnyAqm, Class, DropTail, Ecn, PacketMeta};
//! use accord_port::{Limit, Port, PortPacket};
//! use accord_units::{Bytes, Duration, Rate, Time};
//!
//! struct Data(u64);
//!
//! impl PortPacket for Data {
//!     fn meta(&self) -> PacketMeta {
//!         let size = Bytes::new(self.0);
//!         PacketMeta { size, class: Class::Data, ecn: Ecn::NotCapable, aggregate: 0, flow: 1 }
//!     }
//!     fn mark(&mut self) {}
//!     fn add_virtual_delay(&mut self, _: Duration) {}
//! }
//!
//! // A link of 8 Mbps with room for two packets sends 1000 bytes per millisecond.
//! let droptail = AnyAqm::DropTail(DropTail);
//! let mut port = Port::new(Rate::from_bps(8_000_000), Limit::packets(2), droptail, 1);
//! let mut random = || 0.5;
//! for _ in 0..3 {
//!     port.offer(Time::ZERO, Data(1000), &mut random, &mut |_, why| {
//!         println!("dropped: {why:?}")
//!     });
//! }
//! let (_packet, sent) = port.begin(Time::ZERO, &mut |_, _| ()).expect("a packet waits");
//! assert_eq!(sent, Time::ZERO + Duration::from_ms(1));
//! port.complete();
//!
//! let counters = port.counters();
//! assert_eq!(counters.served.packets, 1);
//! assert_eq!(counters.overflowed.packets, 1);
//! assert_eq!(port.backlog(), (1, Bytes::new(1000)));
//! ```

mod bucket;
mod counters;
mod dual_queue;
mod edge;
mod flow_queues;
mod hosts;
mod opportunities;
mod packet;
mod port;
mod queues;
mod service;
mod state;
mod ties;
mod timeline;

pub use bucket::Bucket;
pub use counters::{Area, Count, Counters, DropReason};
pub use edge::{ClassCounts, Edge, Head};
pub use hosts::Hosts;
pub use packet::PortPacket;
pub use port::Port;
pub use service::Service;
pub use state::{PortState, Priority};
pub use timeline::Timeline;

use accord_units::Bytes;

/// The limit of a queue, including the packet in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The maximum number of packets.
    pub packets: u64,
    /// The maximum number of bytes.
    pub bytes: Bytes,
}

impl Limit {
    /// No limit.
    pub const UNLIMITED: Limit = Limit { packets: u64::MAX, bytes: Bytes::new(u64::MAX) };

    /// Creates a limit of `n` packets of any size.
    pub const fn packets(n: u64) -> Limit {
        Limit { packets: n, ..Limit::UNLIMITED }
    }

    /// Creates a limit of `bytes` bytes.
    pub const fn bytes(bytes: Bytes) -> Limit {
        Limit { bytes, ..Limit::UNLIMITED }
    }

    /// Returns true if a packet of `size` fits in addition to `packets` packets of `bytes` bytes in
    /// total.
    #[inline]
    fn fits(&self, packets: u64, bytes: u64, size: Bytes) -> bool {
        packets < self.packets && bytes + size.get() <= self.bytes.get()
    }

    /// Returns true if the queued packets are within the limit.
    fn holds(&self, queued: Count) -> bool {
        queued.packets <= self.packets && queued.bytes <= self.bytes.get()
    }

    /// Returns the capacity in bytes if there is one.
    fn capacity(&self) -> Option<Bytes> {
        (self.bytes.get() != u64::MAX).then_some(self.bytes)
    }
}
