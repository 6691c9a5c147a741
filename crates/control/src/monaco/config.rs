//! The typed configuration of Monaco.

use super::FAMILY;
use crate::Acc;
use accord_family::Meaning;
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
        /// Algorithm 1 of Har02 with acknowledged data in place of its step 4.
        Har02 = "har02",
        /// Algorithm 1 of Har02 as printed.
        Har02Printed = "har02-printed",
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

accord_family::params! {
    /// The parameters of Monaco. The switches of single steps, which are for studies, are those of
    /// the law.
    pub struct Config of FAMILY => Acc(packet: Bytes) {
        /// Accumulation that the flow keeps on its path; its weight.
        pub target: Size = size("3000 B").symbol("a*").source("[Xia05 table I]"),
        /// Gain of the policy: a number for p, packets per round trip for aiad.
        pub gain: f64 = number("0.5", 1e-6, 10.0).symbol("κ").source("[Xia05 table I]"),
        /// The rule of the step: proportional, additive, or that of Mo and Walrand.
        pub policy: PolicyName = choice("p", PolicyName::WORDS).source("[Xia05 eqs. 3, 5, 6]"),
        /// Gain of policy mw, which is a rate.
        pub mw_gain: Rate = rate("2 Mbps").symbol("κ").source("the papers give none"),
        /// Control pairs: the egress rate times the distance of the halves, or the data that arrived between them. Or the definition itself, which only the simulator knows.
        pub estimator: EstimatorName = choice("monaco", EstimatorName::WORDS).meaning(Meaning::Accumulation("ideal")).source("[Xia05 eq. 1, §IV-B.1]"),
        /// Weight of a new sample in the moving average of the egress rate.
        pub egress_weight: f64 = number("0.5", 0.01, 1.0).source("the papers give none"),
        /// Acknowledgements per round trip, at most one per packet, of window = "outstanding"; more than the packets of a window mean one per packet.
        pub counts: f64 = number("1e6", 1.0, 1e6).symbol("m").source("the papers give none"),
        /// Window at the start, in packets.
        pub initial_window: f64 = number("1", 1.0, 1000.0).source("the papers give none"),
        /// The law: ours, eq. 10 of Xia05, algorithm 1 of Har02 as printed, or the same with acknowledged data in place of its step 4. The parameters below replace single steps of it.
        pub law: LawName = choice("accord", LawName::WORDS).source("[Xia05 eq. 10, Har02 algorithm 1]"),
        /// When data stops: when cwnd is outstanding (accord, xia05, har02), when cwnd was sent since the last control pair (har02-printed), or eight windows after the last report.
        window = choice("", &["outstanding", "period", "open"]).source("outstanding is [Xia05 appendix], period is [Har02 algorithm 1, step 4]"),
        /// The round-trip time by which cwnd is divided: of the latest report (accord, xia05), smoothed (har02, har02-printed), or the smallest.
        rtt = choice("", &["latest", "smoothed", "least"]).source("[Xia05 §IV-B.1, Har02 algorithm 1, step 8]"),
        /// The start: a slow start that ends at the window for which the delay in hand gives the target (accord), none (xia05), or doubling until the first congestion (har02, har02-printed).
        slow_start = choice("", &["lands", "none", "doubles"]).source("none is [Xia05 eq. 10], doubles is [Har02 algorithm 1, step 7.2]"),
        /// The rate that is compared with a contract: the egress rate at the receiver (accord), or the sent data over the smoothed round-trip time (har02, har02-printed).
        mu = choice("", &["received", "sent"]).source("departure; sent is [Har02 algorithm 1, step 2]"),
        /// The egress rate: of pairs that arrive their virtual delay later, as a quotient of averages (accord), or an average of samples from pair to pair (xia05, har02, har02-printed).
        meter = choice("", &["shifted", "plain"]).source("departure; plain is [Xia05 §IV-B.2, §IV-D]"),
        /// The largest growth of the window per round trip: a packet (accord, har02, har02-printed), or the step of the policy (xia05).
        increase = choice("", &["packet", "policy"]).source("packet is [Har02 algorithm 1, step 5], policy is [Xia05 eq. 10]"),
        /// Virtually queued data counts as outstanding (accord), or not (xia05, har02, har02-printed).
        virtual = choice("", &["inside", "beside"]).source("departure"),
        /// Steps lengthen while an error lasts (accord), or are those of the policy (xia05, har02, har02-printed).
        steps = choice("", &["longer", "policy"]).source("departure"),
        /// Control pairs: repeated soon (accord), or with the timer of TCP (xia05, har02, har02-printed).
        pairs = choice("", &["patient", "printed"]).source("departure; printed is [Xia05 §IV-B.1]"),
        /// The place of a pair among data: alternately ahead of a packet and behind one (all laws), or at the answer to the last pair, which is behind a packet.
        place = choice("", &["turns", "at-once"]).source("the papers give none"),
        /// Below a packet per round trip: the policy goes on (accord), or the rate halves and comes back to a packet per round trip (xia05, har02, har02-printed).
        low_rate = choice("", &["smooth", "halve"]).source("departure; halve is [Har02 §V-A]"),
        /// The recovery of a contracted rate: a least rate, until the receiver shows that it does not fit (accord), or the policy alone (har02, har02-printed).
        recovery = choice("", &["contract", "packet"]).source("departure; packet is [Har02 §II]"),
        /// The quantity that a loss halves: the window (xia05, har02, har02-printed), the flow's own accumulation, or the accumulation with a contract and the window without one (accord).
        pub loss: Option<LossName> = choice("", LossName::WORDS).source("window is [Xia05 §IV-B.2], the others are ours"),
        /// The recent loss ratio above which a loss halves the window in any case; not of loss = "window".
        pub loss_bound: f64 = number("0.05", 0.001, 0.5).source("ours"),
        /// Least time-out of a control pair: 1 ms (accord), or 1 s (xia05, har02, har02-printed).
        pub min_rto: Option<Duration> = duration("").meaning(Meaning::LeastTimeout).source("departure; 1 s is [RFC 6298 §2.4], by [Xia05 §IV-B.1]"),
    }
}
