//! CLCC: a slow loop over a discipline with additive increase and multiplicative decrease. The loop
//! steers each aggregate's decrease factor until rates have the target ratio.
//!
//! The loop runs for each steered aggregate i. Here r is the ratio of its served rate to that of
//! the unsteered aggregates. r_ref is the ratio of the corresponding max-min fair rates, weighted
//! by share [Ple03 eqs. 5, 6].
//!
//! ```text
//!     x = (r_ref − r) / r_ref
//!     D_i ← D_i + β·D_i·x,      β < 0, one of three by |x|
//! ```
//!
//! D_i stays within [floor, 1/ΣO] [Ple03 eq. 7]. Rates are sampled every 100 ms and averaged over 1
//! s. The loop runs every 1 s. An aggregate whose offered load is below its fair rate, or below its
//! floor, cannot be steered. Its D_i then falls by a tenth per step
//! [Ple03 §IV-B, control preemption].
//!
//! More than two aggregates, and departures from the source: `docs/src/models/clcc.md`.

mod config;

pub use config::{AggregateConfig, Config};

use crate::prelude::*;
use crate::{Bat, bat};
use accord_family::Invalid;
use std::collections::VecDeque;

/// The methods, besides [`Aqm::aggregate`], of a discipline that CLCC can steer.
pub trait Aimd: Aqm {
    /// The number of aggregates.
    fn aggregates(&self) -> usize;
    /// Returns the floor and the ceiling of an aggregate's rate, in bit/s.
    fn bounds(&self, index: usize) -> (f64, f64);
    /// Sets an aggregate's decrease factor, times the rate of the link.
    fn set_decrease(&mut self, index: usize, decrease: f64);
}

/// CLCC over BAT, for scenarios.
pub static FAMILY: Family = Family {
    doc: "BAT whose decrease factors a closed loop steers to given shares.",
    source: "[Ple03 §IV]",
    params: Config::PARAMS,
    check,
    dynamics: Dynamics::Missing(
        "it steers BAT, which drops by the rates of aggregates, and the fluid does not distinguish aggregates",
    ),
    page: "models/clcc.md",
    maker: &Maker { build: |values| AnyAqm::BatClcc(Box::new(Clcc::<Bat>::new(values))) },
    ..Family::new("bat-clcc", Role::Queue(|_| Price::Loss))
};

/// The maximum number of samples of an average.
const MOST_SAMPLES: u64 = 1000;
/// The largest decrease factor, with or without the bound. It drops every packet.
const LARGEST: f64 = 1e9;

fn check(values: &Values) -> Result<(), Invalid> {
    bat::check(values)?;
    let [sample, average, control] = ["sample", "average", "control"].map(|n| values.duration(n));
    if sample < bat::SHORTEST {
        return Err("sample is shorter than 10 us, the shortest that is supported".into());
    }
    if average < sample || control < sample {
        return Err("average and control must be at least as long as sample".into());
    }
    if average.as_ps() / sample.as_ps() > MOST_SAMPLES {
        return Err(format!("average must have at most {MOST_SAMPLES} samples").into());
    }
    if values.number("error_fine") > values.number("error_coarse") {
        return Err("error_fine must be at most error_coarse".into());
    }
    Ok(())
}

/// Closed-loop congestion control over a discipline `A`.
#[derive(Clone, Debug)]
pub struct Clcc<A> {
    below: A,
    targets: Vec<Target>,
    /// The counts at the samples of the averaging window, the oldest first.
    history: VecDeque<(Time, Vec<Counts>)>,
    sampled: Time,
    controlled: Time,
    config: Config,
    /// The gains |β| with the errors below which they apply, in ascending order.
    gains: [(f64, f64); 3],
}

/// The state of one loop and the target share of its aggregate.
#[derive(Clone, Debug)]
struct Target {
    share: f64,
    steered: bool,
    /// The decrease factor as configured.
    decrease: f64,
    /// The latest measured ratio r.
    ratio: Option<f64>,
}

/// The bytes of an aggregate that arrived, and those of them that joined the queue.
type Counts = (u64, u64);

