//! The typed configuration of CLCC over BAT.

use super::{Clcc, FAMILY};
use crate::Bat;
use accord_family::with_aggregates;
use accord_units::{Duration, Rate, Size};

accord_family::config! {
    /// The parameters of CLCC over BAT.
    pub struct Config of FAMILY {
        /// Time from one update of the transmit probabilities to the next.
        pub period: Duration,
        /// Change of a transmit probability in a period while a rate is out of its bounds.
        pub step: f64,
        /// Increase of a transmit probability in a period while bandwidth is left.
        pub increase: f64,
        /// Share that a transmit probability loses in a period while none is left, of an aggregate that offers the link's rate c.
        pub decrease: f64,
        /// Weight of the latest value in the average of the excess-bandwidth signal.
        pub memory: f64,
        /// Weight of the latest period in the average of the offered rate.
        pub offered_memory: f64,
        /// The queue below which bandwidth may be left; a quarter of the buffer if not given (of 20 ms, where the buffer has no limit in bytes).
        pub threshold: Option<Size>,
        /// The part of the link's rate below which bandwidth is left, whatever is queued.
        pub busy: f64,
        /// Time from one measurement of the rates to the next.
        pub sample: Duration,
        /// Time over which rates are averaged.
        pub average: Duration,
        /// Time from one step of the loop to the next.
        pub control: Duration,
        /// Gain while the error is small.
        pub gain_fine: f64,
        /// Gain while the error is neither small nor large.
        pub gain: f64,
        /// Gain while the error is large.
        pub gain_coarse: f64,
        /// An error below this is small.
        pub error_fine: f64,
        /// An error from this on is large.
        pub error_coarse: f64,
        /// The least decrease factor (times the link's rate).
        pub decrease_min: f64,
        /// Keeps decrease factors below one over the sum of the offered rates.
        pub bound: bool,
        /// Suspends the loop for an aggregate that offers less than it should get.
        pub preemption: bool,
        /// Part that a decrease factor loses in each step while the loop is suspended.
        pub relief: f64,
    }
}

accord_family::config! {
    /// The parameters of an aggregate.
    pub struct AggregateConfig of aggregates of FAMILY {
        /// The rate that the aggregate has for sure; none if not given.
        pub min: Option<Rate>,
        /// The rate that it never has more than; no bound if not given.
        pub max: Option<Rate>,
        /// Its increase against that of the others, and so its rate.
        pub weight: f64,
        /// Its own decrease, instead of that of all.
        pub decrease: Option<f64>,
        /// Its rate against that of the others, as it should be: r_ref is the ratio of two.
        pub share: f64,
        /// Whether the loop steers its decrease factor; not that of traffic that responds by itself.
        pub steered: bool,
    }
}

impl Config {
    /// Makes the queue discipline for these aggregates, by name, in the order in which packets
    /// count them.
    ///
    /// # Errors
    /// As [`Config::values`], and when a parameter of an aggregate is out of its range.
    pub fn build(&self, aggregates: &[(&str, AggregateConfig)]) -> Result<Clcc<Bat>, String> {
        let values = with_aggregates(self.values()?, aggregates)?;
        Ok(Clcc::<Bat>::new(&values))
    }
}
