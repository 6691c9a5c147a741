//! Where integration settles, theory is: to six digits.

mod common;

use accord_fluid::run;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};
use common::{five_classes, fluid, last, scenario};

/// Rates of all flows and queuing delays of all links, at the end, against theory.
fn agrees(s: &Scenario, run: &Run) {
    let theory = accord_theory::run(s, &mut Quiet).unwrap();
    for f in 0..s.flows.len() {
        let (is, should) = (
            last(run, Metric::SendingRate, Entity::Flow(f)),
            last(&theory, Metric::Throughput, Entity::Flow(f)),
        );
        if s.flows[f].stop.is_some() {
            assert!(is.is_nan() && should.is_nan(), "flow {f} has stopped");
            continue;
        }
        assert!((is / should - 1.0).abs() < 1e-6, "flow {f}: {is} {should}");
    }
    for (l, link) in s.links.iter().enumerate().filter(|(_, l)| !l.attachment) {
        for metric in [Metric::QueuingDelay, Metric::Price] {
            let is = last(run, metric, Entity::Link(l));
            let should = last(&theory, metric, Entity::Link(l));
            assert!(
                (is - should).abs() < 1e-6 * should.max(1e-4),
                "{metric} of {}: {is} {should}",
                link.name
            );
        }
    }
}

const MODELS: [&str; 2] = ["integrator", "ack-clocked"];

#[test]
fn one_flow_alone() {
    for model in MODELS {
        let (s, run) = fluid(&format!(
            "duration = \"30 s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
             [flow.f]\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"monaco\", gain = 0.3 }}\n"
        ));
        agrees(&s, &run);
    }
}

#[test]
fn a_parking_lot_with_both_smooth_policies() {
    for model in MODELS {
        for policy in ["p", "mw"] {
            let (s, run) = fluid(&format!(
                "duration = \"120 s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.parking_lot]\nbottlenecks = 3\nrate = \"9 Mbps\"\ndelay = \"10 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
                 [flow.long]\nfrom = \"r0\"\nto = \"r3\"\ncontroller = {{ name = \"monaco\", policy = \"{policy}\", gain = 0.25, mw_gain = \"1 Mbps\" }}\n\
                 [flow.short]\neach_hop = true\ncontroller = {{ name = \"monaco\", policy = \"{policy}\", gain = 0.25, mw_gain = \"1 Mbps\", target = \"5 pkt\" }}\n"
            ));
            agrees(&s, &run);
        }
    }
}

#[test]
fn flows_that_come_and_go_over_links_that_change() {
    for model in MODELS {
        let (s, run) = fluid(&format!(
            "duration = \"90 s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
             [flow.a]\ncount = 2\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"monaco\", gain = 0.3 }}\naccess = {{ rate = \"100 Mbps\", delay = [\"1 ms\", \"7.3 ms\"] }}\n\
             [flow.b]\nfrom = \"left\"\nto = \"right\"\nstart = \"11.1 s\"\nstop = \"20.05 s\"\ncontroller = \"monaco\"\n\
             [[event]]\nat = \"30.003 s\"\nlink = \"bottleneck\"\nrate = \"4 Mbps\"\n[[event]]\nat = \"31 s\"\nlink = \"bottleneck\"\ndelay = \"12.7 ms\"\n"
        ));
        agrees(&s, &run);
    }
}

/// The equilibrium of [Low02 table I], by proportional control, which settles there.
#[test]
fn table_one_of_low02() {
    let target = "{ name = \"monaco\", target = \"2 pkt\", gain = 0.3 }";
    for model in MODELS {
        let (s, run) = fluid(&five_classes(target, model, 60));
        agrees(&s, &run);
        let bottleneck = s.links.iter().position(|l| l.name == "bottleneck").unwrap();
        let queue = last(&run, Metric::BacklogPackets, Entity::Link(bottleneck));
        assert!((queue - 500.0).abs() < 1e-3, "{queue}");
        for (class, rtt) in [16.8367, 16.8367, 21.8367, 31.8367, 41.8367]
            .iter()
            .enumerate()
        {
            let is = 1e3 * last(&run, Metric::Rtt, Entity::Flow(50 * class));
            assert!((is - rtt).abs() < 1e-4, "{is} {rtt}");
            let rate = last(&run, Metric::SendingRate, Entity::Flow(50 * class)) / 8e3;
            assert!((rate - 1200.0).abs() < 1e-2, "{rate}");
        }
    }
}

