//! A port that holds its packets.

use crate::queues::Queues;
use crate::{Bucket, Count, DropReason, Hosts, Limit, PortPacket, PortState, Priority, Service};
use accord_aqm::{AnyAqm, Aqm, Class, Entropy, PacketMeta, QueueView, Verdict};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// The stages ahead of the queue.
#[derive(Clone, Debug)]
struct Entry {
    /// Drops packets for which it has no tokens.
    policer: Option<Bucket>,
    /// True if an acknowledgement removes waiting acknowledgements that it supersedes.
    thinning: bool,
}

/// A port with a FIFO queue for out-of-band control packets, which is served first, and the queues
/// of its discipline for the other packets. A packet in service is never interrupted.
///
/// The discipline governs all packets but out-of-band control. The limit applies to them and,
/// separately, to the high-priority queue, which drops only packets that do not fit.
/// [`Port::without_priority`] has one queue for all packets.
#[derive(Clone, Debug)]
pub struct Port<P, A = AnyAqm> {
    state: PortState,
    aqm: A,
    entry: Option<Box<Entry>>,
    priority: bool,
    high: VecDeque<P>,
    low: Queues<P>,
}

/// Gives access to the state of the port.
impl<P, A> std::ops::Deref for Port<P, A> {
    type Target = PortState;

    #[inline]
    fn deref(&self) -> &PortState {
        &self.state
    }
}

impl<P: PortPacket, A: Aqm> Port<P, A> {
    /// Creates an empty port. `secret` decides ties of arrivals with departures: see the
    /// documentation of the crate.
    pub fn new(rate: Rate, limit: Limit, aqm: A, secret: u64) -> Port<P, A> {
        Port::with_service(Service::new(rate), limit, aqm, secret)
    }

    /// Creates an empty port as [`Port::new`] does, with a line that need not send at a constant
    /// rate.
    pub fn with_service(service: Service, limit: Limit, aqm: A, secret: u64) -> Port<P, A> {
        Port {
            state: PortState::new(service, limit, secret),
            entry: None,
            priority: true,
            high: VecDeque::new(),
            low: Queues::new(&aqm),
            aqm,
        }
    }

    /// Returns the same port with one FIFO queue for all packets, including control packets.
    pub fn without_priority(self) -> Port<P, A> {
        Port { priority: false, ..self }
    }

    /// Returns the same port with a policer in front of the queue, and with a filter that drops
    /// acknowledgements when later ones arrive. Packets must be offered, because [`Port::pass`]
    /// does not apply to such a port.
    pub fn with_entry(self, policer: Option<Bucket>, thinning: bool) -> Port<P, A> {
        Port {
            entry: (policer.is_some() || thinning).then(|| Box::new(Entry { policer, thinning })),
            ..self
        }
    }

    /// Returns the same port with the hosts of flows. `hosts` is called only if the discipline
    /// shares by host. Without hosts each flow counts as a host of its own.
    pub fn with_hosts(mut self, hosts: impl FnOnce() -> Hosts) -> Port<P, A> {
        if let Queues::Flows(queues) = &mut self.low {
            queues.set_hosts(hosts);
        }
        self
    }

    /// Sets the times of CoDel in the queues of a discipline with a queue per flow.
    pub fn set_codel(&mut self, target: Duration, interval: Duration) {
        if let Queues::Flows(queues) = &mut self.low {
            queues.set_times(target, interval);
        }
    }

    /// Offers a packet that arrives at `now`. The packet is queued or dropped, and others may be
    /// dropped to make room for it. Each dropped packet is passed to `dropped` with the reason. The
    /// caller then tries [`Port::begin`].
    // Not inlined, because the caller needs the registers for other forms of ports.
    #[inline(never)]
    pub fn offer(
        &mut self,
        now: Time,
        mut packet: P,
        entropy: &mut dyn Entropy,
        dropped: &mut dyn FnMut(P, DropReason),
    ) {
        if self.entry.is_some() && !self.enter(now, &packet, dropped) {
            return dropped(packet, DropReason::Entry);
        }
        match self.admit(now, &mut packet, entropy) {
            Ok((_, Priority::High)) => self.high.push_back(packet),
            Ok(_) => {
                self.low.push(now, packet, entropy);
                self.make_room(now, dropped);
                self.state.raise();
            }
            Err(reason) => dropped(packet, reason),
        }
    }

