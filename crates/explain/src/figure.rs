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

/// Returns the compared values as expectations in a common form, with the reference as their
/// target. Ranges are left out, because they have no value for a comparison.
pub(crate) fn figures(scenario: &Scenario, pair: Pair, which: Which) -> Vec<Expectation> {
    let judged = scenario.expectations.iter().filter_map(|e| {
        let tolerance = match e.target {
            Target::Value { tolerance, .. } => tolerance,
            Target::Engine { engine, tolerance } if engine == pair.reference => tolerance,
            Target::Engine { .. } | Target::Beyond { .. } | Target::Range { .. } => return None,
        };
        let fits = e.engine == pair.measured && e.metric.of() != Of::Transfer;
        fits.then(|| Expectation { target: target(pair, tolerance), ..e.clone() })
    });
    match which {
        Which::Expected => {
            let judged: Vec<Expectation> = judged.collect();
            if judged.is_empty() { standard(scenario, pair) } else { judged }
        }
        Which::Standard => standard(scenario, pair),
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

/// The values of the reference and of the engine in question that are farthest apart. The gap is
/// relative, or in the metric's unit if `relative` is false.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    pub reference: f64,
    pub measured: f64,
    pub gap: f64,
}

/// Finds these values for one expectation. Returns `None` if a value is missing, or if a relative
/// gap has a reference of zero.
pub(crate) fn apart(
    reference: &[Option<f64>],
    measured: &[Option<f64>],
    relative: bool,
) -> Option<Apart> {
    let each = reference.iter().zip(measured).map(|(r, m)| {
        let (r, m) = (r.filter(|r| r.is_finite())?, m.filter(|m| m.is_finite())?);
        let gap = match (relative, r == 0.0) {
            (true, true) => return None,
            (true, false) => (m - r) / r.abs(),
            (false, _) => m - r,
        };
        Some(Apart { reference: r, measured: m, gap })
    });
    let each: Vec<Apart> = each.collect::<Option<_>>()?;
    each.into_iter().reduce(|a, b| if b.gap.abs() > a.gap.abs() { b } else { a })
}
