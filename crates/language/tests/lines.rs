//! Links in one line are the tables that they stand for.

use crate::common::{CATALOGUE, points};
use accord_language::{File, schema};

const REST: &str = "[flow.x]\nfrom = \"a\"\nto = \"c\"\ncontroller = \"reno\"\n";

const TABLES: &str = r#"duration = "10 s"
nodes = ["a", "b-1", "c"]
[link.ab]
from = "a"
to = "b-1"
rate = "10 Mbps"
delay = "5 ms"
[link.bc]
from = "b-1"
to = "c"
rate = "2.5 Gbps"
delay = "0 s"
"#;

const LINES: &str = r#"duration = "10 s"
[link]
ab = "a - b-1, 10 Mbps, 5 ms"
bc = ' b-1  -  c , 2.5 Gbps ,0 s '
"#;

#[test]
fn a_line_is_the_table_that_it_stands_for() {
    let lines = points(&format!("{LINES}{REST}"));
    assert_eq!(lines, points(&format!("{TABLES}{REST}")));
    assert_eq!(lines.expect("it is valid")[0].links.len(), 4);
}

/// Without `nodes` the ends of tables are nodes, too; with a template they have to be listed.
#[test]
fn nodes_are_the_ends_of_links() {
    let unlisted = TABLES.replace("nodes = [\"a\", \"b-1\", \"c\"]\n", "");
    assert_eq!(points(&format!("{unlisted}{REST}")), points(&format!("{TABLES}{REST}")));
    let template = "topology.dumbbell = { rate = \"1 Mbps\", delay = \"1 ms\" }\n";
    let errors = points(&format!("{template}{LINES}{REST}")).expect_err("c is no node");
    let all = errors.to_string();
    assert!(all.contains("test.toml:4:7: there is no node \"a\""), "{all}");
}

#[test]
fn settings_and_sweeps_change_a_part_or_all_of_a_line() {
    let text = format!(
        "{LINES}{REST}[sweep.bc]\nset = [\"link.bc\"]\nvalues = [\"b-1 - c, 1 Mbps, 1 ms\", \"b-1 - c, 2 Mbps, 1 ms\"]\n"
    );
    let mut file = File::parse("test.toml", &text).expect("it is TOML");
    file.set("link.ab.rate", "7 Mbps").expect("there is a link");
    let points = file.points(&CATALOGUE, None).expect("it is valid");
    let rates = |i: usize| [0, 2].map(|l| points[i].links[l].rate.as_bps());
    assert_eq!([rates(0), rates(1)], [[7_000_000, 1_000_000], [7_000_000, 2_000_000]]);
    file.set("link.ab", "a - b-1, 9 Mbps").expect("there is a link");
    let error = file.points(&CATALOGUE, None).expect_err("a delay is missing");
    assert!(error.to_string().contains("--set:1:9: a link in one line"), "{error}");
}

/// The schema's pattern is the form of a line, as the reader has it.
#[test]
fn the_schema_has_lines() {
    let schema = schema(&CATALOGUE).to_string();
    assert!(schema.contains("A link in one line"), "{schema}");
}
