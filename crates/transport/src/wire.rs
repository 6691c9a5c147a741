//! The wire format: how packets of Accord are written into UDP datagrams.
//!
//! Everything is in network byte order, and everything but the virtual delay is as its sender
//! wrote it: a router that builds up virtual delay adds to one field, at a fixed place, with
//! [`add_virtual_delay`], and touches nothing else. Congestion marks and the class of a packet
//! are in the IP header (ECN and DSCP), where any router looks for them. The page "The wire
//! format" of the book has the tables.
//!
//! A packet of another program's making, such as of the kernel's TCP, travels whole, behind the
//! first fields of a header ([`wrap`], [`unwrap`]).

pub use crate::tos::{CAPABLE, ECN, EXPEDITED, MARKED};
use crate::{Segment, ip};
use accord_units::{Bytes, Duration, Time};

/// Version of the format.
pub const VERSION: u8 = 1;
/// Length of the longest header.
pub const LONG: usize = 52;
/// Length of the headers of data and in-band packets.
pub const SHORT: usize = 40;
/// Length of the shortest header, that of whole IP packets: what routers read and write.
pub const LEAST: usize = 20;
/// Longest packet: what the field for its size can say.
pub const MOST: u64 = u16::MAX as u64;
/// Headers of IP and UDP, which count as part of a packet's size.
pub const UDP_HEADERS: usize = 28;

/// What a sender writes into the octet for packets of this kind; that of a whole IP packet
/// follows from its own [`ip::entry`].
pub fn tos(kind: Kind, ecn_capable: bool) -> u8 {
    match kind {
        Kind::OutOfBand | Kind::Report => EXPEDITED,
        Kind::Data if ecn_capable => CAPABLE,
        Kind::Data | Kind::Ack | Kind::InBand | Kind::Ip | Kind::IpReply => 0,
    }
}

/// The place of the virtual delay: 32 bits, in microseconds.
const VIRTUAL_DELAY: usize = 16;

/// The part of a packet that a router reads; all kinds have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its contents.
    pub kind: Kind,
    /// Size of the packet, headers included, as links count it. The datagram is padded to it; one
    /// that is smaller than its header is sent longer than it counts, and so is a whole IP packet,
    /// which counts as if it travelled on its own.
    pub size: Bytes,
    /// Whose it is.
    pub flow: u32,
    /// Tells runs apart that use the same addresses.
    pub run: u32,
    /// The index of its route, among the routes that the flow has had.
    pub route: u16,
}

/// Kinds of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// See [`Segment::Data`].
    Data = 1,
    /// See [`Segment::Ack`].
    Ack = 2,
    /// See [`Segment::OutOfBand`].
    OutOfBand = 3,
    /// See [`Segment::InBand`].
    InBand = 4,
    /// See [`Segment::Report`].
    Report = 5,
    /// A whole IP packet from the flow's source.
    Ip = 6,
    /// A whole IP packet from its sink.
    IpReply = 7,
}

impl Kind {
    /// The kind of a segment.
    pub fn of(segment: &Segment) -> Kind {
        match segment {
            Segment::Data { .. } => Kind::Data,
            Segment::Ack { .. } => Kind::Ack,
            Segment::OutOfBand { .. } => Kind::OutOfBand,
            Segment::InBand { .. } => Kind::InBand,
            Segment::Report { .. } => Kind::Report,
        }
    }

    /// It travels from the receiver to the sender.
    pub fn is_reply(self) -> bool {
        matches!(self, Kind::Ack | Kind::Report | Kind::IpReply)
    }

    /// It is a whole IP packet.
    pub fn is_ip(self) -> bool {
        matches!(self, Kind::Ip | Kind::IpReply)
    }

    /// It carries a flow's data: what else there is answers or controls.
    pub fn is_data(self) -> bool {
        matches!(self, Kind::Data | Kind::Ip)
    }

    fn header(self) -> usize {
        match self {
            Kind::Ip | Kind::IpReply => LEAST,
            Kind::Data | Kind::OutOfBand | Kind::InBand => SHORT,
            Kind::Ack | Kind::Report => LONG,
        }
    }
}

/// Why bytes are no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// There are too few of them.
    Short,
    /// It is another version, or something else altogether.
    Version(u8),
    /// There is no such kind.
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

