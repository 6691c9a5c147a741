//! Connections of the kernel, as the station sees them.

use super::Station;
use crate::packet::Packet;
use accord_transport::wire::{self, Header, Kind};
use accord_units::Bytes;

impl Station<'_> {
    /// Returns whether a flow waits for its connection of the kernel to have delivered everything.
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

    /// Puts an IP packet of a flow that others carry into the flow's first port. `way` is 0 there and
    /// 1 back.
    pub fn send_whole(&mut self, flow: usize, way: usize, tos: u8, inner: &[u8]) {
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
        let packet = Packet {
            datagram,
            header,
            tos,
            aggregate: plan.scenario.flows[flow].aggregate as u8,
        };
        self.offer(plan.routes[flow][usize::from(route)][way][0], packet);
        if way == 0
            && let Some(i) = self.source_of[flow]
        {
            self.sources[i].count(self.now, size);
        }
    }

    /// Notifies the station that the kernel has taken a data packet of a flow, with these sequence
    /// numbers.
    pub fn kernel_received(&mut self, flow: usize, size: Bytes, numbers: Option<(u32, u32)>) {
        if let Some(i) = self.sink_of[flow] {
            self.sinks[i].arrived(size, numbers);
        }
    }
}
