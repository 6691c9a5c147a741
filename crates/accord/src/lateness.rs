//! The check of whether a late live run may be judged after all.
//!
//! A fixed limit of lateness is a poor criterion: a millisecond matters if a packet takes 10 µs, but not if
//! it takes 8 ms. The packet engine therefore repeats the lateness of the machine, and the effect on each
//! value is compared with its tolerance.

use crate::Error;
use accord_record::{Interrupted, Observer, Run};
use accord_report::figure_values;
use accord_scenario::{Engine, Expectation, Scenario, Target};
use accord_units::Time;

/// The largest effect of lateness on a value, as a share of its tolerance.
const MOST: f64 = 0.25;

/// Lifts the rejection of a live run that was too late, if the lateness moves none of its expected
/// values by more than a quarter of the tolerance. Otherwise the reason gives the largest effect.
///
/// # Errors
/// Fails if the observer stops a run that the check needs.
pub fn settle(
    scenario: &Scenario,
    mut live: Run,
    observer: &mut dyn Observer,
) -> Result<Run, Error> {
    let Some(why) = &live.unfit else {
        return Ok(live);
    };
    let judged = |e: &Expectation| e.engine == Engine::Live;
    if live.stalls.is_empty() || !scenario.expectations.iter().any(judged) {
        return Ok(live);
    }
    let mut ended = Ended { observer, end: scenario.end() };
    let quiet = accord_sim::run(scenario, &mut ended)?;
    let late = accord_sim::run_stalled(scenario, &live.stalls, &mut ended)?;
    let [quiet, late] = [&quiet, &late].map(|run| figure_values(scenario, run));
    let achieved = figure_values(scenario, &live);
    let mut worst: Option<(f64, &str)> = None;
    for (i, expectation) in scenario.expectations.iter().enumerate() {
        if !judged(expectation) {
            continue;
        }
        for ((quiet, late), live) in quiet[i].iter().zip(&late[i]).zip(&achieved[i]) {
            let part = match (quiet, late, live) {
                (Some(quiet), Some(late), Some(live)) => {
                    (late - quiet).abs() / allowed(expectation.target, *quiet, *live)
                }
                // The effect on a value that the packet engine does not have is unknown.
                _ => f64::INFINITY,
            };
            // The value did not move, and was not allowed to.
            let part = if part.is_nan() { 0.0 } else { part };
            if worst.is_none_or(|(most, _)| part > most) {
                worst = Some((part, &expectation.name));
            }
        }
    }
    let Some((part, name)) = worst else {
        return Ok(live);
    };
    let effect = if part.is_finite() {
        format!("moves \"{name}\" by {:.0} % of its tolerance", part * 100.0)
    } else {
        format!("moves \"{name}\" by more than its tolerance, or by an unknown amount")
    };
    if part <= MOST {
        let note = format!("{why}; in the packet engine this {effect} at most, so it is judged");
        live.notes.push(note);
        live.unfit = None;
    } else {
        live.unfit = Some(format!("{why}, which {effect} in the packet engine"));
    }
    Ok(live)
}

/// An observer of a run that has ended, which may still stop the steps after it.
struct Ended<'a> {
    observer: &'a mut dyn Observer,
    end: Time,
}

impl Observer for Ended<'_> {
    fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
        self.observer.progress(self.end)
    }
}

/// Returns the allowed deviation of a value: its tolerance, or its distance from the bounds.
fn allowed(target: Target, quiet: f64, live: f64) -> f64 {
    match target {
        Target::Value { value, tolerance } | Target::Beyond { value, tolerance } => {
            tolerance * value.abs()
        }
        // The other engine's value is near the packet engine's.
        Target::Engine { tolerance, .. } => tolerance * quiet.abs(),
        Target::Range { min, max } => {
            // A missing bound is infinitely far.
            (live - min).abs().min((live - max).abs())
        }
    }
}
