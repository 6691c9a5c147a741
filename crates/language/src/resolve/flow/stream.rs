//! The settings of streams.

use crate::read::Reader;
use accord_form::Problem;
use accord_scenario::{Carrier, FlowSettings, MIN_RTO};

/// Rejects settings that none of our streams would use. Default values do not count as requests.
pub(super) fn check(flow: &FlowSettings, reader: &Reader<'_>) -> Result<(), Problem> {
    let (message, hint) = match &flow.carrier {
        Carrier::Kernel(_) => (
            "Accord cannot set this in the kernel's TCP".into(),
            "leave it out, or leave out `kernel`",
        ),
        Carrier::Quic(stack) => (
            format!("Accord cannot set this in {}", stack.name),
            "leave it out, or leave out `quic`",
        ),
        Carrier::Ours if flow.controller.is_stream() => return Ok(()),
        Carrier::Ours => (
            format!("{} does not run on a stream", flow.controller.family().name),
            "leave it out; the least time-out of a tunnel's control pairs is `min_rto` of its controller",
        ),
    };
    let asked = [("min_rto", flow.min_rto != MIN_RTO), ("pacing", flow.pacing)];
    match asked.into_iter().find(|(_, asked)| *asked) {
        Some((key, _)) => Err(Problem::new(reader.at(key), message).hint(hint)),
        None => Ok(()),
    }
}
