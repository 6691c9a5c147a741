//! Files that mean harm: each gets an error, at once and without taking memory.

use crate::common::{CATALOGUE, points};
use accord_language::{Errors, File};
use std::fmt::Write;

const HEAD: &str = "duration = \"10 s\"\n";
const DUMBBELL: &str = "topology.dumbbell = { rate = \"1 Mbps\", delay = \"1 ms\" }\n";
const FLOW: &str = "[flow.a]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"reno\"\n";

/// The first error of a text that has to be refused.
fn refused(text: &str) -> String {
    let errors = points(text).expect_err("it must be refused");
    let first = errors.iter().next().expect("errors are never empty");
    first.message.clone()
}

#[test]
fn a_thousand_million_flows() {
    let text = format!("{HEAD}{DUMBBELL}{FLOW}count = 1_000_000_000\n");
    assert_eq!(
        refused(&text),
        "1000000000 is out of range: expected a whole number from 1 to 1000000"
    );
    let mut text = format!("{HEAD}{DUMBBELL}");
    for i in 0..3 {
        text += &FLOW.replace("flow.a", &format!("flow.a{i}"));
        text += "count = 400_000\n";
    }
    assert_eq!(refused(&text), "more than 1000000 flows");
}

#[test]
fn flows_times_hops() {
    let lot =
        "topology.parking_lot = { bottlenecks = 100_000, rate = \"1 Mbps\", delay = \"1 ms\" }\n";
    let long =
        "[flow.a]\nfrom = \"r0\"\nto = \"r100000\"\ncontroller = \"reno\"\ncount = 1_000_000\n";
    assert_eq!(
        refused(&format!("{HEAD}{lot}{long}")),
        "the paths of all flows have more than 10000000 links"
    );
    let short = "[flow.a]\neach_hop = true\ncontroller = \"reno\"\ncount = 1000\n";
    assert_eq!(refused(&format!("{HEAD}{lot}{short}")), "more than 1000000 flows");
}

#[test]
fn more_links_than_memory() {
    let lot =
        "topology.parking_lot = { bottlenecks = 500_001, rate = \"1 Mbps\", delay = \"1 ms\" }\n";
    assert!(refused(&format!("{HEAD}{lot}{FLOW}")).contains("out of range"));
    let hosts = "count = 1_000_000\naccess = { rate = \"1 Mbps\", delay = \"1 ms\" }\n";
    assert_eq!(
        refused(&format!("{HEAD}{DUMBBELL}{FLOW}{hosts}")),
        "more than 1000000 directed links"
    );
}

#[test]
fn more_hosts_than_memory() {
    let hosts = |n: u32| {
        format!(
            "count = 1_000_000\naccess = {{ hosts = {n}, rate = \"1 Mbps\", delay = \"1 ms\" }}\n"
        )
    };
    assert_eq!(
        refused(&format!("{HEAD}{DUMBBELL}{FLOW}{}", hosts(500_000))),
        "more than 1000000 directed links"
    );
    assert!(refused(&format!("{HEAD}{DUMBBELL}{FLOW}{}", hosts(500_001))).contains("out of range"));
}

#[test]
fn more_points_than_time() {
    let mut text = format!("{HEAD}{DUMBBELL}{FLOW}");
    for i in 0..5 {
        write!(text, "[sweep.s{i}]\nset = [\"seed\"]\nvalues = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n")
            .unwrap();
    }
    assert_eq!(refused(&text), "the sweeps have more than 10000 points");
    let many = format!(
        "{HEAD}{DUMBBELL}{FLOW}count = 900_000\n[sweep.s]\nset = [\"seed\"]\nvalues = [1, 2, 3, 4, 5]\n"
    );
    assert_eq!(
        refused(&many),
        "all points together have more than 2000000 flows and links, in the first 3 of 5 points"
    );
}

#[test]
fn a_file_larger_than_any_scenario() {
    let name = std::env::temp_dir().join(format!("accord-large-{}.toml", std::process::id()));
    let file = std::fs::File::create(&name).unwrap();
    file.set_len(1 << 30).unwrap();
    let error = File::open(&name).expect_err("it must be refused");
    std::fs::remove_file(&name).unwrap();
    assert!(error.message.ends_with("is larger than 8 MiB"), "{error}");
    let error = File::parse("text", &"#".repeat((8 << 20) + 1)).expect_err("it must be refused");
    assert_eq!(error.to_string(), "text:1:1: \"text\" is larger than 8 MiB");
}

#[test]
fn what_is_not_a_readable_file() {
    let error = File::open(std::path::Path::new("/nowhere/at/all.toml")).expect_err("no file");
    assert!(error.message.contains("cannot be read"), "{error}");
    assert!(File::open(&std::env::temp_dir()).is_err());
    let name = std::env::temp_dir().join(format!("accord-binary-{}.toml", std::process::id()));
    std::fs::write(&name, [0xff, 0xfe, 0x00]).unwrap();
    let error = File::open(&name).expect_err("it must be refused");
    std::fs::remove_file(&name).unwrap();
    assert!(error.message.ends_with("is not UTF-8 text"), "{error}");
}

