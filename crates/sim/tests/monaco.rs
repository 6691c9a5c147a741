//! Monaco in the packet engine: the law, its robustness, and conservation.

use crate::common::*;
use accord_family::Raw;
use accord_record::*;
use accord_scenario::*;
use accord_sim::{Audit, run, run_audited};
use accord_units::*;

fn variation(run: &Run, w: Window) -> f64 {
    let q = &run.series(Metric::BacklogPackets, Entity::Link(0)).unwrap().values[run.within(w)];
    let mean = q.iter().sum::<f64>() / q.len() as f64;
    (q.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / q.len() as f64).sqrt() / mean
}

/// Flows that start together on the same path share it, over short and long round trips, and their
/// queue is constant.
#[test]
fn ten_alike_flows_rest() {
    for (delay, seconds) in [("8 ms", 40), ("98 ms", 120)] {
        let droptail = discipline("droptail", &[]);
        let duration = format!("{seconds} s");
        let d = Dumbbell::new("30 Mbps", delay, droptail, Limit::Unlimited, &duration).flows(
            "alike",
            10,
            controller("monaco", &[]),
            "1 Gbps",
            (1000, 1000),
            ("0 s", None),
            true,
        );
        let run = run(&d.0, &mut Quiet).unwrap();
        let end = f64::from(seconds);
        let within = window(end / 2.0, end);
        for flow in 0..10 {
            let rate = run.mean(Metric::Throughput, Entity::Flow(flow), within);
            let rate = rate.expect("recorded");
            assert!((rate / 3e6 - 1.0).abs() < 0.05, "{delay}, {flow}: {rate}");
        }
        let found = variation(&run, within);
        assert!(found < 0.3, "{delay}: {found}");
        let used = run.mean(Metric::Utilisation, Entity::Link(0), within);
        assert!(used.expect("recorded") > 0.99, "{delay}: {used:?}");
    }
}

/// The queue of a single flow is its window less the pipe, and a report covers the previous window: z² − z +
/// κ = 0, with roots on the unit circle at κ = 1. The target is 30 packets, so one packet more or less is not
/// an oscillation.
#[test]
fn eq_10_swings_beyond_a_gain_of_one() {
    let swing = |gain| {
        let eq_10 =
            [("law", text("xia05")), ("target", text("30 KB")), ("gain", Raw::Number(gain))];
        let droptail = discipline("droptail", &[]);
        let d = Dumbbell::new("10 Mbps", "20 ms", droptail, Limit::Unlimited, "40 s").flows(
            "flow",
            1,
            controller("monaco", &eq_10),
            "100 Mbps",
            (0, 0),
            ("0 s", None),
            true,
        );
        variation(&run(&d.0, &mut Quiet).unwrap(), window(20.0, 40.0))
    };
    assert!(swing(0.5) < 0.05, "{}", swing(0.5));
    assert!(swing(1.2) > 0.2, "{}", swing(1.2));
}

#[test]
fn same_seed_same_bytes() {
    let scenario = fig6(controller("monaco", &[]), discipline("droptail", &[]), 55);
    let a = run(&scenario, &mut Quiet).unwrap();
    let b = run(&scenario, &mut Quiet).unwrap();
    assert_eq!(a.manifest, b.manifest);
    assert_eq!(format!("{:?}", a.series), format!("{:?}", b.series));
}

fn balanced(audits: &[Audit]) {
    for (i, b) in audits.iter().enumerate() {
        assert_eq!(
            b.entered.packets,
            b.left.packets + b.dropped.packets + b.held.packets,
            "{i}: {b:?}"
        );
        assert_eq!(b.entered.bytes, b.left.bytes + b.dropped.bytes + b.held.bytes, "{i}: {b:?}");
    }
}

#[test]
fn counters_balance_with_and_without_loss() {
    for limit in [20, 55, 90] {
        let scenario = fig6(controller("monaco", &[]), discipline("droptail", &[]), limit);
        let (run, ports, flows) = run_audited(&scenario, &mut Quiet).unwrap();
        balanced(&ports);
        balanced(&flows);
        let drops = ports.iter().map(|p| p.dropped.packets).sum::<u64>();
        // Twenty flows cannot keep three packets each in less than 60.
        assert!(drops > 0 || limit >= 60, "limit {limit}: {drops} drops");
        assert!(run.statistics.packet_hops > 500_000);
    }
}

