//! BAT: a transmit probability per aggregate of traffic, steered by rates and by the excess
//! bandwidth of the link.
//!
//! A packet of aggregate i joins the queue with probability T_i. Otherwise it is dropped. T_i is
//! updated once per period Δt. Here O_i is the rate that the aggregate offered and f_i = T_i·O_i
//! [Ple03 eq. 1]:
//!
//! ```text
//!           min(1, T_i + w)         if f_i ≤ f_i,min      coarse: into the bounds
//!     T_i ← T_i·(1 − w)             else if f_i > f_i,max
//!           min(1, T_i + C_i·B̄)     else if B = 1         fine: additive increase,
//!           T_i·(1 − D_i·O_i)       otherwise             multiplicative decrease
//! ```
//!
//! B is 1 while the link has excess bandwidth: the queue is short and does not grow, or the link
//! serves less than it could. B̄ is the exponential average of B.
//!
//! The constants of an aggregate depend on the floors, for a link of rate S:
//!
//! ```text
//!     C_i = C·weight·(1 + (f_i,min − Σ f_min)/S)        D_i = D·(1 − f_i,min/S)
//! ```
//!
//! So an aggregate with a floor gets the floor and about an equal share of the rest. Without floors
//! all aggregates have the same constants.
//!
//! The equilibrium, and departures from the source: `docs/src/models/bat.md`.

use crate::Aimd;
use crate::prelude::*;
use accord_family::{Invalid, with_aggregates};

accord_family::params! {
    /// The parameters of BAT.
    pub struct Config of FAMILY {
        /// Interval between updates of the transmit probabilities.
        pub period: Duration = duration("4 ms").symbol("Δt").source("[Ple03 §III-B]"),
        /// Relative change of a transmit probability per period while a rate is out of its bounds.
        pub step: f64 = number("0.125", 0.001, 0.999).symbol("w").source("[Ple03 eq. 1], its value ours"),
        /// Increase of a transmit probability per period while bandwidth is left, for an aggregate without a floor.
        pub increase: f64 = number("0.02", 1e-6, 1.0).symbol("C").source("[Ple03 eq. 1], its value fitted to Ple03"),
        /// Relative decrease of a transmit probability per period while none is left, for an aggregate that offers the link's rate c and has no floor.
        pub decrease: f64 = number("0.06", 1e-6, 10.0).symbol("D·c").source("[Ple03 eq. 1], its value fitted to Ple03"),
        /// Weight of the latest value in the average of the excess-bandwidth signal.
        pub memory: f64 = number("0.125", 0.001, 1.0).source("not in Ple03"),
        /// Weight of the latest period in the average of the offered rate.
        pub offered_memory: f64 = number("1", 0.001, 1.0).source("not in Ple03"),
        /// The queue below which bandwidth may be left; a quarter of the buffer if not given (of 20 ms, where the buffer has no limit in bytes).
        pub threshold: Option<Size> = size("").source("not in Ple03"),
        /// Utilisation below which bandwidth is left, for any backlog.
        pub busy: f64 = number("0.95", 0.0, 1.0).source("not in Ple03"),
        /// Parameters per aggregate; aggregates not named have the defaults.
        aggregates = aggregates(AggregateConfig::PARAMS),
    }
}

accord_family::params! {
    /// The parameters of an aggregate.
    pub struct AggregateConfig of aggregates of FAMILY {
        /// Guaranteed rate of the aggregate; none if not given.
        pub min: Option<Rate> = rate("").symbol("f_min").source("[Ple03 eq. 1]"),
        /// Maximum rate of the aggregate; no bound if not given.
        pub max: Option<Rate> = rate("").symbol("f_max").source("[Ple03 eq. 1]"),
        /// Increase relative to the other aggregates, and so the relative rate.
        pub weight: f64 = number("1", 0.001, 1000.0).symbol("C_i/C"),
        /// The aggregate's `decrease`, instead of the common one.
        pub decrease: Option<f64> = number("", 1e-6, 10.0).symbol("D_i·c").source("[Ple03 eq. 1]"),
    }
}

