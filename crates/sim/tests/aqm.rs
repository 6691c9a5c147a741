//! Disciplines in a loop with senders: the delay that CoDel, PIE and FQ-CoDel hold, and the shares
//! of flows.

use crate::common::*;
use accord_family::Raw;
use accord_record::*;
use accord_scenario::*;
use accord_sim::{run, run_audited};
use accord_traffic::*;

const STEADY: (f64, f64) = (10.0, 40.0);

/// Returns a scenario of `count` NewReno flows over 20 Mbps with a round trip of 60 ms.
fn flows(queue: &str, count: usize, ecn: bool) -> Scenario {
    // All begin at the same time, so with two packets each.
    let first = ("initial_window", Raw::Text("2 pkt".into()));
    let values = [("ecn", Raw::Flag(ecn)), ("sack", Raw::Flag(true)), first];
    let sender = controller("newreno", &values);
    let queue = discipline(queue, &[]);
    Dumbbell::new("20 Mbps", "25 ms", queue, Limit::Packets(1000), "40 s")
        .flows("flow", count, sender, "100 Mbps", (2000, 3000), ("0 s", None), true)
        .0
}

fn mean(run: &Run, metric: Metric) -> f64 {
    let (start, end) = STEADY;
    let of = Entity::Link(0);
    run.mean(metric, of, window(start, end)).expect("recorded")
}

/// Droptail keeps its buffer of 400 ms full. CoDel's target is 5 ms, PIE's 15 ms, and FQ-CoDel has
/// a target per flow. The mean is of that order, with the link in use.
#[test]
fn delay_is_held_near_the_target() {
    let outcome = |queue| {
        let run = run(&flows(queue, 10, false), &mut Quiet).expect("runs");
        let used = mean(&run, Metric::Utilisation);
        assert!(used > 0.93, "{queue}: {used}");
        mean(&run, Metric::QueuingDelay)
    };
    assert!(outcome("droptail") > 0.2);
    for (queue, target) in [("codel", 0.005), ("pie", 0.015)] {
        let delay = outcome(queue);
        assert!((0.5..1.6).contains(&(delay / target)), "{queue}: {delay}");
    }
    assert!(outcome("fq-codel") < 0.03);
}

/// A shaper of 20 Mbps on a line of 100 Mbps serves the queue. PIE measures the delay at that rate, and holds
/// it.
#[test]
fn pie_holds_its_delay_behind_a_shaper() {
    let mut s = flows("pie", 10, false);
    let shaper = Some(Bucket { rate: s.links[0].rate, burst: accord_units::Bytes::new(3000) });
    s.links[0].rate = accord_units::Rate::from_bps(100_000_000);
    s.links[0].parts = Some(Box::new(Parts { shaper, ..Parts::default() }));
    let run = run(&s, &mut Quiet).expect("runs");
    let used = mean(&run, Metric::Utilisation);
    assert!(used > 0.93, "{used}");
    let delay = mean(&run, Metric::QueuingDelay);
    assert!((0.5..1.6).contains(&(delay / 0.015)), "{delay}");
}

/// Marks act as drops do, without retransmissions.
#[test]
fn marks_hold_the_delay_as_drops_do() {
    for queue in ["codel", "pie", "fq-codel"] {
        let run = run(&flows(queue, 10, true), &mut Quiet).expect("runs");
        assert!(mean(&run, Metric::Marks) > 0.0, "{queue}");
        assert_eq!(mean(&run, Metric::Drops), 0.0, "{queue}");
        let delay = mean(&run, Metric::QueuingDelay);
        assert!(delay < 0.03, "{queue}: {delay}");
        assert!(mean(&run, Metric::Utilisation) > 0.93, "{queue}");
    }
}