/// The rates of an aggregate over the averaging window, in bit/s, and its bounds.
#[derive(Clone, Copy, Debug)]
struct Rates {
    offered: f64,
    served: f64,
    floor: f64,
    ceiling: f64,
}

impl Clcc<Bat> {
    /// Creates the loop, and the BAT below it, from their parameters.
    pub fn new(values: &Values) -> Clcc<Bat> {
        Clcc::over(Bat::new(values), values)
    }
}

impl<A: Aimd> Clcc<A> {
    /// Creates the loop with CLCC's parameters on a discipline with the same aggregates.
    pub fn over(below: A, values: &Values) -> Clcc<A> {
        let given: Vec<&Values> = values.aggregates().map(|(_, of)| of).collect();
        let target = |i: usize| Target {
            share: given.get(i).map_or(1.0, |of| of.number("share")),
            steered: given.get(i).is_none_or(|of| of.flag("steered")),
            decrease: below.aggregate(i).map_or(0.0, |a| a.decrease),
            ratio: None,
        };
        let config = Config::from(values);
        let mut clcc = Clcc {
            targets: (0..below.aggregates()).map(target).collect(),
            below,
            history: VecDeque::new(),
            sampled: Time::ZERO,
            controlled: Time::ZERO,
            gains: [
                (config.gain_fine, config.error_fine),
                (config.gain, config.error_coarse),
                (config.gain_coarse, f64::INFINITY),
            ],
            config,
        };
        clcc.history.push_back((Time::ZERO, clcc.counts()));
        clcc
    }

    /// The steered discipline.
    pub fn below(&self) -> &A {
        &self.below
    }

    fn counts(&self) -> Vec<Counts> {
        let of = |i| self.below.aggregate(i).map_or((0, 0), |a| (a.offered, a.admitted));
        (0..self.targets.len()).map(of).collect()
    }

    /// Measures the rates over the averaging window and the ratios.
    fn measure(&mut self, now: Time) -> Vec<Rates> {
        self.sampled = now;
        self.history.push_back((now, self.counts()));
        while self.history.len() > 2 && self.history[1].0 + self.config.average <= now {
            self.history.pop_front();
        }
        let (then, old) = &self.history[0];
        let (_, new) = &self.history[self.history.len() - 1];
        let seconds = now.since(*then).as_secs_f64().max(1e-12);
        let rate = |new: u64, old: u64| (new - old) as f64 * 8.0 / seconds;
        let rates: Vec<Rates> = (old.iter().zip(new).enumerate())
            .map(|(i, (old, new))| {
                let (floor, ceiling) = self.below.bounds(i);
                Rates { offered: rate(new.0, old.0), served: rate(new.1, old.1), floor, ceiling }
            })
            .collect();
        let reference = self.reference(&rates);
        let served: f64 = reference.iter().map(|&i| rates[i].served).sum();
        for (i, (target, rate)) in self.targets.iter_mut().zip(&rates).enumerate() {
            let measured = served > 0.0 && !reference.contains(&i);
            target.ratio = measured.then(|| rate.served / served);
        }
        rates
    }

    /// Returns the reference aggregates.
    fn reference(&self, rates: &[Rates]) -> Vec<usize> {
        let active = |i: &usize| rates[*i].offered > 0.0;
        let all = 0..rates.len();
        let alone = all.clone().filter(|&i| !self.targets[i].steered);
        let alone: Vec<usize> = alone.filter(active).collect();
        if alone.is_empty() { all.filter(active).take(1).collect() } else { alone }
    }

