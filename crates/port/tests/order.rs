//! The order of service of a port, and the conservation of its packets.

use crate::common::*;
use accord_aqm::{
    AnyAqm, Aqm, Class, DropTail, Ecn, Entropy, PacketMeta, QueueView, Structure, Verdict,
};
use accord_port::{Bucket, Count, Counters, DropReason, Limit, Port, Service, Timeline};
use accord_units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;

const ALL: &[Class] = &[Class::Data, Class::InBand, Class::OutOfBand, Class::Data];

/// Packets overtake others only across the queues of flows, or if they are scalable.
fn has_one_queue(aqm: &AnyAqm) -> bool {
    !matches!(aqm.structure(), Structure::Flows(_) | Structure::Dual(_))
}

/// Returns true if two packets wait in the same queue of a discipline.
fn wait_together(structure: &Structure, a: &Pkt, b: &Pkt) -> bool {
    let low_latency = |p: &Pkt| matches!(p.meta.ecn, Ecn::Scalable | Ecn::Marked);
    match structure {
        Structure::Fifo | Structure::Stamped => true,
        Structure::Flows(_) => a.meta.flow == b.meta.flow,
        Structure::Dual(_) => low_latency(a) == low_latency(b),
    }
}

fn is_high(packet: &Pkt) -> bool {
    packet.meta.class == Class::OutOfBand
}

fn adds_up(c: &Counters, held: Count) -> bool {
    c.offered == c.served + c.dropped() + held
}

