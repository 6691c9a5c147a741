//! Checks: the comparison of runs with the expectations of their scenario.

use crate::class::Class;
use crate::compare::by_engine;
use crate::estimate::Estimate;
use crate::measure::Figure;
use crate::show;
use accord_record::Run;
use accord_scenario::{
    Across, Claim, Engine, Entity, Expectation, Metric, MetricUnit, Of, Over, Recorded, Scenario,
    Subject, Target, print_figure,
};
use accord_units::Duration;

/// The relative rounding that does not affect a verdict. A value exactly at its bound passes.
const ROUNDING: f64 = 1e-12;

/// The number of packets that a link may drop if a paper shows no loss. On a plot of about ten thousand
/// packets, a stray one is invisible.
const STRAY: f64 = 1.0;

/// An expectation with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The expectation.
    pub expectation: Expectation,
    /// The unit of all values here: the metric's own, or a ratio.
    pub unit: MetricUnit,
    /// The subject: "link b1", "3 flows of short", and for [`Across::Each`] the flow farthest off:
    /// "flow short.2".
    pub of: String,
    /// The value from each engine that has one, in the engines' order.
    pub values: Vec<(Engine, Estimate)>,
    /// The error of the measured value, relative to the target, with its sign. It is 0 within a
    /// range, and otherwise the distance to the nearest bound. It is `None` if either is missing or
    /// the target is zero.
    pub error: Option<f64>,
    /// True if the expectation is met.
    pub pass: bool,
    /// The reason in words, and the text to write if the file's record of a failure no longer
    /// holds.
    pub reason: String,
    /// The class of the verdict.
    pub class: Class,
    /// The longest time that a run of the engine skipped, and the length of the run, if any was skipped.
    pub skipped: Option<(Duration, Duration)>,
}

impl std::ops::Deref for Check {
    type Target = Expectation;

    fn deref(&self) -> &Expectation {
        &self.expectation
    }
}

impl Check {
    /// Returns the value that is judged, if any.
    pub fn measured(&self) -> Option<Estimate> {
        self.value(self.engine)
    }

    /// Returns the value of one engine.
    pub fn value(&self, engine: Engine) -> Option<Estimate> {
        let found = self.values.iter().find(|(e, _)| *e == engine);
        found.map(|(_, estimate)| *estimate)
    }

    /// Returns four digits of the measured value, in the form of a scenario file.
    pub fn measured_text(&self) -> Option<String> {
        let value = self.measured()?.mean;
        value.is_finite().then(|| {
            let ratio = self.unit == MetricUnit::Ratio;
            print_figure(four_digits(value), self.metric, ratio)
        })
    }

    /// Returns the relative tolerance. A range has none.
    pub fn tolerance(&self) -> Option<f64> {
        match self.target {
            Target::Value { tolerance, .. }
            | Target::Beyond { tolerance, .. }
            | Target::Engine { tolerance, .. } => Some(tolerance),
            Target::Range { .. } => None,
        }
    }
}

/// Judges every expectation of `scenario` by its runs. An engine has one run, or several runs with different
/// seeds, which are judged by their mean. A missing value fails, and the reason says so.
pub fn checks(scenario: &Scenario, runs: &[&Run]) -> Vec<Check> {
    checks_by(scenario, runs, &Engine::ALL)
}

/// Judges the expectations of the engines that have a run, as [`checks`] does.
pub fn checks_of_runs(scenario: &Scenario, runs: &[&Run]) -> Vec<Check> {
    let engines: Vec<Engine> = runs.iter().map(|run| run.manifest.engine).collect();
    checks_by(scenario, runs, &engines)
}

/// Judges the expectations of some engines, as [`checks`] does.
pub fn checks_by(scenario: &Scenario, runs: &[&Run], engines: &[Engine]) -> Vec<Check> {
    let by_engine = by_engine(runs);
    let expectations = scenario.expectations.iter().filter(|e| engines.contains(&e.engine));
    expectations.map(|expectation| check(scenario, &by_engine, expectation)).collect()
}

/// Returns the checks of one expectation by several engines together. They are adjacent.
pub(crate) fn by_expectation(checks: &[Check]) -> impl Iterator<Item = &[Check]> {
    let same = |a: &Check, b: &Check| {
        a.name == b.name && a.metric == b.metric && a.during == b.during && a.engine != b.engine
    };
    checks.chunk_by(same)
}

/// Returns the engines that have a value in any of the checks, in order.
pub(crate) fn engines<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Vec<Engine> {
    let checks: Vec<&Check> = checks.into_iter().collect();
    let has = |engine: &Engine| {
        let judged = |c: &&Check| c.engine == *engine;
        checks.iter().any(|c| judged(c) || c.value(*engine).is_some())
    };
    Engine::ALL.into_iter().filter(has).collect()
}

