//! Marks in the packet engine: RED and REM with ECN-capable senders.

use crate::common::*;
use accord_family::Raw;
use accord_record::*;
use accord_scenario::*;
use accord_sim::{run, run_audited};
use accord_traffic::*;
use accord_units::*;

/// Ten flows over 10 Mbps with RED in front, 50 ms round trip.
fn red(ecn_sender: bool, ecn_queue: bool) -> Scenario {
    let queue = discipline("red", &[("ecn", Raw::Flag(ecn_queue))]);
    let sender = controller("newreno", &[("ecn", Raw::Flag(ecn_sender))]);
    Dumbbell::new("10 Mbps", "20 ms", queue, Limit::Packets(200), "40 s")
        .flows("flow", 10, sender, "100 Mbps", (2000, 3000), ("0 s", None), true)
        .0
}

fn total(run: &Run, metric: Metric, during: Window) -> f64 {
    run.mean(metric, Entity::Link(0), during).expect("recorded")
}

#[test]
fn red_marks_those_who_can_be_marked_and_drops_the_others() {
    let whole = window(0.0, 40.0);
    for (sender, queue) in [(true, true), (true, false), (false, true)] {
        let (run, ports, flows) = run_audited(&red(sender, queue), &mut Quiet).expect("runs");
        let marks = total(&run, Metric::Marks, whole);
        let drops = total(&run, Metric::Drops, window(10.0, 40.0));
        assert_eq!(marks > 100.0, sender && queue, "{marks} marks");
        assert_eq!(drops < 10.0, sender && queue, "{drops} drops");
        for book in ports.iter().chain(&flows) {
            let held = book.left.packets + book.dropped.packets + book.held.packets;
            assert_eq!(book.entered.packets, held);
        }
    }
}

/// Marks slow down the senders as drops do: the queue stays in RED's range and the link about as
/// busy, without retransmissions.
#[test]
fn marks_hold_the_queue_without_retransmissions() {
    let steady = window(10.0, 40.0);
    let outcome = |ecn| {
        let run = run(&red(ecn, ecn), &mut Quiet).expect("runs");
        let again: f64 = (0..10)
            .filter_map(|f| run.mean(Metric::Retransmissions, Entity::Flow(f), steady))
            .sum();
        let queue = total(&run, Metric::BacklogPackets, steady);
        (queue, total(&run, Metric::Utilisation, steady), again)
    };
    let (queue, used, again) = outcome(true);
    let (_, used_with_drops, again_with_drops) = outcome(false);
    assert!((5.0..15.0).contains(&queue), "{queue}");
    assert!(used > 0.9 * used_with_drops, "{used} {used_with_drops}");
    assert!(again < 10.0 && again_with_drops > 100.0, "{again} {again_with_drops}");
}

/// Two flows of 10 and 20 ms share 6 packets/ms; α = 2 packets/ms. Low02's eq. 33 gives a price of
/// 2·(10.18 + 20.18)/6 = 10.12 ms and rates as 1 to 1.98. The queue of a discrete link is never
/// quite empty. So REM leaves up to a tenth of the link unused, and the price is higher in
/// proportion. Price times rate is still α·d.
#[test]
fn vegas_rem_pays_its_target_and_knows_its_base() {
    let sender = || controller("vegas-rem", &[("alpha_rate", text("2 MB/s"))]);
    let queue = discipline("rem", &[]);
    let flow = ("0 s", None);
    let scenario = Dumbbell::new("48 Mbps", "1 ms", queue, Limit::Unlimited, "40 s")
        .flows("near", 1, sender(), "1600 Mbps", (3000, 1000), flow, true)
        .flows("far", 1, sender(), "1600 Mbps", (8000, 1000), ("10 s", None), true)
        .0;
    let run = run(&scenario, &mut Quiet).expect("runs");
    let steady = window(20.0, 40.0);
    let price = total(&run, Metric::Price, steady);
    for (flow, base) in [(0, 0.010_183_7), (1, 0.020_183_7)] {
        let of = |metric| run.mean(metric, Entity::Flow(flow), steady).expect("recorded");
        let pays = of(Metric::Throughput) / 8.0 * price;
        let target = 2e6 * base;
        assert!((pays / target - 1.0).abs() < 0.05, "{pays} of {target}");
        let error = of(Metric::MinRtt) / base - 1.0;
        assert!(error.abs() < 0.005, "{error}");
    }
    let marked = total(&run, Metric::MarkingProbability, steady);
    let expected = 1.0 - 1.1f64.powf(-price * 1e3);
    assert!((marked / expected - 1.0).abs() < 0.02, "{marked} {expected}");
    assert!(total(&run, Metric::BacklogPackets, steady) < 5.0);
    assert!(total(&run, Metric::Utilisation, steady) > 0.88);
    assert_eq!(total(&run, Metric::Drops, window(0.0, 40.0)), 0.0);
}

