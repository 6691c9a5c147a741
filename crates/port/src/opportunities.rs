//! A line that sends at delivery opportunities only, as mahimahi's link shell does.
//!
//! At each opportunity a number of bytes leave: the rest of a packet, then bytes of the packets
//! behind it. A packet has left when its last byte has left. Unused bytes of an opportunity are
//! lost. An opportunity serves packets that arrived before it. A packet that arrives at an idle
//! line at the very instant of an opportunity waits for the next one.

use accord_units::{Bytes, Duration, Time};
use std::sync::Arc;

/// Delivery opportunities, which repeat forever, and the state of the packet in service.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    /// The times of one round in milliseconds, in order. The last one is the length of a round.
    times: Arc<[u32]>,
    /// The bytes that leave at each opportunity.
    bytes: u64,
    /// The next opportunity: its round, and its index in the round.
    round: u64,
    place: usize,
    /// The rest of the previous opportunity, in bytes, as of the end of the packet served last.
    left: u64,
    /// The packet in service, for [`Opportunities::unsent`].
    serving: Serving,
}

#[derive(Clone, Copy, Debug, Default)]
struct Serving {
    /// The bytes that the packet needed beyond the rest of the previous opportunity.
    needs: u64,
    /// The first opportunity of the packet.
    round: u64,
    place: usize,
}

impl Opportunities {
    /// Creates the opportunities of a trace.
    ///
    /// # Panics
    /// Panics if the trace has no length.
    pub fn new(times: Arc<[u32]>, bytes: Bytes) -> Opportunities {
        assert!(times.last() > Some(&0), "a trace has a length");
        let mut all = Opportunities {
            times,
            bytes: bytes.get(),
            round: 0,
            place: 0,
            left: 0,
            serving: Serving::default(),
        };
        all.skip(Time::ZERO);
        all
    }

    /// Serves a packet of `size` from `now` on. `busy_until` is the departure of the previous
    /// packet. Returns the departure of this one.
    pub fn send(&mut self, now: Time, busy_until: Time, size: Bytes) -> Time {
        if now > busy_until {
            self.left = 0;
            self.skip(now);
        }
        let mut end = busy_until;
        let mut needs = size.get();
        let taken = self.left.min(needs);
        (self.left, needs) = (self.left - taken, needs - taken);
        self.serving = Serving { needs, round: self.round, place: self.place };
        while needs > 0 {
            end = self.time(self.round, self.place);
            self.advance();
            self.left = self.bytes.saturating_sub(needs);
            needs = needs.saturating_sub(self.bytes);
        }
        end
    }

    /// Returns the bytes of the packet in service that have not left by `now`.
    pub fn unsent(&self, now: Time) -> u64 {
        let Serving { mut needs, mut round, mut place } = self.serving;
        while needs > 0 && self.time(round, place) <= now {
            needs = needs.saturating_sub(self.bytes);
            (round, place) = self.next(round, place);
        }
        needs
    }

    /// Passes over the opportunities up to `now`.
    fn skip(&mut self, now: Time) {
        let length = Duration::from_ms(self.times[self.times.len() - 1].into()).as_ps();
        let round = now.as_ps() / length;
        if round > self.round {
            (self.round, self.place) = (round, 0);
        }
        // The end of one round is the start of the next, and there may be opportunities at both.
        while self.time(self.round, self.place) <= now {
            let (round, place) = (self.round, self.place);
            let rest = &self.times[place..];
            let past = rest.partition_point(|&t| at(round, length, t) <= now);
            self.place += past;
            if self.place == self.times.len() {
                (self.round, self.place) = (self.round + 1, 0);
            }
        }
    }

    fn advance(&mut self) {
        (self.round, self.place) = self.next(self.round, self.place);
    }

    fn next(&self, round: u64, place: usize) -> (u64, usize) {
        if place + 1 == self.times.len() { (round + 1, 0) } else { (round, place + 1) }
    }

    fn time(&self, round: u64, place: usize) -> Time {
        let length = Duration::from_ms(self.times[self.times.len() - 1].into()).as_ps();
        at(round, length, self.times[place])
    }
}

/// Returns the instant that is `time` milliseconds into a round.
fn at(round: u64, length: u64, time: u32) -> Time {
    let start = round.saturating_mul(length);
    Time::from_ps(start) + Duration::from_ms(time.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// Opportunities of 1504 bytes at 2, 3, 3, 10 ms, then 12, 13, 13, 20 and so on.
    fn four() -> Opportunities {
        Opportunities::new([2, 3, 3, 10].into(), Bytes::new(1504))
    }

    /// Worked out by hand: 1000 + 504 bytes leave at 2 ms. The other 496 of the second packet and
    /// all of the third leave at 3 ms, which leaves 8 bytes. These and 992 of the second
    /// opportunity at 3 ms are the fourth packet.
    #[test]
    fn packets_that_wait_share_opportunities() {
        let mut line = four();
        let size = Bytes::new(1000);
        let mut busy = Time::ZERO;
        let ends: Vec<Time> = (0..6)
            .map(|i| {
                let now = if i == 0 { ms(1) } else { busy };
                busy = line.send(now, busy, size);
                busy
            })
            .collect();
        // 1504, 3008, 4512, 6016 bytes have left by the four opportunities.
        assert_eq!(ends, [ms(2), ms(3), ms(3), ms(3), ms(10), ms(10)]);
    }

    #[test]
    fn a_large_packet_takes_several() {
        let mut line = four();
        // Four opportunities are 6016 bytes, so this one needs the first of the second round.
        let end = line.send(ms(0), Time::ZERO, Bytes::new(7000));
        assert_eq!(end, ms(12));
        assert_eq!(line.unsent(ms(1)), 7000);
        assert_eq!(line.unsent(ms(2)), 5496);
        assert_eq!(line.unsent(ms(3)), 2488);
        assert_eq!(line.unsent(ms(11)), 984);
        assert_eq!(line.unsent(ms(12)), 0);
    }

    #[test]
    fn what_an_idle_line_does_not_use_is_lost() {
        let mut line = four();
        let size = Bytes::new(700);
        let first = line.send(ms(1), Time::ZERO, size);
        assert_eq!(first, ms(2));
        // The rest of the opportunity at 2 ms is lost, and an arrival at 3 ms is too late for 3 ms.
        let second = line.send(ms(3), first, size);
        assert_eq!(second, ms(10));
        // 1504 - 700 bytes are left for a packet that waits.
        assert_eq!(line.send(second, second, size), ms(10));
        assert_eq!(line.send(ms(1_000_000_001), second, size), ms(1_000_000_002));
    }

    #[test]
    fn a_round_may_begin_at_its_start() {
        let mut line = Opportunities::new([0, 5].into(), Bytes::new(1504));
        let size = Bytes::new(1504);
        // 0 and 5, then 5 and 10, then 10 and 15: an arrival at 0 misses the first.
        let mut busy = Time::ZERO;
        let mut ends = Vec::new();
        for _ in 0..5 {
            let now = busy.max(Time::from_ps(1));
            busy = line.send(now, busy, size);
            ends.push(busy);
        }
        assert_eq!(ends, [ms(5), ms(5), ms(10), ms(10), ms(15)]);
    }
}
