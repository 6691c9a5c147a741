//! Critical gains, by the margins and by integration; roots in closed form.

use crate::common::{five_classes, scenario};
use accord_fluid::{run_with_step, step};
use accord_margins::{Complex, Linear, Term, linearise, margins, rightmost_roots, stability};
use accord_record::Quiet;
use accord_scenario::{Entity, Metric, Scenario};
use accord_units::Time;

/// One scalar equation z′(t) = −κ·z(t − 1).
fn scalar(kappa: f64) -> Linear {
    Linear {
        windows: 1,
        open: false,
        size: 1,
        terms: vec![Term { row: 0, column: 0, delay: 1.0, coefficient: -kappa, feedbacks: 1 }],
    }
}

/// The branches of Lambert's W by Halley's iteration: W·e^W = z.
fn lambert(z: Complex<f64>, branch: f64) -> Complex<f64> {
    let turn = Complex::new(0.0, 2.0 * std::f64::consts::PI * branch);
    let mut w = if z.re > -(-1.0f64).exp() {
        z
    } else {
        let log = z.ln() + turn;
        log - log.ln()
    };
    for _ in 0..100 {
        let e = w.exp();
        let f = w * e - z;
        w -= f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0));
    }
    w
}

#[test]
fn roots_of_a_delayed_scalar_are_lamberts() {
    // s = W_k(−κ), with delay one.
    for kappa in [0.2, 0.5, 1.0, 1.5, std::f64::consts::FRAC_PI_2, 2.0, 5.0] {
        let roots = rightmost_roots(&scalar(kappa), 1.0);
        for (root, branch) in roots.iter().take(4).zip([0.0, 1.0, 2.0, 3.0]) {
            // Below 1/e the two principal branches are real and apart.
            if kappa < (-1.0f64).exp() && branch > 0.0 {
                break;
            }
            let exact = lambert(Complex::new(-kappa, 0.0), branch);
            let exact = Complex::new(exact.re, exact.im.abs());
            assert!((root - exact).norm() < 1e-10, "{kappa} {branch}: {root} {exact}");
        }
    }
}

#[test]
fn margins_of_a_delayed_scalar() {
    use std::f64::consts::FRAC_PI_2;
    let m = margins(&scalar(0.5), true);
    assert!((m.gain - FRAC_PI_2 / 0.5).abs() < 1e-9, "{m:?}");
    // |κ/(jω)| = 1 at ω = κ; the phase left is π/2 − κ.
    assert!((m.delay_frequency - 0.5).abs() < 1e-9, "{m:?}");
    assert!((m.delay - (FRAC_PI_2 - 0.5) / 0.5).abs() < 1e-9, "{m:?}");
    let m = margins(&scalar(2.0), false);
    assert_eq!(m.delay, 0.0);
    assert!((m.gain - FRAC_PI_2 / 2.0).abs() < 1e-9, "{m:?}");
    // Beyond 5π/2 two pairs grow; it is stable only below both.
    let m = margins(&scalar(8.0), false);
    assert!((m.gain - FRAC_PI_2 / 8.0).abs() < 1e-9, "{m:?}");
}

/// s³ + g·(s + 1)²·e^(−s·τ): stable above g = ½, until the delay counts. The real crossings have 2·atan ω =
/// π/2 + ω·τ and g = ω³/(1 + ω²).
fn conditional(gain: f64) -> Linear {
    let term = |row, column, delay, coefficient| {
        let feedbacks = u32::from(row == 0);
        Term { row, column, delay, coefficient, feedbacks }
    };
    let terms = vec![
        term(0, 0, 0.01, -gain),
        term(0, 1, 0.01, -2.0 * gain),
        term(0, 2, 0.01, -gain),
        term(1, 0, 0.0, 1.0),
        term(2, 1, 0.0, 1.0),
    ];
    Linear { windows: 1, open: false, size: 3, terms }
}

