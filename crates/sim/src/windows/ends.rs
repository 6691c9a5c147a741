//! The senders: sending of data, and delivery of replies.

use super::arrivals::EventId;
use super::engine::WindowsEngine;
use crate::calendar::EventKind;
use crate::pool::Handle;
use accord_transport::Segment;
use accord_units::Time;

impl WindowsEngine<'_> {
    /// Puts a new packet at the first link of its path, the hop of index `first`.
    #[inline(always)]
    fn send(&mut self, handle: Handle, first: u32) {
        let hop = self.net.paths.hops[first as usize];
        let now = self.core.now;
        if hop.is_cut_through() {
            if let Some(exit) = self.pass(handle, hop, now) {
                self.forward(handle, exit);
            }
        } else {
            self.enqueue(handle, hop, now, self.event)
        }
    }

    /// Delivers a reply to its sender.
    #[inline]
    pub fn deliver(&mut self, handle: Handle) {
        let id = self.core.reply(handle);
        self.pump(id);
    }

    /// Sends the packets of a sender that are due, and sets its timer.
    #[inline]
    pub fn pump(&mut self, id: usize) {
        let sent = self.core.now;
        let again = match self.core.flows[id].sender.burst(sent) {
            Some(numbers) => {
                for number in numbers {
                    self.emit(id, Segment::Data { number, sent });
                }
                Time::MAX
            }
            None => self.pump_one_by_one(id),
        };
        self.core.await_wake(id, again);
    }

    /// Sends the packets of a sender that are due, one by one. Returns the time at which to ask it
    /// again.
    #[inline(never)]
    fn pump_one_by_one(&mut self, id: usize) -> Time {
        let reply = self.senders.replies[id].time();
        loop {
            let sent = self.core.now;
            let sender = &mut self.core.flows[id].sender;
            let paced = if sent < self.known { sender.paced(sent) } else { None };
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
            // The wake-up at that time may be the next event of the sender, which only has to send.
            if again >= self.known || again > reply.min(self.core.wakes[id]) {
                return again;
            }
            (self.core.now, self.event) = (again, EventId::new(EventKind::Wake, id));
            self.core.wakes[id] = Time::MAX;
            self.core.events += 1;
        }
    }

    /// Sends a packet of any type.
    #[inline(never)]
    fn emit_any(&mut self, id: usize, segment: Segment) {
        self.emit(id, segment);
    }

    /// Sends a packet of a sender.
    #[inline(always)]
    fn emit(&mut self, id: usize, segment: Segment) {
        match self.core.put(id, segment) {
            (handle, first, None) => self.send(handle, first),
            (handle, first, Some(at)) => self.process(id, handle, first, at),
        }
    }

    /// Gives a new data packet of a flow to its host, which completes it at `at`.
    #[inline]
    fn process(&mut self, id: usize, handle: Handle, first: u32, at: Time) {
        // Nothing happens after the end of the run.
        if at > self.core.limits.end {
            return;
        }
        let hop = self.net.paths.hops[first as usize];
        if !hop.is_cut_through() {
            let event = EventId::new(EventKind::Processed, id);
            self.enqueue(handle, hop, at, event);
        } else if let Some(exit) = self.pass(handle, hop, at) {
            self.forward(handle, exit);
        }
    }

    /// Wakes a sender, if its pending wake-up is now.
    pub fn wake(&mut self, id: usize) {
        if self.core.wake(id) {
            self.pump(id);
        }
    }
}
