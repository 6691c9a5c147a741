//! HyStart++ against RFC 9406, by the windows of CUBIC: rounds by hand, acknowledgement by
//! acknowledgement.

use crate::common::{ACK, PACKET, Paced, build, path, text, window};
use accord_control::{Acked, AnyController, Congestion, Controller};
use accord_units::{Bytes, Duration, Time};

/// The growth of the window per packet, in packets: in slow start, and in conservative slow start,
/// CSS_GROWTH_DIVISOR = 4 [RFC 9406 §4.2, 4.3].
const FAST: f64 = 1.0;
const SLOW: f64 = 0.25;

/// A sender in its first slow start.
struct Rounds {
    cubic: AnyController,
    now: Time,
}

impl Rounds {
    fn new() -> Rounds {
        Rounds { cubic: build("cubic", &[("initial_window", text("10 pkt"))]), now: Time::ZERO }
    }

    /// The growth of the window by an acknowledgement.
    fn ack(&mut self, ack: &Acked) -> f64 {
        self.now += Duration::from_ms(1);
        let before = window(&self.cubic);
        self.cubic.on_ack(ack, &path(10), self.now);
        window(&self.cubic) - before
    }

    /// A round of `acks` acknowledgements with this round-trip time, in milliseconds. Returns the growth
    /// of the window by the last one.
    fn round(&mut self, acks: usize, rtt: f64) -> f64 {
        let mut growth = 0.0;
        for i in 0..acks {
            growth = self.ack(&Acked {
                rtt: Some(Duration::from_secs_f64(rtt / 1e3)),
                round_ended: i == 0,
                ..ACK
            });
        }
        growth
    }

    fn rounds(&mut self, n: usize, rtt: f64) {
        for _ in 0..n {
            self.round(10, rtt);
        }
    }

    fn in_slow_start(&self) -> bool {
        self.cubic.ssthresh().is_none()
    }
}

/// §4.2: RttThresh = max(MIN_RTT_THRESH, min(lastRoundMinRTT / 8, MAX_RTT_THRESH)), of 4 and 16 ms.
#[test]
fn the_rise_that_counts_is_an_eighth_from_4_to_16_ms() {
    for (rtt, threshold) in [(10.0, 4.0), (32.0, 4.0), (100.0, 12.5), (200.0, 16.0)] {
        for (rise, growth) in [(threshold - 0.1, FAST), (threshold, SLOW)] {
            let mut rounds = Rounds::new();
            assert_eq!(rounds.round(10, rtt), FAST);
            assert_eq!(rounds.round(10, rtt + rise), growth, "{rtt} ms, {rise} ms");
        }
    }
}

/// §4.2: a round is judged once it has N_RTT_SAMPLE = 8 samples, and by its smallest.
#[test]
fn a_round_is_judged_by_the_smallest_of_eight_samples() {
    for (samples, growth) in [(7, FAST), (8, SLOW)] {
        let mut rounds = Rounds::new();
        rounds.round(10, 100.0);
        assert_eq!(rounds.round(samples, 150.0), growth, "{samples} samples");
    }
    let mut rounds = Rounds::new();
    rounds.round(10, 100.0);
    rounds.round(1, 100.0);
    for _ in 0..20 {
        let late = Acked { rtt: Some(Duration::from_ms(150)), ..ACK };
        assert_eq!(rounds.ack(&late), FAST);
    }
}

/// §4.2: five rounds of conservative slow start, of which the one that it begins in is the first;
/// then ssthresh is cwnd.
#[test]
fn conservative_slow_start_lasts_five_rounds_with_the_first() {
    let mut rounds = Rounds::new();
    rounds.round(10, 100.0);
    for n in 1..=5 {
        assert_eq!(rounds.round(10, 120.0), SLOW, "round {n}");
        assert!(rounds.in_slow_start(), "round {n}");
    }
    let before = window(&rounds.cubic);
    rounds.round(1, 120.0);
    let threshold = Bytes::new((before * PACKET as f64) as u64);
    assert_eq!(rounds.cubic.ssthresh(), Some(threshold));
}

/// §4.2: below cssBaselineMinRtt, the smallest round-trip time that conservative slow start began
/// with, slow start goes on, and restarts the count of five rounds. At the baseline it does not.
#[test]
fn slow_start_goes_on_below_the_baseline() {
    for (rtt, growth) in [(119.9, FAST), (120.0, SLOW)] {
        let mut rounds = Rounds::new();
        rounds.round(10, 100.0);
        rounds.rounds(4, 120.0);
        assert_eq!(rounds.round(10, rtt), growth, "{rtt} ms");
    }
    let mut rounds = Rounds::new();
    rounds.round(10, 100.0);
    rounds.rounds(4, 120.0);
    assert_eq!(rounds.round(10, 100.0), FAST);
    for n in 1..=5 {
        assert_eq!(rounds.round(10, 120.0), SLOW, "round {n}");
        assert!(rounds.in_slow_start(), "round {n}");
    }
    rounds.round(1, 120.0);
    assert!(!rounds.in_slow_start());
}

