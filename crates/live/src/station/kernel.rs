//! Connections of the kernel at a station.

use super::Station;
use crate::ends::Order;
use crate::packet::Packet;
use crate::site::carries_data;
use accord_scenario::NodeId;
use accord_transport::wire::{self, Header, Kind};
use accord_units::Bytes;

impl Station<'_> {
    /// Returns true if a flow waits for its connection of the kernel to deliver everything.
    pub fn awaits_kernel(&self, flow: usize) -> bool {
        let source = self.source_of[flow].map(|i| &self.sources[i]);
        source.is_some_and(|s| s.is_kernel && s.session.is_transferring())
    }

    /// Notifies the station that the connection of a flow has delivered everything.
    pub fn kernel_is_done(&mut self, flow: usize) {
        if let Some(i) = self.source_of[flow] {
            self.transferred(i);
        }
    }

    /// Puts an IP packet of a flow of another stack into the flow's first port. `way` is 0 for the
    /// forward and 1 for the reverse path.
    pub fn send_whole(&mut self, flow: usize, way: usize, tos: u8, inner: &[u8]) {
        let packet = self.whole(flow, way, tos, inner);
        let size = packet.header.size;
        let plan = self.plan;
        let first = plan.routes[flow][usize::from(packet.header.route)][way][0];
        let node = plan.scenario.links[first].from;
        match self.enters(flow, node, packet.header.kind) {
            Some(tunnel) => self.orders.push(Order::Enter(tunnel, packet)),
            None => self.offer(first, packet),
        }
        let tunnel = plan.scenario.flows[flow].tunnel.is_some();
        if way == 0
            && (!tunnel || carries_data(inner))
            && let Some(i) = self.source_of[flow]
        {
            self.sources[i].count(self.now, size);
        }
    }

    /// Takes a packet of a flow that left a tunnel, whose exit is at `node`.
    pub fn leave_tunnel(&mut self, flow: usize, node: NodeId, tos: u8, inner: &[u8]) {
        let packet = self.whole(flow, 0, tos, inner);
        self.arrive(node, packet);
    }

    /// Returns the tunnel that a packet of a flow enters at a node, if any.
    pub(super) fn enters(&self, flow: usize, node: NodeId, kind: Kind) -> Option<usize> {
        let scenario = self.plan.scenario;
        let tunnel = scenario.flows[flow].through?;
        (kind == Kind::Ip && scenario.ends(tunnel).0 == node).then_some(tunnel)
    }

    /// Returns an IP packet of a flow in the form in which it crosses links.
    fn whole(&self, flow: usize, way: usize, tos: u8, inner: &[u8]) -> Packet {
        let (plan, route) = (self.plan, self.route[flow]);
        let size = Bytes::new(inner.len() as u64);
        let header = Header {
            kind: [Kind::Ip, Kind::IpReply][way],
            size,
            flow: flow as u32,
            run: plan.run,
            route,
        };
        let mut datagram = Vec::with_capacity(wire::LEAST + inner.len());
        wire::wrap(&header, inner, &mut datagram);
        Packet { datagram, header, tos, aggregate: plan.scenario.flows[flow].aggregate as u8 }
    }

    /// Notifies the station that the kernel has taken a data packet of a flow, with these sequence
    /// numbers.
    pub fn kernel_received(&mut self, flow: usize, size: Bytes, numbers: Option<(u32, u32)>) {
        if let Some(i) = self.sink_of[flow] {
            self.sinks[i].arrived(size, numbers);
        }
    }
}
