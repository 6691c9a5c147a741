//! CUBIC's time while the application is the limit [RFC 9438 §5.8]: it does not count in t.

use crate::common::{ACK, Paced, build, path, text, window};
use accord_control::{Acked, Congestion, Controller};
use accord_units::{Duration, Time};

const RTT: Duration = Duration::from_ms(100);

/// In congestion avoidance after a loss at 1000 packets: 700 are left, the plateau is 9.086 s away. Halfway
/// there the window is 962.5.
fn after_loss() -> Paced {
    let mut c = build("cubic", &[("initial_window", text("1000 pkt"))]);
    c.on_congestion(Congestion::Loss, &path(1000), Time::ZERO);
    Paced::new(c, RTT)
}

/// Goes on until the window has had `seconds` in all, of which `paused` did not count.
fn at(run: &mut Paced, seconds: f64, paused: f64) -> f64 {
    run.until(Time::from_secs_f64(seconds + paused));
    window(&run.controller)
}

fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() < 2.0, "{got} for {expected}");
}

/// Acknowledgements of a flow that uses a part of its window arrive for five seconds, then for three.
#[test]
fn time_with_too_little_to_send_does_not_count() {
    let mut run = after_loss();
    let mut paused = 0.0;
    for (from, pause) in [(2.0, 5), (3.0, 3)] {
        let before = at(&mut run, from, paused);
        for _ in 0..pause * 100 {
            run.now += Duration::from_ms(10);
            let ack = Acked { rtt: Some(RTT), window_limited: false, ..ACK };
            run.controller.on_ack(&ack, &path(60), run.now);
        }
        paused += f64::from(pause);
        assert_eq!(window(&run.controller), before);
    }
    near(at(&mut run, 4.543, paused), 962.5);
    near(at(&mut run, 9.086, paused), 1000.0);
}

/// No acknowledgements at all for five seconds, then for three.
#[test]
fn a_pause_does_not_count() {
    let mut run = after_loss();
    let mut paused = 0.0;
    for (from, pause) in [(2.0, 5), (3.0, 3)] {
        let before = at(&mut run, from, paused);
        run.now += Duration::from_secs(pause);
        paused += pause as f64;
        near(at(&mut run, from, paused), before);
    }
    near(at(&mut run, 4.543, paused), 962.5);
    near(at(&mut run, 9.086, paused), 1000.0);
}

/// Two smoothed round-trip times without an acknowledgement may pass while packets are in flight, and count.
#[test]
fn two_round_trips_without_an_acknowledgement_are_no_pause() {
    let mut run = after_loss();
    at(&mut run, 2.0, 0.0);
    // A fifth of a second each time, with one acknowledgement: the window follows its time, not these.
    for _ in 0..12 {
        run.now += RTT * 2;
        let ack = Acked { rtt: Some(RTT), ..ACK };
        run.controller.on_ack(&ack, &path(700), run.now);
    }
    let now = run.now.since(Time::ZERO).as_secs_f64();
    run.until(Time::from_secs_f64(now + 0.5));
    let t = now + 0.5;
    near(window(&run.controller), 0.4 * (t - 9.086).powi(3) + 1000.0);
}
