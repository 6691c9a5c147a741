//! The arrivals at a shared link, sorted once per window.

use crate::calendar::{EventKind, key};
use crate::pool::Handle;
use accord_units::{Duration, Time};
use std::cmp::Ordering;

/// The arrival of a packet at a shared link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The time.
    pub at: Time,
    /// The corresponding event of the events engine, which decides ties.
    pub event: EventId,
    /// The packet.
    pub handle: Handle,
}

/// The kind and the index of an event in the calendar's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventId(u32);

impl EventId {
    /// Creates the identifier of an event.
    #[inline]
    pub fn new(kind: EventKind, index: usize) -> EventId {
        EventId(key(Time::ZERO, kind, index))
    }

    /// Returns the key by which the calendar orders the event among those at `at`.
    #[inline]
    pub fn key(self, at: Time) -> u32 {
        self.0 ^ key(at, EventKind::FIRST, 0)
    }
}

impl Arrival {
    /// Compares two arrivals in the calendar's order of their events.
    #[inline]
    fn order(&self, other: &Arrival) -> Ordering {
        self.at.cmp(&other.at).then_with(|| self.key().cmp(&other.key()))
    }

    #[inline(never)]
    fn key(&self) -> u32 {
        self.event.key(self.at)
    }
}

/// The future arrivals at a shared link, in slots of time. So an arrival is not touched before its
/// slot is due.
pub struct ArrivalQueue {
    /// The binary logarithm of a slot's width in picoseconds.
    shift: u32,
    /// The first slot that may hold an arrival, counted from time zero.
    first: u64,
    /// The unsorted arrivals of the next slots: the page of each slot that is being filled. The
    /// number of slots is a power of two.
    slots: Vec<Vec<Arrival>>,
    /// The full pages of the same slots.
    full: Vec<Vec<Vec<Arrival>>>,
    /// The arrivals that were beyond all slots when they were added. None is before slot `far_from`. They are
    /// moved as late as possible, because a queue may be much longer than the span of the slots.
    far: Vec<Arrival>,
    far_from: u64,
    /// Empty pages. The last one emptied is reused first, because it is still in near caches.
    free_pages: Vec<Vec<Arrival>>,
}

/// The number of windows that the slots span.
const WINDOWS: usize = 8;
/// The least and the largest number of slots per window.
const PER_WINDOW: [usize; 2] = [8, 512];
/// The number of arrivals that are sorted at once: a part of a near cache.
const AT_ONCE: usize = if cfg!(test) { 1 << 5 } else { 1 << 12 };
/// The number of arrivals in a page. With pages a slot takes only the memory of its arrivals and of
/// a page. A single vector would keep the capacity that slow start once needed.
const PAGE: usize = if cfg!(test) { 1 << 2 } else { 1 << 6 };

impl ArrivalQueue {
    /// Creates an empty queue for windows of this length and `flows` flows.
    pub fn new(window: Duration, flows: usize) -> ArrivalQueue {
        let [least, most] = PER_WINDOW;
        let per_window = (flows / 256).clamp(least, most).next_power_of_two();
        let slots = WINDOWS * per_window;
        ArrivalQueue {
            shift: (window.as_ps() / per_window as u64).max(1).ilog2(),
            first: 0,
            slots: (0..slots).map(|_| Vec::new()).collect(),
            full: (0..slots).map(|_| Vec::new()).collect(),
            far: Vec::new(),
            far_from: slots as u64,
            free_pages: Vec::new(),
        }
    }

    /// Returns the index of a slot in the list.
    #[inline]
    fn slot_index(&self, slot: u64) -> usize {
        slot as usize & (self.slots.len() - 1)
    }

    /// Adds an arrival, which is not before any that was taken.
    #[inline(always)]
    pub fn push(&mut self, arrival: Arrival) {
        let slot = arrival.at.as_ps() >> self.shift;
        if slot - self.first < self.slots.len() as u64 {
            let index = self.slot_index(slot);
            let page = &mut self.slots[index];
            if page.len() == page.capacity() {
                let Arrival { at, event, handle } = arrival;
                return self.turn_page(index, at, event, handle);
            }
            page.push(arrival);
        } else {
            self.far.push(arrival);
        }
    }

