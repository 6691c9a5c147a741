//! What the scenario language means.

mod common;

use accord_scenario::{
    Across, Application, Change, Demand, Draw, Engine, File, Limit, Link, Over, Scenario, Subject,
    Target, Web, print,
};
use accord_units::{Bytes, Duration, Rate, Size, Time};
use common::{CATALOGUE, points};

/// Parsing what was printed gives the same scenario, printed the same.
fn assert_prints_to_itself(scenario: &Scenario) {
    let text = print(scenario);
    let file = File::parse("print", &text).unwrap_or_else(|e| panic!("{e}"));
    let again = file
        .points(&CATALOGUE, None)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again, std::slice::from_ref(scenario), "{text}");
    assert_eq!(print(&again[0]), text);
    assert_eq!(again[0].hash(), scenario.hash());
}

/// The only point of a text, which prints to itself.
fn scenario(text: &str) -> Scenario {
    let mut points = points(text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(points.len(), 1);
    let scenario = points.remove(0);
    assert_prints_to_itself(&scenario);
    scenario
}

fn ms(n: u64) -> Duration {
    Duration::from_ms(n)
}

fn link<'a>(scenario: &'a Scenario, name: &str) -> &'a Link {
    let found = scenario.links.iter().find(|l| l.name == name);
    found.unwrap_or_else(|| panic!("there is no link {name}"))
}

/// The names of the links of a path.
fn names<'a>(scenario: &'a Scenario, path: &[usize]) -> Vec<&'a str> {
    path.iter()
        .map(|&l| scenario.links[l].name.as_str())
        .collect()
}

const HEAD: &str = "duration = \"10 s\"\n";
const DUMBBELL: &str = "topology.dumbbell = { rate = \"10 Mbps\", delay = \"5 ms\" }\n";
const FLOW: &str = "[flow.a]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"reno\"\n";

#[test]
fn defaults_are_filled_in() {
    let s = scenario(&format!("{HEAD}{DUMBBELL}{FLOW}"));
    assert_eq!((s.id.as_str(), s.seed), ("test", 1));
    assert_eq!(
        (s.sample, s.steady.start),
        (ms(10), Time::ZERO + Duration::from_secs(5))
    );
    assert_eq!(s.steady.end, s.end());
    let flow = &s.flows[0];
    assert_eq!((flow.name.as_str(), flow.demand), ("a", Demand::Greedy));
    assert_eq!((flow.start, flow.stop), (Time::ZERO, None));
    let sizes = (flow.packet, flow.ack, flow.control);
    assert_eq!(sizes, (Bytes::new(1000), Bytes::new(40), Bytes::new(64)));
    assert_eq!(names(&s, &flow.path), ["bottleneck"]);
    assert_eq!(names(&s, &flow.reverse_path), ["bottleneck.reverse"]);
    // 10 Mbps × (10 ms + 0.8 ms for a packet + 0.032 ms for an acknowledgement).
    assert_eq!(
        link(&s, "bottleneck").queue.limit,
        Limit::Bytes(Bytes::new(13540))
    );
}

#[test]
fn the_sample_period_is_a_round_number() {
    for (duration, sample) in [
        ("50 s", ms(50)),
        ("30 s", ms(20)),
        ("1 s", ms(1)),
        ("90 s", ms(50)),
    ] {
        let text = format!("duration = \"{duration}\"\n{DUMBBELL}{FLOW}");
        assert_eq!(scenario(&text).sample, sample, "{duration}");
    }
}

#[test]
fn limits_are_resolved() {
    let limit = |text: &str| {
        let queue = format!(
            "[link.bottleneck]\nqueue.discipline = \"droptail\"\nqueue.limit = \"{text}\"\n"
        );
        let s = scenario(&format!("{HEAD}{DUMBBELL}{FLOW}{queue}"));
        link(&s, "bottleneck").queue.limit
    };
    assert_eq!(limit("90 pkt"), Limit::Packets(90));
    assert_eq!(limit("64 KB"), Limit::Bytes(Bytes::new(64_000)));
    assert_eq!(limit("20 ms"), Limit::Bytes(Bytes::new(25_000)));
    assert_eq!(limit("2 BDP"), Limit::Bytes(Bytes::new(27_080)));
    assert_eq!(limit("unlimited"), Limit::Unlimited);
    // Never less than two packets.
    assert_eq!(limit("0.01 BDP"), Limit::Bytes(Bytes::new(2000)));
}

