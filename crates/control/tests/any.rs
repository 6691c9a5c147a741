//! Properties of every controller, whatever happens to it.

use crate::values;

use crate::common::{ACK, PACKET, path};
use accord_control::{
    Acked, AnyController, Congestion, Controller, Delivery, FAMILIES, Lost, Maker, PathView,
    Report, Transport,
};
use accord_family::{Service, Values};
use accord_units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Operation {
    Ack(Acked),
    Congestion(Congestion),
    Delivery(Delivery),
    Lost(Lost),
    Restart,
    Report(Report),
    BaseRtt(Duration),
    Service(Service),
}

/// Spans of all magnitudes, none and the longest there is included.
fn any_span() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(0), 0..1_000_000_000u64, 0..10_000_000_000_000u64, any::<u64>(),]
        .prop_map(Duration::from_ps)
}

fn any_bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![Just(0), Just(PACKET), 0..10_000u64, 0..1_000_000_000u64].prop_map(Bytes::new)
}

fn any_rate() -> impl Strategy<Value = Rate> {
    prop_oneof![Just(0), 0..1_000_000_000_000u64].prop_map(Rate::from_bps)
}

/// Smoothed round-trip times up to ten seconds, or none yet; samples may be anything.
fn any_path() -> impl Strategy<Value = PathView> {
    let srtt = prop_oneof![1 => Just(0), 9 => 0..10_000_000_000_000u64];
    let rtt = (srtt, any_span(), any_span());
    let sent = (any_bytes(), any::<bool>());
    (rtt, any_bytes(), sent, any_rate()).prop_map(
        |((srtt, rtt, min_rtt), in_flight, (sent_in_round, dry), delivery_rate)| PathView {
            had_too_little: dry,
            packet: Bytes::new(PACKET),
            srtt: Duration::from_ps(srtt),
            rtt,
            min_rtt,
            in_flight,
            sent_in_round,
            delivery_rate,
        },
    )
}

fn any_ack() -> impl Strategy<Value = Acked> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let marked = prop_oneof![Just(0), 0..100u64, any::<u64>()];
    (any_bytes(), prop::option::of(any_span()), flags, marked).prop_map(
        |(bytes, rtt, flags, marked)| Acked {
            bytes,
            rtt,
            round_ended: flags.0,
            window_limited: flags.1,
            in_recovery: flags.2,
            marked,
        },
    )
}

/// Samples that no transport would make, among them: amounts and times need not fit together.
fn any_delivery() -> impl Strategy<Value = Delivery> {
    let bytes = (any::<u64>(), any_bytes(), any::<u64>(), any_bytes());
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let rate = prop_oneof![any_rate(), any::<u64>().prop_map(Rate::from_bps)];
    let flight = (any_bytes(), any_bytes());
    (bytes, (any_span(), any_span()), rate, flight, flags).prop_map(
        |((total, acked, prior, delivered), (rtt, interval), rate, (tx, lost), flags)| Delivery {
            total,
            acked: acked.get(),
            rtt,
            prior,
            delivered: delivered.get(),
            interval,
            rate,
            app_limited: flags.0,
            tx_in_flight: tx.get(),
            lost: lost.get(),
            in_recovery: flags.1,
            window_limited: flags.2,
        },
    )
}

fn any_lost() -> impl Strategy<Value = Lost> {
    let numbers = (any::<u64>(), any::<u64>());
    let flight = (any_bytes(), any_bytes());
    (numbers, flight, any::<bool>()).prop_map(|((number, total), (tx, lost), app_limited)| Lost {
        number,
        total,
        size: PACKET,
        tx_in_flight: tx.get(),
        lost: lost.get(),
        app_limited,
    })
}

fn any_report() -> impl Strategy<Value = Report> {
    let virtual_delay = prop_oneof![Just(Duration::ZERO), any_span()];
    let measured = (0.0..1e12f64, any_rate(), virtual_delay);
    (any::<u64>(), measured, any::<bool>()).prop_map(
        |(number, (accumulation, egress_rate, virtual_delay), lost)| Report {
            number,
            accumulation,
            egress_rate,
            virtual_delay,
            lost,
            lost_bytes: Bytes::new(number >> 8),
            received: number,
        },
    )
}

fn any_service() -> impl Strategy<Value = Service> {
    let limit = prop::option::of(any_bytes());
    (any_rate(), 1e-6..1e6f64, limit).prop_map(|(contract, weight, limit)| Service {
        contract,
        weight,
        limit,
    })
}

