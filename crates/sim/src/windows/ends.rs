//! The senders: sending of data, and delivery of replies.

use super::arrivals::EventId;
use super::engine::WindowsEngine;
use crate::calendar::EventKind;
use crate::pool::Handle;
use accord_transport::{Segment, Sender};
use accord_units::Time;

impl WindowsEngine<'_> {
    /// Puts a new packet at the first link of its path, the hop of index `first`.
    #[inline(always)]
    fn send(&mut self, handle: Handle, first: u32) {
        let hop = self.net.paths.hops[first as usize];
        let now = self.core.now;
        if hop.is_cut_through() {
            let size = self.core.pool.packet(handle).bytes();
            if let Some(exit) = self.pass(handle, hop, now, size) {
                self.forward(handle, exit);
            }
        } else {
            self.enqueue(handle, hop, now, self.event)
        }
    }

    /// Delivers an acknowledgement to the sender of a stream, which sends the packets that are due.
    #[inline(never)]
    pub fn acknowledge(&mut self, handle: Handle) {
        let (id, numbers) = self.core.acknowledge(handle);
        let Some(numbers) = numbers else {
            return self.pump(id);
        };
        for number in numbers {
            self.emit_data(id, number);
        }
        self.core.await_next_wake(id);
    }

    /// Sends a data packet of a sender. In one function with [`WindowsEngine::acknowledge`] it would need
    /// more registers than there are.
    #[inline(never)]
    fn emit_data(&mut self, id: usize, number: u64) {
        let put = self.core.put_data(id, number);
        self.begin_path(id, put);
    }

    /// Sends the packets of a sender that are due, and sets its timer.
    #[inline(never)]
    pub fn pump(&mut self, id: usize) {
        let sent = self.core.now;
        let again = match self.core.flows[id].sender.burst(sent) {
            Some(numbers) => {
                for number in numbers {
                    self.emit_any(id, Segment::Data { number, sent });
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
            let again = match sender.poll(sent) {
                Ok(segment) => {
                    self.emit_any(id, segment);
                    continue;
                }
                Err(again) if again >= sender.next_wake() => return again,
                Err(again) => again,
            };
            // The wake-up at that time may be the next event of a sender that only has to send.
            if again >= self.known || again > reply.min(self.core.wakes[id]) {
                return again;
            }
            (self.core.now, self.event) = (again, EventId::new(EventKind::Wake, id));
            self.core.wakes[id] = Time::MAX;
            self.core.events += 1;
        }
    }

    /// Handles the replies to a tunnel and its timers before `until`. A tunnel sends about one packet per
    /// reply or wake-up, so a single loop does all of its work. Without this loop `monaco-20` takes 1.1 times
    /// the CPU time.
    #[inline(never)]
    pub fn advance_tunnel(&mut self, id: usize, until: Time) {
        let is_large = self.core.pool.is_large();
        let mut wake = self.core.wakes[id];
        loop {
            let replies = &mut self.senders.replies[id];
            // A wake-up comes before a reply of the same time.
            if let Some(reply) = replies.due(wake.min(until)) {
                if is_large {
                    replies.prepare(&self.core.pool);
                }
                (self.core.now, self.event) = (reply.at, replies.event);
                self.core.reply_to_tunnel(id, reply.handle);
            } else if wake < until {
                (self.core.now, self.event) = (wake, EventId::new(EventKind::Wake, id));
                if let Sender::Tunnel(ingress) = &mut self.core.flows[id].sender {
                    ingress.on_wake(wake);
                }
                wake = Time::MAX;
            } else {
                break;
            }
            self.core.events += 1;
            wake = wake.min(self.pump_tunnel(id));
        }
        self.core.wakes[id] = wake;
    }

    /// Sends the packets of a tunnel that are due. Returns the time at which to wake it.
    #[inline(always)]
    fn pump_tunnel(&mut self, id: usize) -> Time {
        let now = self.core.now;
        loop {
            let Sender::Tunnel(ingress) = &mut self.core.flows[id].sender else {
                debug_assert!(false, "it is a tunnel");
                return Time::MAX;
            };
            let again = match ingress.next_paced(now) {
                Some(at) if at > now => at,
                Some(_) => {
                    let number = ingress.send_paced(now);
                    let put = self.core.put_data(id, number);
                    self.begin_path(id, put);
                    continue;
                }
                None => match ingress.poll(now) {
                    Ok(segment) => {
                        self.emit_any(id, segment);
                        continue;
                    }
                    Err(again) => again,
                },
            };
            return again.min(ingress.next_wake());
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
        let put = self.core.put(id, segment);
        self.begin_path(id, put);
    }

    /// Puts a new packet at the first link of its path, by way of its host. Takes the result of
    /// [`Core::put`](crate::core::Core::put).
    #[inline(always)]
    fn begin_path(&mut self, id: usize, put: (Handle, u32, Option<Time>)) {
        match put {
            (handle, first, None) => self.send(handle, first),
            (handle, first, Some(at)) => self.process(id, handle, first, at),
        }
    }

    /// Passes a new data packet of a flow to its host, which completes it at `at`.
    #[inline(always)]
    fn process(&mut self, id: usize, handle: Handle, first: u32, at: Time) {
        // Nothing happens after the end of the run.
        if at > self.core.limits.end {
            return;
        }
        let hop = self.net.paths.hops[first as usize];
        if !hop.is_cut_through() {
            let event = EventId::new(EventKind::Processed, id);
            return self.enqueue(handle, hop, at, event);
        }
        let size = self.core.pool.packet(handle).bytes();
        if let Some(exit) = self.pass(handle, hop, at, size) {
            self.forward(handle, exit);
        }
    }

    /// Wakes a sender if its pending wake-up is now.
    pub fn wake(&mut self, id: usize) {
        if self.core.wake(id) {
            self.pump(id);
        }
    }
}
