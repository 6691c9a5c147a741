//! Plots over time: the choice of lines, and their data.

use crate::compare::Outline;
use crate::compare::by_engine;
use crate::json::Point;
use crate::show;
use crate::trace::lines::{Kind, MOST_FLOWS, lines};
use crate::trace::smooth::{period, window};
use crate::trace::thin::{Line, Number, Thinning};
use accord_record::Run;
use accord_scenario::{Engine, Entity, Metric, Of, QUANTILES, Window};
use serde::Serialize;

/// The maximum number of groups or links that a plot shows.
const MOST_SUBJECTS: usize = 24;
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
    /// The largest possible value.
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<f64>,
    /// The span, in seconds, over which each value of a line is a mean, if samples show packets or
    /// bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    smooth: Option<f64>,
    /// The kind of the subjects: "group", "link" or "aggregate".
    kind: &'static str,
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
    /// The least, mean, median, 95th and 99th percentile and largest sample of the steady part.
    #[serde(skip_serializing_if = "Option::is_none")]
    f: Option<[Number; 6]>,
}

/// The panels of a point.
pub struct Plan<'a> {
    pub point: Point<'a>,
    pub outline: Outline,
    /// The first run of each engine.
    pub runs: Vec<(Engine, &'a Run)>,
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
            runs: by_engine.into_iter().map(|(e, runs)| (e, runs[0])).collect(),
        }
    }

    /// Returns an upper bound of the number of lines. Theory's lines hardly count, because they are
    /// constant within phases.
    pub fn lines(&self) -> usize {
        let groups = self.outline.groups.iter().take(MOST_SUBJECTS);
        let of_groups: usize = groups
            .map(|g| match g.flows.len() {
                1 => 1,
                _ if g.as_one => QUANTILES.len(),
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
            Metric::plotted().into_iter().map(move |metric| lines(metric, run)).sum::<usize>()
        };
        packets.map(|(_, run)| of_run(*run)).sum()
    }

    /// Returns true if all runs have samples and not only their means.
    pub fn has_samples(&self) -> bool {
        self.runs.iter().all(|(_, run)| run.only_over.is_none())
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
                remarks.push(format!("The first {MOST_SUBJECTS} of {n} {what} are drawn."));
            }
        }
        let larger = groups.iter().take(MOST_SUBJECTS).filter(|g| !g.as_one);
        for group in larger.filter(|g| g.flows.len() > MOST_FLOWS) {
            let (n, name) = (group.flows.len(), show::name(&group.name, 60));
            remarks.push(format!(
                "Of the {n} flows of {name}, {MOST_FLOWS} can be drawn one by one; the band spans them all."
            ));
        }
        if self.repetitions > 1 {
            let n = self.repetitions;
            remarks.push(format!(
                "The plots show the first of {n} repetitions; tables have means over all."
            ));
        }
        for (g, group) in groups.iter().enumerate().take(MOST_SUBJECTS) {
            if self.runs.iter().any(|(_, run)| is_by_packets(run, g)) {
                let name = show::name(&group.name, 60);
                remarks.push(format!(
                    "Most flows of {name} get no packet in most samples, so their median throughput is 0: a longer `sample` shows rates."
                ));
            }
        }
        let series = self.runs.iter().flat_map(|(_, run)| &run.series);
        let drops = series.filter(|s| s.metric == Metric::Drops);
        let known: Vec<f64> =
            drops.flat_map(|s| &s.values).copied().filter(|v| !v.is_nan()).collect();
        if !known.is_empty() && known.iter().all(|v| *v == 0.0) {
            let at = show::clean(&self.point.label(), 120);
            remarks.push(match at.as_str() {
                "" => "No packet was dropped.".into(),
                at => format!("No packet was dropped with {at}."),
            });
        }
        remarks
    }

    /// Returns the plots, with at most `most` samples per line.
    pub fn plots(&self, most: usize) -> PointPlots {
        let scenario = self.point.scenario;
        let thin = |run: &Run| Thinning::to(most, run.time.len());
        let cuts = scenario.cuts();
        let inner = cuts[1..cuts.len() - 1].iter();
        // The scenario's main figure comes first.
        let first = scenario.figure;
        let others = Metric::plotted().into_iter().filter(|m| Some(*m) != first);
        let panels = (first.into_iter().chain(others)).filter_map(|m| self.panel(m, most));
        PointPlots {
            label: show::clean(&self.point.label(), 120),
            end: scenario.end().as_secs_f64(),
            steady: seconds(scenario.steady),
            // If flows start and stop all the time, phases do not merit a line each.
            phases: match inner.len() {
                0..40 => inner.map(|cut| cut.as_secs_f64()).collect(),
                _ => vec![],
            },
            axes: self.runs.iter().map(|(_, run)| thin(run).axis(&run.time)).collect(),
            engines: self.runs.iter().map(|(engine, _)| engine.name()).collect(),
            panels: panels.collect(),
        }
    }

    fn panel(&self, metric: Metric, most: usize) -> Option<Panel> {
        let subjects = self.drawn(metric);
        let steady = self.point.scenario.steady;
        let windows: Vec<usize> = self
            .runs
            .iter()
            .map(|(engine, run)| match metric {
                // The index is as jagged as the rates that it compares.
                Metric::FairnessIndex => {
                    let rates = self.drawn(Metric::Throughput);
                    window(&self.outline, *engine, run, Metric::Throughput, &rates)
                }
                metric => window(&self.outline, *engine, run, metric, &subjects),
            })
            .collect();
        let mut raw = Vec::new();
        for (of, (_, entities)) in subjects.iter().enumerate() {
            for (engine, (_, run)) in self.runs.iter().enumerate() {
                let lines = lines(run, metric, entities, windows[engine], steady);
                raw.extend(lines.into_iter().map(|line| (of, engine, line)));
            }
        }
        let values = raw.iter().flat_map(|(_, _, line)| &line.values);
        let finite = values.copied().filter(|v| v.is_finite());
        let largest = finite.map(f64::abs).reduce(f64::max)?;
        if metric == Metric::Drops && largest == 0.0 {
            return None; // A remark says so.
        }
        let (one, unit) = show::scale(largest, metric.unit());
        let mut about = match metric {
            Metric::Drops => "Packets dropped at the link's port since the start.".into(),
            metric => metric.doc().to_string(),
        };
        if raw.iter().any(|(_, _, line)| line.kind == Kind::P95) {
            about += " Of a group recorded as one: the median of its flows, with bands from the 25th to the 75th \
                      percentile and from the 5th to the 95th.";
        }
        let lines = raw.into_iter().map(|(of, engine, mut line)| {
            line.values.iter_mut().for_each(|v| *v /= one);
            let run = self.runs[engine].1;
            let flow = line.flow.map(|f| show::name(&self.point.scenario.flows[f].name, 60));
            PanelLine {
                of,
                engine,
                kind: line.kind,
                flow,
                f: line.figures.map(|f| f.0.map(|v| Number::rounded(v / one))),
                v: Line(Thinning::to(most, run.time.len()).line(&line.values)),
            }
        });
        Some(Panel {
            title: metric.row().panel.map_or(metric.name(), |(_, title)| title),
            about,
            unit,
            zero: metric.row().from_zero,
            most: metric.row().most.map(|most| most / one),
            smooth: (self.runs.iter().zip(&windows))
                .filter(|(_, window)| **window > 1)
                .map(|((_, run), window)| period(run) * *window as f64)
                .reduce(f64::max)
                .map(|s| (s * 1e4).round() / 1e4),
            kind: match metric.of() {
                Of::Link => "link",
                Of::Aggregate => "aggregate",
                _ => "group",
            },
            lines: lines.collect(),
            subjects: subjects.into_iter().map(|(name, _)| name).collect(),
        })
    }

    /// Does the same as [`Plan::subjects`], but replaces the sum of a group recorded as a whole by the
    /// quantiles over its flows, if there are any.
    fn drawn(&self, metric: Metric) -> Vec<(String, Vec<Entity>)> {
        let mut subjects = self.subjects(metric);
        for (_, entities) in &mut subjects {
            let [Entity::Group(group)] = entities[..] else {
                continue;
            };
            let quantiles = QUANTILES.map(|percent| Entity::Quantile { group, percent });
            let has = |run: &Run| run.series(metric, quantiles[0]).is_some();
            if self.runs.iter().any(|(_, run)| has(run)) {
                *entities = quantiles.to_vec();
            }
        }
        subjects
    }

    /// Returns the groups, links or aggregates of a panel, with the entities that have their
    /// series.
    pub fn subjects(&self, metric: Metric) -> Vec<(String, Vec<Entity>)> {
        let groups = self.outline.groups.iter().enumerate();
        let mut all: Vec<(String, Vec<Entity>)> = match metric.of() {
            Of::Aggregate => (self.outline.aggregates(|l| l.shown))
                .map(|(name, entity)| (show::name(&name, 60), vec![entity]))
                .collect(),
            Of::Link => (self.outline.links.iter().enumerate().filter(|(_, l)| l.shown))
                .map(|(i, l)| (show::name(&l.name, 60), vec![Entity::Link(i)]))
                .collect(),
            Of::Group => (groups.filter(|(_, g)| g.flows.len() > 1))
                .map(|(i, g)| (g.title(60), vec![Entity::Group(i)]))
                .collect(),
            _ => groups.map(|(i, g)| (g.title(60), self.outline.series_of(i))).collect(),
        };
        all.truncate(MOST_SUBJECTS);
        all
    }
}

/// Returns whether most samples are too short for the median of a group's throughput, which would be 0
/// although data arrives.
fn is_by_packets(run: &Run, group: usize) -> bool {
    let values = |entity| run.series(Metric::Throughput, entity).map(|s| &s.values);
    let percent = 50;
    let (Some(median), Some(sum)) =
        (values(Entity::Quantile { group, percent }), values(Entity::Group(group)))
    else {
        return false;
    };
    let busy = median.iter().zip(sum).filter(|(_, sum)| **sum > 0.0);
    let (zeros, others): (Vec<f64>, Vec<f64>) = busy.map(|(v, _)| *v).partition(|v| *v == 0.0);
    zeros.len() > others.len()
}

fn seconds(window: Window) -> (f64, f64) {
    (window.start.as_secs_f64(), window.end.as_secs_f64())
}
