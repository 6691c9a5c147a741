//! Host-FQ against the isolation of CAKE: shares by host, and a queue for each flow.

use crate::common::*;
use accord_aqm::{AnyAqm, Class, Ecn, FAMILIES, PacketMeta};
use accord_family::Raw;
use accord_port::{Hosts, Limit};
use accord_units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A byte a microsecond.
const RATE: Rate = Rate::from_bps(8_000_000);

fn port(name: &str, limit: Limit, changes: &[(&str, Raw)]) -> Clocked {
    let family = FAMILIES.iter().find(|f| f.name == name).expect("known");
    let mut values = family.defaults();
    for (param, raw) in changes {
        values.set(param, raw).expect("in range");
    }
    (family.check)(&values).expect("consistent");
    Clocked::new(RATE, limit, AnyAqm::build(&values))
}

fn with_hosts(mut clocked: Clocked, hosts: &[[u32; 2]]) -> Clocked {
    let hosts = hosts.to_vec();
    clocked.port = clocked.port.with_hosts(|| Hosts::new(hosts));
    clocked
}

fn packet(number: usize, flow: u32) -> Pkt {
    let meta = PacketMeta {
        size: Bytes::new(1500),
        class: Class::Data,
        ecn: Ecn::NotCapable,
        aggregate: 0,
        flow,
    };
    Pkt { number, meta, marked: false, delay: Duration::ZERO }
}

/// The bytes of each of `flows` backlogged flows that were served in a second, after half a second
/// in which all cease to be new. The interval of CoDel is long, so no packet is dropped.
fn shares(mut port: Clocked, flows: u32) -> Vec<u64> {
    let mut dice = Dice(1);
    let ms = |ms| Time::ZERO + Duration::from_ms(ms);
    for number in 0..1200 {
        for flow in 0..flows {
            let offered = port.offer(Time::ZERO, packet(number, flow), &mut dice);
            offered.expect("there is room");
        }
    }
    port.until(ms(1500));
    assert!(port.dropped.is_empty());
    let counted = port.served.iter().filter(|s| s.from >= ms(500));
    let mut bytes = vec![0; flows as usize];
    counted.for_each(|s| bytes[s.packet.meta.flow as usize] += s.packet.meta.size.get());
    bytes
}

fn patient() -> [(&'static str, Raw); 1] {
    [("interval", Raw::Text("100 s".into()))]
}

/// Host 10 has one flow and host 11 has eight, as sources in one run and as destinations in the
/// other. Each host gets half, and each of the eight flows a sixteenth; FQ-CoDel would give a ninth
/// to each. A host is off by a quantum and a packet per flow at most.
#[test]
fn a_host_with_one_flow_gets_as_much_as_one_with_eight() {
    let total = 1_000_000;
    let near = |bytes: u64, part: u64| bytes.abs_diff(total / part) <= 2 * 9 * 1514;
    for side in [0, 1] {
        let hosts: Vec<[u32; 2]> = (0..9)
            .map(|flow| {
                let mut hosts = [20 + flow; 2];
                hosts[side] = 10 + u32::from(flow > 0);
                hosts
            })
            .collect();
        let queues = port("host-fq", Limit::UNLIMITED, &patient());
        let bytes = shares(with_hosts(queues, &hosts), 9);
        assert!(near(bytes[0], 2), "{side}: {bytes:?}");
        assert!(bytes[1..].iter().all(|b| near(*b, 16)), "{side}: {bytes:?}");
        let one = [&patient()[..], &[("queues", Raw::Integer(65_536))]].concat();
        let plain = with_hosts(port("fq-codel", Limit::UNLIMITED, &one), &hosts);
        let bytes = shares(plain, 9);
        assert!(bytes.iter().all(|b| near(*b, 9)), "{side}: {bytes:?}");
    }
}

/// Both sides count: four flows of one source to four destinations get no more than the one flow of
/// another source, though each has a destination of its own.
#[test]
fn the_busier_of_both_hosts_counts() {
    // Flows 0 to 3 go from 1 to 11..14, flow 4 from 2 to 15, and flow 5 from 3 to 15, which has two
    // flows then.
    let hosts = [[1, 11], [1, 12], [1, 13], [1, 14], [2, 15], [3, 15]];
    let queues = port("host-fq", Limit::UNLIMITED, &patient());
    let bytes = shares(with_hosts(queues, &hosts), 6);
    // Weights of 1/4 four times and of 1/2 twice.
    for (flow, part) in [8, 8, 8, 8, 4, 4].into_iter().enumerate() {
        let due = 1_000_000 / part;
        assert!(bytes[flow].abs_diff(due) <= 12 * 1514, "{bytes:?}");
    }
}

/// Eight flows and eight queues: with eight ways each flow has a queue of its own, whatever the
/// secret. With one way some share a queue, and get less.
#[test]
fn flows_do_not_meet_while_queues_are_free() {
    let outcome = |ways: i64| {
        let changes =
            [&patient()[..], &[("queues", Raw::Integer(8)), ("ways", Raw::Integer(ways))]];
        shares(port("host-fq", Limit::UNLIMITED, &changes.concat()), 8)
    };
    let spread = |bytes: &[u64]| bytes.iter().max().unwrap() - bytes.iter().min().unwrap();
    assert!(spread(&outcome(8)) <= 2 * 1514);
    assert!(spread(&outcome(1)) > 50_000);
}

proptest! {
    /// The packets of each flow leave in order even if there are more flows than queues.
    #[test]
    fn flows_that_meet_keep_their_order(
        arrivals in any_arrivals(RATE, &[Class::Data]),
        queues in 1..4i64,
        secret in any::<u64>(),
    ) {
        let queues = Raw::Integer(queues);
        let changes = [("queues", queues.clone()), ("ways", queues)];
        let mut port = port("host-fq", Limit::UNLIMITED, &changes);
        for &(at, packet) in &arrivals {
            let _ = port.offer(at, packet, &mut Dice(secret));
        }
        port.until(Time::MAX);
        let mut last = BTreeMap::new();
        for served in &port.served {
            let packet = served.packet;
            let before = last.insert(packet.meta.flow, packet.number);
            prop_assert!(before.is_none_or(|number| number < packet.number));
        }
        prop_assert_eq!(port.served.len() + port.dropped.len(), arrivals.len());
    }

    /// Host-FQ without hosts and with one way is FQ-CoDel that drops packets one by one.
    #[test]
    fn without_hosts_it_is_fq_codel(
        arrivals in any_arrivals(RATE, &[Class::Data]),
        limit in any_limit(),
    ) {
        let mut hosts = port("host-fq", limit, &[("ways", Raw::Integer(1))]);
        let mut plain = port("fq-codel", limit, &[("batch", Raw::Integer(1))]);
        for port in [&mut hosts, &mut plain] {
            for &(at, packet) in &arrivals {
                let _ = port.offer(at, packet, &mut Dice(7));
            }
            port.until(Time::MAX);
        }
        let fates = |port: &Clocked| {
            let served = port.served.iter().map(|s| (s.packet, s.to));
            (served.collect::<Vec<_>>(), port.dropped.clone())
        };
        prop_assert_eq!(fates(&hosts), fates(&plain));
    }
}
