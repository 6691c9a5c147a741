//! The settings of streams.

use super::super::super::error::Problem;
use super::super::super::read::{self, Reader};
use accord_family::Values;
use accord_scenario::{Carrier, MIN_RTO};
use accord_units::Duration;

/// The settings of a flow's transport if it is a stream.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Stream {
    pub min_rto: Duration,
    pub pacing: bool,
}

impl Stream {
    pub fn read(reader: &Reader<'_>) -> Result<Stream, Problem> {
        Ok(Stream {
            min_rto: reader.get("min_rto", read::timeout)?,
            pacing: reader.get("pacing", read::flag)?,
        })
    }

    /// Refuses settings that no stream of ours would use. Default values are no request.
    pub fn check(
        &self,
        controller: &Values,
        carrier: &Carrier,
        reader: &Reader<'_>,
    ) -> Result<(), Problem> {
        let (message, hint) = match carrier {
            Carrier::Kernel(_) => (
                "the kernel's TCP does not take this from us".into(),
                "leave it out, or leave out `kernel`",
            ),
            Carrier::Quic(stack) => (
                format!("{} does not take this from us", stack.name),
                "leave it out, or leave out `quic`",
            ),
            Carrier::Ours if controller.is_stream() => return Ok(()),
            Carrier::Ours => (
                format!("{} does not run on a stream", controller.family().name),
                "leave it out; the least time-out of a tunnel's control pairs is `min_rto` of its controller",
            ),
        };
        let asked = [("min_rto", self.min_rto != MIN_RTO), ("pacing", self.pacing)];
        match asked.into_iter().find(|(_, asked)| *asked) {
            Some((key, _)) => {
                let at = reader.given(key).map_or(reader.span, |v| v.span);
                Err(Problem::new(at, message).hint(hint))
            }
            None => Ok(()),
        }
    }
}
