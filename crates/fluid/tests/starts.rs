//! Flows with many different start times share the steps in which they start.

use crate::common::scenario;
use accord_fluid::run_with_step;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};
use accord_units::{Duration, Time};

/// The maximum number of starts that each end a step, on a link of 1 Gbps and 20 ms. The flows
/// start within 0.1 s, ten per step of 1 ms.
const FEW: usize = 1000;

/// One more start, of a flow that sends a byte per second, after which no start ends a step.
const ONE_MORE: &str = "[flow.g]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"none\"\ndemand = { constant = \"8 bps\" }\nstart = \"0.05 s\"\n";

fn flows(controller: &str, model: &str, more: &str) -> Scenario {
    scenario(&format!(
        "duration = \"1 s\"\nsample = \"20 ms\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\n\
         rate = \"1 Gbps\"\ndelay = \"10 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
         [flow.f]\ncount = {FEW}\nrecord = \"flows\"\nfrom = \"left\"\nto = \"right\"\ncontroller = {controller}\n\
         start = {{ uniform = [\"0 s\", \"0.1 s\"] }}\n{more}"
    ))
}

fn run(s: &Scenario, step: f64) -> Run {
    run_with_step(s, step, &mut Quiet).expect("it runs")
}

fn values(run: &Run, metric: Metric, entity: Entity) -> &[f64] {
    &run.series(metric, entity).expect("it is recorded").values
}

/// Every flow sends from its own start on, up to rounding.
#[test]
fn no_byte_is_sent_too_early_or_too_late() {
    let constant = "\"none\"\ndemand = { constant = \"200 kbps\" }";
    for model in ["integrator", "ack-clocked"] {
        let s = flows(constant, model, ONE_MORE);
        let found = run(&s, 1e-3);
        assert_eq!(found.statistics.steps, 1000);
        for (f, flow) in s.flows[..FEW].iter().enumerate() {
            let rates = values(&found, Metric::SendingRate, Entity::Flow(f));
            let bits: f64 = rates.iter().filter(|r| !r.is_nan()).map(|r| r * 0.02).sum();
            let start = flow.start.as_secs_f64();
            let expected = 200e3 * (1.0 - start);
            let error = (bits / expected - 1.0).abs();
            assert!(error < 1e-9, "{model}, {start} s: {bits} and {expected}");
        }
    }
}

/// Returns the error of the queue and of a flow's rate with steps of 1 ms in which flows start, and
/// the same with starts at whole milliseconds, where no flow starts within a step.
#[test]
fn starts_within_steps_cost_no_more_than_steps_do() {
    for (controller, model) in [
        ("monaco", "integrator"),
        ("monaco", "ack-clocked"),
        ("newreno", "integrator"),
        ("newreno", "ack-clocked"),
        ("vegas", "integrator"),
        ("vegas", "ack-clocked"),
    ] {
        let name = format!("\"{controller}\"");
        let own = flows(&name, model, "");
        let shared = run(&flows(&name, model, ONE_MORE), 1e-3);
        assert_eq!(shared.statistics.steps, 1000);
        let mut whole = own.clone();
        for flow in &mut whole.flows {
            let milliseconds = flow.start.since(Time::ZERO).as_ps() / 1_000_000_000;
            flow.start = Time::ZERO + Duration::from_ms(milliseconds);
        }
        // Root mean squares over the maximum.
        let error = |a: &Run, exact: &Run, metric, entity| {
            let (a, b) = (values(a, metric, entity), values(exact, metric, entity));
            let pairs = || a.iter().zip(b).filter(|(a, b)| !a.is_nan() && !b.is_nan());
            let largest = pairs().fold(0.0f64, |m, (_, b)| m.max(b.abs()));
            let sum: f64 = pairs().map(|(a, b)| (a - b).powi(2)).sum();
            (sum / pairs().count() as f64).sqrt() / largest
        };
        let errors = |a: &Run, b: &Run| {
            let of = |f| error(a, b, Metric::SendingRate, Entity::Flow(f));
            let rates = (0..FEW).map(of).sum::<f64>() / FEW as f64;
            (error(a, b, Metric::QueuingDelay, Entity::Link(0)), rates)
        };
        let found = errors(&shared, &run(&own, 1e-4));
        let steps = errors(&run(&whole, 1e-3), &run(&whole, 1e-4));
        println!("{controller} {model}: {found:?}, steps {steps:?}");
        assert!(found.0 < 3.0 * steps.0, "{controller} {model}: {found:?}");
        assert!(found.1 < 3.0 * steps.1, "{controller} {model}: {found:?}");
    }
}
