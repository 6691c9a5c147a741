//! A packet on its way between stations, in its form on the wire.

use crate::site::carries_data;
use accord_scenario::{LinkId, NodeId, Scenario};
use accord_sim::{Machine, Parcel, Whole};
use accord_transport::wire::{self, Header, Kind};
use accord_units::Duration;

/// A packet with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The datagram.
    pub datagram: Vec<u8>,
    /// The header.
    pub header: Header,
    /// The octet of DSCP and ECN.
    pub tos: u8,
}

impl Packet {
    /// Writes a packet that leaves a machine. `run` is the number of the run.
    pub fn write(parcel: &Parcel, machine: &Machine, run: u32) -> Packet {
        let packet = &parcel.packet;
        let kind = match (&parcel.bytes, packet.is_answer()) {
            (None, _) => Kind::of(&packet.segment),
            (Some(_), false) => Kind::Ip,
            (Some(_), true) => Kind::IpReply,
        };
        let (flow, route) = (packet.flow, machine.route(packet));
        let header = Header { kind, size: packet.bytes(), flow, run, route };
        let mut datagram = Vec::with_capacity(wire::LONG + usize::from(packet.size));
        if let Some(bytes) = &parcel.bytes {
            wire::wrap(&header, bytes, &mut datagram);
            return Packet { datagram, header, tos: packet.tos_of_whole() };
        }
        wire::encode(&header, &packet.segment, &mut datagram);
        if let Some(delay) = packet.virtual_delay() {
            wire::add_virtual_delay(&mut datagram, delay);
        }
        Packet { datagram, header, tos: wire::tos(kind, 0) | packet.codepoint() }
    }

    /// Reads a packet that arrived at a node of a machine. Returns it with the link from which it
    /// came, or `None` if it cannot be a packet of the scenario.
    pub fn read(
        &self,
        scenario: &Scenario,
        machine: &Machine,
        node: NodeId,
    ) -> Option<(LinkId, Parcel)> {
        let Header { kind, flow, route, size, .. } = self.header;
        let (flow, is_answer) = (flow as usize, kind.is_reply());
        let (link, hop) = machine.place(flow, route, is_answer, node)?;
        if kind.is_ip() != machine.is_other(flow) {
            return None;
        }
        if kind.is_ip() {
            let (_, inner) = wire::unwrap(&self.datagram).ok()?;
            let whole = whole(scenario, flow, self.tos, inner);
            return Some((link, machine.whole((flow, hop), usize::from(is_answer), &whole)));
        }
        let (_, segment) = wire::decode(&self.datagram).ok()?;
        let delay = wire::virtual_delay(&self.datagram).unwrap_or(Duration::ZERO);
        Some((link, machine.segment((flow, hop), segment, size, self.tos, delay)))
    }
}

/// Returns an IP packet of a flow as a machine takes it, with the octet of DSCP and ECN that routers
/// read.
pub fn whole<'b>(scenario: &Scenario, flow: usize, tos: u8, bytes: &'b [u8]) -> Whole<'b> {
    let is_data = scenario.flows[flow].tunnel.is_none() || carries_data(bytes);
    Whole { tos, is_data, bytes }
}
