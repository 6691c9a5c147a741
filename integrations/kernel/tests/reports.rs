//! Controllers driven by reports, without a kernel.

use accord_control::{
    Acked, Allowance, AnyController, Congestion, Controller, FAMILIES, Maker, PathView, Transport,
};
use accord_family::{Family, Objective, Role, Values};
use accord_kernel::{
    ACKNOWLEDGED, CLOSED, Decision, Registry, Report, SAMPLE, State, WINDOW_LIMITED, check,
    check_name,
};
use accord_units::{Bytes, Rate, Time};

fn values(name: &str) -> Values {
    let family = FAMILIES.iter().find(|family| family.name == name);
    family.expect("it is registered").defaults()
}

/// A connection with a round-trip time of 20 ms whose packets are acknowledged four at a time.
struct Kernel {
    report: Report,
}

impl Kernel {
    fn new() -> Kernel {
        Kernel {
            report: Report {
                now: 1_000_000_000,
                generation: 1,
                number: 1,
                srtt_us: 20_000,
                rtt_us: -1,
                least_rtt_us: -1,
                cwnd: 10,
                mss: 1448,
                header: 32,
                ..Report::default()
            },
        }
    }

    fn next(&mut self) -> &mut Report {
        self.report.now += 2_000_000;
        self.report.number += 1;
        self.report.flags = 0;
        &mut self.report
    }

    fn acknowledge(&mut self, packets: u32, rtt_us: i32) -> Report {
        let before = self.report.delivered;
        let report = self.next();
        report.delivered += packets;
        report.sent = report.delivered + 10;
        (report.rtt_us, report.least_rtt_us) = (rtt_us, rtt_us);
        (report.in_flight, report.prior_in_flight) = (10, 10 + packets);
        report.unacknowledged = 10;
        report.rounds += 1;
        report.flags = ACKNOWLEDGED | WINDOW_LIMITED | SAMPLE;
        report.sample_prior = before.saturating_sub(10);
        report.sample_delivered = report.delivered - report.sample_prior;
        report.sample_interval_us = 20_000;
        *report
    }
}

/// Slow start grows by each packet of an acknowledgement, and totals make up for lost reports.
#[test]
fn totals_make_up_for_reports_that_are_lost() {
    let mut kernel = Kernel::new();
    let mut registry = Registry::new(values("reno"));
    let first = registry.hear(&kernel.report).expect("a decision");
    assert_eq!((first.cwnd, first.answered, first.generation), (2, 1, 1));
    let heard = kernel.acknowledge(4, 20_000);
    assert_eq!(registry.hear(&heard).expect("a decision").cwnd, 6);
    let _lost = kernel.acknowledge(4, 20_000);
    let heard = kernel.acknowledge(4, 20_000);
    let decision = registry.hear(&heard).expect("a decision");
    assert_eq!((decision.cwnd, decision.answered), (14, heard.number));
    assert_eq!(decision.pace, u64::MAX);
}

/// A loss halves once, before the acknowledgement that revealed it is processed. A timeout during
/// the repair adds a restart and no second halving.
#[test]
fn congestion_is_answered_once() {
    let mut kernel = Kernel::new();
    let mut registry = Registry::new(values("reno"));
    let mut decision = registry.hear(&kernel.report);
    for _ in 0..5 {
        decision = registry.hear(&kernel.acknowledge(4, 20_000));
    }
    assert_eq!(decision.expect("a decision").cwnd, 22);
    let report = kernel.next();
    (report.losses, report.lost) = (1, 1);
    report.state = State::Recovery as u32;
    report.unacknowledged = 20;
    let report = *report;
    let decision = registry.hear(&report).expect("a decision");
    assert_eq!((decision.cwnd, decision.ssthresh), (10, 10));
    let heard = kernel.acknowledge(4, 20_000);
    assert_eq!(registry.hear(&heard).expect("a decision").cwnd, 10);
    let report = kernel.next();
    report.timeouts = 1;
    report.state = State::Loss as u32;
    report.unacknowledged = 8;
    let report = *report;
    let decision = registry.hear(&report).expect("a decision");
    assert_eq!((decision.cwnd, decision.ssthresh), (1, 10));
}

/// A controller with a window of 20 packets, at 8 Mbps on the wire.
#[derive(Clone, Debug)]
struct Fixed(Bytes);

impl Controller for Fixed {
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {}

    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {}

    fn allowance(&self) -> Allowance {
        Allowance {
            window: Bytes::new(20 * self.0.get() + 1),
            pacing: Some(Rate::from_bps(8_000_000)),
        }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }
}

static FIXED: Family = Family {
    maker: &Maker {
        build: |_, packet| AnyController::foreign(Fixed(packet)),
        transport: Transport::Stream,
    },
    ..Family::new("fixed", Role::Controller(|_| Objective::Other))
};

/// A controller whose window is the maximum in flight before an acknowledgement of this round trip.
#[derive(Clone, Debug)]
struct Flight(Bytes);

