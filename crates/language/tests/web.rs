//! The draws of web users, against the distribution functions of Barford and Crovella.

use crate::common::points;
use accord_scenario::Flow;
use accord_traffic::{Demand, Web};
use accord_units::{Duration, Time};

/// A flow with this demand.
fn flow(demand: &str) -> Flow {
    let text = format!(
        "duration = \"10 s\"\n\
         topology.dumbbell = {{ rate = \"10 Mbps\", delay = \"5 ms\" }}\n\
         [flow.a]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"reno\"\ndemand = {demand}\n"
    );
    let mut points = points(&text).unwrap_or_else(|e| panic!("{e}"));
    points.remove(0).flows.remove(0)
}

fn web(flow: &Flow) -> Web {
    match flow.demand {
        Demand::Web(web) => web,
        _ => panic!("not a web user"),
    }
}

/// Returns the first pause of a user, and then sizes of files in bytes with the seconds waited
/// after each.
fn browse(flow: &Flow, seed: u64, files: usize) -> (Duration, Vec<(f64, f64)>) {
    let mut user = flow.application(0, seed);
    let first = user.act(Time::ZERO);
    assert_eq!((first.supply, first.is_transfer), (0, false));
    let files = (0..files).map(|_| {
        let step = user.act(Time::ZERO);
        assert!(step.is_transfer && step.new_connection && step.again.is_none());
        let file = user.end().expect("a transfer began");
        assert_eq!(step.supply, file.size.get().div_ceil(1000));
        let pause = file.pause.expect("a user always comes back");
        (file.size.as_f64(), pause.as_secs_f64())
    });
    let files = files.collect();
    (first.again.expect("it waits first"), files)
}

/// Kolmogorov and Smirnov's distance of samples from a distribution function.
fn distance(mut samples: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    let n = samples.len() as f64;
    let off = |(i, x): (usize, &f64)| {
        let (f, i) = (cdf(*x), i as f64);
        (f - i / n).abs().max((f - (i + 1.0) / n).abs())
    };
    samples.iter().enumerate().map(off).fold(0.0, f64::max)
}

/// Distances beyond this happen once in a thousand.
fn critical(n: usize) -> f64 {
    1.95 / (n as f64).sqrt()
}

/// The normal distribution function, by Simpson's rule over its density.
fn normal(z: f64) -> f64 {
    let (from, steps) = (-9.0, 400);
    let h = (z.clamp(from, 9.0) - from) / f64::from(steps);
    let density = |i: i32| (-(from + h * f64::from(i)).powi(2) / 2.0).exp();
    let weight = |i: i32| {
        if i == 0 || i == steps { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) }
    };
    let sum: f64 = (0..=steps).map(|i| weight(i) * density(i)).sum();
    sum * h / 3.0 / std::f64::consts::TAU.sqrt()
}

const FILES: usize = 200_000;

#[test]
fn files_follow_body_and_tail() {
    let (_, files) = browse(&flow("{ web = {} }"), 1, FILES);
    let sizes: Vec<f64> = files.into_iter().map(|(size, _)| size).collect();
    let cdf = |x: f64| {
        let tail = if x > 133e3 { 1.0 - (133e3 / x).powf(1.1) } else { 0.0 };
        0.93 * normal((x.ln() - 9.357) / 1.318) + 0.07 * tail
    };
    // Sizes are whole bytes, which moves the function by less than 1e-4 where most are.
    let off = distance(sizes.clone(), cdf);
    assert!(off < critical(FILES) + 1e-4, "{off}");
    // Far out the exponent shows: of 10 MB and more there are ten times as many as of
    // ten^(1/1.1) times that and more.
    let beyond = |x: f64| sizes.iter().filter(|s| **s > x).count() as f64;
    let hill: f64 = (sizes.iter().filter(|s| **s > 1e6)).map(|s| (s / 1e6).ln()).sum();
    let exponent = beyond(1e6) / hill;
    // The estimator's relative error is one over the root of the number.
    assert!((exponent / 1.1 - 1.0).abs() < 4.0 / beyond(1e6).sqrt(), "{exponent}");
}