/// Writes a packet over what `datagram` holds. The header's size says how long it gets; its
/// kind is that of the segment.
pub fn encode(header: &Header, segment: &Segment, datagram: &mut Vec<u8>) {
    let kind = Kind::of(segment);
    let lost = matches!(segment, Segment::Report { lost: true, .. });
    let delay = match segment {
        Segment::InBand { virtual_delay, .. } => micros(*virtual_delay),
        _ => 0,
    };
    begin(header, kind, u16::from(lost), delay, datagram);
    let (small, number, large, more) = match *segment {
        Segment::Data { number, sent } => (0, number, sent.as_ps(), None),
        Segment::OutOfBand { pair, sent } => (0, pair, sent.as_ps(), None),
        Segment::InBand {
            pair, sent_bytes, ..
        } => (0, pair, sent_bytes, None),
        Segment::Ack {
            next,
            block,
            block_len,
            echo,
            marked,
        } => {
            let more = u64::from(block_len) << 32 | u64::from(marked);
            (block, next, echo.as_ps(), Some((more, 0)))
        }
        Segment::Report {
            pair,
            accumulation,
            egress_bps,
            virtual_s,
            received,
            ..
        } => {
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

/// Writes what all kinds begin with.
fn begin(header: &Header, kind: Kind, flags: u16, virtual_delay: u32, datagram: &mut Vec<u8>) {
    let size = header.size.get().min(MOST) as u16;
    datagram.clear();
    datagram.extend([VERSION, kind as u8]);
    datagram.extend(size.to_be_bytes());
    datagram.extend(header.flow.to_be_bytes());
    datagram.extend(header.run.to_be_bytes());
    datagram.extend(header.route.to_be_bytes());
    datagram.extend(flags.to_be_bytes());
    datagram.extend(virtual_delay.to_be_bytes());
    debug_assert_eq!(datagram.len(), LEAST);
}

/// Writes a whole IP packet over what `datagram` holds. The header's kind is one of those for it,
/// and its size is the packet's.
pub fn wrap(header: &Header, packet: &[u8], datagram: &mut Vec<u8>) {
    debug_assert!(header.kind.is_ip() && header.size.get() == packet.len() as u64);
    begin(header, header.kind, 0, 0, datagram);
    datagram.extend(packet);
}

/// Reads a whole IP packet: one of IPv4 that is as long as it says, and as its header says.
pub fn unwrap(datagram: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let header = header(datagram)?;
    if !header.kind.is_ip() {
        return Err(Malformed::Kind(header.kind as u8));
    }
    let packet = datagram.get(LEAST..).ok_or(Malformed::Short)?;
    match ip::Packet::new(packet) {
        Some(_) if header.size.get() == packet.len() as u64 => Ok((header, packet)),
        _ => Err(Malformed::Value),
    }
}

/// Reads what routers need. What is behind the header is not looked at.
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

/// Reads a packet; what a report tells are numbers that a receiver can have measured. Whole IP
/// packets are no segments, and refused.
pub fn decode(datagram: &[u8]) -> Result<(Header, Segment), Malformed> {
    let header = header(datagram)?;
    let small = u32::from_be_bytes(at(datagram, 20)?);
    let number = u64::from_be_bytes(at(datagram, 24)?);
    let large = u64::from_be_bytes(at(datagram, 32)?);
    let segment = match header.kind {
        Kind::Data => Segment::Data {
            number,
            sent: Time::from_ps(large),
        },
        Kind::OutOfBand => Segment::OutOfBand {
            pair: number,
            sent: Time::from_ps(large),
        },
        Kind::InBand => Segment::InBand {
            pair: number,
            sent_bytes: large,
            virtual_delay: virtual_delay(datagram)?,
        },
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
        Kind::Ip | Kind::IpReply => return Err(Malformed::Kind(header.kind as u8)),
    };
    Ok((header, segment))
}

/// The virtual delay that a packet has collected.
pub fn virtual_delay(datagram: &[u8]) -> Result<Duration, Malformed> {
    let micros = u32::from_be_bytes(at(datagram, VIRTUAL_DELAY)?);
    Ok(Duration::from_us(u64::from(micros)))
}

/// Adds to the virtual delay that a packet has collected; what does not fit into the field is
/// cut off. Bytes that are no packet stay as they are.
pub fn add_virtual_delay(datagram: &mut [u8], more: Duration) {
    if let Some(field) = datagram.get_mut(VIRTUAL_DELAY..VIRTUAL_DELAY + 4)
        && let Ok(bytes) = <[u8; 4]>::try_from(&*field)
    {
        let sum = u32::from_be_bytes(bytes).saturating_add(micros(more));
        field.copy_from_slice(&sum.to_be_bytes());
    }
}

/// Microseconds, rounded; at most what the field holds.
fn micros(delay: Duration) -> u32 {
    const PS_PER_US: u64 = 1_000_000;
    let rounded =
        (delay.as_ps() / PS_PER_US).saturating_add((delay.as_ps() % PS_PER_US) / (PS_PER_US / 2));
    u32::try_from(rounded).unwrap_or(u32::MAX)
}

/// A number that can have been measured: finite, and not negative.
fn measured(bits: u32) -> Result<f32, Malformed> {
    let value = f32::from_bits(bits);
    match value.is_finite() && value >= 0.0 {
        true => Ok(value),
        false => Err(Malformed::Value),
    }
}

/// The bytes of a field.
fn at<const N: usize>(datagram: &[u8], offset: usize) -> Result<[u8; N], Malformed> {
    let field = datagram.get(offset..offset + N).ok_or(Malformed::Short)?;
    field.try_into().map_err(|_| Malformed::Short)
}
