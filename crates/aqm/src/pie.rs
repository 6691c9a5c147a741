//! PIE: proportional integral controller enhanced. Drops arrivals with a probability that a
//! controller derives from the delay of the queue.
//!
//! The probability is updated once per period. Here d is the delay of the queue and d' that of the
//! previous period [RFC 8033 §4.2]:
//!
//! ```text
//! p ← p + scale·(α·(d − target) + β·(d − d'))
//! ```
//!
//! An arriving packet is dropped with probability p, except in three cases [§4.1, §4.4]:
//! - no more than two packets of mean size are queued,
//! - the delay was less than half the target and p is less than 0.2,
//! - a burst is allowed, for `max_burst` after p was 0 and the delay was low.
//!
//! Departures from the source: `docs/src/models/pie.md`.

use crate::bat::SHORTEST;
use crate::prelude::*;

accord_family::params! {
    /// The parameters of PIE.
    pub struct Config of FAMILY => Pie() {
        /// The delay to hold.
        pub target: Duration = duration("15 ms").symbol("QDELAY_REF").source("[RFC 8033 §4.2]"),
        /// Interval between updates of the probability.
        pub period: Duration = duration("15 ms").symbol("T_UPDATE").source("[RFC 8033 §4.2]"),
        /// Change of the probability per period and second above the target, in 1/s.
        pub alpha: f64 = number("0.125", 0.0, 100.0).symbol("α").source("[RFC 8033 §4.2]"),
        /// Change of the probability per second of growth of the delay in a period, in 1/s.
        pub beta: f64 = number("1.25", 0.0, 100.0).symbol("β").source("[RFC 8033 §4.2]"),
        /// Time for which a queue may build up after low delay before packets are dropped.
        pub max_burst: Duration = duration("150 ms").symbol("MAX_BURST").source("[RFC 8033 §4.4]"),
        /// Mean packet size, in bytes; nothing is dropped while at most two such packets are queued.
        pub mean_packet: Size = size("1024 B").symbol("MEAN_PKTSIZE").source("[RFC 8033 §4.1]"),
        /// Marks ECN-capable packets instead of dropping them, up to the threshold.
        pub ecn: bool = flag("true").source("[RFC 8033 §5.1]"),
        /// Probability from which ECN-capable packets are dropped as well.
        pub mark_threshold: f64 = number("0.1", 0.0, 1.0).symbol("mark_ecnth").source("[RFC 8033 §5.1]"),
    }
}

/// The declaration of PIE.
pub static FAMILY: Family = Family {
    doc: "Proportional integral controller enhanced: drops arrivals with a probability that \
          holds the delay of the queue at a target.",
    source: "[RFC 8033]",
    params: Config::PARAMS,
    check: |values| match values.size("mean_packet") {
        _ if values.duration("period") < SHORTEST => {
            Err("period is shorter than 10 us, the shortest that is supported".into())
        }
        Size::Bytes(_) => Ok(()),
        Size::Packets(_) => Err("mean_packet must be in bytes, not in packets".into()),
    },
    dynamics: Dynamics::Missing(
        "its gains depend on the probability, and its burst allowance on the time since the delay was low, which the fluid does not follow",
    ),
    page: "models/pie.md",
    maker: &Maker { build: |values| AnyAqm::Pie(Pie::new(values)) },
    ..Family::new("pie", Role::Queue(|_| Price::Loss))
};

/// The factor by which the probability decays per period with an empty queue.
const DECAY: f64 = 0.98;

/// The probability up to which packets pass at a low delay.
const LOW: f64 = 0.2;

/// The probability above which steps are bounded, and the largest step.
const BOUNDED: (f64, f64) = (0.1, 0.02);

/// The divisors of a step, each with the probability below which it applies [RFC 8033 §4.2].
const SCALES: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];

/// Proportional integral controller enhanced.
#[derive(Clone, Debug)]
pub struct Pie {
    config: Config,
    /// The delay to hold, in seconds.
    target: f64,
    /// The backlog in bytes below which nothing is dropped.
    few: f64,
    /// The drop probability p.
    probability: f64,
    /// The delay d, in seconds.
    delay: f64,
    /// The last rate of the port above zero, in bit/s.
    rate: f64,
    /// The remaining time of an allowed burst.
    burst: Duration,
    updated: Time,
}

impl Pie {
    /// Creates a PIE from its parameters.
    pub fn new(values: &Values) -> Pie {
        let config = Config::from(values);
        Pie {
            target: config.target.as_secs_f64(),
            few: 2.0 * config.mean_packet.bytes_f64(Bytes::new(1)),
            probability: 0.0,
            delay: 0.0,
            rate: f64::INFINITY,
            burst: config.max_burst,
            updated: Time::ZERO,
            config,
        }
    }

    /// The probability p that an arrival is dropped unless an exception applies.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Returns the factor of a step at the current probability.
    fn scale(&self) -> f64 {
        let below = |(bound, _): &&(f64, f64)| self.probability < *bound;
        SCALES.iter().find(below).map_or(1.0, |(_, by)| 1.0 / by)
    }
}

impl Aqm for Pie {
    #[inline]
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        queue: &QueueView,
        _: Time,
        entropy: &mut dyn Entropy,
    ) -> Verdict {
        let p = self.probability;
        let exempt = packet.class == Class::OutOfBand
            || !self.burst.is_zero()
            || (self.delay < self.target / 2.0 && p < LOW)
            || queue.bytes.as_f64() <= self.few;
        if exempt || entropy.uniform() >= p {
            Verdict::Pass
        } else if self.config.ecn && p < self.config.mark_threshold && packet.ecn.is_capable() {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.updated + self.config.period)
    }

    fn on_timer(&mut self, queue: &QueueView, now: Time) {
        let before = self.delay;
        // In an outage nothing is dequeued, so the last rate counts [RFC 8033 §5.2]. The delay would be
        // without end at a rate of zero, and every arrival would be dropped.
        if queue.rate > Rate::ZERO {
            self.rate = queue.rate.as_bps_f64();
        }
        self.delay = queue.waiting() * 8.0 / self.rate;
        let change = self.config.alpha * (self.delay - self.target)
            + self.config.beta * (self.delay - before);
        let mut step = change * self.scale();
        if self.probability >= BOUNDED.0 {
            step = step.min(BOUNDED.1);
        }
        self.probability += step;
        if self.delay == 0.0 && before == 0.0 {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let low = self.target / 2.0;
        self.burst = if self.probability == 0.0 && self.delay < low && before < low {
            self.config.max_burst
        } else {
            self.burst - self.config.period
        };
        self.updated = now;
    }
}
