//! The wire format: packets are read as they were written, readings are sane, and no input panics.

use accord_transport::wire::{
    Header, Kind, LEAST, LONG, Malformed, SHORT, UDP_HEADERS, add_virtual_delay, decode, encode,
    header, unwrap, virtual_delay, wrap,
};
use accord_transport::{Segment, ip};
use accord_units::{Bytes, Duration, Time};
use proptest::prelude::*;
use std::net::IpAddr;

fn segment() -> impl Strategy<Value = Segment> {
    let measured = || (0.0..1e12f64).prop_map(|x| x as f32);
    prop_oneof![
        any::<(u64, u64)>()
            .prop_map(|(number, sent)| Segment::Data { number, sent: Time::from_ps(sent) }),
        any::<(u64, u32, u32, u64, u32)>().prop_map(|(next, block, block_len, echo, marked)| {
            Segment::Ack { next, block, block_len, echo: Time::from_ps(echo), marked }
        }),
        any::<(u64, u64)>()
            .prop_map(|(pair, sent)| Segment::OutOfBand { pair, sent: Time::from_ps(sent) }),
        any::<(u64, u64)>().prop_map(|(pair, sent_bytes)| Segment::InBand { pair, sent_bytes }),
        (any::<u64>(), measured())
            .prop_map(|(received, virtual_s)| Segment::Count { received, virtual_s }),
        (any::<(u64, bool, u64)>(), measured(), measured(), measured()).prop_map(
            |((pair, lost, received), accumulation, egress_bps, virtual_s)| Segment::Report {
                pair,
                accumulation,
                lost,
                egress_bps,
                virtual_s,
                received,
            }
        ),
    ]
}

fn written(segment: &Segment, size: u64) -> (Header, Vec<u8>) {
    let header = Header {
        kind: Kind::of(segment),
        size: Bytes::new(size),
        flow: 7,
        run: 0xdead_beef,
        route: 2,
    };
    let mut datagram = vec![9; 3];
    encode(&header, segment, &mut datagram);
    (header, datagram)
}

proptest! {
    #[test]
    fn what_is_written_is_read(segment in segment(), size in 1..=65_535u64) {
        let (header, datagram) = written(&segment, size);
        prop_assert_eq!(decode(&datagram), Ok((header, segment)));
        // Padded, as far as the header leaves room.
        let long = matches!(segment, Segment::Ack { .. } | Segment::Report { .. });
        let least = if long { LONG } else { SHORT };
        prop_assert_eq!(datagram.len(), (size as usize).saturating_sub(UDP_HEADERS).max(least));
    }

    #[test]
    fn a_packet_cut_short_is_refused(segment in segment(), cut in 0..LONG) {
        let (_, datagram) = written(&segment, 1);
        let cut = cut.min(datagram.len() - 1);
        prop_assert_eq!(decode(&datagram[..cut]), Err(Malformed::Short));
    }

    /// Any bytes are an error, or a packet that is written as it was read.
    #[test]
    fn any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..80), plausible: bool, kind in 0..10u8) {
        if plausible && bytes.len() > 1 {
            bytes[0] = 1;
            bytes[1] = kind;
        }
        add_virtual_delay(&mut bytes, Duration::MAX);
        if let Ok((header, segment)) = decode(&bytes) {
            let mut again = Vec::new();
            encode(&header, &segment, &mut again);
            prop_assert_eq!(decode(&again), Ok((header, segment)));
            prop_assert!(unwrap(&bytes).is_err(), "it is a segment or a whole packet, not both");
        }
        if let Ok((header, packet)) = unwrap(&bytes) {
            let mut again = Vec::new();
            wrap(&header, packet, &mut again);
            prop_assert_eq!(unwrap(&again), Ok((header, packet)));
        }
    }

    /// The same for bytes that are an IP packet by their length.
    #[test]
    fn whole_packets(
        rest in prop::collection::vec(any::<u8>(), 19..80), words: u8, protocol: bool,
        offset: u8, outer: u8, reply: bool, cut in 1..40usize,
    ) {
        let mut packet = vec![0x40 | words & 0xf];
        packet.extend(rest);
        let length = packet.len() as u16;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet[9] = if protocol { 6 } else { packet[9] };
        let header_length = usize::from(words & 0xf) * 4;
        if let Some(byte) = packet.get_mut(header_length + 12) {
            *byte = offset;
        }
        let header = Header {
            kind: if reply { Kind::IpReply } else { Kind::Ip },
            size: Bytes::new(u64::from(length)),
            flow: 7,
            run: 0xdead_beef,
            route: 2,
        };
        let mut datagram = vec![9; 3];
        wrap(&header, &packet, &mut datagram);
        let sound = (20..=packet.len()).contains(&header_length);
        let read = unwrap(&datagram);
        prop_assert_eq!(read.is_ok(), sound);
        prop_assert!(!sound || read == Ok((header, &packet[..])));
        prop_assert!(decode(&datagram).is_err(), "it is no segment");
        let whole = datagram.len();
        prop_assert!(unwrap(&datagram[..whole.saturating_sub(cut)]).is_err());
        datagram.push(0);
        prop_assert!(unwrap(&datagram).is_err());
        if let Some(inside) = ip::Packet::new(&packet) {
            let fits = inside.sequence().is_none_or(|(_, n)| n as usize <= packet.len());
            prop_assert!(fits);
        }
        let before = packet.clone();
        ip::exit(&mut packet, outer);
        prop_assert!(sound || packet == before, "bytes that are not a packet change");
    }

    #[test]
    fn virtual_delay_only_grows_and_saturates(delays in prop::collection::vec(0..u64::MAX, 0..9)) {
        let segment = Segment::Data { number: 1, sent: Time::ZERO };
        let (_, mut datagram) = written(&segment, 40);
        prop_assert_eq!(virtual_delay(&datagram), Ok(Duration::ZERO));
        let before = datagram.clone();
        let mut sum = 0u128;
        let mut last = Duration::ZERO;
        for ps in delays {
            add_virtual_delay(&mut datagram, Duration::from_ps(ps));
            let now = virtual_delay(&datagram).unwrap();
            prop_assert!(now >= last);
            last = now;
            sum += u128::from(ps);
            // Half a microsecond of rounding for each router.
            let exact = sum.min(u128::from(u32::MAX) * 1_000_000);
            prop_assert!(u128::from(now.as_ps()).abs_diff(exact) <= 9 * 500_000);
        }
        // Nothing else has changed.
        datagram[16..20].copy_from_slice(&before[16..20]);
        prop_assert_eq!(datagram, before);
    }
}

