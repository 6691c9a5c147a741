//! The moves of packets of other stacks. Ends that are state machines are called here. Those outside
//! get orders.

use super::engine::EventsEngine;
use super::other::{CarriedEnd, Order};
use super::parcel::{Parcel, Whole};
use crate::calendar::EventKind;
use crate::packet::Packet;
use crate::pool::Handle;
use accord_transport::wire::ECN;
use accord_transport::{Segment, ip};
use accord_units::{Bytes, Time};

impl EventsEngine<'_> {
    /// Returns true if another stack carries a flow.
    #[inline]
    pub fn is_other(&self, flow: usize) -> bool {
        self.outside.as_ref().is_some_and(|outside| outside.is_other(flow))
    }

    /// Returns true if a packet is of another stack.
    pub fn is_whole(&mut self, handle: Handle) -> bool {
        let flow = self.core.pool.packet(handle).flow;
        self.is_other(flow as usize)
    }

    /// Returns an end of another stack, if it is a state machine here: 0 is that at the source.
    fn end(&mut self, flow: usize, end: usize) -> Option<&mut CarriedEnd> {
        self.outside.as_mut()?.others[flow].as_mut()?.ends[end].as_mut()
    }

    fn order(&mut self, order: Order) {
        if let Some(outside) = &mut self.outside {
            outside.orders.push(order);
        }
    }

    /// Runs the next action of the application of a flow.
    pub fn act_other(&mut self, flow: usize) {
        let Some(step) = self.core.step(flow) else {
            return;
        };
        let now = self.core.now;
        match self.end(flow, 0) {
            Some(carried) => carried.end.supply(step.supply, step.is_transfer, now),
            None => self.order(Order::Supply(flow, step.supply)),
        }
        self.pump_other(flow, 0);
    }

    /// Stops a flow.
    pub fn stop_other(&mut self, flow: usize) {
        self.core.stop(flow);
        let now = self.core.now;
        match self.end(flow, 0) {
            Some(carried) => carried.end.stop(now),
            None => self.order(Order::Stop(flow)),
        }
        self.pump_other(flow, 0);
    }

    /// Sends the datagrams that an end may send, and sets its timer.
    fn pump_other(&mut self, flow: usize, end: usize) {
        let now = self.core.now;
        while let Some(carried) = self.end(flow, end) {
            let Some(datagram) = carried.end.poll(now) else {
                let (at, done) = (carried.end.next_wake(), carried.end.is_done());
                self.set_wake(flow, end, at);
                if end == 0 && done && self.core.flows[flow].session.is_transferring() {
                    self.core.transferred(flow);
                }
                return;
            };
            let bytes = carried.wrap(&datagram);
            self.send_whole(flow, end, &Whole { tos: datagram.ecn, is_data: true, bytes: &bytes });
        }
    }

    /// Sets the timer of an end.
    fn set_wake(&mut self, flow: usize, end: usize, at: Time) {
        let at = at.max(self.core.now);
        if let Some(other) = self.outside.as_mut().and_then(|o| o.others[flow].as_mut())
            && other.wakes[end] != at
        {
            other.wakes[end] = at;
            self.core.calendar.push(at, EventKind::WakeOther, 2 * flow + end);
        }
    }

    /// Wakes an end, if its timer is due. The event may be stale, because the timer was set again.
    pub fn wake_other(&mut self, index: usize) {
        let (flow, end, now) = (index / 2, index % 2, self.core.now);
        let other = self.outside.as_mut().and_then(|outside| outside.others[flow].as_mut());
        let Some(other) = other.filter(|other| other.wakes[end] == now) else {
            return;
        };
        other.wakes[end] = Time::MAX;
        if let Some(carried) = &mut other.ends[end] {
            carried.end.on_wake(now);
        }
        self.pump_other(flow, end);
    }

    /// Puts an IP packet of a flow into the first port of its path. `way` is 0 for the forward and 1
    /// for the reverse path.
    pub fn send_whole(&mut self, flow: usize, way: usize, whole: &Whole) {
        let now = self.core.now;
        self.core.wake_up(flow);
        let f = &mut self.core.flows[flow];
        let hop = [f.path, f.reverse_path][way];
        let packet = Packet::whole(flow, way, hop, f.aggregate, whole, now);
        if let Segment::Data { .. } = packet.segment {
            f.sent.add(packet.bytes());
            f.remember(now);
        }
        let handle = self.insert(Parcel { packet, bytes: Some(whole.bytes.into()) });
        self.send(handle, hop);
    }

    /// Delivers a packet of another stack to its end.
    #[cold]
    pub fn deliver_whole(&mut self, handle: Handle) {
        let now = self.core.now;
        let parcel = self.remove(handle);
        let (flow, packet) = (parcel.packet.flow as usize, parcel.packet);
        self.core.digest.delivered(now, packet.flow, &packet.segment);
        self.core.wake_up(flow);
        let end = usize::from(!packet.is_answer());
        if self.end(flow, end).is_none() {
            return self.order(Order::Deliver(parcel));
        }
        let mut inner = parcel.bytes.unwrap_or_default();
        // The ends do not understand marks unless they ask for them.
        let whole = ip::exit(&mut inner, packet.tos_of_whole());
        let Some(inside) = ip::Ipv4Packet::new(&inner).filter(|_| whole) else {
            return;
        };
        let (Some(payload), Some(carried)) = (inside.udp(), self.end(flow, end)) else {
            return;
        };
        let fresh = carried.end.receive(payload, inside.tos() & ECN, now);
        if end == 1 {
            self.count_whole(flow, packet.bytes(), fresh);
        }
        self.pump_other(flow, end);
    }

    /// Counts a data packet that has arrived at the end of a flow.
    pub fn count_whole(&mut self, flow: usize, size: Bytes, fresh: bool) {
        let flow = &mut self.core.flows[flow];
        flow.delivered.add(size);
        flow.fresh_bytes += if fresh { size.get() } else { 0 };
    }

    /// Passes a packet to the gateway at the entry of a tunnel.
    pub fn enter_other_tunnel(&mut self, tunnel: usize, handle: Handle) {
        let parcel = self.remove(handle);
        self.order(Order::Enter(tunnel, parcel));
    }

    /// Moves a packet of a flow on that comes out of a tunnel.
    pub fn leave_other_tunnel(&mut self, flow: usize, whole: &Whole) {
        let (now, links) = (self.core.now, self.core.scenario.links.len());
        let f = &self.core.flows[flow];
        let mut hops = (f.path..).zip(self.paths.ahead(f.path));
        let edge = hops.find(|(_, hop)| hop.index() >= links);
        drop(hops);
        let Some((edge, _)) = edge else {
            return;
        };
        let packet = Packet::whole(flow, 0, edge + 1, f.aggregate, whole, now);
        let handle = self.insert(Parcel { packet, bytes: Some(whole.bytes.into()) });
        let hop = self.paths.hop(edge + 1);
        if hop.is_end() { self.deliver(handle) } else { self.traverse(handle, hop, now) }
    }
}
