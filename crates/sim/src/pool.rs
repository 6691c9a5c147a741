//! The packets on their way.

use crate::packet::Packet;
use accord_units::Time;

/// A packet and its links in a queue: one cache line.
#[repr(align(64))]
struct Node {
    packet: Packet,
    /// The time that the next node of the queue waits for. It is here because the next node itself
    /// is likely not in a near cache.
    next_time: Time,
    /// The next node of the queue, or of the free nodes.
    next: u32,
}

/// The flow number of a node without a packet.
const FREE: u32 = u32::MAX;

const _: () = assert!(size_of::<Node>() == 64);

const NIL: u32 = u32::MAX;

/// The number of packets above which a pool is large. They take 256 KiB, a part of a second-level
/// cache.
const LARGE: usize = 1 << 12;

/// The place of a packet in a [`Pool`]. A packet keeps its place on its whole way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u32);

/// The pool of all packets. The place that was freed last is taken first, so that no more memory is
/// touched than there are packets, however many there once were.
pub struct Pool {
    nodes: Vec<Node>,
    free: u32,
}

/// A FIFO queue of packets of a [`Pool`], in the order of the times that they wait for.
pub struct Queue {
    first: u32,
    last: u32,
    time: Time,
}

impl Queue {
    /// A queue without packets.
    pub const EMPTY: Queue = Queue {
        first: NIL,
        last: NIL,
        time: Time::MAX,
    };

    /// The time that the first packet waits for, or `Time::MAX` if there is none.
    #[inline]
    pub fn time(&self) -> Time {
        self.time
    }
}

impl Pool {
    /// Creates a pool without packets.
    pub fn new() -> Pool {
        Pool {
            nodes: Vec::new(),
            free: NIL,
        }
    }

    /// Returns a place by its number, whatever is there.
    #[cfg(test)]
    pub fn place(number: u32) -> Place {
        Place(number)
    }

    /// Adds a new packet.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> Place {
        let id = self.free;
        if let Some(node) = self.nodes.get_mut(id as usize) {
            self.free = node.next;
            node.packet = packet;
            return Place(id);
        }
        self.nodes.push(Node {
            packet,
            next_time: Time::MAX,
            next: NIL,
        });
        Place((self.nodes.len() - 1) as u32)
    }

    /// Removes a packet, which is in no queue.
    #[inline]
    pub fn remove(&mut self, place: Place) -> Packet {
        let node = &mut self.nodes[place.0 as usize];
        let packet = node.packet;
        node.packet.flow = FREE;
        node.next = self.free;
        self.free = place.0;
        packet
    }

    /// Returns a packet.
    #[inline]
    pub fn packet(&mut self, place: Place) -> &mut Packet {
        &mut self.nodes[place.0 as usize].packet
    }

    /// Adds a packet to a queue. Returns whether it is the first one.
    #[inline(always)]
    pub fn push(&mut self, queue: &mut Queue, place: Place, time: Time) -> bool {
        let node = &mut self.nodes[place.0 as usize];
        node.next_time = Time::MAX;
        node.next = NIL;
        let before = std::mem::replace(&mut queue.last, place.0);
        if before == NIL {
            (queue.first, queue.time) = (place.0, time);
            return true;
        }
        let before = &mut self.nodes[before as usize];
        (before.next, before.next_time) = (place.0, time);
        false
    }

    /// Takes the first packet out of a queue.
    #[inline]
    pub fn pop(&mut self, queue: &mut Queue) -> Option<Place> {
        let first = queue.first;
        let node = self.nodes.get(first as usize)?;
        (queue.first, queue.time) = (node.next, node.next_time);
        if queue.first == NIL {
            queue.last = NIL;
        }
        self.prefetch(queue.first);
        Some(Place(first))
    }

    /// Returns whether the pool holds, or held, more packets than near caches do.
    #[inline]
    pub fn is_large(&self) -> bool {
        self.nodes.len() > LARGE
    }

    /// Has the processor fetch the first packet of a queue, which is wanted soon.
    #[inline]
    pub fn prepare(&self, queue: &Queue) {
        self.prefetch(queue.first);
    }

    /// Has the processor fetch a packet, which is wanted soon.
    #[inline]
    pub fn prepare_packet(&self, place: Place) {
        self.prefetch(place.0);
    }

    /// Has the processor fetch a node that is wanted some events later. The node was last touched
    /// milliseconds ago and is in no near cache.
    #[inline]
    #[allow(unsafe_code)]
    fn prefetch(&self, id: u32) {
        #[cfg(target_arch = "x86_64")]
        if let Some(node) = self.nodes.get(id as usize) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch is a hint. It reads and writes nothing that the program can
            // see, and faults at no address; this one is of a live node.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(node).cast()) };
        }
    }

    /// Returns all packets, in an arbitrary order.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        let packets = self.nodes.iter().map(|node| &node.packet);
        packets.filter(|packet| packet.flow != FREE)
    }
}