/// §4.2, 4.3: an acknowledgement counts for L = 8 packets at most. RFC 5681 without HyStart++ has
/// one.
#[test]
fn an_acknowledgement_counts_for_eight_packets_at_most() {
    for (packets, growth) in [(3, 3.0), (8, 8.0), (20, 8.0)] {
        let many =
            Acked { bytes: Bytes::new(packets * PACKET), rtt: Some(Duration::from_ms(120)), ..ACK };
        assert_eq!(Rounds::new().ack(&many), growth);
        let mut rounds = Rounds::new();
        rounds.round(10, 100.0);
        rounds.round(10, 120.0);
        assert_eq!(rounds.ack(&many), growth / 4.0);
    }
}

/// §4.3: HyStart++ is for the first slow start only. The one after a timeout does not look at the
/// round-trip time, and an acknowledgement counts for one packet.
#[test]
fn later_slow_starts_are_those_of_rfc_5681() {
    let mut rounds = Rounds::new();
    (rounds.cubic).on_congestion(Congestion::Timeout, &path(1000), rounds.now);
    rounds.round(10, 100.0);
    for rtt in [150.0, 200.0, 250.0, 300.0, 350.0, 400.0, 450.0] {
        assert_eq!(rounds.round(10, rtt), FAST);
    }
    let many = Acked { bytes: Bytes::new(3 * PACKET), ..ACK };
    assert_eq!(rounds.ack(&many), 1.0);
}

/// §4.2: rounds end and have their samples also while the application does not use the window,
/// which does not grow then.
#[test]
fn rounds_pass_while_the_application_is_the_limit() {
    let mut rounds = Rounds::new();
    rounds.round(10, 100.0);
    // Too few samples for a verdict.
    for i in 0..5 {
        let idle = Acked {
            rtt: Some(Duration::from_ms(140)),
            round_ended: i == 0,
            window_limited: false,
            ..ACK
        };
        assert_eq!(rounds.ack(&idle), 0.0);
    }
    // Compared with 140 ms, not with 100.
    assert_eq!(rounds.round(10, 141.0), FAST);
    assert_eq!(rounds.round(10, 160.0), SLOW);
}

/// RFC 9438 §4.10: congestion avoidance after HyStart++ begins at its plateau, K = 0: 0.4·t³
/// packets. cwnd_prior is that window, too, so Reno's grows by α = 1 per round trip.
#[test]
fn after_hystart_the_cubic_begins_at_its_plateau() {
    for (rtt, seconds, packets) in [(100, 10.0, 400.0), (2, 0.02, 10.0)] {
        let mut rounds = Rounds::new();
        rounds.round(10, 100.0);
        rounds.rounds(6, 120.0);
        assert!(!rounds.in_slow_start());
        let mut run = Paced::new(rounds.cubic, Duration::from_ms(rtt));
        run.now = rounds.now;
        let before = window(&run.controller);
        run.until(run.now + Duration::from_secs_f64(seconds));
        let grown = window(&run.controller) - before;
        assert!((grown / packets - 1.0).abs() < 0.05, "{rtt} ms: {grown}");
    }
}

/// `slow_start = "hystart"` is that of Linux, which ends slow start at once: on the ninth sample of a round
/// whose smallest round-trip time is an eighth above that of the connection, or when acknowledgements have
/// come for half of that time, each within 2 ms of the one before.
#[test]
fn the_hystart_of_linux_ends_slow_start_at_once() {
    let begin = |initial: &str| {
        let parameters = [("initial_window", text(initial)), ("slow_start", text("hystart"))];
        let mut rounds = Rounds { cubic: build("cubic", &parameters), now: Time::ZERO };
        rounds.rounds(3, 100.0);
        assert!(rounds.in_slow_start());
        rounds
    };
    let mut rise = begin("20 pkt");
    rise.round(20, 112.4);
    rise.round(8, 113.0);
    assert!(rise.in_slow_start());
    rise.round(9, 113.0);
    assert!(!rise.in_slow_start());
    let mut train = begin("20 pkt");
    train.round(51, 100.0);
    assert!(train.in_slow_start());
    train.round(53, 100.0);
    assert!(!train.in_slow_start());
    // A gap of more than 2 ms ends a train for the round.
    let mut gap = begin("20 pkt");
    gap.round(20, 100.0);
    gap.now += Duration::from_ms(5);
    for _ in 0..60 {
        gap.ack(&Acked { rtt: Some(Duration::from_ms(100)), round_ended: false, ..ACK });
    }
    assert!(gap.in_slow_start());
    // A time-out begins again.
    gap.cubic.on_congestion(Congestion::Timeout, &path(200), gap.now);
    gap.rounds(4, 100.0);
    let before = window(&gap.cubic);
    gap.round(60, 100.0);
    let grown = window(&gap.cubic) - before;
    assert!((45.0..58.0).contains(&grown), "{grown}");
}
