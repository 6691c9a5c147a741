//! The controllers of the scenario language, as laws with parameters in bytes and seconds.

use crate::law::{Base, Control, Law, Reads, Service};
use accord_scenario::{Demand, Flow};
use std::f64::consts::LN_2;

impl Control {
    /// What a flow's controller is to the fluid; `None` where there is no law for it.
    pub fn of(flow: &Flow) -> Option<Control> {
        let v = &flow.controller;
        let packet = flow.packet.as_f64();
        let size = |name| v.size(name).bytes_f64(flow.packet);
        let weight = flow.service.weight;
        let limit = flow.service.limit.map(|limit| limit.as_f64());
        let plain = Control {
            law: Law::Unresponsive,
            service: Service {
                contract: flow.service.contract.as_bps_f64() / 8.0,
                limit: limit.unwrap_or(f64::INFINITY),
            },
            reads: Reads::Delay,
            base: Base::Smallest,
            packet,
            most: packet,
            // Without control there is no window; what is offered is sent.
            initial: f64::INFINITY,
            growth: LN_2,
            leave: f64::INFINITY,
            keep: 1.0,
            window_clocked: false,
            ecn: false,
        };
        if let Demand::Web(_) = flow.demand {
            // Connections that come and go are a load, which no window bounds.
            return Some(plain);
        }
        let name = v.family().name;
        Some(match name {
            "none" => plain,
            "monaco" => {
                let (target, gain) = (weight * size("target"), v.number("gain"));
                let law = match v.choice("policy") {
                    "aiad" => Law::Additive {
                        gain: gain * packet,
                        target,
                    },
                    "mw" => Law::MoWalrand {
                        gain: v.rate("mw_gain").as_bps_f64() / 8.0,
                        target,
                    },
                    _ => Law::Proportional { gain, target },
                };
                // A Monaco bound by its window doubles once per window felt, every second round trip.
                let growth = match (v.choice_opt("clocking"), v.choice("law")) {
                    (Some("paced"), _) | (None, "printed") => LN_2,
                    _ => LN_2 / 2.0,
                };
                let most = match v.choice_opt("increase") {
                    Some("policy") => f64::INFINITY,
                    _ => packet,
                };
                Control {
                    law,
                    most,
                    initial: packet,
                    growth,
                    leave: target,
                    ..plain
                }
            }
            "vegas" | "vegas-k" | "vegas-rem" => {
                let marks = name == "vegas-rem";
                let rate = |name| v.rate_opt(name).map(|r| weight * r.as_bps_f64() / 8.0);
                let low = rate("alpha_rate");
                let high = if marks { low } else { rate("beta_rate") };
                let law = match (low, high) {
                    (Some(low), Some(high)) => Law::Vegas {
                        low,
                        high,
                        per_second: true,
                    },
                    _ => {
                        let amount = |name, otherwise: f64| {
                            let size = v.size_opt(name).map(|s| s.bytes_f64(flow.packet));
                            size.unwrap_or(otherwise * packet)
                        };
                        let (low, high) = match marks {
                            true => (amount("alpha", 2.0), amount("alpha", 2.0)),
                            false => (amount("alpha", 1.0), amount("beta", 3.0)),
                        };
                        Law::Vegas {
                            low: weight * low,
                            high: weight * high,
                            per_second: false,
                        }
                    }
                };
                let base = match name {
                    "vegas-k" => Base::Last {
                        bytes: v.integer("k") as f64 * packet,
                    },
                    _ if v.choice("base_rtt") == "known" => Base::Known,
                    _ => Base::Smallest,
                };
                let reads = match marks {
                    true => Reads::Marks {
                        ln_phi: v.number("phi").ln(),
                        memory: v.integer("memory") as f64 * packet,
                    },
                    false => Reads::RoundTrip,
                };
                Control {
                    law,
                    reads,
                    base,
                    initial: size("initial_window"),
                    growth: LN_2 / 2.0,
                    leave: size("gamma"),
                    keep: 7.0 / 8.0,
                    window_clocked: true,
                    ecn: marks || v.flag("ecn"),
                    ..plain
                }
            }
            "reno" | "newreno" => Control {
                law: Law::Reno,
                initial: size("initial_window"),
                window_clocked: true,
                ecn: v.flag("ecn"),
                ..plain
            },
            _ => return None,
        })
    }
}