/// A virtual delay takes the place of the queue. It does not damp what it drives, as a queue
/// does by lengthening round trips, so it needs to be as long as one to be stable.
#[test]
fn a_virtual_queue_settles_at_its_utilisation() {
    for model in MODELS {
        let s = scenario(&format!(
            "duration = \"200 s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"30 Mbps\"\ndelay = \"10 ms\"\nqueue = {{ discipline = \"avd\", utilisation = 0.95, limit = \"unlimited\" }}\n\
             [flow.f]\ncount = 3\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"monaco\", target = \"60 pkt\", gain = 0.2 }}\n"
        ));
        let run = run(&s, &mut Quiet).unwrap();
        agrees(&s, &run);
    }
}

/// Control packets that wait with the rest tell nothing of the queue: the buffer fills. A
/// virtual delay is told all the same.
#[test]
fn a_queue_that_control_packets_wait_in_is_not_felt() {
    let backlog = |queue: &str, priority: bool| {
        let (_, run) = fluid(&format!(
            "duration = \"60 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\n\
             queue = {{ discipline = \"{queue}\", limit = \"100 KB\" }}\ncontrol_priority = {priority}\n\
             [flow.f]\ncount = 2\nfrom = \"left\"\nto = \"right\"\ncontroller = \"monaco\"\n"
        ));
        let series = run.series(Metric::Backlog, Entity::Link(0)).unwrap();
        let later = &series.values[series.values.len() / 2..];
        later.iter().copied().fold(0.0, f64::max)
    };
    assert!((backlog("droptail", true) / 6000.0 - 1.0).abs() < 0.01);
    // Its losses are heard after the queue, so that it swings below its end.
    assert!(backlog("droptail", false) > 99e3, "the buffer is full");
    let (two, one) = (backlog("avd", true), backlog("avd", false));
    assert!(two < 3e3 && one < 3e3, "{two} {one}");
}

/// Flows that keep far more queued than fits on the path: what is queued is found by looking
/// back over the queue, which is much longer than the round trip over empty ones.
#[test]
fn accumulations_are_found_over_long_queues() {
    let (_, run) = fluid(
        "duration = \"60 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"2 ms\"\nqueue = { discipline = \"droptail\", limit = \"unlimited\" }\n\
         [flow.f]\ncount = 2\nfrom = \"left\"\nto = \"right\"\ncontroller = { name = \"monaco\", target = \"200 KB\" }\n",
    );
    // 320 ms of queue, 4 ms of path.
    let accumulation = last(&run, Metric::Accumulation, Entity::Flow(0));
    assert!((accumulation / 200e3 - 1.0).abs() < 1e-4, "{accumulation}");
}

/// Two links in a row, of which the second is a little slower than the first, as fast, and a little
/// faster: the slower one is full, and the queue is at the first of those.
#[test]
fn equal_links_in_a_row_are_used_whole() {
    for model in MODELS {
        for (second, rate) in [
            ("9.99 Mbps", 9.99e6),
            ("10 Mbps", 10e6),
            ("10.01 Mbps", 10e6),
        ] {
            let (s, run) = fluid(&format!(
                "duration = \"60 s\"\nfluid = {{ link_model = \"{model}\" }}\n\
                 [link.a]\nfrom = \"l\"\nto = \"m\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
                 [link.b]\nfrom = \"m\"\nto = \"r\"\nrate = \"{second}\"\ndelay = \"5 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
                 [flow.f]\nfrom = \"l\"\nto = \"r\"\ncontroller = {{ name = \"monaco\", target = \"3000 B\", gain = 0.3 }}\n"
            ));
            let found = last(&run, Metric::Throughput, Entity::Flow(0));
            assert!(
                (found / rate - 1.0).abs() < 1e-6,
                "{model} {second}: {found}"
            );
            // An integrator empties the queue of a slow start by a thousandth of the link.
            if model == "integrator" && rate < 10e6 {
                continue;
            }
            let queue = |name: &str| {
                let link = s.links.iter().position(|l| l.name == name).unwrap();
                (
                    last(&run, Metric::Backlog, Entity::Link(link)),
                    last(&run, Metric::ServedRate, Entity::Link(link)),
                )
            };
            let (a, b) = (queue("a"), queue("b"));
            let (full, idle) = if rate < 10e6 { (b, a) } else { (a, b) };
            assert!(
                (full.0 / 3000.0 - 1.0).abs() < 1e-3,
                "{model} {second}: {full:?}"
            );
            assert_eq!(idle.0, 0.0, "{model} {second}");
            assert!(
                (idle.1 / rate - 1.0).abs() < 1e-6,
                "{model} {second}: {idle:?}"
            );
        }
    }
}
