//! Monaco [Xia05 §IV-B]: accumulation measured at the receiver by pairs of an out-of-band
//! and an in-band control packet, steered to a target once per round trip.
//!
//! | symbol | field | unit | default | range | source |
//! |---|---|---|---|---|---|
//! | a* | `target` | bytes or packets | 3000 B | > 0 | Xia05 table I |
//! | κ | `gain` | – | 0.5 | 0 - 10 | Xia05 table I |
//! | – | `policy` | – | p | p, aiad, mw | Xia05 eqs. 3, 5, 6 |
//! | κ | `mw_gain` | bit/s | 2 Mbps | > 0 | the papers give none |
//! | – | `estimator` | – | monaco | monaco, ideal | Xia05 eq. 1 |
//! | – | `egress_weight` | – | 0.5, printed 0.25 | 0.01 - 1 | the papers give none |
//! | – | `law` | – | accord | accord, printed | `law.rs` |
//! | – | `loss`, `loss_bound` | – | window, 0.05 | `loss.rs` | `loss.rs` |
//! | – | `min_rto` | s | as `law` has it | > 0 | RFC 6298 §2.4 |
//! | – | `clocking`, `window`, `rtt`, `mu`, `meter`, `increase`, `low_rate`, `recovery` | – | as `law` has them | two each, `clocking` three | `law.rs` |

mod config;

pub use config::{Config, Estimator, LawName, LossName, PolicyName};