proptest! {
    #[test]
    fn strict_priority_first_in_first_out_never_interrupted_never_idle(
        (limit, aqm) in (any_limit(), any_discipline()),
        (rate, arrivals) in any_rate().prop_flat_map(|r| (Just(r), any_arrivals(r, ALL))),
        seed: u64,
    ) {
        let mut dice = Dice(seed);
        let structure = aqm.structure();
        let one_queue = |a: &Pkt, b: &Pkt| is_high(a) == is_high(b)
            && (is_high(a) || wait_together(&structure, a, b));
        let mut port = Clocked::new(rate, limit, aqm);
        for &(at, packet) in &arrivals {
            let _ = port.offer(at, packet, &mut dice);
            let (counters, held) = (port.port.counters(), port.port.held());
            prop_assert!(adds_up(counters, held), "{counters:?}, {held:?}");
            let waiting = port.port.waiting().count() as u64;
            prop_assert!(held.packets - waiting <= 1, "one in service at most");
        }
        port.until(accord_units::Time::MAX);
        prop_assert!(adds_up(port.port.counters(), Count::default()));
        let served = port.served.iter().map(|s| s.packet.number);
        let dropped = port.dropped.iter().map(|(packet, _)| packet.number);
        let mut seen: Vec<usize> = served.chain(dropped).collect();
        seen.sort_unstable();
        prop_assert!(seen.into_iter().eq(0..arrivals.len()), "each leaves or is dropped, once");

        let arrival = |p: &Pkt| arrivals[p.number].0;
        for (k, s) in port.served.iter().enumerate() {
            prop_assert!(s.from >= arrival(&s.packet), "not before it came");
            let whole = rate.transmission(s.packet.meta.size).as_ps();
            let took = s.to.since(s.from).as_ps();
            prop_assert!((whole..=whole + 1).contains(&took), "{took} for {whole} ps");
            let before = k.checked_sub(1).map(|k| port.served[k]);
            // A service is never interrupted, and the line is never idle while a packet waits.
            let free = before.map_or(accord_units::Time::ZERO, |b| b.to);
            let left = &port.served[k..];
            let next = left.iter().map(|o| arrival(&o.packet)).min().expect("not empty");
            prop_assert_eq!(s.from, free.max(next));
            // Among the packets present, high precedes low, and each is served in order of arrival.
            for other in &left[1..] {
                if one_queue(&other.packet, &s.packet) {
                    prop_assert!(other.packet.number > s.packet.number, "first in, first out");
                } else if is_high(&other.packet) && !is_high(&s.packet) {
                    prop_assert!(arrival(&other.packet) >= s.from, "priority");
                }
            }
        }
    }

    #[test]
    fn without_priority_all_leave_in_the_order_of_arrival(
        (limit, aqm) in (any_limit(), any_discipline().prop_filter("one queue", has_one_queue)),
        (rate, arrivals) in any_rate().prop_flat_map(|r| (Just(r), any_arrivals(r, ALL))),
        seed: u64,
    ) {
        let mut dice = Dice(seed);
        let mut port = Clocked::new(rate, limit, aqm);
        port.port = port.port.without_priority();
        for &(at, packet) in &arrivals {
            let _ = port.offer(at, packet, &mut dice);
            let (counters, held) = (port.port.counters(), port.port.held());
            prop_assert!(adds_up(counters, held), "{counters:?}, {held:?}");
        }
        port.until(accord_units::Time::MAX);
        let order: Vec<usize> = port.served.iter().map(|s| s.packet.number).collect();
        prop_assert!(order.is_sorted(), "{order:?}");
    }

    /// A droptail queue refuses exactly the packets that do not fit. If one leaves at the instant
    /// of an arrival, either is right.
    #[test]
    fn droptail_drops_exactly_what_does_not_fit(
        limit in any_limit(),
        (rate, arrivals) in any_rate().prop_flat_map(|r| (Just(r), any_arrivals(r, ALL))),
    ) {
        let mut port = Clocked::new(rate, limit, AnyAqm::DropTail(DropTail));
        for &(at, packet) in &arrivals {
            port.until(at);
            let same = |p: &Pkt| is_high(p) == is_high(&packet);
            let serving = port.served.last().filter(|s| s.to > at).map(|s| s.packet);
            let sizes: Vec<u64> = (port.port.waiting().copied().chain(serving))
                .filter(same)
                .map(|p| p.meta.size.get())
                .collect();
            let bytes = sizes.iter().sum::<u64>() + packet.meta.size.get();
            let leaving = port.served.iter().rev().find(|s| s.to <= at);
            let leaving = leaving.filter(|s| s.to == at && same(&s.packet));
            let fits = |more: Option<u64>| {
                let packets = sizes.len() as u64 + u64::from(more.is_some());
                let bytes = bytes + more.unwrap_or(0);
                packets < limit.packets && bytes <= limit.bytes.get()
            };
            let tie = leaving.map(|s| s.packet.meta.size.get());
            let sure = fits(None) == fits(tie);
            let offered = port.offer(at, packet, &mut Dice(0));
            let expected = if fits(None) { Ok(()) } else { Err(DropReason::Overflow) };
            prop_assert!(offered == expected || !sure, "{offered:?}");
        }
    }

    /// A line that changes its rate while busy sends the rest at the new rate: by any time it has
    /// sent the integral of its rate.
    #[test]
    fn a_new_rate_reaches_the_packet_in_service(
        size in 1..65_536u64,
        rates in (any_rate(), any_rate()),
        part in 0.0..1.0f64,
        outage in prop::option::of(0..1_000_000_000u64),
    ) {
        let (size, start) = (Bytes::new(size), Time::ZERO);
        let mut line = Service::new(rates.0);
        let whole = line.send(start, size).since(start);
        let change = start + Duration::from_ps((whole.as_ps() as f64 * part) as u64);
        let mut resumed = change;
        if let Some(outage) = outage {
            line.set_rate(change, Rate::ZERO);
            prop_assert_eq!(line.busy_until(), Time::MAX);
            resumed += Duration::from_ps(outage);
        }
        line.set_rate(resumed, rates.1);
        let before = change.since(start).as_secs_f64() * rates.0.as_bps_f64();
        let after = line.busy_until().since(resumed).as_secs_f64() * rates.1.as_bps_f64();
        let bits = 8.0 * size.as_f64();
        // A picosecond at either rate may be missing, and the rounding of a float.
        let slack = 1e-9 * bits + 1e-12 * (rates.0.as_bps_f64() + rates.1.as_bps_f64());
        prop_assert!((before + after - bits).abs() <= slack, "{before} + {after} of {bits} bits");
    }
}

