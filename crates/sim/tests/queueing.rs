//! Queues against closed forms: one link, Poisson arrivals, ten seeds. The distance of a mean from
//! the formula is bounded in standard errors of the mean, which have to be small.

use accord_family::Catalogue;
use accord_language::File;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};
use accord_sim::run;

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };

const SEEDS: u64 = 10;
/// Student's t with nine degrees of freedom exceeds this once in a thousand, both sides together.
const ERRORS: f64 = 4.781;
/// 10 Mbps in bytes per second.
const RATE: f64 = 1.25e6;
const SECONDS: f64 = 300.0;

const FLOW: Entity = Entity::Flow(0);
const LINK: Entity = Entity::Link(0);

/// A link of 10 Mbps without delay, and one sender without a controller.
fn link(limit: &str, packet: &str, demand: &str, seed: u64) -> (Scenario, Run) {
    let text = format!(
        "duration = \"{} s\"\nseed = {seed}\nsample = \"1 s\"\nsteady = [\"10 s\", \"{} s\"]\n\
         topology.dumbbell = {{ rate = \"10 Mbps\", delay = \"0 s\", \
         queue = {{ discipline = \"droptail\", limit = \"{limit}\" }} }}\n\
         [flow.f]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"none\"\n\
         packet = {packet}\ndemand = {demand}\n",
        SECONDS + 10.0,
        SECONDS + 10.0
    );
    let file = File::parse("test", &text).unwrap_or_else(|e| panic!("{e}"));
    let points = file.points(&CATALOGUE, None);
    let scenario = points.unwrap_or_else(|e| panic!("{e}")).remove(0);
    let run = run(&scenario, &mut Quiet).expect("the observer does not stop it");
    (scenario, run)
}

fn mean((scenario, run): &(Scenario, Run), metric: Metric, of: Entity) -> f64 {
    run.mean(metric, of, scenario.steady).expect("recorded")
}

fn runs(limit: &str, packet: &str, demand: &str) -> Vec<(Scenario, Run)> {
    let seeds = 1..=SEEDS;
    seeds.map(|seed| link(limit, packet, demand, seed)).collect()
}

/// Checks that the mean of `values` is `expected`, with confidence, and that its standard error is
/// at most the fraction `resolved` of it.
#[expect(clippy::print_stdout, reason = "figures for whoever runs the test with --nocapture")]
fn agrees(what: &str, values: &[f64], expected: f64, resolved: f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let error = (squares / (n - 1.0) / n).sqrt();
    println!("{what}: {mean:.5e} ± {error:.1e}, expected {expected:.5e}");
    assert!(error < resolved * expected, "{what}: ± {error} says little");
    let off = (mean - expected).abs();
    assert!(off < ERRORS * error, "{what}: {mean}, not {expected} ± {error}");
}

/// First and second moments of service times, from sizes in bytes and their probabilities.
fn moments(sizes: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    sizes.fold((0.0, 0.0), |(first, second), (size, p)| {
        let time = size / RATE;
        (first + p * time, second + p * time * time)
    })
}

/// Waiting in M/G/1 at a load (Pollaczek and Khinchine): λ·E(S²)/2(1−ρ).
fn waiting(load: f64, (first, second): (f64, f64)) -> f64 {
    let arrivals = load / first;
    arrivals * second / (2.0 * (1.0 - load))
}

/// Waiting, the queue and Little's law at 80 % of load.
fn is_mg1(what: &str, packet: &str, moments: (f64, f64)) {
    const LOAD: f64 = 0.8;
    let runs = runs("unlimited", packet, "{ poisson = \"8 Mbps\" }");
    let of = |metric, of| -> Vec<f64> { runs.iter().map(|r| mean(r, metric, of)).collect() };
    let expected = waiting(LOAD, moments);
    let waited = of(Metric::PathQueuingDelay, FLOW);
    agrees(&format!("{what}, waiting"), &waited, expected, 0.02);
    let there = of(Metric::BacklogPackets, LINK);
    let packets = LOAD / moments.0 * expected;
    agrees(&format!("{what}, packets"), &there, packets, 0.02);
    let used = of(Metric::Utilisation, LINK);
    agrees(&format!("{what}, load"), &used, LOAD, 0.005);
    // Little's law holds in each run, except for the packets present at its ends.
    for run in &runs {
        let arrivals = mean(run, Metric::Arrivals, LINK);
        let delay = mean(run, Metric::PathQueuingDelay, FLOW);
        let there = mean(run, Metric::BacklogPackets, LINK);
        let little = arrivals / SECONDS * delay;
        let ends = 40.0 * delay / SECONDS;
        assert!((little - there).abs() < ends + 1e-3 * there, "{what}: {little} {there}");
    }
}

