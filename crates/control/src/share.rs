//! The share of a queue's motion that is a flow's own, learned from the effect of its rate on its
//! queue. [The law](../../../docs/src/studies/law.md) has the analysis.
//!
//! A flow that sends u bytes more than usual in a round trip finds its accumulation changed by
//! ε·u in the next. ε is 1 for a flow alone, and for many flows that are alike and move
//! together. It is near 0 for a flow beside senders that keep their rate. The slope of the one
//! over the other, by least squares that forget, is ε:
//!
//! ```text
//! ε = (Σ u·y + r) / (Σ u² + r)
//! ```
//!
//! Two slopes are kept, over single round trips and over two, and the larger one counts. What each of
//! many flows does by itself is up in one round trip and down in the next. That hides the swing that
//! they share from the first slope. It cancels in the second, where the swing stays, which takes
//! six round trips and more. Where an empty queue cuts a swing short, two round trips in a row are rare,
//! and the first slope sees it.
//!
//! r is the variance of u below which nothing is learned. A packet more or less is counted in
//! any round trip, and the memory averages that, so that a third of a packet begins to tell
//! something. While u is smaller ε stays at 1, where the loop is clocked. A flow that is wrong about
//! that swings, and learns from it. With a larger r it would have to swing by more.
//!
//! u is of the rate that was set, not of packets counted, so its errors have nothing to do with
//! those of the queue, and the slope has no bias.

/// The round trips after which an observation counts a third.
const MEMORY: f64 = 32.0;

/// The weight of a new rate in the mean that u is measured against.
const USUAL: f64 = 0.125;

/// The round trips after slow start from which nothing is learned: two memories of the usual rate.
/// The queue that slow start made settles in that time whatever rate is set.
const WAIT: u32 = 16;

/// The variance r of each round trip that u is taken over, in packets squared.
const NOISE: f64 = 0.125;

/// The packets in a window below which the queue is not measured well enough to show a small share:
/// the share is at least this over the window.
const FEW: f64 = 2.0;

/// The learned share of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    /// Over single round trips.
    one: Slope,
    /// Over two.
    two: Slope,
    usual: f64,
    /// The rate that was in force when the pair of the latest report went out.
    rate: f64,
    /// The queuing delay that it found; NaN if it is not known.
    delay: f64,
    /// What the flow sent beyond the usual in the round trip before, and what the queue grew by.
    before: Option<(f64, f64)>,
    value: f64,
    /// The round trips since slow start, up to [`WAIT`].
    waited: u32,
}

/// A slope by least squares that forget.
#[derive(Clone, Copy, Debug, Default)]
struct Slope {
    covariance: f64,
    variance: f64,
}

impl Slope {
    fn learn(&mut self, weight: f64, u: f64, y: f64) {
        self.covariance += weight * (u * y - self.covariance);
        self.variance += weight * (u * u - self.variance);
    }

    /// The slope, which is 1 while u varies by much less than `noise`.
    fn value(&self, noise: f64) -> f64 {
        (self.covariance + noise) / (self.variance + noise)
    }
}

/// The observations of a round trip.
pub(crate) struct Round {
    /// The rate that was in force during the round trip, in bytes per second.
    pub rate: f64,
    /// The round trip in seconds, virtual delay included.
    pub rtt: f64,
    /// The queuing delay in seconds, virtual delay included. The round trip would do but where a
    /// route gets longer, which is no queue.
    pub delay: f64,
    /// Seconds since the last report.
    pub period: f64,
    /// The rate at which data leaves, in bytes per second.
    pub egress: f64,
    /// True in slow start.
    pub slow_start: bool,
    /// True if so much is queued that more would change it.
    pub queued: bool,
}

impl Share {
    pub fn new() -> Share {
        Share {
            one: Slope::default(),
            two: Slope::default(),
            usual: 0.0,
            rate: 0.0,
            delay: f64::NAN,
            before: None,
            value: 1.0,
            waited: 0,
        }
    }

    /// Learns from a round trip of a flow with a window of so many `packets` of `packet` bytes.
    pub fn observe(&mut self, round: &Round, packets: f64, packet: f64) {
        self.waited = match round.slow_start {
            true => 0,
            false => (self.waited + 1).min(WAIT),
        };
        let known = self.delay.is_finite() && round.delay.is_finite();
        if known && round.queued && self.waited == WAIT {
            // The pairs of the last two reports went out one rate apart: the one before this.
            let more = (self.rate - self.usual) * round.period;
            let queued = (round.delay - self.delay) * round.egress;
            let weight = round.period / round.rtt / MEMORY;
            self.one.learn(weight, more, queued);
            if let Some(before) = self.before.replace((more, queued)) {
                self.two.learn(weight, more + before.0, queued + before.1);
            }
            self.usual += USUAL * (self.rate - self.usual);
        } else {
            self.before = None;
            self.usual = round.rate;
        }
        let noise = NOISE * packet.powi(2);
        let slope = self.one.value(noise).max(self.two.value(2.0 * noise));
        self.value = slope.clamp((FEW / packets).min(1.0), 1.0);
        self.delay = round.delay;
        self.rate = round.rate;
    }

    /// Returns the share, from 0 to 1.
    pub fn value(&self) -> f64 {
        self.value
    }
}
