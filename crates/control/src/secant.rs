//! The length of a window's step, derived from the effect of earlier steps.
//!
//! At the policy's gain a flow settles with a time constant that grows with its window, and no fixed gain does
//! better (`docs/src/models/monaco.md`). So the flow measures the slope of its path.
//! While the error keeps its sign, the window moves from W₀ to W and the error from its peak to
//! its present value. The slope of the path is at most
//!
//! ```text
//! slope ≤ (peak − |error| + noise) / |W − W₀|
//! ```
//!
//! and at least a*/w. A gain of 1/slope would be Newton's step. The flow uses a [`ROUNDS`]th of that if it is
//! more than the policy's gain. So the gain rises while the error does not react, until the error decays with
//! a time constant of [`ROUNDS`] round trips. This holds for any window. An error that changes its sign
//! resets the gain to the policy's.

/// The time constant with which a lasting error decays, in round trips.
const ROUNDS: f64 = 24.0;

/// The round trips over which the error is averaged.
const MEMORY: f64 = 8.0;

/// The noise of the averaged error, as a fraction of the target.
const NOISE: f64 = 0.1;

/// The fraction of the target by which the average error must fall short for the queue to count as
/// empty. An empty queue does not react to the window until the link is full.
const EMPTY: f64 = 0.75;

/// The noise of the averaged error over an empty queue, as a fraction of the target. Steps lengthen more
/// slowly then. Otherwise a flow that is alone would fill the link in one step, empty its queue when it gives
/// way, and so on. Both constants were chosen by their outcome, from 0.75, 0.9 and 0.95, and from 0.1 and
/// 0.5.
const NOISE_EMPTY: f64 = 0.5;

/// The largest fraction of itself by which the window moves per round trip if the gain exceeds the
/// policy's.
pub(crate) const FARTHEST: f64 = 0.125;

/// The recent error, and the effect of moving the window against it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secant {
    error: f64,
    peak: f64,
    origin: f64,
}

impl Secant {
    /// Resets the error, because slow start and not the policy moves the window.
    pub fn reset(&mut self, w: f64) {
        *self = Secant { origin: w, ..Secant::default() };
    }

    /// Returns the factor of the policy's step, at least 1. `excess` is the error of a flow with a
    /// window `w` whose accumulation should be `target`. `passed` is the time since the last report
    /// as a fraction of a round trip. `step` gives the policy's step for an error.
    pub fn factor(
        &mut self,
        excess: f64,
        w: f64,
        target: f64,
        passed: f64,
        step: impl Fn(f64) -> f64,
    ) -> f64 {
        let before = self.error;
        self.error += passed / MEMORY * (excess - self.error);
        if before * self.error <= 0.0 {
            self.origin = w;
            self.peak = 0.0;
            return 1.0;
        }
        if excess * self.error < 0.0 {
            return 1.0;
        }
        let error = self.error.abs();
        self.peak = self.peak.max(error);
        let empty = self.error < -EMPTY * target;
        let noise = if empty { NOISE_EMPTY } else { NOISE };
        let closed = self.peak - error + noise * target;
        let slope = (closed / (w - self.origin).abs()).max(target / w);
        let policy = step(error).abs() / error;
        (1.0 / (ROUNDS * slope * policy)).max(1.0)
    }
}
