//! Events of a run, and expectations.

use super::*;

#[test]
fn defaults_are_filled_in() {
    let s = scenario(&format!("{HEAD}{DUMBBELL}{FLOW}"));
    assert_eq!((s.id.as_str(), s.seed), ("test", 1));
    assert_eq!((s.sample, s.steady.start), (ms(10), Time::ZERO + Duration::from_secs(5)));
    assert_eq!(s.steady.end, s.end());
    let flow = &s.flows[0];
    assert_eq!((flow.name.as_str(), flow.demand), ("a", Demand::Greedy));
    assert_eq!((flow.start, flow.stop), (Time::ZERO, None));
    let sizes = (flow.packet, flow.ack, flow.control);
    assert_eq!(sizes, (Bytes::new(1000), Bytes::new(40), Bytes::new(64)));
    assert_eq!(names(&s, &flow.path), ["bottleneck"]);
    assert_eq!(names(&s, &flow.reverse_path), ["bottleneck.reverse"]);
    // 10 Mbps × (10 ms + 0.4 ms in the host + 0.8 ms for a packet + 0.032 ms for an acknowledgement).
    assert_eq!(link(&s, "bottleneck").queue.limit, Limit::Bytes(Bytes::new(14040)));
}

#[test]
fn the_sample_period_is_a_round_number() {
    for (duration, sample) in [("50 s", ms(50)), ("30 s", ms(20)), ("1 s", ms(1)), ("90 s", ms(50))]
    {
        let text = format!("duration = \"{duration}\"\n{DUMBBELL}{FLOW}");
        assert_eq!(scenario(&text).sample, sample, "{duration}");
    }
}

