//! The law in closed loop with a queue, round trip by round trip.

use crate::common::{PACKET, build, text};
use accord_control::{AnyController, Controller, PathView, Report};
use accord_family::Raw;
use accord_units::{Bytes, Duration, Rate, Time};

/// A path with one queue. The window is the outstanding data, in propagation or in the queue [Xia05
/// appendix]. A pair finds the queue of the window before the one that it is sent with.
struct Path {
    flow: AnyController,
    /// The rate of the link, in bytes per second.
    capacity: f64,
    /// The round trip over empty queues, in seconds.
    base: f64,
    /// The window of the round before.
    window: f64,
    /// The bytes of the flow in the queue, as the latest pair found them.
    queue: f64,
    /// The rate of the flow in the latest round, in bytes per second.
    rate: f64,
    /// True while reports are lost.
    deaf: bool,
    /// True while pairs see no queue, as behind one FIFO.
    blind: bool,
    /// The bytes that the queue holds; packets beyond are lost.
    buffer: f64,
}

impl Path {
    fn new(changes: &[(&str, Raw)], capacity: f64, base: f64) -> Path {
        let flow = build("monaco", changes);
        Path {
            window: flow.cwnd().as_f64(),
            flow,
            capacity,
            base,
            queue: 0.0,
            rate: 0.0,
            deaf: false,
            blind: false,
            buffer: f64::INFINITY,
        }
    }

    /// A round trip of a flow that is alone.
    fn round(&mut self) {
        let queue = (self.window - self.capacity * self.base).max(0.0);
        self.tell(queue / self.capacity);
    }

    /// A round trip at a link where others keep `queued` bytes each in `n` flows, at once.
    fn elastic(&mut self, n: f64, queued: f64) {
        let delay = |x: f64| n * queued / (self.capacity - x);
        // The rate at which the window is outstanding: the outstanding data grows with the rate.
        let (mut low, mut high) = (0.0, self.capacity);
        for _ in 0..100 {
            let x = (low + high) / 2.0;
            if x * (self.base + delay(x)) < self.window { low = x } else { high = x }
        }
        self.tell(delay(low));
    }

    /// The report of a pair that was queued for `delay` seconds.
    fn tell(&mut self, delay: f64) {
        let rtt = self.base + delay;
        self.rate = self.window / rtt;
        self.queue = self.rate * delay;
        let sent = Bytes::from_f64(self.window);
        self.window = self.flow.cwnd().as_f64();
        if self.deaf {
            return;
        }
        let round = Duration::from_secs_f64(rtt);
        let rate = Rate::from_bps_f64(self.rate * 8.0);
        let path = PathView {
            packet: Bytes::new(PACKET),
            srtt: round,
            rtt: round,
            // It never forgets; the law has to do without.
            min_rtt: Duration::from_ms(1),
            in_flight: sent,
            sent_in_round: sent,
            had_too_little: false,
            delivery_rate: rate,
        };
        let report = Report {
            number: 1,
            accumulation: if self.blind { 0.0 } else { self.queue },
            egress_rate: rate,
            virtual_delay: Duration::ZERO,
            lost: self.queue > self.buffer,
            lost_bytes: Bytes::ZERO,
            received: 0,
        };
        self.flow.on_report(&report, &path, Time::ZERO);
    }

    /// Mean and variation of the queue over the last half of `rounds` rounds.
    fn rest(&mut self, rounds: usize) -> (f64, f64) {
        let mut queues = Vec::new();
        for i in 0..rounds {
            self.round();
            if i >= rounds / 2 {
                queues.push(self.queue);
            }
        }
        let mean = queues.iter().sum::<f64>() / queues.len() as f64;
        let square = queues.iter().map(|q| (q - mean).powi(2)).sum::<f64>();
        (mean, (square / queues.len() as f64).sqrt() / mean)
    }
}

/// The deviation of the window from its equilibrium after each of `rounds` rounds of eq. 10 alone. It
/// begins at 1000 bytes, over a pipe of 50 000 and with a target of 3000.
fn deviations(gain: f64, rounds: usize) -> Vec<f64> {
    let changes = [
        ("law", text("xia05")),
        ("gain", Raw::Number(gain)),
        ("initial_window", Raw::Number(54.0)),
    ];
    let mut path = Path::new(&changes, 1.25e6, 0.04);
    let each = (0..rounds).map(|_| {
        path.round();
        path.flow.cwnd().as_f64() - 53_000.0
    });
    each.collect()
}