/// The declaration of BAT.
pub static FAMILY: Family = Family {
    doc: "Bandwidth allocation: a transmit probability for each aggregate, by rates and by \
          whether bandwidth is left.",
    source: "[Ple03 §III]",
    params: Config::PARAMS,
    check,
    dynamics: Dynamics::Missing(
        "it drops by the rates of aggregates in each period, and the fluid does not distinguish aggregates",
    ),
    page: "models/bat.md",
    maker: &Maker { build: |values| AnyAqm::Bat(Bat::new(values)) },
    ..Family::new("bat", Role::Queue(|_| Price::Loss))
};

/// Checks BAT's parameters against each other.
pub(crate) fn check(values: &Values) -> Result<(), Invalid> {
    if values.duration("period") < SHORTEST {
        return Err("period is shorter than 10 us, the shortest that is supported".into());
    }
    for (name, of) in values.aggregates() {
        if let (Some(min), Some(max)) = (of.rate_opt("min"), of.rate_opt("max"))
            && min > max
        {
            let why = format!("min = \"{min}\" is more than max = \"{max}\"");
            return Err(Invalid::from(why).within(name));
        }
    }
    Ok(())
}

/// The shortest period. A shorter one would dominate the cost of a simulation.
pub(crate) const SHORTEST: Duration = Duration::from_us(10);

/// The duration of traffic at the link's rate that stands in for a buffer of unknown size in bytes.
const UNKNOWN_BUFFER: Duration = Duration::from_ms(20);

/// Bandwidth allocation.
#[derive(Clone, Debug)]
pub struct Bat {
    aggregates: Vec<State>,
    /// The averaged signal B̄.
    excess: f64,
    /// The bytes queued at the last update.
    queued: u64,
    updated: Time,
    config: Config,
}

/// The state and the parameters of an aggregate.
#[derive(Clone, Debug)]
struct State {
    /// The transmit probability T.
    transmit: f64,
    /// The bytes that arrived since the start, and those of them that joined the queue.
    offered: u64,
    admitted: u64,
    /// The offered and admitted bytes at the last update.
    offered_then: u64,
    admitted_then: u64,
    /// The averaged offered rate O, in bit/s.
    rate: f64,
    /// The bounds f_min and f_max, in bit/s.
    floor: f64,
    ceiling: f64,
    /// The factors C_i and D_i·c of an aggregate without a floor.
    increase: f64,
    decrease: f64,
}

impl Bat {
    /// Creates a BAT from its parameters.
    pub fn new(values: &Values) -> Bat {
        let own: Vec<&Values> = values.aggregates().map(|(_, of)| of).collect();
        let state = |of: Option<&&Values>| {
            let rate = |name| Some(of?.rate_opt(name)?.as_bps_f64());
            let number = |name| of?.number_opt(name);
            State {
                transmit: 1.0,
                offered: 0,
                admitted: 0,
                offered_then: 0,
                admitted_then: 0,
                rate: 0.0,
                floor: rate("min").unwrap_or(0.0),
                ceiling: rate("max").unwrap_or(f64::INFINITY),
                increase: values.number("increase") * number("weight").unwrap_or(1.0),
                decrease: number("decrease").unwrap_or(values.number("decrease")),
            }
        };
        Bat {
            // All traffic belongs to one aggregate if none is configured.
            aggregates: if own.is_empty() {
                vec![state(None)]
            } else {
                own.iter().map(|of| state(Some(of))).collect()
            },
            excess: 1.0,
            queued: 0,
            updated: Time::ZERO,
            config: Config::from(values),
        }
    }

    /// Returns the aggregate of a packet. An aggregate that is not configured counts as the last
    /// one.
    #[inline]
    fn of(&mut self, packet: &PacketMeta) -> &mut State {
        let i = usize::from(packet.aggregate).min(self.aggregates.len() - 1);
        &mut self.aggregates[i]
    }

