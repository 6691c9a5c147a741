//! Runs that skip time: their conditions, and remarks on them.

use crate::fail::Failure;
use crate::live::place;
use accord::Run;
use accord::report::Point;
use accord::scenario::Engine;

/// Fails unless the packet engine runs, and the live one does not.
pub fn possible(engines: &[Engine]) -> Result<(), Failure> {
    let runs = |engine| engines.contains(&engine);
    let why = match (runs(Engine::Live), runs(Engine::Packet)) {
        (true, _) => "--skip: a live run cannot skip time",
        (_, false) => "--skip needs the packet engine, which does not run here",
        (false, true) => return Ok(()),
    };
    Err(Failure::new(why).hint("name the engines, for example --engine theory,packet"))
}

/// Reports the time that the packet engine skipped, or why it skipped none.
pub fn remarks(point: &Point<'_>) -> Vec<String> {
    let place = place(point);
    let packets = |r: &&Run| r.manifest.engine == Engine::Packet;
    (point.runs.iter().filter(packets))
        .filter_map(|run| {
            // The engine's note on it is its last.
            let text = run.notes.last()?;
            Some(format!("{place}, seed {}: {text}", run.manifest.seed))
        })
        .collect()
}