/// Returns an expectation's value from one engine: the judged value, or else the reference.
pub(crate) fn figure(checks: &[Check], engine: Engine) -> Option<Estimate> {
    match checks.iter().find(|c| c.engine == engine) {
        Some(judged) => judged.measured(),
        None => checks.last()?.value(engine),
    }
}

/// Returns the check with the worst verdict, the last one among equals.
pub(crate) fn worst(checks: &[Check]) -> &Check {
    let worst = checks.iter().max_by_key(|c| c.class);
    worst.expect("an expectation has an engine")
}

/// Returns the value rounded to four significant digits.
fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Returns the values of a run for each expectation. There is one value per flow or link if these
/// are judged individually, and otherwise a single one. A value is `None` if the run lacks it.
pub fn figure_values(scenario: &Scenario, run: &Run) -> Vec<Vec<Option<f64>>> {
    let expectations = scenario.expectations.iter();
    expectations
        .map(|e| {
            let (figure, entities) = subject_of(scenario, e);
            let values = figure.of(&[run], &entities).into_iter();
            values.map(|v| v.map(|v| e.unit().settled(v.mean))).collect()
        })
        .collect()
}

/// Returns the subject of an expectation.
fn subject_of(scenario: &Scenario, expectation: &Expectation) -> (Figure, Vec<Entity>) {
    let across = match expectation.of {
        Subject::Group(_) if matches!(expectation.metric.of(), Of::Flow | Of::Transfer) => {
            expectation.across
        }
        _ => Across::Each,
    };
    let figure = Figure {
        metric: expectation.metric,
        over: expectation.over,
        across,
        during: expectation.during,
    };
    let entities = entities(scenario, expectation.of, expectation.metric);
    (figure, entities)
}

fn check(scenario: &Scenario, runs: &[(Engine, Vec<&Run>)], expectation: &Expectation) -> Check {
    let (figure, entities) = subject_of(scenario, expectation);
    let across = figure.across;
    let figures: Vec<_> =
        runs.iter().map(|(engine, runs)| (*engine, figure.of(runs, &entities))).collect();
    let of_engine = |engine: Engine, i: usize| -> Option<f64> {
        let (_, figures) = figures.iter().find(|(e, _)| *e == engine)?;
        Some((*figures.get(i)?)?.mean)
    };

    let unfit = unfit(runs, expectation);
    let ratio = across.is_plain(expectation.over);
    let unit = if ratio { MetricUnit::Ratio } else { expectation.metric.unit() };
    let count = match across {
        Across::Each => entities.len(),
        _ => 1,
    };
    let worst = (0..count)
        .map(|i| {
            let measured = of_engine(expectation.engine, i);
            let verdict = match (measured, expectation.target) {
                _ if unfit.is_some() => {
                    Verdict::missing(format!("no verdict: {}", unfit.unwrap_or_default()))
                }
                (None, _) => Verdict::missing(missing(runs, expectation, expectation.engine)),
                (Some(m), _) if !m.is_finite() => {
                    Verdict::missing(format!("the value is {m}, not a finite number"))
                }
                (Some(m), Target::Value { value, tolerance }) => near(m, value, tolerance, unit),
                (Some(m), Target::Beyond { value, tolerance }) => far(m, value, tolerance, unit),
                (Some(m), Target::Range { min, max }) => {
                    inside(m, min, greatest(expectation, max), unit)
                }
                (Some(m), Target::Engine { engine, tolerance }) => match of_engine(engine, i) {
                    Some(value) => near(m, value, tolerance, unit),
                    None => Verdict::missing(missing(runs, expectation, engine)),
                },
            };
            (i, verdict)
        })
        // Among equal distances the first is the result.
        .reduce(|a, b| if b.1.off > a.1.off { b } else { a });
    let (shown, verdict) =
        worst.unwrap_or_else(|| (0, Verdict::missing("the group has no flows".into())));

    let mut check = Check {
        expectation: expectation.clone(),
        unit,
        of: subject(scenario, expectation, across, shown),
        values: figures
            .iter()
            .filter_map(|(engine, figures)| Some((*engine, (*figures.get(shown)?)?)))
            .collect(),
        error: verdict.error,
        pass: verdict.pass,
        reason: verdict.reason,
        class: Class::Met,
        skipped: skipped(runs, expectation.engine).map(|span| (span, scenario.duration)),
    };
    match unfit {
        Some(_) => check.class = Class::Unjudged,
        None => classify(&mut check),
    }
    check
}

