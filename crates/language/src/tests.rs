//! Tests that the words of the language are the same in reader, printer, messages, schema and reference.

use crate::shape::{Key, Shape};
use crate::{File, schema};
use crate::{keys, reference};
use accord_family::Catalogue;
use accord_form::Default;
use accord_scenario::{Metric, MetricUnit, Of, Scenario, print};

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };

/// Returns the shapes with words within a shape.
fn with_words<'a>(shape: &'a Shape, found: &mut Vec<&'a Shape>) {
    match shape {
        Shape::List(of) | Shape::Pair(of) | Shape::Map(of) => with_words(of, found),
        Shape::Either(shapes) => shapes.iter().for_each(|s| with_words(s, found)),
        _ if shape.words().is_empty() => {}
        _ => found.push(shape),
    }
}

/// Calls `each` with every key that may be a word, the slug and the title of its section, and the words.
fn every_key(mut each: impl FnMut(&Key, &str, &str, &[&'static str])) {
    let mut keys = 0;
    for section in accord_form::sections(&keys::FILE) {
        for key in section.keys {
            let mut shapes = Vec::new();
            with_words(&key.shape, &mut shapes);
            shapes.dedup_by_key(|shape| shape.words());
            for shape in shapes {
                keys += 1;
                each(key, &section.slug(), section.title, &shape.words());
            }
        }
    }
    assert!(keys > 20, "{keys} keys have words");
}

fn read(text: &str) -> Result<Scenario, String> {
    let file = File::parse("words.toml", text).map_err(|e| e.to_string())?;
    let points = file.points(&CATALOGUE, None).map_err(|e| e.to_string())?;
    points.into_iter().next().ok_or("no point".into())
}

/// Returns a scenario in which `key` is `word`.
fn scenario(key: &str, title: &str, word: &str) -> String {
    let [mut head, mut link, mut flow, mut more] = [const { String::new() }; 4];
    let own: &mut String = match title {
        "The file" => &mut head,
        "[flow.NAME]" | "each" => &mut flow,
        _ => &mut link,
    };
    let expect = |keys: &str| format!("[[expect]]\nof = \"a\"\n{keys}\n");
    let (mut controller, mut queue) = ("newreno", "droptail");
    // A count of packets and a plain ratio are written in the same way.
    let count = "metric = \"retransmissions\"\nat_least = 0.5";
    match (key, title) {
        ("figure", _)
        | ("demand" | "as" | "record" | "processing", "[flow.NAME]" | "each")
        | ("jitter" | "reorder" | "policer" | "shaper" | "ack_aggregation", _) => {
            *own = format!("{key} = \"{word}\"");
        }
        ("link_model", _) => head = format!("fluid = {{ link_model = \"{word}\" }}"),
        ("signal", _) => {
            controller = "monaco";
            flow = format!("tunnel = {{ signal = \"{word}\" }}");
        }
        ("direction", _) => {
            let change = "at = \"1 s\"\nlink = \"bottleneck\"\ndelay = \"3 ms\"";
            more = format!("[[event]]\n{change}\ndirection = \"{word}\"");
        }
        ("metric", _) => {
            let metric: Metric = word.parse().expect("a word of the metrics");
            let of = match metric.of() {
                Of::Flow | Of::Group | Of::Transfer => "a",
                Of::Link => "bottleneck",
                Of::Aggregate => "bottleneck.default",
            };
            let least = match metric.unit() {
                MetricUnit::BitPerSecond => "\"1 bps\"",
                MetricUnit::Bytes => "\"1 B\"",
                MetricUnit::Seconds => "\"1 ms\"",
                MetricUnit::Packets | MetricUnit::Ratio => "0.5",
            };
            queue = "bat";
            more = format!("[[expect]]\nmetric = \"{word}\"\nof = \"{of}\"\nat_least = {least}\n");
        }
        ("over" | "across" | "claim", _) | ("engine", "[[expect]]") => {
            more = expect(&format!("{count}\n{key} = \"{word}\""));
        }
        ("why", _) => {
            let fails = format!("why = \"{word}\", because = \"so\", measured = 0.25");
            more = expect(&format!("{count}\nfails = {{ {fails} }}"));
        }
        ("engine", "[[expect.fails]]") => {
            let fails = "why = \"ours\", because = \"so\", measured = 0.25";
            let fails = format!("fails = {{ {fails}, engine = \"{word}\" }}");
            more = expect(&format!("{count}\nengine = \"{word}\"\n{fails}"));
        }
        _ => panic!("`{key}` of {title} has words: this test needs a scenario with it"),
    }
    format!(
        "duration = \"10 s\"\n{head}\n\
         [topology.dumbbell]\nrate = \"8 Mbps\"\ndelay = \"20 ms\"\nqueue = \"{queue}\"\n{link}\n\
         [flow.a]\ncount = 2\nfrom = \"left\"\nto = \"right\"\n\
         controller = \"{controller}\"\n{flow}\n{more}\n"
    )
}

#[test]
fn every_word_is_read_and_printed() {
    every_key(|key, _, title, words| {
        for word in words {
            let text = scenario(key.name, title, word);
            let read_once = read(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
            let printed = print(&read_once);
            let again = read(&printed).unwrap_or_else(|e| panic!("{printed}\n{e}"));
            assert!(read_once == again, "`{}` as \"{word}\": {printed}", key.name);
        }
        let text = scenario(key.name, title, words[0]);
        let text = text.replace(&format!("\"{}\"", words[0]), "\"no-word\"");
        assert!(read(&text).is_err(), "`{}` takes any word: {text}", key.name);
    });
    let limit = "queue = { discipline = \"droptail\", limit = \"unlimited\" }";
    let text = scenario("figure", "The file", "throughput");
    let text = text.replace("queue = \"droptail\"", limit);
    let unlimited = read(&text).expect("a scenario");
    assert!(read(&print(&unlimited)).expect("a scenario") == unlimited);
}

#[test]
fn every_word_is_in_the_schema_the_reference_and_the_messages() {
    let schema = schema(&CATALOGUE);
    let reference = reference();
    every_key(|key, slug, _, words| {
        let of_schema = schema["$defs"][slug]["properties"][key.name].to_string();
        // A key of several tables has its row in the first one.
        let rows = reference.iter().flat_map(|table| table.markdown.lines());
        let start = format!("| `{}` |", key.name);
        let of_reference: String = rows.filter(|row| row.starts_with(&start)).collect();
        let message = key.shape.expected();
        for word in words {
            let alone = [format!("\"{word}\""), format!("({word}|"), format!("|{word}|")];
            let stands = alone.iter().any(|form| of_schema.contains(form));
            assert!(stands, "\"{word}\" of `{}` in {of_schema}", key.name);
            let quoted = &alone[0];
            assert!(of_reference.contains(quoted), "{quoted} in {of_reference}");
            assert!(message.contains(quoted), "{quoted} in {message}");
        }
        if let Default::Value(word) = key.default {
            assert!(words.contains(&word), "`{}` is \"{word}\" by default", key.name);
        }
    });
}
