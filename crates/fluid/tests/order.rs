//! The error falls with the step as the method's order says.

mod common;

use accord_fluid::run_with_step;
use accord_scenario::{Entity, Metric, Quiet, Scenario};
use common::scenario;

fn two_flows(controller: &str, model: &str) -> Scenario {
    scenario(&format!(
        "duration = \"6 s\"\nsample = \"50 ms\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.parking_lot]\nbottlenecks = 2\nrate = \"9 Mbps\"\ndelay = \"13.7 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
         [flow.long]\nfrom = \"r0\"\nto = \"r2\"\ncontroller = {controller}\n[flow.short]\neach_hop = true\nstart = \"0.9131 s\"\ncontroller = {controller}\n"
    ))
}

/// Root mean square difference of the queue of the first hop and of the long flow's rate from
/// a run with much smaller steps, over the largest values.
fn error(s: &Scenario, step: f64, fine: f64) -> f64 {
    let run = |h| run_with_step(s, h, &mut Quiet).unwrap();
    let (a, b) = (run(step), run(fine));
    [
        (Metric::QueuingDelay, Entity::Link(0)),
        (Metric::SendingRate, Entity::Flow(0)),
    ]
    .into_iter()
    .map(|(metric, entity)| {
        let (x, y) = (
            &a.series(metric, entity).unwrap().values,
            &b.series(metric, entity).unwrap().values,
        );
        let largest = y.iter().fold(0.0f64, |m, v| m.max(*v));
        let sum: f64 = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum();
        (sum / x.len() as f64).sqrt() / largest
    })
    .sum()
}

/// Observed order between steps of h and h/2, against h/16.
fn order(controller: &str, model: &str, h: f64) -> f64 {
    let s = two_flows(controller, model);
    let (coarse, half) = (error(&s, h, h / 32.0), error(&s, h / 2.0, h / 32.0));
    (coarse / half).log2()
}

#[test]
fn smooth_laws_are_of_second_order() {
    for model in ["integrator", "ack-clocked"] {
        for policy in ["p", "mw"] {
            let controller = format!(
                "{{ name = \"monaco\", policy = \"{policy}\", gain = 0.2, mw_gain = \"1 Mbps\" }}"
            );
            let found = order(&controller, model, 2e-3);
            println!("{model} {policy}: {found:.2}");
            assert!((1.6..2.7).contains(&found), "{model} {policy}: {found}");
        }
    }
}

#[test]
fn laws_of_the_sign_are_of_first_order() {
    for model in ["integrator", "ack-clocked"] {
        let found = order("{ name = \"monaco\", policy = \"aiad\" }", model, 1e-3);
        println!("{model} aiad: {found:.2}");
        assert!((0.7..2.7).contains(&found), "{model}: {found}");
    }
}
