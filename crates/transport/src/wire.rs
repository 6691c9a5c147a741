//! The wire format: the encoding of Accord's packets in UDP datagrams.
//!
//! All fields are in network byte order. All but the virtual delay stay as the sender wrote them. A
//! router that adds virtual delay changes only this one field at a fixed place, with
//! [`add_virtual_delay`]. Congestion marks and the class of a packet are in the IP header (ECN and
//! DSCP), where any router looks for them. The page "The wire format" of the book has the tables.
//!
//! A packet of another program, such as the kernel's TCP, is carried whole, behind the first fields
//! of a header ([`wrap`], [`unwrap`]).

pub use crate::ip::UDP_HEADERS;
pub use crate::tos::{CAPABLE, ECN, EXPEDITED, MARKED, SCALABLE};
use crate::{Segment, ip};
use accord_units::{Bytes, Duration, Time};

/// The version of the format.
pub const VERSION: u8 = 1;
/// The length of the longest header, in bytes.
pub const LONG: usize = 52;
/// The length of the headers of data, counts and control pairs, in bytes.
pub const SHORT: usize = 40;
/// The length of the shortest header, in bytes: that of whole IP packets, which routers read and
/// write.
pub const LEAST: usize = 20;
/// The size of the longest packet, in bytes: the largest value of its field.
pub const MOST: u64 = u16::MAX as u64;

/// Returns the octet of the IP header for packets of this kind. For a whole IP packet,
/// [`ip::entry`] derives it from the packet's own octet. `ecn` is the codepoint of the flow's data.
pub fn tos(kind: Kind, ecn: u8) -> u8 {
    match kind {
        Kind::OutOfBand | Kind::Report | Kind::Count | Kind::Missing => EXPEDITED,
        Kind::Data => ecn,
        Kind::Ack | Kind::InBand | Kind::Ip | Kind::IpReply => 0,
    }
}

/// The offset of the virtual delay, which has 32 bits and is in microseconds.
const VIRTUAL_DELAY: usize = 16;

/// The part of a packet that a router reads. All packets have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of the contents.
    pub kind: Kind,
    /// The size of the packet in bytes, including headers, as links count it. The datagram is
    /// padded to this size. A packet smaller than its header is longer on the wire than it counts.
    /// So is a whole IP packet, which counts as if it travelled on its own.
    pub size: Bytes,
    /// The flow that the packet belongs to.
    pub flow: u32,
    /// The number of the run. It distinguishes runs that use the same addresses.
    pub run: u32,
    /// The index of the route among the routes that the flow has had.
    pub route: u16,
}

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A data packet: [`Segment::Data`].
    Data = 1,
    /// An acknowledgement: [`Segment::Ack`].
    Ack = 2,
    /// The out-of-band half of a control pair: [`Segment::OutOfBand`].
    OutOfBand = 3,
    /// The in-band half of a control pair: [`Segment::InBand`].
    InBand = 4,
    /// A report: [`Segment::Report`].
    Report = 5,
    /// A whole IP packet from the flow's source.
    Ip = 6,
    /// A whole IP packet from the flow's sink.
    IpReply = 7,
    /// A count: [`Segment::Count`].
    Count = 8,
    /// A list of missing datagrams: [`Segment::Missing`].
    Missing = 9,
}

impl Kind {
    /// Returns the kind of a segment.
    pub fn of(segment: &Segment) -> Kind {
        match segment {
            Segment::Data { .. } => Kind::Data,
            Segment::Ack { .. } => Kind::Ack,
            Segment::OutOfBand { .. } => Kind::OutOfBand,
            Segment::InBand { .. } => Kind::InBand,
            Segment::Report { .. } => Kind::Report,
            Segment::Count { .. } => Kind::Count,
            Segment::Missing { .. } => Kind::Missing,
        }
    }

    /// Returns true if packets of this kind travel from the receiver to the sender.
    pub fn is_reply(self) -> bool {
        matches!(self, Kind::Ack | Kind::Report | Kind::Count | Kind::Missing | Kind::IpReply)
    }

    /// Returns true if packets of this kind are whole IP packets.
    pub fn is_ip(self) -> bool {
        matches!(self, Kind::Ip | Kind::IpReply)
    }

    /// Returns true if packets of this kind carry a flow's data. The others are answers or control
    /// packets.
    pub fn is_data(self) -> bool {
        matches!(self, Kind::Data | Kind::Ip)
    }

