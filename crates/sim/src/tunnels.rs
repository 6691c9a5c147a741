//! The events of tunnels: packets come to gateways, and leave them.

use crate::engine::{Simulation, lose, wake_up};
use crate::gateway::Gateway;
use crate::packet::Packet;
use crate::pool::Place;
use crate::wire::Line;
use accord_aqm::Ecn;
use accord_transport::Segment;

impl Simulation<'_> {
    /// Puts a packet that came to a gateway into the edge queue.
    #[cold]
    pub fn board(&mut self, link: usize, place: Place) {
        let Line::Edge(tunnel) = self.wires[link].line else {
            return;
        };
        let packet = self.pool.remove(place);
        if let Some(gateway) = self.flows[tunnel].gateway_mut() {
            gateway.push(packet, self.now);
        }
        self.flows[tunnel].offer(self.now);
        self.count_edge(tunnel);
        self.pump(tunnel);
    }

    /// Lets the packet go on that was in a datagram. It has the mark of the datagram, if it can have
    /// one [RFC 6040 §4.2].
    #[cold]
    pub fn unload(&mut self, datagram: &Packet) {
        let (id, Segment::Data { number, .. }) = (datagram.flow as usize, datagram.segment) else {
            return;
        };
        let inside = self.flows[id].gateway_mut();
        let Some(mut packet) = inside.and_then(|gateway| gateway.unload(number)) else {
            return;
        };
        if datagram.ecn == Ecn::Marked && packet.ecn != Ecn::NotCapable {
            packet.ecn = Ecn::Marked;
        }
        self.count_edge(id);
        packet.hop += 1;
        let hop = self.wiring.hops[packet.hop as usize];
        let place = self.pool.insert(packet);
        match hop.is_end() {
            true => self.deliver(place),
            false => self.go(place, hop, self.now),
        }
    }

    /// Lets a tunnel send from now on. What it has to send waits at its edge.
    pub fn open(&mut self, id: usize) {
        wake_up(&mut self.flows, &mut self.awake, id);
        if let Some(gateway) = self.flows[id].gateway_mut() {
            gateway.open();
        }
        self.flows[id].offer(self.now);
        self.count_edge(id);
        self.pump(id);
    }

    /// Counts the packets that the edge queue of a tunnel has dropped.
    fn count_edge(&mut self, tunnel: usize) {
        let gateway = self.flows[tunnel].gateway_mut();
        let dropped = gateway.map(Gateway::take_dropped);
        let (flows, awake, digest) = (&mut self.flows, &mut self.awake, &mut self.digest);
        for packet in dropped.into_iter().flatten() {
            lose(flows, awake, digest, self.now, &packet);
        }
    }

    /// Counts the packets that edge queues have dropped. A queue drops some when a datagram leaves,
    /// and these are counted at the next event of the tunnel or at the next sample.
    pub fn count_edges(&mut self) {
        for i in 0..self.wiring.tunnels.len() {
            self.count_edge(self.wiring.tunnels[i]);
        }
    }
}
