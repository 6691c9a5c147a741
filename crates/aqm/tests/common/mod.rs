//! Shared by the tests of disciplines.
#![allow(dead_code, reason = "each test file uses its own part")]

use accord_aqm::{Aqm, Class, Ecn, Entropy, FAMILIES, PacketMeta, QueueView, Verdict};
use accord_family::{Family, Raw, Values};
use accord_units::{Bytes, Rate, Time};

/// A small, reproducible generator of sufficiently random numbers (splitmix64).
pub struct Random(pub u64);

impl Entropy for Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub fn family(name: &str) -> &'static Family {
    FAMILIES.iter().find(|f| f.name == name).expect("known")
}

/// The family's parameters with some of them changed; checked as a scenario's are.
pub fn values(name: &str, changes: &[(&str, Raw)]) -> Values {
    let mut values = family(name).defaults();
    for (param, raw) in changes {
        values.set(param, raw).expect("in range");
    }
    (family(name).check)(&values).expect("consistent");
    values
}

pub fn text(s: &str) -> Raw {
    Raw::Text(s.into())
}

pub const DATA: PacketMeta = PacketMeta {
    size: Bytes::new(1000),
    class: Class::Data,
    ecn: Ecn::NotCapable,
    aggregate: 0,
    flow: 0,
};

/// A queue of `packets` packets of 1000 bytes on a 10 Mbit/s link, without a limit.
pub fn queue(packets: u64) -> QueueView {
    QueueView {
        packets,
        bytes: Bytes::new(1000 * packets),
        rate: Rate::from_bps(10_000_000),
        capacity: None,
    }
}

/// Offers a data packet at `seconds` to an empty queue.
pub fn offer(aqm: &mut impl Aqm, seconds: f64) -> Verdict {
    aqm.on_arrival(&DATA, &queue(0), Time::from_secs_f64(seconds), &mut Random(0))
}
