//! The laws of Monaco: one table of switches.
//!
//! A law is a row of [`SWITCHES`]. `law = "xia05"` is exactly eq. 10 of Xia05. `law =
//! "har02-printed"` is algorithm 1 of Har02, step by step. `law = "har02"` replaces its step 4 with
//! acknowledged data. `law = "accord"` is ours. A switch given in the scenario replaces the law's.

use crate::Policy;
use crate::loss::OnLoss;
use accord_family::{Pace, Value, Values};
use accord_units::{Bytes, Duration, Words, words};

/// The switches: the name, then the word under each law of [`LAWS`].
const SWITCHES: &[(&str, [&str; 4])] = &[
    ("window", ["outstanding", "outstanding", "period", "outstanding"]),
    ("rtt", ["latest", "smoothed", "smoothed", "latest"]),
    ("slow_start", ["none", "doubles", "doubles", "lands"]),
    ("increase", ["policy", "packet", "packet", "packet"]),
    ("mu", ["sent", "sent", "sent", "received"]),
    ("meter", ["plain", "plain", "plain", "shifted"]),
    ("virtual", ["beside", "beside", "beside", "inside"]),
    ("low_rate", ["halve", "halve", "halve", "smooth"]),
    ("recovery", ["packet", "packet", "packet", "contract"]),
    ("loss", ["window", "window", "window", "contract"]),
    ("steps", ["policy", "policy", "policy", "longer"]),
    ("pairs", ["printed", "printed", "printed", "patient"]),
    ("place", ["turns", "turns", "turns", "turns"]),
];

/// The laws, in the order of the columns of [`SWITCHES`].
const LAWS: [&str; 4] = ["xia05", "har02", "har02-printed", "accord"];

words! {
    /// The limit of the data that a sender has sent.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Window by word {
        /// The data that is neither acknowledged nor lost is at most cwnd [Xia05 appendix].
        Outstanding = "outstanding",
        /// The data sent since the last control pair is at most cwnd [Har02 algorithm 1, step 4].
        Period = "period",
        /// The rate is the only limit while reports come.
        Open = "open",
    }
}

words! {
    /// The growth of the window until the first congestion.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SlowStart by word {
        /// None: the policy moves the window from the first report on [Xia05 eq. 10].
        None = "none",
        /// The window doubles per round trip [Har02 algorithm 1, step 7.2].
        Doubles = "doubles",
        /// The window doubles, window and rate are at most those of 1.9 times the rate of delivery,
        /// 1.25 times once a queue shows, and slow start ends at the window for which the queuing
        /// delay in hand gives the target.
        Lands = "lands",
    }
}

/// The switches and parameters of a controller of this kind.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// The policy that moves the window.
    pub policy: Policy,
    /// The round-trip time by which the window is divided.
    pub round_trip: Pace,
    /// The growth until the first congestion.
    pub slow_start: SlowStart,
    /// True if a contract is compared with the data sent since the last control pair over the
    /// smoothed round-trip time, not with the egress rate [Har02 algorithm 1, steps 2 and 3].
    pub mu_is_sent: bool,
    /// True if the window grows by at most a packet per round trip [Har02 algorithm 1, step 5], and
    /// not by the policy's step [Xia05 eq. 10].
    pub grows_by_packets: bool,
    /// True if the window includes virtually queued data.
    pub holds_virtual: bool,
    /// True if steps lengthen while an error lasts.
    pub longer_steps: bool,
    /// True if below a packet per round trip negative feedback halves the rate, and positive
    /// feedback restores that packet [Har02 §V-A]. Otherwise the policy takes the window below a
    /// packet, and a step at most halves or doubles it.
    pub halves_rate: bool,
    /// True if a contract is a least rate, until the receiver shows that it does not fit. Otherwise
    /// the policy alone leads back to a contracted rate [Har02 §II].
    pub keeps_contract: bool,
    /// The answer to a loss.
    pub on_loss: OnLoss,
    /// Target accumulation a* in bytes, of a flow of weight 1.
    pub target: f64,
}

