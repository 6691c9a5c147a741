//! The carriers of flows: our transport, or the stack of another program.

use accord_family::Stack;
use accord_scenario::{Carrier, Flow};

/// Returns the third-party stack that carries a flow, if any.
pub(crate) fn stack(flow: &Flow) -> Option<&'static Stack> {
    match flow.carrier {
        Carrier::Quic(stack) => Some(stack),
        Carrier::Ours | Carrier::Kernel(_) => None,
    }
}
