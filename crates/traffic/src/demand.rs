//! Demands: the data that applications want to send.

use crate::media::Media;
use crate::web::Web;
use accord_units::{Bytes, Duration, Rate};

/// The demand of an application.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// An endless supply.
    Greedy,
    /// An amount, after which the application is done.
    Size(Bytes),
    /// A constant rate, headers included.
    Constant(Rate),
    /// Packets at random instants, with this mean rate.
    Poisson(Rate),
    /// Bursts and pauses over a single persistent connection.
    OnOff {
        /// The rate in a burst. Without a rate the burst is as fast as the controller allows.
        rate: Option<Rate>,
        /// The size of a burst.
        burst: Draw<Bytes>,
        /// The length of a pause.
        pause: Draw<Duration>,
    },
    /// The pages of a web user, with a new connection per file.
    Web(Web),
    /// Live video, whose rate follows the rate that congestion control allows.
    Media(Media),
}

impl Demand {
    /// Returns the demand at another rate, or unchanged if it has no rate.
    pub fn at_rate(self, rate: Rate) -> Demand {
        match self {
            Demand::Constant(_) => Demand::Constant(rate),
            Demand::Poisson(_) => Demand::Poisson(rate),
            Demand::Media(media) => Demand::Media(Media { most: rate, ..media }),
            Demand::OnOff { rate: Some(_), burst, pause } => {
                Demand::OnOff { rate: Some(rate), burst, pause }
            }
            Demand::Greedy
            | Demand::Size(_)
            | Demand::OnOff { rate: None, .. }
            | Demand::Web(_) => self,
        }
    }

    /// Returns the mean rate in bit/s if the network carries all of the demand. Returns `None` for
    /// a demand without a rate of its own, and for web users without a load. For live video it is
    /// the highest rate. A burst without a rate counts as if it took no time, so the result is
    /// an upper bound.
    pub fn mean_rate(&self) -> Option<f64> {
        match self {
            Demand::Constant(rate) | Demand::Poisson(rate) => Some(rate.as_bps_f64()),
            Demand::OnOff { rate, burst, pause } => {
                let bits = burst.mean().bits_f64();
                let rate = rate.map_or(f64::INFINITY, Rate::as_bps_f64);
                Some(bits / (bits / rate + pause.mean().as_secs_f64()))
            }
            Demand::Web(web) => web.load.map(Rate::as_bps_f64),
            Demand::Media(media) => Some(media.most.as_bps_f64()),
            Demand::Greedy | Demand::Size(_) => None,
        }
    }

    /// Returns whether the demand has a rate of its own.
    pub fn is_rated(&self) -> bool {
        match self {
            Demand::Constant(_) | Demand::Poisson(_) | Demand::Media(_) => true,
            Demand::OnOff { rate, .. } => rate.is_some(),
            Demand::Greedy | Demand::Size(_) | Demand::Web(_) => false,
        }
    }
}

/// The law of a quantity that an application draws repeatedly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Draw<T> {
    /// A constant value.
    Constant(T),
    /// Exponentially distributed with this mean.
    Exponential(T),
    /// Pareto distributed.
    Pareto {
        /// The mean.
        mean: T,
        /// The shape of the tail, more than 1.
        shape: f64,
    },
}

impl<T: Copy> Draw<T> {
    /// Returns the mean.
    pub fn mean(&self) -> T {
        match *self {
            Draw::Constant(x) | Draw::Exponential(x) | Draw::Pareto { mean: x, .. } => x,
        }
    }
}
