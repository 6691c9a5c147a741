//! Copa's modes and its competitive δ, round trip by round trip [Arun18 §2.2].

mod common;

use accord_control::copa::Config;
use accord_control::{Acked, Congestion, Controller, Copa, PathView};
use accord_units::{Bytes, Duration, Time};
use common::{ACK, PACKET, path};

/// A flow that uses its window. Its acknowledgements come 4 ms apart, but for two at the start.
struct Flow {
    copa: Copa,
    now: Time,
}

impl Flow {
    /// The base round-trip time of 100 ms and a gap of 1 ms between packets are known, and slow start is over.
    fn new() -> Flow {
        let config = Config {
            initial_window: accord_units::Size::Packets(200.0),
            ..Config::default()
        };
        let copa = config.build(Bytes::new(PACKET)).expect("the defaults");
        let mut flow = Flow {
            copa,
            now: Time::ZERO + Duration::from_ms(500),
        };
        flow.ack(1, 100, false);
        flow.ack(1, 100, false);
        flow.ack(4, 160, false);
        flow
    }

    fn ack(&mut self, after: u64, rtt: u64, round_ended: bool) {
        self.now += Duration::from_ms(after);
        let rtt = Duration::from_ms(rtt);
        let ack = Acked {
            rtt: Some(rtt),
            round_ended,
            ..ACK
        };
        let view = PathView {
            srtt: Duration::from_ms(140),
            rtt,
            ..path(1000)
        };
        self.copa.on_ack(&ack, &view, self.now);
    }

    /// A round trip of 140 ms with this round-trip time throughout. Gives 1/δ if the flow competes at its end.
    fn round(&mut self, rtt: u64) -> Option<f64> {
        for i in 1..=35 {
            self.ack(4, rtt, i == 35);
        }
        (self.copa.is_competing()).then(|| (1.0 / self.copa.delta() * 1e6).round() / 1e6)
    }

    fn lose(&mut self) {
        self.copa
            .on_congestion(Congestion::Loss, &path(0), self.now);
    }
}

/// A queue that was not nearly empty for five round trips is that of others. 1/δ grows by one per round trip,
/// halves in one with losses, and is the default's at least. A nearly empty queue ends it.
#[test]
fn the_competitive_mode_is_aimd_of_one_over_delta() {
    let mut flow = Flow::new();
    // 160 ms: a queue of 60 ms. RTTstanding is still 100 ms in the first half of the first of these.
    flow.round(100);
    for round in 0..5 {
        assert_eq!(flow.round(160), None, "round {round}");
    }
    let grown: Vec<_> = (0..9).map(|_| flow.round(160)).collect();
    let expected: Vec<_> = (2..11).map(|n| Some(f64::from(n))).collect();
    assert_eq!(grown, expected);
    // Several losses of a round trip are one.
    flow.lose();
    flow.lose();
    assert_eq!(flow.round(160), Some(5.0));
    assert_eq!(flow.round(160), Some(6.0));
    for expected in [3.0, 2.0, 2.0] {
        flow.lose();
        assert_eq!(flow.round(160), Some(expected));
    }
    assert_eq!(flow.round(160), Some(3.0));
    // Empty once is enough.
    assert_eq!(flow.round(100), None);
    assert_eq!(flow.copa.delta(), 0.5);
    for _ in 0..5 {
        assert_eq!(flow.round(160), None);
    }
    assert_eq!(flow.round(160), Some(2.0));
}

/// A loss in the default mode changes nothing.
#[test]
fn the_default_mode_does_not_hear_losses() {
    let mut flow = Flow::new();
    flow.round(100);
    let mut other = Flow::new();
    other.round(100);
    flow.lose();
    assert_eq!(flow.round(101), other.round(101));
    assert_eq!(flow.copa.delta(), 0.5);
    assert_eq!(flow.copa.cwnd(), other.copa.cwnd());
}

/// Nearly empty is less than a tenth of RTTmax − RTTmin, with RTTmax of four round trips.
#[test]
fn nearly_empty_is_a_tenth_of_the_swing_of_four_round_trips() {
    for (rtt, competes) in [(109, false), (111, true)] {
        let mut flow = Flow::new();
        // RTTmax is 200 ms in each round trip but for the last samples of it.
        let mut last = None;
        for _ in 0..8 {
            for i in 1..=35 {
                flow.ack(4, if i == 1 { 200 } else { rtt }, i == 35);
            }
            last = Some(flow.copa.is_competing());
        }
        assert_eq!(last, Some(competes), "{rtt}");
    }
    // 200 ms once: 109 ms is nearly empty for four round trips more, and then no longer. Five after these
    // the flow competes.
    let mut flow = Flow::new();
    flow.round(200);
    let rounds = (1..20).find(|_| flow.round(109).is_some());
    assert_eq!(rounds, Some(4 + 5));
}

/// A flow that is not to compete does not.
#[test]
fn compete_may_be_switched_off() {
    let config = Config {
        compete: false,
        ..Config::default()
    };
    let mut flow = Flow::new();
    flow.copa = config.build(Bytes::new(PACKET)).expect("in range");
    flow.round(100);
    for _ in 0..20 {
        assert_eq!(flow.round(160), None);
    }
}

/// RTTstanding is the smallest sample of half of the smoothed round-trip time: 70 of 140 ms. The pace is twice
/// the window over it.
#[test]
fn the_standing_round_trip_time_is_of_half_a_round_trip() {
    let mut flow = Flow::new();
    flow.round(100);
    // The last sample of 100 ms counts for 70 ms more.
    for ms in (4..100).step_by(4) {
        flow.ack(4, 150, false);
        let a = flow.copa.allowance();
        let standing = 2.0 * a.window.as_f64() * 8.0 / a.pacing.expect("it paces").as_bps_f64();
        let expected = if ms <= 70 { 0.1 } else { 0.15 };
        assert!((standing / expected - 1.0).abs() < 1e-4, "{ms}: {standing}");
    }
}