    /// Passes a packet through an idle port without holding it, if the discipline has one queue.
    /// This is [`Port::offer`] and [`Port::begin`] in one. Returns the departure of the packet, or
    /// the reason why it is dropped. Returns `None` if the packet has to be offered.
    #[inline(never)]
    pub fn pass(
        &mut self,
        now: Time,
        packet: &mut P,
        entropy: &mut dyn Entropy,
    ) -> Option<Result<Time, DropReason>> {
        if self.held().packets > 0 || matches!(self.low, Queues::Dual(_)) {
            return None;
        }
        let admitted = self.admit(now, packet, entropy);
        Some(admitted.and_then(|(size, priority)| {
            if priority == Priority::Low {
                self.state.raise();
                match &mut self.low {
                    Queues::Stamped(_) => self.judge_departure(now, packet)?,
                    Queues::Flows(queues) => queues.pass(now, packet, entropy),
                    Queues::Fifo(_) | Queues::Dual(_) => {}
                }
            }
            Ok(self.state.send(now, size, priority))
        }))
    }

    /// Asks the discipline about a packet that departs at once and leaves the queue empty.
    fn judge_departure(&mut self, now: Time, packet: &mut P) -> Result<(), DropReason> {
        let meta = packet.meta();
        let behind = QueueView { packets: 0, bytes: Bytes::ZERO, ..self.view() };
        match self.aqm.on_departure(&meta, Duration::ZERO, &behind, now) {
            Verdict::Pass => {}
            Verdict::Mark => {
                packet.mark();
                self.state.counters.marked.add(meta.size);
            }
            Verdict::Drop => {
                self.state.remove(now, meta.size, Priority::Low);
                self.state.counters.drop(DropReason::Discipline, meta.size);
                return Err(DropReason::Discipline);
            }
        }
        Ok(())
    }

    /// Polices a packet and drops the acknowledgements that it supersedes. Returns true if the
    /// packet passes.
    #[cold]
    fn enter(&mut self, now: Time, packet: &P, dropped: &mut dyn FnMut(P, DropReason)) -> bool {
        let Some(entry) = &mut self.entry else {
            return true;
        };
        let size = packet.meta().size;
        if !(entry.policer.as_mut()).is_none_or(|policer| policer.take(now, size)) {
            self.state.counters.offered.add(size);
            self.state.counters.drop(DropReason::Entry, size);
            return false;
        }
        let thinning = entry.thinning;
        while thinning && let Some(old) = self.low.take(|old| old.is_superseded_by(packet)) {
            let size = old.meta().size;
            self.state.remove(now, size, Priority::Low);
            self.state.counters.drop(DropReason::Entry, size);
            dropped(old, DropReason::Entry);
        }
        true
    }

    /// Decides whether a packet is queued. Returns its size and its priority.
    #[inline(always)]
    fn admit(
        &mut self,
        now: Time,
        packet: &mut P,
        entropy: &mut dyn Entropy,
    ) -> Result<(Bytes, Priority), DropReason> {
        let meta = packet.meta();
        self.state.counters.offered.add(meta.size);
        let priority = if meta.class == Class::OutOfBand && self.priority {
            Priority::High
        } else {
            Priority::Low
        };
        let fits = match &self.low {
            // With queues per flow, queued packets make room for the one that arrives.
            Queues::Flows(_) if priority == Priority::Low => self.state.limit.fits(0, 0, meta.size),
            _ => self.state.fits(now, meta.size, priority),
        };
        if !fits {
            self.state.counters.drop(DropReason::Overflow, meta.size);
            self.aqm.on_overflow(&meta);
            return Err(DropReason::Overflow);
        }
        if !self.aqm.passes_all() {
            self.judge(now, &meta, priority, packet, entropy)?;
        }
        self.state.enter(now, meta.size, priority);
        Ok((meta.size, priority))
    }

    /// Asks the discipline, which observes all packets and judges those of its own queues.
    fn judge(
        &mut self,
        now: Time,
        meta: &PacketMeta,
        priority: Priority,
        packet: &mut P,
        entropy: &mut dyn Entropy,
    ) -> Result<(), DropReason> {
        let verdict = self.aqm.on_arrival(meta, &self.view(), now, entropy);
        match verdict {
            Verdict::Mark if priority == Priority::Low => {
                packet.mark();
                self.state.counters.marked.add(meta.size);
            }
            Verdict::Drop if priority == Priority::Low => {
                self.state.counters.drop(DropReason::Discipline, meta.size);
                return Err(DropReason::Discipline);
            }
            _ => {}
        }
        if meta.class != Class::OutOfBand && packet.collects_virtual_delay() {
            let delay = self.aqm.virtual_delay(now);
            if !delay.is_zero() {
                packet.add_virtual_delay(delay);
            }
        }
        Ok(())
    }

