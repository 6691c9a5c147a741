//! Checks with numbers known beforehand, for every Over, Across and Target.

use crate::support::{expectation, run, scenario, window};
use accord_record::Run;
use accord_report::{Check, Class, checks};
use accord_scenario::{
    Across, Engine, Entity, Expectation, Metric, MetricUnit, Over, Subject, Target,
};

const NAN: f64 = f64::NAN;

/// Two flows; over 2-4 s the first has 2 and 4, the second 6 and 6. Before, 100.
fn packet(seed: u64) -> Run {
    run(
        Engine::Packet,
        seed,
        vec![
            (Metric::Throughput, Entity::Flow(0), vec![100.0, 100.0, 2.0, 4.0]),
            (Metric::Throughput, Entity::Flow(1), vec![100.0, NAN, 6.0, 6.0]),
            (Metric::Losses, Entity::Flow(0), vec![0.0, 0.0, 1.0, 2.0]),
            (Metric::Losses, Entity::Flow(1), vec![0.0; 4]),
            (Metric::Utilisation, Entity::Link(0), vec![NAN, NAN, 0.9, 1.0]),
        ],
    )
}

fn theory() -> Run {
    run(
        Engine::Theory,
        0,
        vec![
            (Metric::Throughput, Entity::Flow(0), vec![3.0; 4]),
            (Metric::Throughput, Entity::Flow(1), vec![5.0; 4]),
        ],
    )
}

fn judge(expectation: Expectation, runs: &[&Run]) -> Check {
    let mut scenario = scenario(&[("pair", 2)], &["b1"], 4);
    scenario.expectations = vec![expectation];
    checks(&scenario, runs).remove(0)
}

fn value(value: f64) -> Target {
    Target::Value { value, tolerance: 0.05 }
}

fn close(got: Option<f64>, expected: f64) {
    let got = got.expect("there is a value");
    assert!((got - expected).abs() < 1e-12, "{got} for {expected}");
}

#[test]
fn every_over_and_across() {
    // Over time, then across flows, but for a sum, which is first across flows: flow 0 has (2, 4), flow 1 has (6, 6).
    let cases = [
        (Over::Mean, Across::Mean, 4.5),
        (Over::Mean, Across::Sum, 9.0),
        (Over::Mean, Across::Min, 3.0),
        (Over::Mean, Across::Max, 6.0),
        (Over::Mean, Across::Variation, 1.5 / 4.5),
        (Over::Mean, Across::Jain, 81.0 / 90.0),
        (Over::Min, Across::Mean, 4.0),
        (Over::Min, Across::Sum, 8.0),
        (Over::Min, Across::Min, 2.0),
        (Over::Min, Across::Max, 6.0),
        (Over::Min, Across::Variation, 0.5),
        (Over::Min, Across::Jain, 64.0 / 80.0),
        (Over::Max, Across::Mean, 5.0),
        (Over::Max, Across::Sum, 10.0),
        (Over::Max, Across::Min, 4.0),
        (Over::Max, Across::Max, 6.0),
        (Over::Max, Across::Variation, 0.2),
        (Over::Max, Across::Jain, 100.0 / 104.0),
        (Over::Variation, Across::Mean, 1.0 / 6.0),
        // The sums are 8 and 10.
        (Over::Variation, Across::Sum, 1.0 / 9.0),
        (Over::Variation, Across::Min, 0.0),
        (Over::Variation, Across::Max, 1.0 / 3.0),
        (Over::Variation, Across::Variation, 1.0),
        (Over::Variation, Across::Jain, 0.5),
        (Over::Quantile(0.25), Across::Mean, 4.25),
        (Over::Quantile(0.25), Across::Sum, 8.5),
        (Over::Quantile(0.25), Across::Min, 2.5),
        (Over::Quantile(0.25), Across::Max, 6.0),
        (Over::Quantile(0.25), Across::Variation, 1.75 / 4.25),
        (Over::Quantile(0.25), Across::Jain, 72.25 / 84.5),
    ];
    for (over, across, expected) in cases {
        let e = Expectation { over, across, ..expectation(value(expected)) };
        let check = judge(e, &[&packet(1)]);
        close(check.measured().map(|m| m.mean), expected);
        assert!(check.pass, "{over:?} {across:?}: {}", check.reason);
        let ratio = over == Over::Variation || matches!(across, Across::Variation | Across::Jain);
        assert_eq!(check.unit == MetricUnit::Ratio, ratio);
        assert_eq!(check.of, "2 flows of pair");
    }
}

