//! Margins of flows that go by marks and losses, against formulas solved by hand and against
//! integration to both sides of the limit.

use crate::common::scenario;
use accord_fluid::{run_with_step, step};
use accord_margins::{Complex, linearise, rightmost_roots, stability};
use accord_record::Quiet;
use accord_scenario::{Entity, Metric, Scenario};
use accord_units::Time;
use std::f64::consts::PI;

/// The published example of TCP over RED [Hollot, Misra, Towsley, Gong 2001]: 60 flows, 3750
/// packets per second, 0.2 s without the queue; RED's slope is 1.86e-4 per packet, with even
/// marks, and its average moves at 0.005 per second.
fn published(model: &str) -> Scenario {
    scenario(&format!(
        "duration = \"1 s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"15 Mbps\"\ndelay = \"100 ms\"\n\
         queue = {{ discipline = \"red\", min_threshold = \"150 pkt\", max_threshold = \"700 pkt\", max_probability = 0.0512, weight = 1.333332e-6, ecn = true, limit = \"unlimited\" }}\n\
         [flow.f]\ncount = 60\nfrom = \"left\"\nto = \"right\"\npacket = \"500 B\"\ncontroller = {{ name = \"reno\", ecn = true }}\n"
    ))
}

const FLOWS: f64 = 60.0;
const CAPACITY: f64 = 3750.0;
const POLE: f64 = 0.005;

/// The equilibrium, by bisection: round trip, share of marks, and its slope per packet.
fn rest(base_rtt: f64) -> (f64, f64, f64) {
    let p = |queue: f64| 0.0512 * (queue - 150.0) / 550.0;
    let (mut low, mut high) = (150.0, 700.0);
    for _ in 0..100 {
        let queue = 0.5 * (low + high);
        let share = 2.0 * p(queue) / (1.0 + p(queue));
        let window = (base_rtt + queue / CAPACITY) * CAPACITY / FLOWS;
        if 2.0 * (1.0 - share) / share > window * window { low = queue } else { high = queue }
    }
    let p = p(low);
    (base_rtt + low / CAPACITY, 2.0 * p / (1.0 + p), 0.0512 / 550.0 * 2.0 / (1.0 + p).powi(2))
}

/// Returns the zero of `f`.
fn zero(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let sign = f(low) > 0.0;
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        if (f(middle) > 0.0) == sign { low = middle } else { high = middle }
    }
    low
}

#[test]
fn margins_of_the_published_example() {
    for model in ["integrator", "ack-clocked"] {
        let found = stability(&published(model), Time::ZERO).unwrap();
        let delay = found.rest[0].base_rtt;
        let (round, share, slope) = rest(delay);
        assert!((found.rest[0].queue + delay - round).abs() < 1e-9 * round);
        assert!((found.rest[0].signal - share).abs() < 1e-9 * share);
        // Packets: W′ = (1 − m)/R − W²m/2R; a queue that is fed back is a base round trip old, a mark a
        // round trip with its queue.
        let s = |w: f64| Complex::new(0.0, w);
        let window = round * CAPACITY / FLOWS;
        let plant = |w: f64| {
            let late = (-s(w) * delay).exp();
            let queue = match model {
                "integrator" => FLOWS / round / (s(w) + late / round),
                _ => Complex::new(FLOWS, 0.0),
            };
            let red = slope * POLE / (s(w) + POLE);
            let heard = (-s(w) * round).exp();
            queue * red * heard / (round * share) / (s(w) + window / round * share)
        };
        // The phase crossover: −180°.
        let crosses = |w: &f64| plant(*w).im * plant(w * 1.01).im < 0.0 && plant(*w).re < 0.0;
        let near = (0..1000).map(|i| 0.1 * 1.01f64.powi(i)).find(crosses).unwrap();
        let turn = zero(near, 1.01 * near, |w| plant(w).im);
        let gain = 1.0 / plant(turn).norm();
        let m = found.margins;
        println!("{model}: {m:?}, phase {:.2}", m.phase_degrees());
        assert!(plant(turn).re < 0.0);
        assert!((m.gain / gain - 1.0).abs() < 1e-6, "{model}: {m:?} {gain}");
        assert!((m.gain_frequency / turn - 1.0).abs() < 1e-6, "{m:?} {turn}");
        if model == "ack-clocked" {
            let cross = zero(1e-3, 1.0, |w| plant(w).norm() - 1.0);
            let late = (PI + plant(cross).arg()) / cross;
            assert!((m.delay / late - 1.0).abs() < 1e-6, "{m:?} {late}");
            // As published, with the round trip of 0.246 s in all places: a delay, a pole of the
            // queue, one of the window, and the loop gain (RC)³/(2N)²·1.86e-4.
            let (r, c, n) = (0.246, CAPACITY, FLOWS);
            let low = 2.0 * n / (r * r * c);
            let loop_gain = 1.86e-4 * (r * c).powi(3) / (2.0 * n).powi(2);
            let of = |w: f64| {
                let poles = (s(w) / POLE + 1.0) * (s(w) / low + 1.0) * (s(w) * r + 1.0);
                (-s(w) * r).exp() * loop_gain / poles
            };
            let cross = zero(1e-3, 1.0, |w| of(w).norm() - 1.0);
            let phase = (PI + of(cross).arg()).to_degrees();
            println!("published: {cross} {phase}");
            assert!((m.delay_frequency / cross - 1.0).abs() < 0.1, "{m:?} {cross}");
            assert!((m.phase_degrees() - phase).abs() < 1.0, "{m:?} {phase}");
        }
    }
}

