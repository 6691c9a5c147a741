//! The wire format: what is written is read, what is read is sane, and nothing panics.

use accord_transport::Segment;
use accord_transport::wire::{
    Header, Kind, LONG, Malformed, SHORT, UDP_HEADERS, add_virtual_delay, decode, encode, header,
    virtual_delay,
};
use accord_units::{Bytes, Duration, Time};
use proptest::prelude::*;

fn segment() -> impl Strategy<Value = Segment> {
    let measured = || (0.0..1e12f64).prop_map(|x| x as f32);
    prop_oneof![
        any::<(u64, u64)>().prop_map(|(number, sent)| Segment::Data {
            number,
            sent: Time::from_ps(sent),
        }),
        any::<(u64, u32, u32, u64, u32)>().prop_map(|(next, block, block_len, echo, marked)| {
            Segment::Ack {
                next,
                block,
                block_len,
                echo: Time::from_ps(echo),
                marked,
            }
        }),
        any::<(u64, u64)>().prop_map(|(pair, sent)| Segment::OutOfBand {
            pair,
            sent: Time::from_ps(sent),
        }),
        any::<(u64, u64, u32)>().prop_map(|(pair, sent_bytes, delay)| Segment::InBand {
            pair,
            sent_bytes,
            virtual_delay: Duration::from_us(u64::from(delay)),
        }),
        (
            any::<(u64, bool, u64)>(),
            measured(),
            measured(),
            measured()
        )
            .prop_map(
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
        let least = if Kind::of(&segment).is_reply() { LONG } else { SHORT };
        prop_assert_eq!(datagram.len(), (size as usize).saturating_sub(UDP_HEADERS).max(least));
    }

    #[test]
    fn a_packet_cut_short_is_refused(segment in segment(), cut in 0..LONG) {
        let (_, datagram) = written(&segment, 1);
        let cut = cut.min(datagram.len() - 1);
        prop_assert_eq!(decode(&datagram[..cut]), Err(Malformed::Short));
    }

    /// Whatever it is: an error, or a packet that is written as it was read.
    #[test]
    fn any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..80), plausible: bool, kind in 0..8u8) {
        if plausible && bytes.len() > 1 {
            bytes[0] = 1;
            bytes[1] = kind;
        }
        add_virtual_delay(&mut bytes, Duration::MAX);
        if let Ok((header, segment)) = decode(&bytes) {
            let mut again = Vec::new();
            encode(&header, &segment, &mut again);
            prop_assert_eq!(decode(&again), Ok((header, segment)));
        }
    }

    #[test]
    fn virtual_delay_only_grows_and_saturates(delays in prop::collection::vec(0..u64::MAX, 0..9)) {
        let segment = Segment::InBand { pair: 1, sent_bytes: 2, virtual_delay: Duration::ZERO };
        let (_, mut datagram) = written(&segment, 40);
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
    assert_eq!(with(1, &[6]), Err(Malformed::Kind(6)));
    assert_eq!(with(2, &[0, 0]), Err(Malformed::Value), "size zero");
    for bad in [f32::NAN, f32::INFINITY, -1.0] {
        for place in [20, 40, 44] {
            let bits = bad.to_bits().to_be_bytes();
            assert_eq!(with(place, &bits), Err(Malformed::Value));
        }
    }
    assert_eq!(with(14, &[0, 2]), Err(Malformed::Value), "unknown flags");
    assert!(with(0, &[1]).is_ok());
}
