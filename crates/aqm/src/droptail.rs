//! Droptail: every packet that fits passes. The port enforces the limit.

use crate::prelude::*;

/// The declaration of droptail.
pub static FAMILY: Family = Family {
    doc: "First in, first out; packets that do not fit are dropped.",
    source: "",
    dynamics: Dynamics::Queue(|_, _| QueueDynamics::plain(QueueLaw::DropTail)),
    page: "models/droptail.md",
    maker: &Maker { build: |_| AnyAqm::DropTail(DropTail) },
    ..Family::new("droptail", Role::Queue(|_| Price::QueuingDelay))
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
}
