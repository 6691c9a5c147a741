//! All queue disciplines by name.

use crate::{Aqm, DropTail, Entropy, PacketMeta, QueueView, Verdict};
use accord_units::param::{Family, Role, Values};
use accord_units::{Duration, Price, Time};

/// Droptail as the scenario language sees it.
static DROPTAIL: Family = Family {
    name: "droptail",
    doc: "First in, first out; what does not fit is dropped.",
    source: "",
    params: &[],
    check: |_| Ok(()),
    role: Role::Queue(|_| Price::QueuingDelay),
};

/// The disciplines that a scenario can name.
pub static FAMILIES: &[&Family] = &[&DROPTAIL];

/// Any discipline of the registry, dispatched without indirection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyAqm {
    /// See [`DropTail`].
    DropTail(DropTail),
}

impl AnyAqm {
    /// Builds the discipline that `values` describes.
    pub fn build(values: &Values) -> AnyAqm {
        match values.family().name {
            "droptail" => AnyAqm::DropTail(DropTail),
            name => unreachable!("{name} is not in the registry"),
        }
    }
}

impl Aqm for AnyAqm {
    #[inline]
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        queue: &QueueView,
        now: Time,
        entropy: &mut dyn Entropy,
    ) -> Verdict {
        match self {
            AnyAqm::DropTail(a) => a.on_arrival(packet, queue, now, entropy),
        }
    }

    #[inline]
    fn virtual_delay(&self, now: Time) -> Duration {
        match self {
            AnyAqm::DropTail(a) => a.virtual_delay(now),
        }
    }

    fn next_timer(&self) -> Option<Time> {
        match self {
            AnyAqm::DropTail(a) => a.next_timer(),
        }
    }

    fn on_timer(&mut self, queue: &QueueView, now: Time) {
        match self {
            AnyAqm::DropTail(a) => a.on_timer(queue, now),
        }
    }
}
