//! The index of senders by the time of their next task: a reply, a wake-up or an action of the application. A
//! window visits only the senders with a task in it.
//!
//! Times of the near future are in slots, and later ones in a heap. An entry may be stale, because an earlier
//! task was found later. An unnecessary visit does no harm. So each sender has an entry at or before its next
//! time, and entries are never searched for.

use accord_units::{Duration, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The senders by the time of their next task.
pub struct Due {
    /// The binary logarithm of a slot's width in picoseconds.
    shift: u32,
    /// The first slot that may hold an entry, counted from time zero.
    first: u64,
    /// The entries of the next slots, unsorted. The number of slots is a power of two.
    slots: Vec<Vec<(Time, u32)>>,
    /// Empty vectors. The last one emptied is reused first, because it is still in near caches.
    spare: Vec<Vec<(Time, u32)>>,
    /// The entries beyond all slots when they were added.
    far: BinaryHeap<Reverse<(Time, u32)>>,
    /// The earliest entry in `far` of each sender, or `Time::MAX`.
    in_far: Vec<Time>,
}

/// The number of slots.
const SLOTS: usize = 1 << 9;
/// The least number of slots per window.
const PER_WINDOW: u64 = 2;
/// The number of slots in the least round trip.
const PER_ROUND_TRIP: u64 = 1 << 8;

impl Due {
    /// Creates an empty index of `senders` for windows of this length and a least round-trip time.
    pub fn new(window: Duration, round_trip: Duration, senders: usize) -> Due {
        let width = (window.as_ps() / PER_WINDOW).max(round_trip.as_ps() / PER_ROUND_TRIP);
        Due {
            shift: width.max(1).ilog2(),
            first: 0,
            slots: (0..SLOTS).map(|_| Vec::new()).collect(),
            spare: Vec::new(),
            far: BinaryHeap::new(),
            in_far: vec![Time::MAX; senders],
        }
    }

    /// Returns a time at or before the next entry.
    pub fn next(&self) -> Time {
        let far = self.far.peek().map_or(Time::MAX, |Reverse((at, _))| *at);
        let mut slots = self.first..self.first + SLOTS as u64;
        let near = slots.find_map(|slot| self.slots[slot as usize % SLOTS].iter().min());
        near.map_or(far, |(at, _)| far.min(*at))
    }

    #[inline]
    fn slot(&mut self, slot: u64) -> &mut Vec<(Time, u32)> {
        &mut self.slots[slot as usize % SLOTS]
    }

    /// Adds an entry for a sender, which must not be before any that was taken. `due` is the time of its last entry
    /// in the slots that was not taken, or `Time::MAX`. The caller stores it, on a cache line that it reads anyway.
    /// Nothing is added if there is an entry at or before `at`.
    #[inline]
    pub fn add(&mut self, due: &mut Time, sender: usize, at: Time) {
        if at < *due {
            self.add_earlier(due, sender, at);
        }
    }

    #[inline(never)]
    fn add_earlier(&mut self, due: &mut Time, sender: usize, at: Time) {
        let slot = at.as_ps() >> self.shift;
        debug_assert!(slot >= self.first, "the past is over");
        if slot - self.first < SLOTS as u64 {
            *due = at;
            if self.slot(slot).capacity() == 0
                && let Some(spare) = self.spare.pop()
            {
                *self.slot(slot) = spare;
            }
            self.slot(slot).push((at, sender as u32));
        } else if at < self.in_far[sender] {
            self.in_far[sender] = at;
            self.far.push(Reverse((at, sender as u32)));
        }
    }

    /// Takes the entries before `until`. `senders` becomes the list of their senders, with a few possibly
    /// listed twice. `kept` is the caller's state of each sender, in which `due` finds the time of
    /// [`Due::add`].
    pub fn take<T>(
        &mut self,
        until: Time,
        senders: &mut Vec<u32>,
        kept: &mut [T],
        due: impl Fn(&mut T) -> &mut Time,
    ) {
        senders.clear();
        let mut take = |(at, sender): (Time, u32)| {
            let due = due(&mut kept[sender as usize]);
            // Otherwise the entry is stale.
            if *due == at {
                *due = Time::MAX;
                senders.push(sender);
            }
        };
        let last = until.as_ps() >> self.shift;
        for slot in self.first..last.min(self.first + SLOTS as u64) {
            let entries = &mut self.slots[slot as usize % SLOTS];
            if !entries.is_empty() {
                entries.drain(..).for_each(&mut take);
                self.spare.push(std::mem::take(entries));
            }
        }
        self.first = last;
        self.slot(last).extract_if(.., |(at, _)| *at < until).for_each(&mut take);
        while let Some(&Reverse((at, sender))) = self.far.peek()
            && at < until
        {
            self.far.pop();
            if self.in_far[sender as usize] == at {
                self.in_far[sender as usize] = Time::MAX;
                senders.push(sender);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// For any times, each window visits all senders whose next time is in it, and all others stay.
        #[test]
        fn all_senders_with_something_due_are_visited(
            windows in prop::collection::vec(
                (prop::collection::vec((0..9usize, 0..5_000_000u64), 0..9), 1..3_000_000u64),
                1..40,
            ),
            width in prop_oneof![Just(1), Just(1000), Just(1 << 20)],
        ) {
            let width = Duration::from_ps(width);
            let mut index = Due::new(width, width, 9);
            let mut due = [Time::MAX; 9];
            let mut times: Vec<Vec<Time>> = vec![Vec::new(); 9];
            let (mut from, mut list) = (0, Vec::new());
            for (found, span) in windows {
                for (sender, later) in found {
                    let at = Time::from_ps(from + later);
                    times[sender].push(at);
                    index.add(&mut due[sender], sender, at);
                }
                from += span;
                let until = Time::from_ps(from);
                index.take(until, &mut list, &mut due, |due| due);
                for (sender, times) in times.iter_mut().enumerate() {
                    let before = times.len();
                    times.retain(|at| *at >= until);
                    let is_due = times.len() < before;
                    prop_assert!(!is_due || list.contains(&(sender as u32)), "{} by {}", sender, until);
                    if let Some(next) = times.iter().min() && list.contains(&(sender as u32)) {
                        index.add(&mut due[sender], sender, *next);
                    }
                }
            }
        }
    }
}
