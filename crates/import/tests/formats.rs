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
        assert!(
            other.links.iter().all(|l| [l.there, l.back].iter().all(|w| w.rate == Some(1e10))),
            "{ending}"
        );
        assert!(other.parts().iter().all(|part| *part == 0), "{ending}");
        for (a, b) in other.links.iter().zip(&first.links) {
            let lengths =
                [other.length(a, &a.back), first.length(b, &b.there)].map(|x| x.expect("known"));
            assert!((lengths[0] - lengths[1]).abs() < 1.0, "{ending}: {lengths:?}");
        }
    }
}

/// A distance known from maps: some 1120 km from Seattle to Sunnyvale.
#[test]
fn lengths_are_those_of_the_earth() {
    let t = abilene("gml");
    let length = t.length(&t.links[0], &t.links[0].there).expect("coordinates");
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
    let t = read(Format::Csv, text, &Units { rate: 1e9, delay: None }).expect("it is a list");
    // A directed list has both directions; a second link in one direction is another link.
    assert_eq!(t.links.len(), 2);
    assert_eq!([t.links[0].there, t.links[0].back].map(|way| way.rate), [Some(15e9), Some(10e9)]);
    assert_eq!(t.nodes[2].name, "x-y");
    let all = t.remarks.join(" ");
    for part in ["itself, left out: 1", "Parallel", "--unit"] {
        assert!(all.contains(part), "{part}: {all}");
    }
}

/// A directed file has its own rate and delay of each direction. Values of one direction only hold for both.
#[test]
fn directions_differ() {
    let csv = "from,to,rate,delay,distance\n\
               a,b,10 Mbps,5 ms,\nb,a,2 Mbps,50 ms,\n\
               b,c,,,100 km\nc,b,3 Mbps,,300 km\n\
               c,d,4 Mbps,1 ms,\nd,c,,,\n\
               d,e,,,\n";
    let t = read(Format::Csv, csv, &Units::default()).expect("it is a list");
    let way = |rate, delay, length| accord_import::Way { rate, delay, length };
    let expected = [
        (way(Some(10e6), Some(0.005), None), way(Some(2e6), Some(0.05), None)),
        (way(Some(3e6), None, Some(100.0)), way(Some(3e6), None, Some(300.0))),
        (way(Some(4e6), Some(0.001), None), way(Some(4e6), Some(0.001), None)),
        (way(None, None, None), way(None, None, None)),
    ];
    let found: Vec<_> = t.links.iter().map(|l| (l.there, l.back)).collect();
    assert_eq!(found, expected);
    let all = t.remarks.join(" ");
    assert!(
        all.contains("Links with one direction in the file, the other taken to be alike: 1."),
        "{all}"
    );
}

/// A number that is too large with its unit, or with that of a parallel link, is the largest number.
#[test]
fn rates_are_finite() {
    let csv = "from,to,rate,delay\na,b,1e308,\nb,c,1e308 bps,1e308 s\nb,c,1e308 bps,\n";
    let t = read(Format::Csv, csv, &Units::default()).expect("it is a list");
    assert!(t.links.iter().all(|l| l.there.rate == Some(f64::MAX)), "{:?}", t.links);
    let demands = demands("from,to,rate\na,b,1e308\n", &t, &Units::default()).expect("demands");
    assert_eq!(demands[0].rate, f64::MAX);
}

/// A link of rate 0 does not get the rate of links without a rate.
#[test]
fn a_link_of_rate_zero_is_no_link() {
    let gml = "graph [ node [ id 1 ] node [ id 2 ] node [ id 3 ]\n\
               edge [ source 1 target 2 capacity 0 ] edge [ source 2 target 3 capacity 5 ] ]";
    let csv = "from,to,rate\n1,2,0 Mbps\n2,3,5\n";
    for (format, text) in [(Format::Gml, gml), (Format::Csv, csv)] {
        let t = read(format, text, &Units::default()).expect("a network");
        assert_eq!(t.links.len(), 1, "{:?}", t.links);
        assert_eq!(t.links[0].there.rate, Some(5e6));
        let all = t.remarks.join(" ");
        assert!(all.contains("Links with a rate of 0, left out: 1."), "{all}");
    }
}

/// networkx writes places in a unit square as `pos`: they are not degrees.
#[test]
fn places_of_a_drawing_give_no_lengths() {
    let text = "{\"nodes\":[{\"id\":0,\"pos\":[0.9,0.1]},{\"id\":1,\"pos\":[0.2,0.7]}],\
                \"edges\":[{\"source\":0,\"target\":1}]}";
    let t = read(Format::Json, text, &Units::default()).expect("a graph");
    assert_eq!(t.length(&t.links[0], &t.links[0].there), None);
    assert!(t.remarks.join(" ").contains("`pos`"), "{:?}", t.remarks);
}

/// The form of spreadsheets where the comma is the decimal mark, also with commas in the head.
#[test]
fn semicolons_and_decimal_commas() {
    for head in ["from;to;rate", "from;to;rate;note, if any"] {
        let text = format!("{head}\na;b;2,5\n");
        let t = read(Format::Csv, &text, &Units::default()).expect("it is a list");
        assert_eq!(t.links[0].there.rate, Some(2.5e6), "{text}");
    }
}

/// A graph inside a node, as yEd writes groups: its nodes and edges belong to the one network, and
/// the group is a node only if an edge ends at it. A key may have a default.
#[test]
fn nested_graphs_are_one_network() {
    let t = read(Format::GraphMl, &file("nested.graphml"), &Units::default()).expect("a graph");
    let names: Vec<&str> = t.nodes.iter().map(|n| &n.name[..]).collect();
    assert_eq!(names, ["core", "site", "a", "b", "inner", "c"]);
    let links: Vec<_> = (t.links.iter())
        .map(|l| (names[l.from], names[l.to], l.there.rate, l.there.delay))
        .collect();
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
        // Lists without a head.
        (Format::Csv, "A,B,10\nB,C,5\n", Some(1), "names no columns"),
        (Format::Csv, "a;b\nb;c\n", Some(1), "names no columns"),
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
