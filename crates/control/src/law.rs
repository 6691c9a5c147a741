//! Monaco as the papers print it and as it is here, step by step.
//!
//! `law = "printed"` is Har02 algorithm 1 over the estimator of Xia05 §IV-B.1 and §IV-D;
//! `law = "accord"` is ours. Each step in which they differ has a switch, which stands as the
//! law says unless it is given.

use crate::Policy;
use crate::loss::OnLoss;
use accord_family::Values;
use accord_units::{Bytes, Duration};

/// The source of the sending rate [Har02 algorithm 1, step 8].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocking {
    /// As printed: the window and the round-trip time. Slow start doubles until the first
    /// congestion.
    Paced,
    /// The rate at which data leaves the network, corrected so that the window is what is in
    /// flight, as acknowledgements clock a window. Slow start stops at the window for which
    /// the queuing delay in hand gives the target.
    Egress,
    /// As far as the flow itself moves its queue, as [`Clocking::Egress`]; as far as others move it,
    /// cwnd / rtt. An error that lasts is answered by longer steps. The default.
    Mixed,
}

/// The round-trip time by which cwnd is divided [Har02 algorithm 1, step 8].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTrip {
    /// As printed: the smoothed one.
    Smoothed,
    /// The round-trip time of the latest report.
    Latest,
}

/// Which rate tells the part of the accumulation that carries a contract
/// [Har02 algorithm 1, steps 2 and 3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mu {
    /// As printed: what was sent since the last control pair over the smoothed round-trip
    /// time.
    Sent,
    /// The egress rate that the receiver reports.
    Received,
}

/// The bound of the growth of a window per round trip [Har02 algorithm 1, step 5].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increase {
    /// By a packet at most [Har02 §II].
    Packet,
    /// As far as the policy says [Xia05 eq. 10].
    Policy,
}

/// The behaviour of a flow that should send less than a packet per round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowRate {
    /// As printed: negative feedback halves its rate, positive feedback brings it back to a
    /// packet per round trip [Har02 §V-A].
    Halve,
    /// Its window goes on below a packet, by the policy, at most halved or doubled.
    Smooth,
}

/// The behaviour of a flow that gets less than its contracted rate and queues little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// As printed: a packet more in each round trip at most [Har02 §II].
    Packet,
    /// It knows the window that its contract needs over empty queues, and goes a part of the
    /// way there in each round trip.
    Contract,
}

/// The switches and parameters of a controller of this kind.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// The policy that moves the window.
    pub policy: Policy,
    /// The source of the sending rate.
    pub clocking: Clocking,
    /// The round-trip time by which the window is divided, if it gives the rate.
    pub round_trip: RoundTrip,
    /// The rate that a contract is compared with.
    pub mu: Mu,
    /// The bound of what the window grows by.
    pub increase: Increase,
    /// The behaviour below a packet per round trip.
    pub low_rate: LowRate,
    /// The way back to a contracted rate.
    pub recovery: Recovery,
    /// The answer to a loss.
    pub on_loss: OnLoss,
    /// Target accumulation a* in bytes, of a flow of weight 1.
    pub target: f64,
}

/// The handling of control pairs at the ends of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// As printed: the next pair goes out when the last is answered, or when its timer runs
    /// out, which is "similar to that of TCP" [Xia05 §IV-B.1]: RFC 6298 with its least of 1 s
    /// and its exponential back-off. Only the answer to the latest pair counts.
    Printed,
    /// An answer counts while no later pair was answered, a pair that is not answered is repeated
    /// soon, and a pair goes ahead of a data packet and behind one by turns.
    Patient,
}

/// The use of the controller's window at the sending end of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// It stops when the next packet would bring what was sent since the last control pair
    /// above cwnd [Har02 algorithm 1, step 4]. Otherwise only the rate holds it back, while
    /// reports come.
    pub stops: bool,
    /// Its handling of control pairs.
    pub pairs: Pairs,
    /// Least time-out of a control pair, where it is given.
    pub min_rto: Option<Duration>,
}

/// The word of a switch: as it is given, or else as the law has it.
fn word(
    values: &Values,
    switch: &str,
    printed: &'static str,
    accord: &'static str,
) -> &'static str {
    values
        .choice_opt(switch)
        .unwrap_or(match is_printed(values) {
            true => printed,
            false => accord,
        })
}

/// The weight of a new sample of the egress rate.
pub(crate) fn egress_weight(values: &Values) -> f64 {
    let own = values.number_opt("egress_weight");
    own.unwrap_or(match is_printed(values) {
        true => 0.25,
        false => 0.5,
    })
}

fn is_printed(values: &Values) -> bool {
    values.choice("law") == "printed"
}

impl Law {
    pub(crate) fn of(values: &Values, policy: Policy, packet: Bytes) -> Law {
        let word = |switch, printed, accord| word(values, switch, printed, accord);
        Law {
            policy,
            clocking: match word("clocking", "paced", "mixed") {
                "paced" => Clocking::Paced,
                "egress" => Clocking::Egress,
                _ => Clocking::Mixed,
            },
            round_trip: match word("rtt", "smoothed", "latest") {
                "smoothed" => RoundTrip::Smoothed,
                _ => RoundTrip::Latest,
            },
            mu: match word("mu", "sent", "received") {
                "sent" => Mu::Sent,
                _ => Mu::Received,
            },
            increase: match word("increase", "packet", "packet") {
                "policy" => Increase::Policy,
                _ => Increase::Packet,
            },
            low_rate: match word("low_rate", "halve", "smooth") {
                "halve" => LowRate::Halve,
                _ => LowRate::Smooth,
            },
            recovery: match word("recovery", "packet", "contract") {
                "packet" => Recovery::Packet,
                _ => Recovery::Contract,
            },
            on_loss: match values.choice("loss") {
                "accumulation" => OnLoss::Accumulation {
                    bound: values.number("loss_bound"),
                },
                _ => OnLoss::Window,
            },
            target: values.size("target").bytes_f64(packet),
        }
    }
}

impl Sending {
    pub(crate) fn of(values: &Values) -> Sending {
        Sending {
            stops: word(values, "window", "period", "open") == "period",
            pairs: match is_printed(values) {
                true => Pairs::Printed,
                false => Pairs::Patient,
            },
            min_rto: values.duration_opt("min_rto"),
        }
    }
}

/// Whether the receiver's meter is the printed one.
pub(crate) fn plain_meter(values: &Values) -> bool {
    word(values, "meter", "plain", "shifted") == "plain"
}

/// Refuses what makes no sense together.
pub(crate) fn check(values: &Values) -> Result<(), String> {
    let word = |switch, printed, accord| word(values, switch, printed, accord);
    let clocking = word("clocking", "paced", "mixed");
    if clocking == "paced" {
        return Ok(());
    }
    if word("meter", "plain", "shifted") == "plain" {
        return Err(format!(
            "clocking = \"{clocking}\" sends at the rate at which data leaves the virtual \
                    queues, too, and meter = \"plain\" does not measure that: set meter = \
                    \"shifted\" as well, or clocking = \"paced\""
        ));
    }
    if values.choice_opt("rtt") == Some("smoothed") {
        return Err(format!(
            "rtt = \"smoothed\" is late, and clocking = \"{clocking}\" follows the queue of \
                    the latest report: leave out rtt, or set clocking = \"paced\""
        ));
    }
    Ok(())
}