/// z² − z + κ = 0 has the roots e^(±iπ/3) at κ = 1: the window comes back every six rounds, for ever.
/// At κ = ½ the roots are e^(±iπ/4)/√2, whose fourth power is −¼. A window is a whole number of bytes,
/// hence the tolerances.
#[test]
fn eq_10_alone_has_the_loop_of_a_queue_that_is_the_window_less_the_pipe() {
    let swing = deviations(1.0, 600);
    for (i, pair) in swing.windows(7).enumerate() {
        assert!((pair[6] - pair[0]).abs() < 1.0, "round {i}: {pair:?}");
    }
    let most = swing.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    assert!((999.0..1001.0).contains(&most), "{most}");

    let rest = deviations(0.5, 40);
    for (i, pair) in rest.windows(5).enumerate() {
        assert!((pair[4] + pair[0] / 4.0).abs() < 2.0, "round {i}: {pair:?}");
    }
    assert!(rest[39].abs() < 2.0, "{rest:?}");

    // Beyond its margin it grows until the queue empties.
    let grown = deviations(1.1, 600);
    let most = grown.iter().skip(500).fold(0.0, |a: f64, b| a.max(b.abs()));
    assert!(most > 3000.0, "{most}");
}

#[test]
fn alone_it_rests_at_its_target_at_the_gain_of_the_papers() {
    for law in ["accord", "xia05", "har02"] {
        let mut path = Path::new(&[("law", text(law))], 1.25e6, 0.04);
        let (mean, variation) = path.rest(400);
        assert!((mean - 3000.0).abs() < 30.0, "{law}: {mean}");
        assert!(variation < 0.01, "{law}: {variation}");
    }
}

/// On a long fat path the policy alone needs w/(κa*) round trips: over a thousand here.
#[test]
fn a_lasting_error_closes_in_round_trips_that_do_not_depend_on_the_window() {
    for capacity in [1.25e6, 12.5e6, 125e6] {
        for above in [false, true] {
            let mut path = Path::new(&[], capacity, 0.25);
            // Far too many others, or none to speak of, until the flow has settled there.
            for _ in 0..1500 {
                path.elastic(if above { 0.3 } else { 3.0 }, 3000.0);
            }
            // From above it takes longer at 1 Gbps.
            if above && capacity > 100e6 {
                continue;
            }
            let start = path.rate / (capacity / 2.0);
            assert!(above == (start > 1.2), "{capacity}: {start}");
            assert!(above != (start < 0.8), "{capacity}: {start}");
            let rounds = (0..1500)
                .take_while(|_| {
                    path.elastic(1.0, 3000.0);
                    let now = path.rate / (capacity / 2.0);
                    (now - 1.0).abs() > 0.1
                })
                .count();
            // Eight time constants of 24 round trips: some to find the slope, some to close the error.
            assert!(rounds < 192, "{capacity} {above}: {rounds} rounds");
        }
    }
}

/// A link gets ten times faster. By packets per round trip the flow would need 450 round trips. Its steps
/// lengthen although the empty queue does not react to the window.
#[test]
fn capacity_that_comes_free_is_taken_in_round_trips_that_do_not_depend_on_the_packet() {
    let mut path = Path::new(&[], 1.25e6, 0.04);
    path.rest(300);
    path.capacity = 12.5e6;
    let (mut most, mut last): (f64, usize) = (0.0, 0);
    for i in 0..600 {
        path.round();
        most = most.max(path.queue);
        if path.rate < 0.95 * path.capacity {
            last = i;
        }
    }
    println!("within 5 % of the new rate after {last} rounds");
    // As for any lasting error: eight time constants of 24 round trips.
    assert!(last < 192, "{last} rounds");
    // Two steps of a 24th of the window before the queue is reported.
    assert!(most < 3000.0 + path.capacity * path.base / 12.0, "{most}");
    let (mean, variation) = path.rest(400);
    assert!((mean - 3000.0).abs() < 30.0, "{mean}");
    assert!(variation < 0.01, "{variation}");
}

/// The roots of the loop are on the unit circle at 1, as those of eq. 10.
#[test]
fn alone_its_largest_gain_is_one() {
    let variation = |gain| {
        let gain = [("gain", Raw::Number(gain))];
        Path::new(&gain, 1.25e6, 0.04).rest(600).1
    };
    assert!(variation(0.9) < 0.05, "{}", variation(0.9));
    assert!(variation(1.2) > 0.2, "{}", variation(1.2));
}

