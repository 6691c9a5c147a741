//! The engines that run a scenario, with their names.

use accord_units::words;
use std::fmt;

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