#[test]
fn md1() {
    is_mg1("M/D/1", "\"1000 B\"", moments([(1000.0, 1.0)].into_iter()));
}

/// Exponential sizes in whole bytes from 40 to 65535: nearly M/M/1, where E(S²) = 2·E(S)².
#[test]
fn mm1() {
    let above = |size: f64| (-size / 1000.0).exp();
    let sizes = (40..=65_535).map(|size| {
        let size = f64::from(size);
        let least = if size == 40.0 { 0.0 } else { size - 0.5 };
        let most = if size == 65_535.0 { f64::INFINITY } else { size + 0.5 };
        (size, above(least) - above(most))
    });
    let (first, second) = moments(sizes);
    assert!((second / (2.0 * first * first) - 1.0).abs() < 0.003);
    is_mg1("M/M/1", "{ exponential = \"1000 B\" }", (first, second));
}

#[test]
fn mg1_of_an_internet_mix() {
    let mix = [(40.0, 7.0), (576.0, 4.0), (1500.0, 1.0)];
    let moments = moments(mix.into_iter().map(|(size, n)| (size, n / 12.0)));
    let packet = "{ mix = { \"40 B\" = 7, \"576 B\" = 4, \"1500 B\" = 1 } }";
    is_mg1("M/G/1, mix", packet, moments);
}

#[test]
fn mg1_of_uniform_sizes() {
    let sizes = (100..=1500).map(|size| (f64::from(size), 1.0 / 1401.0));
    let packet = "{ uniform = [\"100 B\", \"1500 B\"] }";
    is_mg1("M/G/1, uniform", packet, moments(sizes));
}

/// Loss of M/D/1/N, N with the packet in service: 1 − b/(1 + ρ·b) with
/// b = Σ (−1)^k/k!·(N−1−k)^k·e^((N−1−k)ρ)·ρ^k over k < N (Brun and Garcia, "Analytical solution of
/// finite capacity M/D/1 queues", Journal of Applied Probability 37, 2000).
fn md1n_loss(load: f64, n: u32) -> f64 {
    let mut factorial = 1.0;
    let b: f64 = (0..n)
        .map(|k| {
            factorial *= f64::from(k.max(1));
            let left = f64::from(n - 1 - k);
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let powers = left.powi(k as i32) * load.powi(k as i32);
            sign / factorial * powers * (left * load).exp()
        })
        .sum();
    1.0 - b / (1.0 + load * b)
}

#[test]
fn md1_with_little_room() {
    // One place: Erlang's formula.
    assert!((md1n_loss(0.5, 1) - 0.5 / 1.5).abs() < 1e-12);
    for (n, rate, load) in [(1, "8 Mbps", 0.8), (4, "9 Mbps", 0.9), (10, "11 Mbps", 1.1)] {
        let limit = format!("{n} pkt");
        let runs = runs(&limit, "\"1000 B\"", &format!("{{ poisson = \"{rate}\" }}"));
        let lost: Vec<f64> = (runs.iter()).map(|run| mean(run, Metric::LossRatio, LINK)).collect();
        agrees(&format!("M/D/1/{n}"), &lost, md1n_loss(load, n), 0.01);
    }
}

/// Batches of five packets at once, at random instants: a batch waits as a customer of M/D/1 whose
/// service takes five packets, and a packet for those of its batch before it, two on average.
#[test]
fn batches() {
    const BATCH: f64 = 5.0;
    let service = 1000.0 / RATE;
    // The duration of a burst is negligible, so 1/λ is the pause.
    let pause = 8e-3;
    let demand = format!(
        "{{ on_off = {{ rate = \"10 Tbps\", burst = \"5000 B\", \
         pause = {{ exponential = \"{} ms\" }} }} }}",
        pause * 1e3
    );
    let load = BATCH * service / pause;
    let whole = (BATCH * service, (BATCH * service).powi(2));
    let expected = waiting(load, whole) + (BATCH - 1.0) / 2.0 * service;
    let runs = runs("unlimited", "\"1000 B\"", &demand);
    let waited: Vec<f64> =
        (runs.iter()).map(|run| mean(run, Metric::PathQueuingDelay, FLOW)).collect();
    agrees("batches of five, waiting", &waited, expected, 0.02);
}
