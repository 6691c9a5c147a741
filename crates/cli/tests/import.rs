//! `accord import`: topologies become valid scenarios that run.

use crate::common::*;
use std::fs;

fn abilene(ending: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    format!("{root}/../import/tests/files/abilene.{ending}")
}

#[test]
fn every_format_becomes_a_scenario_that_runs() {
    let dir = folder(&[]);
    for ending in ["graphml", "gml", "sndlib", "json", "csv"] {
        let from = abilene(ending);
        let args = ["import", &from, "-o", "a.toml", "--force", "--scale", "0.001"];
        let flows = match ending {
            "graphml" | "gml" | "csv" => 20,
            _ => 3,
        };
        accord(dir.path(), &args).with(0);
        let json = accord(dir.path(), &["check", "a.toml", "--json"]).with(0).json();
        assert_eq!(json["nodes"], 11, "{ending}");
        assert_eq!(json["links"], 28, "{ending}");
        assert_eq!(json["flows"], flows, "{ending}");
    }
    let ran = accord(dir.path(), &["run", "a.toml", "-q", "--set", "duration=4 s"]).with(0);
    assert!(ran.stdout.contains("throughput"), "{ran:#?}");
}

#[test]
fn defaults_are_explicit() {
    let dir = folder(&[("net.csv", "from,to,rate\na,b,\nb,c,20 Mbps\nc,d,\nx,y,\n")]);
    let args = ["import", "net.csv", "--rate", "7 Mbps", "--delay", "3 ms", "--flows", "9"];
    let text = accord(dir.path(), &args).with(0).stdout;
    for part in [
        "# Rates: 7 Mbps on 3 links",
        "# Delays without either: 3 ms on 4 links.",
        "a-b = \"a - b, 7 Mbps, 3 ms\"",
        "b-c = \"b - c, 20 Mbps, 3 ms\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Flows are drawn within connected components.
    assert_eq!(text.matches("from = \"").count(), 9, "{text}");
}

#[test]
fn demands_beside_the_topology() {
    let net = "from,to,capacity\na,b,10\nb,c,10\nx,y,10\n";
    let demands = "from,to,rate\na,c,4\nc,a,1 Mbps\na,x,3\nb,c,0\nb,a,2\n";
    let dir = folder(&[("net.csv", net), ("demands.csv", demands)]);
    let args = ["import", "net.csv", "--demands", "demands.csv", "--flows", "2", "-o", "n.toml"];
    accord(dir.path(), &args).with(0);
    let text = fs::read_to_string(dir.path().join("n.toml")).expect("written");
    for part in [
        "{ from = \"a\", to = \"c\", demand = { constant = \"4 Mbps\" } }",
        "{ from = \"b\", to = \"a\", demand = { constant = \"2 Mbps\" } }",
        "Demands between unconnected parts, left out: 1.",
        "The 2 largest demands of 3.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    accord(dir.path(), &["import", "net.csv", "-o", "n.toml"]).with(2);
}

/// Names are the file author's; they become words in the scenario, and do no harm on a terminal.
#[test]
fn names_of_the_file_do_no_harm() {
    let net = "graph [ label \"\u{1b}]0;x\u{7}\" node [ id 1 label \"a\u{1b}[31m &quot; b&#233;\" ]\n\
               node [ id 2 label \"[link]\" ] edge [ source 1 target 2 ] ]";
    let dir = folder(&[("net.gml", net)]);
    let made = accord(dir.path(), &["import", "net.gml"]).with(0);
    assert!(!made.stdout.contains('\u{1b}'), "{made:#?}");
    assert!(made.stdout.contains("a-31m-bé - link"), "{made:#?}");
}

/// Names are truncated to the language's limit, and stay distinct.
#[test]
fn long_names_make_a_scenario_that_runs() {
    let label =
        |i: usize| format!("{}{i}", "The Institute of Aeronautics and Space Science ".repeat(i));
    let node = |i| format!("node [ id {i} label \"{}\" ]\n", label(i));
    let nodes: String = (1..=6).map(node).collect();
    let edge = |i| format!("edge [ source {i} target {} ]\n", i % 6 + 1);
    let edges: String = (1..=6).map(edge).collect();
    // Links between a-b and c, and between a and b-c, would have the same name.
    let more = "node [ id 7 label \"a-b\" ] node [ id 8 label \"c\" ] node [ id 9 label \"a\" ] \
                node [ id 10 label \"b-c\" ] edge [ source 7 target 8 ] edge [ source 9 target 10 ]";
    let net = format!("graph [\n{nodes}{edges}{more}\n]");
    let dir = folder(&[("net.gml", &net)]);
    accord(dir.path(), &["import", "net.gml", "-o", "net.toml"]).with(0);
    let json = accord(dir.path(), &["check", "net.toml", "--json"]).with(0).json();
    assert_eq!((&json["nodes"], &json["links"]), (&10.into(), &16.into()));
}

#[test]
fn mistakes_have_their_place_and_a_hint() {
    let files = [
        ("bad.csv", "from,to,rate\na,b,fast\n"),
        ("bad.xyz", "hello"),
        ("slow.csv", "from,to,rate\na,b,1 bps\n"),
        ("good.csv", "from,to\na,b\n"),
        ("nobody.csv", "from,to,rate\na,z,1\n"),
        ("empty.gml", ""),
        ("latin.gml", "graph [ ]"),
        ("huge.csv", "from,to,rate\na,b,1e300\n"),
    ];
    let dir = folder(&files);
    std::fs::write(dir.path().join("latin.gml"), b"graph [ label \"\xe9\" ]").expect("written");
    let cases: &[(&[&str], &str)] = &[
        (&["bad.csv"], "bad.csv:2: \"fast\" is not a valid"),
        (&["bad.xyz"], "name it with --format"),
        (&["bad.xyz", "--format", "gml"], "bad.xyz:1:"),
        (&["bad.xyz", "--format", "visio"], "there are: graphml"),
        (&["slow.csv"], "--scale"),
        (&["good.csv", "--demands", "nobody.csv"], "nobody.csv:2: there is no node \"z\""),
        (&["good.csv", "--flows", "0"], "expected 1 to"),
        (&["good.csv", "--flows=-1"], "expected a whole number of at least 0"),
        (&["good.csv", "--seed=-1"], "is not in 0 to 4294967295"),
        (&["good.csv", "--scale", "x"], "expected a number"),
        (&["good.csv", "--scale", "nan"], "more than zero"),
        (&["good.csv", "--controller", "nope"], "there is no controller"),
        (&["nowhere.csv"], "cannot be read"),
        (&["empty.gml"], "empty.gml is empty"),
        (&["latin.gml"], "iconv"),
        (&["huge.csv"], "has 1.000e306 bps"),
        (&["/dev/zero"], "is a device, not a plain file"),
        (&["run", "empty.gml"], "empty.gml is empty"),
        (&["run", "/dev/zero"], "is a device, not a plain file"),
    ];
    for (args, message) in cases {
        let ended = accord(dir.path(), &[&["import"], *args].concat()).with(2);
        assert!(ended.stderr.contains(message), "{args:?}: {ended:#?}");
    }
}

/// Remarks are in the scenario, and on the terminal if it goes to a file.
#[test]
fn remarks_are_printed() {
    let wide: Vec<u8> = "\u{feff}from;to;rate\na;b;7\nb;c;fast\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let dir = folder(&[]);
    std::fs::write(dir.path().join("wide.csv"), wide).expect("written");
    let made = accord(dir.path(), &["import", "wide.csv", "-o", "a.toml"]).with(0);
    let said = "Damaged records, left out: 1. The first: line 3: \"fast\" is not a valid \"rate\".";
    assert!(made.stderr.contains(said), "{made:#?}");
    let text = std::fs::read_to_string(dir.path().join("a.toml")).expect("a scenario");
    for part in [said, "# 2 nodes and 1 link of wide.csv", "\"a - b, 7 Mbps"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