    /// Adds an arrival to a slot whose page is full. The arrival is passed as numbers, because as a
    /// value it would go through memory, also in [`ArrivalQueue::push`].
    #[cold]
    #[inline(never)]
    fn turn_page(&mut self, index: usize, at: Time, event: EventId, handle: Handle) {
        let page = &mut self.slots[index];
        match page.capacity() {
            PAGE.. => {
                let next = self.free_pages.pop();
                let next = next.unwrap_or_else(|| Vec::with_capacity(PAGE));
                self.full[index].push(std::mem::replace(page, next));
            }
            0 if !self.free_pages.is_empty() => *page = self.free_pages.pop().unwrap_or_default(),
            few => page.reserve_exact((2 * few).max(4) - few),
        }
        page.push(Arrival { at, event, handle });
    }

    /// Moves arrivals before `until` to `due`: all of them, or the first ones of many. Returns the
    /// time before which all have been moved.
    fn take(&mut self, until: Time, due: &mut Vec<Arrival>) -> Time {
        let last = until.as_ps() >> self.shift;
        if last > self.first {
            let end = last.min(self.first + self.slots.len() as u64);
            for slot in self.first..end {
                let index = self.slot_index(slot);
                for mut page in self.full[index].drain(..) {
                    due.append(&mut page);
                    self.free_pages.push(page);
                }
                due.append(&mut self.slots[index]);
                if self.slots[index].capacity() >= PAGE {
                    self.free_pages.push(std::mem::take(&mut self.slots[index]));
                }
                // The arrivals in `far` are behind all of these.
                if due.len() >= AT_ONCE && slot + 1 < end && last < self.far_from {
                    self.first = slot + 1;
                    return Time::from_ps(self.first << self.shift);
                }
            }
            self.first = last;
            if last >= self.far_from {
                self.far_from = last + self.slots.len() as u64;
                for arrival in std::mem::take(&mut self.far) {
                    if arrival.at < until { due.push(arrival) } else { self.push(arrival) }
                }
            }
        }
        let index = self.slot_index(last);
        for page in self.full[index].iter_mut().chain([&mut self.slots[index]]) {
            due.extend(page.extract_if(.., |arrival| arrival.at < until));
        }
        until
    }

    /// The arrivals of a slot, unsorted.
    #[inline]
    fn slot(&self, slot: u64) -> impl Iterator<Item = &Arrival> {
        let index = self.slot_index(slot);
        self.slots[index].iter().chain(self.full[index].iter().flatten())
    }

    /// Returns true if there may be an arrival by `until`.
    #[inline]
    pub fn may_have(&self, until: Time) -> bool {
        let last = until.as_ps() >> self.shift;
        last >= self.far_from
            || (self.first..last).any(|slot| self.slot(slot).next().is_some())
            || self.slot(last).any(|arrival| arrival.at <= until)
    }

    /// Returns a time at or before the next arrival.
    pub fn next(&self) -> Time {
        let mut end = self.first + self.slots.len() as u64;
        if !self.far.is_empty() {
            end = end.min(self.far_from);
        }
        let next =
            (self.first..end).find_map(|slot| self.slot(slot).map(|arrival| arrival.at).min());
        match next {
            Some(at) => at,
            None if self.far.is_empty() => Time::MAX,
            None => Time::from_ps(end << self.shift),
        }
    }
}

/// A bucket sort of arrivals, which are spread rather evenly over their window.
#[derive(Default)]
pub struct Sorter {
    due: Vec<Arrival>,
    /// The number of arrivals per bucket, then the index of the bucket's next one.
    parts: Vec<u32>,
    sorted: Vec<Arrival>,
}

/// The largest number of arrivals in a bucket that insertion sort handles.
const MOST: u32 = 32;
/// The number of places by which an arrival may be out of order before arrivals are put into
/// buckets.
const NEAR: usize = 2;

impl Sorter {
    /// Takes the arrivals before `until` out of `arrivals`: all of them, or the first ones of many.
    /// None is before `from`. Returns them in order, in a vector for [`Sorter::give_back`], and the
    /// time before which they are complete. The sort is stable.
    pub fn take(
        &mut self,
        arrivals: &mut ArrivalQueue,
        from: Time,
        until: Time,
    ) -> (Vec<Arrival>, Time) {
        self.due.clear();
        let before = arrivals.take(until, &mut self.due);
        let mut sorted = std::mem::take(&mut self.sorted);
        self.sort(from, before, &mut sorted);
        (sorted, before)
    }

