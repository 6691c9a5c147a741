//! The arrivals at a station, put in order.

use crate::calendar::{Kind, key};
use crate::pool::Place;
use accord_units::Time;
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

/// Sorts arrivals by distribution: they are spread over their window rather evenly.
#[derive(Default)]
pub struct Sorter {
    /// The number of arrivals in each part of the window, and then where its next one goes.
    parts: Vec<u32>,
    sorted: Vec<Arrival>,
}

/// The most arrivals in a part that are put in order one by one.
const MOST: u32 = 32;

impl Sorter {
    /// Takes the arrivals before `until` out of `coming`, none of which is before `from`. Returns
    /// them in order, in a vector to be given back. Those of the same order stay as they are.
    pub fn take(&mut self, coming: &mut Vec<Arrival>, from: Time, until: Time) -> Vec<Arrival> {
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.clear();
        let Some(&any) = coming.first() else {
            return sorted;
        };
        // As many parts as arrivals, and one for those that come later.
        let window = until.since(from).as_ps();
        let bits = coming.len().ilog2();
        let shift = (u64::BITS - window.leading_zeros()).saturating_sub(bits);
        let later = (window >> shift) as usize + 1;
        let part = |arrival: &Arrival| match arrival.at < until {
            true => (arrival.at.since(from).as_ps() >> shift) as usize,
            false => later,
        };
        self.parts.clear();
        self.parts.resize(later + 1, 0);
        for arrival in coming.iter() {
            self.parts[part(arrival)] += 1;
        }
        let (mut before, mut most) = (0, 0);
        for (id, count) in self.parts.iter_mut().enumerate() {
            if id < later {
                most = most.max(*count);
            }
            before += std::mem::replace(count, before);
        }
        sorted.resize(coming.len(), any);
        for arrival in coming.iter() {
            let next = &mut self.parts[part(arrival)];
            sorted[*next as usize] = *arrival;
            *next += 1;
        }
        let ready = self.parts[later - 1] as usize;
        coming.clear();
        coming.extend_from_slice(&sorted[ready..]);
        sorted.truncate(ready);
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
        ) {
            let (mut sorter, mut coming, mut left) = (Sorter::default(), Vec::new(), Vec::new());
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
                prop_assert_eq!(coming.len(), left.len());
                sorter.give_back(sorted);
                from = until;
            }
        }
    }
}