    /// Drops packets from queues per flow until the backlog is within the limit, or only the packet
    /// in service is left.
    fn make_room(&mut self, now: Time, dropped: &mut dyn FnMut(P, DropReason)) {
        let Queues::Flows(queues) = &mut self.low else {
            return;
        };
        let state = &mut self.state;
        let in_service = u64::from(matches!(state.serving, Some((_, Priority::Low))));
        while !state.limit.holds(state.backlog()) && state.backlog().packets > in_service {
            queues.make_room(|packet, arrived| {
                let size = packet.meta().size;
                state.remove(now, size, Priority::Low);
                (state.counters).drop_late(DropReason::Overflow, size, arrived, now);
                dropped(packet, DropReason::Overflow);
            });
        }
    }

    /// Begins the service of a packet if the line is free and the discipline passes a waiting
    /// packet. Returns the packet and its departure, at which the caller calls [`Port::complete`].
    /// Packets that the discipline drops are passed to `dropped`.
    pub fn begin(
        &mut self,
        now: Time,
        dropped: &mut dyn FnMut(P, DropReason),
    ) -> Option<(P, Time)> {
        if self.is_serving() {
            return None;
        }
        let (packet, priority) = match self.high.pop_front() {
            Some(p) => (p, Priority::High),
            None => (self.next_low(now, dropped)?, Priority::Low),
        };
        let sent = self.state.send(now, packet.meta().size, priority);
        Some((packet, sent))
    }

    /// Takes the next packet of the queues that the discipline governs.
    fn next_low(&mut self, now: Time, dropped: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        loop {
            let view = self.view();
            let (mut packet, verdict, arrived) = self.low.pop(now, &mut self.aqm, &view)?;
            if verdict == Verdict::Pass {
                return Some(packet);
            }
            let size = packet.meta().size;
            if verdict == Verdict::Mark {
                packet.mark();
                self.state.counters.marked.add(size);
                return Some(packet);
            }
            self.state.remove(now, size, Priority::Low);
            (self.state.counters).drop_late(DropReason::Discipline, size, arrived, now);
            dropped(packet, DropReason::Discipline);
        }
    }

    /// Ends the service of the packet in service.
    ///
    /// # Panics
    /// Panics if no packet is in service.
    #[inline]
    pub fn complete(&mut self) {
        self.state.complete();
    }

    /// Ends the service of the packet in service if it has departed by `now`. A caller that does
    /// not call [`Port::complete`] at each departure calls this before every other method.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        if self.is_sent(now) {
            self.complete();
            // Does the same as a [`Port::begin`] that finds no packet.
            if let Queues::Flows(queues) = &mut self.low
                && self.state.held().packets == 0
            {
                queues.rest();
            }
        }
    }

    /// The packets and bytes of the queues that the discipline governs, including the packet in
    /// service.
    pub fn backlog(&self) -> (u64, Bytes) {
        let Count { packets, bytes } = self.state.backlog();
        (packets, Bytes::new(bytes))
    }

    /// Returns the largest backlog in packets and in bytes since the last call.
    pub fn take_longest(&mut self) -> Count {
        self.state.take_longest()
    }

    /// Returns the packets that wait, without the one in service.
    pub fn waiting(&self) -> impl Iterator<Item = &P> {
        self.high.iter().chain(self.low.iter())
    }

    /// The queue discipline.
    pub fn aqm(&self) -> &A {
        &self.aqm
    }

    /// Calls the discipline's timer.
    pub fn on_timer(&mut self, now: Time) {
        if let Queues::Dual(queues) = &mut self.low {
            queues.update(now);
        }
        let view = self.view();
        self.aqm.on_timer(&view, now);
    }

    /// The service rate.
    pub fn rate(&self) -> Rate {
        self.state.service.rate()
    }

    /// Changes the service rate at `now`, for the packet in service and for those behind it.
    /// Returns the new departure of the packet in service, if there is one. The caller calls
    /// [`Port::complete`] at this time instead of the departure that [`Port::begin`] returned.
    pub fn set_rate(&mut self, now: Time, rate: Rate) -> Option<Time> {
        self.state.service.set_rate(now, rate);
        self.busy_until()
    }

    fn view(&self) -> QueueView {
        let (packets, bytes) = self.backlog();
        // A shaper serves the queue at its own rate, whatever the line could do.
        let rate = self.state.service.sustained_rate();
        QueueView { packets, bytes, rate, capacity: self.state.limit.capacity() }
    }
}