#[test]
fn each_shows_the_flow_farthest_off_for_every_over_and_target() {
    let range = |min, max| Target::Range { min, max };
    let cases = [
        // Flow 0 is 40 % below 5, flow 1 20 % above.
        (Over::Mean, value(5.0), 0, 3.0, Some(-0.4)),
        (Over::Mean, value(4.0), 1, 6.0, Some(0.5)),
        (Over::Min, value(5.0), 0, 2.0, Some(-0.6)),
        (Over::Max, value(4.0), 1, 6.0, Some(0.5)),
        (Over::Variation, value(0.3), 1, 0.0, Some(-1.0)),
        (Over::Quantile(1.0), value(6.0), 0, 4.0, Some(-1.0 / 3.0)),
        (Over::Mean, range(4.0, f64::INFINITY), 0, 3.0, Some(-0.25)),
        (Over::Mean, range(f64::NEG_INFINITY, 4.0), 1, 6.0, Some(0.5)),
        (Over::Max, range(0.0, 5.0), 1, 6.0, Some(0.2)),
    ];
    for (over, target, flow, expected, error) in cases {
        let e = Expectation { over, ..expectation(target) };
        let check = judge(e, &[&packet(1)]);
        assert_eq!(check.of, format!("flow pair.{flow}"), "{over:?} {target:?}");
        close(check.measured().map(|m| m.mean), expected);
        close(check.error, error.unwrap());
        assert!(!check.pass);
    }
}

/// A claim that something does not come out holds where every flow is off by more than that; the
/// flow that comes nearest is the one that is shown.
#[test]
fn a_claim_of_a_miss_needs_all_flows_off() {
    let beyond = |value, tolerance| Target::Beyond { value, tolerance };
    // The flows have 3 and 6 on average.
    let cases = [
        (beyond(4.0, 0.2), true, 0, -0.25),
        (beyond(4.0, 0.25), false, 0, -0.25),
        (beyond(5.5, 0.05), true, 1, 0.5 / 5.5),
        (beyond(6.0, 0.05), false, 1, 0.0),
    ];
    for (target, pass, flow, error) in cases {
        let check = judge(expectation(target), &[&packet(1)]);
        assert_eq!(check.pass, pass, "{target:?}: {}", check.reason);
        assert_eq!(check.of, format!("flow pair.{flow}"), "{target:?}");
        close(check.error, error);
    }
}

#[test]
fn another_engine_is_compared_flow_by_flow() {
    let target = |tolerance| Target::Engine { engine: Engine::Theory, tolerance };
    // Flow 0: 3 against 3. Flow 1: 6 against 5.
    let check = judge(expectation(target(0.05)), &[&theory(), &packet(1)]);
    assert_eq!((check.of.as_str(), check.pass), ("flow pair.1", false));
    close(check.error, 0.2);
    close(check.value(Engine::Theory).map(|v| v.mean), 5.0);
    assert_eq!(check.reason, "6.00 bps against 5.00 bps: +20.0 %, ± 5 % allowed");
    assert!(judge(expectation(target(0.2)), &[&theory(), &packet(1)]).pass);
    for (across, expected) in [(Across::Sum, 9.0), (Across::Max, 6.0), (Across::Jain, 0.9)] {
        let e = Expectation { across, ..expectation(target(0.5)) };
        let check = judge(e, &[&theory(), &packet(1)]);
        close(check.measured().map(|m| m.mean), expected);
        assert!(check.pass);
    }
}

#[test]
fn bounds_are_inclusive_and_a_zero_target_wants_zero() {
    let mean = |target| Expectation { across: Across::Mean, ..expectation(target) };
    // 4.5 is exactly 5 % above.
    let exact = Target::Value { value: 4.5 / 1.05, tolerance: 0.05 };
    assert!(judge(mean(exact), &[&packet(1)]).pass);
    let range = Target::Range { min: 4.5, max: 4.5 };
    let check = judge(mean(range), &[&packet(1)]);
    assert_eq!((check.pass, check.error), (true, Some(0.0)));
    let losses = |flow, target| Expectation {
        metric: Metric::Losses,
        of: Subject::Flow(flow),
        ..expectation(target)
    };
    assert!(judge(losses(1, value(0.0)), &[&packet(1)]).pass);
    let check = judge(losses(0, value(0.0)), &[&packet(1)]);
    assert_eq!((check.pass, check.error), (false, None));
    // Counts are summed over the window.
    close(check.measured().map(|m| m.mean), 3.0);
}

#[test]
fn links_and_single_flows_ignore_across() {
    let e = Expectation {
        metric: Metric::Utilisation,
        of: Subject::Link(0),
        across: Across::Jain,
        ..expectation(value(0.95))
    };
    let check = judge(e, &[&packet(1)]);
    assert_eq!((check.of.as_str(), check.pass), ("link b1", true));
    assert_eq!(check.unit, MetricUnit::Ratio);
    close(check.error, 0.0);
}

#[test]
fn repetitions_are_judged_on_their_mean() {
    let other = run(
        Engine::Packet,
        2,
        vec![
            (Metric::Throughput, Entity::Flow(0), vec![5.0; 4]),
            (Metric::Throughput, Entity::Flow(1), vec![6.0; 4]),
        ],
    );
    // Flow 0: mean of 3 and 5; flow 1: of 6 and 6.
    let check = judge(expectation(value(5.0)), &[&packet(1), &other]);
    let measured = check.measured().unwrap();
    assert_eq!((measured.mean, measured.runs), (4.0, 2));
    assert!((measured.half_width.unwrap() - 12.706204736).abs() < 1e-9);
    close(check.error, -0.2);
}

