//! The arrivals at a station, put in order.

use crate::calendar::{Kind, key};
use crate::pool::Place;
use accord_units::{Duration, Time};
use std::cmp::Ordering;

/// The arrival of a packet at a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The time.
    pub at: Time,
    /// The event that this would be. It decides among arrivals at the same time.
    pub cause: Cause,
    /// The packet.
    pub place: Place,
}

/// The kind and the index of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause(u32);

impl Cause {
    /// Creates the cause of an event.
    #[inline]
    pub fn new(kind: Kind, index: usize) -> Cause {
        Cause(key(Time::ZERO, kind, index))
    }
}

impl Arrival {
    /// Compares two arrivals as the calendar compares their events.
    #[inline]
    fn order(&self, other: &Arrival) -> Ordering {
        self.at
            .cmp(&other.at)
            .then_with(|| self.key().cmp(&other.key()))
    }

    #[inline(never)]
    fn key(&self) -> u32 {
        self.cause.0 ^ key(self.at, Kind::FIRST, 0)
    }
}

/// The arrivals to come at a station. They are kept by slots of time, so that those that are not due
/// yet are not looked at.
pub struct Coming {
    /// The logarithm of a slot's width: it is 2^shift picoseconds.
    shift: u32,
    /// The first slot that may hold an arrival, counted from time zero.
    first: u64,
    /// The arrivals of the next slots, in no order.
    slots: Box<[Vec<Arrival>; SLOTS]>,
    /// The arrivals beyond them.
    far: Vec<Arrival>,
}

/// The number of slots.
const SLOTS: usize = 64;
/// The number of slots in a window, if no event of the calendar ends it.
const PER_WINDOW: u64 = 8;

impl Coming {
    /// Creates an empty list, from which windows of this length will be taken.
    pub fn new(window: Duration) -> Coming {
        Coming {
            shift: (window.as_ps() / PER_WINDOW).max(1).ilog2(),
            first: 0,
            slots: Box::new([const { Vec::new() }; SLOTS]),
            far: Vec::new(),
        }
    }

    /// Adds an arrival, not before any that was taken.
    #[inline(always)]
    pub fn push(&mut self, arrival: Arrival) {
        let slot = arrival.at.as_ps() >> self.shift;
        if slot - self.first < SLOTS as u64 {
            self.slots[slot as usize % SLOTS].push(arrival);
        } else {
            self.far.push(arrival);
        }
    }

    /// Moves the arrivals before `until` to `due`.
    fn take(&mut self, until: Time, due: &mut Vec<Arrival>) {
        let last = until.as_ps() >> self.shift;
        if last > self.first {
            for slot in self.first..last.min(self.first + SLOTS as u64) {
                due.append(&mut self.slots[slot as usize % SLOTS]);
            }
            self.first = last;
            for arrival in std::mem::take(&mut self.far) {
                match arrival.at < until {
                    true => due.push(arrival),
                    false => self.push(arrival),
                }
            }
        }
        let now = &mut self.slots[last as usize % SLOTS];
        due.extend(now.extract_if(.., |arrival| arrival.at < until));
    }
}

/// Sorts arrivals by distribution: they are spread over their window rather evenly.
#[derive(Default)]
pub struct Sorter {
    due: Vec<Arrival>,
    /// The number of arrivals in each part of the window, and then where its next one goes.
    parts: Vec<u32>,
    sorted: Vec<Arrival>,
}

/// The most arrivals in a part that are put in order one by one.
const MOST: u32 = 32;

