//! The compared values, and their gaps.

use accord_scenario::{
    Across, Claim, Engine, Expectation, Metric, Of, Over, Recorded, Scenario, Subject, Target,
};

/// The relative tolerance of a value without an expectation.
pub const DEFAULT_TOLERANCE: f64 = 0.05;

/// The engine in question and its reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The model.
    pub reference: Engine,
    /// The engine that differs from it.
    pub measured: Engine,
}

/// The figures to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The values that the scenario expects of the engine in question, or the standard ones if
    /// there are none.
    Expected,
    /// Means over the steady part: throughput, round-trip time and accumulation of each group,
    /// utilisation and backlog of each link that carries data.
    Standard,
}

/// The demand for a compared value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The scenario expects the value of the reference.
    Reference,
    /// The scenario expects some other value of the engine in question.
    Measured,
    /// A standard value, which an engine need not have.
    Standard,
}

/// Returns the compared values as expectations in a common form, with the reference as their
/// target. Ranges are left out, because they have no value for a comparison.
pub(crate) fn figures(scenario: &Scenario, pair: Pair, which: Which) -> Vec<(Expectation, Wanted)> {
    let judged = scenario.expectations.iter().filter_map(|e| {
        let (tolerance, wanted) = match e.target {
            Target::Value { tolerance, .. } => (tolerance, Wanted::Measured),
            Target::Engine { engine, tolerance } if engine == pair.reference => {
                (tolerance, Wanted::Reference)
            }
            Target::Engine { .. } | Target::Beyond { .. } | Target::Range { .. } => return None,
        };
        let fits = e.engine == pair.measured && e.metric.of() != Of::Transfer;
        fits.then(|| (Expectation { target: target(pair, tolerance), ..e.clone() }, wanted))
    });
    let judged: Vec<_> = judged.collect();
    match which {
        Which::Expected if !judged.is_empty() => judged,
        _ => standard(scenario, pair).into_iter().map(|e| (e, Wanted::Standard)).collect(),
    }
}

fn target(pair: Pair, tolerance: f64) -> Target {
    Target::Engine { engine: pair.reference, tolerance }
}

fn standard(s: &Scenario, pair: Pair) -> Vec<Expectation> {
    let figure = |of: &str, subject: Subject, metric: Metric| Expectation {
        name: format!("{of}: {}", metric.name().replace('_', " ")),
        engine: pair.measured,
        metric,
        of: subject,
        over: Over::Mean,
        across: Across::Mean,
        during: s.steady,
        target: target(pair, DEFAULT_TOLERANCE),
        paper: String::new(),
        claim: Claim::Theory,
        fails: None,
    };
    let groups = s.groups.iter().enumerate().flat_map(|(g, group)| {
        let metrics: &[Metric] = match group.recorded {
            Recorded::Flows => &[Metric::Throughput, Metric::Rtt, Metric::Accumulation],
            Recorded::Group => &[Metric::Throughput, Metric::Accumulation],
        };
        (metrics.iter()).map(move |&m| figure(&group.name, Subject::Group(g), m))
    });
    // Links that carry data from the start.
    let carries = |l: usize| s.flows.iter().any(|f| f.path.contains(&l));
    let links = s.links.iter().enumerate();
    let links = links.filter(|(l, link)| !link.attachment && carries(*l));
    let links = links.flat_map(|(l, link)| {
        let metrics = [Metric::Utilisation, Metric::Backlog];
        metrics.map(|m| figure(&link.name, Subject::Link(l), m))
    });
    groups.chain(links).collect()
}

/// The values of one run, per expectation and by flow or link.
pub type Values = Vec<Vec<Option<f64>>>;

/// A value of the reference and of the engine in question. The gap is relative, or in the metric's
/// unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    pub reference: f64,
    pub measured: f64,
    pub gap: f64,
}

impl Apart {
    /// Compares two values. Returns `None` if one is missing, or if a relative gap has a reference
    /// of zero.
    pub fn of(reference: Option<f64>, measured: Option<f64>, relative: bool) -> Option<Apart> {
        let finite = |v: Option<f64>| v.filter(|v| v.is_finite());
        let (r, m) = (finite(reference)?, finite(measured)?);
        let gap = match (relative, r == 0.0) {
            (true, true) => return None,
            (true, false) => (m - r) / r.abs(),
            (false, _) => m - r,
        };
        Some(Apart { reference: r, measured: m, gap })
    }
}

/// The flow or link of a compared value whose gap is studied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The index of the value.
    pub figure: usize,
    /// The index of the flow or link.
    pub entity: usize,
    /// True if gaps are relative to the reference.
    pub relative: bool,
}

impl Place {
    /// Returns the value at this place in those of a run.
    pub fn value(self, values: &Values) -> Option<f64> {
        *values[self.figure].get(self.entity)?
    }
}