/// Twenty Reno flows over a queue of `rate` Mbps, with a one-way `delay` in seconds.
fn over(model: &str, queue: &str, rate: u32, ecn: bool, delay: f64) -> Scenario {
    scenario(&format!(
        "duration = \"300 s\"\nsample = \"40 ms\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"{rate} Mbps\"\ndelay = \"{:.9} ms\"\n\
         queue = {{ {queue} }}\n[flow.f]\ncount = 20\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"reno\", ecn = {ecn} }}\n",
        1e3 * delay
    ))
}

fn rightmost(s: &Scenario) -> f64 {
    let (linear, _) = linearise(s, Time::ZERO).unwrap();
    rightmost_roots(&linear, 1.0)[0].re
}

/// The swing of the windows at the end, over that before.
fn growth(s: &Scenario) -> f64 {
    let run = run_with_step(s, step(s).unwrap(), &mut Quiet).unwrap();
    let w = &run.series(Metric::Cwnd, Entity::Flow(0)).unwrap().values;
    let swing = |part: &[f64]| {
        let (low, high) =
            (part.iter()).fold((f64::MAX, 0.0f64), |(l, h), v| (l.min(*v), h.max(*v)));
        (high - low) / high
    };
    let n = w.len();
    let (before, after) = (swing(&w[n / 4..n / 2]), swing(&w[3 * n / 4..]));
    // Rounding is not a swing.
    (after - 1e-9).max(0.0) / before.max(1e-6)
}

/// Ten per cent less delay than the limit and a disturbance decays; ten more, and it stays. If
/// the queue is empty in equilibrium, a large cycle that fills it can persist below the limit (runs begin
/// far away, in slow start): REM and AVQ decay only from a shorter delay.
#[test]
fn integration_to_both_sides_of_the_limit() {
    let red = |ecn: bool| {
        format!(
            "discipline = \"red\", min_threshold = \"5 pkt\", max_threshold = \"100 pkt\", max_probability = 0.2, weight = 0.02, ecn = {ecn}, limit = \"unlimited\""
        )
    };
    let avq =
        "discipline = \"avq\", utilisation = 0.95, gain = 0.3, ecn = true, limit = \"unlimited\"";
    let rem = "discipline = \"rem\", gain = 0.02, phi = 1.05, ecn = false, limit = \"unlimited\"";
    let full = "discipline = \"droptail\", limit = \"8 pkt\"";
    for (model, less) in [("integrator", 0.6), ("ack-clocked", 0.9)] {
        for (name, queue, rate, ecn, below) in [
            ("red marks", &red(true)[..], 10, true, 0.9),
            ("red drops", &red(false), 10, false, 0.9),
            ("avq marks", avq, 10, true, less),
            ("rem drops", rem, 10, false, 0.8),
            ("full buffer", full, 2, false, 0.9),
        ] {
            let at = |delay: f64| over(model, queue, rate, ecn, delay);
            let limit = zero(1e-3, 0.4, |delay| rightmost(&at(delay)));
            let (below, above) = (growth(&at(below * limit)), growth(&at(1.1 * limit)));
            println!("{model} {name}: {limit} {below:.2} {above:.2}");
            assert!(below < 0.5 && above > 0.9, "{model} {name}: {below} {above}");
        }
    }
}

/// A model without a linearisation is refused, with the reason.
#[test]
fn where_there_is_nothing_to_linearise() {
    let none = "discipline = \"droptail\", limit = \"unlimited\"";
    let rem = "discipline = \"rem\", ecn = true, limit = \"unlimited\"";
    let jump = "discipline = \"red\", min_threshold = \"5 pkt\", max_threshold = \"6 pkt\", max_probability = 0.001, gentle = false, limit = \"unlimited\"";
    let short = "discipline = \"red\", min_threshold = \"5 pkt\", max_threshold = \"100 pkt\", limit = \"6 pkt\"";
    for (queue, ecn, said) in [
        (none, false, "grows for ever"),
        (rem, true, "just empty"),
        (jump, false, "rests at neither"),
        (short, false, "longer than its buffer"),
    ] {
        let error = stability(&over("ack-clocked", queue, 10, ecn, 0.02), Time::ZERO).unwrap_err();
        assert!(error.to_string().contains(said), "{queue}: {error}");
    }
}
