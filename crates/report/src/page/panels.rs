//! Plots over time: the choice of lines, and their data.

use super::thin::{Line, Thinning};
use crate::compare::Outline;
use crate::engines::by_engine;
use crate::json::Point;
use crate::show;
use accord_record::Run;
use accord_scenario::{Engine, Entity, Fold, Metric, Of, Window};
use serde::Serialize;

/// The most groups or links that a plot shows.
const MOST_SUBJECTS: usize = 24;
/// The most flows of a group that are drawn one by one.
const MOST_FLOWS: usize = 4;

/// The plots of one point of a sweep, in the form that the script reads.
#[derive(Serialize)]
pub struct PointPlots {
    label: String,
    /// The end of the run, in seconds.
    end: f64,
    /// The start and the end of the steady window, in seconds.
    steady: (f64, f64),
    /// The times at which flows start or stop or the network changes, in seconds.
    phases: Vec<f64>,
    /// The first time, the step and the number of samples, per engine.
    axes: Vec<(f64, f64, usize)>,
    engines: Vec<&'static str>,
    panels: Vec<Panel>,
}

#[derive(Serialize)]
struct Panel {
    title: &'static str,
    /// The description of the quantity, one sentence.
    about: String,
    /// The unit of all values in the panel.
    unit: &'static str,
    /// True if the axis starts at zero.
    zero: bool,
    /// The groups or links of the lines.
    subjects: Vec<String>,
    lines: Vec<PanelLine>,
}

#[derive(Serialize)]
struct PanelLine {
    /// The index in the panel's subjects.
    of: usize,
    /// The index in the point's engines and axes.
    engine: usize,
    kind: Kind,
    /// The name of the flow, if the line is of a single flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    flow: Option<String>,
    v: Line,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// The value of a link, or the mean over a group's flows.
    Main,
    /// The mean of the controllers' estimates over a group's flows.
    Estimate,
    /// The smallest value of a group's flows.
    Low,
    /// The largest value of a group's flows.
    High,
    /// A single flow.
    Flow,
}

/// A panel before its data: the metric and the form in which it is shown.
struct Template {
    title: &'static str,
    metric: Metric,
    zero: bool,
}

const fn template(title: &'static str, metric: Metric, zero: bool) -> Template {
    Template {
        title,
        metric,
        zero,
    }
}

const TEMPLATES: [Template; 16] = [
    template("Throughput of a flow", Metric::Throughput, true),
    template("Rate of an aggregate", Metric::AdmittedRate, true),
    template("Offered rate of an aggregate", Metric::OfferedRate, true),
    template("Ratio of rates", Metric::RateRatio, true),
    template("Fairness within a group", Metric::FairnessIndex, true),
    template("Fairness of aggregates", Metric::AggregateFairness, true),
    template("Decrease factor", Metric::DecreaseFactor, true),
    template("Transmit probability", Metric::TransmitProbability, true),
    template("Excess bandwidth", Metric::ExcessBandwidth, true),
    template("Queue", Metric::BacklogPackets, true),
    template("Utilisation", Metric::Utilisation, true),
    template("Congestion window", Metric::Cwnd, true),
    template(
        "Accumulation: true and estimated",
        Metric::Accumulation,
        true,
    ),
    template("Round-trip time", Metric::Rtt, false),
    template("Price", Metric::Price, true),
    template("Packets dropped so far", Metric::Drops, true),
];

/// The panels of a point.
pub struct Plan<'a> {
    point: Point<'a>,
    outline: Outline,
    /// The first run of each engine.
    runs: Vec<(Engine, &'a Run)>,
    repetitions: usize,
}

