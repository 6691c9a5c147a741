//! What ports hold of packets.

use crate::packet::Packet;
use crate::pool::Place;
use accord_aqm::{Class, Ecn, PacketMeta};
use accord_port::Packet as _;
use accord_transport::Segment;
use accord_units::{Bytes, Duration};

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
    /// Of an acknowledgement, the number below which all has arrived. Of another packet, the
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

    /// Returns the packet's flow, of either direction.
    #[inline]
    pub fn flow(&self) -> u32 {
        self.flow >> 1
    }

    /// Returns whether the port may have done something to the packet.
    #[inline]
    pub fn is_changed(&self) -> bool {
        self.ecn == Ecn::Marked || self.is_virtual()
    }

    /// Writes to the packet what the port did to it.
    #[inline]
    pub fn settle(&self, packet: &mut Packet) {
        packet.ecn = self.ecn;
        if self.is_virtual() {
            packet.add_virtual_delay(Duration::from_ps(self.value));
        }
    }

    /// Returns whether the packet has collected virtual delay here.
    #[inline]
    fn is_virtual(&self) -> bool {
        self.answer == Answer::None && self.value > 0
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
        if self.answer == Answer::None {
            self.value += delay.as_ps();
        }
    }
}
