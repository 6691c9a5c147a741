//! How packets go over links, as far as they can without an event.

use crate::arrivals::Cause;
use crate::calendar::Kind;
use crate::engine::{Simulation, lose};
use crate::hop::{Came, Hop};
use crate::pool::Place;
use crate::wire::Line;
use accord_aqm::Ecn;
use accord_transport::{Receiver, Segment};
use accord_units::Time;
use std::cmp::Reverse;

impl Simulation<'_> {
    /// Takes the first packet on a wire out of it.
    #[inline]
    pub fn arrive(&mut self, link: usize) {
        let flying = &mut self.wires[link].flying;
        let Some(place) = self.pool.pop(flying) else {
            return debug_assert!(false, "an event means a packet");
        };
        self.calendar.push(flying.time(), Kind::Arrive, link);
        let hop = self.wiring.hops[self.pool.packet(place).hop as usize];
        if hop.is_end() {
            self.deliver(place);
        } else {
            self.go(place, hop, self.now);
        }
    }

    /// Moves a packet that comes out now to those that come out in order. So it arrives as others do.
    #[cold]
    pub fn overtake(&mut self, link: usize) {
        let wire = &mut self.wires[link];
        let Line::Port(held) = &mut wire.line else {
            return;
        };
        if let Some(Reverse((at, _, place))) = held.loose.pop() {
            let hop = self.wiring.hops[self.pool.packet(place).hop as usize];
            self.fly(place, hop, Came { link, at });
        }
    }

    /// Moves a packet from the port of `hop` as far as it can go without an event.
    pub fn go(&mut self, mut place: Place, mut hop: Hop, mut at: Time) {
        'on: loop {
            let packet = self.pool.packet(place);
            let mut came;
            let mut early;
            loop {
                let link = hop.link();
                let wire = &mut self.wires[link];
                let sent = match &mut wire.line {
                    Line::Pipe(pipe) => pipe.offer(at, packet.bytes(), self.limits.end),
                    Line::Timeline(line) => {
                        let (line, dice) = &mut **line;
                        match line.offer(at, packet, &mut || dice.uniform()) {
                            Ok(departure) => departure,
                            Err(_) => return self.lost(place),
                        }
                    }
                    Line::Lane(lane) if lane.next().is_some_and(|next| next <= at) => {
                        self.clear(link, at);
                        continue 'on;
                    }
                    Line::Lane(lane) => match lane.offer(at, packet.bytes(), self.limits.end) {
                        Some(departure) => departure,
                        None => return lane.keep(place, packet),
                    },
                    Line::Port(held) => match held.pass(at, place, packet) {
                        Some(Ok(departure)) => departure,
                        Some(Err(_)) => return self.lost(place),
                        None => return self.enter(link, place),
                    },
                    Line::Calm(_) => unreachable!("it is in stretches only"),
                    Line::Express(_) => unreachable!("its arrivals are handled in windows"),
                    Line::Shared(_) => return self.share(link, place),
                    Line::Edge(_) => return self.board(link, place),
                };
                // The wires of these lose no packets. They hold none up: a run with stalls takes
                // no shortcuts, so that all its packets pass `leave`.
                at = sent + wire.delay;
                came = Came { link, at };
                (hop, early) = self.wiring.step(packet, &mut came, self.limits);
                at = came.at;
                if !early || hop.is_end() {
                    break;
                }
            }
            if early {
                let Some(answer) = self.deliver_ahead(place, at) else {
                    return;
                };
                place = answer;
                let packet = self.pool.packet(place);
                (hop, early) = (self.wiring).reach(&mut packet.hop, &mut came, self.limits);
                at = came.at;
            }
            if !early {
                return self.fly(place, hop, came);
            }
        }
    }

    /// Has a packet come out of a wire, where `hop` is next.
    #[inline(always)]
    fn fly(&mut self, place: Place, hop: Hop, came: Came) {
        let Came { link, at } = came;
        if let Some(windows) = &mut self.windows {
            // Nothing happens after the end of the run.
            if at <= self.limits.end {
                let cause = Cause::new(Kind::Arrive, link);
                windows.put(&mut self.pool, place, hop, at, cause);
            }
            return;
        }
        if (self.pool).push(&mut self.wires[link].flying, place, at) {
            self.calendar.push(at, Kind::Arrive, link);
        }
    }

    /// Has a packet go on that will be on the wire of `link` at `sent`, a wire that loses none and
    /// holds none up.
    #[inline(always)]
    pub fn depart(&mut self, link: usize, place: Place, sent: Time) {
        let came = self.leaves(link, sent);
        self.go_on(place, came);
    }

    /// Returns when a packet that is on a wire at `sent` comes out of it.
    #[inline(always)]
    pub fn leaves(&self, link: usize, sent: Time) -> Came {
        let at = sent + self.wires[link].delay;
        Came { link, at }
    }

    /// Moves a packet on that came out of a wire.
    #[inline(always)]
    fn go_on(&mut self, place: Place, mut came: Came) {
        let packet = self.pool.packet(place);
        match (self.wiring).step(packet, &mut came, self.limits) {
            (hop, false) => self.fly(place, hop, came),
            (hop, true) if hop.is_end() => self.turn_round(place, came),
            (hop, true) => self.go(place, hop, came.at),
        }
    }

    /// Moves a packet as `go` does, from the fused link of `hop`.
    #[inline(always)]
    pub fn glide(&mut self, place: Place, hop: Hop, at: Time) {
        match self.pass(place, hop, at) {
            Some(came) => self.glide_on(place, came),
            None => self.go(place, hop, at),
        }
    }

    /// Moves a packet on as `go_on` does, but through pipes and idle lanes without `go`, for which there
    /// are more forms of ports.
    #[inline(always)]
    pub fn glide_on(&mut self, place: Place, mut came: Came) {
        loop {
            let packet = self.pool.packet(place);
            match (self.wiring).step(packet, &mut came, self.limits) {
                (hop, false) => return self.fly(place, hop, came),
                (hop, true) if hop.is_end() => return self.turn_round(place, came),
                (hop, true) => match self.pass(place, hop, came.at) {
                    Some(next) => came = next,
                    None => return self.go(place, hop, came.at),
                },
            }
        }
    }

    /// Passes a packet through a pipe or a lane on which it does not wait.
    #[inline(always)]
    fn pass(&mut self, place: Place, hop: Hop, at: Time) -> Option<Came> {
        let link = hop.link();
        let (wire, size) = (&mut self.wires[link], self.pool.packet(place).bytes());
        let sent = match &mut wire.line {
            Line::Pipe(pipe) => pipe.offer(at, size, self.limits.end),
            Line::Lane(lane) if lane.next().is_none() => lane.offer(at, size, self.limits.end)?,
            _ => return None,
        };
        let at = sent + wire.delay;
        Some(Came { link, at })
    }

    /// Schedules the arrival of a packet that its port held. The packet will be on the wire of
    /// `link` at `sent`, and comes out of it not before `earliest`.
    pub fn leave(&mut self, link: usize, place: Place, sent: Time, earliest: Time) {
        let wire = &mut self.wires[link];
        let packet = self.pool.packet(place);
        if !wire.takes(packet) {
            return self.lost(place);
        }
        let at = (sent + wire.delay).max(earliest);
        let at = match self.stalls.get(link) {
            Some(Some(stalls)) => stalls.handed_over(at),
            _ => at,
        };
        self.go_on(place, Came { link, at });
    }

    #[cold]
    pub fn lost(&mut self, place: Place) {
        let packet = self.pool.remove(place);
        let (flows, awake) = (&mut self.flows, &mut self.awake);
        lose(flows, awake, &mut self.digest, self.now, &packet);
    }

    /// Delivers a packet ahead of time: the receiver is told now that it arrives at `at`.
    /// Returns the receiver's answer, which is at its first hop.
    #[inline]
    fn deliver_ahead(&mut self, place: Place, at: Time) -> Option<Place> {
        let packet = self.pool.packet(place);
        let id = packet.flow;
        let Segment::Data { number, sent } = packet.segment else {
            return self.deliver_control_ahead(place, at);
        };
        let flow = &mut self.flows[id as usize];
        let Receiver::Stream(r) = &mut flow.receiver else {
            return self.take_in_apart(place, at);
        };
        self.digest.data(at, id, number);
        let (fresh, ack) = r.on_data(number, sent, packet.ecn == Ecn::Marked);
        flow.deliver_later(self.limits.unread, at, sent, packet.size, fresh);
        *packet = flow.answer(id, ack);
        Some(place)
    }

    /// Delivers the data of a tunnel, or a datagram, ahead of time. Returns the answer, which is at its
    /// first hop, if there is one. `Err` if the packet is none of these.
    #[inline(always)]
    fn take_in(&mut self, place: Place, at: Time) -> Result<Option<Place>, ()> {
        let packet = self.pool.packet(place);
        let Segment::Data { number, sent } = packet.segment else {
            return Err(());
        };
        let id = packet.flow;
        let flow = &mut self.flows[id as usize];
        let count = match &mut flow.receiver {
            Receiver::Stream(_) => return Err(()),
            Receiver::Tunnel(r) => r.on_data(packet.bytes(), f64::from(packet.virtual_s), at),
            Receiver::Datagrams => None,
        };
        self.digest.data(at, id, number);
        flow.deliver_later(self.limits.unread, at, sent, packet.size, true);
        match count {
            Some(count) => {
                *packet = flow.answer(id, count);
                Ok(Some(place))
            }
            None => {
                self.pool.remove(place);
                Ok(None)
            }
        }
    }

    /// Does what `take_in` does, for those to whom it would be too much.
    #[inline(never)]
    fn take_in_apart(&mut self, place: Place, at: Time) -> Option<Place> {
        self.take_in(place, at).ok().flatten()
    }

    /// Delivers a control packet of a tunnel ahead of time.
    #[inline(never)]
    fn deliver_control_ahead(&mut self, place: Place, at: Time) -> Option<Place> {
        let packet = self.pool.packet(place);
        self.digest.delivered(at, packet);
        let id = packet.flow;
        let flow = &mut self.flows[id as usize];
        match flow.receive(packet, at).reply {
            Some(reply) => {
                *packet = flow.answer(id, reply);
                Some(place)
            }
            None => {
                self.pool.remove(place);
                None
            }
        }
    }

    /// Moves a new packet as `go` does. Most hosts are at a pipe, for which all of `go` is too much.
    #[inline]
    pub fn set_out(&mut self, place: Place, hop: Hop, at: Time) {
        let link = hop.link();
        let Line::Pipe(pipe) = &mut self.wires[link].line else {
            return self.go(place, hop, at);
        };
        let sent = pipe.offer(at, self.pool.packet(place).bytes(), self.limits.end);
        self.depart(link, place, sent);
    }

    /// Delivers a packet ahead of time, and moves the answer as `go` does.
    #[inline(never)]
    fn turn_round(&mut self, place: Place, mut came: Came) {
        let answer = match self.take_in(place, came.at) {
            Ok(answer) => answer,
            Err(()) => self.deliver_ahead(place, came.at),
        };
        let Some(place) = answer else {
            return;
        };
        let packet = self.pool.packet(place);
        match (self.wiring).reach(&mut packet.hop, &mut came, self.limits) {
            (hop, true) => self.go(place, hop, came.at),
            (hop, false) => self.fly(place, hop, came),
        }
    }
}