use crate::acc::{Acc, CLOCKED, CORRECTION};
use crate::law::{self, Clocking, Increase, Law, Sending};
use crate::loss::OnLoss;
use crate::{AnyController, Maker, Transport};
use crate::{Meter, Policy};
use accord_family::{
    Dynamics, Family, FlowFacts, GivesUp, Kind, Objective, Param, Reports, Role, Values,
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
            doc: "How the window moves: proportional, additive, or as Mo and Walrand do.",
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
            kind: Kind::Choice(&["monaco", "ideal"]),
            default: "monaco",
            doc: "Control pairs, or the definition itself, which only the simulator knows.",
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
            doc: "Weight of a new sample in the moving average of the egress rate: 0.5 (accord), or 0.25 (printed).",
            source: "the papers give none",
        },
        Param {
            name: "law",
            symbol: "",
            kind: Kind::Choice(&["accord", "printed"]),
            default: "accord",
            doc: "Whose law: ours, or the papers' step by step. The parameters below change single steps of it; without them each is as the law has it.",
            source: "printed is [Har02 algorithm 1, Xia05 §IV-B, §IV-D]",
        },
        Param {
            name: "clocking",
            symbol: "",
            kind: Kind::Choice(&["mixed", "paced", "egress"]),
            default: "",
            doc: "What the rate follows: the egress rate and the window as far as the flow moves its queue, and cwnd / rtt beyond that (accord); cwnd / rtt (printed); or the egress rate and the window only.",
            source: "departure; paced is [Har02 algorithm 1, step 8]",
        },
        Param {
            name: "window",
            symbol: "",
            kind: Kind::Choice(&["open", "period"]),
            default: "",
            doc: "When data stops: eight windows after the last report (accord), or when cwnd was sent since the last control pair (printed).",
            source: "departure; period is [Har02 algorithm 1, step 4]",
        },
        Param {
            name: "rtt",
            symbol: "",
            kind: Kind::Choice(&["latest", "smoothed"]),
            default: "",
            doc: "The round-trip time that cwnd is divided by: of the report in hand (accord), or smoothed (printed).",
            source: "departure; smoothed is [Har02 algorithm 1, step 8]",
        },
        Param {
            name: "mu",
            symbol: "",
            kind: Kind::Choice(&["received", "sent"]),
            default: "",
            doc: "The rate that a contract is compared with: what the receiver measures (accord), or what was sent over the smoothed round-trip time (printed).",
            source: "departure; sent is [Har02 algorithm 1, step 2]",
        },
        Param {
            name: "meter",
            symbol: "",
            kind: Kind::Choice(&["shifted", "plain"]),
            default: "",
            doc: "The egress rate: of pairs that arrive their virtual delay later, as a quotient of averages (accord), or an average of samples from pair to pair (printed).",
            source: "departure; plain is [Xia05 §IV-B.2, §IV-D]",
        },
        Param {
            name: "increase",
            symbol: "",
            kind: Kind::Choice(&["packet", "policy"]),
            default: "",
            doc: "The most that a window grows by in a round trip: a packet (both laws), or what the policy says.",
            source: "packet is [Har02 algorithm 1, step 5], policy is [Xia05 eq. 10]",
        },
        Param {
            name: "low_rate",
            symbol: "",
            kind: Kind::Choice(&["smooth", "halve"]),
            default: "",
            doc: "Below a packet per round trip: the policy goes on (accord), or the rate halves and comes back to a packet per round trip (printed).",
            source: "departure; halve is [Har02 §V-A]",
        },
        Param {
            name: "recovery",
            symbol: "",
            kind: Kind::Choice(&["contract", "packet"]),
            default: "",
            doc: "Below its contract with little queued: a quarter of the way to the window that the contract needs (accord), or a packet (printed), for each round trip.",
            source: "departure; packet is [Har02 §II]",
        },
        Param {
            name: "loss",
            symbol: "",
            kind: Kind::Choice(&["window", "accumulation"]),
            default: "window",
            doc: "What a loss halves: the window (both laws), or what the flow has queued of its own.",
            source: "window is [Xia05 §IV-B.2], accumulation is ours",
        },
        Param {
            name: "loss_bound",
            symbol: "",
            kind: Kind::Number {
                min: 0.001,
                max: 0.5,
            },
            default: "0.05",
            doc: "The part of packets lost of late above which a loss halves the window even so; of loss = \"accumulation\".",
            source: "ours",
        },
        Param {
            name: "min_rto",
            symbol: "",
            kind: Kind::Duration,
            default: "",
            doc: "Least time-out of a control pair: none but 1 ms (accord), or 1 s (printed).",
            source: "departure; 1 s is [RFC 6298 §2.4], by [Xia05 §IV-B.1]",
        },
    ],
    check: law::check,
    role: Role::Tunnel(|v| Objective::Accumulation {
        target: v.size("target"),
    }),
    dynamics: Dynamics::Window(dynamics),
    kernel: None,
    stack: None,
    page: "models/monaco.md",
    maker: &Maker {
        build: |values, packet| AnyController::Monaco(Acc::new(law(values, packet), packet)),
        transport: Transport::Tunnel {
            sending: Sending::of,
            meter,
        },
    },
};

/// The law for packets of `packet` bytes.
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

/// Nothing but delays tells a tunnel of the path: acknowledgements have no part in it.
fn dynamics(values: &Values, facts: &FlowFacts) -> WindowDynamics {
    let law = law(values, facts.packet);
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
        initial: facts.packet.as_f64(),
        // A window that holds the rate doubles once per window felt, every second round trip.
        growth: match law.clocking {
            Clocking::Paced => LN_2,
            Clocking::Egress | Clocking::Mixed => LN_2 / 2.0,
        },
        leave: target,
        reports: (law.clocking != Clocking::Paced).then(|| Reports {
            clocked: match law.clocking {
                Clocking::Mixed => CLOCKED,
                _ => f64::INFINITY,
            },
            correction: CORRECTION,
            weight: law::egress_weight(values),
        }),
        gives_up: match law.on_loss {
            OnLoss::Window => GivesUp::Window,
            OnLoss::Accumulation { bound } => GivesUp::Accumulation { bound },
        },
        ..WindowDynamics::UNRESPONSIVE
    }
}

fn meter(values: &Values) -> Meter {
    Meter::new(
        law::egress_weight(values),
        values.choice("estimator") == "ideal",
        law::plain_meter(values),
    )
}
