//! Packets collect the virtual delay of a port's discipline.

use crate::common::*;
use accord_aqm::{AnyAqm, Class, FAMILIES};
use accord_family::Raw;
use accord_port::{Limit, Timeline};
use accord_units::{Rate, Time};

/// 1 MB/s. The virtual capacity is 80 % of it, and hardly adapts.
const RATE: Rate = Rate::from_bps(8_000_000);

fn avd() -> AnyAqm {
    let avd = FAMILIES.iter().find(|f| f.name == "avd").expect("known");
    let mut values = avd.defaults();
    for (name, value) in [("utilisation", 0.8), ("gain", 1e-6)] {
        values.set(name, &Raw::Number(value)).expect("in range");
    }
    AnyAqm::build(&values)
}

/// Packets of 1000 bytes that arrive at once. Each waits for those ahead of it at 0.8 MB/s, 1.25 ms
/// for each. Out-of-band packets wait for none, but count in the virtual queue as all arrivals do.
fn check(found: impl Fn(&[Pkt]) -> Vec<Pkt>, classes: &[Class], delays_us: &[u64]) {
    let sent: Vec<Pkt> = (classes.iter().enumerate()).map(|(i, class)| packet(i, *class)).collect();
    let mut found = found(&sent);
    found.sort_by_key(|p| p.number);
    assert_eq!(found.len(), delays_us.len());
    for (p, us) in found.iter().zip(delays_us) {
        let error = p.delay.as_secs_f64() - *us as f64 * 1e-6;
        // The capacity moves by a millionth of a packet per second and arrival.
        assert!(error.abs() < 1e-8, "packet {}: {:?}", p.number, p.delay);
    }
}

fn stepped(sent: &[Pkt]) -> Vec<Pkt> {
    let mut port = Clocked::new(RATE, Limit::UNLIMITED, avd());
    for p in sent {
        port.offer(Time::ZERO, *p, &mut Dice(1)).expect("room");
    }
    port.until(Time::MAX);
    port.served.iter().map(|s| s.packet).collect()
}

fn passed(sent: &[Pkt]) -> Vec<Pkt> {
    let mut port = Computed::new(RATE, Limit::UNLIMITED, avd());
    for p in sent {
        port.offer(Time::ZERO, *p, &mut Dice(1));
    }
    port.until(Time::MAX);
    port.served.iter().map(|s| s.packet).collect()
}

fn computed(sent: &[Pkt]) -> Vec<Pkt> {
    let mut port = Timeline::new(RATE, Limit::UNLIMITED, avd(), 1);
    let offered = sent.iter().map(|p| {
        let mut p = *p;
        port.offer(Time::ZERO, &mut p, &mut Dice(1)).expect("room");
        p
    });
    offered.collect()
}

#[test]
fn data_packets_collect_it_as_in_band_packets_do() {
    let classes = [Class::Data, Class::Data, Class::InBand, Class::Data];
    let delays = [0, 1250, 2500, 3750];
    check(stepped, &classes, &delays);
    check(passed, &classes, &delays);
    check(computed, &classes, &delays);
}

#[test]
fn out_of_band_packets_collect_none() {
    let classes = [Class::Data, Class::OutOfBand, Class::Data];
    let delays = [0, 0, 2500];
    check(stepped, &classes, &delays);
    check(passed, &classes, &delays);
}
