//! Stability of a scenario's equilibria.

use crate::error::MarginsError;
use crate::linear::Linear;
use crate::linearise::nearby;
use crate::margins::{Margins, margins};
use crate::rest::Rest;
use crate::roots::rightmost_roots;
use crate::rounds::Loop;
use accord_scenario::{LinkModel, Scenario};
use accord_units::Time;
use nalgebra::Complex;

/// The response of an equilibrium to small deviations.
#[derive(Clone, Debug)]
pub struct Stability {
    /// The rightmost characteristic roots above the real axis in 1/s, the rightmost first.
    pub roots: Vec<Complex<f64>>,
    /// The distance from the limit of stability.
    pub margins: Margins,
    /// Of the loops of flows that decide once per round trip, the one with the lowest limit up to
    /// which they are guaranteed to rest, if that limit is below the gain margin.
    pub bound: Option<Loop>,
    /// The margins for packets that respond to the marks or losses of RED. Packets reach the limit earlier
    /// than a fluid, because windows of flows differ and a halved window takes effect over half a round trip.
    /// Packets begin to cycle within 15 % of it (`crates/accord/tests/cycles.rs`).
    pub packets: Option<Margins>,
    /// The reason, if any, why the cycles of packets are unknown.
    pub unknown: Option<&'static str>,
    /// The equilibrium, for each kind of responsive flows.
    pub rest: Vec<Rest>,
}

/// The largest difference of gain margins that counts as equal.
const NEAR: f64 = 1e-6;

impl Stability {
    /// Takes account of the loops of flows that decide once per round trip: the modes, if their limit is
    /// nearer, and the bound.
    fn close_rounds(&mut self) {
        for mode in self.rest.iter().filter_map(|r| r.mode) {
            let factor = mode.factor();
            if factor < self.margins.gain {
                (self.margins.gain, self.margins.gain_frequency) = (factor, mode.frequency);
            }
            if !mode.is_stable() {
                self.roots.push(mode.root);
                (self.margins.delay, self.margins.delay_frequency) = (0.0, f64::NAN);
            }
        }
        self.roots.sort_by(|a, b| b.re.total_cmp(&a.re));
        let bounds = self.rest.iter().filter_map(|r| r.bound);
        let least = bounds.min_by(|a, b| a.factor().total_cmp(&b.factor()));
        self.bound = least.filter(|bound| bound.factor() < self.margins.gain * (1.0 - NEAR));
    }

    /// Returns true if deviations decay in all known modes.
    pub fn is_stable(&self) -> bool {
        self.roots.first().is_none_or(|r| r.re < 0.0)
    }

    /// Returns true if deviations also decay within the bound.
    pub fn is_guaranteed(&self) -> bool {
        self.is_stable() && self.bound.is_none_or(|bound| bound.is_stable())
    }
}

impl Rest {
    /// The jitter in seconds that halves a flow's rate. With x·(q + jitter) = a* it is the queuing delay
    /// itself. With a contract, (x − x̂)·(q + jitter) = a*, so the jitter is longer, and infinite if half of
    /// the rate is contracted. A flow that reacts to marks or losses keeps its window, so the jitter is a
    /// round trip.
    pub fn halving_jitter(&self) -> f64 {
        if self.signal > 0.0 {
            return self.base_rtt + self.queue;
        }
        let half = 0.5 * self.rate;
        (self.queue + self.virtual_delay) * half / (half - self.contract).max(0.0)
    }
}

/// Linearises a scenario at the equilibrium of the phase at `at`, and computes its stability.
///
/// # Errors
/// Fails if there are no margins: see [`MarginsError`].
pub fn stability(scenario: &Scenario, at: Time) -> Result<Stability, MarginsError> {
    let near = nearby(scenario, at)?;
    let of = |linear: &Linear| {
        let roots = rightmost_roots(linear, 1.0);
        let stable = roots.first().is_none_or(|r| r.re < 0.0);
        (margins(linear, stable), roots)
    };
    let (found, roots) = of(&near.fluid);
    let mut found = Stability {
        margins: found,
        roots,
        packets: near.packets.as_ref().map(|linear| of(linear).0),
        unknown: near.unknown,
        bound: None,
        rest: near.rest,
    };
    if scenario.fluid.link_model == LinkModel::AckClocked {
        found.close_rounds();
    }
    Ok(found)
}
