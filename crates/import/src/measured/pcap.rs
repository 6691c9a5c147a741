//! Captures of packets: pcap and pcapng, of TCP at either end and of UDP, which carries QUIC.
//!
//! A flow is a direction of a connection that carries data. Amounts are those of whole IP packets. A capture
//! at a sender has packets longer than those on the wire, which the network card cuts (TSO). Their headers
//! count once per segment.

use super::draft::Draft;
use super::{Quantity, Sample};
use crate::error::ImportError;
use core::net::{IpAddr, SocketAddr};
use etherparse::{LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TcpSlice, TransportSlice};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};
use std::collections::{BTreeMap, VecDeque};

/// The capacity of the reader's buffer: more than the longest packet of a capture.
const BUFFER: usize = 1 << 20;
/// The least share of a connection's payload with which the reverse direction counts as a separate
/// flow.
const LEAST_SHARE: f64 = 0.01;
/// The maximum number of segments that wait for their acknowledgement.
const MOST_WAITING: usize = 1 << 20;
/// The maximum number of connections.
const MOST_CONNECTIONS: usize = 10_000;
/// The payload of a segment if the capture has no handshake, and the longest payload that is not a burst.
const USUAL_MSS: u64 = 1460;
const LONGEST: u64 = 9000;
/// Link types without a name in the library: Linux's of all devices, version 2, and BSD's of IP.
const LINUX_SLL2: Linktype = Linktype(276);
const BSD_RAW: Linktype = Linktype(12);
/// The ratio of the ends' times to answer above which the faster end is near.
const NEAR: f64 = 4.0;

/// Returns true for the first bytes of a capture.
pub fn is_capture(bytes: &[u8]) -> bool {
    let magic: Option<[u8; 4]> = bytes.get(..4).and_then(|b| b.try_into().ok());
    magic.is_some_and(|magic| {
        let known = [0xa1b2_c3d4_u32, 0xa1b2_3c4d, 0x0a0d_0d0a];
        known.contains(&u32::from_le_bytes(magic)) || known.contains(&u32::from_be_bytes(magic))
    })
}

/// The address and the port of an end.
type End = (IpAddr, u16);

/// A direction of a connection.
#[derive(Default)]
struct Way {
    /// The interface of the capture on which it was first seen. Other interfaces see the same
    /// packets again.
    interface: Option<u32>,
    /// The payload.
    payload: u64,
    /// The totals in bytes of whole packets, and in packets.
    sent: f64,
    arrived: f64,
    repeated: f64,
    /// The maximum segment size that the other end has announced.
    mss: Option<u64>,
    /// The end of the data sent so far.
    next: Option<u32>,
    /// The data that waits for its acknowledgement: its end, the time of its packet, and its whole bytes. Data
    /// that was sent again has no time.
    waiting: VecDeque<(u32, Option<f64>, f64)>,
    samples: Vec<Sample>,
    /// The first packet of the handshake in this direction.
    opened: Option<f64>,
}

/// A connection.
struct Connection {
    udp: bool,
    ends: [End; 2],
    ways: [Way; 2],
    /// The time from the first packet to the answer of the other end, and to the third packet.
    handshake: [Option<f64>; 2],
    /// The end that sent the first packet of the handshake.
    opener: Option<usize>,
}

/// Reads a capture.
pub fn read(bytes: &[u8], draft: &mut Draft) {
    let mut connections: BTreeMap<(bool, End, End), Connection> = BTreeMap::new();
    let mut others = 0_u64;
    let packets = packets(bytes, draft, |time, interface, link, data| {
        if packet(&mut connections, time, interface, link, data).is_none() {
            others += 1;
        }
    });
    if others > 0 {
        draft.remark(format!(
            "Packets that are neither TCP nor UDP, left out: {others} of {packets}."
        ));
    }
    draft.hint = Some("capture TCP or UDP, for example: tcpdump -i DEVICE -s 128 -w FILE tcp");
    for connection in connections.into_values() {
        finish(connection, draft);
    }
}

