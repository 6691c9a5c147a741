//! The stations: arrivals in order, services and timers.

use super::arrivals::Arrival;
use super::engine::Engine;
use super::network::Queue;
use crate::calendar::Kind;
use crate::gauge::Gauge as _;
use crate::pool::Place;
use crate::ticket::Ticket;
use accord_units::Time;

/// The number of arrivals for which the packet is fetched ahead. It was touched a window ago.
const AHEAD: usize = 8;

impl Engine<'_> {
    /// Handles the arrivals at a station as far as they are known. Returns whether that is up to
    /// `end`.
    pub fn advance_station(&mut self, id: usize, end: Time) -> bool {
        let until = self.horizon(&self.net.stations[id].feeds, end);
        let station = &mut self.net.stations[id];
        debug_assert!(until >= station.clock, "the clock of a station goes back");
        let mut from = std::mem::replace(&mut station.clock, until);
        let mut timer = station.timer;
        let last = until.min(self.core.limits.end);
        loop {
            let coming = &mut self.net.stations[id].coming;
            let (arrivals, before) = self.sorter.take(coming, from, until);
            self.core.events += arrivals.len() as u64;
            timer = self.offer_all(id, &arrivals, timer);
            self.sorter.give_back(arrivals);
            if before == until {
                break;
            }
            from = before;
        }
        if timer <= until {
            // A window may end with a sample. Nothing happens after the end of the run.
            match until == last {
                true => self.act(id, until, Kind::Sample),
                false => self.act(id, last, Kind::Start),
            };
        }
        self.serve(id, last);
        for i in 0..self.net.stations[id].lanes.len() {
            let lane = self.net.stations[id].lanes[i];
            self.clear(lane.fused, until + lane.delay);
        }
        until == end
    }

    /// Offers arrivals to the port of a station. Returns the time at which its timer runs out next.
    #[inline(never)]
    fn offer_all(&mut self, id: usize, arrivals: &[Arrival], mut timer: Time) -> Time {
        let queue = &self.net.stations[id].queue;
        let serves = matches!(queue, Queue::Held(_) | Queue::Express(_));
        for (i, &Arrival { at, place, .. }) in arrivals.iter().enumerate() {
            if let Some(later) = arrivals.get(i + AHEAD) {
                self.core.pool.prepare_packet(later.place);
            }
            if timer <= at {
                timer = self.act(id, at, Kind::Start);
            }
            if serves {
                self.serve(id, at);
            }
            self.core.now = at;
            self.offer(id, place, at);
        }
        timer
    }

    /// Offers a packet that arrives at `at` to the port of a station, and moves it on if its departure is
    /// known.
    #[inline(always)]
    fn offer(&mut self, id: usize, place: Place, at: Time) {
        let core = &mut self.core;
        let packet = core.pool.packet(place);
        let station = &mut self.net.stations[id];
        let sent = match &mut station.queue {
            Queue::Timeline(line) => {
                let (line, dice) = &mut **line;
                match line.offer(at, packet, &mut || dice.uniform()) {
                    Ok(sent) => sent,
                    Err(_) => return core.lost(place),
                }
            }
            Queue::Express(express) => match express.offer(at, place, packet) {
                Some(Ok(sent)) => sent,
                Some(Err(_)) => return core.lost(place),
                None => return,
            },
            Queue::Held(held) => match held.pass(at, place, packet) {
                Some(Ok(sent)) => sent,
                Some(Err(_)) => return core.lost(place),
                None => return self.enter(id, place),
            },
            Queue::Pipe(pipe) => pipe.offer(at, packet.bytes(), core.limits.end),
        };
        let mut came = station.leaves(sent);
        let next = (self.net.paths).step(packet, &mut came, core.limits);
        self.route(place, next, came);
    }

    /// Has a packet go on that will be on the wire of a station at `sent`.
    #[inline(always)]
    fn depart(&mut self, id: usize, place: Place, sent: Time) {
        let came = self.net.stations[id].leaves(sent);
        self.onward(place, came);
    }

    /// Puts a packet into a port that holds packets, which does not let it pass.
    #[inline(never)]
    fn enter(&mut self, id: usize, place: Place) {
        let Queue::Held(held) = &mut self.net.stations[id].queue else {
            return;
        };
        let (core, dice) = (&mut self.core, &mut held.dice);
        let (now, ticket) = (core.now, Ticket::new(place, core.pool.packet(place)));
        held.port
            .offer(now, ticket, &mut || dice.uniform(), &mut |ticket, _| {
                core.lost(ticket.place);
            });
        if !held.port.is_serving()
            && let Some((ticket, sent)) = self.begin(id)
        {
            self.depart(id, ticket.place, sent);
        }
    }

    /// Begins a service at a port that holds packets, if it is free and a packet waits. Returns the packet
    /// and its departure, unless it may be lost then.
    #[inline(always)]
    fn begin(&mut self, id: usize) -> Option<(Ticket, Time)> {
        let Queue::Held(held) = &mut self.net.stations[id].queue else {
            return None;
        };
        let (now, core) = (self.core.now, &mut self.core);
        let begun = (held.port).begin(now, &mut |ticket, _| core.lost(ticket.place));
        let (ticket, end) = begun?;
        if ticket.is_changed() {
            ticket.settle(self.core.pool.packet(ticket.place));
        }
        match &mut held.lossy {
            None => Some((ticket, end)),
            Some(lossy) => {
                lossy.serving = Some(ticket);
                None
            }
        }
    }

    /// Ends the services at a station that end by `until` and that matter to it, and begins the next ones.
    #[inline(always)]
    fn serve(&mut self, id: usize, until: Time) {
        loop {
            let station = &mut self.net.stations[id];
            let next = match &station.queue {
                Queue::Held(held) => held.next(),
                Queue::Express(express) => Some(express.next()),
                Queue::Timeline(_) | Queue::Pipe(_) => None,
            };
            let Some(end) = next.filter(|end| *end <= until) else {
                return;
            };
            (self.core.now, self.core.events) = (end, self.core.events + 1);
            self.follow(id);
        }
    }

    /// Ends a service at a station, and begins the next.
    #[inline(never)]
    fn follow(&mut self, id: usize) {
        let station = &mut self.net.stations[id];
        let held = match &mut station.queue {
            Queue::Held(held) => held,
            Queue::Express(express) => {
                let (place, sent) = express.follow(&self.core.pool);
                let came = station.leaves(sent);
                return self.onward(place, came);
            }
            Queue::Timeline(_) | Queue::Pipe(_) => return,
        };
        match &mut held.lossy {
            None => {
                held.port.complete();
            }
            Some(_) => self.end_lossy(id),
        }
        if let Some((ticket, sent)) = self.begin(id) {
            self.depart(id, ticket.place, sent);
        }
    }

    /// Ends a service at a port whose wire loses packets.
    #[inline(never)]
    fn end_lossy(&mut self, id: usize) {
        let now = self.core.now;
        let Queue::Held(held) = &mut self.net.stations[id].queue else {
            return;
        };
        let Some(lossy) = held.lossy.as_deref_mut() else {
            return;
        };
        let Some(ticket) = lossy.serving.take_if(|_| held.port.is_sent(now)) else {
            return;
        };
        held.port.complete();
        let packet = self.core.pool.packet(ticket.place);
        match lossy.loss.takes(packet.is_control()) {
            true => self.core.lost(ticket.place),
            false => self.depart(id, ticket.place, now),
        }
    }

    /// Has the timer of a station run out as often as it does before an event of `kind` at `until`.
    /// Returns the time at which it runs out next.
    #[inline(never)]
    fn act(&mut self, id: usize, until: Time, kind: Kind) -> Time {
        loop {
            let at = self.net.stations[id].timer;
            if (at, Kind::Discipline) >= (until, kind) {
                return at;
            }
            self.serve(id, at);
            (self.core.now, self.core.events) = (at, self.core.events + 1);
            let station = &mut self.net.stations[id];
            match &mut station.queue {
                Queue::Timeline(line) => line.0.on_timer(at),
                Queue::Held(held) => {
                    held.advance(at);
                    held.port.on_timer(at);
                }
                Queue::Express(_) | Queue::Pipe(_) => {}
            }
            station.timer = station.queue.next_timer();
        }
    }
}
