//! The ways of packets through ports that hold them.

use super::engine::Engine;
use super::wire::Line;
use crate::calendar::Kind;
use crate::gauge::Gauge as _;
use crate::pool::Place;
use crate::ticket::Ticket;
use accord_transport::Segment;
use accord_units::Time;
use std::cmp::Reverse;

impl Engine<'_> {
    /// Puts a packet into a port that holds packets, which does not let it pass.
    // As functions with symbols of their own this and `Held::pass` cost 3 to 22 instructions per
    // packet-hop.
    #[inline]
    pub fn enter(&mut self, link: usize, place: Place) {
        let Line::Port(held) = &mut self.wires[link].line else {
            return;
        };
        let (core, dice) = (&mut self.core, &mut held.dice);
        let (now, ticket) = (core.now, Ticket::new(place, core.pool.packet(place)));
        held.port
            .offer(now, ticket, &mut || dice.uniform(), &mut |ticket, _| {
                core.lost(ticket.place);
            });
        match held.port.is_serving() {
            true => self.await_next(link),
            false => self.resume(link),
        }
    }

    /// Begins a service at a port that holds packets, if it is free and a packet waits.
    #[inline(never)]
    fn resume(&mut self, link: usize) {
        if let Some((ticket, sent)) = self.begin(link) {
            self.await_next(link);
            self.depart(link, ticket.place, sent);
        }
    }

    /// Begins a service as [`Engine::resume`] does. Returns the packet and its departure, unless the
    /// port is stepped.
    #[inline(always)]
    fn begin(&mut self, link: usize) -> Option<(Ticket, Time)> {
        let Line::Port(held) = &mut self.wires[link].line else {
            return None;
        };
        let (now, core) = (self.core.now, &mut self.core);
        let begun = (held.port).begin(now, &mut |ticket, _| core.lost(ticket.place));
        let (ticket, end) = begun?;
        if ticket.is_changed() {
            ticket.settle(self.core.pool.packet(ticket.place));
        }
        if held.stepped {
            (held.serving, held.begun) = (Some(ticket), now);
            self.core.calendar.push(end, Kind::Sent, link);
            return None;
        }
        Some((ticket, end))
    }

    /// Has the service at a port that is not stepped end at its time, if that matters to it.
    #[inline]
    fn await_next(&mut self, link: usize) {
        if let Line::Port(held) = &mut self.wires[link].line
            && !held.stepped
            && !held.pending
            && let Some(end) = held.port.next()
        {
            held.pending = true;
            self.core.calendar.push(end, Kind::Sent, link);
        }
    }

    /// Ends a service. At a port that is stepped it does so only if the rate has not changed
    /// meanwhile.
    pub fn sent(&mut self, link: usize) {
        let wire = &mut self.wires[link];
        let held = match &mut wire.line {
            Line::Port(held) => held,
            Line::Shared(_) => return self.sent_shared(link),
            _ => return,
        };
        if !held.stepped {
            held.pending = false;
            held.port.advance(self.core.now);
        } else if let Some(ticket) = held.serving.take_if(|_| held.port.is_sent(self.core.now)) {
            held.port.complete();
            let packet = self.core.pool.packet(ticket.place);
            if let Some(tap) = &mut self.tap {
                packet.capture(tap, self.core.scenario, link, self.core.now);
            }
            let arrival = held.arrival(self.core.now, wire.delay, packet);
            let loose = held.is_loose();
            let held_up = arrival.since(self.core.now + wire.delay);
            if let Segment::Data { sent, .. } = packet.segment
                && !held_up.is_zero()
            {
                self.core.flows[packet.flow as usize].hold_up(sent, held_up);
            }
            match loose {
                false => self.leave(link, ticket.place, self.core.now, arrival),
                true => self.leave_loosely(link, ticket.place, arrival),
            }
        }
        self.resume(link);
    }

    /// Schedules the arrival of a packet at `at`, whatever the order of the others on the wire.
    #[cold]
    fn leave_loosely(&mut self, link: usize, place: Place, at: Time) {
        let wire = &mut self.wires[link];
        let packet = self.core.pool.packet(place);
        if !wire.takes(packet) {
            return self.core.lost(place);
        }
        let at = match self.stalls.get(link) {
            Some(Some(stalls)) => stalls.handed_over(at),
            _ => at,
        };
        packet.hop += 1;
        let next = self.paths.hop(packet.hop);
        debug_assert!(!next.is_early(), "packets come out in another order");
        if let Line::Port(held) = &mut wire.line {
            held.loosened += 1;
            held.loose.push(Reverse((at, held.loosened, place)));
            self.core.calendar.push(at, Kind::Overtake, link);
        }
    }

    /// Has the timer of a link's discipline run out.
    pub fn discipline(&mut self, link: usize) {
        let now = self.core.now;
        let wire = &mut self.wires[link];
        match &mut wire.line {
            Line::Timeline(line) => line.0.on_timer(now),
            Line::Port(held) => {
                held.advance(now);
                held.port.on_timer(now);
            }
            Line::Pipe(_) | Line::Shared(_) | Line::Edge(_) => {}
        }
        if let Some(at) = wire.next_timer() {
            self.core.calendar.push(at, Kind::Discipline, link);
        }
    }
}
