//! Live runs: their availability, and remarks on them.

use crate::fail::Failure;
use crate::output::note;
use crate::run_options::RunOptions;
use accord::Run;
use accord::live::{announcement, obstacle};
use accord::live_mode;
use accord::report::Point;
use accord::scenario::{Engine, Scenario};
use accord::units::Duration;

/// Returns the engines without the live one if it was not named and either this machine cannot run
/// these scenarios live, or this is one `of_many` experiments.
pub fn possible(
    mut engines: Vec<Engine>,
    options: &RunOptions,
    of_many: bool,
    scenarios: &[Scenario],
) -> Result<Vec<Engine>, Failure> {
    if !engines.contains(&Engine::Live) {
        return Ok(engines);
    }
    if of_many && !options.engine.contains(&Engine::Live) {
        note(format_args!(
            "{}: with several experiments only --engine live makes live runs: NO LIVE RUN, and no verdict on its expectations",
            scenarios[0].id
        ));
        engines.retain(|e| *e != Engine::Live);
        return Ok(engines);
    }
    if let Some(why) = obstacle(options.engine_settings().setting(), scenarios) {
        if options.engine.contains(&Engine::Live) {
            return Err(Failure::Unable(format!("live: {why}")));
        }
        note(format_args!("live: {why}: NO LIVE RUN, and no verdict on its expectations"));
        engines.retain(|e| *e != Engine::Live);
    }
    Ok(engines)
}

/// Announces the set-up and duration of live runs of these scenarios. Equal announcements are made
/// once.
pub fn announce<'a>(scenarios: impl IntoIterator<Item = &'a Scenario>, options: &RunOptions) {
    let mut scenarios = scenarios.into_iter().peekable();
    if scenarios.peek().is_none() {
        return;
    }
    let mode = live_mode(options.live);
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

/// Returns the id of a scenario, and the settings of a point of its sweep.
pub fn place(point: &Point<'_>) -> String {
    match point.label().as_str() {
        "" => point.scenario.id.clone(),
        label => format!("{}, {label}", point.scenario.id),
    }
}

/// Returns the remarks on live runs.
pub fn remarks(point: &Point<'_>) -> Vec<String> {
    let place = place(point);
    let live = |r: &&Run| r.manifest.engine == Engine::Live;
    (point.runs.iter().filter(live))
        .flat_map(|run| {
            let notes = run.notes.iter().map(|n| format!("  {n}"));
            std::iter::once(format!("{place}, live:")).chain(notes)
        })
        .collect()
}

/// Fails if a run is unfit for a verdict.
pub fn fit<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Result<(), Failure> {
    match runs.into_iter().find_map(|run| run.unfit.as_ref()) {
        Some(why) => Err(Failure::Unable(format!("{why}: no verdict on the live run"))),
        None => Ok(()),
    }
}
