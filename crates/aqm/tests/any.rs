//! Properties of every discipline under any sequence of operations.

use crate::common;
use crate::values;

use crate::common::Random;
use accord_aqm::{
    AnyAqm, Aqm, Class, Ecn, Entropy, FAMILIES, PacketMeta, QueueView, Structure, Verdict,
};
use accord_units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Operation {
    Arrival(PacketMeta, QueueView),
    Overflow(PacketMeta),
    Departure(PacketMeta, Duration, QueueView),
    Timer(QueueView),
}

/// A span before the next operation: none, some, or the rest of the clock's range.
fn any_gap() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(0), 0..1_000_000u64, 0..1_000_000_000_000u64, any::<u64>(),]
        .prop_map(Duration::from_ps)
}

fn any_packet() -> impl Strategy<Value = PacketMeta> {
    let class = prop_oneof![Just(Class::Data), Just(Class::InBand), Just(Class::OutOfBand)];
    let ecn = prop_oneof![
        Just(Ecn::NotCapable),
        Just(Ecn::Capable),
        Just(Ecn::Scalable),
        Just(Ecn::Marked)
    ];
    (1..65_536u64, class, ecn, 0..4u8, any::<u32>()).prop_map(
        |(size, class, ecn, aggregate, flow)| PacketMeta {
            size: Bytes::new(size),
            class,
            ecn,
            aggregate,
            flow,
        },
    )
}

fn any_queue() -> impl Strategy<Value = QueueView> {
    let rate = prop_oneof![Just(0), 1..10_000u64, 1_000_000..1_000_000_000_000u64];
    let packets = prop_oneof![Just(0), 0..100u64, 0..1_000_000u64];
    let capacity = prop::option::of(1..1_000_000_000u64);
    (packets, 1..65_536u64, rate, capacity).prop_map(|(packets, size, rate, capacity)| QueueView {
        packets,
        bytes: Bytes::new(packets * size),
        rate: Rate::from_bps(rate),
        capacity: capacity.map(Bytes::new),
    })
}

fn any_operation() -> impl Strategy<Value = (Duration, Operation)> {
    let operation = prop_oneof![
        9 => (any_packet(), any_queue()).prop_map(|(p, q)| Operation::Arrival(p, q)),
        1 => any_packet().prop_map(Operation::Overflow),
        5 => (any_packet(), any_gap(), any_queue())
            .prop_map(|(p, sojourn, q)| Operation::Departure(p, sojourn, q)),
        1 => any_queue().prop_map(Operation::Timer),
    ];
    (any_gap(), operation)
}

/// Slightly more than the longest duration from `any_values`.
const LONGEST: Duration = Duration::from_secs(1001);

fn behaves(mut aqm: AnyAqm, operations: Vec<(Duration, Operation)>) -> Result<(), TestCaseError> {
    let mut now = Time::ZERO;
    let mut random = Random(1);
    for (gap, operation) in operations {
        now += gap;
        match operation {
            Operation::Arrival(packet, queue) => {
                let verdict = aqm.on_arrival(&packet, &queue, now, &mut random);
                if verdict == Verdict::Mark {
                    prop_assert!(packet.ecn.is_capable(), "marked what cannot be marked");
                }
                if packet.class == Class::OutOfBand || is_passive(&aqm) {
                    prop_assert_eq!(verdict, Verdict::Pass);
                }
                match &aqm {
                    AnyAqm::Avd(a) => prop_assert!(a.virtual_capacity() <= queue.rate),
                    AnyAqm::Avq(a) => prop_assert!(a.virtual_capacity() <= queue.rate),
                    AnyAqm::Red(a) => {
                        prop_assert!((0.0..1e12).contains(&a.average()), "{}", a.average());
                    }
                    AnyAqm::Pie(a) => prop_assert!((0.0..=1.0).contains(&a.probability())),
                    _ => {}
                }
            }
            Operation::Overflow(packet) => aqm.on_overflow(&packet),
            Operation::Departure(packet, sojourn, queue) => {
                let verdict = aqm.on_departure(&packet, sojourn, &queue, now);
                if verdict == Verdict::Mark {
                    prop_assert!(packet.ecn.is_capable(), "marked what cannot be marked");
                }
                let exempt = packet.class == Class::OutOfBand;
                if exempt || !matches!(aqm.structure(), Structure::Stamped) {
                    prop_assert_eq!(verdict, Verdict::Pass);
                }
            }
            Operation::Timer(queue) => {
                aqm.on_timer(&queue, now);
                let next = aqm.next_timer();
                prop_assert!(next.is_none_or(|at| at > now || now == Time::MAX));
            }
        }
        prop_assert!(aqm.virtual_delay(now) <= LONGEST);
        prop_assert!(aqm.virtual_delay(Time::MAX) <= LONGEST);
        prop_assert!(aqm.price().is_none_or(|p| p >= 0.0 && p.is_finite()));
        prop_assert!(aqm.excess_bandwidth().is_none_or(|b| (0.0..=1.0).contains(&b)));
        for a in (0..4).map_while(|i| aqm.aggregate(i)) {
            prop_assert!((0.0..=1.0).contains(&a.transmit_probability), "{a:?}");
            prop_assert!(a.admitted <= a.offered, "{a:?}");
            prop_assert!(a.decrease >= 0.0 && a.decrease.is_finite(), "{a:?}");
            prop_assert!(a.ratio.is_none_or(|r| r >= 0.0 && r.is_finite()), "{a:?}");
        }
    }
    forgets(aqm, now, random)
}

