//! What the scenario language means.

mod common;

use accord_scenario::{File, print};
use common::{CATALOGUE, scenario};

const FIGURE_6: &str = r#"
title = "Monaco with enough buffer"
duration = "50 s"
steady = ["22 s", "30 s"]

[topology]
dumbbell = { rate = "30 Mbps", delay = "2 ms", queue = { limit = "90 pkt", discipline = "droptail" } }

[flow.set1]
count = 10
from = "left"
to = "right"
access = { rate = "10 Mbps", delay = "1 ms" }
egress = { rate = "10 Mbps", delay = "1 ms" }
controller = { name = "monaco", target = "3 pkt" }
stop = "30 s"

[flow.set2]
count = 5
from = "left"
to = "right"
access = { rate = "10 Mbps", delay = { spread = ["1 ms", "5 ms"] } }
controller = "monaco"
start = { uniform = ["10 s", "11 s"] }
stop = "40 s"

[[event]]
at = "5 s"
link = "bottleneck"
delay = "3 ms"

[[expect]]
metric = "throughput"
of = "set1"
during = ["22 s", "30 s"]
equals = "2 Mbps"
within = "5 %"

[[expect]]
engine = ["packet"]
metric = "throughput"
of = "set2.1"
equals = "theory"
within = "5 %"

[[expect]]
metric = "backlog_packets"
of = "bottleneck"
over = "p95"
at_most = 90
"#;

#[test]
fn print_and_parse_again_gives_the_same() {
    let first = scenario(FIGURE_6);
    let text = print(&first);
    println!("{text}");
    let file = File::parse("again.toml", &text).unwrap();
    let again = file
        .points(&CATALOGUE, None)
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.len(), 1);
    assert_eq!(again[0], first);
    assert_eq!(print(&again[0]), text);
}
