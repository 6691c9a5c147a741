//! A damaged record of a topology costs itself, and a remark names the first.

use accord_import::{Format, Topology, Units, read};

fn topology(format: Format, text: &str) -> Topology {
    read(format, text, &Units::default()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The links by the names of their nodes, with their rates in Mbit/s.
fn links(t: &Topology) -> Vec<(String, String, f64)> {
    let name = |i: usize| t.nodes[i].name.clone();
    (t.links.iter())
        .map(|l| (name(l.from), name(l.to), l.there.rate.map_or(f64::NAN, |r| r / 1e6)))
        .collect()
}

#[test]
fn a_damaged_record_costs_itself() {
    let json = "{\"nodes\":[{\"id\":\"a\"},7,{\"id\":\"b\"},{\"id\":\"a\"}],\"edges\":[{\"source\":\"a\"},\
                {\"source\":\"a\",\"target\":\"b\",\"capacity\":7},{\"source\":\"a\",\"target\":\"z\"}]}";
    let graphml = "<graphml><graph edgedefault=\"undirected\">\n<node id=\"a\"/>\n<node/>\n<node id=\"b\"/>\n\
                   <node id=\"a\"/>\n<edge source=\"a\"/>\n<edge source=\"a\" target=\"z\"/>\n\
                   <edge source=\"a\" target=\"b\"><data key=\"capacity\">7</data></edge></graph></graphml>";
    let sndlib = "NODES (\n a ( 1 2 )\n c ( 1 )\n b ( 3 4 )\n)\nLINKS (\n x ( a z ) 1\n l ( a b ) 7 0 0 0 ( )\n)\n";
    let xml = "<network><networkStructure><nodes>\n<node id=\"a\"/><node/><node id=\"b\"/></nodes><links>\n\
               <link><source>a</source></link>\n<link><source>a</source><target>b</target>\
               <preInstalledModule><capacity>7</capacity></preInstalledModule></link></links></networkStructure></network>";
    for (format, text, count, first) in [
        (
            Format::Gml,
            "graph [\n node [ id a ]\n node [ label x ]\n node [ id b ]\n node [ id a ]\n \
             edge [ source a target z ]\n edge [ source a ]\n edge [ source a target b capacity 7 ] ]",
            4,
            "line 3: the node has no `id`",
        ),
        (
            Format::Gml,
            "graph [ node [ id a ] node [ id b ]\n edge [ source a target b capacity 7 ]\n edge [ source",
            1,
            "line 3: `edge` has no end",
        ),
        (Format::GraphMl, graphml, 4, "line 3: <node> has no `id`"),
        (Format::Json, json, 4, "nodes[1] is not an object"),
        (Format::Sndlib, sndlib, 2, "line 3: \"c ( 1 )\" is not of the form"),
        (Format::SndlibXml, xml, 2, "line 2: <node> has no `id`"),
        (
            Format::Csv,
            "from,to,rate\na,c,fast\na,b,7\nb\n",
            2,
            "line 2: \"fast\" is not a valid \"rate\"",
        ),
    ] {
        let t = topology(format, text);
        assert_eq!(links(&t), [("a".into(), "b".into(), 7.0)], "{text}");
        assert_eq!(t.nodes.len(), 2, "{text}");
        let said = format!("Damaged records, left out: {count}. The first: {first}");
        assert!(t.remarks.iter().any(|r| r.starts_with(&said)), "{:?}", t.remarks);
    }
}

/// A second link between two nodes is parallel to the first in an undirected graph, and the other
/// direction of the first in a directed one.
#[test]
fn directions_and_parallel_links() {
    let edges =
        "edge [ source 1 target 2 capacity 10 ] edge [ source 2 target 1 capacity 30 delay_ms 4 ]";
    let gml = |head: &str| format!("graph [ {head} node [ id 1 ] node [ id 2 ] {edges} ]");
    let parallel = "Parallel links, merged: 1.".to_string();
    for (head, rate, back, merged) in [
        ("", 40.0, 40.0, true),
        ("directed 0", 40.0, 40.0, true),
        ("directed 1", 10.0, 30.0, false),
    ] {
        let t = topology(Format::Gml, &gml(head));
        assert_eq!(links(&t), [("1".into(), "2".into(), rate)], "{head}");
        assert_eq!(t.links[0].back.rate, Some(back * 1e6), "{head}");
        assert_eq!(t.remarks.contains(&parallel), merged, "{:?}", t.remarks);
        assert_eq!(t.links[0].there.delay, Some(0.004));
    }
    let json = |directed: bool| {
        format!(
            "{{\"directed\":{directed},\"nodes\":[{{\"id\":[0,1]}},{{\"id\":[1,1]}}],\"links\":[\
             {{\"source\":[0,1],\"target\":[1,1],\"capacity\":10,\"weight\":NaN}},\
             {{\"source\":[1,1],\"target\":[0,1],\"capacity\":10}}]}}"
        )
    };
    for (directed, rate) in [(true, 10.0), (false, 20.0)] {
        let t = topology(Format::Json, &json(directed));
        assert_eq!(links(&t), [("0-1".into(), "1-1".into(), rate)]);
    }
}

/// yEd draws labels; a hyperedge between two nodes is an edge.
#[test]
fn graphml_of_yed_and_hyperedges() {
    let node = |id: &str, label: &str| {
        format!(
            "<node id=\"{id}\"><data key=\"d6\"><y:ShapeNode><y:Geometry x=\"1\"/><y:NodeLabel>{label}\
             <y:LabelModel/></y:NodeLabel></y:ShapeNode></data></node>"
        )
    };
    let text = format!(
        "<graphml xmlns:y=\"http://www.yworks.com/xml/graphml\"><key for=\"node\" id=\"d6\"/>\
         <graph edgedefault=\"directed\">{}{}<hyperedge><endpoint node=\"n0\"/><endpoint node=\"n1\"/>\
         <data key=\"capacity\">5 Mbps</data></hyperedge></graph></graphml>",
        node("n0", "Router A"),
        node("n1", "Router B"),
    );
    let t = topology(Format::GraphMl, &text);
    assert_eq!(links(&t), [("Router-A".into(), "Router-B".into(), 5.0)]);
}

#[test]
fn tables_of_spreadsheets() {
    for text in ["from;to;rate\na;b;7\n", "from\tto\trate\na\tb\t7\n", "node1,node2,rate\na,b,7\n"]
    {
        assert_eq!(links(&topology(Format::Csv, text)), [("a".into(), "b".into(), 7.0)]);
    }
}
