//! Points of a sweep, and values from outside.

use super::*;

#[test]
fn sweeps_give_all_combinations() {
    let text = format!(
        r#"{HEAD}{DUMBBELL}{FLOW}
        [sweep.scheme]
        set = "flow.a.controller"
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
    let point = |s: &Scenario| s.point.iter().map(|(_, v)| v.clone()).collect::<Vec<_>>().join("/");
    let labels: Vec<_> = points.iter().map(point).collect();
    assert_eq!(labels, ["plain/5 Mbps/x", "plain/10 Mbps/x", "small/5 Mbps/x", "small/10 Mbps/x"]);
    let rates: Vec<_> = points.iter().map(|s| s.links[1].rate.as_bps() / 1_000_000).collect();
    assert_eq!(rates, [5, 10, 5, 10]);
    assert!(points.iter().all(|s| s.flows.len() == 2 && s.seed == 9));
    let expected: Vec<_> = points.iter().map(|s| s.expectations.len()).collect();
    assert_eq!(expected, [1, 1, 2, 2]);
    let target = Target::Range { min: 2e6, max: f64::INFINITY };
    assert_eq!(points[3].expectations[0].target, target);
}

/// Names may have letters of any script, which TOML takes in quotes only.
#[test]
fn names_beyond_ascii_are_printed_in_quotes() {
    let text = format!(
        "{HEAD}{DUMBBELL}[flow.\"größe\"]\nfrom = \"left\"\nto = \"right\"\n\
         controller = \"reno\"\n\
         [sweep.\"流\"]\nset = \"flow.größe.count\"\nvalues = [1, 2]\n"
    );
    let points = points(&text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(points.len(), 2);
    points.iter().for_each(assert_prints_to_itself);
}

#[test]
fn values_can_be_set_from_outside() {
    let text = format!(
        "{HEAD}{DUMBBELL}{FLOW}[[event]]\nat = \"1 s\"\nlink = \"bottleneck\"\nrate = \"1 Mbps\"\n"
    );
    let mut file = File::parse("test.toml", &text).unwrap();
    for (path, value) in [
        ("link.bottleneck.rate", "5Mbps"),
        ("link.bottleneck.queue", "{ discipline = \"red\", limit = \"9 pkt\" }"),
        ("flow.a.controller", "vegas"),
        ("flow.a.controller.alpha", "2 pkt"),
        ("flow.a.count", "3"),
        ("event.1.at", "2 s"),
        ("link.\"bottleneck\".reverse.delay", "1 ms"),
    ] {
        file.set(path, value).unwrap_or_else(|e| panic!("{e}"));
    }
    let s = &file.points(&CATALOGUE, None).unwrap_or_else(|e| panic!("{e}"))[0];
    assert_eq!((s.links[0].rate, s.links[1].delay), (Rate::from_bps(5_000_000), ms(1)));
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
            Ok(()) => file.points(&CATALOGUE, None).expect_err("it is wrong").to_string(),
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
    assert_eq!(said("duration.x", "1"), "--set:1:1: \"duration\" is not a table, so has no \"x\"");
}

#[test]
fn errors_know_their_bytes() {
    let text = "title = \"Zürich\"\nduration = \"ten s\"\n";
    let errors = points(text).expect_err("it is wrong");
    let error = errors.iter().next().expect("errors are never empty");
    assert_eq!(&error.origin.text[error.span.clone()], "\"ten s\"");
    assert_eq!((error.line, error.column), (2, 12));
}

#[test]
fn a_sweep_of_other_values_keeps_the_expectations_of_the_file() {
    let text = r#"
        duration = "10 s"
        topology.dumbbell = { rate = "10 Mbps", delay = "5 ms" }
        expect = [{ metric = "utilisation", of = "bottleneck", at_least = "90 %", when = { gain = [0.5, 1.0] } }]
        [sweep.gain]
        set = ["flow.a.controller.gain"]
        values = [0.5, 1.0]
        [flow.a]
        from = "left"
        to = "right"
        controller = { name = "monaco", gain = 0.5 }
    "#;
    let mut file = File::parse("sweep.toml", text).expect("it is TOML");
    file.set("sweep.gain.values", "[0.5, 2.0]").expect("it is there");
    let points = file.points(&CATALOGUE, None).expect("it is valid");
    let expectations: Vec<usize> = points.iter().map(|s| s.expectations.len()).collect();
    assert_eq!(expectations, [1, 0], "at 0.5, and not at 2.0");
    // In the file itself it is a slip.
    let slip = text.replace("gain = [0.5, 1.0] }", "gain = [0.5, 3.0] }");
    let errors = self::points(&slip).expect_err("no point has 3.0");
    assert!(errors.to_string().contains("has no value"), "{errors}");
}
