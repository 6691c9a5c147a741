//! The common interface of engines.

use accord_units::Time;
use std::fmt;
use std::str::FromStr;

/// The engines that run a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// The equilibrium, phase by phase.
    Theory,
    /// Trajectories, as delay-differential equations.
    Fluid,
    /// Every packet, on a virtual clock.
    Packet,
    /// Real packets through a real kernel.
    Live,
}

impl Engine {
    /// All engines, in the order in which tables show them.
    pub const ALL: [Engine; 4] = [Engine::Theory, Engine::Fluid, Engine::Packet, Engine::Live];

    /// The name in scenario files and on the command line.
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

/// The run was asked to stop before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Listens to a run while it goes on. It can stop the run, and change nothing else.
pub trait Observer {
    /// The run has reached `now`; called often, so it has to be quick. `Err` stops it.
    fn progress(&mut self, now: Time) -> Result<(), Interrupted>;

    /// It wants all packets that leave a port, as bytes of a pcapng file.
    fn wants_packets(&self) -> bool {
        false
    }

    /// The next bytes of that file.
    fn packets(&mut self, _bytes: &[u8]) {}
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
        Ok(())
    }
}