#[test]
fn survives_half_of_its_control_packets_lost() {
    const SEEDS: u64 = 8;
    // If half of each kind is lost, one pair in eight is answered. The time to the next answer is
    // random, so there are several seeds.
    for (control_loss, least) in [(0.1, 0.98), (0.3, 0.95), (0.5, 0.8)] {
        let mut sum = 0.0;
        for seed in 1..=SEEDS {
            let mut scenario = fig6(controller("monaco", &[]), discipline("droptail", &[]), 90);
            scenario.seed = seed;
            scenario.duration = Duration::from_secs(10);
            for link in &mut scenario.links[..2] {
                link.control_loss = control_loss;
            }
            let (run, ports, flows) = run_audited(&scenario, &mut Quiet).unwrap();
            sum += run.mean(Metric::Utilisation, Entity::Link(0), window(4.0, 10.0)).unwrap();
            balanced(&flows);
            balanced(&ports);
        }
        let used = sum / SEEDS as f64;
        println!("control loss {control_loss}: utilisation {used:.3}");
        assert!(used > least, "control loss {control_loss}: utilisation {used}");
    }
}

#[test]
fn recovers_from_lost_data() {
    let mut scenario = fig6(controller("monaco", &[]), discipline("droptail", &[]), 90);
    scenario.links[0].loss = 0.001;
    let (run, ports, flows) = run_audited(&scenario, &mut Quiet).unwrap();
    let used = run.mean(Metric::Utilisation, Entity::Link(0), window(4.0, 10.0)).unwrap();
    assert!(used > 0.8, "utilisation {used}");
    balanced(&ports);
    balanced(&flows);
}

#[test]
fn delay_step_neither_starves_nor_overflows() {
    // Xia05 figure 5: 12 ms becomes 52 ms at 10 s.
    let droptail = discipline("droptail", &[]);
    let mut d = Dumbbell::new("10 Mbps", "12 ms", droptail, Limit::Packets(100), "20 s").flows(
        "flow",
        1,
        controller("monaco", &[]),
        "100 Mbps",
        (0, 0),
        ("0 s", None),
        true,
    );
    d.0.events.push(Event {
        at: Time::from_secs_f64(10.0),
        change: Change::Delay(0, Duration::from_ms(52)),
    });
    let run = run(&d.0, &mut Quiet).unwrap();
    let used = run.mean(Metric::Utilisation, Entity::Link(0), window(14.0, 20.0)).unwrap();
    assert!(used > 0.99, "utilisation {used}");
    assert_eq!(run.mean(Metric::Drops, Entity::Link(0), window(0.0, 20.0)), Some(0.0));
}

#[test]
fn ideal_estimator_agrees_with_the_sampled_truth() {
    let ideal = controller("monaco", &[("estimator", text("ideal"))]);
    let run = run(&fig6(ideal, discipline("droptail", &[]), 90), &mut Quiet).unwrap();
    // The estimator's truth comes from ingress and egress counts, the sampled one from the packets
    // in the queues: two ways to eq. 1. The first is for a fluid. The second counts a packet only
    // when all of it is due, and so is up to a packet less.
    for flow in 0..10 {
        let mean = |m| run.mean(m, Entity::Flow(flow), window(4.0, 10.0)).unwrap();
        let (sampled, reported) = (mean(Metric::Accumulation), mean(Metric::AccumulationEstimate));
        assert!(
            (-1.0..=1000.0).contains(&(reported - sampled)),
            "flow {flow}: {sampled} and {reported}"
        );
    }
}

#[test]
fn weights_share_in_proportion() {
    let w = |kb: f64| controller("monaco", &[("target", Raw::Text(format!("{kb} KB")))]);
    let queue = discipline("droptail", &[]);
    let d = Dumbbell::new("50 Mbps", "10 ms", queue, Limit::Unlimited, "20 s")
        .flows("one", 1, w(3.0), "1 Gbps", (1000, 1000), ("0 s", None), true)
        .flows("two", 1, w(6.0), "1 Gbps", (2000, 1000), ("0 s", None), true)
        .flows("four", 1, w(12.0), "1 Gbps", (3000, 1000), ("0 s", None), true);
    let run = run(&d.0, &mut Quiet).unwrap();
    for (flow, share) in [1.0, 2.0, 4.0].into_iter().enumerate() {
        let x = run.mean(Metric::Throughput, Entity::Flow(flow), window(10.0, 20.0)).unwrap();
        let expected = 50e6 * share / 7.0;
        assert!((x - expected).abs() < 0.05 * expected, "weight {share}: {x}");
    }
}

/// One flow over 10 Mbps and 1 ms, whose bottleneck changes at 10 s.
fn changed(change: Change) -> Run {
    let queue = discipline("droptail", &[]);
    let mut d = Dumbbell::new("10 Mbps", "1 ms", queue, Limit::Unlimited, "40 s").flows(
        "flow",
        1,
        controller("monaco", &[]),
        "100 Mbps",
        (0, 0),
        ("0 s", None),
        true,
    );
    d.0.events.push(Event { at: Time::from_secs_f64(10.0), change });
    run(&d.0, &mut Quiet).unwrap()
}

