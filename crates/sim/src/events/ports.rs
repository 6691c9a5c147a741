//! The moves of packets through ports that hold them.

use super::engine::EventsEngine;
use super::wire::EventPort;
use crate::calendar::EventKind;
use crate::gauge::Gauge as _;
use crate::pool::Handle;
use accord_transport::Segment;
use accord_units::Time;
use std::cmp::Reverse;

impl EventsEngine<'_> {
    /// Offers a packet to a port that holds packets and does not pass it at once.
    // Inlined, because calls of this and of `BufferedPort::pass` cost 3 to 22 instructions per
    // packet-hop.
    #[inline]
    pub fn enter(&mut self, link: usize, handle: Handle) {
        let EventPort::Buffered(held) = &mut self.wires[link].port else {
            return;
        };
        held.port.offer(&mut self.core, handle);
        if held.port.port.is_serving() { self.await_next(link) } else { self.resume(link) }
    }

    /// Begins a service at a port that holds packets, if the port is free and a packet waits.
    #[inline(never)]
    fn resume(&mut self, link: usize) {
        if let Some((handle, sent)) = self.begin(link) {
            self.await_next(link);
            self.depart(link, handle, sent);
        }
    }

    /// Begins a service as [`EventsEngine::resume`] does. Returns the packet and its departure, unless the
    /// port is stepped.
    #[inline(always)]
    fn begin(&mut self, link: usize) -> Option<(Handle, Time)> {
        let EventPort::Buffered(held) = &mut self.wires[link].port else {
            return None;
        };
        let (handle, end) = held.port.begin(&mut self.core)?;
        if held.port.stepped {
            held.begun = self.core.now;
            self.core.calendar.push(end, EventKind::Sent, link);
            return None;
        }
        Some((handle, end))
    }

    /// Schedules the end of the service at a port that is not stepped, if a packet waits for it.
    #[inline]
    fn await_next(&mut self, link: usize) {
        if let EventPort::Buffered(held) = &mut self.wires[link].port
            && !held.port.stepped
            && !held.pending
            && let Some(end) = held.port.port.next()
        {
            held.pending = true;
            self.core.calendar.push(end, EventKind::Sent, link);
        }
    }

    /// Ends a service. At a stepped port the event may be stale, because the rate has changed since
    /// it was scheduled.
    pub fn sent(&mut self, link: usize) {
        let wire = &mut self.wires[link];
        let EventPort::Buffered(held) = &mut wire.port else {
            return;
        };
        if !held.port.stepped {
            held.pending = false;
            held.port.advance(self.core.now);
        } else if let Some(handle) = held.port.complete(self.core.now) {
            let packet = self.core.pool.packet(handle);
            if let Some(tap) = &mut self.tap {
                let others = self.others.as_ref();
                match others.and_then(|others| others.bytes(packet.flow as usize, handle)) {
                    Some(bytes) => {
                        tap.whole(link, self.core.now, packet.tos_of_whole(), bytes);
                    }
                    None => packet.capture(tap, self.core.scenario, link, self.core.now),
                }
            }
            let arrival = held.arrival(self.core.now, wire.delay, packet);
            let unordered = held.reorders();
            let held_up = arrival.since(self.core.now + wire.delay);
            if let Segment::Data { sent, .. } = packet.segment
                && !held_up.is_zero()
            {
                self.core.flows[packet.flow as usize].hold_up(sent, held_up);
            }
            if unordered {
                self.leave_unordered(link, handle, arrival)
            } else {
                self.leave(link, handle, self.core.now, arrival)
            }
        }
        self.resume(link);
    }

    /// Schedules the arrival of a packet at `at` on a reordering wire.
    #[cold]
    fn leave_unordered(&mut self, link: usize, handle: Handle, at: Time) {
        let wire = &mut self.wires[link];
        let packet = self.core.pool.packet(handle);
        if !wire.takes(packet) {
            return self.core.lost(handle);
        }
        let at = match self.stalls.get(link) {
            Some(Some(stalls)) => stalls.handed_over(at),
            _ => at,
        };
        if self.leaves(link) {
            return self.leave_machine(link, handle, at);
        }
        let wire = &mut self.wires[link];
        let packet = self.core.pool.packet(handle);
        packet.hop += 1;
        let next = self.paths.hop(packet.hop);
        debug_assert!(!next.is_cut_through(), "packets come out in another order");
        if let EventPort::Buffered(held) = &mut wire.port {
            held.entered += 1;
            held.unordered.push(Reverse((at, held.entered, handle)));
            self.core.calendar.push(at, EventKind::Overtake, link);
        }
    }

    /// Runs the timer of a link's discipline.
    pub fn discipline(&mut self, link: usize) {
        let now = self.core.now;
        let wire = &mut self.wires[link];
        match &mut wire.port {
            EventPort::Timeline(line) => line.0.on_timer(now),
            EventPort::Buffered(held) => {
                held.port.on_timer(now);
            }
            EventPort::Pipe(_) | EventPort::TunnelEdge(_) => {}
        }
        if let Some(at) = wire.next_timer() {
            self.core.calendar.push(at, EventKind::Discipline, link);
        }
    }
}
