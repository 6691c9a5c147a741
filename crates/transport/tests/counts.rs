//! The receiving end of a tunnel: the data that it answers by a count.

use accord_control::{Estimator, Meter};
use accord_transport::{Segment, tunnel};
use accord_units::{Bytes, Duration, Time};

const PACKET: Bytes = Bytes::new(1000);

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

struct Egress {
    egress: tunnel::Egress,
    pair: u64,
    received: u64,
}

impl Egress {
    fn new(counts: f64) -> Egress {
        let meter = Meter::new(1.0, Estimator::Monaco, false);
        Egress { egress: tunnel::Egress::new(meter, counts), pair: 0, received: 0 }
    }

    /// A packet arrives each millisecond, from `from` on and before `until`. Returns the times of
    /// the counts, each of which has to include all data received by then.
    fn data(&mut self, from: u64, until: u64) -> Vec<u64> {
        let mut counted = Vec::new();
        for ms in from..until {
            self.received += PACKET.get();
            match self.egress.on_data(PACKET, 0.25, at(ms)) {
                Some(Segment::Count { received, virtual_s }) => {
                    assert_eq!((received, virtual_s), (self.received, 0.25));
                    counted.push(ms);
                }
                Some(other) => panic!("{other:?}"),
                None => {}
            }
        }
        counted
    }

    /// Both halves of the next pair arrive.
    fn pair(&mut self, ms: u64) {
        self.pair += 1;
        self.egress.on_out_of_band(self.pair, at(ms), at(ms));
        let report =
            (self.egress).on_in_band(self.pair, self.received, Duration::ZERO, None, at(ms));
        assert!(matches!(report, Some(Segment::Report { .. })), "{report:?}");
    }
}

/// The distance of two pairs is the round trip. Without it no distance of counts is known.
#[test]
fn each_packet_is_answered_until_two_pairs_have_arrived() {
    let mut e = Egress::new(4.0);
    assert_eq!(e.data(0, 50), (0..50).collect::<Vec<_>>());
    e.pair(50);
    assert_eq!(e.data(50, 150), (50..150).collect::<Vec<_>>());
    e.pair(150);
    assert_eq!(e.data(150, 160), [0; 0]);
}

/// Pairs are 100 ms apart, so counts are 25 ms apart. The report that answers a pair is one of the
/// four answers of a round trip.
#[test]
fn there_are_m_answers_per_round_trip() {
    let mut e = Egress::new(4.0);
    e.pair(0);
    e.pair(100);
    assert_eq!(e.data(100, 200), [125, 150, 175]);
    e.pair(200);
    assert_eq!(e.data(200, 300), [225, 250, 275]);
    // A pair that is late changes nothing until it is there.
    assert_eq!(e.data(300, 400), [300, 325, 350, 375]);
}

/// The times between counts are at least the spacing. A count that waited for its packet does not
/// bring the next one forward.
#[test]
fn a_count_waits_for_a_packet() {
    let mut e = Egress::new(4.0);
    e.pair(0);
    e.pair(100);
    assert_eq!(e.data(140, 141), [140]);
    assert_eq!(e.data(150, 200), [165, 190]);
}

/// The pairs of a tunnel that paused, or that lost some, are far apart.
#[test]
fn the_spacing_at_most_doubles_from_pair_to_pair() {
    let mut e = Egress::new(4.0);
    e.pair(0);
    e.pair(100);
    e.pair(10_100);
    // 50 ms in place of 2.5 s.
    assert_eq!(e.data(10_100, 10_300), [10_150, 10_200, 10_250]);
    // It shrinks at once.
    e.pair(10_300);
    e.pair(10_320);
    assert_eq!(e.data(10_320, 10_336), [10_325, 10_330, 10_335]);
    // 4 · 5 ms are a round trip of 20 ms: it goes to 10, 20 and 25 ms.
    e.pair(10_420);
    assert_eq!(e.data(10_420, 10_450), [10_430, 10_440]);
    e.pair(10_520);
    assert_eq!(e.data(10_520, 10_570), [10_540, 10_560]);
    e.pair(10_620);
    assert_eq!(e.data(10_620, 10_680), [10_645, 10_670]);
}

/// A thousand counts per round trip of 100 ms would be one per 0.1 ms. Packets arrive 1 ms apart.
#[test]
fn there_is_at_most_one_count_per_packet() {
    let mut e = Egress::new(1000.0);
    e.pair(0);
    e.pair(100);
    assert_eq!(e.data(101, 151), (101..151).collect::<Vec<_>>());
    // Packets that arrive together share a count.
    let (mut e, mut counts) = (Egress::new(1000.0), 0);
    e.pair(0);
    e.pair(100);
    for _ in 0..10 {
        counts += u32::from(e.egress.on_data(PACKET, 0.0, at(101)).is_some());
    }
    assert_eq!(counts, 1);
}

/// Copies of a pair, and pairs without their other half, do not measure the round trip.
#[test]
fn only_complete_pairs_move_the_schedule() {
    let mut e = Egress::new(4.0);
    e.pair(0);
    e.pair(100);
    let mut copy = |pair, ms| {
        e.egress.on_out_of_band(pair, at(ms), at(ms));
        (e.egress).on_in_band(pair, 0, Duration::ZERO, None, at(ms))
    };
    assert_eq!(copy(2, 110), None);
    assert_eq!(copy(1, 115), None);
    e.egress.on_out_of_band(3, at(120), at(120));
    assert_eq!(e.data(120, 200), [125, 150, 175]);
}

#[test]
fn a_schedule_of_no_counts_has_none() {
    let mut e = Egress::new(0.0);
    assert_eq!(e.data(0, 100), [0; 0]);
    e.pair(100);
    e.pair(200);
    e.pair(300);
    assert_eq!(e.data(300, 1000), [0; 0]);
}
