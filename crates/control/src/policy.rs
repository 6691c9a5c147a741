//! Policies: how far to move the window, given the accumulation and its target [Xia05 eqs. 2-6].
//!
//! All have the general form dw/dt = -η·g(t)·f(a − a*), where f has the sign of its argument and is
//! zero only at zero [eq. 2]. So they have the same equilibrium and differ in their approach to it.
//! Each is given here as the change per round trip: the equation times rtt.

use accord_units::Duration;

/// A policy with its gain κ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// Additive increase, additive decrease: −κ·sgn(a − a*) [Xia05 eq. 3].
    Aiad {
        /// κ in bytes per round trip.
        gain: f64,
    },
    /// Mo and Walrand: −κ·rtt_p·(a − a*)/w [Xia05 eq. 5].
    MoWalrand {
        /// κ in bytes per second.
        gain: f64,
    },
    /// Proportional: −κ·(a − a*) [Xia05 eq. 6].
    Proportional {
        /// κ, a number.
        gain: f64,
    },
}

impl Policy {
    /// Returns the change of the window `w` per round trip. `excess` is a − a*. All three are in
    /// bytes.
    pub fn step(&self, excess: f64, w: f64, base_rtt: Duration) -> f64 {
        match *self {
            Policy::Aiad { gain } if excess == 0.0 => 0.0 * gain,
            Policy::Aiad { gain } => -gain * excess.signum(),
            Policy::MoWalrand { gain } => -gain * base_rtt.as_secs_f64() * excess / w,
            Policy::Proportional { gain } => -gain * excess,
        }
    }
}
