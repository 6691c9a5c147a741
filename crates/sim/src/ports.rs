//! How packets go through ports that hold them.

use crate::calendar::Kind;
use crate::engine::{Simulation, lose};
use crate::pool::Place;
use crate::ticket::Ticket;
use crate::wire::Line;
use accord_transport::Segment;
use accord_units::Time;
use std::cmp::Reverse;

impl Simulation<'_> {
    /// Puts a packet into a port that holds packets, which does not let it pass.
    // As functions with symbols of their own this and `Held::pass` cost 3 to 22 instructions per
    // packet-hop.
    #[inline]
    pub fn enter(&mut self, link: usize, place: Place) {
        let Line::Port(held) = &mut self.wires[link].line else {
            return;
        };
        let (now, dice) = (self.now, &mut held.dice);
        let ticket = Ticket::new(place, self.pool.packet(place));
        let (flows, awake, digest) = (&mut self.flows, &mut self.awake, &mut self.digest);
        let pool = &mut self.pool;
        held.port
            .offer(now, ticket, &mut || dice.uniform(), &mut |ticket, _| {
                lose(flows, awake, digest, now, &pool.remove(ticket.place));
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

    /// Begins a service as [`Simulation::resume`] does. Returns the packet and its departure, unless the
    /// port is stepped.
    #[inline(always)]
    fn begin(&mut self, link: usize) -> Option<(Ticket, Time)> {
        let Line::Port(held) = &mut self.wires[link].line else {
            return None;
        };
        let (flows, awake, digest) = (&mut self.flows, &mut self.awake, &mut self.digest);
        let (now, pool) = (self.now, &mut self.pool);
        let begun = (held.port).begin(now, &mut |ticket, _| {
            lose(flows, awake, digest, now, &pool.remove(ticket.place));
        });
        let (ticket, end) = begun?;
        if ticket.is_changed() {
            ticket.settle(self.pool.packet(ticket.place));
        }
        if held.stepped {
            (held.serving, held.begun) = (Some(ticket), now);
            self.await_sent(link, end);
            return None;
        }
        Some((ticket, end))
    }

    /// Has the service at a port that is not stepped end at its time, if that matters to it.
    #[inline]
    fn await_next(&mut self, link: usize) {
        if self.windows.is_none()
            && let Line::Port(held) = &mut self.wires[link].line
            && !held.stepped
            && !held.pending
            && let Some(end) = held.port.next()
        {
            held.pending = true;
            self.await_sent(link, end);
        }
    }

    /// Has a service end at its time. In a run with windows the port is asked for that.
    #[inline]
    fn await_sent(&mut self, link: usize, end: Time) {
        if self.windows.is_none() {
            self.calendar.push(end, Kind::Sent, link);
        }
    }

    /// Ends the services at a port that holds packets which end by `until` and matter to it, in a run
    /// with windows.
    #[inline]
    pub fn serve(&mut self, link: usize, until: Time) {
        while let Some(end) = self.wires[link].next().filter(|end| *end <= until) {
            (self.now, self.events) = (end, self.events + 1);
            self.follow(link);
        }
    }

    /// Ends a service, and begins the next.
    #[inline(never)]
    fn follow(&mut self, link: usize) {
        match &mut self.wires[link].line {
            Line::Port(held) if !held.stepped => held.port.complete(),
            _ => return self.sent(link),
        };
        if let Some((ticket, sent)) = self.begin(link) {
            self.depart(link, ticket.place, sent);
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
            held.port.advance(self.now);
        } else if let Some(ticket) = held.serving.take_if(|_| held.port.is_sent(self.now)) {
            held.port.complete();
            let packet = self.pool.packet(ticket.place);
            if let Some(tap) = &mut self.tap {
                packet.capture(tap, self.scenario, link, self.now);
            }
            let arrival = held.arrival(self.now, wire.delay, packet);
            let loose = held.is_loose();
            let held_up = arrival.since(self.now + wire.delay);
            if let Segment::Data { sent, .. } = packet.segment
                && !held_up.is_zero()
            {
                self.flows[packet.flow as usize].hold_up(sent, held_up);
            }
            match loose {
                false => self.leave(link, ticket.place, self.now, arrival),
                true => self.leave_loosely(link, ticket.place, arrival),
            }
        }
        self.resume(link);
    }

    /// Schedules the arrival of a packet at `at`, whatever the order of the others on the wire.
    #[cold]
    fn leave_loosely(&mut self, link: usize, place: Place, at: Time) {
        let wire = &mut self.wires[link];
        let packet = self.pool.packet(place);
        if !wire.takes(packet) {
            return self.lost(place);
        }
        let at = match self.stalls.get(link) {
            Some(Some(stalls)) => stalls.handed_over(at),
            _ => at,
        };
        packet.hop += 1;
        let next = self.wiring.hops[packet.hop as usize];
        debug_assert!(!next.is_shortcut(), "packets come out in another order");
        if let Line::Port(held) = &mut wire.line {
            held.loosened += 1;
            held.loose.push(Reverse((at, held.loosened, place)));
            self.calendar.push(at, Kind::Overtake, link);
        }
    }

    /// Has the timer of a link's discipline run out.
    pub fn discipline(&mut self, link: usize) {
        let now = self.now;
        let wire = &mut self.wires[link];
        match &mut wire.line {
            Line::Timeline(line) => line.0.on_timer(now),
            Line::Port(held) => {
                held.advance(now);
                held.port.on_timer(now);
            }
            Line::Express(_)
            | Line::Calm(_)
            | Line::Pipe(_)
            | Line::Lane(_)
            | Line::Shared(_)
            | Line::Edge(_) => {}
        }
        if let Some(at) = wire.next_timer() {
            match &mut self.windows {
                Some(windows) => windows.set_timer(link, at),
                None => self.calendar.push(at, Kind::Discipline, link),
            }
        }
    }
}
