//! Shared by the tests of ports: packets, dice, and a port driven by a clock.
#![allow(dead_code, reason = "each test file uses its own part")]

use accord_aqm::{AnyAqm, Class, Ecn, Entropy, FAMILIES, PacketMeta};
use accord_port::{DropReason, Limit, Port, PortPacket};
use accord_units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;

/// A generator of the same numbers on every run (splitmix64).
#[derive(Clone)]
pub struct Dice(pub u64);

impl Entropy for Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A packet that records its marks and its virtual delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pkt {
    pub number: usize,
    pub meta: PacketMeta,
    pub marked: bool,
    pub delay: Duration,
}

impl PortPacket for Pkt {
    fn meta(&self) -> PacketMeta {
        self.meta
    }
    fn mark(&mut self) {
        self.marked = true;
    }
    fn add_virtual_delay(&mut self, delay: Duration) {
        self.delay += delay;
    }
}

/// The arrivals at a port, in the order of time: an instant and a packet each.
pub type Arrival = (Time, Pkt);

/// Rates of all magnitudes, including ones that do not divide a second into whole picoseconds per
/// bit.
pub fn any_rate() -> impl Strategy<Value = Rate> {
    prop_oneof![Just(1_000_000), Just(333_333_333), 1_000..10_000u64, 1_000..1_000_000_000_000u64,]
        .prop_map(Rate::from_bps)
}

pub fn any_limit() -> impl Strategy<Value = Limit> {
    let packets = prop_oneof![Just(u64::MAX), 1..20u64];
    let bytes = prop_oneof![Just(u64::MAX), 40..20_000u64];
    (packets, bytes).prop_map(|(packets, bytes)| Limit { packets, bytes: Bytes::new(bytes) })
}

pub fn any_discipline() -> impl Strategy<Value = AnyAqm> {
    let values = (0..FAMILIES.len()).prop_flat_map(|i| crate::values::any_values(FAMILIES[i]));
    (values, any::<bool>()).prop_map(|(values, defaults)| {
        if defaults { AnyAqm::build(&values.family().defaults()) } else { AnyAqm::build(&values) }
    })
}

/// Arrivals at a line of `rate`: bursts, gaps that are exact transmission times (so that
/// arrivals and departures fall together), and idle times.
pub fn any_arrivals(rate: Rate, classes: &'static [Class]) -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![
        4 => Just(0.0),
        2 => Just(1.0),
        3 => 0.0..3.0f64,
        1 => 0.0..50.0f64,
    ];
    let size = prop_oneof![Just(1000), Just(40), 1..65_536u64];
    let ecn = prop_oneof![
        3 => Just(Ecn::NotCapable),
        3 => Just(Ecn::Capable),
        1 => Just(Ecn::Scalable),
        1 => Just(Ecn::Marked),
    ];
    let packet = (size, 0..classes.len(), ecn, 0..6u32);
    prop::collection::vec((gap, packet), 1..150).prop_map(move |items| {
        let mut now = Time::ZERO;
        let mut arrivals = Vec::new();
        for (number, (gap, (size, class, ecn, flow))) in items.into_iter().enumerate() {
            now += rate.transmission(Bytes::new(1000)).mul_f64(gap);
            let meta = PacketMeta {
                size: Bytes::new(size),
                aggregate: (size % 3) as u8,
                class: classes[class],
                ecn,
                flow,
            };
            let delay = Duration::ZERO;
            arrivals.push((now, Pkt { number, meta, marked: false, delay }));
        }
        arrivals
    })
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    /// The packet departed, at this time.
    Left(Time),
    Dropped(DropReason),
}

/// One service: begin, end and packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Served {
    pub from: Time,
    pub to: Time,
    pub packet: Pkt,
}

/// A stepped port, driven by a clock. Departures at an instant precede arrivals at it.
pub struct Clocked {
    pub port: Port<Pkt>,
    pub served: Vec<Served>,
    pub dropped: Vec<(Pkt, DropReason)>,
    busy: Option<Time>,
    now: Time,
}

impl Clocked {
    pub fn new(rate: Rate, limit: Limit, aqm: AnyAqm) -> Clocked {
        Clocked {
            port: Port::new(rate, limit, aqm, 1),
            served: Vec::new(),
            dropped: Vec::new(),
            busy: None,
            now: Time::ZERO,
        }
    }

    fn begin(&mut self) {
        let dropped = &mut self.dropped;
        let begun = (self.port).begin(self.now, &mut |packet, why| dropped.push((packet, why)));
        if let Some((packet, to)) = begun {
            let from = self.now;
            self.served.push(Served { from, to, packet });
            self.busy = Some(to);
        }
    }

    /// Moves the clock on.
    pub fn until(&mut self, now: Time) {
        while let Some(at) = self.busy.filter(|at| *at <= now) {
            self.now = at;
            self.port.complete();
            self.busy = None;
            self.begin();
        }
        self.now = now;
    }

    /// Offers a packet. Returns the reason if it is dropped at once.
    pub fn offer(&mut self, at: Time, packet: Pkt, dice: &mut Dice) -> Result<(), DropReason> {
        self.until(at);
        let (number, before) = (packet.number, self.dropped.len());
        let dropped = &mut self.dropped;
        (self.port).offer(at, packet, dice, &mut |packet, why| dropped.push((packet, why)));
        let own = self.dropped[before..].iter().find(|(p, _)| p.number == number);
        let offered = own.map_or(Ok(()), |(_, why)| Err(*why));
        self.begin();
        offered
    }
}

/// The same port for a caller that computes the ends of services and passes packets through an idle
/// port.
pub struct Computed {
    pub port: Port<Pkt>,
    pub served: Vec<Served>,
    pub dropped: Vec<(Pkt, DropReason)>,
}

impl Computed {
    pub fn new(rate: Rate, limit: Limit, aqm: AnyAqm) -> Computed {
        Computed { port: Port::new(rate, limit, aqm, 1), served: Vec::new(), dropped: Vec::new() }
    }

    fn begin(&mut self, from: Time) {
        let dropped = &mut self.dropped;
        let begun = (self.port).begin(from, &mut |packet, why| dropped.push((packet, why)));
        self.served.extend(begun.map(|(packet, to)| Served { from, to, packet }));
    }

    /// Moves the clock on.
    pub fn until(&mut self, now: Time) {
        while let Some(at) = self.port.next().filter(|at| *at <= now) {
            self.port.complete();
            self.begin(at);
        }
        self.port.advance(now);
    }

    /// A packet arrives.
    pub fn offer(&mut self, at: Time, mut packet: Pkt, dice: &mut Dice) {
        self.until(at);
        match self.port.pass(at, &mut packet, dice) {
            Some(Ok(to)) => self.served.push(Served { from: at, to, packet }),
            Some(Err(why)) => self.dropped.push((packet, why)),
            None => {
                let dropped = &mut self.dropped;
                (self.port).offer(at, packet, dice, &mut |packet, why| dropped.push((packet, why)));
                self.begin(at);
            }
        }
    }
}

/// A packet of 1000 bytes that cannot be marked.
pub fn packet(number: usize, class: Class) -> Pkt {
    Pkt {
        number,
        meta: PacketMeta {
            size: Bytes::new(1000),
            class,
            ecn: Ecn::NotCapable,
            aggregate: 0,
            flow: 0,
        },
        marked: false,
        delay: Duration::ZERO,
    }
}
