//! Repair of losses in the network: a tunnel with a contract resends packets that did not arrive
//! (`docs/src/gateway/design.md`).
//!
//! The receiver lists the counters that are missing, and the sender resends their packets under new counters
//! for a few round trips. The pace counts repairs as data, because it bounds the load of the tunnel on
//! others.

use accord_units::{Duration, Time};
use std::collections::VecDeque;

/// The time from the first transmission of a packet to its last one, in round trips. A packet that is lost
/// three times still arrives.
const ROUND_TRIPS: u64 = 4;
const LEAST: Duration = Duration::from_ms(250);
/// The longest time from the first transmission of a packet to its last one.
pub const LONGEST: Duration = Duration::from_secs(3);
/// The most bytes, and the most packets, that are kept for repair or wait to be sent again.
const MOST_KEPT: usize = 8 << 20;
const MOST_PACKETS: usize = 8192;
/// The time after a report of missing packets for which packets are kept. Without losses no packets are kept.
const KEEPING: Duration = Duration::from_secs(10);

/// The number of sessions with datagrams in flight.
pub(super) const SESSIONS: usize = 4;

/// The time, in round trips, for which a packet waits at the far end for others of its flow that are sent again.
/// The repair of a lost repair comes after two. On a path with a longer round trip it does not wait. In a long
/// queue few packets are lost, and packets that waited would arrive in one burst of the whole window.
const WAITING: f64 = 2.5;
const LEAST_WAIT: Duration = Duration::from_ms(10);
const LONGEST_ROUND_TRIP: Duration = Duration::from_ms(400);
/// The longest time that a packet waits at the far end for others of its flow.
pub const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Returns the time for which a packet waits at the far end for others of its flow that are sent again, on a
/// path of this round trip. It is zero if it does not wait.
pub fn longest_wait(round_trip: Duration) -> Duration {
    if round_trip > LONGEST_ROUND_TRIP {
        return Duration::ZERO;
    }
    round_trip.mul_f64(WAITING).max(LEAST_WAIT)
}

/// Returns the time from the first transmission of a packet to its last one, on a path of this round trip.
pub fn patience(round_trip: Duration) -> Duration {
    (round_trip * ROUND_TRIPS).clamp(LEAST, LONGEST)
}

/// The place of a datagram in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index of the receiver, which differs in each session.
    pub session: u32,
    /// The counter of the datagram.
    pub counter: u64,
}

/// Counters of a session that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The session, and the first counter that is missing.
    pub first: Place,
    /// The missing counters among the 64 after it, the least significant bit first.
    pub behind: u64,
}

impl Missing {
    /// The counters that are missing.
    pub fn counters(self) -> impl Iterator<Item = u64> {
        let first = self.first.counter;
        let behind = (0..64).filter(move |bit| self.behind & 1 << bit != 0);
        std::iter::once(first).chain(behind.map(move |bit| first.wrapping_add(1 + bit)))
    }
}

/// A packet that was sent.
#[derive(Clone, Debug)]
struct Kept<P> {
    /// The number of its session, in order of use, and its counter there. Both only grow.
    order: (u64, u64),
    /// The time of its first transmission.
    sent: Time,
    bytes: usize,
    packet: P,
}

/// A packet that must be sent again.
#[derive(Clone, Debug)]
struct Due<P> {
    /// The time of its first transmission.
    sent: Time,
    bytes: usize,
    packet: P,
}

/// The sending half: packets that may have to be sent again, and packets that must be.
#[derive(Clone, Debug)]
pub struct Repairs<P> {
    /// In the order of their transmission.
    kept: VecDeque<Kept<P>>,
    /// The packets to send again.
    due: VecDeque<Due<P>>,
    /// The bytes of both.
    bytes: usize,
    /// The latest sessions in which packets were sent, with their numbers.
    sessions: VecDeque<(u32, u64)>,
    /// The time until which packets are kept.
    until: Time,
    /// The longest time from the first transmission of a packet to its last one.
    patience: Duration,
    /// The packets that were sent again.
    pub count: u64,
}

impl<P> Default for Repairs<P> {
    fn default() -> Repairs<P> {
        Repairs {
            kept: VecDeque::new(),
            due: VecDeque::new(),
            bytes: 0,
            sessions: VecDeque::new(),
            until: Time::ZERO,
            patience: LEAST,
            count: 0,
        }
    }
}

impl<P> Repairs<P> {
    /// Returns whether packets are kept.
    pub fn keeps(&self, now: Time) -> bool {
        now < self.until
    }

    /// Keeps packets from now on for some time.
    pub fn begin(&mut self, now: Time) {
        self.until = now + KEEPING;
    }

