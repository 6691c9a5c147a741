//! In what order a port serves, and that nothing comes or goes unnoticed.

mod common;
#[path = "../../aqm/tests/common/any_values.rs"]
mod values;

use accord_aqm::{AnyAqm, Aqm, Class, DropTail, Ecn, Structure};
use accord_port::{Count, Counters, DropReason};
use accord_units::Rate;
use common::*;
use proptest::prelude::*;

const ALL: &[Class] = &[Class::Data, Class::InBand, Class::OutOfBand, Class::Data];

/// Flows that have a queue each overtake each other; nothing else does.
fn has_one_queue(aqm: &AnyAqm) -> bool {
    !matches!(aqm.structure(), Structure::Flows(_))
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
        let in_turns = !has_one_queue(&aqm);
        let one_queue = |a: &Pkt, b: &Pkt| is_high(a) == is_high(b)
            && (!in_turns || is_high(a) || a.meta.flow == b.meta.flow);
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
            // Never interrupted, and never idle while something waits.
            let free = before.map_or(accord_units::Time::ZERO, |b| b.to);
            let left = &port.served[k..];
            let next = left.iter().map(|o| arrival(&o.packet)).min().expect("not empty");
            prop_assert_eq!(s.from, free.max(next));
            // Of those that have come, high before low, and each in the order of arrival.
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

    /// A drop-tail queue refuses what does not fit, and nothing else.
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
            let fits = (sizes.len() as u64) < limit.packets && bytes <= limit.bytes.get();
            let offered = port.offer(at, packet, &mut Dice(0));
            prop_assert_eq!(offered, if fits { Ok(()) } else { Err(DropReason::Overflow) });
        }
    }

    /// A line that changes its rate while busy finishes the packet in service as it began it,
    /// and serves the rest at the new rate.
    #[test]
    fn a_new_rate_holds_from_the_next_packet_on(
        sizes in prop::collection::vec(1..65_536u64, 2..50),
        rates in (any_rate(), any_rate()),
        after in 0..50usize,
    ) {
        let mut port = Clocked::new(rates.0, accord_port::Limit::UNLIMITED, AnyAqm::DropTail(DropTail));
        for (number, &size) in sizes.iter().enumerate() {
            let meta = accord_aqm::PacketMeta {
                size: accord_units::Bytes::new(size),
                class: Class::Data,
                ecn: Ecn::NotCapable,
                aggregate: 0,
                flow: 0,
            };
            let delay = accord_units::Duration::ZERO;
            let packet = Pkt { number, meta, marked: false, delay };
            port.offer(accord_units::Time::ZERO, packet, &mut Dice(0)).expect("there is room");
        }
        let changed = after % sizes.len();
        while port.served.len() <= changed {
            let end = port.served.last().expect("busy").to;
            port.until(end);
        }
        port.port.set_rate(rates.1);
        port.until(accord_units::Time::MAX);
        for s in &port.served {
            let rate: Rate = if s.packet.number <= changed { rates.0 } else { rates.1 };
            let whole = rate.transmission(s.packet.meta.size).as_ps();
            let took = s.to.since(s.from).as_ps();
            prop_assert!((whole..=whole + 1).contains(&took), "{took} for {whole} ps");
        }
        prop_assert!(adds_up(port.port.counters(), Count::default()));
    }
}