#[test]
fn what_is_missing_fails_and_says_why() {
    let engine = Target::Engine { engine: Engine::Theory, tolerance: 0.1 };
    let e = || expectation(value(1.0));
    let empty = run(Engine::Packet, 1, vec![]);
    let idle = run(
        Engine::Packet,
        1,
        vec![
            (Metric::Throughput, Entity::Flow(0), vec![1.0; 4]),
            (Metric::Throughput, Entity::Flow(1), vec![NAN; 4]),
        ],
    );
    let packet = packet(1);
    let later = Expectation { during: window(10, 20), ..e() };
    let rtt = Expectation { metric: Metric::Rtt, ..e() };
    let nobody = Expectation { of: Subject::Group(7), ..e() };
    let nowhere = Expectation { metric: Metric::Price, of: Subject::Link(7), ..e() };
    let flat =
        Expectation { metric: Metric::Losses, of: Subject::Flow(1), over: Over::Variation, ..e() };
    let cases: Vec<(Expectation, Vec<&Run>, &str)> = vec![
        (e(), vec![], "the packet engine was not run"),
        (expectation(engine), vec![&packet], "the theory engine was not run"),
        (e(), vec![&empty], "the packet engine did not record throughput"),
        (rtt, vec![&packet], "the packet engine did not record rtt"),
        (later, vec![&packet], "the packet run has no sample in 10–20 s"),
        (e(), vec![&idle], "the packet run has no value of throughput in 2–4 s"),
        (nobody, vec![&packet], "the group has no flows"),
        (nowhere, vec![&packet], "the packet engine did not record price"),
        (flat, vec![&packet], "losses has no variation in 2–4 s: no values, or their mean is zero"),
    ];
    for (expectation, runs, reason) in cases {
        let check = judge(expectation, &runs);
        assert!(!check.pass);
        assert_eq!((check.error, check.reason.as_str()), (None, reason));
    }
    // One of two flows without a value: it is the one that fails ...
    assert_eq!(judge(e(), &[&idle]).of, "flow pair.1");
    // ... and does not count among those whose mean is asked for.
    let mean = Expectation { across: Across::Mean, ..e() };
    assert!(judge(mean, &[&idle]).pass);
}

#[test]
fn a_value_that_is_not_finite_fails() {
    let endless = run(
        Engine::Packet,
        1,
        vec![
            (Metric::Throughput, Entity::Flow(0), vec![f64::INFINITY; 4]),
            (Metric::Throughput, Entity::Flow(1), vec![1.0; 4]),
        ],
    );
    let check = judge(expectation(value(1.0)), &[&endless]);
    assert_eq!((check.of.as_str(), check.pass), ("flow pair.0", false));
    let range = Target::Range { min: 0.0, max: f64::INFINITY };
    assert!(!judge(expectation(range), &[&endless]).pass);
}

/// The kept mean of a flow is not its largest sample, and covers only the time in which the flow was active.
#[test]
fn a_sum_needs_samples() {
    let mut scenario = scenario(&[("alone", 1)], &["b1"], 4);
    let values = vec![100.0, 100.0, NAN, 4.0];
    let whole = run(Engine::Packet, 1, vec![(Metric::Throughput, Entity::Flow(0), values)]);
    let kept = whole.means_over(window(2, 4));
    for (over, expected) in [(Over::Max, 4.0), (Over::Mean, 2.0)] {
        let e = Expectation { over, across: Across::Sum, ..expectation(value(expected)) };
        scenario.expectations = vec![e];
        let check = checks(&scenario, &[&whole]).remove(0);
        assert!(check.pass, "{over:?}: {}", check.reason);
        assert_eq!(check.of, "1 flow of alone");
        let check = checks(&scenario, &[&kept]).remove(0);
        assert!(!check.pass && check.measured().is_none(), "{over:?}");
        assert!(check.reason.contains("--series keeps samples"), "{}", check.reason);
    }
}

/// Neither the engine that is judged nor the one it is held against may be unfit.
#[test]
fn an_unfit_run_gets_no_verdict() {
    let expectation = expectation(Target::Engine { engine: Engine::Theory, tolerance: 1e9 });
    let fit = judge(expectation.clone(), &[&theory(), &packet(1)]);
    assert!(fit.pass);
    let unfit = |mut run: Run| {
        run.unfit = Some("too busy".into());
        run
    };
    for runs in [[theory(), unfit(packet(1))], [unfit(theory()), packet(1)]] {
        let check = judge(expectation.clone(), &[&runs[0], &runs[1]]);
        assert!(!check.pass);
        assert_eq!(check.reason, "no verdict: too busy");
        assert_eq!(check.class, Class::Unjudged);
        assert!(!check.class.passes() && check.class < Class::Failed);
    }
}
