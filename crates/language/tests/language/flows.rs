//! Flows and groups: their hosts, demands and differences.

use super::*;

/// A dumbbell with a group from left to right, of which `rest` says more.
fn one_group(rest: &str) -> Scenario {
    scenario(&format!("{HEAD}{DUMBBELL}[flow.a]\nfrom = \"left\"\nto = \"right\"\n{rest}"))
}

#[test]
fn hosts_of_their_own() {
    let text = r#"
        count = 3
        access = { rate = "1 Gbps", delay = { spread = ["1 ms", "5 ms"] }, reverse = { delay = "7 ms" } }
        egress = { rate = ["1 Mbps", "2 Mbps"], delay = "1 ms", queue = { discipline = "red", limit = "9 pkt" } }
    "#;
    let s = scenario(&format!("{HEAD}{DUMBBELL}{FLOW}{text}"));
    assert_eq!(names(&s, &s.flows[2].path), ["a.3.access", "bottleneck", "a.3.egress"]);
    assert_eq!(
        names(&s, &s.flows[2].reverse_path),
        ["a.3.egress.reverse", "bottleneck.reverse", "a.3.access.reverse"]
    );
    let delays: Vec<_> = (1..4).map(|i| link(&s, &format!("a.{i}.access")).delay).collect();
    assert_eq!(delays, [ms(1), ms(3), ms(5)]);
    let rates: Vec<_> = (1..4).map(|i| link(&s, &format!("a.{i}.egress")).rate.as_bps()).collect();
    assert_eq!(rates, [1_000_000, 2_000_000, 1_000_000]);
    let access = link(&s, "a.1.access.reverse");
    assert_eq!((access.delay, access.queue.limit), (ms(7), Limit::Unlimited));
    assert!(access.attachment && !link(&s, "bottleneck").attachment);
    assert_eq!(link(&s, "a.1.egress").queue.limit, Limit::Packets(9));
    assert!(s.nodes.iter().any(|n| n.name == "a.1.source"));
}

#[test]
fn flows_of_a_group_may_differ() {
    let s = scenario(
        r#"
        duration = "10 s"
        topology.parking_lot = { bottlenecks = 2, rate = "9 Mbps", delay = "4 ms" }
        [flow.a]
        from = "r0"
        to = "r2"
        controller = { name = "monaco", target = "3 pkt" }
        start = "1 s"
        each = [
            {},
            { to = "r1", start = "2 s", packet = "500 B" },
            { path = ["r2", "r1"], controller = "reno" },
            { demand = { on_off = { rate = "1 Mbps", burst = "10 KB", pause = { exponential = "1 s" } } }, stop = "5 s" },
        ]
        "#,
    );
    let paths: Vec<_> = s.flows.iter().map(|f| names(&s, &f.path).join(" ")).collect();
    assert_eq!(paths, ["hop1 hop2", "hop1", "hop2.reverse", "hop1 hop2"]);
    assert_eq!(s.flows[1].start, Time::ZERO + Duration::from_secs(2));
    assert_eq!((s.flows[1].packet, s.flows[0].packet), (Bytes::new(500), Bytes::new(1000)));
    assert_eq!(s.flows[2].controller.family().name, "reno");
    assert_eq!(s.flows[0].controller.size("target"), Size::Packets(3.0));
    assert_eq!(
        s.flows[3].demand,
        Demand::OnOff {
            rate: Some(Rate::from_bps(1_000_000)),
            burst: Draw::Constant(Bytes::new(10_000)),
            pause: Draw::Exponential(Duration::from_secs(1)),
        }
    );
}

#[test]
fn web_users_have_the_parameters_of_surge() {
    let s = scenario(&format!(
        "{HEAD}{DUMBBELL}{FLOW}each = [{{ demand = {{ web = {{}} }} }}, \
         {{ demand = {{ web = {{ largest = \"1 MB\", tail_share = 0, load = \"20 Kbps\" }} }} }}]\n"
    ));
    // Barford and Crovella 1998, as the experiments of the papers take it.
    let surge = Web {
        body_mu: 9.357,
        body_sigma: 1.318,
        tail_share: 0.07,
        tail_least: Bytes::new(133_000),
        tail_shape: 1.1,
        largest: Bytes::new(1_000_000_000),
        objects_shape: 2.43,
        off_scale: ms(1460),
        off_shape: 0.382,
        think_least: ms(1000),
        think_shape: 1.5,
        longest: ms(3_600_000),
        load: None,
    };
    assert_eq!(s.flows[0].demand, Demand::Web(surge));
    let changed = Web {
        largest: Bytes::new(1_000_000),
        tail_share: 0.0,
        load: Some(Rate::from_bps(20_000)),
        ..surge
    };
    assert_eq!(s.flows[1].demand, Demand::Web(changed));
}

