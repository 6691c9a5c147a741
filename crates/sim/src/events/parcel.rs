//! Packets at the border of a machine.
//!
//! Links treat a packet of a third-party stack like one of ours of the same kind: data of the
//! source, an answer of the sink, or a control packet of a tunnel.

use crate::packet::{Packet, UNREAD};
use accord_aqm::Ecn;
use accord_transport::Segment;
use accord_transport::wire::{CAPABLE, ECN, EXPEDITED, MARKED, SCALABLE};
use accord_units::Time;

/// A packet at the border of a machine, with its bytes if it is a whole IP packet.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// The packet. Its hop is the next one.
    pub packet: Packet,
    /// The bytes of a packet of a third-party stack.
    pub bytes: Option<Box<[u8]>>,
}

/// An IP packet of a third-party stack.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'a> {
    /// The octet of DSCP and ECN that routers read.
    pub tos: u8,
    /// True if the packet counts as data of its flow, when the source sends it.
    pub is_data: bool,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// Returns the ECN codepoint in an octet of DSCP and ECN.
pub fn codepoint(tos: u8) -> Ecn {
    match tos & ECN {
        0 => Ecn::NotCapable,
        MARKED => Ecn::Marked,
        SCALABLE => Ecn::Scalable,
        _ => Ecn::Capable,
    }
}

impl Packet {
    /// Creates a whole packet sent at `now`. `way` is 0 if the source sends it and 1 if the sink
    /// does.
    pub fn whole(
        flow: usize,
        way: usize,
        hop: u32,
        aggregate: u8,
        whole: &Whole,
        now: Time,
    ) -> Packet {
        let is_control = whole.tos & !ECN == EXPEDITED;
        let segment = match (way, is_control) {
            (0, false) if whole.is_data => Segment::Data { number: 0, sent: now },
            (0, false) => Segment::InBand { pair: 0, sent_bytes: 0 },
            (0, true) => Segment::OutOfBand { pair: 0, sent: now },
            // With a block, later acknowledgements do not supersede it.
            (_, false) => Segment::Ack { next: 0, block: 0, block_len: 1, echo: now, marked: 0 },
            (_, true) => Segment::Count { received: 0, virtual_s: 0.0 },
        };
        Packet {
            segment,
            flow: flow as u32,
            hop,
            virtual_s: UNREAD,
            size: whole.bytes.len() as u16,
            ecn: codepoint(whole.tos),
            aggregate,
        }
    }

    /// Returns the time at which the source sent it, if it is data or a control packet.
    pub fn sent(&self) -> Option<Time> {
        match self.segment {
            Segment::Data { sent, .. } | Segment::OutOfBand { sent, .. } => Some(sent),
            _ => None,
        }
    }

    /// Returns true if a queue, or an earlier one, has marked it.
    pub fn is_marked(&self) -> bool {
        self.ecn == Ecn::Marked
    }

    /// Returns the octet of DSCP and ECN of a whole packet.
    pub fn tos_of_whole(&self) -> u8 {
        let class = match self.segment {
            Segment::OutOfBand { .. } | Segment::Count { .. } => EXPEDITED,
            _ => 0,
        };
        class | self.codepoint()
    }

    /// Returns the ECN codepoint.
    pub fn codepoint(&self) -> u8 {
        match self.ecn {
            Ecn::NotCapable => 0,
            Ecn::Capable => CAPABLE,
            Ecn::Scalable => SCALABLE,
            Ecn::Marked => MARKED,
        }
    }
}
