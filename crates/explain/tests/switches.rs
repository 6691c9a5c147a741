//! The effect on flows of taking timers and bursts away.

use accord_control::FAMILIES as CONTROLLERS;
use accord_explain::Effect;
use accord_family::{
    Catalogue, Family, Meaning, Param, Value,
    kind::{choice, duration, integer, number, size},
};
use accord_language::File;
use accord_scenario::{Engine, Scenario};
use accord_units::{Duration, Size};

const CATALOGUE: Catalogue =
    Catalogue { controllers: CONTROLLERS, disciplines: accord_aqm::FAMILIES };

/// One link of 8 Mbps and 10 ms that holds `limit`, behind a host's own of 80 Mbps and 1 ms.
fn scenario(limit: &str, flow: &str) -> Scenario {
    let text = format!(
        r#"
        duration = "10 s"
        [topology.dumbbell]
        rate = "8 Mbps"
        delay = "10 ms"
        queue = {{ discipline = "droptail", limit = "{limit}" }}
        [flow.f]
        from = "left"
        to = "right"
        access = {{ rate = "80 Mbps", delay = "1 ms" }}
        {flow}
        "#
    );
    let file = File::parse("s.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let mut points = file.points(&CATALOGUE, None);
    points.as_mut().unwrap_or_else(|e| panic!("{e}")).remove(0)
}

fn without(effect: Effect, s: &Scenario) -> Result<Scenario, &'static str> {
    effect.without(s, 4, Engine::Packet)
}

fn least(limit: &str, flow: &str) -> Result<Duration, &'static str> {
    let s = without(Effect::Timers, &scenario(limit, flow))?;
    Ok(s.flows[0].min_rto)
}

#[test]
fn the_least_time_out_becomes_the_longest_round_trip() {
    // There: 1 ms at most in the host, 11 ms, 1 ms for a packet on the link, 0.1 ms before it, 20 ms of
    // buffer. Back: 11 ms,
    // 0.064 ms for the largest packet that may come back (a control packet), 0.0064 ms at the
    // end, and 20 of them, which are 1.28 ms.
    let flow = "controller = \"newreno\"";
    let us = Duration::from_us;
    let longest = us(1000 + 22_000 + 1000 + 100 + 20_000) + Duration::from_ns(70_400) + us(1280);
    assert_eq!(least("20 pkt", flow), Ok(longest));
    // Twice the buffer.
    assert_eq!(least("40 pkt", flow), Ok(longest + us(20_000 + 1280)));
    // The link at half the rate from some time on, there and back.
    let slower =
        format!("{flow}\n[[event]]\nat = \"5 s\"\nlink = \"bottleneck\"\nrate = \"4 Mbps\"\n");
    assert_eq!(least("20 pkt", &slower), Ok(longest + us(21_000 + 1344)));
}

#[test]
fn timers_stay_where_no_round_trip_is_longest() {
    let none = "no least time-out is longer than the longest round trip of its path";
    let flow = "controller = \"newreno\"";
    assert_eq!(least("unlimited", flow), Err(none));
    assert_eq!(least("500 pkt", flow), Err(none));
    assert_eq!(least("20 pkt", &format!("{flow}\nmin_rto = \"30 ms\"")), Err(none));
    assert_eq!(least("20 pkt", "kernel = \"reno\""), Err(none));
    assert_eq!(least("20 pkt", "controller = \"monaco\""), Err(none));
    let s = scenario("20 pkt", flow);
    let fluid = Effect::Timers.without(&s, 4, Engine::Fluid);
    assert_eq!(fluid, Err("a fluid has no timers"));
}

#[test]
fn control_pairs_of_the_papers_laws_have_a_least_time_out_too() {
    let of = |s: &Scenario| s.flows[0].controller.get("min_rto");
    let flow = |params: &str| format!("controller = {{ name = \"monaco\", {params} }}");
    for params in ["law = \"xia05\"", "law = \"har02\"", "pairs = \"printed\""] {
        let before = scenario("20 pkt", &flow(params));
        assert_eq!(of(&before), Value::Absent);
        let after = without(Effect::Timers, &before).expect("1 s is longer than 50 ms");
        let Value::Duration(least) = of(&after) else {
            panic!("{params}: {:?}", of(&after));
        };
        assert!(
            (Duration::from_ms(44)..Duration::from_ms(46)).contains(&least),
            "{params}: {least}"
        );
    }
    let short = scenario("20 pkt", &flow("law = \"xia05\", min_rto = \"10 ms\""));
    assert!(without(Effect::Timers, &short).is_err());
    let patient = "law = \"xia05\", pairs = \"patient\"";
    assert!(without(Effect::Timers, &scenario("20 pkt", &flow(patient))).is_err());
}

#[test]
fn streams_pace_and_nothing_else_does() {
    let paced = |flow: &str| {
        let s = without(Effect::Bursts, &scenario("20 pkt", flow))?;
        Ok::<bool, &'static str>(s.flows[0].pacing)
    };
    let none = Err("no flow sends a window in bursts, or all pace");
    assert_eq!(paced("controller = \"vegas\""), Ok(true));
    assert_eq!(paced("controller = \"vegas\"\npacing = true"), none);
    assert_eq!(paced("controller = \"monaco\""), none);
    assert_eq!(paced("kernel = \"reno\""), none);
    assert_eq!(paced("controller = \"none\"\ndemand = { constant = \"1 Mbps\" }"), none);
    let s = scenario("20 pkt", "controller = \"vegas\"");
    let fluid = Effect::Bursts.without(&s, 4, Engine::Fluid);
    assert_eq!(fluid, Err("a fluid has no packets"));
}

