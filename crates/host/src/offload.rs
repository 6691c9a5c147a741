//! Packets to and from a device with offloads: several packets of a flow joined into one.
//!
//! The kernel passes on TCP and UDP data of its hosts before segmentation, and accepts it joined. A header in
//! front describes the cuts (`struct virtio_net_hdr`). [`Splitter`] cuts reads with tun-rs. [`Coalescer`]
//! joins writes, but only if cutting gives the same packets again: the length, the place in the flow and the
//! checksum are correct, and all other fields are equal. The one exception is the identification of IPv4
//! packets that must not be fragmented, which has no meaning [RFC 6864 §4.1].

use nix::errno::Errno;
use std::io::{Error, ErrorKind, Result};
use tun_rs::{
    VIRTIO_NET_HDR_GSO_TCPV4, VIRTIO_NET_HDR_GSO_TCPV6, VIRTIO_NET_HDR_GSO_UDP_L4,
    VIRTIO_NET_HDR_LEN, VirtioNetHdr, checksum, gso_split,
};

/// The length of the header in front of a packet.
pub const HEADER: usize = VIRTIO_NET_HDR_LEN;
/// The longest packet of a device, with the header.
pub const LONGEST: usize = HEADER + (1 << 16);
/// The longest joined packet. This is the limit of IPv4.
const MOST_BYTES: usize = 65_535;
/// The number of joined packets that are searched for the flow of another packet.
const MOST_RUNS: usize = 64;
/// The flag of the header: the checksum is that of the pseudo header only.
const PARTIAL_CHECKSUM: u8 = 1;
/// The flag in the header's kind for packets with a congestion notification of TCP.
const KIND_ECN: u8 = 0x80;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ACK: u8 = 0x10;
const PSH: u8 = 0x08;

/// Cuts reads of a device into packets.
#[derive(Default)]
pub struct Splitter {
    pieces: Vec<Vec<u8>>,
    sizes: Vec<usize>,
}

impl Splitter {
    /// Passes the packets in `input`, which begins with the header, to `take`.
    ///
    /// # Errors
    /// Fails if the header and the packet do not belong together, which the kernel never does.
    pub fn split(&mut self, input: &mut [u8], take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut header = VirtioNetHdr::decode(input)?;
        let packet = &mut input[HEADER..];
        let start = usize::from(header.csum_start);
        if header.gso_type == 0 {
            if header.flags & PARTIAL_CHECKSUM != 0 {
                let at = start + usize::from(header.csum_offset);
                if at + 2 > packet.len() {
                    return Err(wrong());
                }
                // The sum of the pseudo header is already in place.
                let sum = !checksum(&packet[start..], 0);
                // In UDP, 0 means that there is no checksum.
                let none = header.csum_offset == 6 && sum == 0;
                packet[at..at + 2].copy_from_slice(&if none { 0xffff } else { sum }.to_be_bytes());
            }
            take(packet);
            return Ok(());
        }
        // The length given by the kernel may be that of the first packet.
        let transport = match header.gso_type & !KIND_ECN {
            VIRTIO_NET_HDR_GSO_UDP_L4 => 8,
            _ => usize::from(packet.get(start + 12).ok_or_else(wrong)? >> 4) * 4,
        };
        let headers = start + transport;
        let segment = usize::from(header.gso_size);
        if headers > packet.len() || segment == 0 {
            return Err(wrong());
        }
        header.hdr_len = headers as u16;
        let count = (packet.len() - headers).div_ceil(segment);
        if self.pieces.len() < count {
            self.pieces.resize(count, Vec::new());
            self.sizes.resize(count, 0);
        }
        let longest = headers + segment.min(packet.len() - headers);
        for piece in self.pieces[..count].iter_mut().filter(|p| p.len() < longest) {
            piece.resize(longest, 0);
        }
        let is_v6 = packet[0] >> 4 == 6;
        let (pieces, sizes) = (&mut self.pieces[..count], &mut self.sizes[..count]);
        let count = gso_split(packet, header, pieces, sizes, 0, is_v6)?;
        for (piece, size) in pieces.iter().zip(sizes).take(count) {
            take(&piece[..*size]);
        }
        Ok(())
    }
}

fn wrong() -> Error {
    Error::new(ErrorKind::InvalidData, "a packet that is not as its header")
}

/// The offsets of the parts of a TCP or UDP packet without IP options and fragmentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    protocol: u8,
    /// The lengths of the header of IP and of both headers.
    ip: usize,
    headers: usize,
}

