//! The moves of packets over links, up to the next event.

use super::engine::EventsEngine;
use super::wire::EventPort;
use crate::calendar::EventKind;
use crate::hop::{Hop, WireExit};
use crate::pool::Handle;
use accord_units::Time;
use std::cmp::Reverse;

impl EventsEngine<'_> {
    /// Moves the first packet on a wire to its next hop.
    #[inline]
    pub fn arrive(&mut self, link: usize) {
        let in_flight = &mut self.wires[link].in_flight;
        let Some(handle) = self.core.pool.pop(in_flight) else {
            return debug_assert!(false, "an event means a packet");
        };
        self.core.calendar.push(in_flight.time(), EventKind::Arrive, link);
        let hop = self.paths.hop(self.core.pool.packet(handle).hop);
        if hop.is_end() {
            self.deliver(handle);
        } else {
            self.traverse(handle, hop, self.core.now);
        }
    }

    /// Moves a packet that now leaves a reordering wire to the ordered packets, so it arrives as
    /// they do.
    #[cold]
    pub fn overtake(&mut self, link: usize) {
        let wire = &mut self.wires[link];
        let EventPort::Buffered(held) = &mut wire.port else {
            return;
        };
        if let Some(Reverse((at, _, handle))) = held.unordered.pop() {
            self.await_arrival(handle, WireExit { link, at });
        }
    }

    /// Forwards a packet from the port of `hop`, up to the next event.
    pub fn traverse(&mut self, handle: Handle, mut hop: Hop, mut at: Time) {
        loop {
            let packet = self.core.pool.packet(handle);
            let mut exit;
            loop {
                let link = hop.index();
                let wire = &mut self.wires[link];
                let sent = match &mut wire.port {
                    EventPort::Pipe(pipe) => pipe.offer(at, packet.bytes(), self.core.limits.end),
                    EventPort::Timeline(line) => {
                        let (line, dice) = &mut **line;
                        match line.offer(at, packet, &mut || dice.uniform()) {
                            Ok(departure) => departure,
                            Err(_) => return self.core.lost(handle),
                        }
                    }
                    EventPort::Buffered(held) => match held.port.pass(at, handle, packet) {
                        Some(Ok(departure)) => departure,
                        Some(Err(_)) => return self.core.lost(handle),
                        None => return self.enter(link, handle),
                    },
                    EventPort::TunnelEdge(_) => return self.enter_tunnel(link, handle),
                };
                // The wires of these ports lose no packets. Nor do they have stalls: a run with
                // stalls takes no shortcuts, so its packets pass `leave`.
                at = sent + wire.delay;
                exit = WireExit { link, at };
                packet.hop += 1;
                hop = self.paths.hop(packet.hop);
                if !hop.is_cut_through() || at > self.core.limits.end {
                    return self.await_arrival(handle, exit);
                }
                if hop.is_end() {
                    break;
                }
            }
            if !self.deliver_ahead(handle, at) {
                return;
            }
            hop = self.paths.hop(self.core.pool.packet(handle).hop);
            if !hop.is_cut_through() {
                return self.await_arrival(handle, exit);
            }
        }
    }

    /// Schedules the arrival of a packet.
    #[inline(always)]
    pub fn await_arrival(&mut self, handle: Handle, exit: WireExit) {
        let WireExit { link, at } = exit;
        if self.core.pool.push(&mut self.wires[link].in_flight, handle, at) {
            self.core.calendar.push(at, EventKind::Arrive, link);
        }
    }

    /// Forwards a packet that enters the wire of `link` at `sent`. The wire has neither loss nor
    /// stalls.
    #[inline(always)]
    pub fn depart(&mut self, link: usize, handle: Handle, sent: Time) {
        let at = sent + self.wires[link].delay;
        self.proceed(handle, WireExit { link, at });
    }

    /// Forwards a packet from the far end of a wire.
    #[inline(always)]
    fn proceed(&mut self, handle: Handle, exit: WireExit) {
        let packet = self.core.pool.packet(handle);
        packet.hop += 1;
        let hop = self.paths.hop(packet.hop);
        if !hop.is_cut_through() || exit.at > self.core.limits.end {
            self.await_arrival(handle, exit);
        } else if hop.is_end() {
            self.answer_ahead(handle, exit);
        } else {
            self.traverse(handle, hop, exit.at);
        }
    }

    /// Forwards a packet that enters the wire of `link` at `sent`, unless the wire loses it. The
    /// packet comes out no earlier than `earliest`.
    pub fn leave(&mut self, link: usize, handle: Handle, sent: Time, earliest: Time) {
        let wire = &mut self.wires[link];
        let packet = self.core.pool.packet(handle);
        if !wire.takes(packet) {
            return self.core.lost(handle);
        }
        let at = (sent + wire.delay).max(earliest);
        let at = match self.stalls.get(link) {
            Some(Some(stalls)) => stalls.handed_over(at),
            _ => at,
        };
        if self.leaves(link) {
            return self.leave_machine(link, handle, at);
        }
        self.proceed(handle, WireExit { link, at });
    }

    /// Delivers data ahead of the clock, as of `at`. Returns whether there is an answer, which replaces the
    /// data at its first hop.
    #[inline]
    fn deliver_ahead(&mut self, handle: Handle, at: Time) -> bool {
        let is_answered = self.core.deliver_ahead(handle, at);
        if !is_answered {
            self.core.pool.remove(handle);
        }
        is_answered
    }

    /// Moves a new packet as [`EventsEngine::traverse`] does. This is cheaper for hosts at a pipe,
    /// as most are.
    #[inline]
    pub fn enter_path(&mut self, handle: Handle, hop: Hop, at: Time) {
        let link = hop.index();
        let EventPort::Pipe(pipe) = &mut self.wires[link].port else {
            return self.traverse(handle, hop, at);
        };
        let sent = pipe.offer(at, self.core.pool.packet(handle).bytes(), self.core.limits.end);
        self.depart(link, handle, sent);
    }

    /// Delivers data ahead of the clock, and forwards the answer.
    #[inline(never)]
    fn answer_ahead(&mut self, handle: Handle, exit: WireExit) {
        if !self.deliver_ahead(handle, exit.at) {
            return;
        }
        let hop = self.paths.hop(self.core.pool.packet(handle).hop);
        if hop.is_cut_through() {
            self.traverse(handle, hop, exit.at)
        } else {
            self.await_arrival(handle, exit)
        }
    }
}
