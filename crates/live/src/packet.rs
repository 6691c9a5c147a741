//! A packet on its way, in its form on the wire.

use accord_aqm::{Class, Ecn, PacketMeta};
use accord_transport::Segment;
use accord_transport::wire::{self, ECN, EXPEDITED, Header, Kind, MARKED, SCALABLE};
use accord_units::{Bytes, Duration};
use std::net::Ipv4Addr;

/// Returns the addresses of a flow's source and sink inside of IP packets that others send. They are
/// of the network for benchmarks [RFC 2544].
pub fn addresses(flow: usize) -> (Ipv4Addr, Ipv4Addr) {
    let first = u32::from(Ipv4Addr::new(198, 18, 0, 0)) + 2 * flow as u32;
    (Ipv4Addr::from(first), Ipv4Addr::from(first + 1))
}

/// A packet with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The datagram.
    pub datagram: Vec<u8>,
    /// The header.
    pub header: Header,
    /// The octet of DSCP and ECN.
    pub tos: u8,
    /// The index of its flow's aggregate, by which a router may distinguish kinds of traffic.
    pub aggregate: u8,
}

impl Packet {
    /// Returns whether the packet belongs to a tunnel's control.
    pub fn is_control(&self) -> bool {
        matches!(self.header.kind, Kind::OutOfBand | Kind::InBand | Kind::Report | Kind::Count)
    }

    /// Returns whether the packet acknowledges data. Of the kernel's and of QUIC stacks', all that
    /// the sink sends count.
    pub fn is_ack(&self) -> bool {
        matches!(self.header.kind, Kind::Ack | Kind::IpReply)
    }

    /// Returns whether a router on the way has marked the packet.
    pub fn is_marked(&self) -> bool {
        self.tos & ECN == MARKED
    }
}

impl accord_port::PortPacket for Packet {
    /// The class follows from the IP header. Only the packet's own header says whether it collects
    /// virtual delay.
    fn meta(&self) -> PacketMeta {
        let class = match self.header.kind {
            _ if self.tos & !ECN == EXPEDITED => Class::OutOfBand,
            Kind::InBand => Class::InBand,
            _ => Class::Data,
        };
        let ecn = match self.tos & ECN {
            0 => Ecn::NotCapable,
            MARKED => Ecn::Marked,
            SCALABLE => Ecn::Scalable,
            _ => Ecn::Capable,
        };
        PacketMeta {
            size: self.header.size.max(Bytes::new(1)),
            class,
            ecn,
            aggregate: self.aggregate,
            flow: self.header.flow << 1 | u32::from(self.header.kind.is_reply()),
        }
    }

    /// Acknowledgements of other stacks are never superseded, because they are not parsed.
    fn is_superseded_by(&self, newer: &Packet) -> bool {
        if self.header.kind != Kind::Ack || newer.header.kind != Kind::Ack {
            return false;
        }
        let of_one_flow = self.header.flow == newer.header.flow;
        match (wire::decode(&self.datagram), wire::decode(&newer.datagram)) {
            (
                Ok((_, Segment::Ack { next, block_len, .. })),
                Ok((_, Segment::Ack { next: later, .. })),
            ) => of_one_flow && block_len == 0 && next <= later,
            _ => false,
        }
    }

    fn mark(&mut self) {
        self.tos |= MARKED;
    }

    fn add_virtual_delay(&mut self, delay: Duration) {
        wire::add_virtual_delay(&mut self.datagram, delay);
    }
}
