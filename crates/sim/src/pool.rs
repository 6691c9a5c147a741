//! The packets under way.

use crate::memory::{self, fetch};
use crate::packet::Packet;
use accord_units::Time;

/// A packet and its link to the next one of a queue: one cache line.
#[repr(align(64))]
struct Node {
    packet: Packet,
    /// The time of the next node of the queue. It is stored here because the next node is probably
    /// not in a near cache.
    next_time: Time,
    /// The next node in the queue, or in the list of free nodes.
    next: u32,
}

/// The flow number of a node without a packet.
const FREE: u32 = Packet::NONE.flow;

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Node>() == 64);

const NIL: u32 = u32::MAX;

/// The number of packets above which a pool is large: 256 KiB, a part of a second-level cache.
const LARGE: usize = 1 << 12;

/// The number of packets above which a pool is beyond the near caches: 1 MiB, a second-level cache.
const HUGE: usize = 1 << 14;

/// The capacity of the first vector, unless more is reserved. The vector is copied as it grows.
const NEAR: usize = 1 << 16;

/// The number of nodes per block beyond the first vector. Blocks do not move.
const BLOCK: usize = 1 << 14;

/// The index of a packet in a [`Pool`]. A packet keeps its handle from source to sink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle(u32);

impl Handle {
    /// The number of the handle. Numbers are as small as possible.
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// The pool of all packets. The last node freed is reused first. So the memory touched depends on
/// the packets now under way, and not on their largest number so far.
///
/// Most pools are small, and take one lookup to find a node. A larger pool grows by blocks, so its
/// memory does not exceed that of its packets.
pub struct Pool {
    near: Vec<Node>,
    /// The capacity of `near`.
    room: usize,
    far: Vec<Vec<Node>>,
    /// The first free node in `near`.
    free: u32,
    /// The free nodes in `far`. They are not linked, because reading them is slow.
    far_free: Vec<u32>,
}

/// A FIFO queue of packets of a [`Pool`], in the order of their times.
pub struct Queue {
    first: u32,
    last: u32,
    time: Time,
}

impl Queue {
    /// A queue without packets.
    pub const EMPTY: Queue = Queue { first: NIL, last: NIL, time: Time::MAX };

    /// The time of the first packet, or `Time::MAX` if the queue is empty.
    #[inline]
    pub fn time(&self) -> Time {
        self.time
    }
}

impl Pool {
    /// Creates a pool without packets.
    pub fn new() -> Pool {
        Pool { near: Vec::new(), room: NEAR, far: Vec::new(), free: NIL, far_free: Vec::new() }
    }

    /// Reserves contiguous memory for `packets` packets, if that is more than the default and the
    /// system allows it. The system commits the memory as it is used.
    pub fn reserve(&mut self, packets: usize) {
        if packets > self.room && self.near.try_reserve_exact(packets).is_ok() {
            self.room = packets;
            memory::in_huge_pages(&self.near);
        }
    }

    /// Returns the handle of this number.
    #[cfg(test)]
    pub fn handle(number: u32) -> Handle {
        Handle(number)
    }

    /// Adds a new packet.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> Handle {
        let (handle, place) = self.place();
        *place = packet;
        handle
    }

    /// Returns the handle and the place of a new packet, which the caller writes there field by
    /// field. A copy of a packet that was just written takes longer.
    #[inline(always)]
    pub fn place(&mut self) -> (Handle, &mut Packet) {
        let id = self.free;
        if (id as usize) < self.near.len() {
            let node = &mut self.near[id as usize];
            self.free = node.next;
            return (Handle(id), &mut node.packet);
        }
        self.far_place()
    }