/// Half of the reports are lost, always the same ones of a seed: the flow keeps its window then.
#[test]
fn with_half_of_the_reports_lost_it_keeps_its_queue_and_stays_finite() {
    let mut path = Path::new(&[("gain", Raw::Number(0.25))], 1.25e6, 0.04);
    path.rest(300);
    let mut dice = 1u64;
    let mut most: f64 = 0.0;
    for _ in 0..2000 {
        dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        path.deaf = dice >> 63 == 1;
        path.round();
        most = most.max(path.queue);
    }
    path.deaf = false;
    let (mean, variation) = path.rest(400);
    assert!(most < 60_000.0, "{most}");
    assert!((mean - 3000.0).abs() < 300.0, "{mean}");
    assert!(variation < 0.05, "{variation}");
}

#[test]
fn a_longer_route_is_not_taken_for_a_queue() {
    let mut path = Path::new(&[], 1.25e6, 0.02);
    path.rest(300);
    path.base = 0.2;
    let (mean, variation) = path.rest(600);
    assert!((mean - 3000.0).abs() < 300.0, "{mean}");
    assert!(variation < 0.05, "{variation}");
}

#[test]
fn a_target_below_a_packet_is_kept() {
    let target = [("target", Raw::Text("500 B".into()))];
    let mut path = Path::new(&target, 1.25e6, 0.04);
    let (mean, variation) = path.rest(800);
    assert!((mean - 500.0).abs() < 50.0, "{mean}");
    assert!(variation < 0.05, "{variation}");
}

/// The windows of `rounds` round trips, in packets.
fn windows(path: &mut Path, rounds: usize) -> Vec<f64> {
    let each = (0..rounds).map(|_| {
        path.round();
        path.flow.cwnd().as_f64() / PACKET as f64
    });
    each.collect()
}

/// Behind one FIFO pairs never see a queue, and only losses answer the window: it grows by a packet per
/// round trip and halves, as Reno's.
#[test]
fn steps_do_not_lengthen_while_pairs_see_no_queue() {
    // A product of 250 packets, and as much buffer.
    let mut path = Path::new(&[], 12.5e6, 0.02);
    (path.blind, path.buffer) = (true, 250e3);
    let windows = windows(&mut path, 3000);
    let first = windows.windows(2).position(|w| w[1] < w[0]).expect("slow start loses data");
    for pair in windows[first..].windows(2) {
        assert!(pair[1] - pair[0] < 1.001, "{pair:?}");
    }
}

/// A path whose pairs saw queues, and see none from now on, as after a change of route: the first loss
/// ends the longer steps, until a pair shows a queue again.
#[test]
fn a_loss_without_a_queue_ends_longer_steps_until_a_queue_shows() {
    let mut path = Path::new(&[], 1.25e6, 0.04);
    path.rest(300);
    (path.blind, path.buffer, path.capacity) = (true, 500e3, 12.5e6);
    let blind = windows(&mut path, 1500);
    let steep = |w: &[f64]| w.windows(2).map(|p| p[1] - p[0]).fold(0.0, f64::max);
    let loss = blind.windows(2).position(|p| p[1] < 0.51 * p[0]).expect("the buffer is finite") + 1;
    assert!(steep(&blind[..loss]) > 5.0, "{}", steep(&blind[..loss]));
    assert!(steep(&blind[loss..]) < 1.001, "{}", steep(&blind[loss..]));
    // It rests at its target, and finds a faster link as before.
    (path.blind, path.buffer) = (false, f64::INFINITY);
    path.rest(600);
    path.capacity = 125e6;
    assert!(steep(&windows(&mut path, 200)) > 5.0);
}

/// The data of the report after a cut was sent before it, so it costs no second one [RFC 5681 §4.3]. The
/// papers halve the window once per round trip.
#[test]
fn one_window_of_data_costs_one_cut() {
    for (law, kept) in [("accord", [0.5, 1.0, 0.5, 1.0]), ("xia05", [0.5; 4]), ("har02", [0.5; 4])]
    {
        let changes = [("law", text(law)), ("initial_window", Raw::Number(64.0))];
        let mut path = Path::new(&changes, 12.5e6, 0.02);
        // Each report shows a loss.
        path.buffer = -1.0;
        let mut before = 64.0;
        for part in kept {
            let window = windows(&mut path, 1)[0];
            assert_eq!(window, part * before, "{law}");
            before = window;
        }
    }
}