impl Shape {
    /// Returns the shape of a packet that is exactly as long as it states, if it has one.
    fn of(packet: &[u8]) -> Option<Shape> {
        let two = |at: usize| {
            Some(usize::from(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?])))
        };
        let (protocol, ip) = match packet.first()? {
            0x45 if two(2)? == packet.len() && two(6)? & 0x3fff == 0 => (*packet.get(9)?, 20),
            byte if byte >> 4 == 6 && two(4)? + 40 == packet.len() => (*packet.get(6)?, 40),
            _ => return None,
        };
        let headers = match protocol {
            TCP => ip + usize::from(packet.get(ip + 12)? >> 4) * 4,
            UDP if two(ip + 4)? + ip == packet.len() => ip + 8,
            _ => return None,
        };
        let least = if protocol == TCP { ip + 20 } else { ip + 8 };
        (headers >= least && headers <= packet.len()).then_some(Shape { protocol, ip, headers })
    }

    /// The offset of the checksum of the contents.
    fn checksum_at(self) -> usize {
        self.ip + if self.protocol == TCP { 16 } else { 6 }
    }

    /// The sum over the pseudo header for contents of `length` bytes.
    fn pseudo(self, packet: &[u8], length: usize) -> u64 {
        let sum = addresses(packet).as_chunks().0.iter().map(|w| u64::from(u16::from_be_bytes(*w)));
        sum.sum::<u64>() + u64::from(self.protocol) + length as u64
    }

    fn is_sound(self, packet: &[u8]) -> bool {
        let at = self.checksum_at();
        // UDP may do without.
        let has = self.protocol == TCP || packet[at..at + 2] != [0, 0];
        let contents = &packet[self.ip..];
        has && checksum(contents, self.pseudo(packet, contents.len())) == 0xffff
    }

    /// Returns whether two packets of this version and protocol belong to the same flow.
    fn same_flow(self, one: &[u8], other: &[u8]) -> bool {
        let ports = self.ip..self.ip + 4;
        one[ports.clone()] == other[ports] && addresses(one) == addresses(other)
    }

    /// Returns whether the headers of the first packet of a run and of a later one are equal, except for the
    /// fields that differ between segments.
    fn alike(self, first: &[u8], next: &[u8], count: u16) -> bool {
        let equal = |range: std::ops::Range<usize>| first[range.clone()] == next[range];
        let ip = match self.ip {
            20 => {
                let number = |p: &[u8]| u16::from_be_bytes([p[4], p[5]]);
                let unbroken = first[6] & 0x40 != 0;
                equal(0..2)
                    && equal(6..10)
                    && (unbroken || number(next) == number(first).wrapping_add(count))
            }
            _ => equal(0..4) && equal(6..8),
        };
        let t = self.ip;
        let transport = self.protocol == UDP
            || equal(t + 8..t + 13) && equal(t + 14..t + 16) && equal(t + 18..self.headers);
        ip && transport
    }

    /// Returns whether a packet may be part of a larger one. One with `PSH` may be its end.
    fn joins(self, packet: &[u8]) -> bool {
        packet.len() > self.headers && (self.protocol == UDP || packet[self.ip + 13] & !PSH == ACK)
    }

    fn ends(self, packet: &[u8]) -> bool {
        self.protocol == TCP && packet[self.ip + 13] & PSH != 0
    }

    fn sequence(self, packet: &[u8]) -> u32 {
        let at = self.ip + 4;
        u32::from_be_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]])
    }
}

/// Returns the addresses of a packet, or nothing if it is too short for them.
fn addresses(packet: &[u8]) -> &[u8] {
    let at = if packet.first().is_some_and(|byte| byte >> 4 == 4) { 12..20 } else { 8..40 };
    packet.get(at).unwrap_or_default()
}

/// Packets that are written together.
#[derive(Default)]
struct Run {
    /// The header of the device, and the packet to which others were joined.
    bytes: Vec<u8>,
    shape: Option<Shape>,
    /// The packets in it.
    count: u16,
    /// The lengths of the contents of each packet but the last, and of all contents.
    segment: usize,
    contents: usize,
    /// True if another packet may be joined, and true if the checksum of the first one was verified.
    open: bool,
    sound: bool,
}

/// Joins packets for a device. The packets of a flow stay in order.
pub struct Coalescer {
    runs: Vec<Run>,
    used: usize,
    splitter: Splitter,
    tcp: bool,
    udp: bool,
}

