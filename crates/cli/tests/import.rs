//! `accord import`: topologies become valid scenarios that run.

use crate::common::*;
use accord::units::{Duration, Rate};
use std::collections::BTreeMap;
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
        ("bare.csv", "A,B,10\nB,C,5\nC,D,7\n"),
        (
            "people.txt",
            "Connecting to host 192.0.2.1, port 5201\n[ ID] Interval           Transfer     Bitrate\n",
        ),
    ];
    let dir = folder(&files);
    std::fs::write(dir.path().join("latin.gml"), b"graph [ label \"\xe9\" ]").expect("written");
    let cases: &[(&[&str], &str)] = &[
        (&["bad.csv"], "bad.csv:2: \"fast\" is not a valid"),
        (&["bad.xyz"], "name it with --format"),
        (&["bad.xyz"], "accord.from_graph"),
        (&["bare.csv"], "names no columns from and to"),
        (&["good.csv", "--rate", "10 mbit"], "did you mean \"Mbps\"?"),
        (&["run", "people.txt"], "iperf3 --json"),
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

/// A direction of a link of a random network: its rate in Kbps and its delay in microseconds.
type Way = (u64, u64);

/// A random network: its number of nodes, and its links by their ends, there and back.
struct Net {
    nodes: usize,
    links: Vec<(usize, usize, Way, Way)>,
}

impl Net {
    /// A tree with some more links. The ways of a link are alike or not, each in its rate and its delay.
    fn random(seed: u64) -> Net {
        let mut dice = Dice(seed);
        let nodes = 2 + dice.below(7);
        let mut links: Vec<(usize, usize, Way, Way)> = Vec::new();
        for node in 1..nodes + dice.below(4) {
            let (a, b) = match node < nodes {
                true => (dice.below(node), node),
                false => (dice.below(nodes), dice.below(nodes)),
            };
            if a == b || links.iter().any(|l| [(a, b), (b, a)].contains(&(l.0, l.1))) {
                continue;
            }
            let mut way = || (1 + dice.below(9_999_999) as u64, 1 + dice.below(300_000) as u64);
            let (there, mut back) = (way(), way());
            match dice.below(4) {
                0 => back = there,
                1 => back.0 = there.0,
                2 => back.1 = there.1,
                _ => {}
            }
            // Either end may be written first.
            links.push(if dice.below(2) == 0 { (a, b, there, back) } else { (b, a, there, back) });
        }
        Net { nodes, links }
    }

    /// The ways of all links, by the nodes that they lead from and to.
    fn ways(&self) -> BTreeMap<(String, String), (Rate, Duration)> {
        let of = |(rate, delay): Way| (Rate::from_bps(1000 * rate), Duration::from_us(delay));
        let both = self.links.iter().flat_map(|&(a, b, there, back)| {
            let (a, b) = (format!("n{a}"), format!("n{b}"));
            [((a.clone(), b.clone()), of(there)), ((b, a), of(back))]
        });
        both.collect()
    }

    /// The network in a format: an entry per direction, there first or back first.
    fn written(&self, ending: &str) -> String {
        let nodes: Vec<String> = (0..self.nodes).map(|n| format!("n{n}")).collect();
        let ways: Vec<(&str, &str, Way)> = (self.links.iter())
            .flat_map(|&(a, b, there, back)| {
                [(&*nodes[a], &*nodes[b], there), (&*nodes[b], &*nodes[a], back)]
            })
            .collect();
        let mut text = String::new();
        match ending {
            "csv" => {
                text += "from,to,rate_kbps,delay_us\n";
                for (a, b, (rate, delay)) in ways {
                    text += &format!("{a},{b},{rate},{delay}\n");
                }
            }
            "gml" => {
                text += "graph [\n directed 1\n";
                for (id, name) in nodes.iter().enumerate() {
                    text += &format!(" node [ id {id} label \"{name}\" ]\n");
                }
                for (a, b, (rate, delay)) in ways {
                    text += &format!(
                        " edge [ source {} target {} capacity \"{rate} Kbps\" delay \"{delay} us\" ]\n",
                        &a[1..],
                        &b[1..],
                    );
                }
                text += "]\n";
            }
            "graphml" => {
                text += "<graphml><key id=\"r\" for=\"edge\" attr.name=\"rate_kbps\"/>\
                         <key id=\"d\" for=\"edge\" attr.name=\"latency\"/><graph edgedefault=\"directed\">\n";
                for name in &nodes {
                    text += &format!("<node id=\"{name}\"/>\n");
                }
                for (a, b, (rate, delay)) in ways {
                    let ms = delay as f64 / 1e3;
                    text += &format!(
                        "<edge source=\"{a}\" target=\"{b}\"><data key=\"r\">{rate}</data>\
                         <data key=\"d\">{ms} ms</data></edge>\n"
                    );
                }
                text += "</graph></graphml>\n";
            }
            "json" => {
                let node = |name: &String| format!("{{\"id\": \"{name}\"}}");
                let edge = |&(a, b, (rate, delay)): &(&str, &str, Way)| {
                    format!(
                        "{{\"source\": \"{a}\", \"target\": \"{b}\", \"capacity\": \"{rate} Kbps\", \"delay_us\": {delay}}}"
                    )
                };
                let nodes: Vec<String> = nodes.iter().map(node).collect();
                let edges: Vec<String> = ways.iter().map(edge).collect();
                text += &format!(
                    "{{\"directed\": true, \"nodes\": [{}], \"edges\": [{}]}}",
                    nodes.join(", "),
                    edges.join(", ")
                );
            }
            // These have no delays.
            "sndlib" => {
                text += "META (\n unit = KBITPERSEC\n)\nNODES (\n";
                for name in &nodes {
                    text += &format!(" {name}\n");
                }
                text += ")\nLINKS (\n";
                for (i, (a, b, (rate, _))) in ways.iter().enumerate() {
                    text += &format!(" l{i} ( {a} {b} ) {rate}.00 0.00 0.00 0.00 ( )\n");
                }
                text += ")\n";
            }
            "xml" => {
                text += "<network><meta><unit>KBITPERSEC</unit></meta><networkStructure><nodes>\n";
                for name in &nodes {
                    text += &format!("<node id=\"{name}\"/>\n");
                }
                text += "</nodes><links>\n";
                for (a, b, (rate, _)) in ways {
                    text += &format!(
                        "<link><source>{a}</source><target>{b}</target><additionalModules><addModule>\
                         <capacity>{rate}</capacity></addModule></additionalModules></link>\n"
                    );
                }
                text += "</links></networkStructure></network>\n";
            }
            _ => unreachable!("there is no writer of {ending}"),
        }
        text
    }
}

/// A network that is written in a format, read, written as a scenario and read again has the links that
/// it had, with the rate and the delay of each direction.
#[test]
fn what_is_read_written_and_read_again_is_the_same() {
    let dir = folder(&[]);
    let mut uneven = 0;
    for seed in 0..40 {
        let net = Net::random(seed);
        uneven += net.links.iter().filter(|(_, _, there, back)| there != back).count();
        for ending in ["csv", "gml", "graphml", "json", "sndlib", "xml"] {
            let file = dir.path().join(format!("net.{ending}"));
            fs::write(&file, net.written(ending)).expect("written");
            let args = ["import", &*file.to_string_lossy(), "--delay", "7 ms"].map(String::from);
            let text =
                accord_cli::imported(args).unwrap_or_else(|e| panic!("{seed} {ending}: {e:?}"));
            let parsed = accord::File::parse("net.toml", &text).expect("a scenario");
            let scenario = parsed.points(&accord::catalogue(), None).expect("valid").remove(0);
            let node = |id: usize| scenario.nodes[id].name.clone();
            let found: BTreeMap<_, _> = (scenario.links.iter())
                .map(|l| ((node(l.from), node(l.to)), (l.rate, l.delay)))
                .collect();
            let mut expected = net.ways();
            if ["sndlib", "xml"].contains(&ending) {
                expected.values_mut().for_each(|way| way.1 = Duration::from_ms(7));
            }
            assert_eq!(found, expected, "{seed} {ending}:\n{text}");
        }
    }
    assert!(uneven > 40, "{uneven}");
}

/// Bare delays take the unit that is given, and are left out without one.
#[test]
fn a_delay_without_a_unit_is_said() {
    let csv = "from,to,delay\na,b,5\n";
    let json = "{\"nodes\":[{\"id\":\"a\"},{\"id\":\"b\"}],\"edges\":[{\"source\":\"a\",\"target\":\"b\",\"delay\":5}]}";
    let dir = folder(&[("net.csv", csv), ("net.json", json)]);
    for file in ["net.csv", "net.json"] {
        let text = accord(dir.path(), &["import", file, "--delay-unit", "1 ms"]).with(0).stdout;
        assert!(text.contains("\"a - b, 100 Mbps, 5 ms\""), "{text}");
    }
    let text = accord(dir.path(), &["import", "net.json", "--delay", "2 ms"]).with(0).stdout;
    assert!(text.contains("--delay-unit") && text.contains("100 Mbps, 2 ms"), "{text}");
    let why = accord(dir.path(), &["import", "net.csv"]).with(2).stderr;
    assert!(why.contains("net.csv:2: \"5\" of \"delay\" has no unit"), "{why}");
    let zero = ["import", "net.csv", "--delay-unit", "0 s"];
    assert!(accord(dir.path(), &zero).with(2).stderr.contains("more than zero"));
}

/// `ss` counts payload: 100 packets of 1448 B per second are 150 000 B of whole packets of 1500 B.
#[test]
fn measured_payload_becomes_whole_packets_in_the_rows_of_a_run() {
    let scenario = "duration = \"4 s\"\ntopology.dumbbell = { rate = \"2 Mbps\", delay = \"10 ms\" }\n\
                    [flow.upload]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"cubic\"\n";
    let line = |i: u64| {
        let bytes = i * 144_800;
        format!(
            "{}.0\nESTAB 0 0 10.0.0.1:40000 10.0.0.2:5201 cubic rtt:20/1 mss:1448 cwnd:10 \
             bytes_sent:{bytes} bytes_acked:{bytes}\n",
            1_700_000_000 + i
        )
    };
    let log: String = (0..5).map(line).collect();
    let dir = folder(&[("mine.toml", scenario), ("log.ss", &log)]);
    accord(dir.path(), &["run", "mine.toml", "-q", "-e", "packet"]).with(0);
    let figure = |more: &[&str]| {
        let import = ["import", "run", "log.ss", "-o", "runs/log"];
        let ended = accord(dir.path(), &[&import[..], more].concat()).with(0);
        let compare = ["compare", "runs/mine", "runs/log"];
        let text = accord(dir.path(), &compare).with(0);
        assert!(text.stdout.contains("measured"), "{}", text.stdout);
        assert!(text.stderr.contains("whole packets"), "{}", text.stderr);
        for row in ["throughput, whole packets ", "cwnd, whole packets "] {
            assert!(text.stdout.contains(row), "{row}: {}", text.stdout);
        }
        let json = accord(dir.path(), &[&compare[..], &["--json"]].concat()).with(0).json();
        let rows = json["points"][0]["rows"].as_array().expect("rows");
        let rate = rows.iter().find(|row| row["quantity"] == "throughput").expect("a rate");
        assert_eq!(rate["counted"], "whole packets", "{rate}");
        let json = accord(dir.path(), &["compare", "runs/mine", "runs/log", "--json"]).json();
        let rows = json["points"][0]["rows"].as_array().expect("rows").clone();
        let of = |name: &str| {
            let is = |row: &&serde_json::Value| {
                row["quantity"] == name && row.to_string().contains("\"upload\"")
            };
            let row = rows.iter().find(is);
            let row = row.unwrap_or_else(|| panic!("no {name} of upload: {rows:#?}"));
            row["values"][1]["mean"].as_f64().expect("a value")
        };
        (ended.stderr, of("throughput"), of("cwnd"))
    };
    let (says, rate, window) = figure(&[]);
    assert!(says.contains("1448 B of payload are 1500 B on the wire"), "{says}");
    assert!((rate - 1.2e6).abs() < 1.0 && (window - 15_000.0).abs() < 1.0, "{rate} {window}");
    let (_, rate, _) = figure(&["--packet", "1514 B"]);
    assert!((rate - 1_211_200.0).abs() < 1.0, "{rate}");
    let wrong = ["import", "run", "log.ss", "-o", "runs/log", "--packet", "100 B"];
    assert!(accord(dir.path(), &wrong).with(2).stderr.contains("has no room for a payload"));
}

/// A log without the size of a segment counts payload, which the rows say. Of a run with two groups the command
/// names one.
#[test]
fn a_measurement_is_paired_with_a_group_and_says_what_it_counts() {
    let flow = |name: &str| {
        format!("[flow.{name}]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"cubic\"\n")
    };
    let head = "duration = \"4 s\"\ntopology.dumbbell = { rate = \"2 Mbps\", delay = \"10 ms\" }\n";
    let scenario = format!("{head}{}{}", flow("upload"), flow("other"));
    let line = |i: u64| {
        format!(
            "{}.0\nESTAB 0 0 10.0.0.1:40000 10.0.0.2:5201 cubic rtt:20/1 bytes_acked:{}\n",
            1_700_000_000 + i,
            i * 144_800
        )
    };
    let log: String = (0..5).map(line).collect();
    let dir = folder(&[("mine.toml", &scenario), ("log.ss", &log)]);
    accord(dir.path(), &["run", "mine.toml", "-q", "-e", "packet"]).with(0);
    let hint = accord(dir.path(), &["import", "run", "log.ss", "-o", "runs/log"]).with(0).stderr;
    assert!(hint.contains("accord compare runs/NAME runs/log"), "{hint}");
    assert!(hint.contains("--group GROUP if the run has several groups"), "{hint}");
    let compare = ["compare", "runs/mine", "runs/log", "--table", "t.csv"];
    let apart = accord(dir.path(), &compare).with(0).stderr;
    assert!(apart.contains("share no row with a run: --group NAME"), "{apart}");
    assert!(apart.contains("of upload, other"), "{apart}");
    let paired = accord(dir.path(), &[&compare[..], &["--group", "other"]].concat()).with(0);
    assert!(!paired.stderr.contains("share no row"), "{}", paired.stderr);
    let table = std::fs::read_to_string(dir.path().join("t.csv")).expect("written");
    let row = |of: &str| {
        let row = table.lines().find(|line| line.starts_with(of));
        row.unwrap_or_else(|| panic!("no {of}: {table}")).to_string()
    };
    let together = row("other,\"throughput, whole packets and payload\"");
    assert!(together.contains("1.158"), "{together}");
    row("upload,throughput,");
    let wrong = accord(dir.path(), &[&compare[..], &["--group", "al"]].concat()).with(2).stderr;
    assert!(wrong.contains("no run here has a group \"al\""), "{wrong}");
    assert!(wrong.contains("groups of the runs: upload, other"), "{wrong}");
}

/// Of two connections one is over loopback: each is scaled by its own payload, and --packet is for the one
/// that it holds.
#[test]
fn each_measured_flow_is_scaled_by_its_own_payload() {
    let line = |port: u64, mss: u64, bytes: u64| {
        format!(
            "ESTAB 0 0 10.0.0.1:{port} 10.0.0.2:80 cubic rtt:20/1 mss:{mss} cwnd:10 \
             bytes_sent:{bytes} bytes_acked:{bytes}\n"
        )
    };
    let at = |i: u64| {
        let (small, large) = (i * 144_800, i * 654_830);
        format!("{}.0\n{}{}", 1_700_000_000 + i, line(1, 1448, small), line(2, 65_483, large))
    };
    let log: String = (0..5).map(at).collect();
    let dir = folder(&[("log.ss", &log)]);
    let windows = |more: &[&str]| {
        let import = ["import", "run", "log.ss", "-o", "log"];
        let ended = accord(dir.path(), &[&import[..], more].concat()).with(0);
        let json = accord(dir.path(), &["compare", "log", "log", "--json"]).with(0).json();
        let rows = json["points"][0]["rows"].as_array().expect("rows").clone();
        let windows = rows.iter().filter(|row| row["quantity"] == "cwnd");
        let means = windows.filter_map(|row| row["values"][0]["mean"].as_f64());
        let means: Vec<f64> = means.collect();
        (ended.stderr, means.iter().sum::<f64>() / means.len() as f64)
    };
    // The mean window of both: ten packets of 1500 B, and ten of 65 535 B.
    let (says, window) = windows(&[]);
    let sizes =
        "1448 B of payload are 1500 B on the wire, 65483 B of payload are 65535 B on the wire";
    assert!(says.contains(sizes), "{says}");
    assert!((window - 335_175.0).abs() < 1.0, "{window}");
    let (_, window) = windows(&["--packet", "1514 B"]);
    assert!((window - 335_245.0).abs() < 1.0, "{window}");
    let wrong = ["import", "run", "log.ss", "-o", "log", "--packet", "100 B"];
    assert!(accord(dir.path(), &wrong).with(2).stderr.contains("has no room for a payload"));
    let late = ["import", "run", "log.ss", "-o", "log", "--from", "100 s", "--to", "200 s"];
    let refused = accord(dir.path(), &late).with(2).stderr;
    assert!(refused.contains("the steady part begins after the measurements"), "{refused}");
}

/// A capture of packets is a measurement, and no topology.
#[test]
fn a_capture_becomes_a_run() {
    let dir = folder(&[]);
    let seed = format!("{}/../../fuzz/seeds/pcap/raw.pcapng", env!("CARGO_MANIFEST_DIR"));
    accord(dir.path(), &["import", "run", &seed, "-o", "captured"]).with(0);
    let compared = accord(dir.path(), &["compare", "captured", "captured", "--json"]);
    assert!(compared.with(0).stdout.contains("throughput"), "the flow has a rate");
    accord(dir.path(), &["import", &seed]).with(2);
}
