//! The calendar of pending events. An event takes O(1) time, or O(log n) if many events fall into
//! one slot.
//!
//! Time is divided into slots. A wheel of slots holds the near future, and a heap the far future.
//! Only the current slot is ever sorted, and a bitmap finds the next slot that holds an event. A
//! slot is about half as wide as the mean gap between events, which is measured during the run. The
//! width does not affect the order of events.
//!
//! Packets wait in queues at their links, not in events. An event takes 16 bytes, and the calendar
//! of a thousand links stays in the first-level cache.
//!
//! Events are ordered by time, then by [`EventKind`], then by index, whatever the sequence in which
//! they were added. So an engine may leave out events without changing the run. The time permutes
//! the indices, so no link or flow wins all ties.

use accord_units::{Duration, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Declares the kinds of events in their order, and the table of them by number.
macro_rules! kinds {
    ($(#[$of_all:meta])* pub enum $name:ident { $($(#[$doc:meta])* $kind:ident,)* }) => {
        $(#[$of_all])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$doc])* $kind,)*
        }

        /// The kinds by number. The last one is repeated to fill the table.
        const EVENT_KINDS: [$name; 16] = {
            let kinds = [$($name::$kind),*];
            let mut table = [kinds[kinds.len() - 1]; 16];
            let mut i = 0;
            while i < kinds.len() {
                table[i] = kinds[i];
                i += 1;
            }
            table
        };
    };
}

kinds! {
    /// The kind of an event. Events of the same time are handled in the order of this list. A packet that leaves a
    /// port makes room for one that arrives. A sample covers the time before it, so it excludes a flow that starts
    /// at the same time.
    ///
    /// A new kind needs a place in this list and an arm in `EventsEngine::handle`.
    pub enum EventKind {
        /// The port of link `index` has sent its packet.
        Sent,
        /// A sample is due.
        Sample,
        /// A reading for steady-state detection is due (`skip.rs`).
        Watch,
        /// The scenario's event `index`.
        Change,
        /// The timer of link `index`'s queue discipline is due.
        Discipline,
        /// Flow `index` starts.
        Start,
        /// Flow `index` stops.
        Stop,
        /// The application of flow `index` acts.
        Application,
        /// The sender of flow `index` is woken, as it asked.
        Wake,
        /// A third-party end of flow `index / 2` is woken, as it asked: at the source or, if `index` is odd, at the
        /// sink.
        WakeOther,
        /// The host of flow `index` has processed a packet.
        Processed,
        /// The far gateway of tunnel `index` passes on packets that have waited for others of their flows.
        Order,
        /// The next packet comes out of the wire of link `index`, which reorders packets.
        Overtake,
        /// The first packet on the wire of link `index` comes out.
        Arrive,
    }
}

impl EventKind {
    /// The kind with the number zero.
    pub const FIRST: EventKind = EVENT_KINDS[0];
}

/// The number of bits of a key that hold the index. The bits above hold the kind.
const INDEX_BITS: u32 = 28;
const INDEX: u32 = (1 << INDEX_BITS) - 1;

/// The largest index of a link or flow.
pub const MAX_INDEX: usize = INDEX as usize;

/// Returns the mask that permutes the indices at `time`, by exclusive or.
#[inline]
fn shuffle(time: u64) -> u32 {
    (time.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - INDEX_BITS)) as u32
}

/// Returns the sort key of an event among those at the same time.
#[inline]
pub(crate) fn key(time: Time, kind: EventKind, index: usize) -> u32 {
    (kind as u32) << INDEX_BITS | (index as u32 ^ shuffle(time.as_ps()))
}

/// Returns the time, the kind and the index of an event.
#[inline(always)]
fn read((time, key): (u64, u32)) -> (Time, EventKind, usize) {
    let kind = EVENT_KINDS[(key >> INDEX_BITS) as usize % EVENT_KINDS.len()];
    (Time::from_ps(time), kind, ((key & INDEX) ^ shuffle(time)) as usize)
}

/// A pending event in a slot of the wheel.
#[derive(Clone, Copy, Debug)]
struct WheelNode {
    time: u64,
    key: u32,
    /// The next node in the slot, or in the list of free nodes.
    next: u32,
}

const NIL: u32 = u32::MAX;
/// The number of slots of the wheel.
const SLOTS: usize = 1 << 13;
const WORDS: usize = SLOTS / 64;
/// The largest number of events that are kept sorted.
const MOST_DUE: usize = 64;
/// The number of events between two reviews of the width.
const REVIEW: u32 = 1 << 14;
/// The initial width: 2^21 ps, about 2 µs.
const FIRST_SHIFT: u32 = 21;

/// The pending events.
pub struct Calendar {
    /// The end of the run. Later events are not kept.
    end: u64,
    nodes: Vec<WheelNode>,
    free: u32,
    /// The first node of each slot.
    heads: Box<[u32; SLOTS]>,
    /// A bit per slot, set if the slot holds an event.
    occupied: Box<[u64; WORDS]>,
    /// The logarithm of a slot's width: it is 2^shift picoseconds.
    shift: u32,
    /// The number of the current slot, counted from time zero. `due` holds its events.
    slot: u64,
    /// The events of the current slot as (time, key), latest first.
    due: Vec<(u64, u32)>,
    /// The events of the current slot beyond [`MOST_DUE`]. They are later than all of `due`. The
    /// heap is empty if `due` is, except before its first event is taken.
    rest: BinaryHeap<Reverse<(u64, u32)>>,
    /// The events beyond the wheel.
    far: BinaryHeap<Reverse<(u64, u32)>>,
    /// The time of the first event in `far`, or `u64::MAX`.
    far_first: u64,
    in_wheel: u32,
    /// The numbers of events taken and of events put beyond the wheel since the last review, and
    /// the time of that review.
    taken: u32,
    beyond: u32,
    reviewed: u64,
    /// The binary logarithm of the ratio of the width to the mean gap, raised so that pending
    /// events fit into the wheel.
    margin: u32,
}

impl Calendar {
    /// Creates an empty calendar. Events after `end` are discarded.
    pub fn new(end: Time) -> Calendar {
        Calendar {
            end: end.as_ps(),
            nodes: Vec::new(),
            free: NIL,
            heads: Box::new([NIL; SLOTS]),
            occupied: Box::new([0; WORDS]),
            shift: FIRST_SHIFT,
            slot: 0,
            due: Vec::new(),
            rest: BinaryHeap::new(),
            far: BinaryHeap::new(),
            far_first: u64::MAX,
            in_wheel: 0,
            taken: 0,
            beyond: 0,
            reviewed: 0,
            margin: 0,
        }
    }

    /// Adds an event, which must not be before the last one taken. `index` is at most
    /// [`MAX_INDEX`]. An event after the end, in particular at `Time::MAX`, is never due.
    #[inline]
    pub fn push(&mut self, time: Time, kind: EventKind, index: usize) {
        if time.as_ps() > self.end {
            return;
        }
        debug_assert!(index <= MAX_INDEX);
        self.place(time.as_ps(), key(time, kind, index));
    }

    #[inline]
    fn place(&mut self, time: u64, key: u32) {
        let slot = time >> self.shift;
        if slot.wrapping_sub(self.slot + 1) < SLOTS as u64 - 1 {
            let i = slot as usize % SLOTS;
            let node = WheelNode { time, key, next: self.heads[i] };
            let id = self.free;
            if let Some(free) = self.nodes.get_mut(id as usize) {
                self.free = free.next;
                *free = node;
                self.heads[i] = id;
            } else {
                self.heads[i] = self.nodes.len() as u32;
                self.nodes.push(node);
            }
            self.occupied[i / 64] |= 1 << (i % 64);
            self.in_wheel += 1;
        } else {
            self.place_outside(time, key, slot);
        }
    }

    /// Puts an event into the current slot, or beyond the wheel.
    #[cold]
    fn place_outside(&mut self, time: u64, key: u32, slot: u64) {
        if slot <= self.slot {
            self.place_due((time, key));
        } else {
            self.beyond += 1;
            self.far_first = self.far_first.min(time);
            self.far.push(Reverse((time, key)));
        }
    }

    /// Puts an event into the current slot. This moves at most `MOST_DUE` events, or puts them into
    /// the heap. Each event enters the heap at most once.
    fn place_due(&mut self, event: (u64, u32)) {
        if let Some(&Reverse(first)) = self.rest.peek()
            && event > first
        {
            return self.rest.push(Reverse(event));
        }
        if self.due.len() >= MOST_DUE {
            let later = self.due.len() - MOST_DUE / 2;
            self.rest.extend(self.due.drain(..later).map(Reverse));
            return self.place_due(event);
        }
        let at = self.due.partition_point(|&other| other > event);
        self.due.insert(at, event);
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, EventKind, usize)> {
        let event = match self.due.pop() {
            Some(event) => event,
            None => self.next_slot()?,
        };
        Some(read(event))
    }

    /// Takes the next event, if it is due by `to`. Events up to `to` may still be added after a call
    /// that returns `None`.
    pub fn pop_by(&mut self, to: Time) -> Option<(Time, EventKind, usize)> {
        if self.next_time() > to { None } else { self.pop() }
    }

    /// Returns the time of the next event, or `Time::MAX` if there is none.
    pub fn next_time(&mut self) -> Time {
        if self.due.is_empty()
            && let Some(event) = self.next_slot()
        {
            self.place_due(event);
        }
        self.due.last().map_or(Time::MAX, |(time, _)| Time::from_ps(*time))
    }

    /// Returns all pending events, unordered. This takes as long as handling several dozen events.
    pub fn pending(&self) -> impl Iterator<Item = (Time, EventKind, usize)> {
        let words = self.occupied.iter().enumerate().filter(|(_, bits)| **bits != 0);
        let slots = words.flat_map(|(word, &bits)| {
            let left = |bits: &u64| Some(bits & (bits - 1)).filter(|left| *left != 0);
            let each = std::iter::successors(Some(bits), left);
            each.map(move |bits| word * 64 + bits.trailing_zeros() as usize)
        });
        let node = |id: u32| self.nodes.get(id as usize);
        let slot = move |slot| std::iter::successors(node(self.heads[slot]), move |n| node(n.next));
        let near = slots.flat_map(slot).map(|node| (node.time, node.key));
        let heaps = self.rest.iter().chain(&self.far).map(|Reverse(event)| *event);
        self.due.iter().copied().chain(near).chain(heaps).map(read)
    }

    /// Returns an event of the next occupied slot, most likely the next event. Another event of its
    /// slot may be earlier, or may be added before this one is taken.
    #[inline]
    pub fn peek(&self) -> Option<(EventKind, usize)> {
        let (time, key) = match self.due.last() {
            Some(&event) => event,
            None if self.in_wheel == 0 => return None,
            None => {
                let node = &self.nodes[self.heads[self.next_occupied()] as usize];
                (node.time, node.key)
            }
        };
        let kind = EVENT_KINDS[(key >> INDEX_BITS) as usize % EVENT_KINDS.len()];
        let index = (key & INDEX) ^ shuffle(time);
        Some((kind, index as usize))
    }

    /// Advances to the next occupied slot. Returns its first event, and sorts its other events into
    /// `due`. This is called only while `due` is empty.
    #[inline]
    fn next_slot(&mut self) -> Option<(u64, u32)> {
        if !self.rest.is_empty() {
            return self.rest.pop().map(|Reverse(event)| event);
        }
        if self.taken >= REVIEW {
            self.review();
            if let Some(event) = self.due.pop() {
                return Some(event);
            }
        }
        if self.in_wheel == 0 {
            return self.jump();
        }
        let i = self.next_occupied();
        let id = std::mem::replace(&mut self.heads[i], NIL);
        self.occupied[i / 64] &= !(1 << (i % 64));
        let node = &mut self.nodes[id as usize];
        let mut event = (node.time, node.key);
        let others = std::mem::replace(&mut node.next, self.free);
        self.free = id;
        self.in_wheel -= 1;
        self.taken += 1;
        self.slot = event.0 >> self.shift;
        if others != NIL {
            event = self.sort(event, others);
        }
        if self.far_first >> self.shift < self.slot + SLOTS as u64 {
            self.bring_near();
        }
        Some(event)
    }

    /// Moves the events of a slot into `due`, except for the first one, which it returns.
    fn sort(&mut self, event: (u64, u32), mut others: u32) -> (u64, u32) {
        let mut first = event;
        while let Some(node) = self.nodes.get_mut(others as usize) {
            let mut event = (node.time, node.key);
            if event < first {
                std::mem::swap(&mut event, &mut first);
            }
            self.due.push(event);
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = others;
            others = next;
        }
        let n = self.due.len() as u32;
        self.in_wheel -= n;
        self.taken += n;
        if n > 1 {
            self.due.sort_unstable_by(|a, b| b.cmp(a));
        }
        first
    }

    /// Advances to the first event beyond the wheel, because the wheel is empty.
    #[cold]
    fn jump(&mut self) -> Option<(u64, u32)> {
        let &Reverse((time, _)) = self.far.peek()?;
        self.slot = time >> self.shift;
        self.bring_near();
        self.due.pop()
    }

    /// Moves events of the near future into the wheel.
    #[cold]
    fn bring_near(&mut self) {
        while let Some(&Reverse((time, key))) = self.far.peek() {
            if time >> self.shift >= self.slot + SLOTS as u64 {
                self.far_first = time;
                return;
            }
            self.far.pop();
            self.place(time, key);
        }
        self.far_first = u64::MAX;
    }

    /// Returns the index in the wheel of the next occupied slot, which must exist.
    #[inline]
    fn next_occupied(&self) -> usize {
        let start = (self.slot + 1) as usize % SLOTS;
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (start % 64));
        while bits == 0 {
            word = (word + 1) % WORDS;
            bits = self.occupied[word];
        }
        word * 64 + bits.trailing_zeros() as usize
    }

    /// Fits the width of a slot to the mean gap between events.
    #[cold]
    fn review(&mut self) {
        let now = self.slot << self.shift;
        let gap = now.saturating_sub(self.reviewed) / u64::from(self.taken);
        if self.beyond > self.taken / 8 {
            self.margin = (self.margin + 1).min(6);
        }
        (self.taken, self.beyond, self.reviewed) = (0, 0, now);
        // The width is half the gap, so slots rarely hold two events. It stays between 1 ns and 1
        // ms.
        let shift = (gap.max(2).ilog2() - 1 + self.margin).clamp(10, 30);
        if shift != self.shift {
            self.resize(shift, now);
        }
    }

    /// Brings external events (changes, starts, stops) and the end forward by this span.
    pub fn bring_forward(&mut self, by: Duration) {
        self.end -= by.as_ps();
        for (time, key) in self.take_all() {
            let kind = EVENT_KINDS[(key >> INDEX_BITS) as usize % EVENT_KINDS.len()];
            let index = (key & INDEX) ^ shuffle(time);
            let time = match kind {
                EventKind::Change | EventKind::Start | EventKind::Stop => time - by.as_ps(),
                _ => time,
            };
            self.push(Time::from_ps(time), kind, index as usize);
        }
    }

    /// Takes all events, unordered.
    fn take_all(&mut self) -> Vec<(u64, u32)> {
        let mut pending: Vec<(u64, u32)> = Vec::with_capacity(self.in_wheel as usize);
        pending.append(&mut self.due);
        pending.extend(self.rest.drain().map(|Reverse(event)| event));
        for head in self.heads.iter_mut() {
            let mut id = std::mem::replace(head, NIL);
            while let Some(node) = self.nodes.get(id as usize) {
                pending.push((node.time, node.key));
                id = node.next;
            }
        }
        pending.extend(self.far.drain().map(|Reverse(event)| event));
        self.far_first = u64::MAX;
        self.nodes.clear();
        self.free = NIL;
        self.occupied.fill(0);
        self.in_wheel = 0;
        pending
    }

    /// Changes the width. This is called only while `due` is empty.
    fn resize(&mut self, shift: u32, now: u64) {
        let pending = self.take_all();
        self.shift = shift;
        self.slot = now >> shift;
        for (time, key) in pending {
            self.place(time, key);
        }
        self.beyond = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Earlier events can be added after a look at the next one, even in earlier slots.
    #[test]
    fn events_may_be_added_before_one_that_was_looked_at() {
        let ms = |ms| Time::ZERO + Duration::from_ms(ms);
        let mut calendar = Calendar::new(Time::MAX);
        assert_eq!((calendar.next_time(), calendar.pop_by(Time::MAX)), (Time::MAX, None));
        calendar.push(ms(9), EventKind::Wake, 1);
        assert_eq!((calendar.next_time(), calendar.pop_by(ms(8))), (ms(9), None));
        for (at, index) in [(ms(5), 2), (ms(3), 3), (ms(700), 4), (ms(9), 5)] {
            calendar.push(at, EventKind::Wake, index);
        }
        let mut indices: Vec<_> = calendar.pending().map(|(_, _, index)| index).collect();
        indices.sort_unstable();
        assert_eq!(indices, [1, 2, 3, 4, 5]);
        assert_eq!(calendar.pop_by(ms(4)), Some((ms(3), EventKind::Wake, 3)));
        assert_eq!((calendar.pop_by(ms(4)), calendar.next_time()), (None, ms(5)));
        assert_eq!(calendar.pop_by(ms(5)), Some((ms(5), EventKind::Wake, 2)));
        let at_nine = [calendar.pop_by(ms(9)), calendar.pop_by(ms(9)), calendar.pop_by(ms(9))];
        let later: Vec<_> = calendar.pending().collect();
        assert_eq!(later, [(ms(700), EventKind::Wake, 4)]);
        let indices = at_nine.map(|event| event.map_or(0, |(_, _, index)| index));
        assert!(indices == [1, 5, 0] || indices == [5, 1, 0], "{indices:?}");
        assert_eq!(calendar.pop(), Some((ms(700), EventKind::Wake, 4)));
    }

    /// Few events are moved per event, for any number of simultaneous events, added in any order.
    #[test]
    fn simultaneous_events_are_not_moved_about() {
        const N: usize = 100_000;
        let mut calendar = Calendar::new(Time::MAX);
        let mut expected = Vec::new();
        let add = |calendar: &mut Calendar, index| {
            calendar.push(Time::ZERO, EventKind::Start, index);
            assert!(calendar.due.len() <= MOST_DUE, "{index}");
        };
        for index in 0..N {
            add(&mut calendar, index);
            expected.push(index as u32 ^ shuffle(0));
        }
        expected.sort_unstable();
        for (i, key) in expected.iter().enumerate() {
            // Later events are added while these are taken.
            if i % 10 == 0 {
                calendar.push(Time::ZERO, EventKind::Wake, i);
                assert!(calendar.due.len() <= MOST_DUE);
            }
            let index = (key ^ shuffle(0)) as usize;
            assert_eq!(calendar.pop(), Some((Time::ZERO, EventKind::Start, index)));
        }
        let rest = std::iter::from_fn(|| calendar.pop());
        assert_eq!(rest.count(), N / 10);
    }
}
