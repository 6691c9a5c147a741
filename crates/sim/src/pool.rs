//! Packets on their way.

use crate::packet::Packet;
use accord_units::Time;

/// A packet, and what is behind it: one cache line.
#[repr(align(64))]
struct Node {
    packet: Packet,
    /// The time that the next one of its queue waits for: to know it, nobody needs to look
    /// at that one, which is likely not in a near cache.
    next_time: Time,
    /// The next one of its queue, or of the free nodes.
    next: u32,
}

/// The flow of a packet that is none.
const FREE: u32 = u32::MAX;

const _: () = assert!(size_of::<Node>() == 64);

const NIL: u32 = u32::MAX;

/// Packets of 256 KiB, a part of a second-level cache.
const LARGE: usize = 1 << 12;

/// The place of a packet in a [`Pool`]. It keeps it on all its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u32);

/// All packets. The place that was left last is taken first, so that no more memory is
/// touched than there are packets, however many there once were.
pub struct Pool {
    nodes: Vec<Node>,
    free: u32,
}

/// Packets of a [`Pool`] in the order of the times that they wait for, first in, first out.
pub struct Queue {
    first: u32,
    last: u32,
    time: Time,
}

impl Queue {
    /// No packets.
    pub const EMPTY: Queue = Queue {
        first: NIL,
        last: NIL,
        time: Time::MAX,
    };

    /// The time that the first packet waits for; never, if there is none.
    #[inline]
    pub fn time(&self) -> Time {
        self.time
    }
}

impl Pool {
    /// No packets.
    pub fn new() -> Pool {
        Pool {
            nodes: Vec::new(),
            free: NIL,
        }
    }

    /// A new packet.
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

    /// Takes a packet out for good; it is in no queue.
    #[inline]
    pub fn remove(&mut self, place: Place) -> Packet {
        let node = &mut self.nodes[place.0 as usize];
        let packet = node.packet;
        node.packet.flow = FREE;
        node.next = self.free;
        self.free = place.0;
        packet
    }

    /// A packet.
    #[inline]
    pub fn packet(&mut self, place: Place) -> &mut Packet {
        &mut self.nodes[place.0 as usize].packet
    }

    /// Adds a packet to a queue. Gives whether it is the first one.
    #[inline]
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

    /// There are, or were, more packets than near caches hold.
    #[inline]
    pub fn is_large(&self) -> bool {
        self.nodes.len() > LARGE
    }

    /// The first packet of a queue is wanted soon.
    #[inline]
    pub fn prepare(&self, queue: &Queue) {
        self.prefetch(queue.first);
    }

    /// Has the processor fetch a node that is wanted some events later. It was last touched
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

    /// All packets, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        let packets = self.nodes.iter().map(|node| &node.packet);
        packets.filter(|packet| packet.flow != FREE)
    }
}
