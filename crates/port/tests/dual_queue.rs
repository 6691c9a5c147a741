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
    let meta =
        PacketMeta { size: Bytes::new(1000), class: Class::Data, ecn, aggregate: 0, flow: 0 };
    Pkt { number, meta, marked: false, delay: Duration::ZERO }
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
    let codepoints =
        [Ecn::NotCapable, Ecn::Capable, Ecn::NotCapable, Ecn::Scalable, Ecn::Marked, Ecn::Scalable];
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
    let classic = classic.filter(|s| s.packet.meta.ecn == Ecn::Capable).count();
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
    assert!(!marked[0] && !marked[1] && !marked[8] && !marked[9], "{marked:?}");
    let counters = port.port.counters();
    assert_eq!(counters.marked.packets, 6);
    assert_eq!(counters.offered.packets, counters.served.packets);
}

/// RFC 9332 §A.1, §A.2: the scheduler's credit ends with a busy period. After an idle time L is
/// served first and C second, whatever was sent before.
#[test]
fn an_idle_link_forgets_whose_turn_it_was() {
    use Ecn::{Capable, Scalable};
    // Either L was served last while C waited, so C was due, or C was, which costs it fifteen
    // turns.
    for before in
        [&[Capable, Scalable, Capable][..], &[Scalable, Scalable, Scalable, Capable, Capable]]
    {
        let mut port = port();
        offer(&mut port, before.iter().copied());
        port.until(ms(10));
        port.served.clear();
        for (number, ecn) in
            [Capable, Capable, Scalable, Scalable, Scalable].into_iter().enumerate()
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

/// Passes 64 ms in which one queue holds its packets for long and a packet of the other comes each
/// `every` · 2 ms, with an update each 16 ms. Returns the port.
fn one_queue_waits(long: Ecn, short: Ecn, every: u64) -> Clocked {
    let mut port = port();
    offer(&mut port, std::iter::repeat_n(long, 500));
    for step in 1..=32 {
        let now = ms(2 * step);
        port.until(now);
        if step % every == 0 {
            let offered = port.offer(now, packet(1000, short), &mut Dice(1));
            offered.expect("there is room");
        }
        if step % 8 == 0 {
            port.port.on_timer(now);
        }
    }
    port
}

/// RFC 9332 figure 8: the longer of both waits sets the base probability, whichever queue has it.
#[test]
fn the_longer_wait_sets_the_probability() {
    // C sends a packet each 16 ms while L is busy, and gets one each 32.
    for (long, short, every) in
        [(Ecn::Capable, Ecn::Scalable, 1), (Ecn::Scalable, Ecn::Capable, 16)]
    {
        let mut port = one_queue_waits(long, short, every);
        offer_at(&mut port, ms(64), 100);
        port.until(ms(2000));
        // Four updates by waits of 16 to 64 ms, for a target of 15: α = 0.16 and β = 3, per second. C has the
        // square.
        let probability: f64 = 0.16 * (0.160 - 4.0 * 0.015) + 3.0 * 0.064;
        let classic =
            (port.served.iter()).filter(|s| s.from >= ms(64) && s.packet.meta.ecn == Ecn::Capable);
        let marked = classic.clone().filter(|s| s.packet.marked).count() as f64;
        let expected = probability.powi(2) * classic.count() as f64;
        assert!(
            expected > 4.0 && (marked - expected).abs() < 1.5,
            "{long:?}: {marked} of {expected}"
        );
    }
}

/// Offers packets of C at `now`.
fn offer_at(port: &mut Clocked, now: Time, packets: usize) {
    for number in 0..packets {
        let offered = port.offer(now, packet(2000 + number, Ecn::Capable), &mut Dice(1));
        offered.expect("there is room");
    }
}

/// A packet that leaves less than two behind is not a sign of a queue, however high the probability:
/// none is marked or dropped.
#[test]
fn packets_without_a_queue_pass() {
    let mut port = one_queue_waits(Ecn::Capable, Ecn::Scalable, 1);
    port.until(ms(2000));
    let before = *port.port.counters();
    for number in 0..200 {
        let at = ms(2000 + 2 * number as u64);
        let offered = port.offer(at, packet(number, Ecn::Capable), &mut Dice(1));
        offered.expect("there is room");
    }
    port.until(ms(3000));
    let after = port.port.counters();
    assert_eq!(after.marked, before.marked);
    assert_eq!(after.served.packets - before.served.packets, 200);
}
