//! Persistent congestion: sources that take the queue which they find for propagation
//! `[Low02 §4.2, theorem 3 and example 1]`.

use accord_solver::{Demand, Problem, ProblemError, Routes, Settings, Solution, solve};

/// The state of example 1 after a source has started.
#[derive(Clone, Debug, PartialEq)]
pub struct Period {
    /// The queuing delay p(t).
    pub queuing_delay: f64,
    /// The rate x_n(t) of each source up to now.
    pub rates: Vec<f64>,
}

/// Returns the periods of example 1: `sources` sources with target rate `alpha` and propagation
/// delay `delay` start one after the other on a link of `capacity`, each when those before it have
/// settled. The recursion is that of `[Low02 eqs. 27-29]`. All arguments are positive.
///
/// Each period is one equation in one unknown, whose left side falls with p(t). It is solved by
/// bisection.
pub fn persistent_congestion(capacity: f64, alpha: f64, delay: f64, sources: usize) -> Vec<Period> {
    let mut periods: Vec<Period> = Vec::with_capacity(sources);
    // These are the values of p(n − 1) as source n found them.
    let mut found = Vec::with_capacity(sources);
    for _ in 0..sources {
        let last = periods.last().map_or(0.0, |period| period.queuing_delay);
        found.push(last);
        let rate = |p: f64, found: f64| alpha * (delay + found) / (p - found);
        let total = |p: f64| found.iter().map(|&found| rate(p, found)).sum::<f64>();
        // At the upper end neither the newcomer alone nor the others fill the link.
        let room = alpha * (delay + last) / capacity * found.len() as f64;
        let (mut low, mut high) = (last, last + room);
        while let middle = 0.5 * (low + high)
            && middle > low
            && middle < high
        {
            *(if total(middle) > capacity { &mut low } else { &mut high }) = middle;
        }
        periods.push(Period {
            queuing_delay: high,
            rates: found.iter().map(|&found| rate(high, found)).collect(),
        });
    }
    periods
}

/// Does the same on any network, by theorem 3. Flows start in order, each when those before it have
/// settled. Each takes the queuing delay of its path at its start for propagation. Returns one
/// solution per start.
///
/// `alpha` and `delays` are those of each flow. Capacities and rates are in the unit of α.
///
/// # Errors
///
/// Fails for a count that does not match, or a value that is out of range.
pub fn newcomers(
    routes: &Routes,
    capacities: &[f64],
    alpha: &[f64],
    delays: &[f64],
    settings: &Settings,
) -> Result<Vec<Solution>, ProblemError> {
    let flows = routes.flows();
    if delays.len() != flows || alpha.len() != flows {
        let delays = delays.len().min(alpha.len());
        return Err(ProblemError::DelayCount { delays, flows });
    }
    let mut solutions: Vec<Solution> = Vec::with_capacity(flows);
    let mut demands = Vec::with_capacity(flows);
    for flow in 0..flows {
        let found: f64 = solutions.last().map_or(0.0, |solution| {
            let path = routes.path(flow).iter();
            path.map(|&link| solution.prices[link as usize]).sum()
        });
        demands.push(Demand::vegas(alpha[flow], delays[flow], found / delays[flow]));
        let started = Routes::new(routes.links(), routes.iter().take(flow + 1))?;
        let problem = Problem::new(started, capacities.to_vec(), demands.clone())?;
        solutions.push(solve(&problem, settings));
    }
    Ok(solutions)
}
