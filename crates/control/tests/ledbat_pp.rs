//! LEDBAT++ by the equations and the schedule of draft-irtf-iccrg-ledbat-plus-plus-01, acknowledgement by
//! acknowledgement.

use crate::common::{ACK, build, path, text, window};
use accord_control::{Acked, AnyController, Congestion, Controller, PathView};
use accord_family::Raw;
use accord_units::{Duration, Time};

const MS: fn(u64) -> Duration = Duration::from_ms;

/// A flow that uses its window, and its clock.
struct Flow {
    c: AnyController,
    now: Time,
    rtt: Duration,
}

impl Flow {
    fn new(initial: &str, changes: &[(&str, Raw)]) -> Flow {
        let mut all = vec![
            ("initial_window", text(initial)),
            // The latest sample decides.
            ("current_filter", Raw::Integer(1)),
        ];
        all.extend_from_slice(changes);
        Flow { c: build("ledbat-pp", &all), now: Time::ZERO, rtt: MS(40) }
    }

    /// One without slowdowns, past its slow start at 50 packets, at a base of 40 ms.
    fn avoiding(changes: &[(&str, Raw)]) -> Flow {
        let mut all = vec![("slowdowns", Raw::Flag(false))];
        all.extend_from_slice(changes);
        let mut flow = Flow::new("50 pkt", &all);
        // Nothing is in flight, so the window stays. A delay of more than 45 ms, three quarters of the
        // target, ends slow start.
        for (us, ends) in [(40_000, false), (85_000, false), (85_001, true)] {
            flow.rtt = Duration::from_us(us);
            assert_eq!(flow.ack_with(MS(1), 0), 0.0);
            assert_eq!(flow.c.ssthresh().is_some(), ends, "{us}");
        }
        flow
    }

    /// A packet is acknowledged. Gives the change of the window in packets.
    fn ack(&mut self, after: Duration) -> f64 {
        let in_flight = window(&self.c) as u64;
        self.ack_with(after, in_flight)
    }

    /// The same with `in_flight` packets in flight after it.
    fn ack_with(&mut self, after: Duration, in_flight: u64) -> f64 {
        let before = window(&self.c);
        self.now += after;
        let ack = Acked { rtt: Some(self.rtt), window_limited: in_flight > 0, ..ACK };
        let view = PathView { srtt: self.rtt, ..path(in_flight) };
        self.c.on_ack(&ack, &view, self.now);
        window(&self.c) - before
    }

    /// Acknowledgements arrive a millisecond apart until this holds. Gives the time.
    fn until(&mut self, what: &str, holds: impl Fn(f64) -> bool) -> Time {
        for _ in 0..100_000 {
            self.ack(MS(1));
            if holds(window(&self.c)) {
                return self.now;
            }
        }
        panic!("never {what}");
    }
}

fn near(got: f64, expected: f64) {
    // Windows are whole bytes.
    assert!((got - expected).abs() < 1.1e-3, "{got} for {expected}");
}

/// §4.2: GAIN = 1/min(16, ⌈2·TARGET/base⌉). A packet adds GAIN packets in slow start.
#[test]
fn the_gain_is_by_the_base_round_trip_time() {
    for (base, divisor) in
        [(1, 16), (7, 16), (8, 15), (40, 3), (59, 3), (60, 2), (119, 2), (120, 1), (500, 1)]
    {
        let mut flow = Flow::new("50 pkt", &[]);
        flow.rtt = MS(base);
        near(flow.ack(MS(1)), 1.0 / f64::from(divisor));
    }
}

/// §4.3: a packet of W adds GAIN/W up to the target, and takes a W-th of the excess beyond it, of half of
/// the window at most.
#[test]
fn a_round_trip_takes_half_of_the_window_at_most() {
    for (constant, rtt, per_window) in [
        // Up to 60 ms above the base.
        (1.0, 40, 1.0 / 3.0),
        (1.0, 100, 1.0 / 3.0),
        // 6, 24 and 60 ms above the target: tenths of it.
        (1.0, 106, 1.0 / 3.0 - 0.1 * 50.0),
        (1.0, 124, 1.0 / 3.0 - 0.4 * 50.0),
        (1.0, 160, -0.5 * 50.0),
        (1.0, 1000, -0.5 * 50.0),
        (0.25, 160, 1.0 / 3.0 - 0.25 * 50.0),
        (4.0, 106, 1.0 / 3.0 - 0.4 * 50.0),
        (4.0, 112, -0.5 * 50.0),
    ] {
        let mut flow = Flow::avoiding(&[("constant", Raw::Number(constant))]);
        flow.rtt = MS(rtt);
        near(flow.ack(MS(1)), per_window / 50.0);
    }
}

