//! The receiving half of [`repair`](super::repair): the datagrams that have not arrived.

use super::repair::{Missing, Place, SESSIONS};
use accord_units::{Duration, Time};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};

/// The number of later arrivals after which a datagram counts as missing, for networks that reorder
/// [RFC 9002 §6.1.1].
const LATER: u64 = 3;
/// The maximum number of counters that are missing at once. A longer gap is an outage, which is not repaired.
const MOST_MISSING: usize = 64;
/// The number of reported datagrams that are remembered. WireGuard's replay window rejects older ones.
const MOST_REPORTED: usize = 1024;
/// The time after a report within which a late datagram or its repair arrives, even if an attacker withheld
/// it, and the most packets in that time.
const ARRIVING: Duration = Duration::from_secs(10);
const MOST_RECENT: usize = 10_000;

/// The counters of a session.
#[derive(Clone, Debug)]
struct Session {
    index: u32,
    /// The counter after the highest one among datagrams that wait in the network's queue.
    next: u64,
    missing: VecDeque<u64>,
    /// The counters beyond `next` of expedited datagrams that have arrived. These overtake the queue.
    early: VecDeque<u64>,
}

impl Session {
    fn on_arrival(&mut self, counter: u64, expedited: bool) {
        if counter < self.next {
            self.missing.retain(|c| *c != counter);
        } else if expedited {
            if self.early.len() == MOST_MISSING {
                self.early.pop_front();
            }
            self.early.push_back(counter);
        } else {
            // A gap larger than the limit is an outage.
            if counter - self.next < MOST_MISSING as u64 {
                let early = &self.early;
                let missing = (self.next..counter).filter(|c| !early.contains(c));
                self.missing.extend(missing);
            }
            self.next = counter.saturating_add(1);
            self.early.retain(|c| *c > counter);
            while self.missing.len() > MOST_MISSING {
                self.missing.pop_front();
            }
        }
    }

    /// Returns the counters that are missing by now. Each is returned once.
    fn take(&mut self) -> Option<Missing> {
        let is_due = |c: u64, next: u64| next - c > LATER;
        let first = *self.missing.front().filter(|c| is_due(**c, self.next))?;
        let mut behind = 0;
        while let Some(counter) = self.missing.front().copied()
            && is_due(counter, self.next)
            && counter - first <= 64
        {
            if counter > first {
                behind |= 1 << (counter - first - 1);
            }
            self.missing.pop_front();
        }
        let first = Place { session: self.index, counter: first };
        Some(Missing { first, behind })
    }
}

/// The receiving half: the counters that have not arrived, and the packets that may arrive twice because a
/// late one was presumed lost.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    /// The latest sessions. Crossing handshakes create several, and any may be in use.
    sessions: VecDeque<Session>,
    /// The latest places that were reported missing, with the time.
    reported: VecDeque<(Time, Place)>,
    /// The time until which a repair may arrive.
    until: Time,
    /// The packets since a report, by time of arrival and hash.
    recent: VecDeque<(Time, u64)>,
    /// The packets that arrived although they were reported, and whose repair did not arrive.
    late: VecDeque<(Time, u64)>,
}

impl Gaps {
    /// Takes the place of an authentic datagram that arrived. Returns whether it was reported missing.
    pub fn on_arrival(&mut self, place: Place, expedited: bool) -> bool {
        if let Some(at) = self.reported.iter().position(|(_, p)| *p == place) {
            self.reported.remove(at);
            return true;
        }
        let is_its = |s: &&mut Session| s.index == place.session;
        match self.sessions.iter_mut().find(is_its) {
            Some(session) => session.on_arrival(place.counter, expedited),
            None => {
                self.sessions.truncate(SESSIONS - 1);
                self.sessions.push_front(Session {
                    index: place.session,
                    next: place.counter.saturating_add(1),
                    missing: VecDeque::new(),
                    early: VecDeque::new(),
                });
            }
        }
        false
    }

    /// Returns whether a packet of a site is the second copy, after a late packet or its repair. `reported` says
    /// whether its datagram was reported missing. Of equal packets, as many arrive as were sent, unless one is late
    /// and is not sent again.
    pub fn is_repeated(&mut self, packet: &[u8], reported: bool, at: Time) -> bool {
        if at >= self.until {
            self.recent.clear();
            self.late.clear();
            return false;
        }
        let is_old = |(then, _): &(Time, u64)| at.since(*then) > ARRIVING;
        while self.recent.front().is_some_and(is_old) || self.recent.len() > MOST_RECENT {
            self.recent.pop_front();
        }
        while self.late.front().is_some_and(is_old) || self.late.len() > MOST_REPORTED {
            self.late.pop_front();
        }
        let mut hasher = DefaultHasher::new();
        hasher.write(packet);
        let hash = hasher.finish();
        // Each report creates one more copy. The first copy that arrives counts as the packet.
        let repeated = if reported {
            self.recent.iter().any(|(_, h)| *h == hash)
        } else {
            match self.late.iter().position(|(_, h)| *h == hash) {
                Some(other) => self.late.remove(other).is_some(),
                None => false,
            }
        };
        if !repeated {
            self.recent.push_back((at, hash));
            if reported {
                self.late.push_back((at, hash));
            }
        }
        repeated
    }

