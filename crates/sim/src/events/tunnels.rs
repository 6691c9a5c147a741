//! Tunnels: packets enter gateways and leave them.

use super::engine::EventsEngine;
use super::wire::{EventPort, TunnelEdge};
use crate::calendar::EventKind;
use crate::packet::Packet;
use crate::pool::Handle;
use accord_aqm::Ecn;
use accord_transport::Segment;
use accord_transport::tunnel::repair::{Missing, Place};

impl EventsEngine<'_> {
    /// Puts a packet that arrives at a gateway into the edge queue.
    #[cold]
    pub fn enter_tunnel(&mut self, link: usize, handle: Handle) {
        let EventPort::TunnelEdge(TunnelEdge(tunnel)) = self.wires[link].port else {
            return;
        };
        if self.outside.is_some() {
            return self.enter_other_tunnel(tunnel, handle);
        }
        let packet = self.core.pool.remove(handle);
        if let Some(gateway) = self.core.flows[tunnel].gateway_mut() {
            gateway.push(packet, self.core.now);
        }
        self.core.flows[tunnel].offer(self.core.now);
        self.core.count_edge(tunnel);
        self.pump(tunnel);
    }

    /// Forwards the packet in a datagram, and those that waited for it. The packet takes the mark of the
    /// datagram if it is ECN-capable [RFC 6040 §4.2].
    #[cold]
    pub fn leave_tunnel(&mut self, datagram: &Packet) {
        let (id, Segment::Data { number, .. }) = (datagram.flow as usize, datagram.segment) else {
            return;
        };
        let now = self.core.now;
        let Some(gateway) = self.core.flows[id].gateway_mut() else {
            return;
        };
        let mut packet = gateway.unload(number);
        if let Some(packet) = &mut packet
            && datagram.ecn == Ecn::Marked
            && packet.ecn != Ecn::NotCapable
        {
            packet.ecn = Ecn::Marked;
        }
        let rides = packet.map(|packet| packet.flow as usize);
        let is_ordered = rides.is_some_and(|id| self.core.flows[id].is_stream());
        if let Some(gateway) = self.core.flows[id].gateway_mut() {
            gateway.arrive(number, packet, is_ordered, now);
        }
        self.core.count_edge(id);
        self.move_on(id);
        while let Some(gateway) = self.core.flows[id].gateway_mut()
            && let Some(missing) = gateway.take_missing(now)
        {
            let list = Segment::Missing { first: missing.first.counter, behind: missing.behind };
            let list = self.core.flows[id].answer(id as u32, datagram.aggregate, list);
            let handle = self.core.pool.insert(list);
            self.send(handle, list.hop);
        }
    }

    /// Passes on the packets of a tunnel that have waited long enough for others.
    pub fn pass_on(&mut self, id: usize) {
        let now = self.core.now;
        if let Some(gateway) = self.core.flows[id].gateway_mut() {
            gateway.expire(now);
        }
        self.move_on(id);
    }

    /// Forwards the packets that have come out of a tunnel.
    fn move_on(&mut self, id: usize) {
        let now = self.core.now;
        let Some(gateway) = self.core.flows[id].gateway_mut() else {
            return;
        };
        let (out, again) = (gateway.take_out(), gateway.await_order());
        if let Some(at) = again {
            self.core.calendar.push(at, EventKind::Order, id);
        }
        for mut packet in out {
            packet.hop += 1;
            let hop = self.paths.hop(packet.hop);
            let handle = self.core.pool.insert(packet);
            if hop.is_end() { self.deliver(handle) } else { self.traverse(handle, hop, now) }
        }
    }

    /// Resends packets of a tunnel whose datagrams are reported missing.
    pub fn repair(&mut self, id: usize, first: u64, behind: u64) {
        let now = self.core.now;
        let round_trip = self.core.flows[id].sender.view().rtt;
        if let Some(gateway) = self.core.flows[id].gateway_mut() {
            let first = Place { session: 0, counter: first };
            gateway.on_missing(Missing { first, behind }, round_trip, now);
        }
        self.core.flows[id].offer(now);
        self.core.count_edge(id);
        self.pump(id);
    }

    /// Opens a tunnel, which from now on sends the packets that wait at its edge.
    pub fn open(&mut self, id: usize) {
        self.core.wake_up(id);
        if let Some(gateway) = self.core.flows[id].gateway_mut() {
            gateway.open();
        }
        self.core.flows[id].offer(self.core.now);
        self.core.count_edge(id);
        self.pump(id);
    }
}
