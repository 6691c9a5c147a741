//! A group that is recorded as one has quantiles over its flows: those of the series that the flows
//! have if they are recorded one by one.

use accord::record::{Quiet, Run};
use accord::scenario::{Entity, Metric, QUANTILES, Recorded};
use accord::units::Time;
use accord::{Engine, File, Options, Scenario};

/// Flows of several delays.
const LONG: &str = r#"
controller = "newreno"
start = { uniform = ["0 s", "4 s"] }
access = { rate = "1 Gbps", delay = { spread = ["1 ms", "30 ms"] } }
"#;

/// Users who think for long.
const WEB: &str = r#"
controller = "newreno"
demand = { web = {} }
start = { uniform = ["0 s", "2 s"] }
"#;

fn scenario(flows: usize, keys: &str, recorded: Recorded) -> Scenario {
    let text = format!(
        r#"
        duration = "10 s"
        sample = "50 ms"
        [topology.dumbbell]
        rate = "20 Mbps"
        delay = "10 ms"
        queue = {{ discipline = "droptail", limit = "50 KB" }}
        [flow.a]
        count = {flows}
        from = "left"
        to = "right"
        {keys}
        [flow.b]
        count = 2
        from = "left"
        to = "right"
        controller = "none"
        demand = {{ constant = "1 Mbps" }}
        "#
    );
    let file = File::parse("group.toml", &text).expect("TOML");
    let points = file.points(&accord::catalogue(), None);
    let mut scenario = points.expect("sound").remove(0);
    scenario.groups[0].recorded = recorded;
    // Every third flow ends before the others.
    for flow in (0..flows).step_by(3) {
        scenario.flows[flow].stop = Some(Time::from_secs_f64(5.0 + 0.05 * flow as f64));
    }
    scenario
}

fn values(run: &Run, metric: Metric, entity: Entity) -> &[f64] {
    let series = run.series(metric, entity);
    &series.unwrap_or_else(|| panic!("{entity:?} has no {metric}")).values
}

/// The quantile of values in order, by its definition: linear between the nearest ranks.
fn quantile(sorted: &[f64], percent: u8) -> f64 {
    let rank = f64::from(percent) / 100.0 * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    below + (above - below) * (rank - rank.floor())
}

/// Compares the quantiles of each metric with sorted series of the flows. Returns, per metric, the number
/// of samples in which the flows differ.
fn compare(engine: Engine, flows: usize, keys: &str) -> Vec<(Metric, usize)> {
    let of = |recorded| {
        let scenario = scenario(flows, keys, recorded);
        let run = accord::run(&scenario, engine, &Options::default(), &mut Quiet);
        run.expect("it runs")
    };
    let (one, each) = (of(Recorded::Group), of(Recorded::Flows));
    assert_eq!(one.time, each.time);
    let mut differ = Vec::new();
    for metric in Metric::WITH_QUANTILES {
        let single = |flow| values(&each, metric, Entity::Flow(flow));
        let single: Vec<&[f64]> = (0..flows).map(single).collect();
        let mut apart = 0;
        for t in 0..one.time.len() {
            let mut there: Vec<f64> = single.iter().map(|v| v[t]).collect();
            there.retain(|v| !v.is_nan());
            there.sort_by(f64::total_cmp);
            apart += usize::from(there.first() != there.last());
            for percent in QUANTILES {
                let is = values(&one, metric, Entity::Quantile { group: 0, percent })[t];
                let what = || format!("{engine} {metric} p{percent} at {}: {is}", one.time[t]);
                if there.is_empty() {
                    assert!(is.is_nan(), "{}", what())
                } else {
                    let expected = quantile(&there, percent);
                    let close = (is - expected).abs() <= 1e-12 * expected.abs();
                    assert!(close, "{}, not {expected}", what());
                }
            }
        }
        differ.push((metric, apart));
    }
    // Groups whose flows have series have no quantiles.
    let some = |run: &Run, group| {
        let entity = Entity::Quantile { group, percent: 50 };
        run.series(Metric::Throughput, entity).is_some()
    };
    assert!(!some(&each, 0) && !some(&one, 1));
    differ
}

#[test]
fn quantiles_are_those_of_the_series_of_flows() {
    for engine in [Engine::Packet, Engine::Fluid] {
        for (metric, apart) in compare(engine, 60, LONG) {
            assert!(apart > 50, "{engine}: {metric} differs in {apart} samples");
        }
    }
    // In theory of Monaco, rates and accumulations are the same whatever the delay.
    let monaco = LONG.replace("newreno", "monaco");
    let found = compare(Engine::Theory, 60, &monaco).into_iter();
    let unlike = found.filter(|(_, apart)| *apart > 50).map(|(metric, _)| metric);
    assert_eq!(unlike.collect::<Vec<_>>(), [Metric::Cwnd, Metric::Rtt]);
    for (metric, apart) in compare(Engine::Packet, 100, WEB) {
        assert!(apart > 50, "web users: {metric} differs in {apart} samples");
    }
}