    /// Makes a step of the loop.
    fn steer(&mut self, rates: &[Rates], capacity: f64) {
        let reference = self.reference(rates);
        let fair = self.fair(rates, &reference, capacity);
        let sum = |of: &dyn Fn(usize) -> f64| reference.iter().map(|&i| of(i)).sum::<f64>();
        let (fair_there, served_there) = (sum(&|i| fair[i]), sum(&|i| rates[i].served));
        let offered: f64 = rates.iter().map(|r| r.offered).sum();
        // Infinite without traffic.
        let largest = if self.config.bound { (capacity / offered).min(LARGEST) } else { LARGEST };
        for i in 0..rates.len() {
            let target = &self.targets[i];
            let Some(now) = self.below.aggregate(i).map(|a| a.decrease) else {
                continue;
            };
            let offered = rates[i].offered;
            let suspended = if self.config.preemption {
                offered <= rates[i].floor.max(fair[i]) || fair_there <= 0.0
            } else {
                fair[i] <= 0.0 || fair_there <= 0.0
            };
            let next = if reference.contains(&i) {
                // An aggregate of the reference keeps its own factor, or returns to it.
                now + self.config.relief * (target.decrease - now)
            } else if suspended {
                now * (1.0 - self.config.relief)
            } else {
                // The error is below 1. It is minus infinity if the reference is not served.
                let error = 1.0 - rates[i].served / served_there * (fair_there / fair[i]);
                let below = |(_, limit): &&(f64, f64)| error.abs() < *limit;
                let gain = self.gains.iter().find(below).map_or(self.gains[2].0, |g| g.0);
                now - gain * now * error
            };
            let next =
                if next.is_nan() { now } else { next.min(largest).max(self.config.decrease_min) };
            self.below.set_decrease(i, next);
        }
    }

    /// Returns the max-min fair rates by shares, within the bounds and the offered rates. The rate
    /// is min(λ·share, cap), but at least the floor, with the λ that fills the link. The offered
    /// rate of the reference is unknown, since the reference responds. A loop that is never
    /// suspended does not need it.
    fn fair(&self, rates: &[Rates], reference: &[usize], capacity: f64) -> Vec<f64> {
        let cap = |i: usize| {
            if reference.contains(&i) || !self.config.preemption {
                rates[i].ceiling
            } else {
                rates[i].ceiling.min(rates[i].offered)
            }
        };
        let at =
            |level: f64| -> Vec<f64> {
                let all = rates.iter().zip(&self.targets).enumerate();
                all.map(|(i, (r, t))| {
                    if r.offered > 0.0 { (level * t.share).max(r.floor).min(cap(i)) } else { 0.0 }
                })
                .collect()
            };
        let least = self.targets.iter().map(|t| t.share).fold(1e6, f64::min);
        let (mut low, mut high) = (0.0, capacity / least);
        // Bisection: 60 halvings give all digits.
        for _ in 0..60 {
            let level = (low + high) / 2.0;
            if at(level).iter().sum::<f64>() < capacity { low = level } else { high = level }
        }
        at(high)
    }
}

impl<A: Aimd> Aqm for Clcc<A> {
    #[inline]
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        queue: &QueueView,
        now: Time,
        entropy: &mut dyn Entropy,
    ) -> Verdict {
        self.below.on_arrival(packet, queue, now, entropy)
    }

    fn on_overflow(&mut self, packet: &PacketMeta) {
        self.below.on_overflow(packet);
    }

    fn virtual_delay(&self, now: Time) -> Duration {
        self.below.virtual_delay(now)
    }

    fn price(&self) -> Option<f64> {
        self.below.price()
    }

    fn aggregate(&self, index: usize) -> Option<Aggregate> {
        let target = self.targets.get(index)?;
        Some(Aggregate { ratio: target.ratio, ..self.below.aggregate(index)? })
    }

    fn excess_bandwidth(&self) -> Option<f64> {
        self.below.excess_bandwidth()
    }

    fn next_timer(&self) -> Option<Time> {
        let sample = self.sampled + self.config.sample;
        Some(self.below.next_timer().map_or(sample, |t| t.min(sample)))
    }

    fn on_timer(&mut self, queue: &QueueView, now: Time) {
        if self.below.next_timer().is_some_and(|at| at <= now) {
            self.below.on_timer(queue, now);
        }
        if self.sampled + self.config.sample <= now {
            let rates = self.measure(now);
            if self.controlled + self.config.control <= now {
                self.controlled = now;
                self.steer(&rates, queue.rate.as_bps_f64());
            }
        }
    }
}
