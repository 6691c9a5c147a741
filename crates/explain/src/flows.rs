//! Properties of flows and of the parameters of families that effects need.

use accord_family::{Meaning, Objective, Param, Role, Value, Values};
use accord_scenario::{Carrier, Flow};

/// Returns whether control pairs feed the controller.
pub(crate) fn is_tunnel(controller: &Values) -> bool {
    matches!(controller.family().role, Role::Tunnel(_))
}

/// Returns whether the flow sends by a window and the engines set its timers. The kernel and QUIC
/// have their own timers.
pub(crate) fn is_stream(flow: &Flow) -> bool {
    responds(flow) && !is_tunnel(&flow.controller) && flow.carrier == Carrier::Ours
}

/// Returns whether the sender gets replies.
pub(crate) fn responds(flow: &Flow) -> bool {
    let values = &flow.controller;
    values.family().role.objective(values) != Some(Objective::Unresponsive)
}

/// Returns the parameter of a family that is a least time-out, with its effective value, if there
/// is one.
pub(crate) fn least_timeout(values: &Values) -> Option<(&'static Param, Value)> {
    let (p, _) = values.iter().find(|(p, _)| p.meaning == Meaning::LeastTimeout)?;
    Some((p, values.effective(p.name)))
}