impl Sorter {
    /// Takes the arrivals before `until` out of `coming`, none of which is before `from`. Returns
    /// them in order, in a vector to be given back. Those of the same order stay as they are.
    pub fn take(&mut self, coming: &mut Coming, from: Time, until: Time) -> Vec<Arrival> {
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.clear();
        self.due.clear();
        coming.take(until, &mut self.due);
        let Some(&any) = self.due.first() else {
            return sorted;
        };
        // Those that come from one link over one delay are in order.
        if self.due.is_sorted_by(|a, b| a.at < b.at) {
            std::mem::swap(&mut sorted, &mut self.due);
            return sorted;
        }
        // About as many parts as arrivals.
        let window = until.since(from).as_ps();
        let bits = self.due.len().ilog2();
        let shift = (u64::BITS - window.leading_zeros()).saturating_sub(bits);
        let part = |arrival: &Arrival| (arrival.at.since(from).as_ps() >> shift) as usize;
        self.parts.clear();
        self.parts.resize((window >> shift) as usize + 1, 0);
        for arrival in &self.due {
            self.parts[part(arrival)] += 1;
        }
        let (mut before, mut most) = (0, 0);
        for count in &mut self.parts {
            most = most.max(*count);
            before += std::mem::replace(count, before);
        }
        sorted.resize(self.due.len(), any);
        for arrival in &self.due {
            let next = &mut self.parts[part(arrival)];
            sorted[*next as usize] = *arrival;
            *next += 1;
        }
        match most > MOST {
            true => sorted.sort_by(Arrival::order),
            false => insert(&mut sorted),
        }
        sorted
    }

    /// Takes a vector of arrivals back, to be filled again.
    pub fn give_back(&mut self, sorted: Vec<Arrival>) {
        self.sorted = sorted;
    }
}

/// Sorts arrivals that are almost in order.
fn insert(arrivals: &mut [Arrival]) {
    for end in 1..arrivals.len() {
        if arrivals[end - 1].at < arrivals[end].at {
            continue;
        }
        let arrival = arrivals[end];
        let mut place = end;
        while place > 0 && arrival.order(&arrivals[place - 1]).is_lt() {
            arrivals[place] = arrivals[place - 1];
            place -= 1;
        }
        arrivals[place] = arrival;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use proptest::prelude::*;

    /// Times of which many are the same, or all are close together.
    fn any_times() -> impl Strategy<Value = Vec<u64>> {
        prop_oneof![
            prop::collection::vec(100..200u64, 0..200),
            prop::collection::vec(100..10_000_000u64, 0..200),
            prop::collection::vec(prop_oneof![100..103u64, 1_000_000..1_000_003u64], 0..200),
        ]
    }

    proptest! {
        /// What is due comes in the order of its events, and the rest stays, however the times lie.
        #[test]
        fn arrivals_come_in_the_order_of_their_events(
            windows in prop::collection::vec((any_times(), 0..2_000_000u64), 1..4),
            indices in prop::collection::vec((0..5usize, any::<bool>()), 200),
            width in prop_oneof![Just(1), Just(1000), Just(1 << 20), Just(1 << 40)],
        ) {
            let (mut sorter, mut left) = (Sorter::default(), Vec::new());
            let mut coming = Coming::new(Duration::from_ps(width));
            let (mut from, mut number) = (Time::from_ps(100), 0);
            for (times, span) in windows {
                let until = Time::from_ps(from.as_ps() + span);
                for (time, (index, wakes)) in times.into_iter().zip(&indices) {
                    let kind = if *wakes { Kind::Wake } else { Kind::Arrive };
                    let at = Time::from_ps(from.as_ps() + time - 100);
                    let place = Pool::place(number);
                    number += 1;
                    coming.push(Arrival { at, cause: Cause::new(kind, *index), place });
                    left.push(((at, key(at, kind, *index), number), place));
                }
                left.sort();
                let due = left.partition_point(|((at, ..), _)| *at < until);
                let expected: Vec<_> = left.drain(..due).map(|(_, place)| place).collect();
                let sorted = sorter.take(&mut coming, from, until);
                let found: Vec<_> = sorted.iter().map(|arrival| arrival.place).collect();
                prop_assert_eq!(found, expected);
                sorter.give_back(sorted);
                from = until;
            }
        }
    }
}