/// A discipline that drops every packet that it judges.
#[derive(Debug)]
struct DropAll;

impl Aqm for DropAll {
    fn on_arrival(
        &mut self,
        _: &PacketMeta,
        _: &QueueView,
        _: Time,
        _: &mut dyn Entropy,
    ) -> Verdict {
        Verdict::Drop
    }
}

/// A discipline governs the lower priority only.
#[test]
fn packets_of_high_priority_are_not_judged() {
    let mut port = Port::new(Rate::from_bps(8_000_000), Limit::UNLIMITED, DropAll, 1);
    let mut dropped = Vec::new();
    for class in [Class::OutOfBand, Class::Data] {
        port.offer(Time::ZERO, packet(0, class), &mut Dice(1), &mut |p: Pkt, why| {
            dropped.push((p.meta.class, why));
        });
    }
    assert_eq!(dropped, [(Class::Data, DropReason::Discipline)]);
    assert_eq!(port.held().packets, 1);
}

/// A policer drops the packets that it has no tokens for, before the queue: two of 1000 bytes, and
/// another each 100 ms.
#[test]
fn a_policer_drops_before_the_queue() {
    let policer = Bucket::new(Rate::from_bps(80_000), Bytes::new(2000));
    let port = Port::new(Rate::from_bps(8_000_000), Limit::UNLIMITED, DropTail, 1);
    let mut port = port.with_entry(Some(policer), false);
    let mut reasons = Vec::new();
    for ms in [0, 0, 0, 99, 100, 101, 200] {
        let now = Time::ZERO + Duration::from_ms(ms);
        port.offer(now, packet(0, Class::Data), &mut Dice(1), &mut |_, why| {
            reasons.push((ms, why))
        });
    }
    assert_eq!(reasons, [0, 99, 101].map(|ms| (ms, DropReason::Entry)));
    assert_eq!(port.counters().offered.packets, 7);
}

/// The area is the sum over packets of their waits, whoever computes it: packets of 1000 bytes, each
/// served for a millisecond, wait for 0, 1, 2 and 3 ms; one more arrives at 10.5 ms and waits for
/// none. After 1.5 ms two wait still.
#[test]
fn the_area_is_the_sum_of_waits() {
    let at = |us: u64| Time::ZERO + Duration::from_us(us);
    let milliseconds = 1_000_000_000u128;
    let mut port =
        Clocked::new(Rate::from_bps(8_000_000), Limit::UNLIMITED, AnyAqm::DropTail(DropTail));
    for _ in 0..4 {
        let offered = port.offer(Time::ZERO, packet(0, Class::Data), &mut Dice(1));
        offered.expect("there is room");
    }
    port.until(at(1500));
    let area = port.port.area(at(1500));
    // 0 + 1 + 1.5 + 1.5 ms.
    assert_eq!(area.packets, 4 * milliseconds);
    assert_eq!(area.bytes, 4000 * milliseconds);
    port.until(at(10_500));
    let offered = port.offer(at(10_500), packet(0, Class::Data), &mut Dice(1));
    offered.expect("there is room");
    port.until(at(20_000));
    assert_eq!(port.port.area(at(20_000)).packets, 6 * milliseconds);
    let mut line = Timeline::new(Rate::from_bps(8_000_000), Limit::UNLIMITED, DropTail, 1);
    for _ in 0..4 {
        let departs = line.offer(Time::ZERO, &mut packet(0, Class::Data), &mut Dice(1));
        departs.expect("there is room");
    }
    assert_eq!(line.area(at(1500)).bytes, 4000 * milliseconds);
    assert_eq!(line.area(at(4000)).bytes, 6000 * milliseconds);
}
