//! Accumulation, estimated by the sender from round-trip times as in Vegas.
//!
//! ```text
//! a = (cwnd / base_rtt − cwnd / rtt) · base_rtt = cwnd · (1 − base_rtt / rtt)
//! ```
//!
//! [Xia05 eqs. 7, 8; Low02 eq. 1]. The base round-trip time is the smallest of all samples (Vegas),
//! the smallest of the last k (Vegas-k [Xia05 §IV-A]), or the true one if the network gives it.
//!
//! The choice of cwnd and rtt: acknowledgements that arrive in one round trip answer packets sent
//! in the round trip before. So the mean rtt of the round is paired with the window at the end of
//! the round before. The effect of that window has now been measured. The effect of the current
//! window has not. The estimator takes the mean and not the last sample, because a single sample
//! includes the bursts of other flows: several packets against a target of two.
//!
//! Known biases [Xia05 §IV-A]: queuing on the reverse path counts. The base is wrong after a change
//! to a longer route, and if there was a queue when the flow began.

use crate::Acked;
use crate::estimator::sliding_min::SlidingMin;
use accord_units::Duration;

/// The samples whose smallest is the base round-trip time.
#[derive(Clone, Debug)]
enum History {
    All(Duration),
    Last(SlidingMin),
    /// No samples: the base round-trip time is given.
    Told(Duration),
}

/// The Vegas estimator of a flow's accumulation.
///
/// ```
/// use accord_control::Acked;
/// use accord_control::estimator::VegasEstimator;
/// use accord_units::{Bytes, Duration};
///
/// let ack = |ms| Acked {
///     bytes: Bytes::new(10_000),
///     rtt: Some(Duration::from_ms(ms)),
///     round_ended: true,
///     window_limited: true,
///     in_recovery: false,
///     marked: 0,
/// };
/// // A window of 10 kB over 100 ms, and then a queue that adds 25 ms: a fifth of it is queued.
/// let mut estimator = VegasEstimator::default();
/// for ms in [100, 125, 125] {
///     estimator.on_ack(&ack(ms), 10_000);
/// }
/// assert_eq!(estimator.base_rtt(), Some(Duration::from_ms(100)));
/// let accumulation = estimator.accumulation().expect("a round has ended");
/// assert!((accumulation - 2000.0).abs() < 1e-6);
/// ```
#[derive(Clone, Debug)]
pub struct VegasEstimator {
    history: History,
    /// The sum of this round's samples in picoseconds, and their number.
    sum: u64,
    samples: u32,
    /// The window in bytes at the end of the previous round. It is zero before the first round has
    /// ended.
    felt_window: u64,
    backlog: Option<f64>,
    rate: f64,
}

impl VegasEstimator {
    /// Creates an estimator whose base is the smallest of the last `k` samples.
    pub fn last(k: usize) -> VegasEstimator {
        VegasEstimator::with(History::Last(SlidingMin::new(k)))
    }

    /// Creates an estimator whose base is set by [`VegasEstimator::tell`].
    pub fn told() -> VegasEstimator {
        VegasEstimator::with(History::Told(Duration::MAX))
    }

    /// Sets the base of an estimator that takes no samples.
    pub fn tell(&mut self, base_rtt: Duration) {
        if let History::Told(base) = &mut self.history {
            *base = base_rtt;
        }
    }

    fn with(history: History) -> VegasEstimator {
        VegasEstimator { history, sum: 0, samples: 0, felt_window: 0, backlog: None, rate: 0.0 }
    }

    /// Takes an acknowledgement, with the window in bytes at its arrival. Returns an estimate of
    /// the accumulation in bytes, a real number, at the end of each round that yields one.
    #[inline]
    pub fn on_ack(&mut self, ack: &Acked, window: u64) -> Option<f64> {
        let estimate = if ack.round_ended { self.end_round(window) } else { None };
        // The sample that ends a round belongs to the first packet of the next one.
        if let Some(rtt) = ack.rtt {
            self.sum = self.sum.saturating_add(rtt.as_ps());
            self.samples = self.samples.saturating_add(1);
            match &mut self.history {
                History::All(min) => *min = rtt.min(*min),
                History::Last(last) => last.push(rtt),
                History::Told(_) => {}
            }
        }
        estimate
    }

    fn end_round(&mut self, window: u64) -> Option<f64> {
        let (sum, samples) = (self.sum as f64, f64::from(self.samples));
        let felt = self.felt_window as f64;
        self.sum = 0;
        self.samples = 0;
        self.felt_window = window;
        if sum == 0.0 || felt == 0.0 {
            return None;
        }
        self.rate = felt * samples / sum * 1e12;
        let base = self.base_rtt()?.as_ps() as f64;
        // The base can exceed older samples of the round, beyond the last k.
        let backlog = felt * (1.0 - base * samples / sum).max(0.0);
        self.backlog = Some(backlog);
        self.backlog
    }

    /// The base round-trip time, or `None` before the first sample.
    #[inline]
    pub fn base_rtt(&self) -> Option<Duration> {
        let base = match &self.history {
            History::All(base) | History::Told(base) => *base,
            History::Last(last) => last.min(),
        };
        (base != Duration::MAX).then_some(base)
    }

    /// The rate in the last complete round, in bytes per second: its window over its mean
    /// round-trip time. It is zero before the first round has ended.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The latest estimate of the accumulation, in bytes.
    pub fn accumulation(&self) -> Option<f64> {
        self.backlog
    }
}

/// The base is the smallest of all samples.
impl Default for VegasEstimator {
    fn default() -> VegasEstimator {
        VegasEstimator::with(History::All(Duration::MAX))
    }
}
