//! Copa's modes and its competitive δ, round trip by round trip [Arun18 §2.2].

use crate::common::{ACK, PACKET, path};
use accord_control::copa::Config;
use accord_control::{Acked, Congestion, Controller, Copa, PathView};
use accord_units::{Bytes, Duration, Time};

/// A flow that uses its window. Its acknowledgements come 4 ms apart, but for two at the start.
struct Flow {
    copa: Copa,
    now: Time,
}

impl Flow {
    /// The base round-trip time of 100 ms and a gap of 1 ms between packets are known, and slow start is over.
    fn new() -> Flow {
        let config =
            Config { initial_window: accord_units::Size::Packets(200.0), ..Config::default() };
        let copa = config.build(Bytes::new(PACKET)).expect("the defaults");
        let mut flow = Flow { copa, now: Time::ZERO + Duration::from_ms(500) };
        flow.ack(1, 100, false);
        flow.ack(1, 100, false);
        flow.ack(4, 160, false);
        flow
    }

    fn ack(&mut self, after: u64, rtt: u64, round_ended: bool) {
        self.now += Duration::from_ms(after);
        let rtt = Duration::from_ms(rtt);
        let ack = Acked { rtt: Some(rtt), round_ended, ..ACK };
        let view = PathView { srtt: Duration::from_ms(140), rtt, ..path(1000) };
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
        self.copa.on_congestion(Congestion::Loss, &path(0), self.now);
    }
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

/// A flow that is not to compete does not.
#[test]
fn compete_may_be_switched_off() {
    let config = Config { compete: false, ..Config::default() };
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
