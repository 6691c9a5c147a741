//! Monaco [Xia05 §IV-B]: accumulation measured at the receiver by pairs of an out-of-band
//! and an in-band control packet, steered to a target once per round trip.
//!
//! | symbol | field | unit | default | range | source |
//! |---|---|---|---|---|---|
//! | a* | `target` | bytes or packets | 3000 B | > 0 | Xia05 table I |
//! | κ | `gain` | – | 0.5 | 0 - 10 | Xia05 table I |
//! | – | `policy` | – | p | p, aiad, mw | Xia05 eqs. 3, 5, 6 |
//! | κ | `mw_gain` | bit/s | 2 Mbps | > 0 | the papers give none |
//! | – | `estimator` | – | monaco | monaco, counted, ideal | Xia05 eq. 1, §IV-B.1 |
//! | – | `egress_weight` | – | 0.5, the papers' laws 0.25 | 0.01 - 1 | the papers give none |
//! | m | `counts` | per round trip | one per packet | ≥ 1 | the papers give none |
//! | – | `initial_window` | packets | 1 | ≥ 1 | the papers give none |
//! | – | `law` | – | accord | accord, xia05, har02 | `law.rs` |
//! | – | `loss`, `loss_bound` | – | window, 0.05 | `loss.rs` | `loss.rs` |
//! | – | `min_rto` | s | as `law` has it | > 0 | RFC 6298 §2.4 |
//! | – | `window`, `rtt`, `slow_start`, `mu`, `meter`, `increase`, `virtual`, `steps`, `pairs`, `place`, `low_rate`, `recovery` | – | as `law` has them | two or three each | `law.rs` |

mod config;

pub use config::{Config, EstimatorName, LawName, LossName, PolicyName};

use crate::acc::Acc;
use crate::law::{self, Increase, Law, RoundTrip, Sending, SlowStart, Window};
use crate::loss::OnLoss;
use crate::{AnyController, Maker, Transport};
use crate::{Estimator, Meter, Policy};
use accord_family::{
    Dynamics, Family, FlowFacts, GivesUp, Kind, Objective, Pace, Param, Role, Rounds, Values,
    WindowDynamics, WindowLaw,
};
use accord_units::Bytes;
use std::f64::consts::LN_2;