    /// Returns the signal B: true if bandwidth is available or soon will be.
    fn has_room(&self, queue: &QueueView, seconds: f64) -> bool {
        let below = match self.config.threshold {
            Some(Size::Packets(n)) => (queue.packets as f64) < n,
            Some(Size::Bytes(bytes)) => queue.bytes < bytes,
            None => {
                let buffer = queue.capacity;
                let buffer = buffer.unwrap_or_else(|| queue.rate.bytes_in(UNKNOWN_BUFFER));
                queue.bytes.as_f64() < buffer.as_f64() / 4.0
            }
        };
        let admitted = |a: &State| (a.admitted - a.admitted_then) as f64;
        let admitted: f64 = self.aggregates.iter().map(admitted).sum();
        let served = admitted + self.queued as f64 - queue.bytes.as_f64();
        below && queue.bytes.get() <= self.queued
            || served * 8.0 < self.config.busy * queue.rate.as_bps_f64() * seconds
    }
}

impl Aqm for Bat {
    #[inline]
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        _: &QueueView,
        _: Time,
        entropy: &mut dyn Entropy,
    ) -> Verdict {
        let of = self.of(packet);
        of.offered += packet.size.get();
        let passes = of.transmit >= 1.0 || packet.class == Class::OutOfBand;
        if passes || entropy.uniform() < of.transmit {
            of.admitted += packet.size.get();
            Verdict::Pass
        } else {
            Verdict::Drop
        }
    }

    fn on_overflow(&mut self, packet: &PacketMeta) {
        self.of(packet).offered += packet.size.get();
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.updated + self.config.period)
    }

    fn on_timer(&mut self, queue: &QueueView, now: Time) {
        let seconds = now.since(self.updated).as_secs_f64();
        if seconds <= 0.0 {
            return;
        }
        let room = self.has_room(queue, seconds);
        self.excess += self.config.memory * (f64::from(u8::from(room)) - self.excess);
        let capacity = queue.rate.as_bps_f64().max(1.0);
        let floors: f64 = self.aggregates.iter().map(|a| a.floor).sum();
        for a in &mut self.aggregates {
            let increase = a.increase * (1.0 + (a.floor - floors) / capacity).max(0.0);
            let decrease = a.decrease * (1.0 - a.floor / capacity).max(0.0);
            let offered = (a.offered - a.offered_then) as f64 * 8.0 / seconds;
            a.rate += self.config.offered_memory * (offered - a.rate);
            let rate = a.transmit * a.rate;
            let transmit = if rate <= a.floor {
                a.transmit + self.config.step
            } else if rate > a.ceiling {
                a.transmit * (1.0 - self.config.step)
            } else if room {
                a.transmit + increase * self.excess
            } else {
                a.transmit * (1.0 - decrease * a.rate / capacity)
            };
            a.transmit = transmit.clamp(0.0, 1.0);
            a.offered_then = a.offered;
            a.admitted_then = a.admitted;
        }
        self.queued = queue.bytes.get();
        self.updated = now;
    }

    fn aggregate(&self, index: usize) -> Option<Aggregate> {
        let a = self.aggregates.get(index)?;
        Some(Aggregate {
            transmit_probability: a.transmit,
            offered: a.offered,
            admitted: a.admitted,
            decrease: a.decrease,
            ratio: None,
        })
    }

    fn excess_bandwidth(&self) -> Option<f64> {
        Some(self.excess)
    }
}

impl Aimd for Bat {
    fn aggregates(&self) -> usize {
        self.aggregates.len()
    }

    fn bounds(&self, index: usize) -> (f64, f64) {
        let a = &self.aggregates[index];
        (a.floor, a.ceiling)
    }

    fn set_decrease(&mut self, index: usize, decrease: f64) {
        self.aggregates[index].decrease = decrease;
    }
}

impl Config {
    /// Makes the queue discipline for these aggregates, by name, in the order of the packets'
    /// indices.
    ///
    /// # Errors
    /// The errors of [`Config::values`], and an error if a parameter of an aggregate is out of its
    /// range.
    pub fn build(&self, aggregates: &[(&str, AggregateConfig)]) -> Result<Bat, Invalid> {
        let values = with_aggregates(self.values()?, aggregates)?;
        Ok(Bat::new(&values))
    }
}
