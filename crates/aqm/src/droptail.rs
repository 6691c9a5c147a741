//! Droptail: everything that fits passes. The limit is the port's.

use crate::{Aqm, Entropy, PacketMeta, QueueView, Verdict};
use accord_units::Time;

/// Drops nothing that fits.
#[derive(Clone, Copy, Debug, Default)]
pub struct DropTail;

impl Aqm for DropTail {
    #[inline]
    fn on_arrival(
        &mut self,
        _: &PacketMeta,
        _: &QueueView,
        _: Time,
        _: &mut dyn Entropy,
    ) -> Verdict {
        Verdict::Pass
    }
}
