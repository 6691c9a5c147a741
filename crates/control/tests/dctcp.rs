//! DCTCP against RFC 8257, step by step. The transport's tests run it on a path.

use crate::common::{ACK, PACKET, path};
use accord_control::dctcp::Config;
use accord_control::{Acked, Congestion, Controller, Dctcp};
use accord_units::{Bytes, Size, Time};

fn dctcp() -> Dctcp {
    Config::default().build(Bytes::new(PACKET)).expect("defaults")
}

/// A window of `n` packets of which `marked` are.
fn observe(c: &mut Dctcp, n: u64, marked: u64) {
    for i in 0..n {
        let ack = Acked {
            round_ended: i == n - 1,
            marked: u64::from(i < marked),
            in_recovery: true,
            ..ACK
        };
        c.on_ack(&ack, &path(0), Time::ZERO);
    }
}

#[test]
fn alpha_is_the_average_share_of_marks() {
    let mut c = dctcp();
    assert_eq!(c.alpha(), 1.0);
    observe(&mut c, 10, 0);
    assert_eq!(c.alpha(), 15.0 / 16.0);
    // 15/16·15/16 + 1/16·4/10.
    observe(&mut c, 10, 4);
    assert!((c.alpha() - (225.0 / 256.0 + 0.025)).abs() < 1e-12);
    // A share that stays is the limit.
    for _ in 0..200 {
        observe(&mut c, 10, 4);
    }
    assert!((c.alpha() - 0.4).abs() < 1e-4);
}

#[test]
fn a_mark_costs_half_of_alpha() {
    let config =
        Config { initial_alpha: 0.25, initial_window: Size::Packets(80.0), ..Config::default() };
    let mut c = config.build(Bytes::new(PACKET)).expect("in range");
    c.on_congestion(Congestion::Ecn, &path(80), Time::ZERO);
    // 80·(1 − 0.125).
    assert_eq!(c.cwnd(), Bytes::new(70 * PACKET));
    assert_eq!(c.ssthresh(), Some(Bytes::new(70 * PACKET)));
    // Growth is a packet per window.
    for _ in 0..70 {
        c.on_ack(&ACK, &path(0), Time::ZERO);
    }
    let grown = c.cwnd().as_f64() / PACKET as f64;
    assert!((grown - 71.0).abs() < 0.02, "{grown}");
    // A loss halves, whatever alpha [RFC 8257 §3.5].
    c.on_congestion(Congestion::Loss, &path(70), Time::ZERO);
    assert_eq!(c.cwnd(), Bytes::new(35 * PACKET));
}
