//! The format of REPETITA: sections NODES and EDGES, an entry per line. Edges are directed,
//! name nodes by their number from 0, and have rates in kbit/s and delays in microseconds.

use crate::attribute::{Meaning, Property, finite};
use crate::builder::{Builder, Properties};
use crate::error::{ImportError, quote};
use crate::topology::Topology;

#[derive(Clone, Copy)]
enum Section {
    Nodes,
    Edges,
}

pub(crate) fn read(text: &str) -> Result<Topology, ImportError> {
    let mut builder = Builder::new(true);
    let (mut section, mut nodes) = (None, 0);
    for (i, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => {}
            [first, ..] if first.starts_with('#') => {}
            ["NODES", ..] => section = Some(Section::Nodes),
            ["EDGES", ..] => section = Some(Section::Edges),
            // The names of the columns.
            ["label", "x" | "src", ..] => {}
            _ => {
                let read = match section {
                    Some(Section::Nodes) => {
                        nodes += 1;
                        node(&mut builder, nodes - 1, &words, i + 1)
                    }
                    Some(Section::Edges) => edge(&mut builder, &words, i + 1),
                    None => Err(form(&words, "NODES or EDGES", i + 1)),
                };
                builder.record(read);
            }
        }
    }
    builder.finish()
}

fn form(words: &[&str], expected: &str, line: usize) -> ImportError {
    let found = quote(&words.join(" "));
    ImportError::at(line, format!("expected {expected}, not {found}"))
}

fn node(
    builder: &mut Builder,
    number: usize,
    words: &[&str],
    line: usize,
) -> Result<(), ImportError> {
    let numbers = |x, y| finite(x).zip(finite(y));
    let [label, x, y] = words else {
        return Err(form(words, "`LABEL X Y`", line));
    };
    let index = builder.node(&number.to_string(), label, line)?;
    // Without places, all are at zero.
    if let Some((x, y)) = numbers(x, y).filter(|at| *at != (0.0, 0.0)) {
        builder.locate(index, Meaning::Property(Property::Longitude(x)));
        builder.locate(index, Meaning::Property(Property::Latitude(y)));
    }
    Ok(())
}

fn edge(builder: &mut Builder, words: &[&str], line: usize) -> Result<(), ImportError> {
    let expected = "`LABEL SRC DEST WEIGHT BW DELAY`";
    let [_, from, to, _, rate, delay] = words else {
        return Err(form(words, expected, line));
    };
    let ends = (builder.find(from, line)?, builder.find(to, line)?);
    let (Some(rate), Some(delay)) = (finite(rate), finite(delay)) else {
        return Err(form(words, expected, line));
    };
    if rate <= 0.0 || delay < 0.0 {
        return Err(form(words, "a rate above and a delay of at least zero", line));
    }
    let mut properties = Properties::default();
    for property in [Property::Rate(rate * 1e3), Property::Delay(delay * 1e-6)] {
        let taken = properties.take(Meaning::Property(property));
        debug_assert!(taken.is_ok(), "it is a quantity");
    }
    builder.link(ends, properties, line)
}