    /// Sets the round-trip time, which determines the lifetime of kept packets.
    pub fn set_round_trip(&mut self, round_trip: Duration) {
        self.patience = patience(round_trip);
    }

    /// Keeps a packet of `bytes` bytes that was sent with this place, unless those that wait to be sent again
    /// take all the room. `sent` is the time of its first transmission.
    pub fn keep(&mut self, place: Place, (packet, bytes): (P, usize), sent: Time, now: Time) {
        let longest = self.patience;
        let is_old = |kept: &Kept<P>| now.since(kept.sent) > longest;
        let is_full = |repairs: &Repairs<P>| {
            repairs.bytes > MOST_KEPT || repairs.kept.len() + repairs.due.len() >= MOST_PACKETS
        };
        while is_full(self) || self.kept.front().is_some_and(is_old) {
            let Some(old) = self.kept.pop_front() else {
                return;
            };
            self.bytes -= old.bytes;
        }
        let number = match self.sessions.back() {
            Some((session, number)) if *session == place.session => *number,
            latest => {
                let number = latest.map_or(0, |(_, number)| number + 1);
                self.sessions.push_back((place.session, number));
                if self.sessions.len() > SESSIONS {
                    self.sessions.pop_front();
                }
                number
            }
        };
        self.bytes += bytes;
        self.kept.push_back(Kept { order: (number, place.counter), sent, bytes, packet });
    }

    /// Takes a report of missing datagrams. A packet is sent again once per loss, even if it is reported
    /// repeatedly.
    pub fn on_missing(&mut self, missing: &Missing, now: Time) {
        self.begin(now);
        for counter in missing.counters() {
            let Some(kept) = self.find(missing.first.session, counter) else {
                continue;
            };
            let Kept { sent, bytes, packet, .. } = kept;
            if now.since(sent) <= self.patience {
                self.due.push_back(Due { sent, bytes, packet });
            } else {
                self.bytes -= bytes;
            }
        }
    }

    /// Takes the packet that was sent with this place.
    fn find(&mut self, session: u32, counter: u64) -> Option<Kept<P>> {
        let numbers = self.sessions.iter().filter(|(s, _)| *s == session);
        let mut places = numbers.map(|(_, number)| {
            let order = (*number, counter);
            let at = self.kept.partition_point(|k| k.order < order);
            (at, order)
        });
        let found =
            places.find(|(at, order)| self.kept.get(*at).is_some_and(|k| k.order == *order));
        let (at, _) = found?;
        self.kept.remove(at)
    }

    /// Returns the next packet to send again. Drops packets that have waited too long.
    pub fn head(&mut self, now: Time) -> Option<&P> {
        let longest = self.patience;
        while let Some(old) = self.due.pop_front_if(|due| now.since(due.sent) > longest) {
            self.bytes -= old.bytes;
        }
        if now > self.until + LONGEST {
            // Nothing of it could be sent again.
            self.kept = VecDeque::new();
            self.bytes = self.due.iter().map(|due| due.bytes).sum();
        }
        self.due.front().map(|due| &due.packet)
    }

    /// The number of packets to send again.
    pub fn len(&self) -> u64 {
        self.due.len() as u64
    }