/// If the base is known, a flow that begins late does not take the others' queue for propagation.
/// The queue is 20 packets per flow, and not three times 20 [Low02 §6.2].
#[test]
fn a_known_base_prevents_persistent_congestion() {
    let queued = |base: &str| {
        let sender = || {
            let rate = text("2 MB/s");
            controller(
                "vegas",
                &[("alpha_rate", rate.clone()), ("beta_rate", rate), ("base_rtt", text(base))],
            )
        };
        let queue = discipline("droptail", &[]);
        let scenario = Dumbbell::new("48 Mbps", "1 ms", queue, Limit::Unlimited, "30 s")
            .flows("first", 1, sender(), "1600 Mbps", (3000, 1000), ("0 s", None), true)
            .flows("second", 1, sender(), "1600 Mbps", (3000, 1000), ("10 s", None), true)
            .0;
        let run = run(&scenario, &mut Quiet).expect("runs");
        total(&run, Metric::BacklogPackets, window(20.0, 30.0))
    };
    // 40.7 and 61.1 by [Low02 eqs. 22, 27] at a base of 10.18 ms, and the packet in service.
    let known = queued("known");
    assert!((known - 41.7).abs() < 2.0, "{known}");
    let measured = queued("measured");
    assert!((measured - 62.1).abs() < 3.0, "{measured}");
}

/// Bursts and pauses by their laws: constant ones repeat to the sample, exponential ones have
/// their mean.
#[test]
fn bursts_and_pauses_follow_their_laws() {
    let with = |burst, pause| {
        let queue = discipline("droptail", &[]);
        let sender = controller("newreno", &[]);
        let mut s = Dumbbell::new("100 Mbps", "1 ms", queue, Limit::Unlimited, "200 s")
            .flows("flow", 20, sender, "100 Mbps", (100, 100), ("0 s", None), true)
            .0;
        for f in &mut s.flows {
            f.demand = Demand::OnOff { rate: None, burst, pause };
        }
        let run = run(&s, &mut Quiet).expect("runs");
        (0..20)
            .map(|f| {
                run.mean(Metric::Goodput, Entity::Flow(f), window(0.0, 200.0)).expect("recorded")
            })
            .collect::<Vec<f64>>()
    };
    let (size, gap) = (Bytes::new(100_000), Duration::from_secs(1));
    let constant = with(Draw::Constant(size), Draw::Constant(gap));
    let random = with(Draw::Exponential(size), Draw::Exponential(gap));
    let spread = |x: &[f64]| {
        let mean = x.iter().sum::<f64>() / 20.0;
        (mean, x.iter().map(|v| (v / mean - 1.0).abs()).fold(0.0, f64::max))
    };
    // A burst of 0.8 Mbit each second or a little more.
    let (mean, largest) = spread(&constant);
    assert!((0.70e6..0.80e6).contains(&mean) && largest < 0.02, "{mean} {largest}");
    let (mean, largest) = spread(&random);
    assert!((0.65e6..0.90e6).contains(&mean) && largest > 0.05, "{mean} {largest}");
}
