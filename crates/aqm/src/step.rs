//! A step: every packet that arrives at a queue above a threshold is marked [Alizadeh10 §3.1, RFC
//! 8257 §4.1].
//!
//! The queue is the instantaneous one. It includes the packet in service but not the arriving
//! packet. Control packets of the high-priority queue pass.

use crate::prelude::*;

accord_family::params! {
    /// The parameters of the step.
    pub struct Config of FAMILY => Step() {
        /// Queue length above which arrivals are marked.
        pub threshold: Size = size("20 pkt").symbol("K").source("[Alizadeh10 §3.4]"),
        /// Drops packets beyond the threshold that are not ECN-capable, as a switch does whose RED thresholds are equal.
        pub drop: bool = flag("false").source("[RFC 8257 §6]"),
    }
}

/// The declaration of the step.
pub static FAMILY: Family = Family {
    doc: "A step: marks every packet that arrives at a queue above a threshold.",
    source: "[Alizadeh10 §3.1]",
    params: Config::PARAMS,
    dynamics: Dynamics::Missing(
        "a fluid's queue would stay at the threshold, where the share of marks is undetermined",
    ),
    page: "models/step.md",
    maker: &Maker { build: |values| AnyAqm::Step(Step::new(values)) },
    ..Family::new("step", Role::Queue(|_| Price::Loss))
};

/// Marks packets that arrive at a queue above a threshold.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    threshold: Size,
    drop: bool,
}

impl Step {
    /// Creates a step from its parameters.
    pub fn new(values: &Values) -> Step {
        Step { threshold: values.size("threshold"), drop: values.flag("drop") }
    }
}

impl Aqm for Step {
    #[inline]
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        queue: &QueueView,
        _: Time,
        _: &mut dyn Entropy,
    ) -> Verdict {
        let beyond = match self.threshold {
            Size::Packets(packets) => queue.packets as f64 > packets,
            Size::Bytes(bytes) => queue.bytes > bytes,
        };
        match beyond && packet.class != Class::OutOfBand {
            true if packet.ecn.is_capable() => Verdict::Mark,
            true if self.drop => Verdict::Drop,
            _ => Verdict::Pass,
        }
    }
}