impl Coalescer {
    /// Creates a coalescer for a device that takes joined packets of these protocols.
    pub fn new(tcp: bool, udp: bool) -> Coalescer {
        Coalescer { runs: Vec::new(), used: 0, splitter: Splitter::default(), tcp, udp }
    }

    /// Returns whether TCP and UDP packets are joined.
    pub fn joins(&self) -> (bool, bool) {
        (self.tcp, self.udp)
    }

    /// Returns whether it must be flushed ([`Coalescer::flush`]) before the next packet.
    pub fn is_full(&self) -> bool {
        self.used >= MOST_RUNS
    }

    /// Adds a packet. Returns the number of the write, from 0, that it is part of.
    pub fn push(&mut self, packet: &[u8]) -> usize {
        let whole = Shape::of(packet);
        let shape = whole.filter(|s| if s.protocol == TCP { self.tcp } else { self.udp });
        let mut runs = self.runs[..self.used].iter_mut().enumerate().rev();
        if let Some(shape) = shape {
            // Only the latest run of the flow counts, so packets do not overtake each other.
            if let Some((number, run)) = runs.find(|(_, run)| run.is_of(shape, packet))
                && run.join(shape, packet)
            {
                return number;
            }
        } else if whole.is_none() {
            // A part of a datagram may be of any flow between its ends.
            for (_, run) in runs.filter(|(_, r)| addresses(&r.bytes[HEADER..]) == addresses(packet))
            {
                run.open = false;
            }
        }
        if self.used == self.runs.len() {
            self.runs.push(Run::default());
        }
        let run = &mut self.runs[self.used];
        self.used += 1;
        run.bytes.clear();
        run.bytes.extend_from_slice(&[0; HEADER]);
        run.bytes.extend_from_slice(packet);
        run.shape = shape;
        run.count = 1;
        run.sound = false;
        run.open = shape.is_some_and(|shape| shape.joins(packet) && !shape.ends(packet));
        run.contents = shape.map_or(0, |shape| packet.len() - shape.headers);
        run.segment = run.contents;
        self.used - 1
    }

    /// Passes each packet to `write`, with its header, and leaves the coalescer empty. If the device declines a
    /// joined packet, its parts are written one by one, and no packets are joined from then on. Reports the
    /// number of packets in each write to `done`, and the first error.
    pub fn flush(
        &mut self,
        write: &mut dyn FnMut(&[u8]) -> nix::Result<()>,
        done: &mut dyn FnMut(u16, nix::Result<()>),
    ) {
        for run in &mut self.runs[..self.used] {
            run.close();
            let mut written = write(&run.bytes);
            if written == Err(Errno::EINVAL) && run.count > 1 {
                (self.tcp, self.udp) = (false, false);
                written = Ok(());
                let split = self.splitter.split(&mut run.bytes, &mut |packet| {
                    let alone = [&[0; HEADER][..], packet].concat();
                    written = written.and(write(&alone));
                });
                written = written.and(split.map_err(|_| Errno::EPROTO));
            }
            done(run.count, written);
        }
        self.used = 0;
    }
}

impl Run {
    /// Returns whether a packet belongs to the flow of this run.
    fn is_of(&self, shape: Shape, packet: &[u8]) -> bool {
        let alike = |own: Shape| (own.protocol, own.ip) == (shape.protocol, shape.ip);
        self.shape.is_some_and(alike) && shape.same_flow(&self.bytes[HEADER..], packet)
    }

    /// Joins a packet of the same flow if it continues this run.
    fn join(&mut self, shape: Shape, packet: &[u8]) -> bool {
        let first = &self.bytes[HEADER..];
        let more = packet.len() - shape.headers;
        let follows = shape.protocol == UDP
            || shape.sequence(packet) == shape.sequence(first).wrapping_add(self.contents as u32);
        if !self.open
            || self.shape != Some(shape)
            || !follows
            || !shape.joins(packet)
            || more > self.segment
            || first.len() + more > MOST_BYTES
            || !shape.alike(first, packet, self.count)
        {
            return false;
        }
        if !self.sound {
            self.sound = shape.is_sound(first);
        }
        // A packet with a wrong checksum must keep it, but the kernel writes a new checksum for joined
        // packets.
        if !self.sound || !shape.is_sound(packet) {
            self.open = self.sound;
            return false;
        }
        if shape.ends(packet) {
            self.bytes[HEADER + shape.ip + 13] |= PSH;
            self.open = false;
        }
        self.bytes.extend_from_slice(&packet[shape.headers..]);
        self.open &= more == self.segment;
        self.contents += more;
        self.count += 1;
        true
    }