#[test]
fn the_reverse_direction_says_what_differs() {
    let own =
        "[link.bottleneck]\nloss = \"1 %\"\nreverse = { rate = \"5 Mbps\", queue = \"red\" }\n";
    let s = scenario(&format!("{HEAD}{DUMBBELL}{FLOW}{own}"));
    let (forward, reverse) = (link(&s, "bottleneck"), link(&s, "bottleneck.reverse"));
    assert_eq!(
        (forward.rate, forward.loss),
        (Rate::from_bps(10_000_000), 0.01)
    );
    assert_eq!(
        (reverse.rate, reverse.loss),
        (Rate::from_bps(5_000_000), 0.01)
    );
    assert_eq!(reverse.delay, ms(5));
    assert_eq!(reverse.queue.discipline.family().name, "red");
    assert_eq!((forward.from, forward.to), (reverse.to, reverse.from));
}

#[test]
fn a_parking_lot_with_a_flow_on_each_hop() {
    let s = scenario(
        r#"
        duration = "10 s"
        topology.parking_lot = { bottlenecks = 3, rate = "9 Mbps", delay = "4 ms" }
        link.hop2.rate = "5 Mbps"
        flow.long = { from = "r0", to = "r3", controller = "vegas" }
        flow.short = { each_hop = true, count = 2, controller = "vegas" }
        "#,
    );
    let rates: Vec<_> = s
        .links
        .iter()
        .step_by(2)
        .map(|l| l.rate.as_bps() / 1_000_000)
        .collect();
    assert_eq!(rates, [9, 5, 9]);
    assert_eq!(names(&s, &s.flows[0].path), ["hop1", "hop2", "hop3"]);
    assert_eq!(
        names(&s, &s.flows[0].reverse_path),
        ["hop3.reverse", "hop2.reverse", "hop1.reverse"]
    );
    let hops: Vec<_> = s.flows[1..]
        .iter()
        .map(|f| (f.name.as_str(), names(&s, &f.path)[0]))
        .collect();
    let expected = [
        ("short.1", "hop1"),
        ("short.2", "hop1"),
        ("short.3", "hop2"),
        ("short.4", "hop2"),
        ("short.5", "hop3"),
        ("short.6", "hop3"),
    ];
    assert_eq!(hops, expected);
}

#[test]
fn the_path_of_least_delay_then_fewest_links_then_first_name() {
    let way = |links: &[(&str, &str, u64)]| {
        let mut text =
            String::from("duration = \"1 s\"\nnodes = [\"s\", \"c\", \"b\", \"a\", \"t\"]\n");
        text += "flow.f = { from = \"s\", to = \"t\", controller = \"reno\" }\n";
        for (from, to, delay) in links {
            text += &format!(
                "link.{from}{to} = {{ from = \"{from}\", to = \"{to}\", rate = \"1 Mbps\", delay = \"{delay} ms\" }}\n"
            );
        }
        let s = scenario(&text);
        names(&s, &s.flows[0].path).join(" ")
    };
    assert_eq!(way(&[("s", "t", 9), ("s", "a", 4), ("a", "t", 4)]), "sa at");
    assert_eq!(way(&[("s", "t", 8), ("s", "a", 4), ("a", "t", 4)]), "st");
    let tie = [
        ("s", "b", 4),
        ("b", "t", 4),
        ("s", "a", 4),
        ("a", "t", 4),
        ("s", "c", 4),
        ("c", "t", 4),
    ];
    assert_eq!(way(&tie), "sa at");
    assert_eq!(
        way(&[("s", "a", 0), ("a", "b", 0), ("b", "t", 0), ("a", "t", 0)]),
        "sa at"
    );
    // Against the direction in which a link was declared.
    assert_eq!(way(&[("t", "s", 1)]), "ts.reverse");
}