    /// Returns whether there is no packet to send again.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// Takes the next packet to send again, and the time of its first transmission.
    pub fn take(&mut self) -> Option<(Time, P)> {
        let Due { sent, bytes, packet } = self.due.pop_front()?;
        self.bytes -= bytes;
        self.count += 1;
        Some((sent, packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place(counter: u64) -> Place {
        Place { session: 7, counter }
    }
    #[test]
    fn a_packet_is_sent_again_once_per_loss_and_not_for_ever() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let packet = |byte: u8| (byte, 100);
        let lost = |counter| Missing { first: place(counter), behind: 0 };
        let mut repairs: Repairs<u8> = Repairs::default();
        assert!(!repairs.keeps(at(0)));
        repairs.on_missing(&lost(3), at(0));
        assert!(repairs.keeps(at(1)) && !repairs.keeps(at(10_001)), "after a loss only");
        assert_eq!(repairs.head(at(1)), None, "it was not kept");
        for counter in 0..10 {
            repairs.keep(place(counter), packet(counter as u8), at(counter), at(counter));
        }
        let both = Missing { first: place(4), behind: 1 << 2 };
        repairs.on_missing(&both, at(20));
        repairs.on_missing(&both, at(20));
        assert_eq!((repairs.head(at(20)).copied(), repairs.len()), (Some(4), 2));
        assert_eq!(repairs.take(), Some((at(4), 4)));
        assert_eq!(repairs.take(), Some((at(7), 7)));
        // The repair is also lost.
        repairs.keep(place(10), packet(4), at(4), at(20));
        repairs.on_missing(&lost(10), at(254));
        assert_eq!(repairs.take(), Some((at(4), 4)));
        repairs.keep(place(11), packet(4), at(4), at(254));
        repairs.on_missing(&lost(11), at(255));
        assert_eq!((repairs.take(), repairs.count), (None, 3));
        // A packet that waits for too long is not sent again either.
        repairs.keep(place(12), packet(5), at(300), at(300));
        repairs.on_missing(&lost(12), at(400));
        assert_eq!(repairs.head(at(550)), Some(&5));
        assert_eq!(repairs.head(at(551)), None);
    }

    /// On a long path the time suffices even if a packet's repair and two more are lost.
    #[test]
    fn repair_lasts_some_round_trips() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        for (round_trip, last) in [(0, 250), (60, 250), (300, 1200), (2000, 3000)] {
            let mut repairs: Repairs<u8> = Repairs::default();
            repairs.set_round_trip(Duration::from_ms(round_trip));
            for (counter, after) in [(1, last), (2, last + 1)] {
                repairs.keep(place(counter), (1, 100), at(0), at(0));
                repairs.on_missing(&Missing { first: place(counter), behind: 0 }, at(after));
                assert_eq!(repairs.take().is_some(), counter == 1, "{round_trip} ms");
            }
        }
    }

    /// A packet is found by its place in successive sessions, also in a session that resumes.
    #[test]
    fn packets_of_several_sessions_are_found() {
        let mut repairs: Repairs<u64> = Repairs::default();
        let place = |session, counter| Place { session, counter };
        let sent = [(1, 5), (1, 6), (2, 0), (2, 1), (1, 7), (2, 3)];
        for (i, (session, counter)) in sent.into_iter().enumerate() {
            repairs.keep(place(session, counter), (i as u64, 1), Time::ZERO, Time::ZERO);
        }
        for (session, counter) in [(1, 7), (2, 1), (2, 2), (3, 0), (1, 5), (1, 5), (2, 3)] {
            let missing = Missing { first: place(session, counter), behind: 0 };
            repairs.on_missing(&missing, Time::ZERO);
        }
        let again: Vec<u64> = std::iter::from_fn(|| repairs.take()).map(|(_, i)| i).collect();
        assert_eq!(again, [4, 3, 0, 5]);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut repairs = Repairs::default();
        let now = Time::ZERO + Duration::from_secs(1);
        for counter in 0..10_000 {
            repairs.keep(place(counter), ((), 1400), now, now);
        }
        assert!(repairs.bytes <= MOST_KEPT + 1400 && repairs.kept.len() < 6000);
        let later = now + LONGEST + Duration::from_ms(1);
        repairs.keep(place(10_000), ((), 1400), later, later);
        assert_eq!((repairs.kept.len(), repairs.bytes), (1, 1400));
    }

    /// Packets that wait to be sent again count, too, and leave the count when they leave.
    #[test]
    fn what_waits_to_be_sent_again_is_bounded() {
        let mut repairs = Repairs::default();
        let now = Time::ZERO + Duration::from_secs(1);
        for counter in 0..20_000 {
            repairs.keep(place(counter), ((), 1400), now, now);
            repairs.on_missing(&Missing { first: place(counter), behind: 0 }, now);
        }
        let most = MOST_KEPT / 1400;
        let waiting = repairs.due.len();
        assert!(waiting <= most + 1, "{waiting} packets wait, of at most {most}");
        assert_eq!(repairs.bytes, 1400 * waiting);
        repairs.take();
        assert_eq!(repairs.bytes, 1400 * (waiting - 1));
        repairs.head(now + LONGEST + Duration::from_ms(1));
        assert_eq!((repairs.due.len(), repairs.bytes), (0, 0));
    }

    proptest! {
        /// Under any reports of a peer, only packets that were sent are sent again, at most once per report.
        #[test]
        fn any_report_is_bounded(reports in prop::collection::vec((any::<u64>(), 0..200u64, any::<bool>()), 0..50)) {
            let mut repairs = Repairs::default();
            let now = Time::ZERO + Duration::from_secs(1);
            for counter in 0..100 {
                repairs.keep(place(counter), ((), 1), now, now);
            }
            for (behind, counter, far) in reports {
                let first = place(if far { u64::MAX - counter } else { counter });
                repairs.on_missing(&Missing { first, behind }, now);
            }
            prop_assert!(repairs.len() + repairs.kept.len() as u64 == 100);
        }
    }
}
