//! Web users and transfers in the packet engine.

use crate::common::*;
use accord_record::*;
use accord_scenario::*;
use accord_sim::run;
use accord_traffic::*;
use accord_units::*;

/// Files of one size, fetched one by one.
fn files(bytes: f64, think: Duration) -> Web {
    Web {
        body_mu: bytes.ln(),
        body_sigma: 0.0,
        tail_share: 0.0,
        tail_least: Bytes::new(133_000),
        tail_shape: 1.1,
        largest: Bytes::new(1_000_000),
        objects_shape: 4.0,
        off_scale: think,
        off_shape: 1.0,
        think_least: think,
        think_shape: 3.0,
        longest: Duration::from_secs(3600),
        load: None,
    }
}

/// Users over a dumbbell of 100 ms there and back.
fn users(count: usize, rate: &str, demand: Demand, duration: &str) -> Scenario {
    let queue = discipline("droptail", &[]);
    let newreno = controller("newreno", &[]);
    let dumbbell = Dumbbell::new(rate, "50 ms", queue, Limit::Unlimited, duration);
    let flows = dumbbell.flows("web", count, newreno, "10 Gbps", (0, 0), ("0 s", None), true);
    let mut s = flows.0;
    s.flows.iter_mut().for_each(|f| f.demand = demand);
    s.groups[0].recorded = Recorded::Group;
    s
}

const ALL: Window = Window { start: Time::ZERO, end: Time::MAX };

fn done(run: &Run) -> Vec<Transfer> {
    let done = run.transfers.iter().filter(|t| !t.duration.is_nan());
    done.copied().collect()
}

#[test]
fn each_file_takes_a_new_connection_and_each_burst_the_same() {
    let think = Duration::from_ms(500);
    // 14 packets: slow start from 10 sends 10 and 4, so two round trips.
    let web = users(1, "10 Gbps", Demand::Web(files(14e3, think)), "60 s");
    let web = done(&run(&web, &mut Quiet).unwrap());
    assert!(web.len() > 20, "{}", web.len());
    for t in &web {
        assert_eq!(t.size, Bytes::new(14_000));
        assert!((0.2..0.201).contains(&t.duration), "{t:?}");
    }
    let bursts = |pause| {
        let burst = Demand::OnOff {
            rate: None,
            burst: Draw::Constant(Bytes::new(14_000)),
            pause: Draw::Constant(pause),
        };
        done(&run(&users(1, "10 Gbps", burst, "60 s"), &mut Quiet).unwrap())
    };
    // After a pause longer than the time-out a burst restarts slow start [RFC 5681 §4.1].
    let slow = bursts(think);
    assert!(slow.len() > 20, "{}", slow.len());
    assert!((slow.iter()).all(|t| (0.2..0.201).contains(&t.duration)));
    // Otherwise it continues with the last window.
    let bursts = bursts(Duration::from_ms(50));
    assert!((0.2..0.201).contains(&bursts[0].duration), "{:?}", bursts[0]);
    assert!(bursts[1..].iter().all(|t| (0.1..0.101).contains(&t.duration)), "{bursts:?}");
}

#[test]
fn a_flow_of_a_size_is_one_transfer_and_what_is_not_done_is_told() {
    let size = Bytes::new(1_000_000);
    let once = |rate, stop: Option<f64>| {
        let mut s = users(2, rate, Demand::Size(size), "10 s");
        s.flows[1].stop = stop.map(Time::from_secs_f64);
        run(&s, &mut Quiet).unwrap()
    };
    let fast = once("1 Gbps", Some(0.25));
    assert_eq!(fast.transfers.len(), 2);
    assert_eq!(done(&fast).len(), 1);
    // 1000 packets by 10, 20, ..., 320, 370: seven round trips.
    let [a, b] = fast.transfers[..] else { panic!() };
    assert!((0.7..0.72).contains(&a.duration), "{a:?}");
    assert!(b.duration.is_nan(), "it was stopped: {b:?}");
    assert_eq!((b.flow, b.group, b.size, b.start), (1, 0, size, 0.0));
    // 2 MB over 1 Mbps take 16 s.
    let slow = once("1 Mbps", None);
    assert_eq!((slow.transfers.len(), done(&slow).len()), (2, 0));
}

#[test]
fn users_together_come_to_the_load_of_their_laws() {
    let web = Web { body_sigma: 1.318, ..files(10e3, Duration::from_secs(4)) };
    let s = users(400, "10 Gbps", Demand::Web(web), "300 s");
    let run = run(&s, &mut Quiet).unwrap();
    let window = window(50.0, 300.0);
    // The duration of transfers explains why users stay below the upper bound.
    let took = run.mean(Metric::CompletionTime, Entity::Group(0), window).unwrap();
    let files = web.mean_file() / web.most();
    let expected = 400.0 * web.mean_file() / (files + took) * 8.0;
    let is = run.mean(Metric::Throughput, Entity::Group(0), window).unwrap();
    // Packets are whole, which adds half a packet per file.
    let whole = 1.0 + 500.0 / web.mean_file();
    assert!((is / (expected * whole) - 1.0).abs() < 0.03, "{is} {expected}");
    let size = run.mean(Metric::TransferSize, Entity::Group(0), window).unwrap();
    assert!((size / web.mean_file() - 1.0).abs() < 0.03, "{size}");
}

#[test]
fn a_group_recorded_as_one_is_the_sum_of_its_flows() {
    let mut s = users(5, "2 Mbps", Demand::Web(files(60e3, Duration::from_ms(300))), "20 s");
    s.links[0].queue.limit = Limit::Packets(5);
    let one = run(&s, &mut Quiet).unwrap();
    s.groups[0].recorded = Recorded::Flows;
    let each = run(&s, &mut Quiet).unwrap();
    // The comparison is in text form, in which NaN equals NaN.
    assert_eq!(format!("{:?}", one.transfers), format!("{:?}", each.transfers));
    let metrics = Metric::ALL.iter().filter(|m| m.adds());
    for &metric in metrics {
        let sum = |t: usize| -> f64 {
            (0..5).map(|f| each.series(metric, Entity::Flow(f)).unwrap().values[t]).sum()
        };
        let group = &one.series(metric, Entity::Group(0)).unwrap().values;
        assert_eq!(group.len(), each.time.len());
        for (t, is) in group.iter().enumerate() {
            assert!((is - sum(t)).abs() <= 1e-9 * is.abs(), "{metric} {t}: {is}");
        }
        assert!(group.iter().any(|v| *v > 0.0), "{metric} is never there");
    }
    let flows = one.series.iter().filter(|s| matches!(s.entity, Entity::Flow(_)));
    assert_eq!(flows.count(), 0);
    // The transfers of a group are those of its flows.
    let count = |run: &Run, e| run.samples(Metric::CompletionTime, e, ALL).count();
    let by_flow: usize = (0..5).map(|f| count(&one, Entity::Flow(f))).sum();
    assert_eq!(count(&one, Entity::Group(0)), by_flow);
    assert!(by_flow > 20);
}

#[test]
fn what_a_user_draws_does_not_depend_on_the_network() {
    let web = Demand::Web(Web { body_sigma: 1.0, ..files(10e3, Duration::from_secs(1)) });
    let sizes = |rate| {
        let run = run(&users(3, rate, web, "60 s"), &mut Quiet).unwrap();
        let of = |f: usize| -> Vec<u64> {
            let own = run.transfers.iter().filter(|t| t.flow == f);
            own.map(|t| t.size.get()).take(10).collect()
        };
        [of(0), of(1), of(2)]
    };
    assert_eq!(sizes("10 Gbps"), sizes("1 Mbps"));
}
