//! FQ-CoDel against RFC 8290: shares, new flows and overflow.

use crate::common::*;
use accord_aqm::{AnyAqm, Class, Ecn, FAMILIES, PacketMeta};
use accord_family::Raw;
use accord_port::{DropReason, Limit};
use accord_units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;

/// A byte a microsecond.
const RATE: Rate = Rate::from_bps(8_000_000);

fn discipline(name: &str, changes: &[(&str, Raw)]) -> AnyAqm {
    let family = FAMILIES.iter().find(|f| f.name == name).expect("known");
    let mut values = family.defaults();
    for (param, raw) in changes {
        values.set(param, raw).expect("in range");
    }
    (family.check)(&values).expect("consistent");
    AnyAqm::build(&values)
}

fn port(limit: Limit, changes: &[(&str, Raw)]) -> Clocked {
    Clocked::new(RATE, limit, discipline("fq-codel", changes))
}

fn packet(number: usize, flow: u32, size: u64) -> Pkt {
    let meta = PacketMeta {
        size: Bytes::new(size),
        class: Class::Data,
        ecn: Ecn::NotCapable,
        aggregate: 0,
        flow,
    };
    Pkt { number, meta, marked: false, delay: Duration::ZERO }
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// The bytes of a flow that were served.
fn bytes(port: &Clocked, flow: u32) -> u64 {
    let own = port.served.iter().map(|s| s.packet.meta);
    own.filter(|m| m.flow == flow).map(|m| m.size.get()).sum()
}

/// Three backlogged flows with packets of 1500, 500 and 40 bytes get the same bytes at any time, to
/// within a quantum and a packet.
#[test]
fn flows_share_by_the_byte_whatever_their_packets() {
    let mut port = port(Limit::UNLIMITED, &[]);
    let mut dice = Dice(1);
    for (flow, size, count) in [(1, 1500, 40), (2, 500, 120), (3, 40, 1500)] {
        for number in 0..count {
            let offered = port.offer(Time::ZERO, packet(number, flow, size), &mut dice);
            offered.expect("there is room");
        }
    }
    for k in 1..17u64 {
        port.until(us(10_000 * k));
        let all = [1, 2, 3].map(|flow| bytes(&port, flow));
        let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
        assert!(most - least <= 1514 + 1500, "{all:?}");
    }
}

/// A sparse flow waits for the packet in service only, 1.5 ms at most, though eight others have a
/// hundred packets waiting each. A round of the eight takes 12 ms, and their backlog is a second.
/// The eight have ceased to be new.
#[test]
fn a_sparse_flow_hardly_waits() {
    let mut port = port(Limit::UNLIMITED, &[]);
    let mut dice = Dice(2);
    for number in 0..100 {
        for flow in 0..8 {
            let _ = port.offer(Time::ZERO, packet(number, flow, 1500), &mut dice);
        }
    }
    for k in 0..50u64 {
        let came = us(20_000 * k + 50_100);
        let number = 1000 + k as usize;
        let _ = port.offer(came, packet(number, 99, 200), &mut dice);
        port.until(came + Duration::from_ms(15));
        let own = port.served.iter().find(|s| s.packet.number == number);
        let waited = own.expect("it has left").from.since(came);
        assert!(waited <= Duration::from_us(1500), "{waited}");
    }
}

/// A flow that sends its next packet as the last one leaves is new each time. It gets no more than
/// a flow that is always backlogged.
#[test]
fn always_being_new_earns_no_more_than_a_share() {
    let mut port = port(Limit::UNLIMITED, &[]);
    let mut dice = Dice(3);
    for number in 0..1000 {
        let _ = port.offer(Time::ZERO, packet(number, 1, 1000), &mut dice);
    }
    let mut number = 10_000;
    for k in 0..900u64 {
        if port.port.waiting().all(|p| p.meta.flow == 1) {
            let _ = port.offer(us(1000 * k), packet(number, 2, 1000), &mut dice);
            number += 1;
        }
        port.until(us(1000 * k));
    }
    let (waiting, new) = (bytes(&port, 1), bytes(&port, 2));
    assert!(new <= waiting + 3000, "{waiting} {new}");
    assert!(new * 10 > waiting * 8, "{waiting} {new}");
}

/// RFC 8290 §4.2: an empty new queue goes to the end of the old ones. A packet that comes after
/// that waits for a turn of each of them but the current one. If the queue were new again, it would
/// be the next.
#[test]
fn a_new_queue_that_is_empty_waits_for_a_turn_of_the_old_ones() {
    let mut port = port(Limit::UNLIMITED, &[]);
    let mut dice = Dice(3);
    for number in 0..100 {
        for flow in 1..4 {
            let _ = port.offer(Time::ZERO, packet(number, flow, 1500), &mut dice);
        }
    }
    // A packet takes 1.5 ms, and each turn is one.
    port.until(us(20_000));
    let _ = port.offer(us(20_000), packet(1000, 4, 1500), &mut dice);
    let is = |number: usize| move |s: &Served| s.packet.number == number;
    let mut now = 20_000;
    while !port.served.iter().any(is(1000)) {
        now += 100;
        port.until(us(now));
    }
    let first = port.served.len();
    // The packet has left, and another one is in service.
    port.until(us(now + 1600));
    assert_eq!(port.served.len(), first + 1);
    let _ = port.offer(us(now + 1600), packet(1001, 4, 1500), &mut dice);
    port.until(us(now + 20_000));
    let second = port.served.iter().position(is(1001)).expect("served");
    let mut between: Vec<u32> =
        (port.served[first..second].iter()).map(|s| s.packet.meta.flow).collect();
    between.sort();
    let turn = port.served[first - 2].packet.meta.flow;
    let others: Vec<u32> = (1..4).filter(|flow| *flow != turn).collect();
    assert_eq!(between, others);
}

/// The queue with the most bytes pays for an overflow, from its head, by half of its bytes or a
/// batch. The others and the arriving packet lose nothing.
#[test]
fn overflow_costs_the_fattest_queue_half_of_it_or_a_batch() {
    for (limit, batch, lost) in [(40, 64, 15), (400, 64, 64), (40, 4, 4), (40, 1, 1)] {
        let changes = [("batch", Raw::Integer(batch))];
        let mut port = port(Limit::packets(limit), &changes);
        let mut dice = Dice(4);
        // The first is in service at once; flow 1 then holds all but ten of the limit.
        let fat = limit as usize - 10;
        for number in 0..fat {
            let _ = port.offer(Time::ZERO, packet(number, 1, 1000), &mut dice);
        }
        for number in 1000..1011 {
            let flow = if number < 1005 { 2 } else { 3 };
            let offered = port.offer(Time::ZERO, packet(number, flow, 500), &mut dice);
            assert_eq!(offered, Ok(()));
        }
        let dropped: Vec<usize> = port.dropped.iter().map(|(p, _)| p.number).collect();
        let expected: Vec<usize> = (1..=lost).collect();
        assert_eq!(dropped, expected, "limit {limit}, batch {batch}");
        assert!(port.dropped.iter().all(|(_, why)| *why == DropReason::Overflow));
    }
}

/// A packet that arrives and is most of the fattest queue is dropped itself.
#[test]
fn overflow_may_cost_the_arriving_packet() {
    let mut port = port(Limit::packets(2), &[]);
    let mut dice = Dice(4);
    // The first is in service at once.
    for (number, flow, size) in [(0, 1, 500), (1, 2, 500), (2, 3, 1000)] {
        let _ = port.offer(Time::ZERO, packet(number, flow, size), &mut dice);
    }
    let dropped: Vec<usize> = port.dropped.iter().map(|(p, _)| p.number).collect();
    assert_eq!(dropped, [2]);
}

/// RFC 8290 §4.1: the fattest queue is the one with most bytes, not with most packets.
#[test]
fn overflow_costs_the_queue_with_most_bytes() {
    let mut port = port(Limit::packets(41), &[("batch", Raw::Integer(1))]);
    let mut dice = Dice(4);
    for number in 0..41 {
        let (flow, size) = if number < 31 { (1, 100) } else { (2, 1000) };
        let _ = port.offer(Time::ZERO, packet(number, flow, size), &mut dice);
    }
    assert!(port.dropped.is_empty());
    let _ = port.offer(Time::ZERO, packet(99, 1, 100), &mut dice);
    let dropped: Vec<usize> = port.dropped.iter().map(|(p, _)| p.number).collect();
    assert_eq!(dropped, [31]);
}

/// A packet of a quantum is a whole turn, as in Linux (`deficit <= 0`), so two flows alternate.
#[test]
fn a_packet_of_a_quantum_is_a_turn() {
    let mut port = port(Limit::UNLIMITED, &[("quantum", Raw::Text("1000 B".into()))]);
    let mut dice = Dice(4);
    for number in 0..20 {
        let flow = 1 + u32::from(number >= 10);
        let _ = port.offer(Time::ZERO, packet(number, flow, 1000), &mut dice);
    }
    port.until(Time::MAX);
    let flows: Vec<u32> = port.served.iter().map(|s| s.packet.meta.flow).collect();
    assert!(flows.windows(2).all(|pair| pair[0] != pair[1]), "{flows:?}");
}

/// A packet that is larger than the buffer drops no other packet.
#[test]
fn what_never_fits_is_dropped_alone() {
    let mut port = port(Limit::bytes(Bytes::new(5000)), &[]);
    let mut dice = Dice(5);
    for number in 0..5 {
        let _ = port.offer(Time::ZERO, packet(number, 1, 1000), &mut dice);
    }
    let offered = port.offer(Time::ZERO, packet(9, 2, 6000), &mut dice);
    assert_eq!(offered, Err(DropReason::Overflow));
    assert_eq!(port.dropped.len(), 1);
}

/// The same random numbers give the same order; other numbers give another one, because flows share
/// other queues.
#[test]
fn the_hash_is_of_the_links_random_numbers() {
    let order = |seed| {
        let changes = [("queues", Raw::Integer(4))];
        let mut port = port(Limit::UNLIMITED, &changes);
        let mut dice = Dice(seed);
        for number in 0..200 {
            let _ = port.offer(Time::ZERO, packet(number, number as u32 % 20, 1000), &mut dice);
        }
        port.until(Time::MAX);
        let served = port.served.iter().map(|s| s.packet.number);
        served.collect::<Vec<_>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

proptest! {
    /// FQ-CoDel with one queue is CoDel.
    #[test]
    fn one_queue_for_all_is_codel(
        (rate, arrivals) in any_rate().prop_flat_map(|r| (Just(r), any_arrivals(r, &[Class::Data]))),
        (target, interval) in (1..20u64, 1..200u64),
    ) {
        // In transmission times of 1000 bytes.
        let time = |n: u64| {
            let unit = rate.transmission(Bytes::new(1000));
            Raw::Text(format!("{} ns", (unit * n).as_ps() / 1000 + 1))
        };
        let changes = [("target", time(target)), ("interval", time(interval))];
        let one = [&changes[..], &[("queues", Raw::Integer(1))]].concat();
        let mut fair = Clocked::new(rate, Limit::UNLIMITED, discipline("fq-codel", &one));
        let mut plain = Clocked::new(rate, Limit::UNLIMITED, discipline("codel", &changes));
        for port in [&mut fair, &mut plain] {
            for &(at, packet) in &arrivals {
                let _ = port.offer(at, packet, &mut Dice(0));
            }
            port.until(Time::MAX);
        }
        let fates = |port: &Clocked| {
            let served = port.served.iter().map(|s| (s.packet, s.to));
            (served.collect::<Vec<_>>(), port.dropped.clone())
        };
        prop_assert_eq!(fates(&fair), fates(&plain));
    }
}
