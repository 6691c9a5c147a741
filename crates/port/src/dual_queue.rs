//! Two queues that share a line: one for scalable flows, one for classic flows [RFC 9332].
//!
//! The probabilities and their control are in `aqm/src/dualpi2.rs`.

use crate::PortPacket;
use accord_aqm::{Class, DualPi2, Ecn, Verdict};
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

/// The queues L and C, each packet with the time of its arrival.
#[derive(Clone, Debug)]
pub(crate) struct DualQueues<P> {
    aqm: DualPi2,
    low_latency: VecDeque<(Time, P)>,
    classic: VecDeque<(Time, P)>,
    /// The bytes that wait in both queues.
    bytes: u64,
    /// The excess of L over its weight since packets waited in C, in bytes times weights. C is
    /// served while it is above zero.
    credit: f64,
}

impl<P: PortPacket> DualQueues<P> {
    /// Creates queues without packets.
    pub fn new(aqm: DualPi2) -> DualQueues<P> {
        DualQueues {
            aqm,
            low_latency: VecDeque::new(),
            classic: VecDeque::new(),
            bytes: 0,
            credit: 0.0,
        }
    }

    /// Adds a packet: ECT(1) and CE to L, the others to C [RFC 9332 fig. 3].
    pub fn push(&mut self, now: Time, packet: P) {
        // An idle link starts in favour of L [RFC 9332 §A.1].
        if self.low_latency.is_empty() && self.classic.is_empty() {
            self.credit = 0.0;
        }
        let meta = packet.meta();
        self.bytes += meta.size.get();
        match meta.ecn {
            Ecn::Scalable | Ecn::Marked => self.low_latency.push_back((now, packet)),
            Ecn::Capable | Ecn::NotCapable => self.classic.push_back((now, packet)),
        }
    }

    /// Takes the next packet, with the verdict on it [RFC 9332 fig. 7] and the time of its arrival.
    pub fn pop(&mut self, now: Time) -> Option<(P, Verdict, Time)> {
        let both = !self.low_latency.is_empty() && !self.classic.is_empty();
        let is_low_latency = !self.low_latency.is_empty() && (!both || self.credit <= 0.0);
        let queue = if is_low_latency { &mut self.low_latency } else { &mut self.classic };
        let (arrived, packet) = queue.pop_front()?;
        let behind = queue.len() as u64;
        let meta = packet.meta();
        self.bytes -= meta.size.get();
        let waiting = Bytes::new(self.bytes);
        let verdict = match meta.class {
            Class::OutOfBand => Verdict::Pass,
            _ if is_low_latency => (self.aqm).on_low_latency(now.since(arrived), behind, waiting),
            _ => self.aqm.on_classic(meta.ecn.is_capable(), waiting),
        };
        // The weights apply only while both queues hold packets, and only to packets that are sent.
        if both && verdict != Verdict::Drop {
            let (low_latency, classic) = (1.0 - self.aqm.classic_share(), self.aqm.classic_share());
            self.credit += if is_low_latency {
                classic * meta.size.as_f64()
            } else {
                -low_latency * meta.size.as_f64()
            };
        }
        Some((packet, verdict, arrived))
    }

    /// Updates the base probability from the waiting times of the first packets [RFC 9332 fig. 8].
    pub fn update(&mut self, now: Time) {
        let first = [self.low_latency.front(), self.classic.front()];
        let waits = first.into_iter().flatten().map(|(arrived, _)| now.since(*arrived));
        self.aqm.update(waits.max().unwrap_or(Duration::ZERO));
    }

    /// Takes the last packet of a queue for which `wanted` holds.
    pub fn take(&mut self, wanted: impl Fn(&P) -> bool) -> Option<P> {
        let queues = [&mut self.classic, &mut self.low_latency];
        let found = queues.into_iter().find_map(|queue| {
            let found = queue.iter().rposition(|(_, packet)| wanted(packet));
            queue.remove(found?)
        });
        let (_, packet) = found?;
        self.bytes -= packet.meta().size.get();
        Some(packet)
    }

    /// Returns all packets, queue by queue.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        let both = self.low_latency.iter().chain(&self.classic);
        both.map(|(_, packet)| packet)
    }
}