/// Sets the class of the verdict, and the text to write if the record of a failure no longer holds.
fn classify(check: &mut Check) {
    let known = check.fails.as_ref();
    let cause = known.map_or(Class::Failed, |known| Class::of(known.why));
    let Some(record) = known.and_then(|known| known.record) else {
        check.class = if check.pass { Class::Met } else { cause };
        return;
    };
    let recorded = show::quantity(record.value, check.unit);
    let measured = check.measured_text();
    let problem = match (check.pass, check.measured(), measured) {
        (true, ..) => "it is met, although `fails` lists it: remove that entry".to_string(),
        (false, Some(m), Some(_)) if record.holds(m.mean) => {
            check.class = cause;
            return;
        }
        (false, _, Some(text)) => format!(
            "`fails` has {recorded} ± {}: find the cause of the move, then write measured = {text}",
            show::round_quantity(record.band, MetricUnit::Ratio)
        ),
        (false, ..) => format!("`fails` has {recorded}, and now there is no value"),
    };
    check.class = Class::Failed;
    check.reason = format!("{}; {problem}", check.reason);
}

/// The verdict on one value.
struct Verdict {
    error: Option<f64>,
    /// The key that orders values with the same target by their distance from it.
    off: f64,
    pass: bool,
    reason: String,
}

impl Verdict {
    /// Returns the verdict on a missing value, which is farther off than any other.
    fn missing(reason: String) -> Verdict {
        Verdict { error: None, off: f64::INFINITY, pass: false, reason }
    }
}

fn near(measured: f64, target: f64, tolerance: f64, unit: MetricUnit) -> Verdict {
    let off = (measured - target).abs();
    let pass = off <= tolerance * target.abs() * (1.0 + ROUNDING) + ROUNDING * target.abs();
    let error = if unit.settled(target) == 0.0 {
        (unit.settled(measured) == 0.0).then_some(0.0)
    } else {
        Some((measured - target) / target.abs())
    };
    let how = match error {
        Some(e) => show::error(e),
        None => "more than nothing".into(),
    };
    let allowed = show::round_quantity(tolerance, MetricUnit::Ratio);
    let [is, asked] = if pass {
        [measured, target].map(|v| show::quantity(v, unit))
    } else {
        show::apart([measured, target], unit)
    };
    Verdict {
        error,
        off: error.map_or(f64::MAX, f64::abs),
        pass,
        reason: format!("{is} against {asked}: {how}, ± {allowed} allowed"),
    }
}

fn far(measured: f64, target: f64, tolerance: f64, unit: MetricUnit) -> Verdict {
    let near = near(measured, target, tolerance, unit);
    let error = near.error.unwrap_or(f64::INFINITY);
    let asked = show::round_quantity(tolerance, MetricUnit::Ratio);
    Verdict {
        // With `each`, the nearest flow is shown.
        off: -near.off,
        pass: !near.pass,
        reason: format!(
            "{} against {}: {}, expected more than ± {asked}",
            show::quantity(measured, unit),
            show::quantity(target, unit),
            show::error(error)
        ),
        ..near
    }
}

/// Returns the upper bound of a range. A paper's "no loss" does not count stray packets.
fn greatest(expectation: &Expectation, max: f64) -> f64 {
    let no_loss = expectation.metric == Metric::Drops && max == 0.0;
    if no_loss && expectation.claim == Claim::Paper { STRAY } else { max }
}

fn inside(measured: f64, min: f64, max: f64, unit: MetricUnit) -> Verdict {
    let below = min - measured;
    let above = measured - max;
    let slack = |bound: f64| if bound.is_finite() { ROUNDING * bound.abs() } else { 0.0 };
    let (low, high) = (below <= slack(min), above <= slack(max));
    let pass = low && high;
    let (bound, relation) = if low { (max, "above") } else { (min, "below") };
    let error =
        if pass { Some(0.0) } else { (bound != 0.0).then(|| (measured - bound) / bound.abs()) };
    let text = show::quantity(measured, unit);
    Verdict {
        error,
        off: below.max(above),
        pass,
        reason: if pass {
            let range = Target::Range { min, max };
            format!("{text} is within {}", show::allowed(range, unit))
        } else {
            match show::apart([measured, bound], unit) {
                // More digits than usual.
                [is, bound] if is != text => format!("{is} is {relation} {bound}"),
                _ => format!("{text} is {relation} {}", show::round_quantity(bound, unit)),
            }
        },
    }
}

