//! Prices carried by marks: random exponential marking `[Low02 eqs. 31-33]`.
//!
//! A link of price p marks a packet with probability 1 − φ⁻ᵖ. A packet stays unmarked only if no
//! link marks it. So the share of unmarked packets of a path is φ to the power of minus the sum
//! of its prices, and a source can take the logarithm. The equilibrium rates and prices are those
//! of [`solve`](accord_solver::solve), with empty queues: prices are no longer queuing delays.

/// Marking with base φ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rem {
    log_base: f64,
}

impl Rem {
    /// Creates REM with the base φ. Returns `None` if φ is not above 1.
    pub fn new(base: f64) -> Option<Self> {
        let valid = base > 1.0 && base.is_finite();
        valid.then(|| Self { log_base: base.ln() })
    }

    /// Returns the probability that a packet is marked at a price of a link, or of a path
    /// `[Low02 eqs. 31, 32]`.
    pub fn probability(&self, price: f64) -> f64 {
        -(-price * self.log_base).exp_m1()
    }

    /// Returns the probability that one link or another marks a packet `[Low02 eq. 32]`.
    pub fn end_to_end(&self, probabilities: impl IntoIterator<Item = f64>) -> f64 {
        let unmarked: f64 = probabilities.into_iter().map(|m| (-m).ln_1p()).sum();
        -unmarked.exp_m1()
    }

    /// Returns the path price that a source infers from its share of marked packets.
    pub fn price(&self, probability: f64) -> f64 {
        -(-probability).ln_1p() / self.log_base
    }

    /// Returns the rate of a source with target `target` = α·d at its share of marked packets
    /// `[Low02 eq. 33]`.
    pub fn rate(&self, target: f64, probability: f64) -> f64 {
        target / self.price(probability)
    }
}
