//! CoDel: controlled delay. Drops from the head of the queue while the sojourn time has been long
//! for an interval or more.
//!
//! The sojourn time of a packet is known at its departure. CoDel drops one packet if every packet
//! of the last interval has waited longer than the target. If that does not help, it drops the next
//! one after interval/√2, then after interval/√3, and so on [RFC 8289 §3.3]:
//!
//! ```text
//! next drop ← next drop + interval/√count
//! ```
//!
//! Dropping ends when a packet has waited less than the target, or when at most one packet is left.
//! The drop rate grows linearly in time. This slows TCP down eventually, since its rate is
//! inversely proportional to the square root of its loss. Dropping that resumes within 16 intervals
//! starts at the previous rate.
//!
//! Departures from the source: `docs/src/models/codel.md`.

use crate::prelude::*;
use accord_family::kind::{duration, flag};

/// The acceptable sojourn time, for CoDel by itself and in each queue of FQ-CoDel.
pub(crate) const TARGET: Param = duration("5 ms")
    .symbol("TARGET")
    .source("[RFC 8289 §4.4]")
    .declared("target", "Acceptable standing delay of a queue.");

/// The time for which all packets must be late before one is dropped, as for [`TARGET`].
pub(crate) const INTERVAL: Param = duration("100 ms").symbol("INTERVAL").source("[RFC 8289 §4.3]")
    .declared("interval", "Time for which all packets must have exceeded the target before one is dropped: about the longest round-trip time.");

/// The choice between marks and drops, as for [`TARGET`].
pub(crate) const ECN: Param = flag("true")
    .source("[RFC 3168]")
    .declared("ecn", "Marks ECN-capable packets instead of dropping them.");

accord_family::params! {
    /// The parameters of CoDel.
    pub struct Config of FAMILY => Codel() {
        pub target: Duration = TARGET,
        pub interval: Duration = INTERVAL,
        pub ecn: bool = ECN,
    }
}

/// The declaration of CoDel.
pub static FAMILY: Family = Family {
    doc: "Controlled delay: drops from the head of the queue, ever more often, while packets \
          have waited longer than a target for longer than an interval.",
    source: "[RFC 8289]",
    params: Config::PARAMS,
    dynamics: Dynamics::Queue(dynamics),
    page: "models/codel.md",
    maker: &Maker { build: |values| AnyAqm::Codel(Codel::new(values)) },
    ..Family::new("codel", Role::Queue(|_| Price::Loss))
};

fn dynamics(values: &Values, facts: &QueueFacts) -> QueueDynamics {
    QueueDynamics {
        law: QueueLaw::Codel {
            target: values.duration("target").as_secs_f64(),
            interval: values.duration("interval").as_secs_f64(),
            packet: facts.packet.as_f64(),
        },
        ecn: values.flag("ecn"),
    }
}

/// Controlled delay.
#[derive(Clone, Debug)]
pub struct Codel {
    target: Duration,
    interval: Duration,
    ecn: bool,
    /// The time at which dropping begins if the delay stays above the target until then. It is
    /// `None` while the delay is below the target.
    above_until: Option<Time>,
    dropping: bool,
    /// The time of the next drop, while dropping.
    next: Time,
    /// True if a packet was dropped at `next`. `next` then advances if the following packet is also
    /// late.
    used: bool,
    /// The approximate number of packets dropped since dropping began, which sets the drop rate.
    count: u32,
    /// The value of `count` when dropping last began.
    begun_at: u32,
    /// The size of the largest packet seen.
    largest: Bytes,
}

/// The number of intervals within which dropping resumes at the previous rate.
const MEMORY: u64 = 16;

impl Codel {
    /// Creates a CoDel from its parameters, or from those of FQ-CoDel.
    pub fn new(values: &Values) -> Codel {
        Codel {
            target: values.duration("target"),
            interval: values.duration("interval"),
            ecn: values.flag("ecn"),
            above_until: None,
            dropping: false,
            next: Time::ZERO,
            used: false,
            count: 0,
            begun_at: 0,
            largest: Bytes::ZERO,
        }
    }

    /// Sets the acceptable standing delay, and the time for which all packets must have exceeded it.
    pub fn set_times(&mut self, target: Duration, interval: Duration) {
        (self.target, self.interval) = (target, interval);
    }

    /// Returns true if packets have been late for an interval [RFC 8289 §5.6, `dodequeue`].
    #[inline]
    fn is_late(&mut self, sojourn: Duration, behind: Bytes, now: Time) -> bool {
        // On a link slower than a packet per target the delay always exceeds the target. So a
        // backlog of one packet is always acceptable.
        if sojourn < self.target || behind <= self.largest {
            self.above_until = None;
            return false;
        }
        now >= *self.above_until.get_or_insert(now + self.interval)
    }

    /// Returns the time of the drop after one due at `due`: the control law.
    fn after(&self, due: Time) -> Time {
        due + self.interval.mul_f64(1.0 / f64::from(self.count).sqrt())
    }

    /// Returns the verdict that drops or marks a packet.
    fn signal(&self, packet: &PacketMeta) -> Verdict {
        if self.ecn && packet.ecn.is_capable() { Verdict::Mark } else { Verdict::Drop }
    }
}

impl Aqm for Codel {
    fn structure(&self) -> Structure {
        Structure::Stamped
    }

    #[inline]
    fn passes_all(&self) -> bool {
        true
    }

    fn ignores_lone(&self) -> bool {
        // A single packet is never late, since a queue of one packet is acceptable.
        true
    }

    #[inline]
    fn on_departure(
        &mut self,
        packet: &PacketMeta,
        sojourn: Duration,
        queue: &QueueView,
        now: Time,
    ) -> Verdict {
        self.largest = self.largest.max(packet.size);
        if !self.is_late(sojourn, queue.bytes, now) {
            (self.dropping, self.used) = (false, false);
            return Verdict::Pass;
        }
        self.on_late(packet, now)
    }
}

impl Codel {
    /// Returns the verdict on a packet that leaves while packets are late.
    #[inline(never)]
    fn on_late(&mut self, packet: &PacketMeta, now: Time) -> Verdict {
        if packet.class == Class::OutOfBand {
            return Verdict::Pass;
        }
        if !self.dropping {
            self.dropping = true;
            let reached = self.count - self.begun_at;
            let recent = now.since(self.next) < self.interval * MEMORY;
            self.count = if recent && reached > 1 { reached } else { 1 };
            self.begun_at = self.count;
            self.next = self.after(now);
            return self.signal(packet);
        }
        if std::mem::take(&mut self.used) {
            self.next = self.after(self.next);
        }
        if now < self.next {
            return Verdict::Pass;
        }
        self.count = self.count.saturating_add(1);
        self.used = true;
        self.signal(packet)
    }
}