#[test]
fn groups_of_web_users_are_recorded_as_one_unless_told_otherwise() {
    let s = scenario(&format!(
        "{HEAD}{DUMBBELL}{0}demand = {{ web = {{}} }}\n{1}demand = {{ web = {{}} }}\nrecord = \"flows\"\n\
         {2}count = 3\nrecord = \"group\"\n{3}each = [{{}}, {{ demand = {{ web = {{}} }} }}]\n\
         [[expect]]\nmetric = \"throughput\"\nof = \"c\"\nat_least = \"1 Mbps\"\n\
         [[expect]]\nmetric = \"completion_time\"\nof = \"a\"\nover = \"p99\"\nat_most = \"1 s\"\n",
        FLOW,
        FLOW.replace("flow.a", "flow.b"),
        FLOW.replace("flow.a", "flow.c"),
        FLOW.replace("flow.a", "flow.d"),
    ));
    let recorded: Vec<_> = s.groups.iter().map(|g| g.recorded.name()).collect();
    assert_eq!(recorded, ["group", "flows", "group", "flows"]);
    assert_eq!(s.recorded_flows().collect::<Vec<_>>(), [1, 5, 6]);
    assert_eq!(s.recorded_groups().collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn flows_go_round_shared_hosts() {
    let s = scenario(&format!(
        "{HEAD}{DUMBBELL}{FLOW}count = 5\n\
         access = {{ hosts = 3, rate = \"1 Gbps\", delay = {{ spread = [\"1 ms\", \"100 ms\"] }} }}\n\
         egress = {{ hosts = 9, rate = [\"1 Gbps\", \"2 Gbps\"], delay = \"1 ms\" }}\n"
    ));
    let paths: Vec<_> = (s.flows.iter()).map(|f| names(&s, &f.path).join(" ")).collect();
    let path = |i: u32, j: u32| format!("a.access.{i} bottleneck a.egress.{j}");
    let expected = [path(1, 1), path(2, 2), path(3, 3), path(1, 4), path(2, 5)];
    assert_eq!(paths, expected);
    let delay = |i: u32| link(&s, &format!("a.access.{i}")).delay;
    assert_eq!([1, 2, 3].map(delay), [ms(1), Duration::from_us(50_500), ms(100)]);
    assert_eq!(link(&s, "a.egress.4").rate, Rate::from_bps(2_000_000_000));
    // Hosts that no flow uses are not made.
    assert_eq!(s.links.len(), 2 * (1 + 3 + 5));
    assert!(s.links[2..].iter().all(|l| l.attachment));
}

#[test]
fn acknowledgements_may_take_another_way() {
    let s = scenario(
        r#"
        duration = "10 s"
        nodes = ["a", "b", "c"]
        link.ab = { from = "a", to = "b", rate = "9 Mbps", delay = "4 ms" }
        link.bc = { from = "b", to = "c", rate = "9 Mbps", delay = "4 ms" }
        link.ca = { from = "c", to = "a", rate = "9 Mbps", delay = "4 ms" }
        flow.f = { path = ["a", "b"], reverse_path = ["b", "c", "a"], controller = "reno" }
        "#,
    );
    assert_eq!(names(&s, &s.flows[0].reverse_path), ["bc", "ca"]);
}

#[test]
fn chance_is_drawn_from_the_seed_and_stays_when_flows_are_added() {
    let text = |more: &str| {
        format!("{HEAD}{DUMBBELL}{FLOW}start = {{ uniform = [\"1 s\", \"3 s\"] }}\n{more}")
    };
    let first = scenario(&text(""));
    let start = first.flows[0].start.as_secs_f64();
    assert!((1.0..3.0).contains(&start), "{start}");
    let more = scenario(&text(&FLOW.replace("flow.a", "flow.b")));
    assert_eq!(more.flows[0].start, first.flows[0].start);
    let file = File::parse("test.toml", &text("")).unwrap();
    let other = file.points(&CATALOGUE, Some(2)).unwrap();
    assert_ne!(other[0].flows[0].start, first.flows[0].start);
    assert_eq!(other[0].seed, 2);
    assert_ne!(other[0].hash(), first.hash());
}

#[test]
fn bursts_and_pauses_may_be_pareto() {
    let s = one_group(
        r#"
        controller = "none"
        packet = "100 B"
        demand.on_off = { rate = "1 Gbps", burst = { pareto = { mean = "10 KB", shape = 2.5 } }, pause = { pareto = { mean = "1 ms", shape = 2.5 } } }
        "#,
    );
    let Demand::OnOff { burst, pause, .. } = s.flows[0].demand else {
        panic!("{:?}", s.flows[0].demand);
    };
    assert_eq!(burst.mean(), Bytes::new(10_000));
    assert_eq!(pause.mean(), ms(1));
    // 10 KB take 80 us, so packets come at 10 KB in 1.08 ms on average. The standard deviation of
    // 20 000 draws is 0.9 times the mean, of their mean 0.6 %.
    let mut application = s.flows[0].application(0, 1);
    let (mut time, mut packets, mut pauses) = (Duration::ZERO, 0u64, 0);
    while pauses < 20_000 {
        let step = application.act(Time::ZERO + time);
        let again = step.again.expect("it goes on");
        packets += step.supply;
        time += again;
        pauses += u32::from(again > Duration::from_us(500));
    }
    // No pause is shorter than 0.6 ms, the least of the law.
    let rate = packets as f64 * 100.0 / time.as_secs_f64();
    assert!((rate / (10_000.0 / 1.08e-3) - 1.0).abs() < 0.03, "{rate}");
}

#[test]
fn packets_may_have_random_sizes() {
    let flow = |packet: &str| {
        let s = scenario(&format!(
            r#"{HEAD}{DUMBBELL}
            [flow.a]
            from = "left"
            to = "right"
            controller = "none"
            demand = {{ poisson = "1 Mbps" }}
            packet = {packet}
            "#
        ));
        assert_prints_to_itself(&s);
        s.flows[0].clone()
    };
    let mean_of = |packet: &str, least: u64, most: u64| {
        let flow = flow(packet);
        let law = flow.sizes.as_ref().expect("a law");
        let draw = |seed| {
            let mut sizer = Sizer::new(law, 0, seed);
            (0..100_000).map(|_| sizer.draw().get()).collect::<Vec<_>>()
        };
        let sizes = draw(1);
        assert_eq!(sizes, draw(1));
        assert_ne!(sizes, draw(2));
        assert!(sizes.iter().all(|size| (least..=most).contains(size)));
        assert_eq!(flow.packet, Bytes::from_f64(law.mean()));
        let n = sizes.len() as f64;
        let mean = sizes.iter().sum::<u64>() as f64 / n;
        let squares: f64 = sizes.iter().map(|size| (*size as f64 - mean).powi(2)).sum();
        let error = squares.sqrt() / n;
        assert!((mean - law.mean()).abs() < 4.0 * error, "{packet}: {mean} {}", law.mean());
        law.mean()
    };
    // The bounds add 40 − 1000·(1 − e^−0.04) = 0.8 bytes to the mean.
    let exponential = mean_of(r#"{ exponential = "1000 B" }"#, 40, 65_535);
    assert!((exponential - 1000.79).abs() < 0.1, "{exponential}");
    assert_eq!(mean_of(r#"{ uniform = ["100 B", "1500 B"] }"#, 100, 1500), 800.0);
    let mix = mean_of(r#"{ mix = { "40 B" = 7, "576 B" = 4, "1500 B" = 1 } }"#, 40, 1500);
    assert!((mix - 4084.0 / 12.0).abs() < 1e-9, "{mix}");
}

#[test]
fn processing_times_are_resolved() {
    let flows = one_group(
        r#"
        controller = "newreno"
        each = [
            { access = { rate = "10 Mbps", delay = "1 ms" } },
            { access = { rate = "11 Mbps", delay = "1 ms" } },
            { access = { rate = "10 Mbps", delay = "1 ms" }, processing = "0 s" },
            { access = { rate = "11 Mbps", delay = "1 ms" }, processing = "20 us" },
            {},
            { controller = "vegas" },
            { controller = "vegas", processing = "packet" },
            { controller = "none", demand = { constant = "1 Mbps" }, processing = "packet" },
        ]
        "#,
    );
    assert_prints_to_itself(&flows);
    let longest = |i: usize| flows.flows[i].processing;
    let slowest = flows.links[0].rate.transmission(Bytes::new(1000));
    assert_eq!(longest(0), slowest);
    let us = Duration::from_us;
    assert_eq!([longest(1), longest(2), longest(3), longest(4)], [slowest, us(0), us(20), slowest]);
    assert_eq!([longest(5), longest(6), longest(7)], [us(0), slowest, us(0)]);
    // Half of it is part of the base round-trip time.
    let now = flows.at(Time::ZERO);
    let less = now.base_rtt(0) - now.base_rtt(2);
    assert_eq!(less, Duration::from_ps(slowest.as_ps() / 2));
}

#[test]
fn settings_of_streams_are_read() {
    let flows = one_group(
        r#"
        controller = "newreno"
        each = [{}, { min_rto = "1 s", pacing = true }, { min_rto = "0 s" }, { min_rto = "60 s" }]
        "#,
    );
    assert_prints_to_itself(&flows);
    let ms = Duration::from_ms;
    let settings: Vec<_> = flows.flows.iter().map(|f| (f.min_rto, f.pacing)).collect();
    let expected = [(200, false), (1000, true), (0, false), (60_000, false)];
    assert_eq!(settings, expected.map(|(rto, pacing)| (ms(rto), pacing)));
}
