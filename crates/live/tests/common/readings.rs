//! A scenario, and readings of runs, for tests of flows that other stacks carry.

use super::{Entity, Metric, Run, Scenario};
use std::io::Write;

/// A flow through a queue that marks, with room for all data sent until the sender reacts: nothing is
/// dropped only if marks reach the sender and it responds. `keys` are those of the flow.
pub fn marked(keys: &str) -> String {
    format!(
        r#"
        id = "marked"
        duration = "2.5 s"
        sample = "50 ms"
        [topology.dumbbell]
        rate = "10 Mbps"
        delay = "10 ms"
        queue = {{ discipline = "red", ecn = true, min_threshold = "5 pkt", max_threshold = "100 pkt", max_probability = 0.5, gentle = true, weight = 0.1, limit = "400 pkt" }}
        [flow.a]
        from = "left"
        to = "right"
        {keys}
        "#
    )
}

/// Returns the samples of a metric, without missing ones.
pub fn values(run: &Run, metric: Metric, entity: Entity) -> Vec<f64> {
    let series = run.series(metric, entity).expect("it is recorded");
    let values = series.values.iter().copied();
    values.filter(|v| !v.is_nan()).collect()
}

/// Returns the sum over the samples of a metric of the bottleneck.
pub fn at_bottleneck(s: &Scenario, run: &Run, metric: Metric) -> f64 {
    let link = s.links.iter().position(|l| l.name == "bottleneck");
    let link = Entity::Link(link.expect("a link"));
    values(run, metric, link).iter().sum()
}

/// Returns true if the machine was too busy for a verdict on a run, and reports it. The bounds that follow
/// hold on a machine that keeps up.
pub fn is_unfit(run: &Run) -> bool {
    if let Some(why) = &run.unfit {
        skipped(&format!("bounds of a machine that keeps up: {why}"));
    }
    run.unfit.is_some()
}

/// Reports a skipped test, not captured by the test harness.
#[expect(clippy::disallowed_methods, reason = "it has to get past what the harness captures")]
pub fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
