//! The calendar: pending events in order of (time, sequence), in O(1) each.
//!
//! Time is cut into slots; a wheel of slots holds the near future, a heap the far one. Only
//! the slot that is due is ever sorted, and a bitmap finds the next one that holds anything.
//! The width of a slot follows the events: no choice of it changes their order.

use crate::packet::Packet;
use accord_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A packet arrives at the port of the hop `index`.
    Arrive,
    /// A packet arrives at its endpoint; `index` is not used.
    Deliver,
    /// The port of link `index` has sent its packet, which is at the hop it carries.
    Sent,
    /// The sender of flow `index` asked to be woken.
    Wake,
    /// The application of flow `index` has something to do.
    Application,
    /// Flow `index` starts or stops.
    Start,
    /// See `Start`.
    Stop,
    /// The queue discipline of link `index` has a timer.
    Discipline,
    /// The scenario's event `index`.
    Change,
    /// It is time to record.
    Sample,
    /// The slot of the slab is empty.
    Free,
}

/// An event: what, of which, and the packet if it is about one. One cache line.
#[derive(Clone, Copy, Debug)]
struct Node {
    time: u64,
    sequence: u64,
    next: u32,
    index: u32,
    kind: Kind,
    packet: Packet,
}

const NIL: u32 = u32::MAX;
/// Slots of the wheel.
const SLOTS: u64 = 1 << 14;
/// The width is reconsidered after so many insertions.
const REVIEW: u32 = 1 << 14;

/// Pending events.
pub struct Calendar {
    nodes: Vec<Node>,
    free: u32,
    /// First node of each slot.
    heads: Vec<u32>,
    /// One bit for each slot that holds anything.
    occupied: Vec<u64>,
    /// A slot is 2^shift picoseconds wide.
    shift: u32,
    /// The slot that is due, counted from time zero; `due` holds what was in it.
    slot: u64,
    /// (time, sequence, node), latest first.
    due: Vec<(u64, u64, u32)>,
    /// Beyond the wheel.
    far: BinaryHeap<Reverse<(u64, u64, u32)>>,
    sequence: u64,
    in_wheel: u64,
    inserted: u32,
    inserted_far: u32,
    slots_taken: u32,
    taken: u32,
}

impl Calendar {
    /// Nothing pending.
    pub fn new() -> Calendar {
        Calendar {
            nodes: Vec::new(),
            free: NIL,
            heads: vec![NIL; SLOTS as usize],
            occupied: vec![0; SLOTS as usize / 64],
            shift: 21,
            slot: 0,
            due: Vec::new(),
            far: BinaryHeap::new(),
            sequence: 0,
            in_wheel: 0,
            inserted: 0,
            inserted_far: 0,
            slots_taken: 0,
            taken: 0,
        }
    }

    /// Adds an event. Among events of the same time, the first added comes first.
    #[inline]
    pub fn push(&mut self, time: Time, kind: Kind, index: u32, packet: Packet) {
        if time == Time::MAX {
            return;
        }
        let time = time.as_ps();
        self.sequence += 1;
        let node = Node {
            time,
            sequence: self.sequence,
            next: NIL,
            index,
            kind,
            packet,
        };
        let id = if self.free == NIL {
            self.nodes.push(node);
            (self.nodes.len() - 1) as u32
        } else {
            let id = self.free;
            self.free = self.nodes[id as usize].next;
            self.nodes[id as usize] = node;
            id
        };
        self.inserted += 1;
        self.place(id, time, self.sequence);
        if self.inserted == REVIEW {
            self.review();
        }
    }

