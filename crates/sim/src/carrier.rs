//! The carriers of flows: our transport, or a stack of another program.

use accord_family::Stack;
use accord_scenario::{Carrier, Flow};

/// Returns the stack of another program that carries a flow.
pub(crate) fn stack(flow: &Flow) -> Option<&'static Stack> {
    match flow.carrier {
        Carrier::Quic(stack) => Some(stack),
        Carrier::Ours | Carrier::Kernel(_) => None,
    }
}