fn any_operation() -> impl Strategy<Value = (Duration, PathView, Operation)> {
    let congestion = prop_oneof![
        Just(Congestion::Loss),
        Just(Congestion::EarlyLoss),
        Just(Congestion::Ecn),
        Just(Congestion::Timeout),
        Just(Congestion::RepeatedTimeout),
    ];
    let operation = prop_oneof![
        10 => any_ack().prop_map(Operation::Ack),
        1 => congestion.prop_map(Operation::Congestion),
        10 => any_delivery().prop_map(Operation::Delivery),
        2 => any_lost().prop_map(Operation::Lost),
        1 => Just(Operation::Restart),
        2 => any_report().prop_map(Operation::Report),
        1 => any_span().prop_map(Operation::BaseRtt),
        1 => any_service().prop_map(Operation::Service),
    ];
    (any_span(), any_path(), operation)
}

/// More than any sequence of the above can honestly earn by packets: the largest initial window or
/// flight, and a packet for each operation.
const MOST: u64 = 2_000_000_000;

/// The largest growth of a window.
#[derive(Clone, Copy, PartialEq)]
enum Growth {
    /// By a packet for each operation.
    Packets,
    /// By the acknowledged or delivered bytes.
    Bytes,
    /// By anything.
    Any,
}

/// Returns whether the policy alone bounds the growth of the window.
fn grows_by_policy(values: &Values) -> bool {
    match values.choice_opt("increase") {
        Some(increase) => increase == "policy",
        None => values.choice("law") == "xia05",
    }
}

fn behaves(
    mut c: AnyController,
    mut growth: Growth,
    operations: Vec<(Duration, PathView, Operation)>,
) -> Result<(), TestCaseError> {
    let mut now = Time::ZERO;
    let mut smallest = Duration::MAX;
    let mut acked = 0u64;
    for (gap, path, operation) in operations {
        now += gap;
        match &operation {
            Operation::Ack(ack) => {
                smallest = smallest.min(ack.rtt.unwrap_or(Duration::MAX));
                acked = acked.saturating_add(ack.bytes.get());
                c.on_ack(ack, &path, now);
            }
            Operation::Congestion(what) => c.on_congestion(*what, &path, now),
            Operation::Delivery(delivery) => {
                smallest = smallest.min(delivery.rtt);
                acked = acked.saturating_add(delivery.acked);
                c.on_delivery(delivery, &path, now);
            }
            Operation::Lost(packet) => c.on_lost(packet, now),
            Operation::Restart => c.on_restart(now),
            Operation::Report(report) => c.on_report(report, &path, now),
            Operation::BaseRtt(base) => {
                smallest = smallest.min(*base);
                c.set_base_rtt(*base);
            }
            Operation::Service(service) => {
                c.set_service(service);
                // A contract is a least rate, whatever the round trip.
                if service.contract > Rate::ZERO && growth == Growth::Packets {
                    growth = Growth::Any;
                }
            }
        }
        let allowance = c.allowance();
        prop_assert!(allowance.window.get() >= PACKET, "{allowance:?}");
        prop_assert!(c.cwnd().get() >= PACKET, "{:?}", c.cwnd());
        let most = match growth {
            Growth::Packets => MOST,
            Growth::Bytes => MOST.saturating_add(acked),
            Growth::Any => u64::MAX,
        };
        prop_assert!(c.cwnd().get() <= most, "{:?}", c.cwnd());
        prop_assert!(allowance.pacing != Some(Rate::ZERO), "would never send again");
        prop_assert!(c.ssthresh().is_none_or(|b| b.get() >= PACKET));
        if let Some(bytes) = c.accumulation_estimate() {
            prop_assert!(bytes.is_finite() && bytes >= 0.0, "{bytes}");
        }
        if let Some(base) = c.base_rtt_estimate() {
            prop_assert!(base >= smallest);
        }
    }
    Ok(())
}

#[test]
fn every_check_accepts_the_defaults_under_each_law() {
    for family in FAMILIES {
        for values in values::laws(family) {
            assert_eq!((family.check)(&values), Ok(()), "{}", family.name);
            AnyController::build(&values, Bytes::new(PACKET));
            if let Transport::Tunnel { sending, meter, counts } = Maker::of(family).transport {
                sending(&values);
                meter(&values);
                assert!(counts(&values) >= 0.0);
            }
        }
    }
}

