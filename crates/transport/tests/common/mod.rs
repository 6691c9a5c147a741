//! A network for tests: a wire each way that delays, loses, doubles and reorders.
#![allow(dead_code, reason = "each test file uses its own part")]

use accord_control::{AnyController, FAMILIES, Maker, Transport};
use accord_family::{Raw, Values};
use accord_units::{Bytes, Duration, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The packet of all these tests.
pub const PACKET: Bytes = Bytes::new(1000);

/// A generator of the same numbers on every run (splitmix64).
#[derive(Clone)]
pub struct Dice(pub u64);

impl Dice {
    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }
}

/// The effect of a wire on packets.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    pub delay: Duration,
    /// Probabilities, for each packet.
    pub loss: f64,
    pub twice: f64,
    /// The largest extra delay, drawn per packet, so later packets overtake.
    pub jitter: Duration,
}

impl Weather {
    pub const FAIR: Weather =
        Weather { delay: Duration::from_ms(20), loss: 0.0, twice: 0.0, jitter: Duration::ZERO };
}

/// Any effects of a network, as long as some packets get through.
pub fn foul() -> impl Strategy<Value = Weather> {
    let p = || prop_oneof![Just(0.0), 0.0..0.1f64, 0.0..0.5f64];
    let jitter = prop_oneof![Just(0), 0..100_000u64, 0..10_000_000u64];
    (1..200_000u64, p(), p(), jitter).prop_map(|(delay, loss, twice, jitter)| Weather {
        delay: Duration::from_us(delay),
        loss,
        twice,
        jitter: Duration::from_us(jitter),
    })
}

/// Losses only: packets arrive in order, and once.
pub fn lossy() -> impl Strategy<Value = Weather> {
    (0.0..0.4f64).prop_map(|loss| Weather { loss, ..Weather::FAIR })
}

/// The packets on their way, by arrival and sequence.
#[derive(Default)]
pub struct Air<T> {
    flying: BTreeMap<(Time, u64), T>,
    sequence: u64,
}

impl<T: Copy> Air<T> {
    pub fn new() -> Air<T> {
        Air { flying: BTreeMap::new(), sequence: 0 }
    }

    pub fn send(&mut self, what: T, now: Time, weather: &Weather, dice: &mut Dice) {
        let lost = dice.chance(weather.loss);
        let copies = 1 + u64::from(dice.chance(weather.twice));
        for _ in 0..copies {
            let at = now + weather.delay + weather.jitter.mul_f64(dice.uniform());
            if !lost {
                self.sequence += 1;
                self.flying.insert((at, self.sequence), what);
            }
        }
    }

    pub fn next(&self) -> Option<Time> {
        self.flying.keys().next().map(|k| k.0)
    }

    pub fn take(&mut self) -> Option<T> {
        self.flying.pop_first().map(|(_, what)| what)
    }

    pub fn count(&self, of: impl Fn(&T) -> bool) -> u64 {
        self.flying.values().filter(|w| of(w)).count() as u64
    }
}

/// Parameters of the controllers that run on a stream, or of those on a tunnel; random, or the
/// defaults of one of its laws.
pub fn any_controller(on_stream: bool) -> impl Strategy<Value = Values> {
    let families: Vec<_> = (FAMILIES.iter())
        .filter(|f| !matches!(Maker::of(f).transport, Transport::Tunnel { .. }) == on_stream)
        .collect();
    assert!(!families.is_empty());
    let values = (0..families.len()).prop_flat_map(move |i| crate::values::any_values(families[i]));
    let law = prop::option::of(any::<prop::sample::Index>());
    (values, law).prop_map(|(values, law)| match law {
        Some(law) => law.get(&crate::values::laws(values.family())).clone(),
        None => values,
    })
}

/// A controller with some parameters changed.
pub fn build(name: &str, changes: &[(&str, Raw)]) -> AnyController {
    let family = FAMILIES.iter().find(|f| f.name == name).expect("known");
    let mut values = family.defaults();
    for (param, raw) in changes {
        values.set(param, raw).expect("in range");
    }
    AnyController::build(&values, PACKET)
}
