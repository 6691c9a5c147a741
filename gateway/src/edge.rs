//! The packets of sites in the queue of a tunnel: [`accord_port::Edge`] with bytes.

use crate::config::OVERHEAD;
use crate::inner;
use accord_aqm::{Class, PacketMeta};
use accord_family::Service;
use accord_port::PortPacket;
use accord_transport::ip::Packet;
use accord_units::{Bytes, Duration, Time};
use std::ops::{Deref, DerefMut};

/// A packet that waits.
#[derive(Clone, Debug)]
pub struct Waiting {
    bytes: Vec<u8>,
    meta: PacketMeta,
}

impl PortPacket for Waiting {
    fn meta(&self) -> PacketMeta {
        self.meta
    }

    fn mark(&mut self) {
        inner::mark(&mut self.bytes);
    }

    fn add_virtual_delay(&mut self, _: Duration) {}
}

/// The maximum number of buffers of sent packets that are kept for reuse.
const SPARE: usize = 128;

/// The next packet, with its class.
pub type Head = accord_port::Head<Vec<u8>>;

/// Returns the size on the wire of a packet of `length` bytes.
pub fn wire_size(length: usize) -> Bytes {
    Bytes::new(length as u64 + OVERHEAD)
}

/// The queues of a tunnel.
#[derive(Debug)]
pub struct Edge {
    queues: accord_port::Edge<Waiting>,
    /// The secret of the flows' numbers.
    secret: u64,
    spare: Vec<Vec<u8>>,
}

impl Edge {
    /// Creates queues of at most `limit` bytes each, for classes with these shares.
    pub fn new(shares: &[Service], limit: Bytes, largest: Bytes, secret: u64) -> Edge {
        Edge {
            queues: accord_port::Edge::new(shares, limit, largest, secret),
            secret,
            spare: Vec::new(),
        }
    }

    /// Adds a packet of a class.
    pub fn push(&mut self, bytes: &[u8], packet: &Packet, class: usize, now: Time) {
        let meta = PacketMeta {
            size: wire_size(bytes.len()),
            class: Class::Data,
            ecn: inner::ecn(packet),
            aggregate: 0,
            flow: inner::flow(packet, self.secret),
        };
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.extend_from_slice(bytes);
        let waiting = Waiting { bytes: copy, meta };
        self.queues.push(waiting, class, now, &mut |_, _| ());
    }

    /// Returns the size on the wire of the next packet.
    pub fn head(&mut self, now: Time) -> Option<Bytes> {
        let head = self.queues.head(now, &mut |_, _| ());
        head.map(|head| head.packet.meta.size)
    }

    /// Takes the packet whose size [`Edge::head`] returned.
    pub fn take(&mut self) -> Option<Head> {
        let head = self.queues.take()?;
        Some(Head { packet: head.packet.bytes, class: head.class })
    }

    /// Takes back a sent packet, to reuse its memory.
    pub fn recycle(&mut self, head: Head) {
        if self.spare.len() < SPARE {
            let mut bytes = head.packet;
            bytes.clear();
            self.spare.push(bytes);
        }
    }
}

impl Deref for Edge {
    type Target = accord_port::Edge<Waiting>;

    fn deref(&self) -> &Self::Target {
        &self.queues
    }
}

impl DerefMut for Edge {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.queues
    }
}