/// The layout is a contract with other programs: these bytes never change under version 1.
#[test]
fn the_layout_is_as_documented() {
    let segment = Segment::Report {
        pair: 0x0102_0304_0506_0708,
        accumulation: 1.0,
        lost: true,
        egress_bps: 2.0,
        virtual_s: 0.5,
        received: 0x2122_2324_2526_2728,
    };
    let (_, datagram) = written(&segment, 64);
    #[rustfmt::skip]
    assert_eq!(datagram, [
        1, 5, 0, 64, // version, kind, size
        0, 0, 0, 7, // flow
        0xde, 0xad, 0xbe, 0xef, // run
        0, 2, 0, 1, // route, flags
        0, 0, 0, 0, // virtual delay
        0x3f, 0x80, 0, 0, // accumulation: 1.0
        1, 2, 3, 4, 5, 6, 7, 8, // pair
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, // received
        0x40, 0, 0, 0, // egress rate: 2.0
        0x3f, 0, 0, 0, // virtual delay: 0.5
        0, 0, 0, 0, // zero
    ]);
    assert_eq!(header(&datagram).unwrap().size, Bytes::new(64));
    let count = Segment::Count { received: 0x2122_2324_2526_2728, virtual_s: 0.5 };
    let (_, datagram) = written(&count, 64);
    #[rustfmt::skip]
    assert_eq!(datagram, [
        1, 8, 0, 64, // version, kind, size
        0, 0, 0, 7, // flow
        0xde, 0xad, 0xbe, 0xef, // run
        0, 2, 0, 0, // route, flags
        0, 0, 0, 0, // virtual delay
        0x3f, 0, 0, 0, // virtual delay of the data: 0.5
        0, 0, 0, 0, 0, 0, 0, 0, // zero
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, // received
    ]);
}

