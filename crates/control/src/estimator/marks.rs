//! The price of a path, which the sender estimates from the share of its packets that are marked.
//!
//! ```text
//! p̂ = −log_φ(1 − m̂)     [Low02 §5, the inverse of eq. 32]
//! ```
//!
//! m̂ is the mean over the acknowledged packets. Each new packet has a weight of 1/N, so older
//! packets count less. The first N packets count equally. The logarithm is convex, so p̂ is too
//! high on average, by about m / (4·N·(1 − m)·ln φ). N must be large compared with m / (1 − m).

/// The share of marked packets, and the price that follows from it.
#[derive(Clone, Debug)]
pub struct MarkEstimator {
    share: f64,
    /// The marks reported by duplicate acknowledgements, which do not identify the marked packets.
    early: f64,
    /// The number of packets seen, up to `memory`.
    seen: f64,
    memory: f64,
    ln_phi: f64,
}

impl MarkEstimator {
    /// Creates an estimator for marks with base `phi`, averaged over about `memory` packets.
    pub fn new(phi: f64, memory: u64) -> MarkEstimator {
        MarkEstimator {
            share: 0.0,
            early: 0.0,
            seen: 0.0,
            memory: memory.max(1) as f64,
            ln_phi: phi.ln(),
        }
    }

    /// Takes `packets` acknowledged packets, `marked` of them with a mark.
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

    /// The share of marked packets m̂.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The price p̂ in milliseconds. It is infinite while every packet is marked.
    pub fn price(&self) -> f64 {
        -(-self.share).ln_1p() / self.ln_phi
    }
}
