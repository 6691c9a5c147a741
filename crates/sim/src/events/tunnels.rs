//! Tunnels: packets enter gateways and leave them.

use super::engine::EventsEngine;
use super::wire::{EventPort, TunnelEdge};
use crate::packet::Packet;
use crate::pool::Handle;
use accord_aqm::Ecn;
use accord_transport::Segment;

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

    /// Moves the packet in a datagram on. It takes the mark of the datagram, if it is ECN-capable
    /// [RFC 6040 §4.2].
    #[cold]
    pub fn leave_tunnel(&mut self, datagram: &Packet) {
        let (id, Segment::Data { number, .. }) = (datagram.flow as usize, datagram.segment) else {
            return;
        };
        let inside = self.core.flows[id].gateway_mut();
        let Some(mut packet) = inside.and_then(|gateway| gateway.unload(number)) else {
            return;
        };
        if datagram.ecn == Ecn::Marked && packet.ecn != Ecn::NotCapable {
            packet.ecn = Ecn::Marked;
        }
        self.core.count_edge(id);
        packet.hop += 1;
        let hop = self.paths.hop(packet.hop);
        let handle = self.core.pool.insert(packet);
        if hop.is_end() { self.deliver(handle) } else { self.traverse(handle, hop, self.core.now) }
    }

    /// Opens a tunnel, which sends from now on the packets that wait at its edge.
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
