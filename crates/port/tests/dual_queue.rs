//! The queues of DualPI2: the queue of each packet, and the order of service.

use crate::common::*;
use accord_aqm::{AnyAqm, Class, Ecn, FAMILIES, PacketMeta};
use accord_port::Limit;
use accord_units::{Bytes, Duration, Rate, Time};

/// A byte a microsecond: a packet of 1000 bytes takes a millisecond.
const RATE: Rate = Rate::from_bps(8_000_000);

fn port() -> Clocked {
    let family = FAMILIES.iter().find(|f| f.name == "dualpi2");
    let aqm = AnyAqm::build(&family.expect("known").defaults());
    Clocked::new(RATE, Limit::UNLIMITED, aqm)
}

fn packet(number: usize, ecn: Ecn) -> Pkt {
    let meta = PacketMeta {
        size: Bytes::new(1000),
        class: Class::Data,
        ecn,
        aggregate: 0,
        flow: 0,
    };
    Pkt {
        number,
        meta,
        marked: false,
        delay: Duration::ZERO,
    }
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

fn offer(port: &mut Clocked, packets: impl IntoIterator<Item = Ecn>) {
    for (number, ecn) in packets.into_iter().enumerate() {
        let offered = port.offer(Time::ZERO, packet(number, ecn), &mut Dice(1));
        offered.expect("there is room");
    }
}

fn order(port: &Clocked) -> Vec<usize> {
    port.served.iter().map(|s| s.packet.number).collect()
}

/// RFC 9332 figure 3: ECT(1) and CE overtake the others, and each queue keeps its order.
#[test]
fn scalable_and_marked_packets_overtake_the_others() {
    let mut port = port();
    let codepoints = [
        Ecn::NotCapable,
        Ecn::Capable,
        Ecn::NotCapable,
        Ecn::Scalable,
        Ecn::Marked,
        Ecn::Scalable,
    ];
    offer(&mut port, codepoints);
    port.until(ms(10));
    // The first packet was in service when the others came.
    assert_eq!(order(&port), [0, 3, 1, 4, 5, 2]);
}

/// §A.2: while both queues hold packets, C gets a sixteenth of the line.
#[test]
fn the_classic_queue_has_its_share() {
    let mut port = port();
    offer(&mut port, [Ecn::Capable; 200]);
    offer(&mut port, [Ecn::Scalable; 400]);
    port.until(ms(321));
    let classic = port.served.iter().skip(1);
    let classic = classic
        .filter(|s| s.packet.meta.ecn == Ecn::Capable)
        .count();
    assert!((19..=21).contains(&classic), "{classic} of 320");
}

/// Figures 5 and 7: L is marked by its own delay. Packet k waits for k milliseconds. The second
/// packet has half a mark, the next six a whole one, and the last two have fewer than two packets
/// behind them.
#[test]
fn the_low_latency_queue_is_marked_by_its_own_delay() {
    let mut port = port();
    offer(&mut port, [Ecn::Scalable; 10]);
    port.until(ms(20));
    let marked: Vec<bool> = port.served.iter().map(|s| s.packet.marked).collect();
    assert_eq!(marked.iter().filter(|m| **m).count(), 6, "{marked:?}");
    assert!(
        !marked[0] && !marked[1] && !marked[8] && !marked[9],
        "{marked:?}"
    );
    let counters = port.port.counters();
    assert_eq!(counters.marked.packets, 6);
    assert_eq!(counters.offered.packets, counters.served.packets);
}

/// RFC 9332 §A.1, §A.2: the scheduler's credit ends with a busy period. After an idle time L is
/// served first and C second, whatever was sent before.
#[test]
fn an_idle_link_forgets_whose_turn_it_was() {
    use Ecn::{Capable, Scalable};
    // Either L was served last while C waited, so that C was due, or C was, which costs it fifteen
    // turns.
    for before in [
        &[Capable, Scalable, Capable][..],
        &[Scalable, Scalable, Scalable, Capable, Capable],
    ] {
        let mut port = port();
        offer(&mut port, before.iter().copied());
        port.until(ms(10));
        port.served.clear();
        for (number, ecn) in [Capable, Capable, Scalable, Scalable, Scalable]
            .into_iter()
            .enumerate()
        {
            let offered = port.offer(ms(20), packet(number, ecn), &mut Dice(1));
            offered.expect("there is room");
        }
        port.until(ms(30));
        // The first packet was in service when the others came.
        assert_eq!(order(&port), [0, 2, 1, 3, 4], "{before:?}");
    }
}

/// §A.2: the weights apply while both queues hold packets. Packets that L sends alone cost it no
/// credit.
#[test]
fn packets_sent_alone_cost_no_turn() {
    let mut port = port();
    offer(&mut port, [Ecn::Scalable; 10]);
    // Packet 5 is in service.
    let now = Time::ZERO + Duration::from_us(5500);
    for number in 100..103 {
        let offered = port.offer(now, packet(number, Ecn::Capable), &mut Dice(1));
        offered.expect("there is room");
    }
    port.until(ms(20));
    assert_eq!(order(&port), [0, 1, 2, 3, 4, 5, 6, 100, 7, 8, 9, 101, 102]);
}