    /// Returns the counters that are missing by now. Counters in the 64 places before them that were reported
    /// and have not arrived are listed again, because a list may be lost.
    pub fn take(&mut self, now: Time) -> Option<Missing> {
        while self.reported.front().is_some_and(|(then, _)| now.since(*then) > ARRIVING) {
            self.reported.pop_front();
        }
        let mut missing = self.sessions.iter_mut().find_map(Session::take)?;
        let session = missing.first.session;
        let last = missing.counters().last().unwrap_or(missing.first.counter);
        let new: Vec<u64> = missing.counters().collect();
        let before = |c: u64| last.saturating_sub(64) <= c && c < last;
        let again = self.reported.iter().filter(|(_, p)| p.session == session);
        let again: Vec<u64> = again.map(|(_, p)| p.counter).filter(|c| before(*c)).collect();
        missing.first.counter = again.iter().copied().fold(missing.first.counter, u64::min);
        let first = missing.first.counter;
        missing.behind = 0;
        for counter in again.iter().chain(&new).filter(|c| **c > first) {
            missing.behind |= 1 << (counter - first - 1);
        }
        for counter in new {
            if self.reported.len() == MOST_REPORTED {
                self.reported.pop_front();
            }
            self.reported.push_back((now, Place { session, counter }));
        }
        self.until = now + ARRIVING;
        Some(missing)
    }

    /// Returns whether the repair of a recent report may still arrive.
    pub fn is_open(&self, now: Time) -> bool {
        now < self.until
    }

