//! Live runs: whether they are possible here, and remarks on them.

use crate::args::How;
use crate::fail::Failure;
use crate::output::note;
use accord::Run;
use accord::live::{announcement, obstacle};
use accord::live_mode;
use accord::report::Point;
use accord::scenario::{Engine, Scenario};
use accord::units::Duration;

/// Returns the engines without the live one if it was not named and either this machine cannot
/// run these scenarios live, or this is one `of_many` experiments.
pub fn possible(
    mut engines: Vec<Engine>,
    how: &How,
    of_many: bool,
    scenarios: &[Scenario],
) -> Result<Vec<Engine>, Failure> {
    if !engines.contains(&Engine::Live) {
        return Ok(engines);
    }
    if of_many && !how.engine.contains(&Engine::Live) {
        note(format_args!(
            "{}: of many experiments none is run live unless --engine live asks for it: NO LIVE RUN, and no verdict on what is expected of it",
            scenarios[0].id
        ));
        engines.retain(|e| *e != Engine::Live);
        return Ok(engines);
    }
    if let Some(why) = obstacle(how.options().setting(), scenarios) {
        if how.engine.contains(&Engine::Live) {
            return Err(Failure::Unable(format!("live: {why}")));
        }
        note(format_args!(
            "live: {why}: NO LIVE RUN, and no verdict on what is expected of it"
        ));
        engines.retain(|e| *e != Engine::Live);
    }
    Ok(engines)
}

/// Announces what live runs of these scenarios will set up, and for how long. What is the same for
/// several of them is said once.
pub fn announce<'a>(scenarios: impl IntoIterator<Item = &'a Scenario>, how: &How) {
    let mut scenarios = scenarios.into_iter().peekable();
    if scenarios.peek().is_none() {
        return;
    }
    let mode = live_mode(how.live);
    let mut all: Vec<(String, u64, Duration)> = Vec::new();
    for scenario in scenarios {
        let text = announcement(scenario, mode);
        match all.iter_mut().find(|(known, _, _)| *known == text) {
            Some((_, runs, time)) => {
                *runs += 1;
                *time += scenario.duration;
            }
            None => all.push((text, 1, scenario.duration)),
        }
    }
    for (text, runs, time) in all {
        match runs {
            1 => note(format_args!("live, for {time}: {text}")),
            n => note(format_args!("live, {n} runs, {time} in all: {text}")),
        }
    }
}

/// Returns the remarks on live runs.
pub fn remarks(point: &Point<'_>) -> Vec<String> {
    let (id, at) = (&point.scenario.id, point.label());
    let at = if at.is_empty() { at } else { format!(", {at}") };
    let live = |r: &&Run| r.manifest.engine == Engine::Live;
    (point.runs.iter().filter(live))
        .flat_map(|run| {
            let notes = run.notes.iter().map(|n| format!("  {n}"));
            std::iter::once(format!("{id}{at}, live:")).chain(notes)
        })
        .collect()
}

/// Fails if a run is unfit for a verdict.
pub fn fit<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Result<(), Failure> {
    match runs.into_iter().find_map(|run| run.unfit.as_ref()) {
        Some(why) => Err(Failure::Unable(format!(
            "{why}: no verdict on the live run"
        ))),
        None => Ok(()),
    }
}
