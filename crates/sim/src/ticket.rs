//! The entries of packets in the queues of ports.

use crate::packet::Packet;
use crate::pool::Handle;
use accord_aqm::{Class, Ecn, PacketMeta};
use accord_port::PortPacket as _;
use accord_transport::Segment;
use accord_units::{Bytes, Duration};

/// The entry of a packet in the queue of a port. The packet itself stays in the pool.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    pub handle: Handle,
    flow: u32,
    size: u16,
    class: Class,
    ecn: Ecn,
    aggregate: u8,
    answer: Answer,
    /// For an acknowledgement, the number below which all data has arrived. For another packet, the
    /// virtual delay that it has collected at this port, in picoseconds.
    value: u64,
}

/// The acknowledgement in a packet, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// No acknowledgement. The packet collects virtual delay.
    None,
    /// No acknowledgement. The packet collects no virtual delay.
    Unread,
    /// A cumulative acknowledgement only.
    Plain,
    /// An acknowledgement with a block beyond a gap.
    Gap,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Ticket>() <= 24);

impl Ticket {
    /// Creates the ticket of a packet.
    #[inline]
    pub fn new(handle: Handle, packet: &Packet) -> Ticket {
        let meta = packet.meta();
        let (answer, value) = match packet.segment {
            Segment::Ack { next, block_len: 0, .. } => (Answer::Plain, next),
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

    /// Returns true if the port may have changed the packet.
    #[inline]
    pub fn is_changed(&self) -> bool {
        self.ecn == Ecn::Marked || self.is_virtual()
    }

    /// Applies the mark and the virtual delay of the port to the packet.
    #[inline]
    pub fn settle(&self, packet: &mut Packet) {
        packet.ecn = self.ecn;
        if self.is_virtual() {
            packet.add_virtual_delay(Duration::from_ps(self.value));
        }
    }

    /// Returns true if the packet has collected virtual delay at this port.
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

    /// An acknowledgement with a gap is never superseded, because it may be the only one to report
    /// its block.
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

    /// Both kinds of packets add to the virtual delay that they have collected at other ports.
    #[test]
    fn data_and_in_band_packets_collect_virtual_delay() {
        let data = Segment::Data { number: 3, sent: Time::ZERO };
        let in_band = Segment::InBand { pair: 3, sent_bytes: 9 };
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

    /// Data whose receiver does not read virtual delay is left unchanged.
    #[test]
    fn data_of_streams_collects_no_virtual_delay() {
        let data = Segment::Data { number: 3, sent: Time::ZERO };
        let unread = Packet { virtual_s: crate::packet::UNREAD, ..packet(data) };
        let mut ticket = ticket(&unread);
        assert!(!ticket.collects_virtual_delay() && !unread.collects_virtual_delay());
        ticket.add_virtual_delay(Duration::from_ms(125));
        assert!(!ticket.is_changed());
    }

    /// An acknowledgement keeps its number, so a newer one supersedes it.
    #[test]
    fn acknowledgements_collect_none() {
        let ack = |next| {
            let segment =
                Segment::Ack { next, block: 0, block_len: 0, echo: Time::ZERO, marked: 0 };
            ticket(&packet(segment))
        };
        let mut older = ack(3);
        older.add_virtual_delay(Duration::from_ms(125));
        assert!(!older.is_changed());
        assert!(older.is_superseded_by(&ack(3)));
    }
}
