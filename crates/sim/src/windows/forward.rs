//! The ways of packets from one part to another.

use super::arrivals::{Arrival, Cause};
use super::engine::Engine;
use super::fused::Line;
use super::hop::{Came, Hop};
use crate::calendar::Kind;
use crate::pool::Place;
use accord_aqm::Ecn;
use accord_transport::{Receiver, Segment};
use accord_units::Time;

impl Engine<'_> {
    /// Moves a packet on that came out of a wire, through fused links and stretches and round at its
    /// receiver, until another part has it.
    #[inline(always)]
    pub fn onward(&mut self, place: Place, mut came: Came) {
        let packet = self.core.pool.packet(place);
        let next = (self.net.paths).step(packet, &mut came, self.core.limits);
        self.route(place, next, came);
    }

    /// Moves a packet on as `onward` does, from the hop `next`, which takes it before its time or does not.
    #[inline(always)]
    pub fn route(&mut self, place: Place, mut next: (Hop, bool), mut came: Came) {
        loop {
            match next {
                (hop, false) => return self.hand_over(place, hop, came),
                (hop, true) if hop.is_end() => return self.turn_round(place, came),
                (hop, true) => match self.pass(place, hop, came.at) {
                    Some(at) => came = at,
                    None => return,
                },
            }
            let packet = self.core.pool.packet(place);
            next = (self.net.paths).step(packet, &mut came, self.core.limits);
        }
    }

    /// Gives a packet that comes out of a wire to the next part.
    #[inline(always)]
    fn hand_over(&mut self, place: Place, hop: Hop, came: Came) {
        // Nothing happens after the end of the run.
        if came.at <= self.core.limits.end {
            let cause = Cause::new(Kind::Arrive, came.link);
            self.put(place, hop, came.at, cause);
        }
    }

    /// Notes that a packet arrives at the station of `hop`, or at its sender. `cause` is the event that this
    /// would be.
    #[inline(always)]
    pub fn put(&mut self, place: Place, hop: Hop, at: Time, cause: Cause) {
        if hop.is_end() {
            let flow = self.core.pool.packet(place).flow as usize;
            self.senders.replies[flow].queue.push((at, place));
        } else {
            let station = &mut self.net.stations[hop.index()];
            debug_assert!(at >= station.clock, "the past is over");
            station.coming.push(Arrival { at, cause, place });
        }
    }

    /// Passes a packet through a fused link. Returns where it comes out, unless it has to wait in a lane.
    #[inline(always)]
    pub fn pass(&mut self, place: Place, hop: Hop, at: Time) -> Option<Came> {
        debug_assert!(hop.is_fused());
        let link = &mut self.net.fused[hop.index()];
        let size = self.core.pool.packet(place).bytes();
        let sent = match &mut link.line {
            Line::Pipe(pipe) => pipe.offer(at, size, self.core.limits.end),
            Line::Lane(lane) => match lane.next() {
                None => match lane.offer(at, size, self.core.limits.end) {
                    Some(sent) => sent,
                    None => {
                        lane.keep(place, self.core.pool.packet(place));
                        return None;
                    }
                },
                Some(_) => return self.queue(place, hop, at),
            },
        };
        Some(link.leaves(sent))
    }

    /// Passes a packet through a lane in which others wait.
    #[inline(never)]
    fn queue(&mut self, place: Place, hop: Hop, at: Time) -> Option<Came> {
        self.clear(hop.index(), at);
        let link = &mut self.net.fused[hop.index()];
        let packet = self.core.pool.packet(place);
        let Line::Lane(lane) = &mut link.line else {
            return None;
        };
        let Some(sent) = lane.offer(at, packet.bytes(), self.core.limits.end) else {
            lane.keep(place, packet);
            return None;
        };
        Some(link.leaves(sent))
    }

    /// Sends the packets that wait in a lane and whose service begins by `until`.
    pub fn clear(&mut self, fused: usize, until: Time) {
        loop {
            let link = &mut self.net.fused[fused];
            let Line::Lane(lane) = &mut link.line else {
                return;
            };
            let begun = lane.begin(&self.core.pool, until, self.core.limits.end);
            let Some((place, sent)) = begun else {
                return;
            };
            let came = link.leaves(sent);
            self.onward(place, came);
        }
    }

    /// Delivers a packet to its receiver ahead of time, and moves the answer on.
    #[inline(never)]
    fn turn_round(&mut self, place: Place, mut came: Came) {
        if !self.deliver_ahead(place, came.at) {
            self.core.pool.remove(place);
            return;
        }
        let packet = self.core.pool.packet(place);
        match (self.net.paths).reach(&mut packet.hop, &mut came, self.core.limits) {
            (hop, true) => {
                if let Some(came) = self.pass(place, hop, came.at) {
                    self.onward(place, came);
                }
            }
            (hop, false) => self.hand_over(place, hop, came),
        }
    }

    /// Delivers a packet ahead of time: the receiver takes it now, as of `at`. The answer takes the place of
    /// the packet. Returns whether there is one.
    #[inline(always)]
    fn deliver_ahead(&mut self, place: Place, at: Time) -> bool {
        let packet = self.core.pool.packet(place);
        let Segment::Data { number, sent } = packet.segment else {
            return self.deliver_control_ahead(place, at);
        };
        let id = packet.flow;
        let flow = &mut self.core.flows[id as usize];
        self.core.digest.data(at, id, number);
        let (fresh, reply) = match &mut flow.receiver {
            Receiver::Stream(r) => {
                let (fresh, ack) = r.on_data(number, sent, packet.ecn == Ecn::Marked);
                (fresh, Some(ack))
            }
            Receiver::Tunnel(r) => {
                let count = r.on_data(packet.bytes(), f64::from(packet.virtual_s), at);
                (true, count)
            }
            Receiver::Datagrams => (true, None),
        };
        flow.deliver_later(self.core.limits.unread, at, sent, packet.size, fresh);
        match reply {
            Some(reply) => {
                *packet = flow.answer(id, reply);
                true
            }
            None => false,
        }
    }

    /// Delivers a control packet of a tunnel ahead of time.
    #[inline(never)]
    fn deliver_control_ahead(&mut self, place: Place, at: Time) -> bool {
        let packet = self.core.pool.packet(place);
        self.core.digest.delivered(at, packet);
        let id = packet.flow;
        let flow = &mut self.core.flows[id as usize];
        match flow.receive(packet, at).reply {
            Some(reply) => {
                *packet = flow.answer(id, reply);
                true
            }
            None => false,
        }
    }
}
