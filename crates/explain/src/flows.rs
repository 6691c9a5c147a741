//! Questions of the effects about flows and about the parameters of families.

use accord_family::{Meaning, Objective, Param, Role, Value, Values};
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

/// The least time-out among the parameters of a family, with its value in effect, if it has one.
pub(crate) fn least_timeout(values: &Values) -> Option<(&'static Param, Value)> {
    let (p, _) = values.iter().find(|(p, _)| p.meaning == Meaning::LeastTimeout)?;
    Some((p, values.effective(p.name)))
}