#[test]
fn a_round_trip_that_grows_a_hundredfold_does_not_deafen_it() {
    // The delay exceeds any previous time-out of a control pair, so every answer is overdue.
    let run = changed(Change::Delay(0, Duration::from_ms(600)));
    let mean = |m, a, b| run.mean(m, Entity::Flow(0), window(a, b)).unwrap();
    let rtt = mean(Metric::Rtt, 30.0, 40.0);
    assert!((rtt - 0.603).abs() < 0.01, "{rtt}");
    // The window grows by at least a packet per round trip, because steps lengthen over an empty
    // queue.
    let (early, late) = (mean(Metric::Cwnd, 20.0, 21.0), mean(Metric::Cwnd, 39.0, 40.0));
    let grown = (late - early) / 1000.0;
    assert!(grown > 19.0 / 0.603 - 3.0, "{grown} packets");
}

#[test]
fn a_link_that_slows_two_hundredfold_is_not_flooded() {
    let run = changed(Change::Rate(0, "50 Kbps".parse().unwrap()));
    let most = run
        .series(Metric::Backlog, Entity::Link(0))
        .unwrap()
        .values
        .iter()
        .fold(0.0, |a: f64, b| a.max(*b));
    // Eight windows of six packets, and the backlog.
    assert!(most < 54e3, "{most} bytes");
    let mean = |m| run.mean(m, Entity::Link(0), window(25.0, 40.0)).unwrap();
    assert!(mean(Metric::Utilisation) > 0.95);
    let queue = mean(Metric::Backlog);
    assert!((2e3..5e3).contains(&queue), "{queue} bytes");
}

/// Both packets of a pair wait in the same queue, so their spacing does not measure it: the flows
/// take the queue for empty and fill the buffer, which a virtual delay would reveal.
#[test]
fn without_priority_the_queue_does_not_show() {
    let one_queue = |queue: &str, limit| {
        let mut s = fig6(controller("monaco", &[]), discipline(queue, &[]), limit);
        s.duration = Duration::from_secs(10);
        s.links[0].control_priority = false;
        let run = run(&s, &mut Quiet).unwrap();
        let of = |metric, entity| run.mean(metric, entity, window(4.0, 10.0)).unwrap();
        (
            of(Metric::Backlog, Entity::Link(0)),
            of(Metric::Accumulation, Entity::Flow(0)),
            of(Metric::AccumulationEstimate, Entity::Flow(0)),
        )
    };
    let (backlog, truth, estimate) = one_queue("droptail", 90);
    assert!(truth > 5000.0 && estimate < 100.0, "{truth} {estimate}");
    assert!(backlog > 50_000.0, "it is emptied by losses only: {backlog}");
    let (backlog, truth, estimate) = one_queue("avd", 90);
    assert!((estimate / 3000.0 - 1.0).abs() < 0.05, "{estimate}");
    assert!(truth < 1000.0 && backlog < 9000.0, "{truth} {backlog}");
}

/// With round trips of 10 and 36 ms and weights of 1 and 2, reports of both clocks beat. The shares are
/// nevertheless those of theory.
#[test]
fn shares_do_not_follow_from_the_clocks_of_reports() {
    let s = scenario(
        "duration = \"60 s\"\nsample = \"200 ms\"\nsteady = [\"30 s\", \"60 s\"]\n\
         [link]\nl0 = { from = \"a\", to = \"b\", rate = \"47.83 Mbps\", delay = \"4 ms\", \
         queue = { discipline = \"droptail\", limit = \"unlimited\" } }\n\
         [flow.far]\npath = [\"a\", \"b\"]\ncontroller = { name = \"monaco\", law = \"accord\" }\n\
         service = { weight = 2 }\naccess = { rate = \"1 Gbps\", delay = \"13.4 ms\" }\n\
         [flow.near]\npath = [\"a\", \"b\"]\ncontroller = { name = \"monaco\", law = \"accord\" }\n\
         service = { weight = 1 }\nstart = \"0.5 s\"\naccess = { rate = \"1 Gbps\", delay = \"0.24 ms\" }\n",
    );
    let run = run(&s, &mut Quiet).expect("runs");
    for (flow, part) in [(0, 2.0 / 3.0), (1, 1.0 / 3.0)] {
        let rate = run.mean(Metric::Throughput, Entity::Flow(flow), s.steady);
        let rate = rate.expect("it ran") / 47.83e6;
        assert!((rate / part - 1.0).abs() < 0.02, "{flow}: {rate}");
    }
}
