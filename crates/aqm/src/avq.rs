//! Adaptive virtual queue: marks or drops packets that would overflow a virtual queue.
//!
//! The virtual queue sees every arrival but is served at a virtual capacity C̃ below the link's C.
//! C̃ falls while more than γ·C arrives and rises while less arrives. So flows that back off on
//! marks or losses settle at utilisation γ with almost no real queue.
//!
//! On each arrival of b bytes, s seconds after the previous one [KS01 fig. 1]:
//!
//! ```text
//! VQ ← max(VQ − C̃·s, 0)
//! if VQ + b > B: mark or drop, else VQ ← VQ + b
//! C̃ ← max(min(C̃ + α·γ·C·s, C) − α·b, 0)
//! ```
//!
//! Departures from the source: `docs/src/models/avq-avd.md`.

use crate::prelude::*;
use crate::virtual_queue::VirtualQueue;
use accord_family::kind::number;

/// The desired utilisation γ, shared with AVD.
pub(crate) const UTILISATION: Param = number("0.98", 0.01, 1.0)
    .symbol("γ")
    .source("[KS01]")
    .declared("utilisation", "The utilisation that the link settles at.");

/// The gain α, shared with AVD.
pub(crate) const GAIN: Param = number("0.15", 1e-6, 1e3).symbol("α").source("[KS01]")
    .declared("gain", "Rate at which the virtual capacity adapts, in 1/s; its product with the longest round-trip time should stay well below 1.");

accord_family::params! {
    /// The parameters of AVQ.
    pub struct Config of FAMILY => Avq() {
        pub utilisation: f64 = UTILISATION,
        pub gain: f64 = GAIN,
        /// Size of the virtual buffer, in bytes; the port's own limit if not given, and 100 KB where that has no end.
        pub buffer: Option<Size> = size("").symbol("B").source("[KS01]"),
        /// Marks ECN-capable packets instead of dropping them.
        pub ecn: bool = flag("false").source("[RFC 3168]"),
    }
}

/// The declaration of AVQ.
pub static FAMILY: Family = Family {
    doc: "Adaptive virtual queue: marks or drops packets that would overflow a virtual queue whose capacity adapts to a desired utilisation.",
    source: "[KS01]",
    params: Config::PARAMS,
    check: |values| {
        match values.get("buffer") {
        Value::Size(Size::Packets(_)) => Err(
            "the virtual queue holds packets of all sizes; give buffer in bytes, such as \"100 KB\""
                .into(),
        ),
        _ => Ok(()),
    }
    },
    dynamics: Dynamics::Queue(|values, facts| QueueDynamics {
        law: QueueLaw::Avq {
            utilisation: values.number("utilisation"),
            gain: values.number("gain"),
            buffer: buffer(own_buffer(values), Some(facts.buffer).filter(|b| b.is_finite())),
        },
        ecn: values.flag("ecn"),
    }),
    page: "models/avq-avd.md",
    maker: &Maker { build: |values| AnyAqm::Avq(Avq::new(values)) },
    ..Family::new("avq", Role::Queue(|_| Price::Loss))
};

/// The default of the virtual buffer in bytes: the 100 packets of 1000 bytes of the simulations in
/// KS01.
const DEFAULT_BUFFER: f64 = 100e3;

/// Returns the virtual buffer in bytes if one is given.
fn own_buffer(values: &Values) -> Option<f64> {
    let size = values.size_opt("buffer");
    size.map(|size| size.bytes_f64(Bytes::new(1)))
}

/// Returns the virtual buffer in bytes: the one given, else the capacity of the queue, else the
/// default.
fn buffer(own: Option<f64>, fits: Option<f64>) -> f64 {
    own.or(fits).unwrap_or(DEFAULT_BUFFER)
}

/// Adaptive virtual queue.
#[derive(Clone, Debug)]
pub struct Avq {
    queue: VirtualQueue,
    config: Config,
    /// The virtual buffer in bytes, if it is given.
    buffer: Option<f64>,
}

impl Avq {
    /// Creates an AVQ from its parameters.
    pub fn new(values: &Values) -> Avq {
        Avq {
            queue: VirtualQueue::default(),
            config: Config::from(values),
            buffer: own_buffer(values),
        }
    }

    /// The virtual capacity C̃. It is zero before the first arrival.
    pub fn virtual_capacity(&self) -> Rate {
        Rate::from_bps_f64(self.queue.capacity * 8.0)
    }
}

impl Aqm for Avq {
    #[inline]
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        queue: &QueueView,
        now: Time,
        _: &mut dyn Entropy,
    ) -> Verdict {
        let (seconds, link) = self.queue.advance(now, queue.rate, self.config.utilisation);
        let size = packet.size.as_f64();
        let buffer = buffer(self.buffer, queue.capacity.map(Bytes::as_f64));
        let verdict = if self.queue.backlog + size <= buffer || packet.class == Class::OutOfBand {
            self.queue.backlog += size;
            Verdict::Pass
        } else if self.config.ecn && packet.ecn.is_capable() {
            Verdict::Mark
        } else {
            Verdict::Drop
        };
        let earned = self.config.gain * self.config.utilisation * link * seconds;
        let capacity = (self.queue.capacity + earned).min(link) - self.config.gain * size;
        self.queue.capacity = capacity.max(0.0);
        verdict
    }
}