    /// Writes the lengths, checksums and the header of the joined packet.
    fn close(&mut self) {
        let (Some(shape), 2..) = (self.shape, self.count) else {
            return;
        };
        let (header, packet) = self.bytes.split_at_mut(HEADER);
        let length = packet.len();
        let kind = match (shape.protocol, shape.ip) {
            (UDP, _) => VIRTIO_NET_HDR_GSO_UDP_L4,
            (_, 20) => VIRTIO_NET_HDR_GSO_TCPV4,
            _ => VIRTIO_NET_HDR_GSO_TCPV6,
        };
        if shape.ip == 20 {
            packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            packet[10..12].fill(0);
            let sum = !checksum(&packet[..20], 0);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        } else {
            packet[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
        }
        let inside = length - shape.ip;
        if shape.protocol == UDP {
            packet[shape.ip + 4..shape.ip + 6].copy_from_slice(&(inside as u16).to_be_bytes());
        }
        let partial = checksum(&[], shape.pseudo(packet, inside));
        let at = shape.checksum_at();
        packet[at..at + 2].copy_from_slice(&partial.to_be_bytes());
        let written = VirtioNetHdr {
            flags: PARTIAL_CHECKSUM,
            gso_type: kind,
            hdr_len: shape.headers as u16,
            gso_size: self.segment as u16,
            csum_start: shape.ip as u16,
            csum_offset: (at - shape.ip) as u16,
        };
        // The room is as long as a header.
        let _ = written.encode(header);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A packet of a flow, without the fields that are the same for all.
    #[derive(Clone, Copy, Debug)]
    struct Sample {
        v6: bool,
        tcp: bool,
        port: u16,
        tos: u8,
        /// For IPv4, whether the packet may be fragmented, and its number.
        fragments: bool,
        number: u16,
        sequence: u32,
        window: u16,
        flags: u8,
        contents: usize,
        /// True if the checksum of its contents is wrong.
        damaged: bool,
        /// True for a header of TCP with options, and for a packet of IPv4 that is the first part of another.
        options: bool,
        part: bool,
    }

    const SAMPLE: Sample = Sample {
        v6: false,
        tcp: true,
        port: 1,
        tos: 0,
        fragments: false,
        number: 0,
        sequence: 0,
        window: 500,
        flags: ACK,
        contents: 1000,
        damaged: false,
        options: true,
        part: false,
    };

    fn sum(bytes: &[u8]) -> u16 {
        let words = bytes.chunks(2);
        let total: u32 =
            words.map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0))).sum();
        let folded = (total & 0xffff) + (total >> 16);
        ((folded & 0xffff) + (folded >> 16)) as u16
    }

    impl Sample {
        fn packet(&self) -> Vec<u8> {
            let options = if self.options { 12 } else { 0 };
            let mut inside = vec![0; if self.tcp { 20 + options } else { 8 }];
            inside[..2].copy_from_slice(&self.port.to_be_bytes());
            inside[2..4].copy_from_slice(&80u16.to_be_bytes());
            if self.tcp {
                inside[4..8].copy_from_slice(&self.sequence.to_be_bytes());
                inside[12] = (5 + options as u8 / 4) << 4;
                inside[13] = self.flags;
                inside[14..16].copy_from_slice(&self.window.to_be_bytes());
            } else {
                inside[4..6].copy_from_slice(&(8 + self.contents as u16).to_be_bytes());
            }
            inside.extend((0..self.contents).map(|i| (i as u32).wrapping_add(self.sequence) as u8));
            let length = inside.len() as u16;
            let protocol = if self.tcp { TCP } else { UDP };
            let mut packet = if self.v6 { vec![0; 40] } else { vec![0; 20] };
            let addresses = if self.v6 { 8..40 } else { 12..20 };
            packet[addresses.clone()].fill(7);
            let mut pseudo = packet[addresses].to_vec();
            pseudo.extend([0, protocol]);
            pseudo.extend(length.to_be_bytes());
            pseudo.extend(&inside);
            let check = !sum(&pseudo) ^ if self.damaged { 0x5555 } else { 0 };
            let at = if self.tcp { 16 } else { 6 };
            let check = if check == 0 && !self.tcp { 0xffff } else { check };
            inside[at..at + 2].copy_from_slice(&check.to_be_bytes());
            if self.v6 {
                packet[0] = 0x60 | self.tos >> 4;
                packet[1] = self.tos << 4;
                packet[4..6].copy_from_slice(&length.to_be_bytes());
                packet[6] = protocol;
                packet[7] = 64;
            } else {
                packet[0] = 0x45;
                packet[1] = self.tos;
                packet[2..4].copy_from_slice(&(20 + length).to_be_bytes());
                packet[4..6].copy_from_slice(&self.number.to_be_bytes());
                packet[6] = match (self.part, self.fragments) {
                    (true, _) => 0x20,
                    (false, true) => 0,
                    _ => 0x40,
                };
                packet[8] = 64;
                packet[9] = protocol;
                let check = !sum(&packet);
                packet[10..12].copy_from_slice(&check.to_be_bytes());
            }
            packet.extend(inside);
            packet
        }
    }

    /// Joins packets, cuts the results, and returns the packets and the number of writes.
    fn through(packets: &[Vec<u8>]) -> (Vec<Vec<u8>>, usize) {
        let mut coalescer = Coalescer::new(true, true);
        let (mut splitter, mut out, mut writes) = (Splitter::default(), Vec::new(), 0);
        let mut clear = |coalescer: &mut Coalescer| {
            let mut write = |bytes: &[u8]| {
                writes += 1;
                let mut bytes = bytes.to_vec();
                let split = splitter.split(&mut bytes, &mut |packet| out.push(packet.to_vec()));
                split.expect("joined segments can be split");
                Ok(())
            };
            coalescer.flush(&mut write, &mut |_, done| assert!(done.is_ok()));
        };
        for packet in packets {
            if coalescer.is_full() {
                clear(&mut coalescer);
            }
            coalescer.push(packet);
        }
        clear(&mut coalescer);
        (out, writes)
    }

    /// The packets of a flow in order, without the identification of those that must not be fragmented.
    fn of_flow(packets: &[Vec<u8>], v6: bool, tcp: bool, port: u16) -> Vec<Vec<u8>> {
        let ip = if v6 { 40 } else { 20 };
        let own = packets.iter().filter(|p| {
            p[0] >> 4 == if v6 { 6 } else { 4 }
                && p[if v6 { 6 } else { 9 }] == if tcp { TCP } else { UDP }
                && p[ip..ip + 2] == port.to_be_bytes()
        });
        let own = own.map(|p| {
            let mut packet = p.clone();
            if !v6 && packet[6] & 0x40 != 0 {
                assert_eq!(sum(&packet[..20]), 0xffff, "the checksum of the header");
                packet[4..6].fill(0);
                packet[10..12].fill(0);
            }
            packet
        });
        own.collect()
    }

    fn sample() -> impl Strategy<Value = Sample> {
        // Mostly continuations: values that are usually the same.
        let rare = |n: u32| prop::bool::weighted(1.0 / f64::from(n));
        let flow = (any::<bool>(), prop::bool::weighted(0.7), 1..3u16);
        let header = (rare(20), rare(2), rare(10), rare(20), rare(15));
        let contents = prop_oneof![8 => Just(1000usize), 1 => 0..1400usize];
        let odd = (rare(20), rare(20), rare(20));
        (flow, header, contents, odd).prop_map(|(flow, header, contents, odd)| Sample {
            v6: flow.0,
            tcp: flow.1,
            port: flow.2,
            tos: if header.0 { 3 } else { 2 },
            fragments: header.1,
            flags: match (header.2, header.3) {
                (true, false) => ACK | PSH,
                (true, true) => ACK | 1,
                (false, true) => ACK | 0x40,
                _ => ACK,
            },
            window: if header.4 { 501 } else { 500 },
            contents,
            damaged: odd.0,
            options: !odd.1,
            part: odd.2,
            ..SAMPLE
        })
    }

    proptest! {
        /// For any input, each flow has the packets that it would have without joining, in order.
        #[test]
        fn what_is_joined_is_what_was_there(
            mut samples in prop::collection::vec((sample(), prop::bool::weighted(0.05)), 1..200),
        ) {
            let mut next = std::collections::BTreeMap::new();
            for (sample, gap) in &mut samples {
                let (sequence, number) = next
                    .entry((sample.v6, sample.tcp, sample.port))
                    .or_insert((u32::MAX - 5000, 0u16));
                if *gap {
                    *sequence = sequence.wrapping_add(77);
                    *number = number.wrapping_add(3);
                }
                (sample.sequence, sample.number) = (*sequence, *number);
                *sequence = sequence.wrapping_add(sample.contents as u32);
                *number = number.wrapping_add(1);
            }
            let packets: Vec<_> = samples.iter().map(|(s, _)| s.packet()).collect();
            let (out, writes) = through(&packets);
            prop_assert!(writes <= packets.len());
            prop_assert_eq!(out.len(), packets.len());
            for v6 in [false, true] {
                for tcp in [false, true] {
                    for port in [1, 2] {
                        prop_assert_eq!(
                            of_flow(&packets, v6, tcp, port),
                            of_flow(&out, v6, tcp, port)
                        );
                    }
                }
            }
        }

        /// Arbitrary bytes do not crash the code.
        #[test]
        fn any_bytes_go_through(bytes in prop::collection::vec(any::<u8>(), 1..300)) {
            let mut coalescer = Coalescer::new(true, true);
            coalescer.push(&bytes);
            coalescer.push(&bytes);
            let mut write = |written: &[u8]| {
                assert!(written[HEADER..] == bytes[..] || bytes[0] >> 4 >= 4);
                Ok(())
            };
            coalescer.flush(&mut write, &mut |_, _| ());
            let _ = Splitter::default().split(&mut bytes.clone(), &mut |_| ());
        }
    }

    fn bulk(count: u32, of: Sample) -> Vec<Vec<u8>> {
        let at = |i: u32| Sample {
            sequence: of.sequence.wrapping_add(i * of.contents as u32),
            number: of.number.wrapping_add(i as u16),
            ..of
        };
        (0..count).map(|i| at(i).packet()).collect()
    }

    /// Bulk is joined up to the longest packet, which the property does not check.
    #[test]
    fn bulk_is_joined() {
        for v6 in [false, true] {
            for tcp in [false, true] {
                let of = Sample { v6, tcp, ..SAMPLE };
                assert_eq!(through(&bulk(60, of)).1, 1, "{of:?}");
                assert_eq!(through(&bulk(120, of)).1, 2, "{of:?}");
            }
        }
        // Two alternating flows stay separate.
        let (one, two) = (bulk(20, SAMPLE), bulk(20, Sample { port: 2, ..SAMPLE }));
        let mixed: Vec<_> = one.into_iter().zip(two).flat_map(|(a, b)| [a, b]).collect();
        assert_eq!(through(&mixed).1, 2);
    }

    /// A device that declines joined packets gets each one by itself, and later ones are not joined.
    #[test]
    fn what_is_declined_is_written_one_by_one() {
        let mut coalescer = Coalescer::new(true, true);
        let (packets, mut out) = (bulk(5, SAMPLE), Vec::new());
        for writes in [1, 5] {
            packets.iter().for_each(|packet| _ = coalescer.push(packet));
            let mut write = |bytes: &[u8]| {
                if bytes[1] != 0 {
                    return Err(Errno::EINVAL);
                }
                out.push(bytes[HEADER..].to_vec());
                Ok(())
            };
            let mut reports = 0;
            coalescer.flush(&mut write, &mut |_, done| {
                assert_eq!(done, Ok(()));
                reports += 1;
            });
            assert_eq!((reports, out.len()), (writes, 5));
            assert_eq!(of_flow(&out, false, true, 1), of_flow(&packets, false, true, 1));
            out.clear();
        }
        assert_eq!(coalescer.joins(), (false, false));
    }

    #[test]
    fn what_differs_is_not_joined() {
        for other in [
            Sample { tos: 3, ..SAMPLE },
            Sample { damaged: true, ..SAMPLE },
            Sample { flags: ACK | 1, ..SAMPLE },
            Sample { window: 7, ..SAMPLE },
            Sample { fragments: true, ..SAMPLE },
            Sample { contents: 1001, ..SAMPLE },
            Sample { v6: true, ..SAMPLE },
        ] {
            let next = Sample { sequence: 1000, number: 1, ..other };
            assert_eq!(through(&[SAMPLE.packet(), next.packet()]).1, 2, "{other:?}");
        }
        // If the first packet is damaged, only the others are joined.
        let mut packets = bulk(5, SAMPLE);
        packets[0] = Sample { damaged: true, ..SAMPLE }.packet();
        let (out, writes) = through(&packets);
        assert_eq!((out, writes), (packets, 2));
    }
}
