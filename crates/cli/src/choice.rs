//! The choice of engines and controllers for a scenario.

use accord::family::Objective;
use accord::scenario::{Engine, Scenario};

/// Returns the settings that give a controller to all groups of flows except those that react to nothing.
pub fn controllers(controller: &str, points: &[Scenario]) -> Vec<String> {
    let scenario = &points[0];
    let groups = scenario.groups.iter().filter(|group| {
        let first = scenario.flows.get(group.flows.start);
        let objective = first.and_then(|f| f.controller.family().role.objective(&f.controller));
        objective != Some(Objective::Unresponsive)
    });
    let named = groups.map(|group| format!("flow.{}.controller={controller}", group.name));
    named.collect()
}

/// Returns the named engines, or else those that the scenario needs, in order.
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

/// Returns the engines that run a point. Live runs take real time: unless live was named, only
/// points with live expectations have one.
pub fn at_point(engines: &[Engine], asked: &[Engine], point: &Scenario) -> Vec<Engine> {
    let expected = |engine| point.expectations.iter().any(|e| e.engine == engine);
    let wanted = |e: &Engine| *e != Engine::Live || asked.contains(e) || expected(*e);
    engines.iter().copied().filter(wanted).collect()
}
