//! Accumulation estimated by the sender from round-trip times, as Vegas does.
//!
//! ```text
//! a = (cwnd / base_rtt − cwnd / rtt) · base_rtt = cwnd · (1 − base_rtt / rtt)
//! ```
//!
//! [Xia05 eqs. 7, 8; Low02 eq. 1]. The base round-trip time is the smallest of all samples
//! (Vegas), of the last k (Vegas-k [Xia05 §IV-A]), or what the estimator is told.
//!
//! Which cwnd and which rtt: acknowledgements that arrive in one round trip answer packets
//! sent in the round trip before. So the mean rtt of the round goes with the window at the
//! end of the round before: what that window did has been felt by now, what the present
//! one does has not. The mean, not the last sample, because one sample carries the bursts
//! of other flows, several packets on a target of two.
//!
//! Known biases [Xia05 §IV-A]: queuing on the reverse path counts; a longer route, or a
//! queue that stood when the flow began, spoils the base.

use crate::Acked;
use crate::estimator::sliding_min::SlidingMin;
use accord_units::Duration;

/// The samples of which the base round-trip time is the smallest.
#[derive(Clone, Debug)]
enum History {
    All(Duration),
    Last(SlidingMin),
    /// None: it has been told, or will be.
    Told(Duration),
}

/// The Vegas estimator of a flow's accumulation.
#[derive(Clone, Debug)]
pub struct VegasEstimator {
    history: History,
    /// Sum of this round's samples in picoseconds, and their number.
    sum: u64,
    samples: u32,
    /// Window in bytes at the end of the previous round; zero before there was one.
    felt_window: u64,
    backlog: Option<f64>,
    rate: f64,
}

impl VegasEstimator {
    /// With the smallest of all samples for a base.
    pub fn new() -> VegasEstimator {
        VegasEstimator::with(History::All(Duration::MAX))
    }

    /// With the smallest of the last `k` samples for a base.
    pub fn last(k: usize) -> VegasEstimator {
        VegasEstimator::with(History::Last(SlidingMin::new(k)))
    }

    /// With a base that [`VegasEstimator::tell`] tells.
    pub fn told() -> VegasEstimator {
        VegasEstimator::with(History::Told(Duration::MAX))
    }

    /// Tells the base, to an estimator that is to be told.
    pub fn tell(&mut self, base_rtt: Duration) {
        if let History::Told(base) = &mut self.history {
            *base = base_rtt;
        }
    }

    fn with(history: History) -> VegasEstimator {
        VegasEstimator {
            history,
            sum: 0,
            samples: 0,
            felt_window: 0,
            backlog: None,
            rate: 0.0,
        }
    }

    /// Takes an acknowledgement, with the window in bytes as it was when it arrived. Gives
    /// an estimate of the accumulation in bytes, a real number, when a round ends for
    /// which there is one.
    #[inline]
    pub fn on_ack(&mut self, ack: &Acked, window: u64) -> Option<f64> {
        let estimate = if ack.round_ended {
            self.end_round(window)
        } else {
            None
        };
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
        // The round may have smaller samples than the last k, which then are the base.
        let backlog = felt * (1.0 - base * samples / sum).max(0.0);
        self.backlog = Some(backlog);
        self.backlog
    }

    /// The base round-trip time; `None` before the first sample.
    #[inline]
    pub fn base_rtt(&self) -> Option<Duration> {
        let base = match &self.history {
            History::All(base) | History::Told(base) => *base,
            History::Last(last) => last.min(),
        };
        (base != Duration::MAX).then_some(base)
    }

    /// The rate of the round that ended last, in bytes per second: its window for each of
    /// its mean round-trip times. Zero before there was one.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The latest estimate of the accumulation in bytes.
    pub fn accumulation(&self) -> Option<f64> {
        self.backlog
    }
}

impl Default for VegasEstimator {
    fn default() -> Self {
        VegasEstimator::new()
    }
}
