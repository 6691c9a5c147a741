//! What the ends of flows do: applications supply data, senders send it, and packets are delivered.

use crate::arrivals::Cause;
use crate::calendar::Kind;
use crate::engine::{Simulation, wake_up};
use crate::packet::Packet;
use crate::pool::Place;
use accord_aqm::Ecn;
use accord_transport::Segment;
use accord_units::Time;

impl Simulation<'_> {
    /// Puts a new packet at the first port of its path.
    #[inline(always)]
    fn send(&mut self, packet: Packet) {
        let hop = self.wiring.hops[packet.hop as usize];
        let place = self.pool.insert(packet);
        match &mut self.windows {
            Some(windows) if !hop.is_shortcut() => {
                windows.put(&mut self.pool, place, hop, self.now, self.cause);
            }
            _ => self.glide(place, hop, self.now),
        }
    }

    /// Delivers a packet to its endpoint.
    #[inline]
    pub fn deliver(&mut self, place: Place) {
        let packet = self.pool.remove(place);
        let id = packet.flow as usize;
        let now = self.now;
        let flow = &mut self.flows[id];
        match packet.segment {
            Segment::Ack { next, block, .. } => self.digest.ack(now, packet.flow, next, block),
            _ => self.digest.delivered(now, &packet),
        }
        if let Segment::Ack { .. } | Segment::Report { .. } | Segment::Count { .. } = packet.segment
        {
            if flow.wake_up() {
                self.awake.push(packet.flow);
            }
            flow.sender.on_reply(&packet.segment, now);
            return self.pump(id);
        }
        let receipt = flow.receive(&packet, now);
        if let (Some(fresh), Segment::Data { sent, .. }) = (receipt.data, &packet.segment) {
            flow.deliver(fresh, packet.size, now.since(*sent));
        }
        let Some(reply) = receipt.reply else {
            return self.unload(&packet);
        };
        let reply = flow.answer(packet.flow, reply);
        self.send(reply);
        // A datagram of a tunnel is counted, and its packet goes on.
        if let Segment::Count { .. } = reply.segment {
            self.unload(&packet);
        }
    }

    /// Lets a sender send what it may, and sets its timer.
    #[inline]
    pub fn pump(&mut self, id: usize) {
        let sent = self.now;
        let again = match self.flows[id].sender.burst(sent) {
            Some(numbers) => {
                for number in numbers {
                    self.emit(id, Segment::Data { number, sent });
                }
                Time::MAX
            }
            None => self.pump_one_by_one(id),
        };
        let flow = &mut self.flows[id];
        let at = again.min(flow.sender.next_wake());
        if at < self.wakes[id] {
            self.wakes[id] = at;
            if self.windows.is_none() {
                self.calendar.push(at, Kind::Wake, id);
            }
        }
        if flow.session.is_transferring() && flow.sender.is_done() {
            self.transferred(id);
        }
    }

    /// Lets a sender send what it may. Returns the time at which to ask it again.
    #[inline(never)]
    fn pump_one_by_one(&mut self, id: usize) -> Time {
        let windows = self.windows.as_ref();
        let reply = windows.map_or(Time::ZERO, |windows| windows.replies[id].time());
        loop {
            let sent = self.now;
            let sender = &mut self.flows[id].sender;
            // What a gateway sends decides what it sends next. There is none in a run with windows.
            let paced = match sent < self.known {
                true => sender.paced(sent),
                false => None,
            };
            let again = if let Some((number, again)) = paced {
                self.emit(id, Segment::Data { number, sent });
                if again == sent {
                    continue;
                }
                again
            } else {
                match sender.poll(sent) {
                    Ok(segment) => {
                        self.emit_any(id, segment);
                        continue;
                    }
                    Err(again) if again >= sender.next_wake() => return again,
                    Err(again) => again,
                }
            };
            // Its wake-up at that time may be the next event of the sender, which only has to send.
            if again >= self.known || again > reply.min(self.wakes[id]) {
                return again;
            }
            (self.now, self.cause) = (again, Cause::new(Kind::Wake, id));
            self.wakes[id] = Time::MAX;
            self.events += 1;
        }
    }

    /// Sends a packet that is not known to be data.
    #[inline(never)]
    fn emit_any(&mut self, id: usize, segment: Segment) {
        self.emit(id, segment);
    }

    /// Sends a packet of a sender.
    #[inline(always)]
    fn emit(&mut self, id: usize, segment: Segment) {
        let flow = &mut self.flows[id];
        let data = matches!(segment, Segment::Data { .. });
        let (size, ecn) = match data {
            true => (flow.packet, flow.ecn),
            false => (flow.control, Ecn::NotCapable),
        };
        let mut packet = Packet {
            segment,
            flow: id as u32,
            hop: flow.path,
            virtual_s: 0.0,
            size,
            ecn,
            aggregate: flow.aggregate,
        };
        let mut at = None;
        if data {
            if let Some(host) = &mut flow.host {
                host.load(&mut packet, &mut flow.sender, self.now);
                at = host.take(self.now);
            }
            flow.sent.add(packet.bytes());
            flow.remember(self.now);
        }
        match at {
            None => self.send(packet),
            Some(at) => self.process(packet, at),
        }
    }

    /// Gives a new data packet to its host, which will be done with it at `at`.
    #[inline]
    fn process(&mut self, packet: Packet, at: Time) {
        let hop = self.wiring.hops[packet.hop as usize];
        let place = self.pool.insert(packet);
        // Nothing happens after the end of the run.
        if hop.is_shortcut() && at <= self.limits.end {
            return self.set_out(place, hop, at);
        }
        let id = packet.flow as usize;
        if let Some(windows) = &mut self.windows {
            if at <= self.limits.end {
                let cause = Cause::new(Kind::Processed, id);
                windows.put(&mut self.pool, place, hop, at, cause);
            }
            return;
        }
        if let Some(host) = &mut self.flows[id].host
            && host.hold(&mut self.pool, place, at)
        {
            self.calendar.push(at, Kind::Processed, id);
        }
    }

    /// Puts a packet that its host is done with at the first port of its path.
    pub fn processed(&mut self, id: usize) {
        let host = self.flows[id].host.as_deref_mut();
        let Some((place, next)) = host.and_then(|host| host.done(&mut self.pool)) else {
            return debug_assert!(false, "an event means a packet");
        };
        self.calendar.push(next, Kind::Processed, id);
        let hop = self.wiring.hops[self.pool.packet(place).hop as usize];
        self.go(place, hop, self.now);
    }

    pub fn wake(&mut self, id: usize) {
        // An earlier deadline was set after this one was scheduled, and has been handled.
        if self.wakes[id] != self.now {
            return;
        }
        self.wakes[id] = Time::MAX;
        self.flows[id].sender.on_wake(self.now);
        self.pump(id);
    }

    pub fn application(&mut self, id: usize) {
        wake_up(&mut self.flows, &mut self.awake, id);
        let flow = &mut self.flows[id];
        flow.session.heed(&flow.sender, self.now);
        let Some(step) = flow.session.act(self.now) else {
            return;
        };
        if step.new_connection {
            let f = &self.scenario.flows[id];
            let base_rtt = self.state.base_rtt(id);
            (flow.sender).reconnect(&f.controller, &f.service, base_rtt, self.now);
        }
        flow.sender.supply(step.supply);
        if let Some(span) = step.again {
            self.calendar.push(self.now + span, Kind::Application, id);
        }
        self.pump(id);
    }

    /// Ends a transfer: all that the application supplied is delivered.
    fn transferred(&mut self, id: usize) {
        let Some(done) = self.flows[id].session.end() else {
            return;
        };
        let took = self.now.since(done.start);
        let start = self.reported(done.start);
        (self.transfers).add(self.scenario, id, start, done.size, Some(took));
        if let Some(pause) = done.pause {
            self.calendar.push(self.now + pause, Kind::Application, id);
        }
    }
}