pub(crate) static FAMILY: Family = Family {
    name: "monaco",
    doc: "Accumulation measured at the receiver by control pairs, steered to a target.",
    source: "[Xia05 §IV-B]",
    params: &[
        Param {
            name: "target",
            symbol: "a*",
            kind: Kind::Size,
            default: "3000 B",
            doc: "Accumulation that the flow keeps on its path; its weight.",
            source: "[Xia05 table I]",
        },
        Param {
            name: "gain",
            symbol: "κ",
            kind: Kind::Number {
                min: 1e-6,
                max: 10.0,
            },
            default: "0.5",
            doc: "Gain of the policy: a number for p, packets per round trip for aiad.",
            source: "[Xia05 table I]",
        },
        Param {
            name: "policy",
            symbol: "",
            kind: Kind::Choice(&["p", "aiad", "mw"]),
            default: "p",
            doc: "The rule of the step: proportional, additive, or that of Mo and Walrand.",
            source: "[Xia05 eqs. 3, 5, 6]",
        },
        Param {
            name: "mw_gain",
            symbol: "κ",
            kind: Kind::Rate,
            default: "2 Mbps",
            doc: "Gain of policy mw, which is a rate.",
            source: "the papers give none",
        },
        Param {
            name: "estimator",
            symbol: "",
            kind: Kind::Choice(&["monaco", "counted", "ideal"]),
            default: "monaco",
            doc: "Control pairs: the egress rate times the distance of the halves, or the data that arrived between them. Or the definition itself, which only the simulator knows.",
            source: "[Xia05 eq. 1, §IV-B.1]",
        },
        Param {
            name: "egress_weight",
            symbol: "",
            kind: Kind::Number {
                min: 0.01,
                max: 1.0,
            },
            default: "",
            doc: "Weight of a new sample in the moving average of the egress rate: 0.5 (accord), or 0.25 (xia05, har02).",
            source: "the papers give none",
        },
        Param {
            name: "counts",
            symbol: "m",
            kind: Kind::Number { min: 1.0, max: 1e6 },
            default: "1e6",
            doc: "Acknowledgements per round trip, at most one per packet, of window = \"outstanding\"; more than the packets of a window mean one per packet.",
            source: "the papers give none",
        },
        Param {
            name: "initial_window",
            symbol: "",
            kind: Kind::Number {
                min: 1.0,
                max: 1000.0,
            },
            default: "1",
            doc: "Window at the start, in packets.",
            source: "the papers give none",
        },
        Param {
            name: "law",
            symbol: "",
            kind: Kind::Choice(&["accord", "xia05", "har02"]),
            default: "accord",
            doc: "The law: ours, eq. 10 of Xia05, or algorithm 1 of Har02. The parameters below replace single steps of it.",
            source: "[Xia05 eq. 10, Har02 algorithm 1]",
        },
        Param {
            name: "window",
            symbol: "",
            kind: Kind::Choice(&["outstanding", "period", "open"]),
            default: "",
            doc: "When data stops: when cwnd is outstanding (all laws), when cwnd was sent since the last control pair, or eight windows after the last report.",
            source: "outstanding is [Xia05 appendix], period is [Har02 algorithm 1, step 4]",
        },
        Param {
            name: "rtt",
            symbol: "",
            kind: Kind::Choice(&["latest", "smoothed", "least"]),
            default: "",
            doc: "The round-trip time by which cwnd is divided: of the latest report (accord, xia05), smoothed (har02), or the smallest.",
            source: "[Xia05 §IV-B.1, Har02 algorithm 1, step 8]",
        },
        Param {
            name: "slow_start",
            symbol: "",
            kind: Kind::Choice(&["lands", "none", "doubles"]),
            default: "",
            doc: "The start: a slow start that ends at the window for which the delay in hand gives the target (accord), none (xia05), or doubling until the first congestion (har02).",
            source: "none is [Xia05 eq. 10], doubles is [Har02 algorithm 1, step 7.2]",
        },
        Param {
            name: "mu",
            symbol: "",
            kind: Kind::Choice(&["received", "sent"]),
            default: "",
            doc: "The rate that is compared with a contract: the egress rate at the receiver (accord), or the sent data over the smoothed round-trip time (har02).",
            source: "departure; sent is [Har02 algorithm 1, step 2]",
        },
        Param {
            name: "meter",
            symbol: "",
            kind: Kind::Choice(&["shifted", "plain"]),
            default: "",
            doc: "The egress rate: of pairs that arrive their virtual delay later, as a quotient of averages (accord), or an average of samples from pair to pair (xia05, har02).",
            source: "departure; plain is [Xia05 §IV-B.2, §IV-D]",
        },
        Param {
            name: "increase",
            symbol: "",
            kind: Kind::Choice(&["packet", "policy"]),
            default: "",
            doc: "The largest growth of the window per round trip: a packet (accord, har02), or the step of the policy (xia05).",
            source: "packet is [Har02 algorithm 1, step 5], policy is [Xia05 eq. 10]",
        },
        Param {
            name: "virtual",
            symbol: "",
            kind: Kind::Choice(&["inside", "beside"]),
            default: "",
            doc: "Virtually queued data counts as outstanding (accord), or not (xia05, har02).",
            source: "departure",
        },
        Param {
            name: "steps",
            symbol: "",
            kind: Kind::Choice(&["longer", "policy"]),
            default: "",
            doc: "Steps lengthen while an error lasts (accord), or are those of the policy (xia05, har02).",
            source: "departure",
        },
        Param {
            name: "pairs",
            symbol: "",
            kind: Kind::Choice(&["patient", "printed"]),
            default: "",
            doc: "Control pairs: repeated soon (accord), or with the timer of TCP (xia05, har02).",
            source: "departure; printed is [Xia05 §IV-B.1]",
        },
        Param {
            name: "place",
            symbol: "",
            kind: Kind::Choice(&["turns", "at-once"]),
            default: "",
            doc: "The place of a pair among data: alternately ahead of a packet and behind one (all laws), or at the answer to the last pair, which is behind a packet.",
            source: "the papers give none",
        },
        Param {
            name: "low_rate",
            symbol: "",
            kind: Kind::Choice(&["smooth", "halve"]),
            default: "",
            doc: "Below a packet per round trip: the policy goes on (accord), or the rate halves and comes back to a packet per round trip (xia05, har02).",
            source: "departure; halve is [Har02 §V-A]",
        },
        Param {
            name: "recovery",
            symbol: "",
            kind: Kind::Choice(&["contract", "packet"]),
            default: "",
            doc: "The recovery of a contracted rate: a least rate, until the receiver shows that it does not fit (accord), or the policy alone (har02).",
            source: "departure; packet is [Har02 §II]",
        },
        Param {
            name: "loss",
            symbol: "",
            kind: Kind::Choice(&["window", "accumulation", "contract"]),
            default: "",
            doc: "The quantity that a loss halves: the window (xia05, har02), the flow's own accumulation, or the accumulation with a contract and the window without one (accord).",
            source: "window is [Xia05 §IV-B.2], the others are ours",
        },
        Param {
            name: "loss_bound",
            symbol: "",
            kind: Kind::Number {
                min: 0.001,
                max: 0.5,
            },
            default: "0.05",
            doc: "The recent loss ratio above which a loss halves the window in any case; not of loss = \"window\".",
            source: "ours",
        },
        Param {
            name: "min_rto",
            symbol: "",
            kind: Kind::Duration,
            default: "",
            doc: "Least time-out of a control pair: 1 ms (accord), or 1 s (xia05, har02).",
            source: "departure; 1 s is [RFC 6298 §2.4], by [Xia05 §IV-B.1]",
        },
    ],
    check: |_| Ok(()),
    role: Role::Tunnel(|v| Objective::Accumulation {
        target: v.size("target"),
    }),
    dynamics: Dynamics::Window(dynamics),
    kernel: None,
    stack: None,
    page: "models/monaco.md",
    maker: &Maker {
        build: |values, packet| AnyController::Monaco(Box::new(build(values, packet))),
        transport: Transport::Tunnel {
            sending: Sending::of,
            meter,
            counts: law::counts,
        },
    },
};