/// The gain margin is the first gain on the way up, if the loop is stable; a loop that is not, and is not
/// below either, has none.
#[test]
fn a_gain_margin_is_above_one_or_there_is_none() {
    assert!(rightmost_roots(&conditional(1.0), 1.0)[0].re < 0.0);
    let (mut low, mut high) = (10.0f64, 300.0f64);
    for _ in 0..100 {
        let w = 0.5 * (low + high);
        if 2.0 * w.atan() - std::f64::consts::FRAC_PI_2 > 0.01 * w { low = w } else { high = w }
    }
    let found = margins(&conditional(1.0), true);
    assert!((found.gain / (low.powi(3) / (1.0 + low * low)) - 1.0).abs() < 1e-6, "{found:?}");
    // The other crossing is the lower limit.
    let (mut low, mut high) = (0.5f64, 10.0f64);
    for _ in 0..100 {
        let w = 0.5 * (low + high);
        if 2.0 * w.atan() - std::f64::consts::FRAC_PI_2 > 0.01 * w { high = w } else { low = w }
    }
    let least = low.powi(3) / (1.0 + low * low);
    assert!((found.least_gain / least - 1.0).abs() < 1e-6, "{found:?}");
    assert_eq!(margins(&scalar(0.5), true).least_gain, 0.0);
    assert!(rightmost_roots(&conditional(0.4), 1.0)[0].re > 0.0);
    let none = margins(&conditional(0.4), false);
    assert_eq!((none.gain, none.delay), (0.0, 0.0));
}

/// A window that goes by an average a million times slower than a round trip: s·(s + ε) + ε²·e^(−s) crosses
/// at ω² = ε²·(√5 − 1)/2.
#[test]
fn a_slow_average_has_its_crossing() {
    let slow = 1e-6;
    let term = |row, column, delay, coefficient, feedbacks| Term {
        row,
        column,
        delay,
        coefficient,
        feedbacks,
    };
    let terms =
        vec![term(0, 1, 1.0, -slow, 1), term(1, 0, 0.0, slow, 0), term(1, 1, 0.0, -slow, 0)];
    let found = margins(&Linear { windows: 1, open: false, size: 2, terms }, true);
    let part = (0.5 * (5f64.sqrt() - 1.0)).sqrt();
    assert!((found.delay_frequency / (part * slow) - 1.0).abs() < 1e-6, "{found:?}");
    let delay = (std::f64::consts::FRAC_PI_2 - part.atan()) / (part * slow) - 1.0;
    assert!((found.delay / delay - 1.0).abs() < 1e-6, "{found:?} {delay}");
}

/// Many identical flows over one link, whose queuing delay is small against the round trip.
fn many(model: &str, gain: f64, rate: &str, seconds: u32) -> Scenario {
    scenario(&format!(
        "duration = \"{seconds} s\"\nsample = \"5 ms\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"{rate}\"\ndelay = \"50 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
         [flow.f]\ncount = 40\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"monaco\", target = \"3 pkt\", gain = {gain} }}\n"
    ))
}

/// The critical gain of the fluid, whose windows act at once.
fn critical(s: &Scenario, gain: f64) -> f64 {
    let (linear, _) = linearise(s, Time::ZERO).unwrap();
    let found = margins(&linear, true);
    // The rightmost root says the same: it is on the axis at that gain.
    let root = rightmost_roots(&linear, found.gain)[0];
    assert!(root.re.abs() < 1e-6 * root.im, "{root}");
    assert!((root.im - found.gain_frequency).abs() < 1e-6 * root.im);
    gain * found.gain
}

#[test]
fn critical_gains_of_many_flows() {
    // κ = u/tan u with u·sin u = 1, and π/2.
    let mut u: f64 = 1.1;
    for _ in 0..50 {
        u -= (u * u.sin() - 1.0) / (u.sin() + u * u.cos());
    }
    for (model, exact) in
        [("integrator", u / u.tan()), ("ack-clocked", std::f64::consts::FRAC_PI_2)]
    {
        let found = critical(&many(model, 0.5, "1 Tbps", 1), 0.5);
        // The queuing delay is 1e-5 of the round trip.
        assert!((found / exact - 1.0).abs() < 1e-4, "{model}: {found} {exact}");
    }
    // Phase margins at κ = 0.5. Integrator: (κ + s)·e^(−s)/s², of modulus one at ω.
    let k: f64 = 0.5;
    let w = (0.5 * (1.0 + (1.0 + 4.0 * k * k).sqrt())).sqrt();
    for (model, radians) in
        [("integrator", (w / k).atan() - w), ("ack-clocked", std::f64::consts::FRAC_PI_2 - k)]
    {
        let found = stability(&many(model, k, "1 Tbps", 1), Time::ZERO).unwrap();
        let is = found.margins.phase_degrees();
        assert!((is - radians.to_degrees()).abs() < 0.01, "{model}: {is}");
    }
}

#[test]
fn critical_gains_of_five_classes() {
    for (model, known, within) in [("integrator", 0.7107, 1e-3), ("ack-clocked", 2.6727, 1.5e-3)] {
        let controller = "{ name = \"monaco\", target = \"2 pkt\", gain = 0.5 }";
        let found = critical(&scenario(&five_classes(controller, model, 1)), 0.5);
        assert!((found / known - 1.0).abs() < within, "{model}: {found} {known}");
    }
}

