//! A port that holds its packets.

use crate::ties::Ties;
use crate::waiting::Waiting;
use crate::{Area, Count, Counters, DropReason, Limit, Packet, Service};
use accord_aqm::{AnyAqm, Aqm, Class, Entropy, PacketMeta, QueueView, Verdict};
use accord_units::{Bytes, Rate, Time};
use std::collections::VecDeque;

/// A port with a FIFO queue for out-of-band control packets, served first, and one for
/// everything else, or as many as the discipline wants. A packet in service is never
/// interrupted.
///
/// The discipline and the limit govern what is not out-of-band control; the high-priority
/// queue has the same limit, and drops only what does not fit. [`Port::without_priority`] has
/// one queue only, for all.
///
/// `A` is the discipline; by default any of the registry, or of another crate.
#[derive(Clone, Debug)]
pub struct Port<P, A = AnyAqm> {
    service: Service,
    limit: Limit,
    aqm: A,
    priority: bool,
    high: VecDeque<P>,
    low: Waiting<P>,
    /// Waiting and in service, high-priority packets and others.
    queued: [Count; 2],
    /// Size and class (0 high, 1 other) of the packet in service.
    serving: Option<(Bytes, usize)>,
    /// The queue that the packet which left last was in, and the tie with it.
    left: usize,
    ties: Ties,
    counters: Counters,
    /// Of the queue for everything but out-of-band control packets, up to `since`.
    area: Area,
    since: Time,
    /// The most that it was since it was last asked for, but for what is there now.
    longest: Count,
}

const HIGH: usize = 0;
const LOW: usize = 1;

impl<P: Packet, A: Aqm> Port<P, A> {
    /// An empty port. `secret` decides ties of arrivals with departures; see the crate.
    pub fn new(rate: Rate, limit: Limit, aqm: A, secret: u64) -> Port<P, A> {
        Port {
            service: Service::new(rate),
            limit,
            priority: true,
            high: VecDeque::new(),
            low: Waiting::new(&aqm),
            aqm,
            queued: [Count::default(); 2],
            serving: None,
            left: LOW,
            ties: Ties::new(secret),
            counters: Counters::default(),
            area: Area::default(),
            since: Time::ZERO,
            longest: Count::default(),
        }
    }

    /// The same port with one FIFO queue for all, control packets among them.
    pub fn without_priority(self) -> Port<P, A> {
        Port {
            priority: false,
            ..self
        }
    }

    /// A packet arrives. It is queued or dropped; others may be dropped to make room for it.
    /// All that is dropped goes to `dropped`, with the reason. The caller then tries
    /// [`Port::begin`].
    pub fn offer(
        &mut self,
        now: Time,
        mut packet: P,
        entropy: &mut dyn Entropy,
        dropped: &mut dyn FnMut(P, DropReason),
    ) {
        match self.admit(now, &mut packet, entropy) {
            Ok((_, HIGH)) => self.high.push_back(packet),
            Ok(_) => {
                self.low.push(now, packet, entropy);
                self.make_room(dropped);
            }
            Err(reason) => dropped(packet, reason),
        }
    }

    /// A packet arrives at a port that may be idle. If it is, and its discipline judges
    /// arrivals only, this is [`Port::offer`] and [`Port::begin`] in one, and the packet need
    /// not be held: gives when its last bit is on the wire, or why it is dropped. `None` if it
    /// has to be offered.
    #[inline]
    pub fn pass(
        &mut self,
        now: Time,
        packet: &mut P,
        entropy: &mut dyn Entropy,
    ) -> Option<Result<Time, DropReason>> {
        if self.held().packets > 0 || !matches!(self.low, Waiting::Fifo(_)) {
            return None;
        }
        let admitted = self.admit(now, packet, entropy);
        Some(admitted.map(|(size, queue)| {
            self.serving = Some((size, queue));
            self.service.send(now, size)
        }))
    }

    /// Lets a packet in, or not. Gives its size and its queue.
    #[inline]
    fn admit(
        &mut self,
        now: Time,
        packet: &mut P,
        entropy: &mut dyn Entropy,
    ) -> Result<(Bytes, usize), DropReason> {
        let meta = packet.meta();
        self.counters.offered.add(meta.size);
        let queue = if meta.class == Class::OutOfBand && self.priority {
            HIGH
        } else {
            LOW
        };
        // Where flows have queues, what is there makes room for what comes.
        let there = match &self.low {
            Waiting::Flows(_) if queue == LOW => Count::default(),
            _ => self.queued[queue],
        };
        let fits = self.ties.admits(&self.limit, there, meta.size, now, || {
            queue == self.left && !(queue == LOW && matches!(self.low, Waiting::Flows(_)))
        });
        if !fits {
            self.counters.drop(DropReason::Overflow, meta.size);
            self.aqm.on_overflow(&meta);
            return Err(DropReason::Overflow);
        }
        if !self.aqm.passes_all() {
            self.judge(now, &meta, queue, packet, entropy)?;
        }
        self.integrate(now);
        self.queued[queue].add(meta.size);
        Ok((meta.size, queue))
    }

    /// Asks the discipline, which sees all load, but judges only the queue that it governs.
    fn judge(
        &mut self,
        now: Time,
        meta: &PacketMeta,
        queue: usize,
        packet: &mut P,
        entropy: &mut dyn Entropy,
    ) -> Result<(), DropReason> {
        let verdict = self.aqm.on_arrival(meta, &self.view(), now, entropy);
        match verdict {
            Verdict::Mark if queue == LOW => {
                packet.mark();
                self.counters.marked.add(meta.size);
            }
            Verdict::Drop if queue == LOW => {
                self.counters.drop(DropReason::Discipline, meta.size);
                return Err(DropReason::Discipline);
            }
            _ => {}
        }
        if meta.class == Class::InBand {
            packet.add_virtual_delay(self.aqm.virtual_delay(now));
        }
        Ok(())
    }