/// Four flows with round trips of 20 to 160 ms and one open-loop source of 30 Mbps, over 20 Mbps.
/// FQ-CoDel gives each flow its share, and the source only the rest. NewReno with a queue of 5 ms
/// does not quite use its share, and uses less with a longer round trip. A droptail queue gives the
/// source nearly all. A flow of 200 kbps alongside them is served in full and has almost no queue.
#[test]
fn fair_queues_share_and_spare_the_sparse() {
    let outcome = |queue: &str| {
        let mut d =
            Dumbbell::new("20 Mbps", "5 ms", discipline(queue, &[]), Limit::Packets(1000), "40 s");
        for (i, us) in [0, 10_000, 30_000, 70_000].into_iter().enumerate() {
            let sack = [("sack", Raw::Flag(true))];
            let sender = controller("newreno", &sack);
            d = d.flows(&format!("tcp{i}"), 1, sender, "100 Mbps", (us, 5000), ("0 s", None), true);
        }
        for (name, rate) in [("flood", "30 Mbps"), ("sparse", "200 kbps")] {
            let sender = controller("none", &[]);
            d = d.flows(name, 1, sender, "100 Mbps", (10, 10), ("0 s", None), true);
            let flow = d.0.flows.last_mut().expect("just added");
            let rate = rate.parse().expect("a rate");
            flow.demand = match name {
                "flood" => Demand::Constant(rate),
                _ => Demand::Poisson(rate),
            };
        }
        let run = run(&d.0, &mut Quiet).expect("runs");
        let (start, end) = STEADY;
        let of = |metric, flow| run.mean(metric, Entity::Flow(flow), window(start, end));
        let rates = [0, 1, 2, 3, 4, 5].map(|flow| of(Metric::Throughput, flow).expect("recorded"));
        (rates, of(Metric::Accumulation, 5).expect("recorded"))
    };
    let (rates, queued) = outcome("fq-codel");
    let share = (20e6 - 200e3) / 5.0;
    for rate in &rates[..4] {
        assert!(*rate > 0.75 * share && *rate <= rates[4], "{rates:?}");
    }
    // 750 packets of a Poisson process, within three standard deviations.
    assert!((rates[5] / 200e3 - 1.0).abs() < 0.11, "{rates:?}");
    // A packet every 40 ms, delayed by at most 2 ms: there is one in a twentieth of the samples.
    assert!(queued > 0.0 && queued < 1000.0 / 20.0, "{queued} bytes");
    let (rates, queued) = outcome("droptail");
    assert!(rates[4] > 0.9 * 20e6, "{rates:?}");
    assert!(queued > 1000.0, "{queued} bytes");
}

/// A packet that arrives at a port leaves, is dropped at either end, or is held.
#[test]
fn the_counters_balance_with_drops_at_the_head() {
    for queue in ["codel", "pie", "fq-codel"] {
        let mut scenario = flows(queue, 20, false);
        scenario.duration = "8 s".parse().expect("a time");
        scenario.links[0].queue.limit = Limit::Packets(60);
        let (_, ports, flows) = run_audited(&scenario, &mut Quiet).expect("runs");
        assert!(ports[0].dropped.packets > 20, "{queue}: {:?}", ports[0]);
        for book in ports.iter().chain(&flows) {
            let out = book.left.bytes + book.dropped.bytes + book.held.bytes;
            assert_eq!(book.entered.bytes, out, "{queue}: {book:?}");
        }
    }
}

/// The queuing delay of a link is the waiting time of served packets, as measured by the flows.
/// This holds for drops at the tail and at the head.
#[test]
fn the_delay_of_a_link_is_that_of_what_it_serves() {
    for discipline in ["droptail", "pie", "codel", "fq-codel", "dualpi2"] {
        let s = scenario(&format!(
            "duration = \"30 s\"\nsteady = [\"10 s\", \"30 s\"]\n\
             topology.dumbbell = {{ rate = \"10 Mbps\", delay = \"20 ms\", \
             queue = {{ discipline = \"{discipline}\", limit = \"60 KB\" }} }}\n\
             [flow.a]\ncount = 30\nfrom = \"left\"\nto = \"right\"\n\
             controller = {{ name = \"newreno\", sack = true }}\npacket = \"1500 B\"\n\
             start = {{ uniform = [\"0 s\", \"2 s\"] }}\n"
        ));
        let run = run(&s, &mut Quiet).expect("runs");
        let mean = |metric, entity| run.mean(metric, entity, s.steady).expect("it ran");
        let (mut waited, mut packets) = (0.0, 0.0);
        for f in 0..30 {
            waited += mean(Metric::QueuingSum, Entity::Flow(f));
            packets += mean(Metric::Deliveries, Entity::Flow(f));
        }
        let seen = waited / packets;
        let link = mean(Metric::QueuingDelay, Entity::Link(0));
        assert!((link / seen - 1.0).abs() < 0.02, "{discipline}: {link} {seen}");
    }
}

/// Behind REM, four flows that react to marks compete with 9 of 10 Mbps that can only be dropped. If REM
/// counts the drops, its price rises without end. Otherwise the flows get the rest of the link.
#[test]
fn rem_leaves_a_link_in_use_if_it_counts_what_enters() {
    let used = |counts: bool| {
        let s = scenario(&format!(
            "duration = \"60 s\"\nsteady = [\"30 s\", \"60 s\"]\n\
             topology.dumbbell = {{ rate = \"10 Mbps\", delay = \"20 ms\", \
             queue = {{ discipline = \"rem\", limit = \"1000 pkt\", count_dropped = {counts} }} }}\n\
             [flow.t]\ncount = 4\nfrom = \"left\"\nto = \"right\"\n\
             controller = {{ name = \"newreno\", ecn = true, sack = true }}\n\
             [flow.u]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"none\"\n\
             demand = {{ constant = \"9 Mbps\" }}\n"
        ));
        let run = run(&s, &mut Quiet).expect("runs");
        run.mean(Metric::Utilisation, Entity::Link(0), s.steady).expect("recorded")
    };
    let (counted, not) = (used(true), used(false));
    assert!(counted < 0.25, "{counted}");
    assert!(not > 0.7, "{not}");
}
