//! Tests CoDel against the times of its control law and the pseudocode of RFC 8289.

use crate::common::{DATA, queue, values};
use accord_aqm::{Aqm, Codel, Ecn, PacketMeta, QueueView, Verdict};
use accord_family::Raw;
use accord_units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;
use std::collections::VecDeque;

fn codel() -> Codel {
    Codel::new(&values("codel", &[]))
}

fn ms(ms: f64) -> Time {
    Time::from_secs_f64(ms * 1e-3)
}

const LATE: Duration = Duration::from_ms(6);
const EARLY: Duration = Duration::from_us(4999);

const CAPABLE: PacketMeta = PacketMeta { ecn: Ecn::Capable, ..DATA };

/// Packets leave every 100 µs from `from` to `to` milliseconds, each of them late and with 50
/// behind it. The times of those that are not passed, in milliseconds.
fn signals(codel: &mut Codel, packet: &PacketMeta, from: u64, to: u64) -> Vec<f64> {
    (from * 10..to * 10)
        .map(|k| k as f64 / 10.0)
        .filter(|t| codel.on_departure(packet, LATE, &queue(50), ms(*t)) != Verdict::Pass)
        .collect()
}

/// The first drop an interval after the delay rose above the target, then intervals of 100 ms
/// divided by √1, √2, √3, ...: 100, 200, 270.71, 328.45, 378.45, 423.17, 463.99, 501.79,
/// 537.14, each at the next packet.
#[test]
fn drops_are_spaced_by_the_inverse_square_root_of_their_count() {
    let expected = [100.0, 200.0, 270.8, 328.5, 378.5, 423.2, 464.0, 501.8, 537.2];
    assert_eq!(signals(&mut codel(), &DATA, 0, 560), expected);
}

#[test]
fn nothing_is_dropped_before_an_interval_of_delay() {
    let mut codel = codel();
    assert!(signals(&mut codel, &DATA, 0, 100).is_empty());
    // One timely packet restarts the interval.
    let verdict = codel.on_departure(&DATA, EARLY, &queue(50), ms(100.0));
    assert_eq!(verdict, Verdict::Pass);
    assert_eq!(signals(&mut codel, &DATA, 101, 300), [201.0]);
}

/// RFC 8289 §5.6: a sojourn time of the target itself is above it.
#[test]
fn a_delay_of_the_target_is_late() {
    for (us, expected) in [(4999, None), (5000, Some(100))] {
        let mut codel = codel();
        let sojourn = Duration::from_us(us);
        let first = (0..200u64).find(|t| {
            codel.on_departure(&DATA, sojourn, &queue(50), ms(*t as f64)) == Verdict::Drop
        });
        assert_eq!(first, expected, "{us}");
    }
}

/// On a link where a packet takes longer than the target every packet is late.
#[test]
fn a_backlog_of_one_packet_is_never_late() {
    let mut codel = codel();
    for k in 0..100u64 {
        // None behind, then one.
        let verdict = codel.on_departure(&DATA, LATE * 10, &queue(k % 2), ms(10.0 * k as f64));
        assert_eq!(verdict, Verdict::Pass);
    }
    // Two are.
    assert_eq!(signals(&mut codel, &DATA, 1000, 1150), [1100.0]);
}

/// Five drops are followed by a timely packet. If packets are soon late again, drops continue at
/// the pace of the four after the first (100 ms / √4). After 16 intervals they begin at one.
#[test]
fn dropping_that_resumes_soon_keeps_its_rate() {
    for (pause, second) in [(100, 50.0), (1700, 100.0)] {
        let mut codel = codel();
        assert_eq!(signals(&mut codel, &DATA, 0, 400).len(), 5);
        codel.on_departure(&DATA, EARLY, &queue(50), ms(400.0));
        let again = 400 + pause;
        let times = signals(&mut codel, &DATA, again, again + 210);
        let from = again as f64 + 100.0;
        assert_eq!(times[..2], [from, from + second], "{pause}");
    }
}

