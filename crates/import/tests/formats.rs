//! One network in every format is the same network.

use accord_import::{Format, Topology, Units, demands, read};

fn file(name: &str) -> String {
    let path = format!("{}/tests/files/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the test has its file")
}

fn abilene(ending: &str) -> Topology {
    let text = file(&format!("abilene.{ending}"));
    let format = Format::guess(ending, &text).expect("the file tells its format");
    let topology = read(format, &text, &Units::default());
    topology.unwrap_or_else(|e| panic!("{ending}: {e}"))
}

const ENDINGS: [&str; 6] = ["graphml", "gml", "sndlib", "xml", "json", "csv"];

#[test]
fn a_network_is_the_same_in_every_format() {
    let first = abilene("graphml");
    assert_eq!((first.name.as_str(), first.nodes.len(), first.links.len()), ("Abilene", 11, 14));
    let names = |t: &Topology| -> Vec<[String; 2]> {
        let name = |i: usize| t.nodes[i].name.clone();
        t.links.iter().map(|l| [name(l.from), name(l.to)]).collect()
    };
    for ending in ENDINGS {
        let other = abilene(ending);
        assert_eq!(names(&other), names(&first), "{ending}");
        assert!(other.links.iter().all(|l| l.rate == Some(1e10)), "{ending}");
        assert!(other.parts().iter().all(|part| *part == 0), "{ending}");
        for (a, b) in other.links.iter().zip(&first.links) {
            let lengths = [other.length(a), first.length(b)].map(|x| x.expect("known"));
            assert!((lengths[0] - lengths[1]).abs() < 1.0, "{ending}: {lengths:?}");
        }
    }
}

/// A distance known from maps: some 1120 km from Seattle to Sunnyvale.
#[test]
fn lengths_are_those_of_the_earth() {
    let t = abilene("gml");
    let length = t.length(&t.links[0]).expect("coordinates");
    assert!((1110.0..1150.0).contains(&length), "{length}");
}

#[test]
fn demands_come_with_the_file_or_beside_it() {
    let from_csv = |t: &Topology| demands(&file("demands.csv"), t, &Units::default());
    for ending in ["sndlib", "xml", "json"] {
        let t = abilene(ending);
        let rates: Vec<f64> = t.demands.iter().map(|d| d.rate).collect();
        let mut sorted = rates.clone();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(sorted, [60e6, 80.5e6, 120e6], "{ending}");
        let mut beside = from_csv(&t).expect("a matrix");
        beside.sort_by_key(|d| (d.from, d.to));
        let mut own = t.demands.clone();
        own.sort_by_key(|d| (d.from, d.to));
        assert_eq!(own, beside, "{ending}");
    }
    assert!(abilene("gml").demands.is_empty());
}

#[test]
fn what_is_left_out_is_said() {
    let text = "from,to,capacity\na,a,1\na,b,10\nb,a,10\na,b,5\n\"x, y!\",b,1\n";
    let t = read(Format::Csv, text, &Units { rate: 1e9 }).expect("it is a list");
    // A directed list has both directions; a second link in one direction is another link.
    assert_eq!(t.links.len(), 2);
    assert_eq!(t.links[0].rate, Some(15e9));
    assert_eq!(t.nodes[2].name, "x-y");
    let all = t.remarks.join(" ");
    for part in ["itself, left out: 1", "Parallel", "--unit"] {
        assert!(all.contains(part), "{part}: {all}");
    }
}

/// A graph inside a node, as yEd writes groups: its nodes and edges belong to the one network, and
/// the group is a node only if an edge ends at it. A key may have a default.
#[test]
fn nested_graphs_are_one_network() {
    let t = read(Format::GraphMl, &file("nested.graphml"), &Units::default()).expect("a graph");
    let names: Vec<&str> = t.nodes.iter().map(|n| &n.name[..]).collect();
    assert_eq!(names, ["core", "site", "a", "b", "inner", "c"]);
    let links: Vec<_> =
        (t.links.iter()).map(|l| (names[l.from], names[l.to], l.rate, l.delay)).collect();
    let expected = [
        ("a", "b", Some(1e9), Some(0.002)),
        ("b", "c", Some(4e7), Some(0.005)),
        ("inner", "c", Some(4e7), Some(0.005)),
        ("core", "site", Some(4e7), Some(0.005)),
        ("core", "a", Some(4e7), Some(0.005)),
    ];
    assert_eq!(links, expected);
    let all = t.remarks.join(" ");
    for part in ["only contain others, left out: 1", "more than two nodes, left out: 1"] {
        assert!(all.contains(part), "{part}: {all}");
    }
}

