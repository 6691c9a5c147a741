//! Runs by engine.

use accord_record::Run;
use accord_scenario::Engine;

/// Returns the runs by engine, in the engines' order.
pub(crate) fn by_engine<'a>(runs: &[&'a Run]) -> Vec<(Engine, Vec<&'a Run>)> {
    Engine::ALL
        .into_iter()
        .map(|engine| {
            let own = runs.iter().filter(|run| run.manifest.engine == engine);
            (engine, own.copied().collect::<Vec<_>>())
        })
        .filter(|(_, runs)| !runs.is_empty())
        .collect()
}
