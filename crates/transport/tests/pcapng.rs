//! Captures: the blocks add up, headers are right, and tshark reads the same.

use accord_transport::pcapng::{Capture, Envelope, SNAP};
use accord_transport::wire::{Header, Kind, MARKED, decode, tos};
use accord_transport::{Segment, ip};
use accord_units::{Bytes, Duration, Time};

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Type and content of each block, whose lengths are checked.
fn blocks(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let mut blocks = Vec::new();
    while !bytes.is_empty() {
        let length = word(bytes, 4) as usize;
        assert!(length.is_multiple_of(4) && length >= 12);
        assert_eq!(word(bytes, length - 4) as usize, length, "said twice");
        blocks.push((word(bytes, 0), &bytes[8..length - 4]));
        bytes = &bytes[length..];
    }
    blocks
}

/// Two links; an out-of-band packet on the first, marked data of 1000 bytes on the second.
fn capture() -> Vec<u8> {
    let mut capture = Capture::new(["there", "there.reverse"].into_iter());
    let at = Time::ZERO + Duration::from_secs(5) + Duration::from_ns(7);
    let packets = [
        (0, 64, Segment::OutOfBand { pair: 3, sent: at }, 0),
        (1, 1000, Segment::Data { number: 9, sent: at }, MARKED),
    ];
    for (link, size, segment, mark) in packets {
        let kind = Kind::of(&segment);
        let header = Header { kind, size: Bytes::new(size), flow: 7, run: 0, route: 0 };
        let envelope = Envelope::new((0, 300), kind, tos(kind, mark));
        capture.segment(link, at, envelope, &header, &segment);
    }
    capture.take()
}

#[test]
fn the_blocks_add_up() {
    let bytes = capture();
    let blocks = blocks(&bytes);
    let kinds: Vec<u32> = blocks.iter().map(|b| b.0).collect();
    assert_eq!(kinds, [0x0a0d_0d0a, 1, 1, 6, 6]);
    let name = &blocks[2].1[8..8 + 4 + 13];
    assert_eq!(&name[4..], b"there.reverse");
    let (data, marked) = (blocks[4].1, 4 + 16 + 1);
    assert_eq!(word(data, 0), 1, "interface");
    let nanos = u64::from(word(data, 4)) << 32 | u64::from(word(data, 8));
    assert_eq!(nanos, 5_000_000_007);
    assert_eq!((word(data, 12) as usize, word(data, 16)), (SNAP, 1000));
    // A packet smaller than its header is cut to the size that links count.
    assert_eq!((word(blocks[3].1, 12), word(blocks[3].1, 16)), (64, 64));
    assert_eq!(data[marked], MARKED, "CE, and no DSCP");
    let ip = &data[20..20 + SNAP];
    assert_eq!(&ip[12..20], [10, 0, 0, 1, 10, 0, 1, 45], "nodes 0 and 300");
    let sum: u32 = ip[..20].as_chunks().0.iter().map(|w| u32::from(u16::from_be_bytes(*w))).sum();
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "the header's checksum");
    assert_eq!(ip[20..24], [0xc0, 7, 0x1d, 0x2f], "the ports of flow 7");
    let (header, segment) = decode(&ip[28..]).unwrap();
    assert_eq!(header.size, Bytes::new(1000));
    assert!(matches!(segment, Segment::Data { number: 9, .. }));
}

/// All of a packet of UDP is kept, such as QUIC's, and the first bytes of others.
#[test]
fn whole_packets_of_udp_are_kept_whole() {
    let udp = ip::wrap_udp(([10, 0, 0, 1], 1), ([10, 0, 0, 2], 443), 0, vec![7; 1200]);
    let mut tcp = udp.clone();
    tcp[9] = 6;
    for (packet, kept) in [(udp, 1228), (tcp, SNAP)] {
        let mut capture = Capture::default();
        capture.whole(0, Time::ZERO, 0, &packet);
        let bytes = capture.take();
        let block = blocks(&bytes)[0].1;
        assert_eq!((word(block, 12) as usize, word(block, 16)), (kept, 1228));
        assert_eq!(block[20..20 + kept], packet[..kept]);
    }
}