/// RED that lets the queue of an equilibrium be has no part in theory, and drops some of its bursts.
#[test]
fn disciplines_give_way_to_a_plain_queue() {
    let red = |queue: &str| {
        let mut s = scenario("20 pkt", "controller = \"vegas\"");
        let family = CATALOGUE.disciplines.iter().find(|f| f.name == queue);
        let link = s.links.iter_mut().find(|l| l.name == "bottleneck").expect("it is there");
        link.queue.discipline = family.expect("it is registered").defaults();
        s
    };
    let name = |s: &Scenario| {
        let link = s.links.iter().find(|l| l.name == "bottleneck").expect("it is there");
        link.queue.discipline.family().name
    };
    for queue in ["red", "codel", "pie", "avq", "fq-codel"] {
        let s = without(Effect::Discipline, &red(queue)).expect("it can");
        assert_eq!(name(&s), "droptail", "{queue}");
    }
    // The price of theory stays.
    for queue in ["droptail", "avd", "rem"] {
        let none = Err("no discipline drops or marks what would fit");
        assert_eq!(without(Effect::Discipline, &red(queue)).map(|s| name(&s)), none);
    }
}

/// NewReno under another name, with these parameters.
fn own(params: &'static [Param]) -> Scenario {
    let newreno = CONTROLLERS.iter().find(|f| f.name == "newreno").expect("one of ours");
    let own: &'static Family = Box::leak(Box::new(Family { name: "own", params, ..**newreno }));
    let controllers: &'static [&'static Family] = Box::leak(vec![own].into_boxed_slice());
    let catalogue = Catalogue { controllers, disciplines: accord_aqm::FAMILIES };
    let text = "duration = \"2 s\"\ntopology.dumbbell = { rate = \"8 Mbps\", delay = \"5 ms\" }\n\
                flow.f = { from = \"left\", to = \"right\", controller = \"own\" }\n";
    let file = File::parse("s.toml", text).expect("TOML");
    file.points(&catalogue, None).expect("valid").remove(0)
}

/// A controller of another program may use any name of ours for something else.
#[test]
fn names_of_parameters_mean_nothing() {
    const PARAMS: &[Param] = &[
        duration("10 ms").declared("base_rtt", ""),
        choice("mine", &["mine", "ideal"]).declared("estimator", ""),
        number("0.5", 0.001, 10.0).declared("delta", ""),
        integer("8", 1, 1000).declared("k", ""),
        integer("9", 1, 1000).declared("memory", ""),
        size("").declared("alpha", ""),
        size("5 pkt").declared("target", ""),
        duration("3 s").declared("min_rto", ""),
        choice("printed", &["patient", "printed"]).declared("pairs", ""),
    ];
    let scenario = own(PARAMS);
    for effect in [Effect::BaseRtt, Effect::Estimator] {
        assert!(without(effect, &scenario).is_err(), "there is nothing to take away");
    }
    let finer = without(Effect::Packets, &scenario).expect("packets can be smaller");
    let before = &scenario.flows[0].controller;
    for (p, value) in finer.flows[0].controller.iter() {
        let expected = match p.name {
            // The same amount, by its kind.
            "target" => Value::Size(Size::Packets(20.0)),
            name => before.get(name),
        };
        assert_eq!(value, expected, "{}", p.name);
    }
}

#[test]
fn a_parameter_changes_by_its_meaning() {
    const PARAMS: &[Param] = &[
        integer("8", 1, 20).meaning(Meaning::Packets).declared("a", ""),
        number("0.5", 0.001, 10.0).meaning(Meaning::PerPacket).declared("b", ""),
        choice("c", &["c", "true"]).meaning(Meaning::BaseRtt("true")).declared("c", ""),
        choice("d", &["d", "exact"]).meaning(Meaning::Accumulation("exact")).declared("d", ""),
    ];
    let scenario = own(PARAMS);
    let of = |effect, name| {
        let s = without(effect, &scenario).expect("it can be taken away");
        s.flows[0].controller.get(name)
    };
    assert_eq!(of(Effect::Packets, "a"), Value::Integer(20), "its largest value");
    assert_eq!(of(Effect::Packets, "b"), Value::Number(0.125));
    assert_eq!(of(Effect::BaseRtt, "c"), Value::Choice("true"));
    assert_eq!(of(Effect::Estimator, "d"), Value::Choice("exact"));
}

/// Amounts that a family takes in packets where none is given are kept in bytes, too.
#[test]
fn default_targets_in_packets_are_kept_in_bytes() {
    let of = |flow: &str, name: &str| {
        let s = without(Effect::Packets, &scenario("20 pkt", flow)).expect("they can be smaller");
        s.flows[0].controller.get(name)
    };
    let packets = |n| Value::Size(Size::Packets(n));
    assert_eq!(of("controller = \"vegas\"", "alpha"), packets(4.0));
    assert_eq!(of("controller = \"vegas\"", "beta"), packets(12.0));
    assert_eq!(of("controller = \"vegas-rem\"", "alpha"), packets(8.0));
    let rates = "{ name = \"vegas\", alpha_rate = \"1 Mbps\", beta_rate = \"1 Mbps\" }";
    assert_eq!(of(&format!("controller = {rates}"), "alpha"), Value::Absent);
    assert_eq!(of("controller = \"copa\"", "delta"), Value::Number(0.125));
}