impl<'a> Plan<'a> {
    /// Returns the plan for `point`.
    pub fn of(point: &Point<'a>) -> Plan<'a> {
        let by_engine = by_engine(&point.runs());
        Plan {
            point: *point,
            outline: Outline::of(point.scenario),
            repetitions: by_engine.iter().map(|(_, r)| r.len()).max().unwrap_or(0),
            runs: by_engine
                .into_iter()
                .map(|(e, runs)| (e, runs[0]))
                .collect(),
        }
    }

    /// Returns an upper bound of the number of lines. Theory's lines hardly count, because they are
    /// constant from phase to phase.
    pub fn lines(&self) -> usize {
        let groups = self.outline.groups.iter().take(MOST_SUBJECTS);
        let of_groups: usize = groups
            .map(|g| match g.flows.len() {
                1 => 1,
                _ if g.as_one => 1,
                n => 3 + n.min(MOST_FLOWS),
            })
            .sum();
        let links = self.outline.links.iter().filter(|l| l.shown);
        let of_links = links.take(MOST_SUBJECTS).count();
        let of_aggregates = self.outline.aggregates(|l| l.shown);
        let of_aggregates = of_aggregates.take(MOST_SUBJECTS).count();
        let lines = |metric: Metric, run: &Run| {
            match run.series.iter().any(|s| s.metric == metric) {
                false => 0,
                true if metric.of() == Of::Link => of_links,
                true if metric.of() == Of::Aggregate => of_aggregates,
                // The panel of accumulations also has their estimates.
                true if metric == Metric::Accumulation => of_groups + self.outline.groups.len(),
                true => of_groups,
            }
        };
        let packets = self.runs.iter().filter(|(e, _)| *e != Engine::Theory);
        let of_run = |run| {
            TEMPLATES
                .iter()
                .map(move |t| lines(t.metric, run))
                .sum::<usize>()
        };
        packets.map(|(_, run)| of_run(*run)).sum()
    }

    /// Returns the largest number of samples of any run.
    pub fn samples(&self) -> usize {
        let samples = self.runs.iter().map(|(_, run)| run.time.len());
        samples.max().unwrap_or(0)
    }

    /// Returns remarks on the series that the plots leave out.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let groups = &self.outline.groups;
        let links = self.outline.links.iter().filter(|l| l.shown).count();
        for (n, what) in [(groups.len(), "groups"), (links, "links")] {
            if n > MOST_SUBJECTS {
                remarks.push(format!(
                    "The first {MOST_SUBJECTS} of {n} {what} are drawn."
                ));
            }
        }
        let larger = groups.iter().take(MOST_SUBJECTS).filter(|g| !g.as_one);
        for group in larger.filter(|g| g.flows.len() > MOST_FLOWS) {
            let (n, name) = (group.flows.len(), show::clean(&group.name, 60));
            remarks.push(format!(
                "Of the {n} flows of {name}, {MOST_FLOWS} can be drawn one by one; the band spans them all."
            ));
        }
        if self.repetitions > 1 {
            let n = self.repetitions;
            remarks.push(format!(
                "The plots show the first of {n} repetitions; figures are means over all."
            ));
        }
        let series = self.runs.iter().flat_map(|(_, run)| &run.series);
        let drops = series.filter(|s| s.metric == Metric::Drops);
        let known: Vec<f64> = drops
            .flat_map(|s| &s.values)
            .copied()
            .filter(|v| !v.is_nan())
            .collect();
        if !known.is_empty() && known.iter().all(|v| *v == 0.0) {
            remarks.push("No packet was dropped.".into());
        }
        remarks
    }

    /// Returns the plots, with at most `most` samples per line.
    pub fn plots(&self, most: usize) -> PointPlots {
        let scenario = self.point.scenario;
        let thin = |run: &Run| Thinning::to(most, run.time.len());
        let cuts = scenario.cuts();
        let inner = cuts[1..cuts.len() - 1].iter();
        let panels = TEMPLATES.iter().filter_map(|t| self.panel(t, most));
        PointPlots {
            label: show::clean(&self.point.label(), 120),
            end: scenario.end().as_secs_f64(),
            steady: seconds(scenario.steady),
            // If flows start and stop all the time, phases are not worth a line each.
            phases: match inner.len() {
                0..40 => inner.map(|cut| cut.as_secs_f64()).collect(),
                _ => vec![],
            },
            axes: self
                .runs
                .iter()
                .map(|(_, run)| thin(run).axis(&run.time))
                .collect(),
            engines: self.runs.iter().map(|(engine, _)| engine.name()).collect(),
            panels: panels.collect(),
        }
    }

    fn panel(&self, template: &Template, most: usize) -> Option<Panel> {
        let expected = &self.point.scenario.expectations;
        if template.metric == Metric::FairnessIndex
            && expected.iter().all(|e| e.metric != Metric::FairnessIndex)
        {
            return None; // The band of the throughputs shows as much.
        }
        let subjects = self.subjects(template.metric);
        let mut raw = Vec::new();
        for (of, (_, entities)) in subjects.iter().enumerate() {
            for (engine, (_, run)) in self.runs.iter().enumerate() {
                let lines = lines(run, template.metric, entities);
                raw.extend(lines.into_iter().map(|line| (of, engine, line)));
            }
        }
        let values = raw.iter().flat_map(|(_, _, line)| &line.values);
        let finite = values.copied().filter(|v| v.is_finite());
        let largest = finite.map(f64::abs).reduce(f64::max)?;
        if template.metric == Metric::Drops && largest == 0.0 {
            return None; // A remark says so.
        }
        let (one, unit) = show::scale(largest, template.metric.unit());
        let lines = raw.into_iter().map(|(of, engine, mut line)| {
            line.values.iter_mut().for_each(|v| *v /= one);
            let run = self.runs[engine].1;
            let flow = line
                .flow
                .map(|f| show::clean(&self.point.scenario.flows[f].name, 60));
            PanelLine {
                of,
                engine,
                kind: line.kind,
                flow,
                v: Line(Thinning::to(most, run.time.len()).line(&line.values)),
            }
        });
        let about = match template.metric {
            Metric::Drops => "Packets dropped at the link's port since the start.".into(),
            metric => metric.doc().to_string(),
        };
        Some(Panel {
            title: template.title,
            about,
            unit,
            zero: template.zero,
            lines: lines.collect(),
            subjects: subjects.into_iter().map(|(name, _)| name).collect(),
        })
    }

