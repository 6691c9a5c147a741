//! The typed configuration of Monaco.

use super::FAMILY;
use crate::Acc;
use accord_units::{Bytes, Duration, Rate, Size};

accord_family::choice! {
    /// The policy that moves the window.
    pub enum PolicyName {
        /// Proportional to the error [Xia05 eq. 6].
        Proportional = "p",
        /// Additive, by the sign of the error [Xia05 eq. 3].
        Additive = "aiad",
        /// The policy of Mo and Walrand [Xia05 eq. 5].
        MoWalrand = "mw",
    }
}

accord_family::choice! {
    /// The estimator of accumulation.
    pub enum EstimatorName {
        /// Pairs of control packets.
        Monaco = "monaco",
        /// Pairs of control packets: the data that arrives between them.
        Counted = "counted",
        /// The definition itself, which only a simulator knows.
        Ideal = "ideal",
    }
}

accord_family::choice! {
    /// The law: all of its steps at once.
    pub enum LawName {
        /// That of Accord.
        Accord = "accord",
        /// Equation 10 of Xia05.
        Xia05 = "xia05",
        /// Algorithm 1 of Har02.
        Har02 = "har02",
    }
}

accord_family::choice! {
    /// The quantity that a loss halves.
    pub enum LossName {
        /// The window.
        Window = "window",
        /// The flow's own accumulation.
        Accumulation = "accumulation",
        /// The flow's own accumulation if it has a contract, else the window.
        Contract = "contract",
    }
}

accord_family::config! {
    /// The parameters of Monaco. The switches of single steps, which are for studies, are those of
    /// the law.
    pub struct Config of FAMILY {
        /// The accumulation that the flow keeps on its path: its weight.
        pub target: Size,
        /// The gain of the policy: a number for p, packets per round trip for aiad.
        pub gain: f64,
        /// The policy that moves the window.
        pub policy: PolicyName,
        /// The gain of policy mw, which is a rate.
        pub mw_gain: Rate,
        /// The estimator of accumulation.
        pub estimator: EstimatorName,
        /// The weight of a new sample in the moving average of the egress rate; that of the law by
        /// default.
        pub egress_weight: Option<f64>,
        /// Acknowledgements per round trip, at most one per packet.
        pub counts: f64,
        /// Window at the start, in packets.
        pub initial_window: f64,
        /// The law.
        pub law: LawName,
        /// The quantity that a loss halves; that of the law by default.
        pub loss: Option<LossName>,
        /// The recent loss ratio above which a loss halves the window in any case.
        pub loss_bound: f64,
        /// The least time-out of a control pair; that of the law by default.
        pub min_rto: Option<Duration>,
    }
}

impl Config {
    /// The parameters that are not here: switches of single steps, for studies.
    pub const SWITCHES: &'static [&'static str] = &[
        "window",
        "rtt",
        "slow_start",
        "mu",
        "meter",
        "increase",
        "virtual",
        "steps",
        "pairs",
        "place",
        "low_rate",
        "recovery",
    ];

    /// Returns the controller for packets of this size.
    ///
    /// # Errors
    /// As [`Config::values`].
    pub fn build(&self, packet: Bytes) -> Result<Acc, String> {
        let values = self.values()?;
        Ok(super::build(&values, packet))
    }
}