/// Calls a function with the time, the interface, the link type and the bytes of each packet. Returns their
/// number.
fn packets(
    bytes: &[u8],
    draft: &mut Draft,
    mut each: impl FnMut(f64, u32, Linktype, &[u8]),
) -> u64 {
    let mut reader = match create_reader(BUFFER, bytes) {
        Ok(reader) => reader,
        Err(e) => {
            draft.damage(|| ImportError::whole(format!("this capture cannot be read: {e}")));
            return 0;
        }
    };
    let mut count = 0;
    // The link type, the units per second, and the offset in seconds of each interface.
    let mut interfaces: Vec<(Linktype, u64, i64)> = Vec::new();
    let mut legacy = (Linktype::ETHERNET, 1e-6);
    loop {
        match reader.next() {
            Ok((offset, block)) => {
                match block {
                    PcapBlockOwned::LegacyHeader(header) => {
                        let fine = header.is_nanosecond_precision();
                        legacy = (header.network, if fine { 1e-9 } else { 1e-6 });
                    }
                    PcapBlockOwned::Legacy(packet) => {
                        count += 1;
                        let time = f64::from(packet.ts_sec) + f64::from(packet.ts_usec) * legacy.1;
                        each(time, 0, legacy.0, packet.data);
                    }
                    PcapBlockOwned::NG(Block::SectionHeader(_)) => interfaces.clear(),
                    PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                        let unit = interface.ts_resolution().unwrap_or(1_000_000);
                        interfaces.push((interface.linktype, unit, interface.if_tsoffset));
                    }
                    PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                        count += 1;
                        if let Some((link, unit, shift)) = interfaces.get(packet.if_id as usize) {
                            let ticks =
                                (u64::from(packet.ts_high) << 32) | u64::from(packet.ts_low);
                            let (whole, rest) = (ticks / unit.max(&1), ticks % unit.max(&1));
                            let time = (whole as i64).saturating_add(*shift) as f64
                                + rest as f64 / *unit as f64;
                            each(time, packet.if_id, *link, packet.data);
                        }
                    }
                    PcapBlockOwned::NG(_) => {}
                }
                reader.consume(offset);
            }
            Err(PcapError::Eof) => return count,
            Err(PcapError::Incomplete(_)) => {
                if reader.refill().is_err() || reader.reader_exhausted() && reader.data().is_empty()
                {
                    return count;
                }
                if reader.reader_exhausted() {
                    // The last block was cut off.
                    draft.damage(|| ImportError::whole("the last packet is cut off"));
                    return count;
                }
            }
            Err(PcapError::UnexpectedEof) => {
                draft.damage(|| ImportError::whole("the last packet is cut off"));
                return count;
            }
            Err(e) => {
                let message =
                    format!("packet {}: {e}", count + 1).chars().take(200).collect::<String>();
                draft.damage(|| ImportError::whole(message));
                return count;
            }
        }
    }
}

/// Takes a packet. Returns `None` if it is neither TCP nor UDP.
fn packet(
    connections: &mut BTreeMap<(bool, End, End), Connection>,
    time: f64,
    interface: u32,
    link: Linktype,
    data: &[u8],
) -> Option<()> {
    // A capture may contain only the first bytes of packets, with the full lengths in their
    // headers.
    let sliced = match link {
        Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(data).ok()?,
        Linktype::LINUX_SLL => LaxSlicedPacket::from_ip(data.get(16..)?).ok()?,
        LINUX_SLL2 => LaxSlicedPacket::from_ip(data.get(20..)?).ok()?,
        // BSD's loopback: four bytes of the family.
        Linktype::NULL | Linktype::LOOP => LaxSlicedPacket::from_ip(data.get(4..)?).ok()?,
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | BSD_RAW => {
            LaxSlicedPacket::from_ip(data).ok()?
        }
        _ => return None,
    };
    let (from, to, headers, whole): (IpAddr, IpAddr, u64, u64) = match sliced.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let (from, to) = (header.source_addr(), header.destination_addr());
            let length = u64::from(header.ihl()) * 4;
            (from.into(), to.into(), length, u64::from(header.total_len()))
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let (from, to) = (header.source_addr(), header.destination_addr());
            (from.into(), to.into(), 40, 40 + u64::from(header.payload_length()))
        }
        _ => return None,
    };
    let (udp, ports) = match sliced.transport.as_ref()? {
        TransportSlice::Tcp(tcp) => (false, [tcp.source_port(), tcp.destination_port()]),
        TransportSlice::Udp(udp) => (true, [udp.source_port(), udp.destination_port()]),
        _ => return None,
    };
    let (from, to) = ((from, ports[0]), (to, ports[1]));
    let key = if from <= to { (udp, from, to) } else { (udp, to, from) };
    if connections.len() >= MOST_CONNECTIONS && !connections.contains_key(&key) {
        return None;
    }
    let connection = connections.entry(key).or_insert_with(|| Connection {
        udp,
        ends: [key.1, key.2],
        ways: [Way::default(), Way::default()],
        handshake: [None, None],
        opener: None,
    });
    let at = usize::from(from != connection.ends[0]);
    if *connection.ways[at].interface.get_or_insert(interface) != interface {
        return Some(());
    }
    match sliced.transport.as_ref()? {
        TransportSlice::Udp(datagram) => {
            let payload = u64::from(datagram.length()).saturating_sub(8);
            let way = &mut connection.ways[at];
            way.payload += payload;
            way.sent += whole as f64;
            way.arrived = way.sent;
            way.sample(time, Quantity::Sent, way.sent);
            way.sample(time, Quantity::Arrived, way.arrived);
        }
        TransportSlice::Tcp(segment) => {
            let headers = headers + u64::from(segment.data_offset()) * 4;
            tcp(connection, at, time, whole.saturating_sub(headers), headers, segment);
        }
        _ => {}
    }
    Some(())
}

/// Takes a TCP segment with a payload and headers of these sizes.
fn tcp(
    connection: &mut Connection,
    at: usize,
    time: f64,
    payload: u64,
    headers: u64,
    segment: &TcpSlice<'_>,
) {
    handshake(connection, at, time, segment);
    let (seq, ack) = (segment.sequence_number(), segment.acknowledgment_number());
    if payload > 0 {
        connection.ways[at].data(time, (seq, payload), headers);
    }
    if segment.ack() {
        connection.ways[1 - at].acknowledged(time, ack);
    }
}

