//! A port that holds its packets.

use crate::{Count, Counters, DropReason, Limit, Packet, Service};
use accord_aqm::{AnyAqm, Aqm, Class, Entropy, QueueView, Verdict};
use accord_units::{Bytes, Rate, Time};
use std::collections::VecDeque;

/// A port with two FIFO queues: one for out-of-band control packets, served first, and
/// one for everything else. A packet in service is never interrupted.
///
/// The discipline and the limit govern the queue for everything else; the high-priority
/// queue has the same limit, and drops only what does not fit. [`Port::without_priority`] has
/// one queue only, for all.
#[derive(Clone, Debug)]
pub struct Port<P> {
    service: Service,
    limit: Limit,
    aqm: AnyAqm,
    priority: bool,
    high: VecDeque<P>,
    low: VecDeque<P>,
    /// Waiting and in service, high-priority packets and others.
    queued: [Count; 2],
    /// Size and class (0 high, 1 other) of the packet in service.
    serving: Option<(Bytes, usize)>,
    counters: Counters,
}

const HIGH: usize = 0;
const LOW: usize = 1;

impl<P: Packet> Port<P> {
    /// An empty port.
    pub fn new(rate: Rate, limit: Limit, aqm: AnyAqm) -> Port<P> {
        Port {
            service: Service::new(rate),
            limit,
            aqm,
            priority: true,
            high: VecDeque::new(),
            low: VecDeque::new(),
            queued: [Count::default(); 2],
            serving: None,
            counters: Counters::default(),
        }
    }

    /// The same port with one FIFO queue for all, control packets among them.
    pub fn without_priority(self) -> Port<P> {
        Port {
            priority: false,
            ..self
        }
    }

    /// A packet arrives. It is queued, or comes back with the reason why not. The caller
    /// then tries [`Port::begin`].
    pub fn offer(
        &mut self,
        now: Time,
        mut packet: P,
        entropy: &mut dyn Entropy,
    ) -> Result<(), (P, DropReason)> {
        let meta = packet.meta();
        self.counters.offered.add(meta.size);
        let queue = if meta.class == Class::OutOfBand && self.priority {
            HIGH
        } else {
            LOW
        };
        let Count { packets, bytes } = self.queued[queue];
        if !self.limit.fits(packets, bytes, meta.size) {
            self.counters.drop(DropReason::Overflow, meta.size);
            self.aqm.on_overflow(&meta);
            return Err((packet, DropReason::Overflow));
        }
        // The discipline sees all load, but judges only the queue that it governs.
        let verdict = self.aqm.on_arrival(&meta, &self.view(), now, entropy);
        if queue == LOW {
            match verdict {
                Verdict::Pass => {}
                Verdict::Mark => {
                    packet.mark();
                    self.counters.marked.add(meta.size);
                }
                Verdict::Drop => {
                    self.counters.drop(DropReason::Discipline, meta.size);
                    return Err((packet, DropReason::Discipline));
                }
            }
        }
        if meta.class == Class::InBand {
            packet.add_virtual_delay(self.aqm.virtual_delay(now));
        }
        self.queued[queue].add(meta.size);
        if queue == HIGH {
            self.high.push_back(packet)
        } else {
            self.low.push_back(packet)
        }
        Ok(())
    }

    /// If the line is free and a packet waits, its service begins: gives the packet and
    /// the time when its last bit is on the wire. The caller calls [`Port::complete`] then.
    pub fn begin(&mut self, now: Time) -> Option<(P, Time)> {
        if self.serving.is_some() {
            return None;
        }
        let (packet, queue) = match self.high.pop_front() {
            Some(p) => (p, HIGH),
            None => (self.low.pop_front()?, LOW),
        };
        let size = packet.meta().size;
        self.serving = Some((size, queue));
        Some((packet, self.service.send(now, size)))
    }

    /// The packet in service is on the wire.
    ///
    /// # Panics
    /// When none is in service.
    pub fn complete(&mut self) {
        let (size, queue) = self.serving.take().expect("a packet is in service");
        self.queued[queue].remove(size);
        self.counters.served.add(size);
    }

    /// Packets and bytes of the queue for everything but out-of-band control packets, the
    /// packet in service included.
    pub fn backlog(&self) -> (u64, Bytes) {
        (self.queued[LOW].packets, Bytes::new(self.queued[LOW].bytes))
    }

    /// All packets and bytes in the port.
    pub fn held(&self) -> Count {
        self.queued[HIGH] + self.queued[LOW]
    }

    /// The packets waiting, not the one in service.
    pub fn waiting(&self) -> impl Iterator<Item = &P> {
        self.high.iter().chain(&self.low)
    }

    /// What happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Its queue discipline.
    pub fn aqm(&self) -> &AnyAqm {
        &self.aqm
    }

    /// Calls the discipline's timer.
    pub fn on_timer(&mut self, now: Time) {
        let view = self.view();
        self.aqm.on_timer(&view, now);
    }

    /// The service rate.
    pub fn rate(&self) -> Rate {
        self.service.rate()
    }

    /// Changes the service rate, from the next packet on.
    pub fn set_rate(&mut self, rate: Rate) {
        self.service.set_rate(rate);
    }

    fn view(&self) -> QueueView {
        QueueView {
            packets: self.queued[LOW].packets,
            bytes: Bytes::new(self.queued[LOW].bytes),
            rate: self.service.rate(),
            capacity: self.limit.capacity(),
        }
    }
}