    /// Returns the groups, links or aggregates of a panel, with the entities that have the series.
    fn subjects(&self, metric: Metric) -> Vec<(String, Vec<Entity>)> {
        if metric.of() == Of::Aggregate {
            let aggregates = self.outline.aggregates(|l| l.shown).take(MOST_SUBJECTS);
            let named = aggregates.map(|(name, entity)| (show::clean(&name, 60), vec![entity]));
            return named.collect();
        }
        if metric.of() == Of::Link {
            let links = self
                .outline
                .links
                .iter()
                .enumerate()
                .filter(|(_, l)| l.shown);
            let named = links.map(|(i, l)| (show::clean(&l.name, 60), vec![Entity::Link(i)]));
            return named.take(MOST_SUBJECTS).collect();
        }
        let groups = self.outline.groups.iter().enumerate();
        if metric.of() == Of::Group {
            let groups = groups.filter(|(_, g)| g.flows.len() > 1);
            let named = groups.map(|(i, g)| (show::clean(&g.name, 60), vec![Entity::Group(i)]));
            return named.take(MOST_SUBJECTS).collect();
        }
        let named = groups.map(|(i, g)| (g.title(60), self.outline.series_of(i)));
        named.take(MOST_SUBJECTS).collect()
    }
}

/// A line in the metric's own unit, before it is thinned.
struct Raw {
    kind: Kind,
    flow: Option<usize>,
    values: Vec<f64>,
}

/// Returns the lines of one metric of a group or link in one run.
fn lines(run: &Run, metric: Metric, entities: &[Entity]) -> Vec<Raw> {
    let line = |kind, values| Raw {
        kind,
        flow: None,
        values,
    };
    let series = all(run, metric, entities);
    if series.is_empty() {
        return vec![];
    }
    let means = mean(run, &series);
    if means.iter().all(|v| v.is_nan()) {
        return vec![];
    }
    let mut lines = vec![line(Kind::Main, means)];
    if metric.fold() == Fold::Sum {
        lines[0].values = so_far(&lines[0].values);
    }
    // The estimates of theory's controllers are exact.
    let theory = run.manifest.engine == Engine::Theory;
    if metric == Metric::Accumulation && !theory {
        let estimates = all(run, Metric::AccumulationEstimate, entities);
        let means = mean(run, &estimates);
        if means.iter().any(|v| !v.is_nan()) {
            lines.push(line(Kind::Estimate, means));
        }
    }
    // In theory the flows of a group hardly differ. If they do, the packet engine shows it.
    if series.len() > 1 && !theory {
        let low = across(run, &series, |a, v| if v < a { v } else { a });
        let high = across(run, &series, |a, v| if v > a { v } else { a });
        lines.push(line(Kind::Low, low));
        lines.push(line(Kind::High, high));
        for i in chosen(series.len()) {
            lines.push(Raw {
                kind: Kind::Flow,
                flow: Some(series[i].0),
                values: series[i].1.to_vec(),
            });
        }
    }
    lines
}

/// Returns the series of those entities that have it, with the entity's index.
fn all<'r>(run: &'r Run, metric: Metric, entities: &[Entity]) -> Vec<(usize, &'r [f64])> {
    let found = entities.iter().filter_map(|&entity| {
        let i = match entity {
            Entity::Flow(i) | Entity::Group(i) | Entity::Link(i) => i,
            Entity::Aggregate { aggregate, .. } => aggregate,
        };
        Some((i, run.series(metric, entity)?.values.as_slice()))
    });
    found.collect()
}

/// Folds the values of several series at each sample. The result is NaN if none has a value.
fn across(run: &Run, series: &[(usize, &[f64])], fold: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let mut out = vec![f64::NAN; run.time.len()];
    for (_, values) in series {
        for (out, &v) in out.iter_mut().zip(*values).filter(|(_, v)| !v.is_nan()) {
            *out = if out.is_nan() { v } else { fold(*out, v) };
        }
    }
    out
}

fn mean(run: &Run, series: &[(usize, &[f64])]) -> Vec<f64> {
    let mut counts = vec![0.0; run.time.len()];
    for (_, values) in series {
        for (n, _) in counts.iter_mut().zip(*values).filter(|(_, v)| !v.is_nan()) {
            *n += 1.0;
        }
    }
    let sums = across(run, series, |sum, v| sum + v);
    sums.iter().zip(counts).map(|(sum, n)| sum / n).collect()
}

/// Returns the running sum, in which NaN counts as zero.
fn so_far(values: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let add = |v: &f64| {
        sum += if v.is_nan() { 0.0 } else { *v };
        sum
    };
    values.iter().map(add).collect()
}

/// Returns some of `n` flows, from the first to the last.
fn chosen(n: usize) -> Vec<usize> {
    match n <= MOST_FLOWS {
        true => (0..n).collect(),
        false => (0..MOST_FLOWS)
            .map(|i| i * (n - 1) / (MOST_FLOWS - 1))
            .collect(),
    }
}

fn seconds(window: Window) -> (f64, f64) {
    (window.start.as_secs_f64(), window.end.as_secs_f64())
}