    /// Returns whether a datagram between these places of a session is missing, and was not reported
    /// before `since`.
    pub fn is_between(&self, session: u32, after: u64, before: u64, since: Time) -> bool {
        let inside = |c: u64| after < c && c < before;
        let reported = self.reported.iter().rev().take_while(|(at, _)| *at >= since);
        let mut reported = reported.filter(|(_, p)| p.session == session);
        let its = self.sessions.iter().find(|s| s.index == session);
        reported.any(|(_, p)| inside(p.counter))
            || its.is_some_and(|s| s.missing.iter().any(|c| inside(*c)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place(counter: u64) -> Place {
        Place { session: 7, counter }
    }

    /// Takes all counters that are missing and were not listed before.
    fn missing(gaps: &mut Gaps) -> Vec<u64> {
        let known: Vec<u64> = gaps.reported.iter().map(|(_, p)| p.counter).collect();
        let mut all = Vec::new();
        while let Some(missing) = gaps.take(Time::ZERO) {
            assert_eq!(missing.first.session, 7);
            all.extend(
                missing
                    .counters()
                    .filter(|c| !known.contains(c) && !all.contains(c))
                    .collect::<Vec<_>>(),
            );
        }
        all
    }

    /// A list may be lost, so the next lists repeat its counters until they arrive.
    #[test]
    fn lists_repeat_what_has_not_arrived() {
        let mut gaps = Gaps::default();
        let mut list = |counters: &[u64]| -> Vec<u64> {
            for counter in counters {
                gaps.on_arrival(place(*counter), false);
            }
            gaps.take(Time::ZERO).map_or(Vec::new(), |m| m.counters().collect())
        };
        assert_eq!(list(&[0, 2, 3, 4]), [1]);
        assert_eq!(list(&[5, 7, 8, 9]), [1, 6]);
        assert_eq!(list(&[1, 10, 12, 13, 14]), [6, 11]);
        // 64 places later it is no longer requested.
        let later: Vec<u64> = (15..80).chain(81..84).collect();
        assert_eq!(list(&later), [80]);
    }

    #[test]
    fn a_datagram_is_missing_when_three_later_ones_are_there() {
        let mut gaps = Gaps::default();
        for counter in [5, 6, 8, 9] {
            gaps.on_arrival(place(counter), false);
            assert!(missing(&mut gaps).is_empty());
        }
        gaps.on_arrival(place(10), false);
        assert_eq!(missing(&mut gaps), [7]);
        gaps.on_arrival(place(11), false);
        assert!(missing(&mut gaps).is_empty(), "once");
        // A late datagram has arrived.
        for counter in [13, 14, 12, 15, 16] {
            gaps.on_arrival(place(counter), false);
        }
        assert!(missing(&mut gaps).is_empty());
        // An outage is not a gap.
        for counter in [1000, 1001, 1003, 1004, 1005, 1006] {
            gaps.on_arrival(place(counter), false);
        }
        assert_eq!(missing(&mut gaps), [1002]);
        let other = Place { session: 8, counter: 5000 };
        gaps.on_arrival(other, false);
        assert_eq!(gaps.take(Time::ZERO), None);
        // Datagrams of the previous session do not end this one.
        gaps.on_arrival(place(1007), false);
        for counter in [5001, 5003, 5004, 5005, 5006] {
            gaps.on_arrival(Place { session: 8, counter }, false);
        }
        let missing = gaps.take(Time::ZERO).map(|m| m.first.counter);
        assert_eq!(missing, Some(5002));
    }

    #[test]
    fn expedited_datagrams_overtake_the_queue() {
        let mut gaps = Gaps::default();
        gaps.on_arrival(place(0), false);
        // Later datagrams wait in the queue.
        for counter in [20, 40] {
            gaps.on_arrival(place(counter), true);
        }
        assert!(missing(&mut gaps).is_empty());
        for counter in (1..45).filter(|c| ![20, 30, 40].contains(c)) {
            gaps.on_arrival(place(counter), false);
        }
        assert_eq!(missing(&mut gaps), [30]);
    }

    /// A repair is also presumed lost: one of three copies passes, in any order.
    #[test]
    fn of_a_packet_and_its_repairs_one_arrives() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        for order in [[1, 5, 9], [1, 9, 5], [5, 1, 9], [5, 9, 1], [9, 1, 5], [9, 5, 1]] {
            let mut gaps = Gaps::default();
            // 1 and 5 are reported missing, but 9 is not.
            for counter in [0, 2, 3, 4, 6, 7, 8] {
                gaps.on_arrival(place(counter), false);
                while gaps.take(at(1)).is_some() {}
            }
            let arrive = order.map(|counter| {
                let reported = gaps.on_arrival(place(counter), false);
                assert_eq!(reported, counter < 9);
                !gaps.is_repeated(b"late", reported, at(2))
            });
            assert_eq!(arrive, [true, false, false], "{order:?}");
        }
    }

    /// A late packet and its repair arrive in either order. The second is a repetition. Equal packets of a
    /// site are not.
    #[test]
    fn a_late_packet_and_its_repair_arrive_once() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        for repair_first in [false, true] {
            let mut gaps = Gaps::default();
            let mut arrives = |counter: u64, packet: &[u8], ms| {
                let reported = gaps.on_arrival(place(counter), false);
                let repeated = gaps.is_repeated(packet, reported, at(ms));
                while gaps.take(at(ms)).is_some() {}
                repeated
            };
            for counter in [0, 2, 3, 4] {
                assert!(!arrives(counter, b"same", 1));
            }
            assert!(!arrives(5, b"same", 2), "equal packets arrive");
            let order = if repair_first { [6, 1] } else { [1, 6] };
            assert!(!arrives(order[0], b"late", 3));
            assert!(arrives(order[1], b"late", 4));
            assert!(!arrives(7, b"late", 5), "an equal packet of the site");
            assert!(!arrives(8, b"same", 20_000), "much later");
        }
    }

    /// A peer whose packets all come late costs no more memory than others.
    #[test]
    fn late_packets_are_bounded() {
        let (mut gaps, now) = (Gaps::default(), Time::ZERO);
        for block in 0..2000u64 {
            for counter in (0..8).step_by(2).chain((1..8).step_by(2)) {
                let place = place(8 * block + counter);
                let reported = gaps.on_arrival(place, false);
                gaps.is_repeated(&place.counter.to_be_bytes(), reported, now);
                while gaps.take(now).is_some() {}
            }
        }
        assert!(gaps.late.len() <= MOST_REPORTED + 1, "{}", gaps.late.len());
        assert!(!gaps.late.is_empty());
        // Places that have not arrived for long are forgotten.
        gaps.on_arrival(place(20_000), false);
        gaps.take(now + ARRIVING * 2);
        assert!(gaps.reported.is_empty());
    }

    proptest! {
        /// Under any loss and reordering, a counter is reported at most once, and only if it has not
        /// arrived. A lost counter with enough arrivals after it is reported.
        #[test]
        fn what_is_lost_is_reported(
            fates in prop::collection::vec(prop_oneof![4 => Just(0u64), 1 => Just(1), 1 => 2..6u64], 1..300),
            start in prop_oneof![Just(0u64), Just(u64::MAX - 1000)],
        ) {
            // 1 means lost. Higher numbers mean late by that number of places.
            let arrive = fates.iter().zip(start..).enumerate();
            let mut arrive: Vec<(u64, u64)> = arrive
                .filter(|(_, (fate, _))| **fate != 1)
                .map(|(i, (fate, counter))| (i as u64 + fate, counter))
                .collect();
            arrive.sort();
            let mut gaps = Gaps::default();
            let (mut there, mut reported) = (Vec::new(), Vec::new());
            for (_, counter) in &arrive {
                gaps.on_arrival(place(*counter), false);
                there.push(*counter);
                for counter in missing(&mut gaps) {
                    prop_assert!(!there.contains(&counter) && !reported.contains(&counter));
                    reported.push(counter);
                }
            }
            let first = there.first().copied().unwrap_or(0);
            let last = there.iter().max().copied().unwrap_or(0);
            let mut run = 0;
            for (fate, counter) in fates.iter().zip(start..) {
                run = if *fate == 1 { run + 1 } else { 0 };
                let fits = run < 20 && counter > first && counter + 10 < last;
                if *fate == 1 && fits {
                    prop_assert!(reported.contains(&counter), "{counter} of {fates:?}");
                }
            }
        }
    }
}