#[test]
fn equal_labels_are_told_apart() {
    let text = "graph [ node [ id 1 label \"a b\" ] node [ id 2 label \"a-b\" ] edge [ source 1 target 2 ] ]";
    let t = read(Format::Gml, text, &Units::default()).expect("a graph");
    assert_eq!([&t.nodes[0].name, &t.nodes[1].name], ["a-b", "a-b-1"]);
}

#[test]
fn mistakes_have_their_line() {
    let cases = [
        (Format::Csv, "from,to\na\n", Some(2), "the row has no \"to\""),
        (Format::Csv, "from,to,rate\na,b,fast\n", Some(2), "\"fast\" is not a valid"),
        (Format::Csv, "x,y\na,b\n", Some(1), "names no columns"),
        (Format::Csv, "", None, "empty"),
        (Format::Csv, "from,to\n", None, "there are no nodes"),
        (Format::Gml, "graph [\n node [ id 1 ]\n", Some(1), "`graph` has no end"),
        (Format::Gml, "graph [\n node [ ]\n]", Some(2), "no `id`"),
        (Format::Gml, "graph [\n node [ id 1 ]\n node [ id 1 ]\n]", Some(3), "occurs twice"),
        (Format::Gml, "graph [\n edge [ source 1 target 2 ]\n]", Some(2), "no node \"1\""),
        (Format::Gml, "graph [ node [ id 1 ]\n label \"x ]", Some(2), "no closing quote"),
        (Format::Gml, "hello", Some(1), "has no value"),
        (Format::GraphMl, "<graphml>\n<graph>\n<node/></graph></graphml>", Some(3), "has no `id`"),
        (Format::GraphMl, "<graphml>\n<graph>", Some(1), "invalid XML"),
        (Format::GraphMl, "<!DOCTYPE x>\n<graphml/>", Some(1), "invalid XML"),
        (Format::GraphMl, "<html/>", Some(1), "expected <graphml>"),
        (Format::SndlibXml, "<network>\n</network>", Some(1), "networkStructure"),
        (Format::Sndlib, "NODES (\n a ( 1 2 )\n", Some(2), "no end"),
        (Format::Sndlib, "NODES (\n a ( 1 )\n)", Some(2), "not of the form"),
        (Format::Sndlib, "NODES (\n a\n b\n)\nLINKS (\n l ( a c ) 1\n)", Some(6), "no node \"c\""),
        (Format::Sndlib, "hello", Some(1), "expected a section"),
        (Format::Json, "{\n\"nodes\": [,]}", Some(2), "invalid JSON"),
        (Format::Json, "{}", None, "no list `nodes`"),
        (
            Format::Json,
            "{\"nodes\":[{\"id\":1}],\"links\":[{\"source\":1,\"target\":2}]}",
            None,
            "edges[0]: there is no node \"2\"",
        ),
    ];
    for (format, text, line, message) in cases {
        let e = read(format, text, &Units::default()).expect_err(text);
        assert_eq!(e.line, line, "{text}: {e}");
        assert!(e.to_string().contains(message), "{text}: {e}");
    }
}

#[test]
fn formats_are_guessed() {
    for ending in ENDINGS {
        let text = file(&format!("abilene.{ending}"));
        let guessed = Format::guess("txt", &text);
        // A table could be anything.
        assert_eq!(guessed.is_none(), ending == "csv", "{ending}: {guessed:?}");
    }
    assert_eq!(Format::guess("", "<svg/>"), None);
}