#[test]
fn hosts_of_their_own() {
    let text = r#"
        count = 3
        access = { rate = "1 Gbps", delay = { spread = ["1 ms", "5 ms"] }, reverse = { delay = "7 ms" } }
        egress = { rate = ["1 Mbps", "2 Mbps"], delay = "1 ms", queue = { discipline = "red", limit = "9 pkt" } }
    "#;
    let s = scenario(&format!("{HEAD}{DUMBBELL}{FLOW}{text}"));
    assert_eq!(
        names(&s, &s.flows[2].path),
        ["a.3.access", "bottleneck", "a.3.egress"]
    );
    assert_eq!(
        names(&s, &s.flows[2].reverse_path),
        [
            "a.3.egress.reverse",
            "bottleneck.reverse",
            "a.3.access.reverse"
        ]
    );
    let delays: Vec<_> = (1..4)
        .map(|i| link(&s, &format!("a.{i}.access")).delay)
        .collect();
    assert_eq!(delays, [ms(1), ms(3), ms(5)]);
    let rates: Vec<_> = (1..4)
        .map(|i| link(&s, &format!("a.{i}.egress")).rate.as_bps())
        .collect();
    assert_eq!(rates, [1_000_000, 2_000_000, 1_000_000]);
    let access = link(&s, "a.1.access.reverse");
    assert_eq!(
        (access.delay, access.queue.limit),
        (ms(7), Limit::Unlimited)
    );
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
    let paths: Vec<_> = s
        .flows
        .iter()
        .map(|f| names(&s, &f.path).join(" "))
        .collect();
    assert_eq!(paths, ["hop1 hop2", "hop1", "hop2.reverse", "hop1 hop2"]);
    assert_eq!(s.flows[1].start, Time::ZERO + Duration::from_secs(2));
    assert_eq!(
        (s.flows[1].packet, s.flows[0].packet),
        (Bytes::new(500), Bytes::new(1000))
    );
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
    let paths: Vec<_> = (s.flows.iter())
        .map(|f| names(&s, &f.path).join(" "))
        .collect();
    let path = |i: u32, j: u32| format!("a.access.{i} bottleneck a.egress.{j}");
    let expected = [path(1, 1), path(2, 2), path(3, 3), path(1, 4), path(2, 5)];
    assert_eq!(paths, expected);
    let delay = |i: u32| link(&s, &format!("a.access.{i}")).delay;
    assert_eq!(
        [1, 2, 3].map(delay),
        [ms(1), Duration::from_us(50_500), ms(100)]
    );
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
fn queues_are_drawn_link_by_link() {
    let mix = |seed: u64, own: &str| {
        let text = format!(
            r#"
            duration = "10 s"
            seed = {seed}
            topology.parking_lot = {{ bottlenecks = 20, rate = "9 Mbps", delay = "4 ms", queue = {{ random = ["droptail", "avd"]{own} }} }}
            flow.short = {{ each_hop = true, controller = "monaco" }}
            "#
        );
        let s = scenario(&text);
        let name = |l: &Link| l.queue.discipline.family().name;
        s.links.iter().step_by(2).map(name).collect::<Vec<_>>()
    };
    let first = mix(1, "");
    assert!(first.contains(&"droptail") && first.contains(&"avd"));
    assert_eq!(mix(1, ""), first);
    assert_ne!(mix(2, ""), first);
    assert_eq!(mix(2, ", seed = 7"), mix(3, ", seed = 7"));
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
    let Change::Route {
        flow,
        path,
        reverse_path,
    } = changes[4]
    else {
        panic!("{:?}", changes[4]);
    };
    assert_eq!(
        (*flow, names(&s, path)),
        (1, vec!["f.2.access", "ab", "bc"])
    );
    assert_eq!(
        names(&s, reverse_path),
        ["bc.reverse", "ab.reverse", "f.2.access.reverse"]
    );
}

#[test]
fn expectations_speak_the_metric_s_unit() {
    let expect = |keys: &str| {
        let s = scenario(&format!(
            "{HEAD}{DUMBBELL}{FLOW}count = 2\n[[expect]]\n{keys}\n"
        ));
        s.expectations
    };
    let e = expect("metric = \"throughput\"\nof = \"a\"\nequals = \"2 Mbps\"\nwithin = \"5 %\"");
    assert_eq!(e[0].name, "throughput of a, 5 s to 10 s");
    assert_eq!((e[0].engine, e[0].of), (Engine::Packet, Subject::Group(0)));
    assert_eq!(
        e[0].target,
        Target::Value {
            value: 2e6,
            tolerance: 0.05
        }
    );
    let e = expect("metric = \"rtt\"\nof = \"a.2\"\nover = \"p99.9\"\nat_most = \"20 ms\"");
    assert_eq!(
        (e[0].of, e[0].over),
        (Subject::Flow(1), Over::Quantile(0.999))
    );
    assert_eq!(
        e[0].target,
        Target::Range {
            min: f64::NEG_INFINITY,
            max: 0.02
        }
    );
    let e = expect(
        "metric = \"utilisation\"\nof = \"bottleneck.reverse\"\nat_least = 0.1\nat_most = \"98 %\"",
    );
    assert_eq!(
        (e[0].of, e[0].target),
        (
            Subject::Link(1),
            Target::Range {
                min: 0.1,
                max: 0.98
            }
        )
    );
    let e = expect("metric = \"cwnd\"\nof = \"a\"\nacross = \"jain\"\nat_least = 0.9");
    assert_eq!(
        (e[0].across, e[0].target),
        (
            Across::Jain,
            Target::Range {
                min: 0.9,
                max: f64::INFINITY
            }
        )
    );
    let e = expect(
        "metric = \"throughput\"\nof = \"a\"\nengine = [\"theory\", \"packet\"]\nname = \"x\"\nat_least = \"1 Mbps\"",
    );
    let names: Vec<_> = e.iter().map(|e| (e.name.as_str(), e.engine)).collect();
    assert_eq!(names, [("x", Engine::Theory), ("x", Engine::Packet)]);
    let e = expect("metric = \"throughput\"\nof = \"a\"\nequals = \"theory\"\nwithin = 0.1");
    assert_eq!(
        e[0].target,
        Target::Engine {
            engine: Engine::Theory,
            tolerance: 0.1
        }
    );
}

#[test]
fn sweeps_give_all_combinations() {
    let text = format!(
        r#"{HEAD}{DUMBBELL}{FLOW}
        [sweep.scheme]
        set = ["flow.a.controller"]
        [sweep.scheme.values]
        plain = "reno"
        small = {{ name = "monaco", target = "1 pkt" }}
        [sweep.rate]
        set = ["link.bottleneck.rate", "link.bottleneck.reverse.rate"]
        values = ["5 Mbps", "10 Mbps"]
        [sweep.both.values]
        x = {{ "flow.a.count" = 2, seed = 9 }}
        [[expect]]
        metric = "goodput"
        of = "a"
        when = {{ scheme = "small" }}
        by = "rate"
        at_least = {{ "5 Mbps" = "1 Mbps", "10 Mbps" = "2 Mbps" }}
        [[expect]]
        metric = "goodput"
        of = "a"
        when = {{ rate = ["5 Mbps", "10 Mbps"] }}
        at_least = "1 Mbps"
        "#
    );
    let points = points(&text).unwrap_or_else(|e| panic!("{e}"));
    points.iter().for_each(assert_prints_to_itself);
    let point = |s: &Scenario| {
        s.point
            .iter()
            .map(|(_, v)| v.clone())
            .collect::<Vec<_>>()
            .join("/")
    };
    let labels: Vec<_> = points.iter().map(point).collect();
    assert_eq!(
        labels,
        [
            "plain/5 Mbps/x",
            "plain/10 Mbps/x",
            "small/5 Mbps/x",
            "small/10 Mbps/x"
        ]
    );
    let rates: Vec<_> = points
        .iter()
        .map(|s| s.links[1].rate.as_bps() / 1_000_000)
        .collect();
    assert_eq!(rates, [5, 10, 5, 10]);
    assert!(points.iter().all(|s| s.flows.len() == 2 && s.seed == 9));
    let expected: Vec<_> = points.iter().map(|s| s.expectations.len()).collect();
    assert_eq!(expected, [1, 1, 2, 2]);
    let target = Target::Range {
        min: 2e6,
        max: f64::INFINITY,
    };
    assert_eq!(points[3].expectations[0].target, target);
}

#[test]
fn values_can_be_set_from_outside() {
    let text = format!(
        "{HEAD}{DUMBBELL}{FLOW}[[event]]\nat = \"1 s\"\nlink = \"bottleneck\"\nrate = \"1 Mbps\"\n"
    );
    let mut file = File::parse("test.toml", &text).unwrap();
    for (path, value) in [
        ("link.bottleneck.rate", "5Mbps"),
        (
            "link.bottleneck.queue",
            "{ discipline = \"red\", limit = \"9 pkt\" }",
        ),
        ("flow.a.controller", "vegas"),
        ("flow.a.controller.alpha", "2 pkt"),
        ("flow.a.count", "3"),
        ("event.1.at", "2 s"),
        ("link.\"bottleneck\".reverse.delay", "1 ms"),
    ] {
        file.set(path, value).unwrap_or_else(|e| panic!("{e}"));
    }
    let s = &file
        .points(&CATALOGUE, None)
        .unwrap_or_else(|e| panic!("{e}"))[0];
    assert_eq!(
        (s.links[0].rate, s.links[1].delay),
        (Rate::from_bps(5_000_000), ms(1))
    );
    assert_eq!(s.links[0].queue.limit, Limit::Packets(9));
    assert_eq!(s.flows[2].controller.size("alpha"), Size::Packets(2.0));
    assert_eq!(s.events[0].at, Time::ZERO + Duration::from_secs(2));
}

#[test]
fn an_error_in_what_was_set_points_there() {
    let said = |path: &str, value: &str| {
        let mut file = File::parse("test.toml", &format!("{HEAD}{DUMBBELL}{FLOW}")).unwrap();
        match file.set(path, value) {
            Err(error) => error.to_string(),
            Ok(()) => file
                .points(&CATALOGUE, None)
                .expect_err("it is wrong")
                .to_string(),
        }
    };
    assert_eq!(
        said("flow.a.count", "many"),
        "--set:1:14: expected a whole number from 1 to 1000000, not \"many\""
    );
    assert_eq!(
        said("flow.a.cuont", "1"),
        "--set:1:1: unknown key \"cuont\"\n  hint: did you mean \"count\"?"
    );
    assert_eq!(
        said("link.botleneck.rate", "1 Mbps"),
        "--set:1:1: link \"botleneck\" has no `from`\n  hint: did you mean \"bottleneck\"?"
    );
    assert_eq!(
        said("duration.x", "1"),
        "--set:1:1: \"duration\" is not a table, so has no \"x\""
    );
}

#[test]
fn errors_know_their_bytes() {
    let text = "title = \"Zürich\"\nduration = \"ten s\"\n";
    let errors = points(text).expect_err("it is wrong");
    let error = errors.iter().next().expect("errors are never empty");
    assert_eq!(&error.origin.text[error.span.clone()], "\"ten s\"");
    assert_eq!((error.line, error.column), (2, 12));
}

/// Names of the aggregates that a link's queue tells apart, with their weights.
fn weights<'a>(scenario: &'a Scenario, name: &str) -> Vec<(&'a str, f64)> {
    let aggregates = link(scenario, name).queue.discipline.aggregates();
    aggregates.map(|(n, of)| (n, of.number("weight"))).collect()
}