/// If a packet leaves only every 300 ms, drops are overdue. They come at once, until the next one
/// is due later. A mark can only be one of those.
#[test]
fn overdue_drops_come_together_and_marks_do_not() {
    let late = |codel: &mut Codel, packet, t| codel.on_departure(packet, LATE, &queue(50), ms(t));
    let (mut drops, mut marks) = (codel(), codel());
    // 300 | 400 470.7 528.5 578.5 | 623.2 664.0 701.8 737.1 770.5 802.1 832.3 861.1 888.9
    for (t, overdue) in [(0.0, 0), (300.0, 1), (600.0, 4), (900.0, 9)] {
        let mut n = 0;
        while late(&mut drops, &DATA, t) == Verdict::Drop {
            n += 1;
        }
        assert_eq!(n, overdue, "{t}");
        let verdict = late(&mut marks, &CAPABLE, t);
        assert_eq!(verdict == Verdict::Mark, t > 0.0);
    }
}

#[test]
fn without_ecn_it_drops_what_could_be_marked() {
    let mut codel = Codel::new(&values("codel", &[("ecn", Raw::Flag(false))]));
    codel.on_departure(&CAPABLE, LATE, &queue(50), ms(0.0));
    let verdict = codel.on_departure(&CAPABLE, LATE, &queue(50), ms(100.0));
    assert_eq!(verdict, Verdict::Drop);
}

/// The dequeue of RFC 8289 §5.5 and §5.6 with its loops, over its own queue: (arrival, size) in
/// picoseconds and bytes.
#[derive(Default)]
struct Pseudocode {
    queue: VecDeque<(u64, u64)>,
    bytes: u64,
    largest: u64,
    first_above: u64,
    drop_next: u64,
    count: u32,
    last_count: u32,
    dropping: bool,
}

const TARGET: u64 = 5_000_000_000;
const INTERVAL: u64 = 100_000_000_000;

impl Pseudocode {
    fn take(&mut self, now: u64) -> (Option<u64>, bool) {
        let Some((came, size)) = self.queue.pop_front() else {
            self.first_above = 0;
            return (None, false);
        };
        self.bytes -= size;
        self.largest = self.largest.max(size);
        if now - came < TARGET || self.bytes <= self.largest {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now + INTERVAL;
        } else if now >= self.first_above {
            return (Some(came), true);
        }
        (Some(came), false)
    }

    fn law(&self, t: u64) -> u64 {
        t + (INTERVAL as f64 / f64::from(self.count).sqrt()).round() as u64
    }

    /// The arrival time of the packet that is sent.
    fn dequeue(&mut self, now: u64) -> Option<u64> {
        let (mut packet, mut ok) = self.take(now);
        if self.dropping {
            self.dropping = ok;
            while now >= self.drop_next && self.dropping {
                self.count += 1;
                (packet, ok) = self.take(now);
                if ok {
                    self.drop_next = self.law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok {
            packet = self.take(now).0;
            self.dropping = true;
            let delta = self.count - self.last_count;
            let recent = now < self.drop_next + 16 * INTERVAL;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = self.law(now);
            self.last_count = self.count;
        }
        packet
    }
}

proptest! {
    /// Bursts arrive and packets leave at random times. The same packets are dropped.
    #[test]
    fn it_drops_the_same_packets_as_the_pseudocode(
        steps in prop::collection::vec((0..40_000_000_000u64, 0..9usize, 0..4usize), 1..600),
    ) {
        let mut rfc = Pseudocode::default();
        let mut codel = codel();
        let mut queued: VecDeque<(u64, u64)> = VecDeque::new();
        let mut now = 1;
        for (i, (gap, arrivals, departures)) in steps.into_iter().enumerate() {
            now += gap;
            // Sparse traffic for a while, then an overload.
            let arrivals = if i % 300 < 200 { arrivals } else { arrivals / 4 };
            for k in 0..arrivals {
                let packet = (now, 500 + 100 * k as u64);
                queued.push_back(packet);
                rfc.queue.push_back(packet);
                rfc.bytes += packet.1;
            }
            for _ in 0..departures {
                let expected = rfc.dequeue(now);
                let got = loop {
                    let Some((came, size)) = queued.pop_front() else {
                        break None;
                    };
                    let packet = PacketMeta { size: Bytes::new(size), ..DATA };
                    let behind = QueueView {
                        packets: queued.len() as u64,
                        bytes: Bytes::new(queued.iter().map(|p| p.1).sum()),
                        rate: Rate::from_bps(10_000_000),
                        capacity: None,
                    };
                    let sojourn = Duration::from_ps(now - came);
                    let at = Time::from_ps(now);
                    if codel.on_departure(&packet, sojourn, &behind, at) == Verdict::Pass {
                        break Some(came);
                    }
                };
                prop_assert_eq!(got, expected);
                prop_assert_eq!(queued.len(), rfc.queue.len());
            }
        }
    }
}
