//! The engines that run a scenario, with their names.

use accord_units::{Words, words};
use std::fmt;
use std::str::FromStr;

words! {
    /// An engine that runs a scenario. Tables show engines in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Engine by name {
        /// Computes the equilibrium, phase by phase.
        Theory = "theory",
        /// Computes trajectories, as delay-differential equations.
        Fluid = "fluid",
        /// Simulates every packet, on a virtual clock.
        Packet = "packet",
        /// Sends real packets through a real kernel.
        Live = "live",
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
        Engine::of_word(s).ok_or_else(|| {
            let known = Engine::words().join(", ");
            format!("there is no engine \"{s}\" (there are: {known})")
        })
    }
}
