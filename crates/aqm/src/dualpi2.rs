//! DualPI2: two queues with one controller, so scalable flows (Prague, DCTCP) have almost no
//! queuing delay and the same rates as classic ones (Reno, CUBIC) [RFC 9332].
//!
//! Packets with ECT(1) or CE wait in queue L, the others in queue C. The base probability p'
//! follows the longer of the two delays. Classic packets are dropped or marked with its square,
//! scalable ones are marked with k times p', or with the probability of their own delay if that is
//! higher:
//!
//! ```text
//! each Tupdate   p' ← p' + α·(delay − target) + β·(delay − delay before)   [RFC 9332 fig. 8]
//!                α = 0.1·Tupdate/RTT_max², β = 0.3/RTT_max,
//!                Tupdate = min(target, RTT_max/3)                          [fig. 2]
//! a packet of C  dropped or marked with probability p'²                    [fig. 7, 10-17]
//! a packet of L  marked with probability max(ramp(its delay), k·p')        [fig. 7, 5-8]
//! ramp(d)        0 up to minTh, 1 from minTh + range on                    [fig. 5]
//! overload       k·p' ≥ 1: packets of L are dropped with p'², too, and those of C that could be
//!                marked from p'² = 1/k² on                                 [fig. 7, 8c, 12b]
//! ```
//!
//! Probabilities accumulate deterministically until they yield a mark or a drop (`recur`). The
//! scheduler is weighted round robin: C has a share of 1/16 of the line while both queues hold
//! packets [§A.2].
//!
//! The port holds the queues (`port/src/dual_queue.rs`). This module decides.
//!
//! Departures from the source: `docs/src/models/dualpi2.md`.

use crate::bat::SHORTEST;
use crate::prelude::*;

accord_family::params! {
    /// The parameters of DualPI2.
    pub struct Config of FAMILY => DualPi2() {
        /// Marking probability of scalable packets per unit of the base probability.
        pub coupling: f64 = number("2", 0.1, 10.0).symbol("k").source("[RFC 9332 fig. 2]"),
        /// The delay to hold in the classic queue.
        pub target: Duration = duration("15 ms").symbol("target").source("[RFC 9332 fig. 2]"),
        /// Longest round-trip time for which the gains are stable.
        pub rtt_max: Duration = duration("100 ms").symbol("RTT_max").source("[RFC 9332 fig. 2]"),
        /// Delay up to which the scalable queue does not mark its packets.
        pub min_threshold: Duration = duration("800 us").symbol("minTh").source("[RFC 9332 fig. 2]"),
        /// Further delay over which the marking probability of the scalable queue rises to 1.
        pub range: Duration = duration("400 us").symbol("range").source("[RFC 9332 fig. 2]"),
        /// Number of packets behind a packet up to which the scalable queue does not mark it.
        pub few: u64 = integer("1", 0, 1000).symbol("Th_len").source("[RFC 9332 fig. 2]"),
        /// Minimum share of the line for the classic queue while both hold packets.
        pub classic_share: f64 = number("0.0625", 0.0, 0.5).source("[RFC 9332 §A.2]"),
    }
}

/// The declaration of DualPI2.
pub static FAMILY: Family = Family {
    doc: "Dual-queue coupled AQM: a queue of its own for scalable flows (ECT(1)), which are marked \
          early, and PI2 for the others.",
    source: "[RFC 9332]",
    params: Config::PARAMS,
    check: |values| {
        match period(values.duration("target"), values.duration("rtt_max")) {
        period if period >= SHORTEST => Ok(()),
        _ => Err(
                "target and a third of rtt_max must be at least 10 us, since the probability is updated at the smaller of them"
                .into(),
        ),
    }
    },
    dynamics: Dynamics::Missing("it has two queues, and a link of the fluid has one"),
    page: "models/dualpi2.md",
    maker: &Maker { build: |values| AnyAqm::DualPi2(DualPi2::new(values)) },
    ..Family::new("dualpi2", Role::Queue(|_| Price::Loss))
};

/// The total backlog of both queues below which nothing is signalled: two packets of 1500 bytes.
const NO_QUEUE: Bytes = Bytes::new(3000);