#[test]
fn many_flows_are_read_less_often() {
    // 10 Mbps each. The number of samples, and the packet-hops per reading of a flow.
    let of = |flows: usize, duration: &str, more: &str| {
        let text = format!(
            "duration = \"{duration}\"\n{more}
             topology.dumbbell = {{ rate = \"{} Mbps\", delay = \"10 ms\" }}
             flow.f = {{ count = {flows}, from = \"left\", to = \"right\", controller = \"reno\" }}",
            10 * flows
        );
        let s = scenario(&text);
        let samples = s.duration.as_secs_f64() / s.sample.as_secs_f64();
        let hops = 10e6 * s.duration.as_secs_f64() / 8000.0 * 2.0;
        (samples.round(), hops / samples)
    };
    assert_eq!(of(1000, "50 s", "").0, 1000.0);
    assert_eq!(of(100_000, "1 ms", "").0, 10.0);
    // Half of the fewest samples are in the means.
    assert_eq!(of(100_000, "1 ms", "steady = [\"0.9 ms\", \"1 ms\"]").0, 50.0);
    assert_eq!(of(100_000, "1 ms", "sample = \"1 us\"").0, 1000.0);
    // A reading costs as much as 20 packet-hops: recording takes a tenth at most.
    for flows in [5000, 100_000] {
        let (samples, hops) = of(flows, "50 s", "");
        assert!((10.0..=1000.0).contains(&samples), "{samples}");
        assert!(samples * flows as f64 <= 2.5e6 || hops >= 200.0, "{samples} {hops}");
    }
}

#[test]
fn events_change_links_and_paths() {
    let s = scenario(
        r#"
        duration = "10 s"
        nodes = ["a", "b", "c"]
        link.ab = { from = "a", to = "b", rate = "9 Mbps", delay = "4 ms" }
        link.bc = { from = "b", to = "c", rate = "9 Mbps", delay = "4 ms" }
        link.ca = { from = "c", to = "a", rate = "9 Mbps", delay = "4 ms" }
        flow.f = { count = 2, from = "a", to = "c", controller = "reno", access = { rate = "1 Gbps", delay = "1 ms" } }
        [[event]]
        at = "5 s"
        flow = "f.2"
        path = ["a", "b", "c"]
        [[event]]
        at = "3 s"
        link = "ca"
        delay = "9 ms"
        [[event]]
        at = "3 s"
        link = "ab.reverse"
        rate = "1 Mbps"
        [[event]]
        at = "4 s"
        link = "ab"
        direction = "forward"
        rate = "1 Mbps"
        "#,
    );
    let changes: Vec<_> = s.events.iter().map(|e| &e.change).collect();
    let delay = |link| Change::Delay(link, ms(9));
    let rate = |link| Change::Rate(link, Rate::from_bps(1_000_000));
    assert_eq!(changes[..4], [&delay(4), &delay(5), &rate(1), &rate(0)]);
    let Change::Route { flow, path, reverse_path } = changes[4] else {
        panic!("{:?}", changes[4]);
    };
    assert_eq!((*flow, names(&s, path)), (1, vec!["f.2.access", "ab", "bc"]));
    assert_eq!(names(&s, reverse_path), ["bc.reverse", "ab.reverse", "f.2.access.reverse"]);
}

#[test]
fn expectations_speak_the_metric_s_unit() {
    let expect = |keys: &str| {
        let s = scenario(&format!("{HEAD}{DUMBBELL}{FLOW}count = 2\n[[expect]]\n{keys}\n"));
        s.expectations
    };
    let e = expect("metric = \"throughput\"\nof = \"a\"\nequals = \"2 Mbps\"\nwithin = \"5 %\"");
    assert_eq!(e[0].name, "throughput of a, 5 s to 10 s");
    assert_eq!((e[0].engine, e[0].of), (Engine::Packet, Subject::Group(0)));
    assert_eq!(e[0].target, Target::Value { value: 2e6, tolerance: 0.05 });
    let e = expect("metric = \"throughput\"\nof = \"a\"\nequals = \"2 Mbps\"\nbeyond = \"5 %\"");
    assert_eq!(e[0].target, Target::Beyond { value: 2e6, tolerance: 0.05 });
    let e = expect("metric = \"rtt\"\nof = \"a.2\"\nover = \"p99.9\"\nat_most = \"20 ms\"");
    assert_eq!((e[0].of, e[0].over), (Subject::Flow(1), Over::Quantile(0.999)));
    assert_eq!(e[0].target, Target::Range { min: f64::NEG_INFINITY, max: 0.02 });
    let e = expect(
        "metric = \"utilisation\"\nof = \"bottleneck.reverse\"\nat_least = 0.1\nat_most = \"98 %\"",
    );
    assert_eq!((e[0].of, e[0].target), (Subject::Link(1), Target::Range { min: 0.1, max: 0.98 }));
    let e = expect("metric = \"cwnd\"\nof = \"a\"\nacross = \"jain\"\nat_least = 0.9");
    assert_eq!(
        (e[0].across, e[0].target),
        (Across::Jain, Target::Range { min: 0.9, max: f64::INFINITY })
    );
    let e = expect(
        "metric = \"throughput\"\nof = \"a\"\nengine = [\"theory\", \"packet\"]\nname = \"x\"\nat_least = \"1 Mbps\"",
    );
    let names: Vec<_> = e.iter().map(|e| (e.name.as_str(), e.engine)).collect();
    assert_eq!(names, [("x", Engine::Theory), ("x", Engine::Packet)]);
    let e = expect("metric = \"throughput\"\nof = \"a\"\nequals = \"theory\"\nwithin = 0.1");
    assert_eq!(e[0].target, Target::Engine { engine: Engine::Theory, tolerance: 0.1 });
}

#[test]
fn demands_change_their_rates() {
    let s = scenario(&format!(
        r#"{HEAD}{DUMBBELL}
        event = [{{ at = "5 s", flow = "a", demand_rate = "2 Mbps" }}]
        [flow.a]
        from = "left"
        to = "right"
        controller = "none"
        count = 2
        demand = {{ poisson = "1 Mbps" }}
        share = 0.25
        "#
    ));
    let rate = Rate::from_bps(2_000_000);
    let changes: Vec<_> = s.events.iter().map(|e| e.change.clone()).collect();
    assert_eq!(changes, [0, 1].map(|flow| Change::Demand { flow, rate }));
    let before = Demand::Poisson(Rate::from_bps(1_000_000));
    let after = Time::ZERO + Duration::from_secs(5);
    let demands = |at| [0, 1].map(|flow| s.at(at).demand(flow));
    assert_eq!(demands(Time::ZERO), [before; 2]);
    assert_eq!(demands(after), [Demand::Poisson(rate); 2]);
    assert_eq!(s.flows[0].share, 0.25);
}

#[test]
fn aggregates_and_groups_have_metrics_of_their_own() {
    let queue = r#"queue = { discipline = "shares" }"#;
    let s = scenario(&format!(
        r#"{HEAD}
        expect = [
            {{ metric = "admitted_rate", of = "bottleneck.default", at_least = "1 Mbps" }},
            {{ metric = "fairness_index", of = "a", at_least = 0.9 }},
            {{ metric = "aggregate_fairness", of = "bottleneck", at_most = "99 %" }},
        ]
        [topology.dumbbell]
        rate = "10 Mbps"
        delay = "5 ms"
        {queue}
        {FLOW}
        count = 2
        "#
    ));
    let of: Vec<_> = s.expectations.iter().map(|e| e.of).collect();
    let aggregate = Subject::Aggregate { link: 0, aggregate: 0 };
    assert_eq!(of, [aggregate, Subject::Group(0), Subject::Link(0)]);
}

/// A list of the active flows for each of 100 000 starts would take 40 GB: cuts are times only,
/// and phases are made one by one.
#[test]
fn phases_of_many_flows_are_made_one_by_one() {
    let s = scenario(&format!(
        r#"{HEAD}{DUMBBELL}
        [flow.a]
        count = 100000
        from = "left"
        to = "right"
        controller = "newreno"
        start = {{ uniform = ["1 s", "2 s"] }}
        "#
    ));
    let cuts = s.cuts();
    // Two starts may fall on one picosecond, once in 200 runs.
    assert!((100_000..=100_002).contains(&cuts.len()), "{}", cuts.len());
    assert_eq!((cuts[0], cuts[cuts.len() - 1]), (Time::ZERO, s.end()));
    assert!(cuts.is_sorted());
    let first: Vec<usize> = s.phases().take(3).map(|p| p.active.len()).collect();
    assert_eq!(first, [0, 1, 2]);
    let last = s.phases().next_back().expect("the last phase");
    assert_eq!((last.active.len(), last.end), (100_000, s.end()));
}