#[test]
fn pauses_follow_weibull_and_pareto() {
    // Without objects there is only thinking; with objects shape near 1 hardly any.
    let (_, files) = browse(&flow("{ web = { objects_shape = 100 } }"), 2, FILES);
    // A page has one object for sure: every second pause is a think time.
    let think: Vec<f64> = files.iter().skip(1).step_by(2).map(|(_, t)| *t).collect();
    let off: Vec<f64> = files.iter().step_by(2).map(|(_, t)| *t).collect();
    let d = distance(think.clone(), |t| if t > 1.0 { 1.0 - t.powf(-1.5) } else { 0.0 });
    assert!(d < critical(think.len()), "think {d}");
    let d = distance(off.clone(), |t| 1.0 - (-(t / 1.46).powf(0.382)).exp());
    assert!(d < critical(off.len()), "off {d}");
}

#[test]
fn pages_have_as_many_objects_as_they_should() {
    // Pauses between files of a page are recognised by their length.
    let demand = "{ web = { off_scale = \"1 us\", off_shape = 100, think_least = \"10 s\" } }";
    let (_, files) = browse(&flow(demand), 3, FILES);
    let mut pages = vec![0usize];
    for (_, pause) in &files {
        if *pause >= 10.0 {
            pages.push(0);
        } else {
            *pages.last_mut().unwrap() += 1;
        }
    }
    pages.pop();
    let n = pages.len() as f64;
    for m in 1..8usize {
        // At least m objects: P = m^-2.43.
        let share = pages.iter().filter(|o| **o >= m).count() as f64 / n;
        let expected = (m as f64).powf(-2.43);
        let error = (expected * (1.0 - expected) / n).sqrt();
        assert!((share - expected).abs() <= 4.0 * error, "{m}: {share}");
    }
}

#[test]
fn bounds_hold_and_users_differ() {
    let bounded = "{ web = { largest = \"50 KB\", longest = \"2 s\" } }";
    let (first, files) = browse(&flow(bounded), 4, 10_000);
    assert!(first <= Duration::from_secs(2));
    assert!(files.iter().all(|(size, pause)| *size <= 50e3 && *pause <= 2.0));
    assert!(files.iter().any(|(size, _)| *size == 50e3));
    let flow = flow("{ web = {} }");
    assert_eq!(browse(&flow, 1, 100), browse(&flow, 1, 100));
    assert_ne!(browse(&flow, 1, 100).1, browse(&flow, 2, 100).1);
    let starts: Vec<f64> = (0..1000)
        .map(|id| flow.application(id, 1).act(Time::ZERO).again.unwrap().as_secs_f64())
        .collect();
    assert!(starts.iter().filter(|s| **s < 1.0).count() > 500);
    assert!(starts.windows(2).all(|s| s[0] != s[1]));
}

#[test]
fn the_extremes_of_the_parameters_are_survived() {
    for demand in [
        "{ web = { body_mu = 40, body_sigma = 10, tail_share = 1, tail_shape = 0.1, largest = \"1000 TB\" } }",
        "{ web = { body_mu = 40, body_sigma = 10, tail_share = 0, largest = \"1000 TB\", objects_shape = 1.05 } }",
        "{ web = { body_mu = 0, body_sigma = 0, off_shape = 0.1, think_shape = 0.1, longest = \"720 h\" } }",
        "{ web = { off_shape = 100, off_scale = \"720 h\", think_shape = 100, largest = \"1 B\" } }",
        "{ web = { tail_shape = 1, think_shape = 1 } }",
    ] {
        let flow = flow(demand);
        let (_, files) = browse(&flow, 5, 2000);
        assert!(files.iter().all(|(size, pause)| *size >= 1.0 && *pause <= 30.0 * 86400.0));
        let most = web(&flow).most();
        assert!(most.is_finite() && most > 0.0, "{demand}: {most}");
    }
}

#[test]
fn the_mean_rate_is_that_of_many_users() {
    // Laws with a variance, so a mean says something.
    let flow =
        flow("{ web = { largest = \"1 MB\", off_shape = 1, think_shape = 3, objects_shape = 4 } }");
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for (size, pause) in browse(&flow, 6, FILES).1 {
        bytes += size;
        seconds += pause;
    }
    let (is, should) = (bytes / seconds, web(&flow).most());
    assert!((is / should - 1.0).abs() < 0.02, "{is} {should}");
}
