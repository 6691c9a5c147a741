//! Questions of the effects about flows and about the parameters of families.

use accord_family::{Objective, Param, Role, Value, Values};
use accord_scenario::{Carrier, Flow};

/// Returns whether control pairs feed the controller.
pub(crate) fn is_tunnel(controller: &Values) -> bool {
    matches!(controller.family().role, Role::Tunnel(_))
}

/// Returns whether the flow sends by a window and the engines set its timers. The kernel and QUIC
/// have timers of their own.
pub(crate) fn is_stream(flow: &Flow) -> bool {
    responds(flow) && !is_tunnel(&flow.controller) && flow.carrier == Carrier::Ours
}

/// Returns whether the sender gets replies.
pub(crate) fn responds(flow: &Flow) -> bool {
    let values = &flow.controller;
    values.family().role.objective(values) != Some(Objective::Unresponsive)
}

/// The parameter of a family, if it has it.
pub(crate) fn param(values: &Values, name: &str) -> Option<(&'static Param, Value)> {
    values.iter().find(|(p, _)| p.name == name)
}