#[test]
fn what_no_sender_writes_is_refused() {
    let report = Segment::Report {
        pair: 1,
        accumulation: 0.0,
        lost: false,
        egress_bps: 0.0,
        virtual_s: 0.0,
        received: 0,
    };
    let (_, good) = written(&report, 40);
    let with = |place: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[place..place + value.len()].copy_from_slice(value);
        decode(&bytes)
    };
    assert_eq!(with(0, &[2]), Err(Malformed::Version(2)));
    assert_eq!(with(1, &[10]), Err(Malformed::Kind(10)));
    assert_eq!(with(1, &[6]), Err(Malformed::Kind(6)), "no segment");
    assert_eq!(with(2, &[0, 0]), Err(Malformed::Value), "size zero");
    for bad in [f32::NAN, f32::INFINITY, -1.0] {
        for place in [20, 40, 44] {
            let bits = bad.to_bits().to_be_bytes();
            assert_eq!(with(place, &bits), Err(Malformed::Value));
        }
    }
    assert_eq!(with(14, &[0, 2]), Err(Malformed::Value), "unknown flags");
    let (_, mut count) = written(&Segment::Count { received: 1, virtual_s: 0.0 }, 40);
    for bad in [f32::NAN, f32::INFINITY, -1.0] {
        count[20..24].copy_from_slice(&bad.to_bits().to_be_bytes());
        assert_eq!(decode(&count), Err(Malformed::Value));
    }
    assert!(with(0, &[1]).is_ok());
}

/// An IPv4 header with this octet of DSCP and ECN and the right checksum, and a TCP header.
fn segment_of_tcp(tos: u8, flags: u8, payload: usize) -> Vec<u8> {
    let length = (40 + payload) as u16;
    let mut packet = vec![0x45, tos, 0, 0, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0];
    packet.extend([198, 18, 0, 1, 198, 18, 0, 2]);
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    let checksum = !sum(&packet);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet.extend([0, 80, 0, 80, 0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 0, 0x50, flags, 0, 0]);
    packet.resize(usize::from(length), 0);
    packet
}