#[test]
fn deep_nesting() {
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let text = format!("a = {}{}", open.repeat(100_000), close.repeat(100_000));
        assert!(File::parse("deep", &text).is_err());
    }
    let keys = vec!["a"; 100_000].join(".");
    assert!(File::parse("deep", &format!("{keys} = 1")).is_err());
    assert!(File::parse("deep", &format!("[{keys}]")).is_err());
    let queue = format!("{}\"droptail\"{}", "{ random = [".repeat(30), "] }".repeat(30));
    let text = format!("{HEAD}{DUMBBELL}{FLOW}")
        .replace("\"1 ms\"", &format!("\"1 ms\", queue = {queue}"));
    points(&text).unwrap_or_else(|e| panic!("{e}"));
    let mut file = File::parse("x", HEAD).unwrap();
    file.set(&vec!["link"; 100_000].join("."), "1").unwrap_err();
}

#[test]
fn numbers_that_are_none() {
    for number in ["nan", "inf", "-inf", "1e400", "-1", "99999999999999999999"] {
        for key in ["loss", "control_loss"] {
            let text = format!("{HEAD}{DUMBBELL}{FLOW}[link.bottleneck]\n{key} = {number}\n");
            let _: Errors = points(&text).expect_err(number);
        }
        let text = format!("{HEAD}{DUMBBELL}{FLOW}[link.bottleneck]\nrate = \"{number} Mbps\"\n");
        let _: Errors = points(&text).expect_err(number);
    }
}

#[test]
fn many_errors_are_cut_short() {
    let mut text = format!("{HEAD}{DUMBBELL}");
    for i in 0..100_000 {
        writeln!(text, "[flow.f{i}]\nform = \"left\"\nto = \"right\"\ncontroler = 1").unwrap();
    }
    let errors = points(&text).expect_err("it must be refused");
    assert_eq!(errors.iter().count(), 20);
    let mut text = format!("{HEAD}{DUMBBELL}");
    for i in 0..60_000 {
        writeln!(text, "[flow.f{i}]\nfrom = \"left\"\nto = \"rihgt\"\ncontroller = \"reno\"")
            .unwrap();
    }
    assert!(points(&text).is_err());
}

#[test]
fn much_work_from_a_small_file() {
    // Many shortest paths in a large network.
    let mut text = format!(
        "{HEAD}topology.parking_lot = {{ bottlenecks = 300_000, rate = \"1 Mbps\", delay = \"1 ms\" }}\n"
    );
    for i in 0..50_000 {
        let (a, b) = (i, i + 1);
        writeln!(text, "[flow.f{i}]\nfrom = \"r{a}\"\nto = \"r{b}\"\ncontroller = \"reno\"")
            .unwrap();
    }
    assert!(refused(&text).contains("over 10000000 links at most"));
    // A long list that each of many flows would read again.
    let delays = vec!["\"1 ms\""; 100_000].join(",");
    let access = format!("access = {{ rate = \"1 Gbps\", delay = [{delays}] }}\n");
    let each = format!("each = [{}]\n", vec!["{}"; 100_000].join(","));
    let text = format!("{HEAD}{DUMBBELL}{FLOW}{access}{each}");
    assert_eq!(
        refused(&text),
        "`each` has 100000 flows, and a group with this number of values can have 199"
    );
}

#[test]
fn the_limits_themselves_are_fine() {
    let text = format!("{HEAD}{DUMBBELL}{FLOW}count = 1_000_000\n");
    let points = File::parse("full", &text).unwrap().points(&CATALOGUE, None).unwrap();
    assert_eq!(points[0].flows.len(), 1_000_000);
}

#[test]
fn aggregates_times_links() {
    let dumbbell = DUMBBELL;
    let own: Vec<_> = (0..64).map(|i| format!("a{i} = {{}}")).collect();
    let queue = |own: &str| format!("{{ discipline = \"shares\", aggregates = {{ {own} }} }}");
    let hosts = format!(
        "count = 100_000\naccess = {{ rate = \"1 Mbps\", delay = \"1 ms\", queue = {} }}\n",
        queue(&own.join(", "))
    );
    assert_eq!(
        refused(&format!("{HEAD}{dumbbell}{FLOW}{hosts}")),
        "all queues together distinguish more than 1000000 aggregates"
    );
    let many: Vec<_> = (0..65).map(|i| format!("{{ aggregate = \"a{i}\" }}")).collect();
    assert_eq!(
        refused(&format!("{HEAD}{dumbbell}{FLOW}each = [{}]\n", many.join(", "))),
        "more than 64 aggregates"
    );
}

/// A list of as many values as two sweeps have points.
#[test]
fn a_sweep_has_as_many_points_in_one_list_as_in_two() {
    let base = "duration = \"2 s\"\ntopology.dumbbell = { rate = \"8 Mbps\", delay = \"5 ms\" }\n\
                flow.f = { from = \"left\", to = \"right\", controller = \"monaco\" }\n";
    let list = |n: u32| (1..=n).map(|i| format!("\"{i} ms\"")).collect::<Vec<_>>().join(", ");
    let one = format!(
        "{base}[sweep.delay]\nset = \"topology.dumbbell.delay\"\nvalues = [{}]\n",
        list(5_000)
    );
    let file = File::parse("one.toml", &one).expect("TOML");
    let points = file.points(&CATALOGUE, None).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(points.len(), 5_000);
    assert_eq!(points[4_999].point, [("delay".to_string(), "5000 ms".to_string())]);
}
