//! Any text yields an error or a sound topology, in little time and memory.

use accord_import::{Format, Units, demands, limits, read};
use proptest::prelude::*;
use std::time::Instant;

/// Reads a text in every format; the result is sound.
fn check(text: &str) {
    for format in Format::ALL {
        let name = format.name();
        match read(format, text, &Units::default()) {
            Err(e) => assert!(!e.message.is_empty(), "{name}"),
            Ok(t) => {
                let n = t.nodes.len();
                let mut names: Vec<_> = t.nodes.iter().map(|n| n.name.clone()).collect();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), n, "{name}: names are unique");
                let odd = |c: char| !(c.is_alphanumeric() || c == '-' || c == '_');
                assert!(names.iter().all(|n| !n.is_empty() && !n.contains(odd)));
                let mut pairs: Vec<_> =
                    (t.links.iter()).map(|l| (l.from.min(l.to), l.from.max(l.to))).collect();
                assert!(pairs.iter().all(|(a, b)| a < b && *b < n), "{name}");
                pairs.sort_unstable();
                pairs.dedup();
                assert_eq!(pairs.len(), t.links.len(), "{name}: no parallel links");
                for link in &t.links {
                    for way in [&link.there, &link.back] {
                        assert!(way.rate.is_none_or(|r| r > 0.0 && r.is_finite()));
                        assert!(t.length(link, way).is_none_or(|l| l >= 0.0));
                    }
                }
                assert!(t.demands.iter().all(|d| d.from != d.to && d.rate > 0.0));
                let _ = demands(text, &t, &Units::default());
            }
        }
    }
}

const SEEDS: [&str; 6] = [
    include_str!("files/abilene.graphml"),
    include_str!("files/abilene.gml"),
    include_str!("files/abilene.sndlib"),
    include_str!("files/abilene.xml"),
    include_str!("files/abilene.json"),
    include_str!("files/abilene.csv"),
];

/// Fragments with a meaning to a reader.
const PIECES: [&str; 16] =
    ["[", "]", "(", ")", "<", ">", "/>", "\"", "{", "}", ",", "\n", "-1", "1e400", "NaN", "é"];

proptest! {
    #[test]
    fn damaged_files(seed in 0..5usize, cuts in prop::collection::vec((any::<u16>(), 0..16usize, 0..12usize), 1..6)) {
        let mut text = SEEDS[seed].to_string();
        for (at, piece, gone) in cuts {
            let mut at = at as usize % (text.len() + 1);
            while !text.is_char_boundary(at) { at -= 1; }
            let mut end = (at + gone).min(text.len());
            while !text.is_char_boundary(end) { end += 1; }
            text.replace_range(at..end, PIECES[piece]);
        }
        check(&text);
    }

    #[test]
    fn texts_of_pieces(pieces in prop::collection::vec((0..16usize, "[a-z ]{0,4}"), 0..60)) {
        let text: String = pieces.iter().map(|(p, w)| format!("{w}{}", PIECES[*p])).collect();
        check(&text);
    }
}

/// Returns the first error of a large text, and checks that it comes at once.
fn soon(format: Format, text: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "the time is what is tested")]
    let start = Instant::now();
    let result = read(format, text, &Units::default());
    let took = start.elapsed();
    assert!(took.as_secs() < 20, "{took:?}");
    result.expect_err("it is hostile").to_string()
}

#[test]
fn deep_nesting() {
    let deep = format!("<graphml>{}", "<a b=\"/>\">".repeat(500_000));
    assert!(soon(Format::GraphMl, &deep).contains("nested more than 32 deep"));
    assert!(soon(Format::Gml, &"a [ ".repeat(500_000)).contains("nested more than 32 deep"));
    assert!(soon(Format::Json, &"[".repeat(500_000)).contains("recursion limit"));
}

#[test]
fn entities_attributes_and_unclosed_tags() {
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><graphml>&a;</graphml>";
    assert!(soon(Format::GraphMl, bomb).contains("invalid XML"));
    let mut tag = "<graphml ".to_string();
    for i in 0..200_000 {
        tag += &format!("a{i}=\"\" ");
    }
    assert!(soon(Format::GraphMl, &(tag + "/>")).contains("more than 100 attributes"));
    soon(Format::GraphMl, &"<!".repeat(1_000_000));
    soon(Format::GraphMl, &"<!--".repeat(1_000_000));
}

#[test]
fn too_large() {
    let text = " ".repeat(limits::TEXT + 1);
    assert!(soon(Format::Csv, &text).contains("at most"));
    let nodes: String = (0..=limits::NODES).map(|i| format!("node [ id {i} label x ] ")).collect();
    assert!(soon(Format::Gml, &format!("graph [ {nodes} ]")).contains("more than 100000 nodes"));
    let links = "a,b\n".repeat(limits::LINKS + 1);
    assert!(soon(Format::Csv, &format!("from,to\n{links}")).contains("more than 400000 links"));
}

/// Labels equal to the names that others would get.
#[test]
fn crafted_labels() {
    let mut text = "graph [ ".to_string();
    for i in 0..40_000 {
        text += &format!("node [ id {i} label \"x-{}\" ] ", i + 1);
    }
    for i in 40_000..80_000 {
        text += &format!("node [ id {i} label x ] ");
    }
    text += "]";
    assert_eq!(soon(Format::Gml, &text), "there are no links");
}