/// Notes the sizes and times that a handshake shows.
fn handshake(connection: &mut Connection, at: usize, time: f64, segment: &TcpSlice<'_>) {
    let other = 1 - at;
    if segment.syn() {
        // The sizes of options in segments of the other direction follow from the options that both
        // ends accept.
        let mss = segment.options_iterator().flatten().find_map(|option| match option {
            TcpOptionElement::MaximumSegmentSize(mss) => Some(u64::from(mss)),
            _ => None,
        });
        connection.ways[other].mss = mss;
        connection.ways[at].opened = Some(time);
        connection.ways[at].next = None;
        connection.ways[at].waiting.clear();
        if segment.ack() {
            connection.handshake = [connection.ways[other].opened.map(|t| time - t), None];
            connection.opener = Some(other);
        }
    } else if segment.ack() && connection.opener == Some(at) && connection.handshake[1].is_none() {
        connection.handshake[1] = connection.ways[other].opened.map(|t| time - t);
    }
}

impl Way {
    fn sample(&mut self, time: f64, quantity: Quantity, value: f64) {
        self.samples.push(Sample { time, quantity, value });
    }

    /// Takes data that begins at a TCP sequence number.
    fn data(&mut self, time: f64, (seq, payload): (u32, u64), headers: u64) {
        if self.samples.is_empty() {
            for quantity in [Quantity::Sent, Quantity::Arrived, Quantity::Retransmitted] {
                self.sample(time, quantity, 0.0);
            }
        }
        // The maximum segment size excludes options [RFC 6691].
        let options = headers.saturating_sub(40).min(40);
        let mss = self.mss.map_or(USUAL_MSS, |mss| mss.saturating_sub(options)).max(1);
        // Without a handshake, only a burst is certain to be cut.
        let cut = self.mss.is_some() || payload > LONGEST;
        let segments = if cut { payload.div_ceil(mss) } else { 1 };
        let whole = (payload + segments * headers) as f64;
        let end = seq.wrapping_add(payload as u32);
        self.payload += payload;
        self.sent += whole;
        self.sample(time, Quantity::Sent, self.sent);
        let is_new = self.next.is_none_or(|next| end.wrapping_sub(next).cast_signed() > 0);
        if is_new {
            self.next = Some(end);
            if self.waiting.len() == MOST_WAITING {
                self.waiting.pop_front();
            }
            self.waiting.push_back((end, Some(time), whole));
        } else {
            self.repeated += segments as f64;
            self.sample(time, Quantity::Retransmitted, self.repeated);
            // It is unknown which of the two is acknowledged [Karn's algorithm].
            let within = |e: u32| {
                e.wrapping_sub(seq).cast_signed() > 0 && end.wrapping_sub(e).cast_signed() >= 0
            };
            for waits in self.waiting.iter_mut().filter(|w| within(w.0)) {
                waits.1 = None;
            }
        }
    }

    /// Takes in an acknowledgement.
    fn acknowledged(&mut self, time: f64, ack: u32) {
        let (mut sent, mut again) = (None, false);
        let before = self.arrived;
        while let Some(&(end, at, whole)) = self.waiting.front()
            && ack.wrapping_sub(end).cast_signed() >= 0
        {
            self.waiting.pop_front();
            self.arrived += whole;
            again |= at.is_none();
            sent = at;
        }
        if self.arrived > before {
            self.sample(time, Quantity::Arrived, self.arrived);
        }
        // Data that waited for a repair does not measure the path.
        if let Some(sent) = sent.filter(|sent| !again && *sent <= time) {
            self.sample(time, Quantity::Rtt, time - sent);
        }
    }
}

/// Adds the flows of a connection.
fn finish(connection: Connection, draft: &mut Draft) {
    let Connection { udp, ends, ways, handshake, opener } = connection;
    let all: u64 = ways.iter().map(|way| way.payload).sum();
    for (at, mut way) in ways.into_iter().enumerate() {
        if way.payload == 0 || (way.payload as f64) < LEAST_SHARE * all as f64 {
            continue;
        }
        let [from, to] = [ends[at], ends[1 - at]].map(|(ip, port)| SocketAddr::new(ip, port));
        let name = format!("{from} > {to}{}", if udp { " (UDP)" } else { "" });
        // The times to the end that answered, and to the one that began.
        if let ([Some(answerer), Some(beginner)], Some(opener)) = (handshake, opener) {
            let (receiver, sender) =
                if opener == at { (answerer, beginner) } else { (beginner, answerer) };
            if receiver * NEAR < sender {
                way.samples.retain(|sample| sample.quantity != Quantity::Rtt);
                draft.remark(
                    "A capture at the receiver's end does not show round-trip times: rtt is left out.",
                );
            }
        }
        let flow = draft.new_flow(&name);
        draft.measured.flows[flow].samples = way.samples;
    }
}