/// Occasional packets on an empty link eventually pass and find no virtual queue, after any
/// history. (The first may meet a remaining backlog; an adapted capacity returns with the next.)
fn forgets(mut aqm: AnyAqm, mut now: Time, mut random: Random) -> Result<(), TestCaseError> {
    const LONG: Duration = Duration::from_secs(1_000_000);
    if now > Time::ZERO + LONG * 10 {
        return Ok(()); // The clock stands before long.
    }
    let small = PacketMeta { size: Bytes::new(1), ..common::DATA };
    let mut verdict = Verdict::Drop;
    for _ in 0..3 {
        now += LONG;
        // A due timer repeats; 2000 calls are enough.
        for _ in 0..2000 {
            let Some(at) = aqm.next_timer().filter(|at| *at <= now) else {
                break;
            };
            aqm.on_timer(&common::queue(0), at);
        }
        if aqm.next_timer().is_some_and(|at| at <= now) {
            aqm.on_timer(&common::queue(0), now);
        }
        verdict = aqm.on_arrival(&small, &common::queue(0), now, &mut random);
        let departs = aqm.on_departure(&small, Duration::ZERO, &common::queue(0), now);
        prop_assert_eq!(departs, Verdict::Pass);
    }
    prop_assert_eq!(verdict, Verdict::Pass);
    prop_assert_eq!(aqm.virtual_delay(now + LONG), Duration::ZERO);
    Ok(())
}

/// Returns true if it passes every arrival.
fn is_passive(aqm: &AnyAqm) -> bool {
    matches!(
        aqm,
        AnyAqm::DropTail(_)
            | AnyAqm::Avd(_)
            | AnyAqm::Codel(_)
            | AnyAqm::FqCodel(_)
            | AnyAqm::HostFq(_)
            | AnyAqm::DualPi2(_)
    )
}

/// A discipline of another crate that marks every packet.
#[derive(Clone, Debug)]
struct MarksAll;

impl Aqm for MarksAll {
    fn on_arrival(
        &mut self,
        _: &PacketMeta,
        _: &QueueView,
        _: Time,
        _: &mut dyn Entropy,
    ) -> Verdict {
        Verdict::Mark
    }

    fn on_departure(&mut self, _: &PacketMeta, _: Duration, _: &QueueView, _: Time) -> Verdict {
        Verdict::Mark
    }
}

#[test]
fn a_mark_of_another_crate_drops_what_cannot_carry_it() {
    let mut aqm = AnyAqm::foreign(MarksAll);
    let queue = QueueView {
        packets: 1,
        bytes: Bytes::new(1000),
        rate: Rate::from_bps(1_000_000),
        capacity: None,
    };
    for (ecn, expected) in [
        (Ecn::NotCapable, Verdict::Drop),
        (Ecn::Capable, Verdict::Mark),
        (Ecn::Scalable, Verdict::Mark),
        (Ecn::Marked, Verdict::Mark),
    ] {
        let packet =
            PacketMeta { size: Bytes::new(1000), class: Class::Data, ecn, aggregate: 0, flow: 1 };
        let arrival = aqm.on_arrival(&packet, &queue, Time::ZERO, &mut || 0.5);
        let departure = aqm.on_departure(&packet, Duration::ZERO, &queue, Time::ZERO);
        assert_eq!((arrival, departure), (expected, expected), "{ecn:?}");
    }
}

#[test]
fn every_check_accepts_the_defaults() {
    for family in FAMILIES {
        assert_eq!((family.check)(&family.defaults()), Ok(()), "{}", family.name);
        AnyAqm::build(&family.defaults());
    }
}

proptest! {
    #[test]
    fn every_discipline_survives_any_operations(
        values in (0..FAMILIES.len()).prop_flat_map(|i| values::any_values(FAMILIES[i])),
        defaults: bool,
        operations in prop::collection::vec(any_operation(), 0..200),
    ) {
        let values = if defaults { values.family().defaults() } else { values };
        behaves(AnyAqm::build(&values), operations)?;
    }
}
