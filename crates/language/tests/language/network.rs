//! Links, paths and queues.

use super::*;

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
    assert_eq!(limit("2 BDP"), Limit::Bytes(Bytes::new(28_080)));
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
    assert_eq!((forward.rate, forward.loss), (Rate::from_bps(10_000_000), 0.01));
    assert_eq!((reverse.rate, reverse.loss), (Rate::from_bps(5_000_000), 0.01));
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
    let rates: Vec<_> = s.links.iter().step_by(2).map(|l| l.rate.as_bps() / 1_000_000).collect();
    assert_eq!(rates, [9, 5, 9]);
    assert_eq!(names(&s, &s.flows[0].path), ["hop1", "hop2", "hop3"]);
    assert_eq!(
        names(&s, &s.flows[0].reverse_path),
        ["hop3.reverse", "hop2.reverse", "hop1.reverse"]
    );
    let hops: Vec<_> =
        s.flows[1..].iter().map(|f| (f.name.as_str(), names(&s, &f.path)[0])).collect();
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
    let tie =
        [("s", "b", 4), ("b", "t", 4), ("s", "a", 4), ("a", "t", 4), ("s", "c", 4), ("c", "t", 4)];
    assert_eq!(way(&tie), "sa at");
    assert_eq!(way(&[("s", "a", 0), ("a", "b", 0), ("b", "t", 0), ("a", "t", 0)]), "sa at");
    // Against the direction in which a link was declared.
    assert_eq!(way(&[("t", "s", 1)]), "ts.reverse");
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

/// Names of the aggregates that a link's queue distinguishes, with their weights.
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
    assert_eq!(weights(&s, "hop1.reverse"), [("default", 1.0), ("udp", 1.0)]);
    assert_eq!(weights(&s, "hop2"), []);
    assert_eq!(s.flows.iter().map(|f| f.aggregate).collect::<Vec<_>>(), [0, 0, 1, 1]);
}