proptest! {
    #[test]
    fn every_controller_survives_any_operations(
        values in (0..FAMILIES.len()).prop_flat_map(|i| values::any_values(FAMILIES[i])),
        law in prop::option::of(any::<prop::sample::Index>()),
        operations in prop::collection::vec(any_operation(), 0..200),
    ) {
        let values = match law {
            Some(law) => law.get(&values::laws(values.family())).clone(),
            None => values,
        };
        let growth = match values.family().name {
            // C4's window is a rate times a round-trip time, whatever samples say that they are.
            "none" | "c4" => Growth::Any,
            // As far as the policy says, whatever the target and the weight.
            "monaco" if grows_by_policy(&values) => Growth::Any,
            "bbr1" | "bbr3" | "copa" | "ledbat-pp" => Growth::Bytes,
            _ => Growth::Packets,
        };
        behaves(AnyController::build(&values, Bytes::new(PACKET)), growth, operations)?;
    }
}

/// Engines ask the role how a controller measures, endpoints are built by whether it has a meter.
#[test]
fn the_transport_is_that_of_the_role() {
    for family in FAMILIES {
        let role = matches!(family.role, accord_family::Role::Tunnel(_));
        let made = matches!(Maker::of(family).transport, Transport::Tunnel { .. });
        assert_eq!(made, role, "{}", family.name);
        let objective = family.role.objective(&family.defaults());
        let responds = objective != Some(accord_family::Objective::Unresponsive);
        let open = matches!(Maker::of(family).transport, Transport::Open);
        assert_eq!(open, !responds, "{}", family.name);
    }
}

/// RFC 4015 §3.2 and RFC 9438 §4.9: an answer that is undone at once leaves no trace, but for parts of a
/// packet that had been counted.
#[test]
fn an_answer_that_is_undone_leaves_no_trace() {
    let start = Time::ZERO + Duration::from_secs(1);
    let at = |i: u64| start + Duration::from_ms(i);
    let mut families = 0;
    for family in FAMILIES {
        let on_stream = matches!(Maker::of(family).transport, Transport::Stream);
        if !on_stream || family.name.starts_with("bbr") {
            continue;
        }
        families += 1;
        for what in [Congestion::Loss, Congestion::EarlyLoss, Congestion::Timeout] {
            for slow_start in [true, false] {
                let mut one = AnyController::build(&family.defaults(), Bytes::new(PACKET));
                let ack = |c: &mut AnyController, i: u64| {
                    let ack = Acked { round_ended: i.is_multiple_of(20), ..ACK };
                    c.on_ack(&ack, &path(20), at(i));
                };
                if !slow_start {
                    one.on_congestion(Congestion::Loss, &path(20), at(0));
                }
                (1..200).for_each(|i| ack(&mut one, i));
                let mut other = one.clone();
                other.on_congestion(what, &path(20), at(200));
                if what == Congestion::Timeout {
                    other.on_congestion(Congestion::RepeatedTimeout, &path(20), at(200));
                }
                other.on_spurious(at(200));
                for i in 200..2000 {
                    let case = format!("{} {what:?} {slow_start} {i}", family.name);
                    let (a, b) = (one.cwnd().get(), other.cwnd().get());
                    assert!(a.abs_diff(b) <= PACKET, "{case}: {a} {b}");
                    ack(&mut one, i);
                    ack(&mut other, i);
                }
            }
        }
    }
    assert!(families >= 12, "{families}");
}

/// Families declare their variables once, and controllers give as many values.
#[test]
fn every_family_gives_the_variables_that_it_declares() {
    let mut names = std::collections::BTreeSet::new();
    for family in FAMILIES {
        for values in values::laws(family) {
            let mut given = Vec::new();
            AnyController::build(&values, Bytes::new(PACKET)).inner(&mut given);
            assert_eq!(given.len(), family.inner.len(), "{}", family.name);
            for (inner, value) in family.inner.iter().zip(given) {
                let states = inner.states();
                let known = states.is_empty() || (0.0..states.len() as f64).contains(&value);
                assert!(known, "{}: {value}", inner.name);
            }
        }
        for inner in family.inner {
            let of = inner.name.split_once('.').map(|(of, _)| of);
            assert!(FAMILIES.iter().any(|f| Some(f.name) == of), "{}", inner.name);
            assert!(inner.doc.ends_with('.'), "{}: {}", inner.name, inner.doc);
            // Vegas and Vegas-k have the same.
            let new = names.insert(inner.name);
            assert!(new || family.name == "vegas-k", "{} is there twice", inner.name);
        }
    }
}