    /// Sorts the arrivals of `due`, from `from` to `until`, into `sorted`.
    #[inline(always)]
    fn sort(&mut self, from: Time, until: Time, sorted: &mut Vec<Arrival>) {
        // The arrivals from one link over one delay are already in order, or almost.
        if insert(&mut self.due, NEAR) {
            return std::mem::swap(sorted, &mut self.due);
        }
        // About as many buckets as arrivals.
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
        sorted.resize(self.due.len(), self.due[0]);
        for arrival in &self.due {
            let next = &mut self.parts[part(arrival)];
            sorted[*next as usize] = *arrival;
            *next += 1;
        }
        if most > MOST {
            sorted.sort_by(Arrival::order);
        } else {
            insert(sorted, usize::MAX);
        }
    }

    /// Takes a vector of arrivals back for reuse.
    pub fn give_back(&mut self, mut sorted: Vec<Arrival>) {
        sorted.clear();
        self.sorted = sorted;
    }
}

/// Sorts almost sorted arrivals by insertion, moving each by at most `most` places. Returns false if one is farther
/// from its place. The arrivals are then partly sorted, and equal ones keep their order.
#[inline(always)]
fn insert(arrivals: &mut [Arrival], most: usize) -> bool {
    for end in 1..arrivals.len() {
        if arrivals[end - 1].at < arrivals[end].at {
            continue;
        }
        let arrival = arrivals[end];
        let mut at = end;
        while at > 0 && arrival.order(&arrivals[at - 1]).is_lt() {
            if end - at == most {
                arrivals[at] = arrival;
                return false;
            }
            arrivals[at] = arrivals[at - 1];
            at -= 1;
        }
        arrivals[at] = arrival;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use proptest::prelude::*;

    /// Times with many ties, or close together.
    fn any_times() -> impl Strategy<Value = Vec<u64>> {
        prop_oneof![
            prop::collection::vec(100..200u64, 0..200),
            prop::collection::vec(100..10_000_000u64, 0..200),
            prop::collection::vec(prop_oneof![100..103u64, 1_000_000..1_000_003u64], 0..200),
        ]
    }

    proptest! {
        /// For all distributions of times, due arrivals come in the order of their events, and the
        /// others stay.
        #[test]
        fn arrivals_come_in_the_order_of_their_events(
            windows in prop::collection::vec((any_times(), 0..2_000_000u64), 1..4),
            indices in prop::collection::vec((0..5usize, any::<bool>()), 200),
            width in prop_oneof![Just(1), Just(1000), Just(1 << 20), Just(1 << 40)],
            flows in prop_oneof![Just(1), Just(3000), Just(100_000)],
        ) {
            let (mut sorter, mut left) = (Sorter::default(), Vec::new());
            let mut arrivals = ArrivalQueue::new(Duration::from_ps(width), flows);
            let (mut from, mut number) = (Time::from_ps(100), 0);
            for (times, span) in windows {
                let until = Time::from_ps(from.as_ps() + span);
                for (time, (index, wakes)) in times.into_iter().zip(&indices) {
                    let kind = if *wakes { EventKind::Wake } else { EventKind::Arrive };
                    let at = Time::from_ps(from.as_ps() + time - 100);
                    let handle = Pool::handle(number);
                    number += 1;
                    arrivals.push(Arrival { at, event: EventId::new(kind, *index), handle });
                    left.push(((at, key(at, kind, *index), number), handle));
                }
                left.sort();
                let due = left.partition_point(|((at, ..), _)| *at < until);
                let expected: Vec<_> = left.drain(..due).map(|(_, handle)| handle).collect();
                let mut found = Vec::new();
                while from < until {
                    let (sorted, before) = sorter.take(&mut arrivals, from, until);
                    found.extend(sorted.iter().map(|arrival| arrival.handle));
                    sorter.give_back(sorted);
                    from = before;
                    let next = left.first().map_or(Time::MAX, |((at, ..), _)| *at);
                    prop_assert!(arrivals.next() <= next, "{} {}", arrivals.next(), next);
                    prop_assert!(next == Time::MAX || arrivals.may_have(next), "{}", next);
                }
                prop_assert_eq!(found, expected);
            }
        }
    }
}
