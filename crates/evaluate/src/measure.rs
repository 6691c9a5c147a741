//! From a run to the values of measures.

use crate::pack::{Figure, Measure};
use accord::record::Run;
use accord::report::figure_values;
use accord::scenario::{
    Across, Entity, Metric, MetricUnit, Of, Over, Recorded, Scenario, Subject, Target,
};

/// Returns the entries of `expect` that the measures need, each once: its text, and the measure.
pub(crate) fn entries(measures: &[Measure], wanted: &[usize]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut add = |i: usize| {
        if let Figure::Value(entry) | Figure::Reach(entry) = &measures[i].figure
            && found.iter().all(|(known, _)| *known != i)
        {
            found.push((i, entry.clone()));
        }
    };
    for &i in wanted {
        match measures[i].figure {
            Figure::Ratio(over, under) => [over, under].into_iter().for_each(&mut add),
            _ => add(i),
        }
    }
    found
}

/// Returns the values of the measures `wanted` in a run of a scenario whose expectations are
/// [`entries`] of them. A value is `None` where the run has none.
pub(crate) fn values(
    measures: &[Measure],
    wanted: &[usize],
    scenario: &Scenario,
    run: &Run,
) -> Vec<Option<f64>> {
    let entries = entries(measures, wanted);
    let figures = figure_values(scenario, run);
    let plain = |i: usize| -> Option<f64> {
        let at = entries.iter().position(|(measure, _)| *measure == i)?;
        match measures[i].figure {
            Figure::Reach(_) => reach(scenario, run, at),
            _ => mean(figures.get(at)?),
        }
    };
    (wanted.iter())
        .map(|&i| match measures[i].figure {
            Figure::Ratio(over, under) => {
                let (over, under) = (plain(over)?, plain(under)?);
                (under != 0.0).then(|| over / under)
            }
            _ => plain(i),
        })
        .collect()
}

/// Returns the unit of a measure in a scenario whose expectations are [`entries`] of `wanted`.
pub(crate) fn unit(
    measures: &[Measure],
    wanted: &[usize],
    scenario: &Scenario,
    measure: usize,
) -> MetricUnit {
    let entries = entries(measures, wanted);
    let at = entries.iter().position(|(known, _)| *known == measure);
    match (&measures[measure].figure, at) {
        (Figure::Reach(_), _) => MetricUnit::Seconds,
        (Figure::Ratio(..), _) | (_, None) => MetricUnit::Ratio,
        (_, Some(at)) => scenario.expectations[at].unit(),
    }
}

/// Returns the quantities that a measure needs, in a scenario whose expectations are [`entries`] of
/// `wanted`.
pub(crate) fn metrics(
    measures: &[Measure],
    wanted: &[usize],
    scenario: &Scenario,
    measure: usize,
) -> Vec<Metric> {
    let parts = match measures[measure].figure {
        Figure::Ratio(over, under) => vec![over, under],
        Figure::Value(_) | Figure::Reach(_) => vec![measure],
    };
    let entries = entries(measures, wanted).into_iter().zip(&scenario.expectations);
    let own = entries.filter(|((known, _), _)| parts.contains(known));
    own.map(|(_, expectation)| expectation.metric).collect()
}

/// Returns the mean of the values that there are.
fn mean(values: &[Option<f64>]) -> Option<f64> {
    let there: Vec<f64> = values.iter().copied().flatten().collect();
    (!there.is_empty()).then(|| there.iter().sum::<f64>() / there.len() as f64)
}

/// Returns the time from the start of the window of expectation `at` until its quantity reaches its
/// bound, or the length of the window.
fn reach(scenario: &Scenario, run: &Run, at: usize) -> Option<f64> {
    let wanted = &scenario.expectations[at];
    let Target::Range { min: level, .. } = wanted.target else {
        return None;
    };
    let window = wanted.during;
    let entities: Vec<Entity> = match wanted.of {
        Subject::Flow(flow) => vec![Entity::Flow(flow)],
        Subject::Link(link) => vec![Entity::Link(link)],
        Subject::Aggregate { link, aggregate } => vec![Entity::Aggregate { link, aggregate }],
        Subject::Group(group) if wanted.metric.of() == Of::Flow => {
            match scenario.groups[group].recorded {
                Recorded::Flows => {
                    let flows = scenario.groups[group].flows.clone();
                    flows.map(Entity::Flow).collect()
                }
                Recorded::Group => vec![Entity::Group(group)],
            }
        }
        Subject::Group(group) => vec![Entity::Group(group)],
    };
    let series = entities.iter().filter_map(|e| run.series(wanted.metric, *e));
    let series: Vec<&[f64]> = series.map(|s| &s.values[..]).collect();
    if series.is_empty() || wanted.over != Over::Mean || wanted.across != Across::Each {
        return None;
    }
    let within = run.within(window);
    let start = window.start.as_secs_f64();
    let reached = within.clone().find(|&i| {
        let there = series.iter().map(|s| s[i]).filter(|v| !v.is_nan());
        there.sum::<f64>() >= level
    });
    let end = window.end.as_secs_f64();
    Some(reached.map_or(end, |i| run.time[i]) - start)
}
