//! The moves of packets from one part to another.

use super::arrivals::{Arrival, EventId};
use super::cut_through::CutThroughPort;
use super::engine::{Reply, WindowsEngine};
use crate::calendar::EventKind;
use crate::hop::{Hop, WireExit};
use crate::pool::Handle;
use accord_units::{Bytes, Time};

impl WindowsEngine<'_> {
    /// Forwards a packet from the far end of a wire, through cut-through links, uncontended paths
    /// and its receiver, up to the next part.
    #[inline(always)]
    pub fn forward(&mut self, handle: Handle, mut exit: WireExit) {
        let packet = self.core.pool.packet(handle);
        let next = (self.net.paths).step(packet, &mut exit, self.core.limits);
        self.route(handle, next, exit);
    }

    /// Moves a packet as `forward` does, from the hop `next`. The flag is true if the hop takes the
    /// packet ahead of the clock.
    #[inline(always)]
    pub fn route(&mut self, handle: Handle, mut next: (Hop, bool), mut exit: WireExit) {
        loop {
            match next {
                (hop, false) => return self.hand_over(handle, hop, exit),
                (hop, true) if hop.is_end() => return self.answer_ahead(handle, exit),
                (hop, true) => {
                    let size = self.core.pool.packet(handle).bytes();
                    match self.pass(handle, hop, exit.at, size) {
                        Some(at) => exit = at,
                        None => return,
                    }
                }
            }
            let packet = self.core.pool.packet(handle);
            next = (self.net.paths).step(packet, &mut exit, self.core.limits);
        }
    }

    /// Hands a packet at the far end of a wire over to the next part.
    #[inline(always)]
    fn hand_over(&mut self, handle: Handle, hop: Hop, exit: WireExit) {
        // Nothing happens after the end of the run.
        if exit.at <= self.core.limits.end {
            let event = EventId::new(EventKind::Arrive, exit.link);
            self.enqueue(handle, hop, exit.at, event);
        }
    }

    /// Records the arrival of a packet at the shared link of `hop`, or at its sender. `event` is
    /// the event that would correspond to the arrival.
    #[inline(always)]
    pub fn enqueue(&mut self, handle: Handle, hop: Hop, at: Time, event: EventId) {
        if hop.is_end() {
            let flow = self.core.pool.packet(handle).flow as usize;
            self.senders.push(flow, Reply { at, handle });
        } else {
            let shared_link = &mut self.net.shared_links[hop.index()];
            debug_assert!(at >= shared_link.clock, "the past is over");
            shared_link.arrivals.push(Arrival { at, event, handle });
        }
    }

    /// Passes a packet of `size` through a cut-through link. Returns its exit, unless it has to wait
    /// in a priority pipe.
    #[inline(always)]
    pub fn pass(&mut self, handle: Handle, hop: Hop, at: Time, size: Bytes) -> Option<WireExit> {
        debug_assert!(hop.is_cut_through_link());
        let link = &mut self.net.cut_through[hop.index()];
        let sent = match &mut link.port {
            CutThroughPort::Pipe(pipe) => Some(pipe.offer(at, size, self.core.limits.end)),
            CutThroughPort::Priority(pipe) => pipe.offer(at, size, self.core.limits.end),
        };
        match sent {
            Some(sent) => Some(link.leaves(sent)),
            None => self.queue(handle, hop, at),
        }
    }

    /// Passes a packet through a priority pipe that is busy or in which others wait. Returns its exit,
    /// unless it has to wait.
    #[inline(never)]
    fn queue(&mut self, handle: Handle, hop: Hop, at: Time) -> Option<WireExit> {
        self.flush(hop.index(), at);
        let link = &mut self.net.cut_through[hop.index()];
        let packet = self.core.pool.packet(handle);
        let CutThroughPort::Priority(pipe) = &mut link.port else {
            return None;
        };
        let sent = pipe.offer(at, packet.bytes(), self.core.limits.end);
        if sent.is_none() {
            pipe.keep(handle, packet);
        }
        Some(link.leaves(sent?))
    }

    /// Sends the packets of a priority pipe whose service begins by `until`.
    pub fn flush(&mut self, cut_through: usize, until: Time) {
        loop {
            let link = &mut self.net.cut_through[cut_through];
            let CutThroughPort::Priority(pipe) = &mut link.port else {
                return;
            };
            let begun = pipe.begin(until, self.core.limits.end);
            let Some((handle, sent)) = begun else {
                return;
            };
            let exit = link.leaves(sent);
            self.forward(handle, exit);
        }
    }

    /// Delivers a packet to its receiver ahead of the clock, and forwards the answer.
    #[inline(never)]
    fn answer_ahead(&mut self, handle: Handle, mut exit: WireExit) {
        let limits = self.core.limits;
        if !self.core.deliver_ahead(handle, exit.at) {
            self.core.pool.remove(handle);
            return;
        }
        let packet = self.core.pool.packet(handle);
        let size = packet.bytes();
        match (self.net.paths).reach(&mut packet.hop, &mut exit, limits) {
            (hop, true) => {
                if let Some(exit) = self.pass(handle, hop, exit.at, size) {
                    self.forward(handle, exit);
                }
            }
            (hop, false) if hop.is_end() => {
                // Nothing happens after the end of the run.
                if exit.at <= limits.end {
                    let reply = Reply { at: exit.at, handle };
                    self.senders.push(packet.flow as usize, reply);
                }
            }
            (hop, false) => self.hand_over(handle, hop, exit),
        }
    }
}
