//! Droptail: every packet that fits passes. The port has the limit.

use crate::{AnyAqm, Maker};
use crate::{Aqm, Entropy, PacketMeta, QueueView, Verdict};
use accord_family::{Dynamics, Family, Price, QueueDynamics, QueueLaw, Role};
use accord_units::Time;

/// The declaration of droptail.
pub static FAMILY: Family = Family {
    name: "droptail",
    doc: "First in, first out; packets that do not fit are dropped.",
    source: "",
    params: &[],
    check: |_| Ok(()),
    role: Role::Queue(|_| Price::QueuingDelay),
    dynamics: Dynamics::Queue(|_, _| QueueDynamics::plain(QueueLaw::DropTail)),
    kernel: None,
    stack: None,
    page: "models/droptail.md",
    maker: &Maker {
        build: |_| AnyAqm::DropTail(DropTail),
    },
};

/// Drops no packet that fits.
#[derive(Clone, Copy, Debug, Default)]
pub struct DropTail;

impl Aqm for DropTail {
    #[inline]
    fn passes_all(&self) -> bool {
        true
    }

    fn ignores_lone(&self) -> bool {
        true
    }

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
