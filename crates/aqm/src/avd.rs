//! Adaptive virtual delay: a queuing delay for flows to react to, without the queue.
//!
//! A virtual queue sees every arrival and is served at a virtual capacity C̃ that adapts as in AVQ.
//! Each in-band control packet that passes collects the delay of the virtual queue.
//! Accumulation-based flows read that delay as a real one. So they settle at utilisation γ while
//! the real queue stays almost empty. Nothing is dropped or marked.
//!
//! On each arrival of b bytes, s seconds after the previous one [Xia05 §IV-D, KS01]:
//!
//! ```text
//! VQ ← max(VQ − C̃·s, 0) + b, at most D·C̃
//! C̃ ← min(max(C̃ + α·(γ·C·s − b), 0), C)
//! virtual delay = VQ / C̃
//! ```
//!
//! Departures from the source: `docs/src/models/avq-avd.md`.

use crate::avq::{GAIN, UTILISATION};
use crate::prelude::*;
use crate::virtual_queue::VirtualQueue;

accord_family::params! {
    /// The parameters of AVD.
    pub struct Config of FAMILY => Avd() {
        pub utilisation: f64 = UTILISATION,
        pub gain: f64 = GAIN,
        /// Limit of the virtual queue, as a delay.
        pub max_delay: Duration = duration("1 s").symbol("D"),
        /// The virtual delay contains the delay of the physical queue, and shows the rest; else the two add up.
        pub holds_physical: bool = flag("false").source("departure"),
    }
}

/// The declaration of AVD.
pub static FAMILY: Family = Family {
    doc: "Adaptive virtual delay: in-band control packets collect the delay of a virtual queue whose capacity adapts to a desired utilisation; a droptail queue for everything else.",
    source: "[Xia05 §IV-D]",
    params: Config::PARAMS,
    dynamics: Dynamics::Queue(|values, _| {
        QueueDynamics::plain(QueueLaw::Avd {
            utilisation: values.number("utilisation"),
            gain: values.number("gain"),
            longest: values.duration("max_delay").as_secs_f64(),
            holds_physical: values.flag("holds_physical"),
        })
    }),
    page: "models/avq-avd.md",
    maker: &Maker { build: |values| AnyAqm::Avd(Avd::new(values)) },
    ..Family::new(
        "avd",
        Role::Queue(|values| Price::VirtualDelay { utilisation: values.number("utilisation") }),
    )
};

/// Adaptive virtual delay.
#[derive(Clone, Debug)]
pub struct Avd {
    queue: VirtualQueue,
    /// The virtual backlog at the last arrival, in bytes.
    found: f64,
    /// The delay of the physical queue at the last arrival, in seconds, if the virtual delay
    /// contains it.
    physical: f64,
    config: Config,
    /// The limit of the virtual queue, in seconds.
    max_delay: f64,
}

impl Avd {
    /// Creates an AVD from its parameters.
    pub fn new(values: &Values) -> Avd {
        Avd {
            queue: VirtualQueue::default(),
            found: 0.0,
            physical: 0.0,
            max_delay: values.duration("max_delay").as_secs_f64(),
            config: Config::from(values),
        }
    }

    /// The virtual capacity C̃. It is zero before the first arrival.
    pub fn virtual_capacity(&self) -> Rate {
        Rate::from_bps_f64(self.queue.capacity * 8.0)
    }
}

impl Aqm for Avd {
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
        let VirtualQueue { backlog, capacity, .. } = &mut self.queue;
        self.found = *backlog;
        if self.config.holds_physical {
            // Both halves of a control pair wait for the packet in service.
            self.physical = queue.waiting() / link;
        }
        *backlog = (*backlog + size).min(self.max_delay * *capacity);
        let excess = size - self.config.utilisation * link * seconds;
        *capacity = (*capacity - self.config.gain * excess).max(0.0).min(link);
        Verdict::Pass
    }

    #[inline]
    fn virtual_delay(&self, now: Time) -> Duration {
        let Some(last) = self.queue.last else {
            return Duration::ZERO;
        };
        let capacity = self.queue.capacity;
        let ahead = (self.found - capacity * now.since(last).as_secs_f64()).max(0.0);
        // Compares bytes, to avoid a division by a capacity of zero.
        if ahead >= self.max_delay * capacity {
            Duration::from_secs_f64(self.max_delay)
        } else {
            Duration::from_secs_f64((ahead / capacity - self.physical).max(0.0))
        }
    }
}