    /// Returns the place of a new packet in a pool without a free node in `near`.
    #[cold]
    #[inline(never)]
    fn far_place(&mut self) -> (Handle, &mut Packet) {
        if let Some(id) = self.far_free.pop() {
            return (Handle(id), &mut self.far(id).packet);
        }
        let nodes = if self.near.len() < self.room {
            &mut self.near
        } else {
            if self.far.last().is_none_or(|block| block.len() == BLOCK) {
                self.far.push(Vec::with_capacity(BLOCK));
            }
            self.far.last_mut().expect("a block was added")
        };
        nodes.push(Node { packet: Packet::NONE, next_time: Time::MAX, next: NIL });
        let id = (self.len() - 1) as u32;
        (Handle(id), &mut self.node(id).packet)
    }

    /// Returns the number of nodes.
    #[inline]
    fn len(&self) -> usize {
        let full = self.far.len().saturating_sub(1) * BLOCK;
        self.near.len() + full + self.far.last().map_or(0, Vec::len)
    }

    #[inline]
    fn node(&mut self, id: u32) -> &mut Node {
        if (id as usize) < self.near.len() { &mut self.near[id as usize] } else { self.far(id) }
    }

    /// Returns a node of `far`.
    #[cold]
    #[inline(never)]
    fn far(&mut self, id: u32) -> &mut Node {
        let i = id as usize - self.room;
        &mut self.far[i / BLOCK][i % BLOCK]
    }

    /// Removes a packet, which must not be in a queue.
    #[inline(always)]
    pub fn remove(&mut self, handle: Handle) -> Packet {
        let (packet, flow) = self.free(handle);
        Packet { flow, ..*packet }
    }

    /// Removes a packet. Returns its place and its flow. The place keeps the other contents until
    /// the next packet is placed.
    #[inline(always)]
    pub fn free(&mut self, handle: Handle) -> (&Packet, u32) {
        let packet = if (handle.0 as usize) < self.near.len() {
            let node = &mut self.near[handle.0 as usize];
            node.next = std::mem::replace(&mut self.free, handle.0);
            &mut node.packet
        } else {
            self.free_far(handle)
        };
        let flow = std::mem::replace(&mut packet.flow, FREE);
        (packet, flow)
    }

    /// Adds a node of `far` to the free ones.
    #[cold]
    #[inline(never)]
    fn free_far(&mut self, handle: Handle) -> &mut Packet {
        self.far_free.push(handle.0);
        &mut self.far(handle.0).packet
    }

    /// Returns a packet.
    #[inline]
    pub fn packet(&mut self, handle: Handle) -> &mut Packet {
        &mut self.node(handle.0).packet
    }

    /// Returns a packet, unless it is in a block.
    #[inline]
    pub fn get(&self, handle: Handle) -> Option<&Packet> {
        self.near.get(handle.0 as usize).map(|node| &node.packet)
    }

    /// Adds a packet to a queue. Returns true if it is the first one.
    #[inline(always)]
    pub fn push(&mut self, queue: &mut Queue, handle: Handle, time: Time) -> bool {
        let node = self.node(handle.0);
        node.next_time = Time::MAX;
        node.next = NIL;
        let before = std::mem::replace(&mut queue.last, handle.0);
        if before == NIL {
            (queue.first, queue.time) = (handle.0, time);
            return true;
        }
        let before = self.node(before);
        (before.next, before.next_time) = (handle.0, time);
        false
    }

    /// Takes the first packet out of a queue.
    #[inline]
    pub fn pop(&mut self, queue: &mut Queue) -> Option<Handle> {
        let first = queue.first;
        let node = match self.near.get(first as usize) {
            Some(node) => node,
            None if first == NIL => return None,
            None => self.far(first),
        };
        (queue.first, queue.time) = (node.next, node.next_time);
        if queue.first == NIL {
            queue.last = NIL;
        }
        self.prefetch(queue.first);
        Some(Handle(first))
    }

    /// Returns true if the pool has grown beyond the near caches.
    #[inline]
    pub fn is_large(&self) -> bool {
        self.near.len() > LARGE
    }

