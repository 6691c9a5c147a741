//! AVQ against hand-calculated traces and the balance of its virtual capacity.

use crate::common::{DATA, Random, family, offer, queue, text, values};
use accord_aqm::{Aqm, Avq, Class, Ecn, PacketMeta, QueueView, Verdict};
use accord_family::Raw;
use accord_units::{Bytes, Rate, Time};

const C: f64 = 1.25e6;

fn avq(changes: &[(&str, Raw)]) -> Avq {
    Avq::new(&values("avq", changes))
}

/// With 2500 bytes of virtual buffer and C̃ almost fixed at 1.225 MB/s, two packets fit, but the
/// third does not. 0.5 ms later 612.5 bytes are gone and one packet fits again.
#[test]
fn what_overflows_the_virtual_buffer_is_dropped() {
    let mut avq = avq(&[("gain", Raw::Number(1e-6)), ("buffer", text("2500 B"))]);
    assert_eq!(offer(&mut avq, 0.0), Verdict::Pass);
    assert_eq!(offer(&mut avq, 0.0), Verdict::Pass);
    assert_eq!(offer(&mut avq, 0.0), Verdict::Drop);
    assert_eq!(offer(&mut avq, 0.0005), Verdict::Pass);
    assert_eq!(offer(&mut avq, 0.0005), Verdict::Drop);
}

/// KS01's update: C̃ ← max(min(C̃ + α·γ·C·(t − s), C) − α·b, 0), whatever becomes of the packet. It begins at γ·C,
/// 9.8 Mbps of 10. A packet takes 150 bytes a second, and a millisecond brings 183.75.
#[test]
fn the_virtual_capacity_earns_by_time_and_pays_by_packets() {
    let mut avq = avq(&[("buffer", text("1 KB"))]);
    assert_eq!(avq.virtual_capacity(), Rate::ZERO);
    for (t, verdict, bps) in [
        (0.0, Verdict::Pass, 9_798_800),
        (0.0, Verdict::Drop, 9_797_600),
        (0.001, Verdict::Pass, 9_797_870),
        // Ten seconds add more than the capacity of the link.
        (10.001, Verdict::Pass, 9_998_800),
    ] {
        assert_eq!(offer(&mut avq, t), verdict, "{t}");
        assert_eq!(avq.virtual_capacity(), Rate::from_bps(bps), "{t}");
    }
    // The capacity is never negative: after 2000 packets at once, a tenth of a second adds 122 500 bytes per
    // second.
    let mut steep = self::avq(&[("gain", Raw::Number(1.0))]);
    for _ in 0..2000 {
        offer(&mut steep, 0.0);
    }
    assert_eq!(steep.virtual_capacity(), Rate::ZERO);
    offer(&mut steep, 0.1);
    assert_eq!(steep.virtual_capacity(), Rate::from_bps(8 * 121_500));
}

#[test]
fn with_ecn_only_what_cannot_be_marked_is_dropped() {
    let mut avq = avq(&[("buffer", text("1 KB")), ("ecn", Raw::Flag(true))]);
    let mut offer =
        |packet: &PacketMeta| avq.on_arrival(packet, &queue(0), Time::ZERO, &mut Random(0));
    assert_eq!(offer(&DATA), Verdict::Pass);
    let capable = PacketMeta { ecn: Ecn::Capable, ..DATA };
    assert_eq!(offer(&capable), Verdict::Mark);
    assert_eq!(offer(&DATA), Verdict::Drop);
    let control = PacketMeta { class: Class::OutOfBand, ..DATA };
    assert_eq!(offer(&control), Verdict::Pass);
}

#[test]
fn the_virtual_buffer_is_the_ports_unless_given() {
    let mut avq = avq(&[]);
    let port = QueueView { capacity: Some(Bytes::new(3000)), ..queue(0) };
    let verdicts: Vec<_> =
        (0..4).map(|_| avq.on_arrival(&DATA, &port, Time::ZERO, &mut Random(0))).collect();
    assert_eq!(verdicts[2..], [Verdict::Pass, Verdict::Drop]);
}

#[test]
fn a_buffer_in_packets_is_refused_with_a_hint() {
    let mut values = family("avq").defaults();
    values.set("buffer", &text("100 pkt")).expect("a size");
    let message = (family("avq").check)(&values).expect_err("packets have no one size").reason;
    assert!(message.contains("100 KB"), "{message}");
}

/// Whatever the sources do, C̃ stays within bounds, so the mean load must be γ·C once
/// they respond at all: here by 10 % on each mark, at most one in 50 ms.
#[test]
fn responsive_sources_settle_at_the_desired_utilisation() {
    for utilisation in [0.98, 0.8] {
        let mut avq = avq(&[("utilisation", Raw::Number(utilisation)), ("buffer", text("20 KB"))]);
        let (mut t, mut rate, mut cut, mut bytes) = (0.0, 0.1 * C, 0.0, 0.0);
        while t < 600.0 {
            let verdict = offer(&mut avq, t);
            if verdict == Verdict::Drop && t > cut + 0.05 {
                rate *= 0.9;
                cut = t;
            }
            let gap = 1000.0 / rate;
            rate += 0.1 * C * gap;
            t += gap;
            if t > 300.0 {
                bytes += 1000.0;
            }
        }
        let load = bytes / 300.0 / C;
        assert!((load - utilisation).abs() < 0.01, "{load} for {utilisation}");
    }
}
