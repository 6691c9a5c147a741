//! The ends of flows: applications supply data, senders send it, and packets are delivered.

use super::engine::EventsEngine;
use crate::calendar::EventKind;
use crate::pool::Handle;
use accord_transport::Segment;
use accord_units::Time;
use std::ops::Range;

impl EventsEngine<'_> {
    /// Puts a new packet at the first port of its path, the hop of index `first`.
    #[inline(always)]
    pub fn send(&mut self, handle: Handle, first: u32) {
        let hop = self.paths.hop(first);
        self.enter_path(handle, hop, self.core.now);
    }

    /// Delivers a packet to its endpoint.
    #[inline]
    pub fn deliver(&mut self, handle: Handle) {
        if self.others.is_some() && self.is_whole(handle) {
            return self.deliver_whole(handle);
        }
        match self.core.pool.packet(handle).segment {
            Segment::Ack { .. } => {
                return match self.core.acknowledge(handle) {
                    (id, Some(numbers)) => self.send_all(id, Some(numbers)),
                    (id, None) => self.pump(id),
                };
            }
            Segment::Report { .. } | Segment::Count { .. } => {
                let id = self.core.reply(handle);
                return self.pump(id);
            }
            Segment::Missing { first, behind } => {
                let id = self.core.reply(handle);
                return self.repair(id, first, behind);
            }
            _ => {}
        }
        let packet = self.core.pool.remove(handle);
        let id = packet.flow as usize;
        let now = self.core.now;
        self.core.digest.delivered(now, packet.flow, &packet.segment);
        let flow = &mut self.core.flows[id];
        let receipt = flow.receive(&packet, now);
        if let (Some(fresh), Segment::Data { sent, .. }) = (receipt.data, &packet.segment) {
            flow.deliver(fresh, packet.size, now.since(*sent));
        }
        let Some(reply) = receipt.reply else {
            return self.leave_tunnel(&packet);
        };
        let reply = flow.answer(packet.flow, packet.aggregate, reply);
        let handle = self.core.pool.insert(reply);
        self.send(handle, reply.hop);
        // The tunnel counts the datagram, and the packet inside continues.
        if let Segment::Count { .. } = reply.segment {
            self.leave_tunnel(&packet);
        }
    }

    /// Sends the packets of a sender that are due, and sets its timer.
    #[inline]
    pub fn pump(&mut self, id: usize) {
        let numbers = self.core.flows[id].sender.burst(self.core.now);
        self.send_all(id, numbers);
    }

    /// Sends these packets of a sender, or else those that are due, one by one, and sets its timer.
    fn send_all(&mut self, id: usize, numbers: Option<Range<u64>>) {
        let sent = self.core.now;
        let again = match numbers {
            Some(numbers) => {
                for number in numbers {
                    self.emit(id, Segment::Data { number, sent });
                }
                Time::MAX
            }
            None => self.pump_one_by_one(id),
        };
        if let Some(at) = self.core.await_wake(id, again) {
            self.core.calendar.push(at, EventKind::Wake, id);
        }
        self.core.end_transfer(id);
    }

    /// Sends the packets of a sender that are due, one by one. Returns the time at which to ask it
    /// again.
    #[inline(never)]
    fn pump_one_by_one(&mut self, id: usize) -> Time {
        loop {
            match self.core.flows[id].sender.poll(self.core.now) {
                Ok(segment) => self.emit(id, segment),
                Err(again) => return again,
            }
        }
    }

    /// Sends a packet of a sender.
    #[inline(always)]
    fn emit(&mut self, id: usize, segment: Segment) {
        match self.core.put(id, segment) {
            (handle, first, None) => self.send(handle, first),
            (handle, first, Some(at)) => self.process(id, handle, first, at),
        }
    }

    /// Passes a new data packet of a flow to its host, which completes it at `at`.
    #[inline]
    pub fn process(&mut self, id: usize, handle: Handle, first: u32, at: Time) {
        let hop = self.paths.hop(first);
        // Nothing happens after the end of the run.
        if hop.is_cut_through() && at <= self.core.limits.end {
            return self.enter_path(handle, hop, at);
        }
        let host = &mut self.core.flows[id].host;
        if host.hold(&mut self.core.pool, handle, at) {
            self.core.calendar.push(at, EventKind::Processed, id);
        }
    }

    /// Puts a packet that its host has completed at the first port of its path.
    pub fn processed(&mut self, id: usize) {
        let host = &mut self.core.flows[id].host;
        let Some((handle, next)) = host.done(&mut self.core.pool) else {
            return debug_assert!(false, "an event means a packet");
        };
        self.core.calendar.push(next, EventKind::Processed, id);
        let hop = self.paths.hop(self.core.pool.packet(handle).hop);
        self.traverse(handle, hop, self.core.now);
    }

    /// Wakes a sender if its pending wake-up is now.
    pub fn wake(&mut self, id: usize) {
        if self.core.wake(id) {
            self.pump(id);
        }
    }

    /// Runs the next action of an application, and sends the packets that are due.
    pub fn application(&mut self, id: usize) {
        if self.is_other(id) {
            return self.act_other(id);
        }
        if self.core.act(id) {
            self.pump(id);
        }
    }
}