/// Growth of the swing of the queue about its mean from the second quarter of a run to the
/// last.
fn growth(s: &Scenario) -> f64 {
    let h = step(s).unwrap();
    let run = run_with_step(s, h, &mut Quiet).unwrap();
    let l = s.links.iter().position(|l| l.name == "bottleneck").unwrap();
    let q = &run.series(Metric::QueuingDelay, Entity::Link(l)).unwrap().values;
    let swing = |part: &[f64]| {
        let (low, high) = part.iter().fold((f64::MAX, 0.0f64), |(l, h), v| (l.min(*v), h.max(*v)));
        high - low
    };
    let n = q.len();
    swing(&q[3 * n / 4..]) / swing(&q[n / 4..n / 2])
}

/// Ten per cent below the critical gain a disturbance decays, ten above it does not.
#[test]
fn simulated_ten_per_cent_to_each_side() {
    for (model, critical) in
        [("integrator", 0.547352), ("ack-clocked", std::f64::consts::FRAC_PI_2)]
    {
        let below = growth(&many(model, 0.9 * critical, "1.6 Gbps", 120));
        let above = growth(&many(model, 1.1 * critical, "1.6 Gbps", 120));
        assert!(below < 0.5 && above > 0.9, "{model}: {below} {above}");
    }
    for (model, critical) in [("integrator", 0.7107), ("ack-clocked", 2.6727)] {
        let of = |gain: f64| {
            let controller = format!("{{ name = \"monaco\", target = \"2 pkt\", gain = {gain} }}");
            let mut s = scenario(&five_classes(&controller, model, 12));
            s.sample = "2 ms".parse().unwrap();
            growth(&s)
        };
        let (below, above) = (of(0.9 * critical), of(1.1 * critical));
        assert!(below < 0.5 && above > 0.9, "{model}: {below} {above}");
    }
}

/// Two hundred flows over RED whose queue is as long as the wires. From the window to its feedback is a
/// round trip with its queue [Hollot et al., "A Control Theoretic Analysis of RED", INFOCOM 2001]: the loop
/// of their equations (6) and (7) has this margin, computed apart from this crate.
#[test]
fn a_mark_is_heard_after_the_queue_that_it_was_put_on_at() {
    let s = scenario(
        "duration = \"30 s\"\nfluid = { link_model = \"ack-clocked\" }\n[topology.dumbbell]\n\
         rate = \"200 Mbps\"\ndelay = \"5 ms\"\n\
         queue = { discipline = \"red\", limit = \"50000 pkt\", min_threshold = \"1376.37 pkt\", \
         max_threshold = \"7626.37 pkt\", weight = 0.002, max_probability = 0.5, ecn = true }\n\
         reverse = { queue = { discipline = \"droptail\", limit = \"unlimited\" } }\n\
         [flow.f]\ncount = 200\nfrom = \"left\"\nto = \"right\"\nprocessing = \"0 s\"\n\
         controller = { name = \"newreno\", ecn = true }\n\
         access = { rate = \"10 Gbps\", delay = \"5 ms\" }\n",
    );
    let found = stability(&s, Time::ZERO).expect("an equilibrium");
    println!("{:?} {:?}", found.margins, found.rest[0]);
    assert!((found.margins.gain / 0.92 - 1.0).abs() < 0.01, "{found:?}");
    assert!((found.margins.gain_frequency / 17.2 - 1.0).abs() < 0.01);
    assert!(!found.is_stable());
}

/// Flows that answer to the sum of two queues only: by which of them is not known.
#[test]
fn queues_that_do_not_follow_from_windows_are_refused() {
    // A link's flows part on two others that are as fast together.
    let s = scenario(
        "duration = \"30 s\"\n\
         [link.a]\nfrom = \"l\"\nto = \"m\"\nrate = \"20 Mbps\"\ndelay = \"5 ms\"\nqueue = { discipline = \"droptail\", limit = \"unlimited\" }\n\
         [link.b]\nfrom = \"m\"\nto = \"r\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\nqueue = { discipline = \"droptail\", limit = \"unlimited\" }\n\
         [link.c]\nfrom = \"m\"\nto = \"q\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\nqueue = { discipline = \"droptail\", limit = \"unlimited\" }\n\
         [flow.f]\nfrom = \"l\"\nto = \"r\"\ncontroller = \"monaco\"\n\
         [flow.g]\nfrom = \"l\"\nto = \"q\"\ncontroller = \"monaco\"\n",
    );
    let error = stability(&s, Time::ZERO).unwrap_err();
    assert!(error.to_string().contains("uniquely"), "{error}");
}
