//! The price of a path, estimated by the sender from the share of its packets marked.
//!
//! ```text
//! p̂ = −log_φ(1 − m̂)     [Low02 §5, the inverse of eq. 32]
//! ```
//!
//! m̂ is the mean over the packets acknowledged, the older the less: each counts 1/N, and
//! the first N packets count alike. The logarithm exaggerates what m̂ is too high and
//! plays down what it is too low, by about m / (4·N·(1 − m)·ln φ) in the mean; N has to
//! be large against m / (1 − m).

/// The share of marked packets and the price that it tells.
#[derive(Clone, Debug)]
pub struct MarkEstimator {
    share: f64,
    /// Marks told by duplicate acknowledgements, which do not say of which packets.
    early: f64,
    /// Packets seen, up to `memory`.
    seen: f64,
    memory: f64,
    ln_phi: f64,
}

impl MarkEstimator {
    /// For marks with base `phi`, averaged over about `memory` packets.
    pub fn new(phi: f64, memory: u64) -> MarkEstimator {
        MarkEstimator {
            share: 0.0,
            early: 0.0,
            seen: 0.0,
            memory: memory.max(1) as f64,
            ln_phi: phi.ln(),
        }
    }

    /// Of `packets` packets acknowledged, `marked` were marked.
    #[inline]
    pub fn on_ack(&mut self, packets: f64, marked: f64) {
        let marked = self.early + marked;
        self.early = if packets > 0.0 { 0.0 } else { marked };
        if packets > 0.0 {
            self.seen = (self.seen + packets).min(self.memory);
            let weight = (packets / self.seen).min(1.0);
            self.share += weight * ((marked / packets).min(1.0) - self.share);
        }
    }

    /// m̂.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// p̂ in milliseconds; infinite while every packet is marked.
    pub fn price(&self) -> f64 {
        -(-self.share).ln_1p() / self.ln_phi
    }
}
