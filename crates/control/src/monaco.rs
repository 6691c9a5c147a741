//! Monaco [Xia05 §IV-B]: accumulation measured at the receiver by pairs of an out-of-band
//! and an in-band control packet, steered to a target once per round trip.

mod config;

pub use config::{Config, EstimatorName, LawName, LossName, PolicyName};

use crate::acc::Acc;
use crate::law::{self, Law, Sending, SlowStart, Window};
use crate::loss::OnLoss;
use crate::prelude::*;
use crate::{Estimator, Meter, Policy};
use accord_family::{GivesUp, Rounds};
use std::f64::consts::LN_2;

pub(crate) static FAMILY: Family = Family {
    doc: "Accumulation measured at the receiver by control pairs, steered to a target.",
    source: "[Xia05 §IV-B]",
    params: Config::PARAMS,
    former: &[("law", "printed", "har02")],
    absent: law::absent,
    dynamics: Dynamics::Window(dynamics),
    inner: &[
        Inner::new("monaco.estimate", Quantity::Bytes, "The estimated accumulation."),
        Inner::new("monaco.target", Quantity::Bytes, "The accumulation that it is steered to."),
    ],
    page: "models/monaco.md",
    maker: &Maker {
        build: |values, packet| AnyController::Monaco(Box::new(Acc::new(values, packet))),
        transport: Transport::Tunnel { sending: Sending::of, meter, counts: law::counts },
    },
    ..Family::new("monaco", Role::Tunnel(|v| Objective::Accumulation { target: v.size("target") }))
};

/// Returns the law for packets of `packet` bytes.
pub(crate) fn law(values: &Values, packet: Bytes) -> Law {
    let gain = values.number("gain");
    let policy = match values.choice("policy") {
        "aiad" => Policy::Aiad { gain: gain * packet.as_f64() },
        "mw" => Policy::MoWalrand { gain: values.rate("mw_gain").as_bps_f64() / 8.0 },
        _ => Policy::Proportional { gain },
    };
    Law::of(values, policy, packet)
}

/// The window is the outstanding data. Counts and reports go out of band, so only the forward
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
        most: if law.grows_by_packets { facts.packet.as_f64() } else { f64::INFINITY },
        initial: values.number("initial_window") * facts.packet.as_f64(),
        // A rate that follows the rate of delivery doubles every second round trip.
        growth: match law.slow_start {
            SlowStart::Lands => LN_2 / 2.0,
            SlowStart::Doubles | SlowStart::None => LN_2,
        },
        leave: match law.slow_start {
            SlowStart::None => 0.0,
            SlowStart::Doubles | SlowStart::Lands => target,
        },
        rounds: (sending.window == Window::Outstanding)
            .then_some(Rounds { pace: law.round_trip, turns: sending.by_turns }),
        gives_up: match law.on_loss {
            OnLoss::Window => GivesUp::Window,
            OnLoss::Contract { .. } if !facts.has_contract => GivesUp::Window,
            OnLoss::Accumulation { bound } | OnLoss::Contract { bound } => {
                GivesUp::Accumulation { bound }
            }
        },
        answers: law::counts(values),
        ..WindowDynamics::UNRESPONSIVE
    }
}

fn meter(values: &Values) -> Meter {
    let estimator = match values.choice("estimator") {
        "counted" => Estimator::Counted,
        "ideal" => Estimator::Ideal,
        _ => Estimator::Monaco,
    };
    Meter::new(values.number("egress_weight"), estimator, law::plain_meter(values))
}
