//! The response to a loss: the part of a flow's data that it halves.
//!
//! The papers take every loss for a full buffer, and halve the window [Xia05 §IV-B.2]. So random
//! losses of a link can deprive a flow of its contract with hardly anything queued. `loss =
//! "accumulation"` is ours. A loss halves the flow's own accumulation, but not its data in
//! propagation and under contract:
//!
//! ```text
//! q̂   = max(a / μ, rtt − min rtt)                the queuing delay, at the worst
//! a_s = μ·q̂·(1 − x̂/μ)⁺                           its own part of it [Har02 eq. 8]
//! w   ← min(w − a_s / 2, w by the policy for q̂)   after a round trip with a loss
//! w   ← w / 2                                     if the recent loss exceeds `loss_bound`
//! ```
//!
//! The equilibrium and the gain of that loop are in `docs/src/studies/contracts.md`.
//!
//! - **With blind pairs** (one FIFO queue), a is about zero. The round-trip time above its minimum
//!   stands in for it. Queues on the reverse path and a longer route then count as queue. At a loss
//!   that costs the flow part of its share, but never of its contract.
//! - **The bound** is for losses without a visible queue: a buffer shorter than the sum of the targets, a
//!   policer, contracts that do not fit. For this purpose losses are averaged over about 16 round trips.

use crate::Report;

/// The fraction by which the memory of losses fades per round trip.
pub(crate) const FADES: f64 = 0.0625;

/// The quantity that a loss halves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnLoss {
    /// As printed: the window.
    Window,
    /// The flow's own accumulation, while the recent loss is at most the bound.
    Accumulation {
        /// The bound.
        bound: f64,
    },
    /// As [`OnLoss::Accumulation`] for a flow with a contract, and as [`OnLoss::Window`] without one.
    Contract {
        /// The bound.
        bound: f64,
    },
}

/// The fraction of a flow's data that was lost recently.
#[derive(Clone, Copy, Debug, Default)]
pub struct Losses {
    /// The average numbers of bytes lost and sent per round trip.
    lost: f64,
    sent: f64,
    /// The bytes that have arrived since the start.
    received: u64,
}

impl Losses {
    /// Takes the report of a round trip.
    pub fn observe(&mut self, report: &Report) {
        let lost = report.lost_bytes.as_f64();
        let arrived = report.received.saturating_sub(self.received) as f64;
        self.received = self.received.max(report.received);
        self.lost += FADES * (lost - self.lost);
        self.sent += FADES * (lost + arrived - self.sent);
    }

    /// The fraction that was lost, from 0 to 1.
    pub fn part(&self) -> f64 {
        if self.sent > 0.0 { self.lost / self.sent } else { 0.0 }
    }
}