/// Returns Tupdate.
fn period(target: Duration, rtt_max: Duration) -> Duration {
    target.min(Duration::from_ps(rtt_max.as_ps() / 3))
}

/// DualPI2.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    config: Config,
    target: f64,
    period: Duration,
    /// The gains α and β, in 1/s.
    alpha: f64,
    beta: f64,
    min_threshold: f64,
    range: f64,
    /// The base probability p'.
    probability: f64,
    /// The delay at the last update, in seconds.
    delay: f64,
    /// The accumulated probabilities of L and C.
    low_latency: f64,
    classic: f64,
    updated: Time,
}

impl DualPi2 {
    /// Creates a DualPI2 from its parameters.
    pub fn new(values: &Values) -> DualPi2 {
        let config = Config::from(values);
        let period = period(config.target, config.rtt_max);
        let rtt_max = config.rtt_max.as_secs_f64();
        DualPi2 {
            target: config.target.as_secs_f64(),
            period,
            alpha: 0.1 * period.as_secs_f64() / (rtt_max * rtt_max),
            beta: 0.3 / rtt_max,
            min_threshold: config.min_threshold.as_secs_f64(),
            range: config.range.as_secs_f64(),
            config,
            probability: 0.0,
            delay: 0.0,
            low_latency: 0.0,
            classic: 0.0,
            updated: Time::ZERO,
        }
    }

    /// The base probability p'.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// The minimum share of the line for C.
    pub fn classic_share(&self) -> f64 {
        self.config.classic_share
    }

    /// Updates the base probability by the longest sojourn time of a head packet [RFC 9332 fig. 8].
    pub fn update(&mut self, wait: Duration) {
        let wait = wait.as_secs_f64();
        let step = self.alpha * (wait - self.target) + self.beta * (wait - self.delay);
        self.probability = (self.probability + step).clamp(0.0, 1.0);
        self.delay = wait;
    }

    /// Decides about a packet that leaves L after `sojourn`. `behind` packets remain in L, and
    /// `waiting` bytes in both queues [RFC 9332 fig. 7].
    pub fn on_low_latency(&mut self, sojourn: Duration, behind: u64, waiting: Bytes) -> Verdict {
        let base = if waiting < NO_QUEUE { 0.0 } else { self.probability };
        let coupled = self.config.coupling * base;
        if coupled < 1.0 {
            let native = if behind > self.config.few { self.ramp(sojourn) } else { 0.0 };
            return if recur(&mut self.low_latency, native.max(coupled)) {
                Verdict::Mark
            } else {
                Verdict::Pass
            };
        }
        if recur(&mut self.low_latency, base * base) { Verdict::Drop } else { Verdict::Mark }
    }

    /// Decides about a packet that leaves C.
    pub fn on_classic(&mut self, capable: bool, waiting: Bytes) -> Verdict {
        let base = if waiting < NO_QUEUE { 0.0 } else { self.probability };
        let probability = base * base;
        if !recur(&mut self.classic, probability) {
            return Verdict::Pass;
        }
        let most = (1.0 / (self.config.coupling * self.config.coupling)).min(1.0);
        if capable && probability < most { Verdict::Mark } else { Verdict::Drop }
    }

    /// The native probability of L [RFC 9332 fig. 5].
    fn ramp(&self, sojourn: Duration) -> f64 {
        ((sojourn.as_secs_f64() - self.min_threshold) / self.range).clamp(0.0, 1.0)
    }
}

/// Returns true for the fraction `likelihood` of the calls, evenly spaced [RFC 9332 fig. 4].
fn recur(count: &mut f64, likelihood: f64) -> bool {
    *count += likelihood;
    let is_due = *count > 1.0;
    if is_due {
        *count -= 1.0;
    }
    is_due
}

impl Aqm for DualPi2 {
    fn structure(&self) -> Structure {
        Structure::Dual(self.clone())
    }

    #[inline]
    fn passes_all(&self) -> bool {
        true
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.updated + self.period)
    }

    /// Only keeps the time. The port has the queues, so it updates the probability.
    fn on_timer(&mut self, _: &QueueView, now: Time) {
        self.updated = now;
    }
}