    /// Where flows have queues: drops until all fits, or only the packet in service is left.
    fn make_room(&mut self, dropped: &mut dyn FnMut(P, DropReason)) {
        let Waiting::Flows(queues) = &mut self.low else {
            return;
        };
        let in_service = u64::from(matches!(self.serving, Some((_, LOW))));
        while !self.limit.holds(self.queued[LOW]) && self.queued[LOW].packets > in_service {
            queues.make_room(|packet| {
                let size = packet.meta().size;
                self.queued[LOW].remove(size);
                self.counters.drop(DropReason::Overflow, size);
                dropped(packet, DropReason::Overflow);
            });
        }
    }

    /// If the line is free and a packet waits that the discipline lets go, its service
    /// begins: gives the packet and the time when its last bit is on the wire. The caller
    /// calls [`Port::complete`] then. What the discipline drops goes to `dropped`.
    pub fn begin(
        &mut self,
        now: Time,
        dropped: &mut dyn FnMut(P, DropReason),
    ) -> Option<(P, Time)> {
        if self.serving.is_some() {
            return None;
        }
        let (packet, queue) = match self.high.pop_front() {
            Some(p) => (p, HIGH),
            None => (self.next_low(now, dropped)?, LOW),
        };
        let size = packet.meta().size;
        self.serving = Some((size, queue));
        Some((packet, self.service.send(now, size)))
    }

    /// The next packet that is no out-of-band control, and that the discipline lets go.
    fn next_low(&mut self, now: Time, dropped: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        loop {
            let view = self.view();
            let (mut packet, verdict) = self.low.pop(now, &mut self.aqm, &view)?;
            if verdict == Verdict::Pass {
                return Some(packet);
            }
            let size = packet.meta().size;
            if verdict == Verdict::Mark {
                packet.mark();
                self.counters.marked.add(size);
                return Some(packet);
            }
            self.integrate(now);
            self.queued[LOW].remove(size);
            self.counters.drop(DropReason::Discipline, size);
            dropped(packet, DropReason::Discipline);
        }
    }

    /// The packet in service is on the wire.
    ///
    /// # Panics
    /// When none is in service.
    pub fn complete(&mut self) {
        let (size, queue) = self.serving.take().expect("a packet is in service");
        self.integrate(self.service.busy_until());
        self.queued[queue].remove(size);
        self.counters.served.add(size);
        self.left = queue;
        self.ties.leave(self.service.busy_until(), size);
    }

    /// For who does not call [`Port::complete`] at its time, but this before all else: the packet
    /// in service is on the wire, if it is by `now`.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        if self.serving.is_some() && self.service.busy_until() <= now {
            self.complete();
        }
    }

    /// When the packet in service, behind which others wait, is on the wire; `None` if none do.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let waiting = self.held().packets > u64::from(self.serving.is_some());
        waiting.then(|| self.service.busy_until())
    }

    /// Packets and bytes of the queue for everything but out-of-band control packets, the
    /// packet in service included.
    pub fn backlog(&self) -> (u64, Bytes) {
        (self.queued[LOW].packets, Bytes::new(self.queued[LOW].bytes))
    }

    /// Brings the area up to `now`, before what is queued changes.
    #[inline]
    fn integrate(&mut self, now: Time) {
        self.area = self.area(now);
        self.since = self.since.max(now);
        self.longest.raise(self.queued[LOW]);
    }

    /// The most packets, and the most bytes, of the backlog at any time since this was last
    /// called.
    pub fn take_longest(&mut self) -> Count {
        let mut longest = std::mem::take(&mut self.longest);
        longest.raise(self.queued[LOW]);
        longest
    }

    /// The backlog as [`Port::backlog`] has it, integrated up to `now`.
    #[inline]
    pub fn area(&self, now: Time) -> Area {
        let Count { packets, bytes } = self.queued[LOW];
        let span = u128::from(now.since(self.since).as_ps());
        Area {
            packets: self.area.packets + span * u128::from(packets),
            bytes: self.area.bytes + span * u128::from(bytes),
        }
    }

    /// Bytes sent by `now`, those of the packet in service included.
    pub fn sent(&self, now: Time) -> f64 {
        let served = self.counters.served.bytes as f64;
        self.serving.map_or(served, |(size, _)| {
            served + (size.as_f64() - self.service.unsent(now)).max(0.0)
        })
    }

    /// All packets and bytes in the port.
    pub fn held(&self) -> Count {
        self.queued[HIGH] + self.queued[LOW]
    }

    /// The packets waiting, not the one in service.
    pub fn waiting(&self) -> impl Iterator<Item = &P> {
        self.high.iter().chain(self.low.iter())
    }

    /// The counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Its queue discipline.
    pub fn aqm(&self) -> &A {
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

    /// The service rate, or while that is zero the last one that was not.
    pub fn nominal_rate(&self) -> Rate {
        self.service.nominal_rate()
    }

    /// Changes the service rate at `now`, for the packet in service as for those behind it.
    /// Gives when the packet in service is on the wire now, if there is one:
    /// [`Port::complete`] is called then, not when [`Port::begin`] said.
    pub fn set_rate(&mut self, now: Time, rate: Rate) -> Option<Time> {
        self.service.set_rate(now, rate);
        self.serving.map(|_| self.service.busy_until())
    }

    /// Whether a packet in service is on the wire by `now`. After a change of the rate it may
    /// not be when [`Port::begin`] said.
    pub fn is_sent(&self, now: Time) -> bool {
        self.serving.is_some() && self.service.busy_until() <= now
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
