//! Values that runs lack, so they are not compared.

use crate::figure::{Pair, Values, Wanted};
use accord_scenario::Scenario;
use serde::Serialize;

/// A value that is not compared, because runs lack it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The name of the expectation or of the standard value.
    pub name: String,
    /// The engine, the first seed without a value, and the number of such seeds.
    pub why: String,
    /// True if the value should be there: the engine in question lacks a value that the scenario
    /// expects of it, the reference lacks one that the scenario compares with, or only some of the
    /// seeds have one.
    pub fails: bool,
}

impl Missing {
    /// Returns why a value is not compared. `runs` has the values of the reference and of the engine in
    /// question by seed. A standard value that an engine lacks for all seeds is not expected, so it is
    /// not reported.
    pub(crate) fn of(
        figure: usize,
        wanted: Wanted,
        seeds: &[Scenario],
        runs: &[(Values, Values)],
        pair: Pair,
    ) -> Option<Missing> {
        let there = |v: &Option<f64>| v.is_some_and(f64::is_finite);
        let has = |values: &Values| !values[figure].is_empty() && values[figure].iter().all(there);
        let without = |of: fn(&(Values, Values)) -> &Values| -> Vec<u64> {
            let pairs = seeds.iter().zip(runs);
            pairs.filter(|(_, run)| !has(of(run))).map(|(s, _)| s.seed).collect()
        };
        let (reference, measured) = (without(|run| &run.0), without(|run| &run.1));
        let in_part = |seeds: &[u64]| !seeds.is_empty() && seeds.len() < runs.len();
        let fails = in_part(&reference)
            || in_part(&measured)
            || match wanted {
                Wanted::Reference => true,
                Wanted::Measured => !measured.is_empty(),
                Wanted::Standard => return None,
            };
        let (engine, none) = if measured.is_empty() {
            (pair.reference, reference)
        } else {
            (pair.measured, measured)
        };
        let (first, n, all) = (none.first()?, none.len(), runs.len());
        let why = match all {
            1 => format!("no value in {engine}, seed {first}"),
            _ => format!("no value in {engine}, seed {first} ({n} of {all} seeds)"),
        };
        Some(Missing { name: seeds[0].expectations[figure].name.clone(), why, fails })
    }
}
