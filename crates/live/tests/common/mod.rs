//! Scenarios for the live engine.
#![allow(dead_code, reason = "each test file uses its own part")]

use accord_family::Catalogue;
use accord_language::File;
use accord_live::{Mode, obstacle};
use accord_scenario::Scenario;
use std::io::Write;

/// Returns the scenario of this text.
pub fn scenario(text: &str) -> Scenario {
    let catalogue =
        Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };
    let file = File::parse("test.toml", text).expect("it is TOML");
    file.points(&catalogue, None).expect("it is valid").remove(0)
}

/// Returns all modes that this machine supports, and reports those that it does not.
#[expect(clippy::disallowed_methods, reason = "it has to get past what the harness captures")]
pub fn modes() -> Vec<Mode> {
    let mut modes = Vec::new();
    for mode in Mode::ALL {
        let name = mode.name();
        match obstacle(mode, &[]) {
            None => modes.push(mode),
            // Not captured by the test harness.
            Some(why) => {
                let _ = writeln!(std::io::stderr(), "SKIPPED: no live run with {name}: {why}");
            }
        }
    }
    modes
}