    fn header(self) -> usize {
        match self {
            Kind::Ip | Kind::IpReply => LEAST,
            Kind::Data | Kind::OutOfBand | Kind::InBand | Kind::Count | Kind::Missing => SHORT,
            Kind::Ack | Kind::Report => LONG,
        }
    }
}

/// The reason why bytes are not a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// There are too few bytes.
    Short,
    /// The version differs, or the bytes are not a packet of Accord.
    Version(u8),
    /// The kind is unknown.
    Kind(u8),
    /// A field has a value that no sender writes.
    Value,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Malformed::Short => f.write_str("too short"),
            Malformed::Version(v) => write!(f, "version {v}, not {VERSION}"),
            Malformed::Kind(k) => write!(f, "there is no kind {k}"),
            Malformed::Value => f.write_str("a value that no sender writes"),
        }
    }
}

impl std::error::Error for Malformed {}

/// Writes a packet in place of the content of `datagram`. The header's size gives the length of the
/// datagram. The kind is that of the segment.
pub fn encode(header: &Header, segment: &Segment, datagram: &mut Vec<u8>) {
    let kind = Kind::of(segment);
    let lost = matches!(segment, Segment::Report { lost: true, .. });
    begin(header, kind, u16::from(lost), datagram);
    let (small, number, large, more) = match *segment {
        Segment::Data { number, sent } => (0, number, sent.as_ps(), None),
        Segment::OutOfBand { pair, sent } => (0, pair, sent.as_ps(), None),
        Segment::InBand { pair, sent_bytes } => (0, pair, sent_bytes, None),
        Segment::Count { received, virtual_s } => (virtual_s.to_bits(), 0, received, None),
        Segment::Missing { first, behind } => (0, first, behind, None),
        Segment::Ack { next, block, block_len, echo, marked } => {
            let more = u64::from(block_len) << 32 | u64::from(marked);
            (block, next, echo.as_ps(), Some((more, 0)))
        }
        Segment::Report { pair, accumulation, egress_bps, virtual_s, received, .. } => {
            let more = u64::from(egress_bps.to_bits()) << 32 | u64::from(virtual_s.to_bits());
            let more = Some((more, 0));
            (accumulation.to_bits(), pair, received, more)
        }
    };
    datagram.extend(small.to_be_bytes());
    datagram.extend(number.to_be_bytes());
    datagram.extend(large.to_be_bytes());
    if let Some((more, rest)) = more {
        datagram.extend(u64::to_be_bytes(more));
        datagram.extend(u32::to_be_bytes(rest));
    }
    debug_assert_eq!(datagram.len(), kind.header());
    let padded = (header.size.get().min(MOST) as usize).saturating_sub(UDP_HEADERS);
    datagram.resize(padded.max(datagram.len()), 0);
}

/// Writes the fields that all kinds begin with.
fn begin(header: &Header, kind: Kind, flags: u16, datagram: &mut Vec<u8>) {
    let size = header.size.get().min(MOST) as u16;
    datagram.clear();
    datagram.extend([VERSION, kind as u8]);
    datagram.extend(size.to_be_bytes());
    datagram.extend(header.flow.to_be_bytes());
    datagram.extend(header.run.to_be_bytes());
    datagram.extend(header.route.to_be_bytes());
    datagram.extend(flags.to_be_bytes());
    datagram.extend(0_u32.to_be_bytes());
    debug_assert_eq!(datagram.len(), LEAST);
}

/// Writes a whole IP packet in place of the content of `datagram`. The header has one of the kinds
/// for whole IP packets, and the packet's size.
pub fn wrap(header: &Header, packet: &[u8], datagram: &mut Vec<u8>) {
    debug_assert!(header.kind.is_ip() && header.size.get() == packet.len() as u64);
    begin(header, header.kind, 0, datagram);
    datagram.extend(packet);
}

/// Reads a whole IP packet. It must be an IPv4 packet with the length that its own header and the
/// header before it state.
pub fn unwrap(datagram: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let header = header(datagram)?;
    if !header.kind.is_ip() {
        return Err(Malformed::Kind(header.kind as u8));
    }
    let packet = datagram.get(LEAST..).ok_or(Malformed::Short)?;
    match ip::Packet::new(packet).filter(|p| p.source.is_ipv4()) {
        Some(_) if header.size.get() == packet.len() as u64 => Ok((header, packet)),
        _ => Err(Malformed::Value),
    }
}

