//! Packets in the simulator: small, and moved by value.

use accord_aqm::{Class, Ecn, PacketMeta};
use accord_scenario::Scenario;
use accord_transport::Segment;
use accord_transport::pcapng::{Capture, Envelope};
use accord_transport::wire::{self, Header, Kind};
use accord_units::{Bytes, Duration, Time};

/// A packet, which takes 48 bytes and no allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// The contents.
    pub segment: Segment,
    /// The flow that the packet belongs to.
    pub flow: u32,
    /// The position of the packet: an index into the engine's list of hops.
    pub hop: u32,
    /// The virtual delay that the packet has collected, in seconds, or `UNREAD`.
    pub virtual_s: f32,
    /// The size on the wire, in bytes.
    pub size: u16,
    /// The ECN codepoint.
    pub ecn: Ecn,
    /// The aggregate: an index into those of the scenario.
    pub aggregate: u8,
}

/// The virtual delay of a packet whose receiver does not read it.
pub const UNREAD: f32 = f32::NAN;

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Packet>() <= 48);

impl Packet {
    /// A place without a packet.
    pub const NONE: Packet = Packet {
        segment: Segment::Data { number: 0, sent: Time::ZERO },
        flow: u32::MAX,
        hop: 0,
        virtual_s: UNREAD,
        size: 0,
        ecn: Ecn::NotCapable,
        aggregate: 0,
    };

    /// Returns the size on the wire.
    #[inline]
    pub fn bytes(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }

    /// Returns the virtual delay that the packet has collected, unless its receiver does not read it.
    pub fn virtual_delay(&self) -> Option<Duration> {
        let collects = !self.virtual_s.is_nan();
        collects.then(|| Duration::from_secs_f64(f64::from(self.virtual_s)))
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
        let header = Header { kind, size: self.bytes(), flow: self.flow, run: 0, route: 0 };
        let envelope = Envelope::new(scenario.ends(flow), kind, tos);
        tap.segment(link, at, envelope, &header, &self.segment);
    }

    /// Returns true if the receiver sent the packet.
    #[inline]
    pub fn is_answer(&self) -> bool {
        matches!(
            self.segment,
            Segment::Ack { .. }
                | Segment::Report { .. }
                | Segment::Count { .. }
                | Segment::Missing { .. }
        )
    }

    /// Returns true if the packet is a control packet of a tunnel.
    pub fn is_control(&self) -> bool {
        !matches!(self.segment, Segment::Data { .. } | Segment::Ack { .. })
    }
}

impl accord_port::PortPacket for Packet {
    #[inline]
    fn meta(&self) -> PacketMeta {
        let class = match self.segment {
            Segment::Data { .. } | Segment::Ack { .. } => Class::Data,
            Segment::InBand { .. } => Class::InBand,
            Segment::OutOfBand { .. }
            | Segment::Report { .. }
            | Segment::Count { .. }
            | Segment::Missing { .. } => Class::OutOfBand,
        };
        PacketMeta {
            size: self.bytes(),
            class,
            ecn: self.ecn,
            aggregate: self.aggregate,
            flow: self.flow << 1 | u32::from(self.is_answer()),
        }
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Marked;
    }

    #[inline]
    fn collects_virtual_delay(&self) -> bool {
        !self.virtual_s.is_nan()
    }

    fn add_virtual_delay(&mut self, delay: Duration) {
        self.virtual_s += delay.as_secs_f64() as f32;
    }
}
