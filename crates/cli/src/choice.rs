//! Which engines run a scenario.

use accord::scenario::{Engine, Scenario};

/// Returns the engines that were named, or else those that the scenario needs, in their order.
pub fn engines(asked: &[Engine], points: &[Scenario]) -> Vec<Engine> {
    let mut engines = asked.to_vec();
    if engines.is_empty() {
        engines.extend([Engine::Theory, Engine::Packet]);
        let expected = points.iter().flat_map(|s| &s.expectations);
        engines.extend(expected.map(|e| e.engine));
    }
    engines.sort_unstable();
    engines.dedup();
    engines
}

/// Returns those of the engines that run a point. Live runs take real time: unless live was named,
/// points of which nothing is expected live have none.
pub fn at_point(engines: &[Engine], asked: &[Engine], point: &Scenario) -> Vec<Engine> {
    let expected = |engine| point.expectations.iter().any(|e| e.engine == engine);
    let wanted = |e: &Engine| *e != Engine::Live || asked.contains(e) || expected(*e);
    engines.iter().copied().filter(wanted).collect()
}
