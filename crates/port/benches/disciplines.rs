//! The cost of a packet in a port, by queue discipline: `cargo bench -p accord-port`.
//!
//! The port sends at the rate of arrivals, with 50 packets of 1000 bytes queued from 100 flows, at
//! 100 Mbps: 4 ms of delay, so nothing is dropped for long. For each packet the loop offers
//! it, begins its service, ends its service, and runs the timers that are due.

use accord_aqm::{AnyAqm, Aqm, Class, Ecn, Entropy, FAMILIES, PacketMeta};
use accord_port::{Limit, Port, PortPacket};
use accord_units::{Bytes, Duration, Rate, Time};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

/// A packet of the simulator's size.
#[derive(Clone, Copy)]
struct Pkt {
    meta: PacketMeta,
    _rest: [u64; 3],
}

impl PortPacket for Pkt {
    fn meta(&self) -> PacketMeta {
        self.meta
    }
    fn mark(&mut self) {
        self.meta.ecn = Ecn::Marked;
    }
    fn add_virtual_delay(&mut self, _: Duration) {}
}

/// Lehmer's generator.
struct Dice(u64);

impl Entropy for Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn disciplines(c: &mut Criterion) {
    let mut group = c.benchmark_group("port");
    group.throughput(Throughput::Elements(1));
    for family in FAMILIES {
        let rate = Rate::from_bps(100_000_000);
        let aqm = AnyAqm::build(&family.defaults());
        let mut port = Port::new(rate, Limit::packets(1000), aqm, 1);
        let mut dice = Dice(1);
        let mut now = Time::ZERO;
        let mut flow = 0;
        let mut next = move || {
            flow = (flow + 1) % 100;
            Pkt {
                meta: PacketMeta {
                    size: Bytes::new(1000),
                    class: Class::Data,
                    ecn: Ecn::NotCapable,
                    aggregate: 0,
                    flow,
                },
                _rest: [0; 3],
            }
        };
        for _ in 0..50 {
            port.offer(now, next(), &mut dice, &mut |_, _| {});
        }
        group.bench_function(family.name, |b| {
            b.iter(|| {
                if let Some((packet, end)) = port.begin(now, &mut |_, _| {}) {
                    now = end;
                    port.complete();
                    black_box(packet);
                } else {
                    now += rate.transmission(Bytes::new(1000));
                }
                while let Some(due) = port.aqm().next_timer().filter(|due| *due <= now) {
                    port.on_timer(due);
                }
                port.offer(now, next(), &mut dice, &mut |_, _| {});
            });
        });
    }
    group.finish();
}

criterion_group!(benches, disciplines);
criterion_main!(benches);
