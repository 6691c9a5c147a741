//! Integration settles at the equilibrium of theory, to six digits.

use crate::common::{five_classes, fluid, last, scenario};
use accord_fluid::run;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};

/// Compares the rates of all flows and the queuing delays of all links at the end with theory.
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

/// The equilibrium of [Low02 table I] under proportional control, which converges to it.
#[test]
fn table_one_of_low02() {
    let target = "{ name = \"monaco\", target = \"2 pkt\", gain = 0.3 }";
    for model in MODELS {
        let (s, run) = fluid(&five_classes(target, model, 60));
        agrees(&s, &run);
        let bottleneck = s.links.iter().position(|l| l.name == "bottleneck").unwrap();
        let queue = last(&run, Metric::BacklogPackets, Entity::Link(bottleneck));
        assert!((queue - 500.0).abs() < 1e-3, "{queue}");
        for (class, rtt) in [16.81576, 16.81576, 21.81576, 31.81576, 41.81576].iter().enumerate() {
            let is = 1e3 * last(&run, Metric::Rtt, Entity::Flow(50 * class));
            assert!((is - rtt).abs() < 1e-4, "{is} {rtt}");
            let rate = last(&run, Metric::SendingRate, Entity::Flow(50 * class)) / 8e3;
            assert!((rate - 1200.0).abs() < 1e-2, "{rate}");
        }
    }
}

/// A virtual delay replaces the queue. Unlike a queue it does not damp the loop by longer round
/// trips, so its delay has to be as long as the queue's for stability.
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

/// If control packets wait in the queue, sources cannot see it and the buffer fills. A virtual
/// delay still reaches them.
#[test]
fn a_queue_that_delays_control_packets_is_invisible() {
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
    // Losses arrive after the queuing delay, so the queue oscillates below its limit.
    assert!(backlog("droptail", false) > 99e3, "the buffer is full");
    let (two, one) = (backlog("avd", true), backlog("avd", false));
    assert!(two < 3e3 && one < 3e3, "{two} {one}");
}

/// Flows with a backlog far larger than their path: the accumulation is found over a queue much
/// longer than the base round-trip time.
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

/// Two links in series, the second slower than, as fast as, and faster than the first: the slower
/// one is fully used, and the queue is at the first of the slowest.
#[test]
fn equal_links_in_series_are_fully_used() {
    for model in MODELS {
        // Links that are nearer to each other cycle in the integrator for some round trips.
        for (second, rate) in [("9 Mbps", 9e6), ("10 Mbps", 10e6), ("10.01 Mbps", 10e6)] {
            let (s, run) = fluid(&format!(
                "duration = \"60 s\"\nfluid = {{ link_model = \"{model}\" }}\n\
                 [link.a]\nfrom = \"l\"\nto = \"m\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
                 [link.b]\nfrom = \"m\"\nto = \"r\"\nrate = \"{second}\"\ndelay = \"5 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
                 [flow.f]\nfrom = \"l\"\nto = \"r\"\ncontroller = {{ name = \"monaco\", target = \"3000 B\", gain = 0.3 }}\n"
            ));
            let found = last(&run, Metric::Throughput, Entity::Flow(0));
            assert!((found / rate - 1.0).abs() < 1e-6, "{model} {second}: {found}");
            // With the integrator, the queue of slow start drains at a thousandth of the link rate.
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
            assert!((full.0 / 3000.0 - 1.0).abs() < 1e-3, "{model} {second}: {full:?}");
            assert_eq!(idle.0, 0.0, "{model} {second}");
            assert!((idle.1 / rate - 1.0).abs() < 1e-6, "{model} {second}: {idle:?}");
        }
    }
}

/// Two links of 10 Mbps in a row: any split of the queue is an equilibrium, and the rate is that of one.
#[test]
fn equal_links_in_a_row_are_filled() {
    for model in MODELS {
        for controller in [
            "\"monaco\"",
            "{ name = \"vegas\", alpha = \"2 pkt\", beta = \"2 pkt\", base_rtt = \"known\" }",
        ] {
            let (_, run) = fluid(&format!(
                "duration = \"60 s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.parking_lot]\nbottlenecks = 2\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
                 [flow.f]\nfrom = \"r0\"\nto = \"r2\"\ncontroller = {controller}\n"
            ));
            let rate = last(&run, Metric::Throughput, Entity::Flow(0));
            assert!((rate / 10e6 - 1.0).abs() < 1e-3, "{model} {controller}: {rate}");
        }
    }
}