    #[inline]
    fn place(&mut self, id: u32, time: u64, sequence: u64) {
        let slot = time >> self.shift;
        if slot <= self.slot {
            let key = (time, sequence);
            let at = self.due.partition_point(|&(t, s, _)| (t, s) > key);
            self.due.insert(at, (time, sequence, id));
        } else if slot < self.slot + SLOTS {
            let i = (slot % SLOTS) as usize;
            self.nodes[id as usize].next = self.heads[i];
            self.heads[i] = id;
            self.occupied[i / 64] |= 1 << (i % 64);
            self.in_wheel += 1;
        } else {
            self.inserted_far += 1;
            self.far.push(Reverse((time, sequence, id)));
        }
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, Kind, u32, Packet)> {
        loop {
            if let Some((_, _, id)) = self.due.pop() {
                let node = &mut self.nodes[id as usize];
                let event = (Time::from_ps(node.time), node.kind, node.index, node.packet);
                node.kind = Kind::Free;
                node.next = self.free;
                self.free = id;
                return Some(event);
            }
            if !self.turn() {
                return None;
            }
        }
    }

    /// Goes on to the next slot that holds anything.
    #[inline]
    fn turn(&mut self) -> bool {
        if self.in_wheel == 0 {
            let Some(&Reverse((time, ..))) = self.far.peek() else {
                return false;
            };
            self.slot = time >> self.shift;
        } else {
            self.slot = self.next_occupied();
            let i = (self.slot % SLOTS) as usize;
            let mut id = std::mem::replace(&mut self.heads[i], NIL);
            self.occupied[i / 64] &= !(1 << (i % 64));
            while id != NIL {
                let node = &self.nodes[id as usize];
                self.due.push((node.time, node.sequence, id));
                id = node.next;
            }
            self.in_wheel -= self.due.len() as u64;
            self.slots_taken += 1;
            self.taken += self.due.len() as u32;
            if self.due.len() > 1 {
                self.due.sort_unstable_by(|a, b| b.cmp(a));
            }
        }
        // What was far may be near now.
        while let Some(&Reverse((time, sequence, id))) = self.far.peek() {
            if time >> self.shift >= self.slot + SLOTS {
                break;
            }
            self.far.pop();
            self.place(id, time, sequence);
        }
        true
    }

    fn next_occupied(&self) -> u64 {
        let start = (self.slot + 1) % SLOTS;
        let (word, bit) = ((start / 64) as usize, start % 64);
        let words = self.occupied.len();
        let distance = |i: usize| (i as u64 + SLOTS - start) % SLOTS;
        let first = self.occupied[word] & (u64::MAX << bit);
        if first != 0 {
            return self.slot + 1 + distance(word * 64 + first.trailing_zeros() as usize);
        }
        for k in 1..=words {
            let w = (word + k) % words;
            if self.occupied[w] != 0 {
                let i = w * 64 + self.occupied[w].trailing_zeros() as usize;
                return self.slot + 1 + distance(i);
            }
        }
        unreachable!("the wheel holds something")
    }

    /// Makes slots wider when much lies beyond the wheel, narrower when they are crowded.
    #[cold]
    fn review(&mut self) {
        let crowded = self.taken > 4 * self.slots_taken.max(1);
        let beyond = self.inserted_far > REVIEW / 8;
        let shift = match (beyond, crowded) {
            (true, false) => self.shift + 1,
            (false, true) => self.shift.saturating_sub(1).max(8),
            _ => self.shift,
        };
        (
            self.inserted,
            self.inserted_far,
            self.taken,
            self.slots_taken,
        ) = (0, 0, 0, 0);
        if shift != self.shift {
            self.resize(shift);
        }
    }

    fn resize(&mut self, shift: u32) {
        let now = self.slot << self.shift;
        self.shift = shift;
        self.slot = now >> shift;
        self.heads.fill(NIL);
        self.occupied.fill(0);
        self.due.clear();
        self.far.clear();
        self.in_wheel = 0;
        for id in 0..self.nodes.len() {
            let Node {
                time,
                sequence,
                kind,
                ..
            } = self.nodes[id];
            if kind != Kind::Free {
                self.place(id as u32, time, sequence);
            }
        }
        self.inserted_far = 0;
    }

    /// The packets on the way, in no order that means anything.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.nodes
            .iter()
            .filter(|n| matches!(n.kind, Kind::Arrive | Kind::Deliver | Kind::Sent))
            .map(|n| &n.packet)
    }
}