/// Returns the reason, if any, why the runs of the judged engine, or of the reference engine, allow
/// no verdict.
fn unfit<'a>(runs: &'a [(Engine, Vec<&Run>)], expectation: &Expectation) -> Option<&'a str> {
    let other = match expectation.target {
        Target::Engine { engine, .. } => Some(engine),
        Target::Value { .. } | Target::Beyond { .. } | Target::Range { .. } => None,
    };
    let judged = |engine: Engine| engine == expectation.engine || Some(engine) == other;
    let mut runs = runs.iter().filter(|(engine, _)| judged(*engine));
    runs.find_map(|(_, runs)| runs.iter().find_map(|run| run.unfit.as_deref()))
}

/// Returns the longest time that a run of the engine skipped, if any did.
fn skipped(runs: &[(Engine, Vec<&Run>)], engine: Engine) -> Option<Duration> {
    let (_, runs) = runs.iter().find(|(e, _)| *e == engine)?;
    let longest = runs.iter().map(|run| run.skipped()).max()?;
    (!longest.is_zero()).then_some(longest)
}

/// Returns the reason why an engine has no value, as exactly as the runs allow.
fn missing(runs: &[(Engine, Vec<&Run>)], expectation: &Expectation, engine: Engine) -> String {
    let Some((_, runs)) = runs.iter().find(|(e, _)| *e == engine) else {
        return format!("the {engine} engine was not run");
    };
    let metric = expectation.metric;
    if metric.of() == Of::Transfer {
        let during = show::window(expectation.during);
        return format!("no transfer ended in {during} in the {engine} run");
    }
    let recorded = |run: &&Run| run.series.iter().any(|s| s.metric == metric);
    if !runs.iter().all(recorded) {
        return format!("the {engine} engine did not record {metric}");
    }
    if let Some(only) = runs.iter().find_map(|run| run.only_over) {
        let kept = show::window(only);
        return format!(
            "of the {engine} run only means over {kept} are kept: --series keeps samples"
        );
    }
    let during = show::window(expectation.during);
    if runs.iter().any(|r| r.within(expectation.during).is_empty()) {
        return format!("the {engine} run has no sample in {during}");
    }
    if expectation.over == Over::Variation || expectation.across == Across::Variation {
        return format!("{metric} has no variation in {during}: no values, or their mean is zero");
    }
    if expectation.across == Across::Jain {
        return format!("{metric} has no fairness index in {during}: no values, or all are zero");
    }
    format!("the {engine} run has no value of {metric} in {during}")
}

fn entities(scenario: &Scenario, subject: Subject, metric: Metric) -> Vec<Entity> {
    match subject {
        Subject::Group(i) if metric.of() == Of::Group => vec![Entity::Group(i)],
        Subject::Aggregate { link, aggregate } => vec![Entity::Aggregate { link, aggregate }],
        Subject::Flow(i) => vec![Entity::Flow(i)],
        Subject::Link(i) => vec![Entity::Link(i)],
        Subject::Group(i) => {
            let group = scenario.groups.get(i);
            if group.is_some_and(|g| g.recorded == Recorded::Group) {
                return vec![Entity::Group(i)];
            }
            let flows = group.map_or(0..0, |g| g.flows.clone());
            flows.map(Entity::Flow).collect()
        }
    }
}

fn subject(scenario: &Scenario, expectation: &Expectation, across: Across, shown: usize) -> String {
    let of_group = expectation.metric.of() == Of::Group;
    let flow = |i: usize| match scenario.flows.get(i) {
        Some(flow) => format!("flow {}", flow.name),
        None => format!("flow {i}"),
    };
    match expectation.of {
        Subject::Flow(i) => flow(i),
        Subject::Aggregate { link, aggregate } => {
            let link = scenario.links.get(link).map_or("", |l| &l.name);
            let aggregate = scenario.aggregates.get(aggregate);
            format!("aggregate {link}.{}", aggregate.map_or("", |a| a))
        }
        Subject::Link(i) => match scenario.links.get(i) {
            Some(link) => format!("link {}", link.name),
            None => format!("link {i}"),
        },
        Subject::Group(i) => match (scenario.groups.get(i), across) {
            (None, _) => format!("group {i}"),
            (Some(group), _) if group.recorded == Recorded::Group && !of_group => {
                format!("{} of {} in all", show::count(group.flows.len(), "flow"), group.name)
            }
            (Some(group), Across::Each) if !group.flows.is_empty() && !of_group => {
                flow(group.flows.start + shown)
            }
            (Some(group), _) => {
                format!("{} of {}", show::count(group.flows.len(), "flow"), group.name)
            }
        },
    }
}
