//! The typed configuration of CLCC over BAT.

use super::{Clcc, FAMILY};
use crate::{Bat, bat};
use accord_family::{Invalid, with_aggregates};
use accord_units::{Duration, Rate, Size};

accord_family::params! {
    /// The parameters of CLCC over BAT.
    pub struct Config of FAMILY {
        pub period: Duration = same(bat::Config::PARAMS, "period"),
        pub step: f64 = same(bat::Config::PARAMS, "step"),
        pub increase: f64 = same(bat::Config::PARAMS, "increase"),
        pub decrease: f64 = same(bat::Config::PARAMS, "decrease"),
        pub memory: f64 = same(bat::Config::PARAMS, "memory"),
        pub offered_memory: f64 = same(bat::Config::PARAMS, "offered_memory"),
        pub threshold: Option<Size> = same(bat::Config::PARAMS, "threshold"),
        pub busy: f64 = same(bat::Config::PARAMS, "busy"),
        /// Interval between measurements of the rates.
        pub sample: Duration = duration("100 ms").source("[Ple03 §IV]"),
        /// Averaging time of the rates.
        pub average: Duration = duration("1 s").source("[Ple03 §IV]"),
        /// Interval between steps of the loop.
        pub control: Duration = duration("1 s").source("[Ple03 §IV]"),
        /// Gain while the error is small.
        pub gain_fine: f64 = number("0.05", 0.0, 10.0).symbol("|β|").source("[Ple03 §IV], its value ours"),
        /// Gain while the error is neither small nor large.
        pub gain: f64 = number("0.2", 0.0, 10.0).symbol("|β|").source("[Ple03 §IV], its value ours"),
        /// Gain while the error is large.
        pub gain_coarse: f64 = number("0.5", 0.0, 10.0).symbol("|β|").source("[Ple03 §IV], its value ours"),
        /// An error below this is small.
        pub error_fine: f64 = number("0.1", 0.0, 1000.0).symbol("|x|").source("[Ple03 §IV], its value ours"),
        /// An error of this or more is large.
        pub error_coarse: f64 = number("0.5", 0.0, 1000.0).symbol("|x|").source("[Ple03 §IV], its value ours"),
        /// Smallest decrease factor (times the link's rate).
        pub decrease_min: f64 = number("0.001", 1e-6, 1.0).source("not in Ple03"),
        /// Keeps decrease factors below one over the sum of the offered rates.
        pub bound: bool = flag("true").source("[Ple03 eq. 7]"),
        /// Suspends the loop for an aggregate that offers less than it should get.
        pub preemption: bool = flag("true").source("[Ple03 §IV-B]"),
        /// Relative decrease of a decrease factor per step while the loop is suspended.
        pub relief: f64 = number("0.1", 0.0, 0.9).source("[Ple03 §IV-B]"),
        /// Parameters per aggregate; aggregates not named have the defaults.
        aggregates = aggregates(AggregateConfig::PARAMS),
    }
}

accord_family::params! {
    /// The parameters of an aggregate.
    pub struct AggregateConfig of aggregates of FAMILY {
        pub min: Option<Rate> = same(bat::AggregateConfig::PARAMS, "min"),
        pub max: Option<Rate> = same(bat::AggregateConfig::PARAMS, "max"),
        pub weight: f64 = same(bat::AggregateConfig::PARAMS, "weight"),
        pub decrease: Option<f64> = same(bat::AggregateConfig::PARAMS, "decrease"),
        /// Target rate relative to the other aggregates: r_ref is the ratio of two shares.
        pub share: f64 = number("1", 1e-3, 1e6).source("[Ple03 §IV]"),
        /// The loop steers its decrease factor; `false` for traffic that responds by itself.
        pub steered: bool = flag("true").source("[Ple03 §IV]"),
    }
}

impl Config {
    /// Makes the queue discipline for these aggregates, by name, in the order of the packets'
    /// indices.
    ///
    /// # Errors
    /// The errors of [`Config::values`], and an error if a parameter of an aggregate is out of its
    /// range.
    pub fn build(&self, aggregates: &[(&str, AggregateConfig)]) -> Result<Clcc<Bat>, Invalid> {
        let values = with_aggregates(self.values()?, aggregates)?;
        Ok(Clcc::<Bat>::new(&values))
    }
}
