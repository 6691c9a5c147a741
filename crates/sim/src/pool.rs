//! Packets on their way.

use crate::packet::Packet;
use accord_units::Time;

/// A packet, and the time that it waits for, which is never `Time::MAX` except in a free
/// node: one cache line.
#[repr(align(64))]
struct Node {
    packet: Packet,
    time: Time,
    /// The next one of its queue, or of the free nodes.
    next: u32,
}

const _: () = assert!(size_of::<Node>() == 64);

const NIL: u32 = u32::MAX;

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
}

impl Queue {
    /// No packets.
    pub const EMPTY: Queue = Queue {
        first: NIL,
        last: NIL,
    };
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
            node.time = Time::ZERO;
            return Place(id);
        }
        self.nodes.push(Node {
            packet,
            time: Time::ZERO,
            next: NIL,
        });
        Place((self.nodes.len() - 1) as u32)
    }

    /// Takes a packet out for good; it is in no queue.
    #[inline]
    pub fn remove(&mut self, place: Place) -> Packet {
        let node = &mut self.nodes[place.0 as usize];
        node.next = self.free;
        node.time = Time::MAX;
        self.free = place.0;
        node.packet
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
        node.time = time;
        node.next = NIL;
        let before = std::mem::replace(&mut queue.last, place.0);
        if before == NIL {
            queue.first = place.0;
            return true;
        }
        self.nodes[before as usize].next = place.0;
        false
    }

    /// Takes the first packet out of a queue.
    #[inline]
    pub fn pop(&mut self, queue: &mut Queue) -> Option<Place> {
        let first = queue.first;
        queue.first = self.nodes.get(first as usize)?.next;
        if queue.first == NIL {
            queue.last = NIL;
        }
        Some(Place(first))
    }

    /// The time of the first packet of a queue.
    #[inline]
    pub fn front(&self, queue: &Queue) -> Option<Time> {
        self.nodes.get(queue.first as usize).map(|node| node.time)
    }

    /// All packets, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        let taken = self.nodes.iter().filter(|node| node.time != Time::MAX);
        taken.map(|node| &node.packet)
    }
}
