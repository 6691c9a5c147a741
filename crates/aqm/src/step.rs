//! A step: every packet that finds more than a threshold queued is marked
//! [Alizadeh10 §3.1, RFC 8257 §4.1].
//!
//! | symbol | field       | unit           | default | range | source |
//! |--------|-------------|----------------|---------|-------|--------|
//! | K      | `threshold` | packets, bytes | 20 pkt  | ≥ 0   | Alizadeh10 §3.4 |
//! | –      | `drop`      | –              | false   | –     | RFC 8257 §6 |
//!
//! The queue is that of the instant, with the packet in service and without the one that arrives.
//! Control packets of the high-priority queue pass.

use crate::{AnyAqm, Maker};
use crate::{Aqm, Class, Entropy, PacketMeta, QueueView, Verdict};
use accord_family::{Dynamics, Family, Kind, Param, Price, Role, Values};
use accord_units::{Size, Time};

/// The declaration of the step.
pub static FAMILY: Family = Family {
    name: "step",
    doc: "A step: marks every packet that finds more than a threshold queued.",
    source: "[Alizadeh10 §3.1]",
    params: &[
        Param {
            name: "threshold",
            symbol: "K",
            kind: Kind::Size,
            default: "20 pkt",
            doc: "Packets that find more than this queued are marked.",
            source: "[Alizadeh10 §3.4]",
        },
        Param {
            name: "drop",
            symbol: "",
            kind: Kind::Flag,
            default: "false",
            doc: "Drops packets beyond the threshold that cannot be marked, as a switch does \
                  whose RED has both thresholds there.",
            source: "[RFC 8257 §6]",
        },
    ],
    check: |_| Ok(()),
    role: Role::Queue(|_| Price::Loss),
    dynamics: Dynamics::Missing(
        "a fluid's queue would stay on the step, where the share of marks may be anything",
    ),
    kernel: None,
    stack: None,
    page: "models/step.md",
    maker: &Maker {
        build: |values| AnyAqm::Step(Step::new(values)),
    },
};

/// Marks what finds more than a threshold queued.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    threshold: Size,
    drop: bool,
}

impl Step {
    /// Creates a step from its parameters.
    pub fn new(values: &Values) -> Step {
        Step {
            threshold: values.size("threshold"),
            drop: values.flag("drop"),
        }
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

accord_family::config! {
    /// The parameters of the step.
    pub struct Config of FAMILY {
        /// Packets that find more than this queued are marked.
        pub threshold: Size,
        /// Drops packets beyond the threshold that cannot be marked, as a switch does whose RED has both thresholds there.
        pub drop: bool,
    }
}

impl Config {
    /// Makes the queue discipline.
    ///
    /// # Errors
    /// As [`Config::values`].
    pub fn build(&self) -> Result<Step, String> {
        Ok(Step::new(&self.values()?))
    }
}
