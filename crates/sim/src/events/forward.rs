//! The ways of packets over links, as far as they can go without an event.

use super::engine::Engine;
use super::hop::{Came, Hop};
use super::wire::Line;
use crate::calendar::Kind;
use crate::pool::Place;
use accord_aqm::Ecn;
use accord_transport::{Receiver, Segment};
use accord_units::Time;
use std::cmp::Reverse;

impl Engine<'_> {
    /// Takes the first packet on a wire out of it.
    #[inline]
    pub fn arrive(&mut self, link: usize) {
        let flying = &mut self.wires[link].flying;
        let Some(place) = self.core.pool.pop(flying) else {
            return debug_assert!(false, "an event means a packet");
        };
        self.core.calendar.push(flying.time(), Kind::Arrive, link);
        let hop = self.paths.hop(self.core.pool.packet(place).hop);
        if hop.is_end() {
            self.deliver(place);
        } else {
            self.go(place, hop, self.core.now);
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
            self.fly(place, Came { link, at });
        }
    }

    /// Moves a packet from the port of `hop` as far as it can go without an event.
    pub fn go(&mut self, mut place: Place, mut hop: Hop, mut at: Time) {
        loop {
            let packet = self.core.pool.packet(place);
            let mut came;
            loop {
                let link = hop.link();
                let wire = &mut self.wires[link];
                let sent = match &mut wire.line {
                    Line::Pipe(pipe) => pipe.offer(at, packet.bytes(), self.core.limits.end),
                    Line::Timeline(line) => {
                        let (line, dice) = &mut **line;
                        match line.offer(at, packet, &mut || dice.uniform()) {
                            Ok(departure) => departure,
                            Err(_) => return self.core.lost(place),
                        }
                    }
                    Line::Port(held) => match held.pass(at, place, packet) {
                        Some(Ok(departure)) => departure,
                        Some(Err(_)) => return self.core.lost(place),
                        None => return self.enter(link, place),
                    },
                    Line::Shared(_) => return self.share(link, place),
                    Line::Edge(_) => return self.board(link, place),
                };
                // The wires of these lose no packets. They hold none up: a run with stalls takes
                // no shortcuts, so that all its packets pass `leave`.
                at = sent + wire.delay;
                came = Came { link, at };
                packet.hop += 1;
                hop = self.paths.hop(packet.hop);
                if !hop.is_early() || at > self.core.limits.end {
                    return self.fly(place, came);
                }
                if hop.is_end() {
                    break;
                }
            }
            let Some(answer) = self.deliver_ahead(place, at) else {
                return;
            };
            place = answer;
            hop = self.paths.hop(self.core.pool.packet(place).hop);
            if !hop.is_early() {
                return self.fly(place, came);
            }
        }
    }

    /// Has a packet come out of a wire by an event.
    #[inline(always)]
    fn fly(&mut self, place: Place, came: Came) {
        let Came { link, at } = came;
        if self.core.pool.push(&mut self.wires[link].flying, place, at) {
            self.core.calendar.push(at, Kind::Arrive, link);
        }
    }

    /// Has a packet go on that will be on the wire of `link` at `sent`, a wire that loses none and
    /// holds none up.
    #[inline(always)]
    pub fn depart(&mut self, link: usize, place: Place, sent: Time) {
        let at = sent + self.wires[link].delay;
        self.go_on(place, Came { link, at });
    }

    /// Moves a packet on that came out of a wire.
    #[inline(always)]
    fn go_on(&mut self, place: Place, came: Came) {
        let packet = self.core.pool.packet(place);
        packet.hop += 1;
        let hop = self.paths.hop(packet.hop);
        if !hop.is_early() || came.at > self.core.limits.end {
            self.fly(place, came);
        } else if hop.is_end() {
            self.turn_round(place, came);
        } else {
            self.go(place, hop, came.at);
        }
    }

    /// Schedules the arrival of a packet that its port held. The packet will be on the wire of
    /// `link` at `sent`, and comes out of it not before `earliest`.
    pub fn leave(&mut self, link: usize, place: Place, sent: Time, earliest: Time) {
        let wire = &mut self.wires[link];
        let packet = self.core.pool.packet(place);
        if !wire.takes(packet) {
            return self.core.lost(place);
        }
        let at = (sent + wire.delay).max(earliest);
        let at = match self.stalls.get(link) {
            Some(Some(stalls)) => stalls.handed_over(at),
            _ => at,
        };
        self.go_on(place, Came { link, at });
    }

    /// Delivers data ahead of time: the receiver of a stream or of datagrams takes it now, as of `at`.
    /// Returns the receiver's answer, if there is one, which is at its first hop.
    #[inline]
    fn deliver_ahead(&mut self, place: Place, at: Time) -> Option<Place> {
        let packet = self.core.pool.packet(place);
        let id = packet.flow;
        let Segment::Data { number, sent } = packet.segment else {
            debug_assert!(false, "only data is delivered ahead of time");
            return None;
        };
        let flow = &mut self.core.flows[id as usize];
        self.core.digest.data(at, id, number);
        let Receiver::Stream(r) = &mut flow.receiver else {
            return self.take_in(place, at);
        };
        let (fresh, ack) = r.on_data(number, sent, packet.ecn == Ecn::Marked);
        flow.deliver_later(self.core.limits.unread, at, sent, packet.size, fresh);
        *packet = flow.answer(id, ack);
        Some(place)
    }

    /// Counts a datagram that arrives at `at`, to which there is no answer.
    #[inline(never)]
    fn take_in(&mut self, place: Place, at: Time) -> Option<Place> {
        let packet = self.core.pool.remove(place);
        if let Segment::Data { sent, .. } = packet.segment {
            let flow = &mut self.core.flows[packet.flow as usize];
            flow.deliver_later(self.core.limits.unread, at, sent, packet.size, true);
        }
        None
    }

    /// Moves a new packet as `go` does. Most hosts are at a pipe, for which all of `go` is too much.
    #[inline]
    pub fn set_out(&mut self, place: Place, hop: Hop, at: Time) {
        let link = hop.link();
        let Line::Pipe(pipe) = &mut self.wires[link].line else {
            return self.go(place, hop, at);
        };
        let sent = pipe.offer(
            at,
            self.core.pool.packet(place).bytes(),
            self.core.limits.end,
        );
        self.depart(link, place, sent);
    }

    /// Delivers data ahead of time, and moves the answer as `go` does.
    #[inline(never)]
    fn turn_round(&mut self, place: Place, came: Came) {
        let Some(place) = self.deliver_ahead(place, came.at) else {
            return;
        };
        let hop = self.paths.hop(self.core.pool.packet(place).hop);
        match hop.is_early() {
            true => self.go(place, hop, came.at),
            false => self.fly(place, came),
        }
    }
}
