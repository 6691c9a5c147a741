//! Verdicts on gaps of runs whose values are given.

use accord_control::FAMILIES as CONTROLLERS;
use accord_explain::{Attribution, Job, Pair, Values, Verdict, Which, attribute, text};
use accord_family::Catalogue;
use accord_language::File;
use accord_scenario::{Engine, Scenario};
use std::convert::Infallible;

const CATALOGUE: Catalogue =
    Catalogue { controllers: CONTROLLERS, disciplines: accord_aqm::FAMILIES };

const PAIR: Pair = Pair { reference: Engine::Theory, measured: Engine::Packet };

/// Three flows whose throughput is expected to be `target`, with these seeds.
fn scenarios(target: &str, seeds: u64) -> Vec<Scenario> {
    let text = format!(
        r#"
        duration = "10 s"
        topology.dumbbell = {{ rate = "8 Mbps", delay = "10 ms" }}
        [flow.f]
        count = 3
        from = "left"
        to = "right"
        controller = "vegas"
        [[expect]]
        name = "share"
        metric = "throughput"
        of = "f"
        engine = "packet"
        equals = "{target}"
        within = "10 %"
        "#
    );
    let file = File::parse("s.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let of_seed = |seed| {
        let points = file.points(&CATALOGUE, Some(seed));
        points.unwrap_or_else(|e| panic!("{e}")).remove(0)
    };
    (21..21 + seeds).map(of_seed).collect()
}

/// The attribution of runs in which the flows have these values by engine and seed, from 0 up.
fn found(
    target: &str,
    seeds: u64,
    values: impl Fn(Engine, u64) -> [Option<f64>; 3],
) -> Attribution {
    let mut run = |jobs: Vec<Job>| -> Result<Vec<Values>, Infallible> {
        let of = |job: Job| vec![values(job.engine, job.scenario.seed - 21).to_vec()];
        Ok(jobs.into_iter().map(of).collect())
    };
    let seeds = scenarios(target, seeds);
    attribute(&seeds, PAIR, Which::Expected, 2, &mut run).expect("no run fails")
}

/// The first flow is 90 % above the reference with one seed and below it with the next, the second one is
/// the opposite, and the third is 20 % above it with all: that is the farthest as a mean.
#[test]
fn gaps_of_several_flows_do_not_cancel_over_seeds() {
    let all = found("theory", 4, |engine, seed| {
        let even = if seed.is_multiple_of(2) { 1.0 } else { -1.0 };
        match engine {
            Engine::Theory => [Some(1.0); 3],
            _ => [1.0 + 0.9 * even, 1.0 - 0.9 * even, 1.2].map(Some),
        }
    });
    let share = &all.findings[0];
    assert!(
        (share.measured - 1.2).abs() < 1e-9 && (share.gap.mean - 0.2).abs() < 1e-9,
        "{share:?}"
    );
    assert_eq!(share.verdict, Verdict::Divergent);
    assert!(!all.pass());
}

/// The mean gap is 1 %, but no seed is nearer than 90 %.
#[test]
fn an_interval_wider_than_the_tolerance_is_no_agreement() {
    let spread = |seed: u64, far: f64| 1.01 + if seed.is_multiple_of(2) { far } else { -far };
    let of = |far: f64| {
        found("theory", 4, move |engine, seed| match engine {
            Engine::Theory => [Some(1.0); 3],
            _ => [spread(seed, far), 1.0, 1.0].map(Some),
        })
    };
    let all = of(0.9);
    assert_eq!(all.findings[0].verdict, Verdict::Unclear, "{:?}", all.findings);
    assert!(!all.pass());
    assert!(text(&all).contains("UNCLEAR: +1.0 % ± "), "{}", text(&all));
    let near = of(0.01);
    assert_eq!(near.findings[0].verdict, Verdict::Agree, "{:?}", near.findings);
    assert!(near.pass());
}

/// Without losses on a wire the mean gap closes, but the seeds may scatter.
#[test]
fn an_interval_wider_than_the_tolerance_explains_nothing() {
    let of = |far: f64| {
        let mut run = |jobs: Vec<Job>| -> Result<Vec<Values>, Infallible> {
            let value = |job: Job| {
                let whole = job.scenario.links.iter().all(|link| link.loss == 0.0);
                let even = if job.scenario.seed.is_multiple_of(2) { far } else { -far };
                match (job.engine, whole) {
                    (Engine::Theory, _) => 1.0,
                    (_, true) => 1.0 + even,
                    (_, false) => 0.5 + even,
                }
            };
            Ok(jobs.into_iter().map(|job| vec![vec![Some(value(job)); 3]]).collect())
        };
        let mut seeds = scenarios("theory", 4);
        seeds.iter_mut().flat_map(|s| &mut s.links).for_each(|link| link.loss = 0.01);
        attribute(&seeds, PAIR, Which::Expected, 2, &mut run).expect("no run fails")
    };
    assert_eq!(of(0.001).findings[0].verdict, Verdict::Explained);
    assert_eq!(of(0.3).findings[0].verdict, Verdict::Divergent);
}

/// An expected value that a run lacks is named with its engine and seed, and fails.
#[test]
fn an_expected_value_that_is_missing_fails() {
    let all = found("theory", 3, |engine, seed| match (engine, seed) {
        (Engine::Packet, 1) => [Some(1.0), None, Some(1.0)],
        _ => [Some(1.0); 3],
    });
    assert!(all.findings.is_empty() && !all.pass());
    assert_eq!(all.missing[0].name, "share");
    assert!(text(&all).contains("share: MISSING: no value in packet, seed 22 (1 of 3 seeds)"));
    // The scenario compares nothing with this model, so its missing value does not count against the packets.
    let none = |engine, _| if engine == Engine::Theory { [None; 3] } else { [Some(1e6); 3] };
    let alone = found("1 Mbps", 2, none);
    assert!(alone.pass() && alone.findings.is_empty() && text(&alone).is_empty());
    assert!(!found("theory", 2, none).pass());
    let lost = |engine, _| if engine == Engine::Theory { [Some(1e6); 3] } else { [None; 3] };
    assert!(!found("1 Mbps", 2, lost).pass());
}
