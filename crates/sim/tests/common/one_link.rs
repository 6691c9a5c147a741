//! Flows over one link in their steady state, for comparisons with closed forms.

use super::*;
use accord_family::Raw;
use accord_record::Quiet;
use accord_sim::run;

/// The bits of a packet.
pub const PACKET: f64 = 8000.0;
/// Half of a 95 % confidence interval of the mean of five seeds, in standard errors.
pub const T95: f64 = 2.776;

pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Flows over a droptail queue. Access links are at least ten times as fast.
#[expect(clippy::too_many_arguments, reason = "a table of values in each call")]
pub fn over_droptail(
    rate: &str,
    access: &str,
    delay: &str,
    limit: Limit,
    flows: usize,
    sender: (&str, &[(&str, Raw)]),
    from: f64,
    until: f64,
) -> Scenario {
    let sender = controller(sender.0, sender.1);
    let queue = discipline("droptail", &[]);
    let duration = format!("{until} s");
    let mut s = Dumbbell::new(rate, delay, queue, limit, &duration)
        .flows("flow", flows, sender, access, (5000, 5000), ("0 s", None), true)
        .0;
    s.links[1].queue.limit = Limit::Unlimited;
    s.steady = window(from, until);
    s
}

/// Goodput of a flow in packets per second over the steady part, the mean of seeds from 1 up, and
/// its standard error.
pub fn packets_a_second(s: &mut Scenario, seeds: u64) -> (f64, f64) {
    let flows = s.flows.len();
    let rates: Vec<f64> = (1..=seeds)
        .map(|seed| {
            s.seed = seed;
            let run = run(s, &mut Quiet).expect("runs");
            let rate = |f| run.mean(Metric::Goodput, Entity::Flow(f), s.steady).unwrap();
            mean((0..flows).map(rate)) / PACKET
        })
        .collect();
    let average = mean(rates.iter().copied());
    let variance = mean(rates.iter().map(|r| (r - average).powi(2)));
    (average, (variance / (seeds - 1) as f64).sqrt())
}