/// Reads the fields that routers need. The bytes behind the header are not checked.
pub fn header(datagram: &[u8]) -> Result<Header, Malformed> {
    let version = *datagram.first().ok_or(Malformed::Short)?;
    if version != VERSION {
        return Err(Malformed::Version(version));
    }
    let kind = match *datagram.get(1).ok_or(Malformed::Short)? {
        1 => Kind::Data,
        2 => Kind::Ack,
        3 => Kind::OutOfBand,
        4 => Kind::InBand,
        5 => Kind::Report,
        6 => Kind::Ip,
        7 => Kind::IpReply,
        8 => Kind::Count,
        9 => Kind::Missing,
        other => return Err(Malformed::Kind(other)),
    };
    if datagram.len() < kind.header() {
        return Err(Malformed::Short);
    }
    let size = u16::from_be_bytes(at(datagram, 2)?);
    if size == 0 {
        return Err(Malformed::Value);
    }
    Ok(Header {
        kind,
        size: Bytes::new(u64::from(size)),
        flow: u32::from_be_bytes(at(datagram, 4)?),
        run: u32::from_be_bytes(at(datagram, 8)?),
        route: u16::from_be_bytes(at(datagram, 12)?),
    })
}

/// Reads a packet. The numbers in a report must be ones that a receiver can measure. Whole IP
/// packets are not segments, and are rejected.
pub fn decode(datagram: &[u8]) -> Result<(Header, Segment), Malformed> {
    let header = header(datagram)?;
    let small = u32::from_be_bytes(at(datagram, 20)?);
    let number = u64::from_be_bytes(at(datagram, 24)?);
    let large = u64::from_be_bytes(at(datagram, 32)?);
    let segment = match header.kind {
        Kind::Data => Segment::Data { number, sent: Time::from_ps(large) },
        Kind::OutOfBand => Segment::OutOfBand { pair: number, sent: Time::from_ps(large) },
        Kind::InBand => Segment::InBand { pair: number, sent_bytes: large },
        Kind::Ack => Segment::Ack {
            next: number,
            block: small,
            block_len: u32::from_be_bytes(at(datagram, 40)?),
            echo: Time::from_ps(large),
            marked: u32::from_be_bytes(at(datagram, 44)?),
        },
        Kind::Report => Segment::Report {
            pair: number,
            accumulation: measured(small)?,
            lost: match u16::from_be_bytes(at(datagram, 14)?) {
                0 => false,
                1 => true,
                _ => return Err(Malformed::Value),
            },
            egress_bps: measured(u32::from_be_bytes(at(datagram, 40)?))?,
            virtual_s: measured(u32::from_be_bytes(at(datagram, 44)?))?,
            received: large,
        },
        Kind::Count => Segment::Count { received: large, virtual_s: measured(small)? },
        Kind::Missing => Segment::Missing { first: number, behind: large },
        Kind::Ip | Kind::IpReply => return Err(Malformed::Kind(header.kind as u8)),
    };
    Ok((header, segment))
}

/// Returns the virtual delay that a packet has collected. It is zero when the packet is encoded.
pub fn virtual_delay(datagram: &[u8]) -> Result<Duration, Malformed> {
    let micros = u32::from_be_bytes(at(datagram, VIRTUAL_DELAY)?);
    Ok(Duration::from_us(u64::from(micros)))
}

/// Adds to the virtual delay that a packet has collected, up to the largest value of the field.
/// Bytes that are not a packet are not changed.
pub fn add_virtual_delay(datagram: &mut [u8], more: Duration) {
    if let Some(field) = datagram.get_mut(VIRTUAL_DELAY..VIRTUAL_DELAY + 4)
        && let Ok(bytes) = <[u8; 4]>::try_from(&*field)
    {
        let sum = u32::from_be_bytes(bytes).saturating_add(micros(more));
        field.copy_from_slice(&sum.to_be_bytes());
    }
}

/// Returns the delay in microseconds, rounded, and at most the largest value of the field.
fn micros(delay: Duration) -> u32 {
    const PS_PER_US: u64 = 1_000_000;
    let rounded =
        (delay.as_ps() / PS_PER_US).saturating_add((delay.as_ps() % PS_PER_US) / (PS_PER_US / 2));
    u32::try_from(rounded).unwrap_or(u32::MAX)
}

/// Reads a number that may be a measurement: finite and not negative.
fn measured(bits: u32) -> Result<f32, Malformed> {
    let value = f32::from_bits(bits);
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(Malformed::Value) }
}

/// Returns the bytes of a field.
fn at<const N: usize>(datagram: &[u8], offset: usize) -> Result<[u8; N], Malformed> {
    let field = datagram.get(offset..offset + N).ok_or(Malformed::Short)?;
    field.try_into().map_err(|_| Malformed::Short)
}
