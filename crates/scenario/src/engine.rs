//! The engines that run a scenario, with their names.

use std::fmt;
use std::str::FromStr;

/// An engine that runs a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// Computes the equilibrium, phase by phase.
    Theory,
    /// Computes trajectories, as delay-differential equations.
    Fluid,
    /// Simulates every packet, on a virtual clock.
    Packet,
    /// Sends real packets through a real kernel.
    Live,
}

impl Engine {
    /// All engines, in the order in which tables show them.
    pub const ALL: [Engine; 4] = [Engine::Theory, Engine::Fluid, Engine::Packet, Engine::Live];

    /// Returns the name in scenario files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Theory => "theory",
            Engine::Fluid => "fluid",
            Engine::Packet => "packet",
            Engine::Live => "live",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        Engine::ALL
            .into_iter()
            .find(|e| e.name() == s)
            .ok_or_else(|| {
                let known: Vec<_> = Engine::ALL.iter().map(|e| e.name()).collect();
                format!(
                    "there is no engine \"{s}\" (there are: {})",
                    known.join(", ")
                )
            })
    }
}