words! {
    /// The handling of control pairs at the ends of a tunnel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Pairs by word {
        /// The next pair goes out when the last is answered, or when its timer runs out, which is
        /// "similar to that of TCP" [Xia05 §IV-B.1]: RFC 6298 with its least of 1 s and its
        /// exponential back-off. Only the answer to the latest pair counts.
        Printed = "printed",
        /// An answer counts while no later pair was answered, and a pair that is not answered is
        /// repeated soon.
        Patient = "patient",
    }
}

/// The use of the controller's window at the sending end of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sending {
    /// The limit of the data that has been sent.
    pub window: Window,
    /// The handling of control pairs.
    pub pairs: Pairs,
    /// True if pairs go alternately ahead of a data packet and behind one. Otherwise a pair goes when
    /// the last one is answered.
    pub by_turns: bool,
    /// Least time-out of a control pair; zero if it has none.
    pub min_rto: Duration,
    /// True if virtually queued data counts as outstanding.
    pub holds_virtual: bool,
}

/// Returns the column of the law in [`SWITCHES`].
fn column(values: &Values) -> usize {
    let law = values.choice("law");
    LAWS.iter().position(|l| *l == law).unwrap_or(LAWS.len() - 1)
}

/// Returns the word of a switch: the given one, or else the law's.
fn word(values: &Values, switch: &str) -> &'static str {
    values.choice_opt(switch).unwrap_or_else(|| {
        let row = SWITCHES.iter().find(|(name, _)| *name == switch);
        row.map_or("", |(_, words)| words[column(values)])
    })
}

/// Returns the value of a switch.
fn read<W: Words>(values: &Values, switch: &str) -> W {
    W::of_word(word(values, switch)).expect("a law and a parameter have the words of a switch")
}

impl Law {
    pub(crate) fn of(values: &Values, policy: Policy, packet: Bytes) -> Law {
        let is = |switch, is: &str| word(values, switch) == is;
        Law {
            policy,
            round_trip: match word(values, "rtt") {
                "smoothed" => Pace::Smoothed,
                "least" => Pace::Least,
                _ => Pace::Latest,
            },
            slow_start: read(values, "slow_start"),
            mu_is_sent: is("mu", "sent"),
            grows_by_packets: is("increase", "packet"),
            holds_virtual: is("virtual", "inside"),
            longer_steps: is("steps", "longer"),
            halves_rate: is("low_rate", "halve"),
            keeps_contract: is("recovery", "contract"),
            on_loss: match (word(values, "loss"), values.number("loss_bound")) {
                ("accumulation", bound) => OnLoss::Accumulation { bound },
                ("contract", bound) => OnLoss::Contract { bound },
                _ => OnLoss::Window,
            },
            target: values.size("target").bytes_f64(packet),
        }
    }
}

impl Sending {
    pub(crate) fn of(values: &Values) -> Sending {
        Sending {
            window: read(values, "window"),
            pairs: read(values, "pairs"),
            by_turns: word(values, "place") == "turns",
            min_rto: match values.effective("min_rto") {
                Value::Duration(least) => least,
                _ => Duration::ZERO,
            },
            holds_virtual: word(values, "virtual") == "inside",
        }
    }
}

/// The least time-out of a pair with the timer of TCP [RFC 6298 §2.4].
const LEAST_PRINTED: Duration = Duration::from_secs(1);

/// Returns the value of an absent parameter: pairs as printed have a least time-out.
pub(crate) fn absent(values: &Values, name: &str) -> Value {
    match name {
        "min_rto" if read::<Pairs>(values, "pairs") == Pairs::Printed => {
            Value::Duration(LEAST_PRINTED)
        }
        _ => Value::Absent,
    }
}

/// Returns whether the receiver's meter averages samples, as printed.
pub(crate) fn plain_meter(values: &Values) -> bool {
    word(values, "meter") == "plain"
}

/// Returns how often per round trip the receiver sends a count of received data, at most once per
/// packet. It is zero if the window does not use the counts.
pub(crate) fn counts(values: &Values) -> f64 {
    match word(values, "window") {
        "outstanding" => values.number("counts"),
        _ => 0.0,
    }
}
