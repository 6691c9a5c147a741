//! The retransmission timer, by hand.

use accord_transport::RoundTrip;
use accord_units::Duration;

const NONE: Duration = Duration::ZERO;

fn secs(s: f64) -> Duration {
    Duration::from_secs_f64(s)
}

/// RFC 6298 §2 for samples of 1 s, 2 s, 1 s, worked out on paper:
///
/// | R | RTTVAR | SRTT | RTO = SRTT + 4 RTTVAR |
/// |---|---|---|---|
/// | 1 | 1/2 | 1 | 3 |
/// | 2 | 3/4·1/2 + 1/4·1 = 0.625 | 7/8 + 2/8 = 1.125 | 3.625 |
/// | 1 | 3/4·0.625 + 1/4·0.125 = 0.5 | 7/8·1.125 + 1/8 = 1.109375 | 3.109375 |
#[test]
fn the_timer_follows_rfc_6298() {
    let mut rtt = RoundTrip::new(NONE, 16);
    assert_eq!(rtt.timeout(), secs(1.0), "before the first sample [§2.1]");
    let worked = [(1.0, 1.0, 3.0), (2.0, 1.125, 3.625), (1.0, 1.109375, 3.109375)];
    for (sample, smoothed, timeout) in worked {
        rtt.sample(secs(sample));
        assert_eq!(rtt.smoothed(), secs(smoothed));
        assert_eq!(rtt.timeout(), secs(timeout));
        assert_eq!(rtt.latest(), secs(sample));
    }
    assert_eq!(rtt.min(), secs(1.0));
}

#[test]
fn it_doubles_up_to_a_minute_until_the_next_sample() {
    let mut rtt = RoundTrip::new(NONE, 16);
    rtt.sample(secs(1.0));
    for timeout in [6.0, 12.0, 24.0, 48.0, 60.0, 60.0] {
        rtt.back_off();
        assert_eq!(rtt.timeout(), secs(timeout), "[§5.5, §2.5]");
    }
    for _ in 0..100 {
        rtt.back_off();
    }
    assert_eq!(rtt.timeout(), secs(60.0));
    rtt.sample(secs(1.0));
    // SRTT 1 s, RTTVAR 3/8 s.
    assert_eq!(rtt.timeout(), secs(2.5));
}

#[test]
fn it_has_a_floor_and_a_ceiling() {
    let mut rtt = RoundTrip::new(secs(0.2), 3);
    for _ in 0..50 {
        rtt.sample(secs(0.001));
    }
    assert_eq!(rtt.timeout(), secs(0.2));
    // The fine-grained timer has no floor, and variation has died away.
    assert!(rtt.fine_timeout() < secs(0.0011), "{}", rtt.fine_timeout());
    for _ in 0..10 {
        rtt.back_off();
    }
    assert_eq!(rtt.timeout(), secs(1.6), "three doublings at most");
    rtt.sample(Duration::MAX);
    assert_eq!(rtt.timeout(), secs(60.0));
}