impl Controller for Flight {
    fn on_ack(&mut self, ack: &Acked, path: &PathView, _: Time) {
        let before = path.in_flight.get() + ack.bytes.get();
        let earlier = if ack.round_ended { 0 } else { self.0.get() };
        self.0 = Bytes::new(before.max(earlier));
    }

    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {}

    fn allowance(&self) -> Allowance {
        Allowance { window: self.0, pacing: None }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }
}

static FLIGHT: Family = Family {
    maker: &Maker {
        build: |_, packet| AnyController::foreign(Flight(packet)),
        transport: Transport::Stream,
    },
    ..Family::new("flight", Role::Controller(|_| Objective::Other))
};

/// An acknowledgement of four packets becomes four events, of which the first has all of them in
/// flight.
#[test]
fn packets_of_an_acknowledgement_leave_one_by_one() {
    let mut kernel = Kernel::new();
    let mut registry = Registry::new(FLIGHT.defaults());
    registry.hear(&kernel.report);
    let heard = kernel.acknowledge(4, 20_000);
    assert_eq!(registry.hear(&heard).expect("a decision").cwnd, 14);
}

/// Headers of 52 bytes count in windows and paces of controllers, and not in those of the kernel.
#[test]
fn a_pace_is_of_payload() {
    let mut registry = Registry::new(FIXED.defaults());
    let decision = registry.hear(&Kernel::new().report).expect("a decision");
    assert_eq!((decision.cwnd, decision.ssthresh), (20, 0x7fff_ffff));
    assert_eq!(decision.pace, 1_000_000 * 1448 / 1500);
}

/// Decisions are within the bounds of the BPF program for any reports.
#[test]
fn any_family_survives_any_report() {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 33
    };
    for family in FAMILIES {
        let values = family.defaults();
        if check(&values).is_err() {
            continue;
        }
        let mut registry = Registry::new(values);
        let mut kernel = Kernel::new();
        registry.hear(&kernel.report);
        for _ in 0..2000 {
            let mut report = kernel.acknowledge(1 + random() as u32 % 20, 1 + random() as i32);
            match random() % 8 {
                0 => report.losses += 1,
                1 => report.timeouts += 1,
                2 => report.marks += 1,
                3 => report.undone += 1,
                4 => report.lost += random() as u32 % 100,
                5 => report.idles += 1,
                6 => report.restarts += 1,
                _ => report.delivered_ce += 1,
            }
            report.state = random() as u32 % 5;
            report.sample_prior = random() as u32;
            report.sample_interval_us = random() as u32;
            report.in_flight = random() as u32;
            kernel.report = report;
            let decision: Decision = registry.hear(&report).expect(family.name);
            assert_eq!(decision.generation, 1);
        }
        assert_eq!(registry.failed, 0, "{}", family.name);
    }
}

/// Times are those of the monotonic clock, which cannot be set. A step would cost no connection
/// either.
#[test]
fn a_step_of_the_clock_costs_no_connection() {
    const YEAR_NS: u64 = 365 * 86_400 * 1_000_000_000;
    for family in FAMILIES.iter().filter(|f| check(&f.defaults()).is_ok()) {
        let mut registry = Registry::new(family.defaults());
        let mut kernel = Kernel::new();
        kernel.report.now += 100 * YEAR_NS;
        registry.hear(&kernel.report);
        for step in [0, 10 * YEAR_NS as i64, -30 * YEAR_NS as i64, 1] {
            kernel.report.now = kernel.report.now.wrapping_add_signed(step);
            for _ in 0..200 {
                let decision = registry.hear(&kernel.acknowledge(4, 20_000));
                let decision = decision.expect(family.name);
                assert!(decision.cwnd >= 1, "{}: {decision:?}", family.name);
            }
        }
        assert_eq!(registry.failed, 0, "{}", family.name);
    }
}

/// A slot has another connection when its generation changes, even if no report announced the end.
#[test]
fn a_slot_changes_hands() {
    let mut kernel = Kernel::new();
    let mut registry = Registry::new(values("reno"));
    registry.hear(&kernel.report);
    registry.hear(&kernel.acknowledge(4, 20_000));
    let mut other = Kernel::new();
    other.report.generation = 2;
    assert_eq!(registry.hear(&other.report).expect("a decision").cwnd, 2);
    // The end of the first comes late.
    kernel.report.flags = CLOSED;
    assert_eq!(registry.hear(&kernel.report), None);
    assert_eq!(registry.entries().count(), 1);
    other.report.flags = CLOSED;
    assert_eq!(registry.hear(&other.report), None);
    assert_eq!((registry.entries().count(), registry.connections), (0, 2));
}

#[test]
fn names_are_those_of_the_kernel() {
    for name in ["accord_copa", "a", "a-b_c", "123456789012345"] {
        assert_eq!(check_name(name), Ok(()));
    }
    for name in ["", "1234567890123456", "a b", "a/b", "café", "accord"] {
        assert!(check_name(name).is_err(), "{name}");
    }
}
