//! Vegas with REM on a path of a given price: each packet comes back marked with
//! probability 1 − φ^(−p), and nothing queues.

use crate::common::{ACK, PACKET, build, family, path, text, window};
use accord_control::estimator::MarkEstimator;
use accord_control::{Acked, AnyController, Congestion, Controller, Marks};
use accord_family::Raw;
use accord_units::{Bytes, Duration, Time};

/// splitmix64.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// The mean window in packets after rounds of 100 ms, in which the share `unmarked` of
/// packets carries no mark.
fn settled(c: &mut AnyController, unmarked: f64) -> f64 {
    let mut random = 1;
    let mut sum = 0.0;
    for round in 0..2000 {
        for i in 0..window(c) as u64 {
            let ack = Acked {
                round_ended: i == 0,
                marked: u64::from(uniform(&mut random) >= unmarked),
                ..ACK
            };
            c.on_ack(&ack, &path(0), Time::ZERO);
        }
        if round >= 1000 {
            sum += window(c);
        }
    }
    sum / 1000.0
}

/// x·p = α·d: 2 packets at a price of 4 ms are 0.5 packets/ms, 50 packets in 100 ms;
/// 0.1 packets/ms × 100 ms at 8 ms are 1.25 packets/ms, 125 packets.
#[test]
fn the_rate_is_the_target_over_the_price() {
    let amount = vec![("alpha", text("2 pkt"))];
    let rate = vec![("alpha_rate", text("100 KB/s"))];
    for (changes, price, expected) in [(amount, 4, 50.0), (rate, 8, 125.0)] {
        let mut changes = changes;
        changes.extend([
            ("memory", Raw::Integer(1000)),
            // Without a queue slow start would not end.
            ("initial_window", text("20 pkt")),
        ]);
        let mut c = build("vegas-rem", &changes);
        c.on_congestion(Congestion::Loss, &path(40), Time::ZERO);
        let got = settled(&mut c, 1.1f64.powi(-price));
        assert!((got / expected - 1.0).abs() < 0.04, "{got} of {expected}");
    }
}

#[test]
fn marks_are_a_price_and_losses_are_losses() {
    let mut c = build("vegas-rem", &[("initial_window", text("20 pkt"))]);
    assert_eq!(c.capabilities().marks, Marks::Price);
    c.on_congestion(Congestion::Loss, &path(20), Time::ZERO);
    assert_eq!(window(&c), 10.0);
}

/// Half marked at φ = 1.1 is a price of ln 2 / ln 1.1 = 7.2725 ms.
#[test]
fn the_price_is_the_logarithm_of_the_unmarked_share() {
    let mut marks = MarkEstimator::new(1.1, 1_000_000);
    for _ in 0..50 {
        marks.on_ack(1.0, 1.0);
        marks.on_ack(1.0, 0.0);
    }
    assert!((marks.share() - 0.5).abs() < 1e-12);
    assert!((marks.price() - 7.272_54).abs() < 1e-5);
}

/// A change shows after as many packets as the memory has: (1 − 1/64)^64 = 0.365 of the old share
/// is left.
#[test]
fn the_share_forgets() {
    let mut marks = MarkEstimator::new(1.1, 64);
    for _ in 0..1000 {
        marks.on_ack(1.0, 1.0);
    }
    assert_eq!(marks.price(), f64::INFINITY);
    for _ in 0..64 {
        marks.on_ack(1.0, 0.0);
    }
    assert!((marks.share() - 0.365).abs() < 1e-3, "{}", marks.share());
}

/// Duplicate acknowledgements report marks before they report packets.
#[test]
fn marks_of_duplicate_acknowledgements_are_not_lost() {
    let mut marks = MarkEstimator::new(1.1, 1000);
    for _ in 0..4 {
        marks.on_ack(0.0, 1.0);
    }
    marks.on_ack(8.0, 0.0);
    assert!((marks.share() - 0.5).abs() < 1e-12);
}

#[test]
fn amount_and_rate_exclude_each_other() {
    let mut values = family("vegas-rem").defaults();
    values.set("alpha", &text("2 pkt")).expect("a size");
    values.set("alpha_rate", &text("1 Mbps")).expect("a rate");
    assert!((family("vegas-rem").check)(&values).is_err());
}

/// Losses, idle times and estimates are Vegas's.
#[test]
fn the_rest_is_as_in_vegas() {
    let mut c = build("vegas-rem", &[]);
    assert_eq!((c.ssthresh(), c.base_rtt_estimate()), (None, None));
    c.on_congestion(Congestion::Loss, &path(20), Time::ZERO);
    let half = Some(Bytes::new(10 * PACKET));
    assert_eq!((window(&c), c.ssthresh()), (10.0, half));
    for ms in [100, 200, 200] {
        let ack = Acked {
            rtt: Some(Duration::from_ms(ms)),
            round_ended: true,
            window_limited: false,
            ..ACK
        };
        c.on_ack(&ack, &path(10), Time::ZERO);
    }
    assert_eq!(c.base_rtt_estimate(), Some(Duration::from_ms(100)));
    assert_eq!(c.accumulation_estimate(), Some(5.0 * PACKET as f64));
    c.on_idle();
    assert_eq!((window(&c), c.ssthresh()), (2.0, half));
    let mut told = build("vegas-rem", &[("base_rtt", text("known"))]);
    told.set_base_rtt(Duration::from_ms(70));
    assert_eq!(told.base_rtt_estimate(), Some(Duration::from_ms(70)));
}