/// §4.4: two round trips after the first slow start the window is 2 packets, for two round trips. Then slow
/// start leads back to the threshold. The next slowdown is nine times as long after that as this one took.
#[test]
fn slowdowns_are_nine_times_their_length_apart() {
    let mut flow = Flow::new("50 pkt", &[]);
    flow.ack(MS(1));
    // 46 ms of queue.
    flow.rtt = MS(86);
    flow.ack(MS(1));
    let started = flow.now;
    let w = window(&flow.c);
    // No queue then, so no decrease disturbs.
    flow.rtt = MS(60);
    let mut began = flow.until("slow", |w| w == 2.0);
    // The time of the smoothed round-trip time at the end of slow start.
    assert_eq!(began.since(started), MS(172));
    for _ in 0..2 {
        let threshold = flow.c.ssthresh().expect("set").as_f64() / 1000.0;
        assert!(threshold >= w, "{threshold}");
        let thawed = flow.until("growth", |w| w > 2.0);
        assert_eq!(thawed.since(began), MS(120));
        let ended = flow.until("the threshold", |w| w >= threshold - 1e-3);
        let took = ended.since(began);
        let next = flow.until("slow again", |w| w == 2.0);
        // The end is noticed at the acknowledgement after.
        let apart = next.since(ended + MS(1));
        let nine = (took + MS(1)) * 9;
        assert_eq!(apart, nine);
        began = next;
    }
}

/// §4.4: the window keeps growing by GAIN per round trip between slowdowns, and a flow whose slowdowns
/// are off has none.
#[test]
fn without_slowdowns_there_are_none() {
    let mut flow = Flow::avoiding(&[]);
    flow.rtt = MS(60);
    for _ in 0..20_000 {
        assert!(flow.ack(MS(1)) >= 0.0);
    }
}

/// Slow start ends at the threshold, however much an acknowledgement covers. The window does not grow in recovery, and
/// an acknowledgement of several windows counts as one.
#[test]
fn slow_start_stops_at_the_threshold_and_recoveries_stop_growth() {
    let ack = |flow: &mut Flow, packets: u64, in_recovery: bool| {
        let ack = Acked {
            rtt: Some(flow.rtt),
            bytes: accord_units::Bytes::new(packets * 1000),
            in_recovery,
            ..ACK
        };
        flow.now += MS(1);
        let view = PathView { srtt: flow.rtt, ..path(100) };
        flow.c.on_ack(&ack, &view, flow.now);
        window(&flow.c)
    };
    let mut flow = Flow::new("50 pkt", &[("slowdowns", Raw::Flag(false))]);
    assert_eq!(ack(&mut flow, 3, true), 50.0);
    assert_eq!(ack(&mut flow, 3, false), 51.0);
    flow.c.on_congestion(Congestion::Timeout, &path(50), flow.now);
    // A third of 300 packets would be 100, and the threshold is 25.5.
    assert_eq!(ack(&mut flow, 300, false), 25.5);
    let mut flow = Flow::avoiding(&[]);
    flow.rtt = MS(40);
    near(ack(&mut flow, 1000, false) - 50.0, 1.0 / 3.0);
    let mut flow = Flow::avoiding(&[]);
    flow.rtt = MS(40);
    assert_eq!(ack(&mut flow, 1, true), 50.0);
}

/// A time-out is a slowdown: slow start from one packet to half of the window. It counts for the next
/// one's time.
#[test]
fn a_timeout_is_a_slowdown() {
    let mut flow = Flow::new("50 pkt", &[]);
    flow.ack(MS(1));
    let began = flow.now;
    let half = window(&flow.c) / 2.0;
    flow.c.on_congestion(Congestion::Timeout, &path(50), flow.now);
    assert_eq!(window(&flow.c), 1.0);
    let ended = flow.until("the threshold", |w| w >= half - 2e-3);
    let took = ended.since(began);
    let next = flow.until("slow", |w| w == 2.0);
    assert_eq!(next.since(ended + MS(1)), (took + MS(1)) * 9);
}