    /// Returns true if the pool has grown far beyond the near caches. Flows and links then exceed them as well.
    #[inline]
    pub fn is_huge(&self) -> bool {
        self.near.len() > HUGE
    }

    /// Prefetches the first packet of a queue.
    #[inline]
    pub fn prepare(&self, queue: &Queue) {
        self.prefetch(queue.first);
    }

    /// Prefetches a packet.
    #[inline]
    pub fn prepare_packet(&self, handle: Handle) {
        self.prefetch(handle.0);
    }

    /// Prefetches a node that is used some events later. It was last touched milliseconds ago, and
    /// has left the near caches.
    #[inline]
    fn prefetch(&self, id: u32) {
        match self.near.get(id as usize) {
            Some(node) => fetch(node),
            None if id == NIL => {}
            None => self.prefetch_far(id),
        }
    }

    #[cold]
    #[inline(never)]
    fn prefetch_far(&self, id: u32) {
        let i = (id as usize).wrapping_sub(self.room);
        let block = self.far.get(i / BLOCK);
        if let Some(node) = block.and_then(|block| block.get(i % BLOCK)) {
            fetch(node);
        }
    }

    /// Returns all packets, in an arbitrary order.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        let nodes = self.near.iter().chain(self.far.iter().flatten());
        let packets = nodes.map(|node| &node.packet);
        packets.filter(|packet| packet.flow != FREE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_aqm::Ecn;
    use accord_transport::Segment;

    fn packet(number: u64) -> Packet {
        Packet {
            segment: Segment::Data { number, sent: Time::ZERO },
            flow: 7,
            hop: 0,
            virtual_s: 0.0,
            size: 1000,
            ecn: Ecn::NotCapable,
            aggregate: 0,
        }
    }

    /// The first packets are in `near`, and the others in three blocks, the last of which is not
    /// full.
    #[test]
    fn packets_keep_their_places_and_queues_their_order_beyond_the_first_vector() {
        keeps_places_and_order(Pool::new(), NEAR);
        let mut reserved = Pool::new();
        reserved.reserve(NEAR);
        assert_eq!(reserved.room, NEAR);
        reserved.reserve(NEAR + 7);
        keeps_places_and_order(reserved, NEAR + 7);
        // A reservation beyond any system's memory changes nothing.
        let mut refused = Pool::new();
        refused.reserve(usize::MAX);
        assert_eq!(refused.room, NEAR);
    }

    fn keeps_places_and_order(mut pool: Pool, near: usize) {
        let n = (near + 2 * BLOCK + 5) as u64;
        let handles: Vec<Handle> = (0..n).map(|i| pool.insert(packet(i))).collect();
        // One queue of even and one of odd numbers, from the last to the first.
        let mut queues = [Queue::EMPTY, Queue::EMPTY];
        for i in (0..n).rev() {
            let queue = &mut queues[i as usize % 2];
            pool.push(queue, handles[i as usize], Time::from_ps(n - i));
        }
        for (k, queue) in queues.iter_mut().enumerate() {
            for i in (0..n).rev().filter(|i| *i as usize % 2 == k) {
                assert_eq!(queue.time(), Time::from_ps(n - i));
                let handle = pool.pop(queue).expect("it has a packet");
                assert_eq!(pool.remove(handle), packet(i));
            }
            assert_eq!(pool.pop(queue), None);
        }
        assert_eq!(pool.iter().count(), 0);
        assert_eq!(pool.near.len(), near);
        assert_eq!(pool.far.len(), 3);

        // All handles are reused before new ones are made.
        for i in 0..n {
            pool.insert(packet(i));
        }
        assert_eq!(pool.len() as u64, n);
        let mut numbers: Vec<u64> = (pool.iter())
            .map(|p| match p.segment {
                Segment::Data { number, .. } => number,
                _ => panic!("another packet"),
            })
            .collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..n));
        assert_eq!(pool.insert(packet(n)).0, n as u32);
    }
}
