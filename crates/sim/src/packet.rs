//! Packets in the simulator: small, and moved by value.

use crate::pool::Place;
use accord_aqm::{Class, Ecn, PacketMeta};
use accord_scenario::Scenario;
use accord_transport::Segment;
use accord_transport::pcapng::{Capture, Envelope};
use accord_transport::wire::{self, Header, Kind};
use accord_units::{Bytes, Duration, Time};

/// A packet: 48 bytes, no allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// The contents.
    pub segment: Segment,
    /// The flow that the packet belongs to.
    pub flow: u32,
    /// The place of the packet: an index into the engine's list of hops.
    pub hop: u32,
    /// The size on the wire, in bytes.
    pub size: u16,
    /// The ECN codepoint.
    pub ecn: Ecn,
    /// The aggregate: an index into the scenario's.
    pub aggregate: u8,
}

const _: () = assert!(size_of::<Packet>() <= 48);

impl Packet {
    /// Returns the size on the wire.
    #[inline]
    pub fn bytes(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }

    /// Writes the packet to a capture as it leaves the port of `link`.
    #[cold]
    pub fn capture(&self, tap: &mut Capture, scenario: &Scenario, link: usize, at: Time) {
        let kind = Kind::of(&self.segment);
        let flow = self.flow as usize;
        let codepoint = match self.ecn {
            Ecn::NotCapable => 0,
            Ecn::Capable => wire::CAPABLE,
            Ecn::Scalable => wire::SCALABLE,
            Ecn::Marked => wire::MARKED,
        };
        let tos = wire::tos(kind, codepoint);
        let header = Header {
            kind,
            size: self.bytes(),
            flow: self.flow,
            run: 0,
            route: 0,
        };
        let envelope = Envelope::new(scenario.ends(flow), kind, tos);
        tap.segment(link, at, envelope, &header, &self.segment);
    }

    /// Returns whether the packet belongs to the control of a tunnel.
    pub fn is_control(&self) -> bool {
        !matches!(self.segment, Segment::Data { .. } | Segment::Ack { .. })
    }
}

impl accord_port::Packet for Packet {
    #[inline]
    fn meta(&self) -> PacketMeta {
        let class = match self.segment {
            Segment::Data { .. } | Segment::Ack { .. } => Class::Data,
            Segment::InBand { .. } => Class::InBand,
            Segment::OutOfBand { .. } | Segment::Report { .. } => Class::OutOfBand,
        };
        // These packets are sent by a receiver.
        let back = matches!(self.segment, Segment::Ack { .. } | Segment::Report { .. });
        PacketMeta {
            size: self.bytes(),
            class,
            ecn: self.ecn,
            aggregate: self.aggregate,
            flow: self.flow << 1 | u32::from(back),
        }
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Marked;
    }

    fn add_virtual_delay(&mut self, delay: Duration) {
        if let Segment::InBand { virtual_delay, .. } = &mut self.segment {
            *virtual_delay += delay;
        }
    }
}

/// What a port that holds packets knows of one. The packet itself keeps its place in the pool.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    pub place: Place,
    flow: u32,
    size: u16,
    class: Class,
    ecn: Ecn,
    aggregate: u8,
    answer: Answer,
    /// Of an acknowledgement, the number below which all has arrived. Of an in-band control packet, the
    /// picoseconds of virtual delay that it has collected here.
    value: u64,
}

/// What a packet says of what has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Nothing.
    None,
    /// All below a number, and no more.
    Plain,
    /// There is a gap.
    Gap,
}

const _: () = assert!(size_of::<Ticket>() <= 24);

impl Ticket {
    /// Creates the ticket of the packet at this place.
    #[inline]
    pub fn new(place: Place, packet: &Packet) -> Ticket {
        use accord_port::Packet as _;
        let meta = packet.meta();
        let (answer, value) = match packet.segment {
            Segment::Ack {
                next, block_len: 0, ..
            } => (Answer::Plain, next),
            Segment::Ack { next, .. } => (Answer::Gap, next),
            _ => (Answer::None, 0),
        };
        Ticket {
            place,
            flow: meta.flow,
            size: packet.size,
            class: meta.class,
            ecn: meta.ecn,
            aggregate: meta.aggregate,
            answer,
            value,
        }
    }

    /// Writes to the packet what the port did to it.
    #[inline]
    pub fn settle(&self, packet: &mut Packet) {
        packet.ecn = self.ecn;
        if let Segment::InBand { virtual_delay, .. } = &mut packet.segment {
            *virtual_delay += Duration::from_ps(self.value);
        }
    }
}

impl accord_port::Packet for Ticket {
    #[inline]
    fn meta(&self) -> PacketMeta {
        PacketMeta {
            size: Bytes::new(u64::from(self.size)),
            class: self.class,
            ecn: self.ecn,
            aggregate: self.aggregate,
            flow: self.flow,
        }
    }

    /// An acknowledgement that tells of a gap is never superseded: its block may be known to no
    /// other.
    fn is_superseded_by(&self, newer: &Ticket) -> bool {
        self.answer == Answer::Plain
            && newer.answer != Answer::None
            && self.flow == newer.flow
            && self.value <= newer.value
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Marked;
    }

    fn add_virtual_delay(&mut self, delay: Duration) {
        self.value += delay.as_ps();
    }
}