#[test]
fn queues_tell_aggregates_apart() {
    let lot = "topology.parking_lot = { bottlenecks = 2, rate = \"9 Mbps\", delay = \"4 ms\" }\n";
    let queue =
        "{ discipline = \"shares\", aggregates = { udp = { weight = 3, min = \"1 Mbps\" } } }";
    let s = scenario(&format!(
        r#"{HEAD}{lot}
        [link.hop1]
        queue = {queue}
        reverse = {{ queue = "shares" }}
        [flow.tcp]
        each_hop = true
        controller = "reno"
        [flow.udp]
        each_hop = true
        controller = "none"
        demand = {{ constant = "1 Mbps" }}
        aggregate = "udp"
        "#
    ));
    assert_eq!(s.aggregates, ["default", "udp"]);
    assert_eq!(weights(&s, "hop1"), [("default", 1.0), ("udp", 3.0)]);
    assert_eq!(
        weights(&s, "hop1.reverse"),
        [("default", 1.0), ("udp", 1.0)]
    );
    assert_eq!(weights(&s, "hop2"), []);
    assert_eq!(
        s.flows.iter().map(|f| f.aggregate).collect::<Vec<_>>(),
        [0, 0, 1, 1]
    );
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
    assert_eq!(s.at(Time::ZERO).demand, [before; 2]);
    assert_eq!(s.at(after).demand, [Demand::Poisson(rate); 2]);
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
    let aggregate = Subject::Aggregate {
        link: 0,
        aggregate: 0,
    };
    assert_eq!(of, [aggregate, Subject::Group(0), Subject::Link(0)]);
}

#[test]
fn bursts_and_pauses_may_be_pareto() {
    let s = scenario(&format!(
        r#"{HEAD}{DUMBBELL}
        [flow.a]
        from = "left"
        to = "right"
        controller = "none"
        packet = "100 B"
        demand.on_off = {{ rate = "1 Gbps", burst = {{ pareto = {{ mean = "10 KB", shape = 2.5 }} }}, pause = {{ pareto = {{ mean = "1 ms", shape = 2.5 }} }} }}
        "#
    ));
    let Demand::OnOff { burst, pause, .. } = s.flows[0].demand else {
        panic!("{:?}", s.flows[0].demand);
    };
    assert_eq!(burst.mean(), Bytes::new(10_000));
    assert_eq!(pause.mean(), ms(1));
    // 10 KB take 80 us, so packets come at 10 KB in 1.08 ms in the mean. The standard deviation of
    // 20 000 draws is 0.9 times the mean, of their mean 0.6 %.
    let mut application = Application::new(&s.flows[0], 0, 1);
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