/// The sum of a header's words in ones' complement; all ones if its checksum is right.
fn sum(header: &[u8]) -> u16 {
    let words = header.as_chunks().0.iter();
    let words = words.map(|w| u16::from_be_bytes(*w));
    words.fold(0u16, |sum, word| {
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

/// [RFC 6040 §4.2]: the outgoing codepoint for each pair of inner and outer codepoints.
#[test]
fn a_router_s_mark_reaches_the_packet_inside() {
    const NOT: u8 = 0;
    const ECT1: u8 = 1;
    const ECT0: u8 = 2;
    const CE: u8 = 3;
    for (inner, outer, leaves) in [
        (NOT, NOT, Some(NOT)),
        (NOT, CE, None),
        (ECT0, ECT0, Some(ECT0)),
        (ECT0, CE, Some(CE)),
        (ECT1, ECT1, Some(ECT1)),
        (ECT1, CE, Some(CE)),
        (CE, CE, Some(CE)),
    ] {
        for dscp in [0, 46 << 2, 0xfc] {
            let mut packet = segment_of_tcp(dscp | inner, 0x10, 7);
            let before = packet.clone();
            assert_eq!(sum(&packet[..20]), 0xffff, "the test's own header");
            assert_eq!(ip::exit(&mut packet, outer), leaves.is_some());
            assert_eq!(packet[1], dscp | leaves.unwrap_or(inner));
            assert_eq!(sum(&packet[..20]), 0xffff, "{inner} {outer}: its checksum is right");
            assert_eq!((&packet[2..10], &packet[12..]), (&before[2..10], &before[12..]));
        }
    }
    assert_eq!((ip::entry(0xfd), ip::entry(0xb8)), (ECT1, NOT));
}

#[test]
fn a_packet_of_version_6_is_read_and_marked() {
    // Version, DSCP 46 with ECT(0), flow label; 12 bytes of UDP; 64 hops; addresses; ports 53 and 7000.
    let mut packet = vec![0x6b, 0xa1, 2, 3, 0, 12, 17, 64];
    packet.extend((0..32).map(|i| if i % 16 == 15 { i } else { 0x20 }));
    packet.extend([0, 53, 0x1b, 0x58, 0, 12, 0, 0, 9, 9, 9, 9]);
    let read = ip::Packet::new(&packet).expect("it is whole");
    assert_eq!((read.tos, read.protocol.0, read.ports()), (46 << 2 | 2, 17, [53, 7000]));
    assert!(read.source.to_string().ends_with("200f"), "{read:?}");
    assert!(read.destination.to_string().ends_with("201f"), "{read:?}");
    let before = packet.clone();
    assert!(ip::exit(&mut packet, 3));
    assert_eq!(ip::Packet::new(&packet).expect("it is whole").tos, 46 << 2 | 3);
    assert_eq!((packet[0], &packet[2..]), (before[0], &before[2..]));
    packet[1] &= 0x0f;
    assert!(!ip::exit(&mut packet, 3), "it does not understand marks");
    assert!(ip::Packet::new(&packet[..51]).is_none(), "it is cut short");
}

#[test]
fn a_fragment_of_version_6_is_of_the_protocol_inside() {
    // 20 bytes: a fragment header for UDP, and 12 bytes of a datagram.
    let mut packet = vec![0x60, 0, 0, 0, 0, 20, 44, 64];
    packet.extend([0x20; 32]);
    packet.extend([17, 0, 0, 1, 9, 9, 9, 9]);
    packet.extend([0, 53, 0x1b, 0x58, 0, 12, 0, 0, 9, 9, 9, 9]);
    let first = ip::Packet::new(&packet).expect("it is whole");
    assert!(first.is_fragment && !first.is_continued);
    assert_eq!((first.protocol.0, first.ports(), first.udp()), (17, [53, 7000], None));
    // The offset of 8 bytes is one, and no more follow.
    packet[43] = 1 << 3;
    let last = ip::Packet::new(&packet).expect("it is whole");
    assert!(last.is_fragment && last.is_continued);
    assert_eq!((last.protocol.0, last.ports()), (17, [0, 0]));
    // One that is the whole packet [RFC 6946].
    packet[43] = 0;
    let whole = ip::Packet::new(&packet).expect("it is whole");
    assert!(!whole.is_fragment && whole.udp() == Some(&[9; 4]));
    packet.truncate(46);
    packet[5] = 6;
    assert!(ip::Packet::new(&packet).is_none(), "its second header is cut short");
}

#[test]
fn what_is_needed_of_a_packet_is_read() {
    let (syn, fin) = (0x02, 0x11);
    for (flags, payload, takes) in [(0x10, 7, 7), (syn, 0, 1), (fin, 3, 4), (0x10, 0, 0)] {
        let packet = segment_of_tcp(0, flags, payload);
        let read = ip::Packet::new(&packet).unwrap();
        let ends = [[198, 18, 0, 1], [198, 18, 0, 2]].map(IpAddr::from);
        assert_eq!([read.source, read.destination], ends);
        assert_eq!(read.opens(), flags == syn);
        assert_eq!(read.sequence(), Some((0xffff_fff0, takes)));
    }
    let mut other = segment_of_tcp(0, syn, 0);
    other[9] = 17;
    assert_eq!(ip::Packet::new(&other).unwrap().sequence(), None, "it is UDP");
    let mut other = segment_of_tcp(0, syn, 0);
    other[0] = 0x60;
    assert!(ip::Packet::new(&other).is_none(), "it is IPv6");
}

#[test]
fn a_datagram_comes_out_of_its_packet() {
    let (from, to) = (([198, 18, 255, 254], 50_000), ([198, 18, 255, 255], 443));
    for length in [0, 1, 1472, 65_507] {
        for tos in [0, 2, 0xff] {
            let payload: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let packet = ip::wrap_udp(from, to, tos, payload.clone());
            assert_eq!(packet.len(), UDP_HEADERS + length);
            assert_eq!(sum(&packet[..20]), 0xffff, "its checksum is right");
            let read = ip::Packet::new(&packet).expect("a packet");
            let ends = (read.source, read.destination);
            assert_eq!((read.tos, ends), (tos, (from.0.into(), to.0.into())));
            assert_eq!(read.ports(), [from.1, to.1]);
            assert_eq!(read.udp(), Some(&payload[..]));
            assert_eq!(read.sequence(), None);
            // The port of QUIC, and the length with the header of UDP.
            let length = (8 + length as u16).to_be_bytes();
            assert_eq!(packet[20..26], [0xc3, 0x50, 1, 0xbb, length[0], length[1]]);
        }
    }
    let tcp = segment_of_tcp(0, 0x10, 7);
    assert_eq!(ip::Packet::new(&tcp).expect("a packet").udp(), None);
    let mut short = ip::wrap_udp(from, to, 0, b"quic".to_vec());
    short[25] += 1;
    assert_eq!(ip::Packet::new(&short).expect("a packet").udp(), None);
}

/// The layout is a contract, as above.
#[test]
fn the_layout_of_a_whole_packet_is_as_documented() {
    let packet = segment_of_tcp(2, 0x10, 1);
    let header =
        Header { kind: Kind::Ip, size: Bytes::new(41), flow: 7, run: 0xdead_beef, route: 2 };
    let mut datagram = Vec::new();
    wrap(&header, &packet, &mut datagram);
    #[rustfmt::skip]
    assert_eq!(datagram[..LEAST], [
        1, 6, 0, 41, // version, kind, size
        0, 0, 0, 7, // flow
        0xde, 0xad, 0xbe, 0xef, // run
        0, 2, 0, 0, // route, flags
        0, 0, 0, 0, // virtual delay
    ]);
    assert_eq!(&datagram[LEAST..], packet);
}