/// Returns the controller for packets of `packet` bytes.
fn build(values: &Values, packet: Bytes) -> Acc {
    Acc::new(law(values, packet), packet, values.number("initial_window"))
}

/// Returns the law for packets of `packet` bytes.
fn law(values: &Values, packet: Bytes) -> Law {
    let gain = values.number("gain");
    let policy = match values.choice("policy") {
        "aiad" => Policy::Aiad {
            gain: gain * packet.as_f64(),
        },
        "mw" => Policy::MoWalrand {
            gain: values.rate("mw_gain").as_bps_f64() / 8.0,
        },
        _ => Policy::Proportional { gain },
    };
    Law::of(values, policy, packet)
}

/// The window is the outstanding data. Counts and reports go out of band, so that only the forward
/// queues are in its round trip and in its estimate.
fn dynamics(values: &Values, facts: &FlowFacts) -> WindowDynamics {
    let law = law(values, facts.packet);
    let sending = Sending::of(values);
    let target = facts.weight * law.target;
    WindowDynamics {
        law: match law.policy {
            Policy::Proportional { gain } => WindowLaw::Proportional { gain, target },
            Policy::MoWalrand { gain } => WindowLaw::MoWalrand { gain, target },
            Policy::Aiad { gain } => WindowLaw::Additive { gain, target },
        },
        most: match law.increase {
            Increase::Packet => facts.packet.as_f64(),
            Increase::Policy => f64::INFINITY,
        },
        initial: values.number("initial_window") * facts.packet.as_f64(),
        // A rate that follows delivery doubles every second round trip.
        growth: match law.slow_start {
            SlowStart::Lands => LN_2 / 2.0,
            SlowStart::Doubles | SlowStart::None => LN_2,
        },
        leave: match law.slow_start {
            SlowStart::None => 0.0,
            SlowStart::Doubles | SlowStart::Lands => target,
        },
        rounds: (sending.window == Window::Outstanding).then_some(Rounds {
            pace: match law.round_trip {
                RoundTrip::Latest => Pace::Latest,
                RoundTrip::Smoothed => Pace::Smoothed,
                RoundTrip::Least => Pace::Least,
            },
            turns: sending.by_turns,
        }),
        gives_up: match law.on_loss {
            OnLoss::Window => GivesUp::Window,
            OnLoss::Contract { .. } if !facts.has_contract => GivesUp::Window,
            OnLoss::Accumulation { bound } | OnLoss::Contract { bound } => {
                GivesUp::Accumulation { bound }
            }
        },
        ..WindowDynamics::UNRESPONSIVE
    }
}

fn meter(values: &Values) -> Meter {
    let estimator = match values.choice("estimator") {
        "counted" => Estimator::Counted,
        "ideal" => Estimator::Ideal,
        _ => Estimator::Monaco,
    };
    Meter::new(
        law::egress_weight(values),
        estimator,
        law::plain_meter(values),
    )
}
