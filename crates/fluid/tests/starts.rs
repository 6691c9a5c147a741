//! Flows that start at times of their own share the steps that they start in.

mod common;

use accord_fluid::run_with_step;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};
use common::scenario;

/// A hundred flows on a link of 100 Mbps and 20 ms that start within 0.2 s.
fn hundred(controller: &str, model: &str, more: &str) -> Scenario {
    scenario(&format!(
        "duration = \"1 s\"\nsample = \"20 ms\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\n\
         rate = \"100 Mbps\"\ndelay = \"10 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
         [flow.f]\ncount = 100\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{controller}\"\n\
         start = {{ uniform = [\"0 s\", \"0.2 s\"] }}\n{more}"
    ))
}

fn values(run: &Run, metric: Metric, entity: Entity) -> &[f64] {
    &run.series(metric, entity).expect("it is recorded").values
}

/// Every flow sends from its own start on, to the rounding of sums.
#[test]
fn no_byte_is_sent_too_early_or_too_late() {
    for model in ["integrator", "ack-clocked"] {
        let s = hundred("none", model, "demand = { constant = \"200 kbps\" }\n");
        let run = run_with_step(&s, 1e-3, &mut Quiet).expect("it runs");
        // The few that are a step from all others end steps of their own.
        assert!(run.statistics.steps < 1100, "{}", run.statistics.steps);
        let mut within = 0;
        for (f, flow) in s.flows.iter().enumerate() {
            let rates = values(&run, Metric::SendingRate, Entity::Flow(f));
            let bits: f64 = rates.iter().filter(|r| !r.is_nan()).map(|r| r * 0.02).sum();
            let start = flow.start.as_secs_f64();
            let expected = 200e3 * (1.0 - start);
            assert!(
                (bits / expected - 1.0).abs() < 1e-9,
                "{model}, {start} s: {bits} and {expected}"
            );
            within += usize::from((start / 1e-3).fract() > 0.01);
        }
        assert!(within > 90, "{within}");
    }
}

/// The queue with steps of 1 ms, against steps so short that nearly every start ends one. Laws of the sign
/// are of first order whatever starts.
#[test]
fn starts_within_steps_cost_no_accuracy() {
    for (controller, model, most) in [
        ("monaco", "integrator", 1e-3),
        ("monaco", "ack-clocked", 1e-3),
        ("newreno", "integrator", 1e-3),
        ("newreno", "ack-clocked", 1e-3),
        ("vegas", "integrator", 5e-3),
        ("vegas", "ack-clocked", 5e-3),
    ] {
        let s = hundred(controller, model, "");
        let [run, exact] =
            [1e-3, 2e-5].map(|step| run_with_step(&s, step, &mut Quiet).expect("it runs"));
        let queue = |run| values(run, Metric::QueuingDelay, Entity::Link(0));
        let pairs = || queue(&run).iter().zip(queue(&exact));
        let largest = pairs().fold(0.0f64, |m, (_, exact)| m.max(*exact));
        let sum: f64 = pairs().map(|(a, b)| (a - b).powi(2)).sum();
        let error = (sum / pairs().count() as f64).sqrt() / largest;
        println!("{controller} {model}: {error:.1e}");
        assert!(error < most, "{controller} {model}: {error:.1e}");
    }
}
