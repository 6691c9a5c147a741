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
//! | – | `egress_weight` | – | 0.25 | 0.01 - 1 | the papers give none |
//! | – | `clocking` | – | egress | egress, paced | [`Clocking`] |
//! | – | `low_rate` | – | smooth | smooth, halve | [`LowRate`] |
//! | – | `recovery` | – | contract | contract, packet | [`Recovery`] |

use crate::acc::{Acc, Clocking, Law, LowRate, Recovery};
use crate::{Meter, Policy};
use accord_units::param::{Family, Kind, Param, Role, Values};
use accord_units::{Bytes, Objective};

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
            default: "0.25",
            doc: "Weight of a new sample in the moving average of the egress rate.",
            source: "the papers give none",
        },
        Param {
            name: "clocking",
            symbol: "",
            kind: Kind::Choice(&["egress", "paced"]),
            default: "egress",
            doc: "What the rate follows: the egress rate and the window, or cwnd / rtt as printed.",
            source: "departure; paced is [Xia05 §IV-B.2]",
        },
        Param {
            name: "low_rate",
            symbol: "",
            kind: Kind::Choice(&["smooth", "halve"]),
            default: "smooth",
            doc: "Below a packet per round trip: the policy goes on, or halves the rate and comes back to a packet per round trip.",
            source: "departure; halve is [Har02 §V-A]",
        },
        Param {
            name: "recovery",
            symbol: "",
            kind: Kind::Choice(&["contract", "packet"]),
            default: "contract",
            doc: "Below its contract with little queued: a quarter of the way to the window that the contract needs, or a packet, for each round trip.",
            source: "departure; packet is [Har02 §II]",
        },
    ],
    check: |_| Ok(()),
    role: Role::Tunnel(|v| Objective::Accumulation {
        target: v.size("target"),
    }),
};

pub(crate) fn controller(values: &Values, packet: Bytes) -> Acc {
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
    let clocking = match values.choice("clocking") {
        "paced" => Clocking::Paced,
        _ => Clocking::Egress,
    };
    let low_rate = match values.choice("low_rate") {
        "halve" => LowRate::Halve,
        _ => LowRate::Smooth,
    };
    let recovery = match values.choice("recovery") {
        "packet" => Recovery::Packet,
        _ => Recovery::Contract,
    };
    let target = values.size("target").bytes_f64(packet);
    let law = Law {
        policy,
        clocking,
        low_rate,
        recovery,
        target,
    };
    Acc::new(law, packet)
}

pub(crate) fn meter(values: &Values) -> Meter {
    Meter::new(
        values.number("egress_weight"),
        values.choice("estimator") == "ideal",
    )
}
