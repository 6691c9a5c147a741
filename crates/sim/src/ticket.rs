//! What ports hold of packets.

use crate::packet::Packet;
use crate::pool::Handle;
use accord_aqm::{Class, Ecn, PacketMeta};
use accord_port::PortPacket as _;
use accord_transport::Segment;
use accord_units::{Bytes, Duration};

/// What a port that holds packets knows of one. The packet itself keeps its place in the pool.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    pub handle: Handle,
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
    /// Nothing. The packet collects virtual delay.
    None,
    /// Nothing. The packet collects no virtual delay.
    Unread,
    /// All below a number, and no more.
    Plain,
    /// There is a gap.
    Gap,
}

const _: () = assert!(size_of::<Ticket>() <= 24);

impl Ticket {
    /// Creates the ticket of the packet at this place.
    #[inline]
    pub fn new(handle: Handle, packet: &Packet) -> Ticket {
        let meta = packet.meta();
        let (answer, value) = match packet.segment {
            Segment::Ack {
                next, block_len: 0, ..
            } => (Answer::Plain, next),
            Segment::Ack { next, .. } => (Answer::Gap, next),
            _ if packet.collects_virtual_delay() => (Answer::None, 0),
            _ => (Answer::Unread, 0),
        };
        Ticket {
            handle,
            flow: meta.flow,
            size: packet.size,
            class: meta.class,
            ecn: meta.ecn,
            aggregate: meta.aggregate,
            answer,
            value,
        }
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

impl accord_port::PortPacket for Ticket {
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
            && matches!(newer.answer, Answer::Plain | Answer::Gap)
            && self.flow == newer.flow
            && self.value <= newer.value
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Marked;
    }

    #[inline]
    fn collects_virtual_delay(&self) -> bool {
        self.answer == Answer::None
    }

    fn add_virtual_delay(&mut self, delay: Duration) {
        if self.answer == Answer::None {
            self.value += delay.as_ps();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use accord_units::Time;

    fn packet(segment: Segment) -> Packet {
        Packet {
            segment,
            flow: 7,
            hop: 0,
            virtual_s: 0.25,
            size: 1000,
            ecn: Ecn::NotCapable,
            aggregate: 0,
        }
    }

    fn ticket(packet: &Packet) -> Ticket {
        Ticket::new(Pool::new().insert(*packet), packet)
    }

    /// Both add to the virtual delay that they have collected at other ports.
    #[test]
    fn data_and_in_band_packets_collect_virtual_delay() {
        let data = Segment::Data {
            number: 3,
            sent: Time::ZERO,
        };
        let in_band = Segment::InBand {
            pair: 3,
            sent_bytes: 9,
        };
        for segment in [data, in_band] {
            let mut held = packet(segment);
            let mut ticket = ticket(&held);
            assert!(!ticket.is_changed());
            ticket.add_virtual_delay(Duration::from_ms(125));
            ticket.add_virtual_delay(Duration::from_ms(375));
            assert!(ticket.is_changed());
            ticket.settle(&mut held);
            assert_eq!((held.virtual_s, held.segment), (0.75, segment));
        }
    }

    /// Data whose receiver reads none is left as it is.
    #[test]
    fn data_of_streams_collects_no_virtual_delay() {
        let data = Segment::Data {
            number: 3,
            sent: Time::ZERO,
        };
        let unread = Packet {
            virtual_s: crate::packet::UNREAD,
            ..packet(data)
        };
        let mut ticket = ticket(&unread);
        assert!(!ticket.collects_virtual_delay() && !unread.collects_virtual_delay());
        ticket.add_virtual_delay(Duration::from_ms(125));
        assert!(!ticket.is_changed());
    }

    /// An acknowledgement keeps its number, by which a newer one supersedes it.
    #[test]
    fn acknowledgements_collect_none() {
        let ack = |next| {
            let segment = Segment::Ack {
                next,
                block: 0,
                block_len: 0,
                echo: Time::ZERO,
                marked: 0,
            };
            ticket(&packet(segment))
        };
        let mut older = ack(3);
        older.add_virtual_delay(Duration::from_ms(125));
        assert!(!older.is_changed());
        assert!(older.is_superseded_by(&ack(3)));
    }
}
