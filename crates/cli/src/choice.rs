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
