//! The typed configuration of CLCC over BAT.

use super::{Clcc, FAMILY};
use crate::Bat;
use accord_family::with_aggregates;
use accord_units::{Duration, Rate, Size};

accord_family::config! {
    /// The parameters of CLCC over BAT.
    pub struct Config of FAMILY {
        /// Interval between updates of the transmit probabilities.
        pub period: Duration,
        /// Relative change of a transmit probability per period while a rate is out of its bounds.
        pub step: f64,
        /// Increase of a transmit probability per period while bandwidth is left.
        pub increase: f64,
        /// Relative decrease of a transmit probability per period while none is left, for an
        /// aggregate that offers the link's rate c.
        pub decrease: f64,
        /// Weight of the latest value in the average of the excess-bandwidth signal.
        pub memory: f64,
        /// Weight of the latest period in the average of the offered rate.
        pub offered_memory: f64,
        /// The queue below which bandwidth may be left; a quarter of the buffer if not given (of 20 ms, where the buffer has no limit in bytes).
        pub threshold: Option<Size>,
        /// Utilisation below which bandwidth is left, for any backlog.
        pub busy: f64,
        /// Interval between measurements of the rates.
        pub sample: Duration,
        /// Averaging time of the rates.
        pub average: Duration,
        /// Interval between steps of the loop.
        pub control: Duration,
        /// Gain while the error is small.
        pub gain_fine: f64,
        /// Gain while the error is neither small nor large.
        pub gain: f64,
        /// Gain while the error is large.
        pub gain_coarse: f64,
        /// An error below this is small.
        pub error_fine: f64,
        /// An error of this or more is large.
        pub error_coarse: f64,
        /// Smallest decrease factor (times the link's rate).
        pub decrease_min: f64,
        /// Keeps decrease factors below one over the sum of the offered rates.
        pub bound: bool,
        /// Suspends the loop for an aggregate that offers less than it should get.
        pub preemption: bool,
        /// Relative decrease of a decrease factor per step while the loop is suspended.
        pub relief: f64,
    }
}

accord_family::config! {
    /// The parameters of an aggregate.
    pub struct AggregateConfig of aggregates of FAMILY {
        /// Guaranteed rate of the aggregate; none if not given.
        pub min: Option<Rate>,
        /// Maximum rate of the aggregate; no bound if not given.
        pub max: Option<Rate>,
        /// Increase relative to the other aggregates, and so the relative rate.
        pub weight: f64,
        /// The aggregate's decrease, instead of the common one.
        pub decrease: Option<f64>,
        /// Target rate relative to the other aggregates: r_ref is the ratio of two shares.
        pub share: f64,
        /// True if the loop steers the decrease factor; false for responsive traffic.
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
