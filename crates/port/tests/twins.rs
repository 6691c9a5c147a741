//! The two forms of a port are the same port, and its service is exact.

use crate::common::*;
use accord_aqm::{AnyAqm, Aqm, Class, DropTail, Ecn, Structure};
use accord_port::{Hosts, Limit, Timeline};
use accord_units::{Rate, Time};
use proptest::prelude::*;

/// The arrivals at one FIFO queue, where control packets have no queue of their own.
const ONE_QUEUE: &[Class] = &[Class::Data, Class::InBand, Class::OutOfBand];

const ALL: &[Class] = &[Class::Data, Class::Data, Class::InBand, Class::OutOfBand];

/// A discipline that only judges the arrivals at one queue.
fn is_fifo(aqm: &AnyAqm) -> bool {
    matches!(aqm.structure(), Structure::Fifo)
}

/// A numerator over a line's rate: picoseconds with their fraction.
type Exact = u128;

proptest! {
    #[test]
    fn the_computed_port_is_the_stepped_port(
        (limit, aqm) in (any_limit(), any_discipline().prop_filter("one queue", is_fifo)),
        (rate, arrivals) in any_rate().prop_flat_map(|r| (Just(r), any_arrivals(r, ONE_QUEUE))),
        seed: u64,
    ) {
        let mut computed = Timeline::new(rate, limit, aqm.clone(), 1);
        let mut stepped = Clocked::new(rate, limit, aqm);
        stepped.port = stepped.port.without_priority();
        let (mut dice, mut same_dice) = (Dice(seed), Dice(seed));
        let (mut fates, mut others) = (Vec::new(), Vec::new());
        let mut touched = Vec::new();
        for &(at, packet) in &arrivals {
            // Timers of the discipline, at their times. Of a long idle time only the first one
            // counts, since a period may be nanoseconds.
            for _ in 0..100 {
                let Some(due) = computed.aqm().next_timer().filter(|due| *due < at) else {
                    break;
                };
                prop_assert_eq!(stepped.port.aqm().next_timer(), Some(due));
                computed.on_timer(due);
                stepped.until(due);
                stepped.port.on_timer(due);
            }
            let mut mine = packet;
            fates.push(match computed.offer(at, &mut mine, &mut dice) {
                Ok(departure) => Fate::Left(departure),
                Err(why) => Fate::Dropped(why),
            });
            touched.push(mine);
            others.push(match stepped.offer(at, packet, &mut same_dice) {
                Ok(()) => None,
                Err(why) => Some(Fate::Dropped(why)),
            });
            prop_assert_eq!(computed.backlog(), stepped.port.backlog());
            prop_assert_eq!(&computed.counters(), stepped.port.counters());
        }
        stepped.until(Time::MAX);
        computed.advance(Time::MAX);
        for s in &stepped.served {
            others[s.packet.number] = Some(Fate::Left(s.to));
            prop_assert_eq!(s.packet, touched[s.packet.number], "marked and delayed alike");
        }
        let others: Vec<Fate> = others.into_iter().map(|f| f.expect("all left")).collect();
        prop_assert_eq!(fates, others);
        prop_assert_eq!(&computed.counters(), stepped.port.counters());
        prop_assert_eq!(dice.0, same_dice.0, "as many throws of the dice");
    }

    /// Packets that pass an idle port have the same fate as packets that are offered and begun,
    /// with any discipline, with queues per flow and hosts, and with out-of-band control between
    /// them.
    #[test]
    fn a_packet_passes_an_idle_port_as_if_it_were_offered(
        (limit, aqm) in (any_limit(), any_discipline()),
        (rate, arrivals) in any_rate().prop_flat_map(|r| (Just(r), any_arrivals(r, ALL))),
        seed: u64,
    ) {
        let hosts = || Hosts::new((0..6).map(|flow| [flow % 2, flow % 3]));
        let mut computed = Computed::new(rate, limit, aqm.clone());
        let mut stepped = Clocked::new(rate, limit, aqm);
        computed.port = computed.port.with_hosts(hosts);
        stepped.port = stepped.port.with_hosts(hosts);
        let (mut dice, mut same_dice) = (Dice(seed), Dice(seed));
        for &(at, packet) in &arrivals {
            for _ in 0..100 {
                let Some(due) = computed.port.aqm().next_timer().filter(|due| *due < at) else {
                    break;
                };
                computed.until(due);
                computed.port.on_timer(due);
                stepped.until(due);
                stepped.port.on_timer(due);
            }
            computed.offer(at, packet, &mut dice);
            let _ = stepped.offer(at, packet, &mut same_dice);
            prop_assert_eq!(computed.port.counters(), stepped.port.counters());
            prop_assert_eq!(computed.port.backlog(), stepped.port.backlog());
            prop_assert_eq!(computed.port.area(at), stepped.port.area(at));
        }
        prop_assert_eq!(computed.port.take_longest(), stepped.port.take_longest());
        computed.until(Time::MAX);
        stepped.until(Time::MAX);
        prop_assert_eq!(computed.served, stepped.served);
        prop_assert_eq!(computed.dropped, stepped.dropped);
        prop_assert_eq!(dice.0, same_dice.0, "as many throws of the dice");
    }

    /// Departures against the recursion D = max(A, previous D) + size / rate in exact fractions:
    /// never off by a picosecond, however long the line is busy.
    #[test]
    fn service_is_exact_to_the_picosecond(
        (rate, arrivals) in any_rate().prop_flat_map(|r| (Just(r), any_arrivals(r, ONE_QUEUE))),
    ) {
        let mut port = Timeline::new(rate, Limit::UNLIMITED, AnyAqm::DropTail(DropTail), 1);
        let mut free: Exact = 0;
        let bps = Exact::from(rate.as_bps());
        for (at, mut packet) in arrivals {
            let departure = port.offer(at, &mut packet, &mut Dice(0)).expect("there is room");
            let start = free.max(Exact::from(at.as_ps()) * bps);
            free = start + Exact::from(packet.meta.size.get()) * 8_000_000_000_000;
            prop_assert_eq!(Exact::from(departure.as_ps()), free / bps);
        }
    }
}

#[test]
fn a_busy_line_neither_gains_nor_loses_in_the_long_run() {
    // 12 000 bits at 7 Gbps take 1 714 285.714… ps. Truncated, the line would run 0.4 ppm fast.
    let rate = Rate::from_bps(7_000_000_000);
    let mut port = Timeline::new(rate, Limit::UNLIMITED, AnyAqm::DropTail(DropTail), 1);
    let mut packet = packet(1500);
    let mut last = Time::ZERO;
    for _ in 0..7_000_000 {
        last = port.offer(Time::ZERO, &mut packet, &mut Dice(0)).expect("there is room");
    }
    assert_eq!(last, Time::ZERO + accord_units::Duration::from_secs(12));
}

fn packet(size: u64) -> Pkt {
    Pkt {
        number: 0,
        meta: accord_aqm::PacketMeta {
            size: accord_units::Bytes::new(size),
            class: Class::Data,
            ecn: Ecn::NotCapable,
            aggregate: 0,
            flow: 0,
        },
        marked: false,
        delay: accord_units::Duration::ZERO,
    }
}
