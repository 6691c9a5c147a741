//! The book's table of contracts alongside the kernel's TCP matches the measurements. `UPDATE_DOCS=1` writes it;
//! `gateway/tools/matrix.py --csv` measures.

use crate::kernel_table::is_in;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

const FILE: &str = "docs/examples/gateway-kernel.csv";
const BEGIN: &str = "<!-- table of: docs/examples/gateway-kernel.csv -->\n";
/// The buffers, in products of rate and round trip.
const BUFFERS: [&str; 4] = ["0.3", "1", "4", "10"];

/// The parts of both contracts that were kept, in percent.
type Kept = [u32; 2];

/// A row: the round trip and the traffic alongside, and the kept parts by buffer and system.
type Row = ([String; 2], BTreeMap<[String; 2], Kept>);

/// Returns the rows of the table by round trip.
fn measured() -> Vec<Row> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE);
    let mut reader = csv::Reader::from_path(file).expect("the measurements");
    let mut rows: Vec<Row> = Vec::new();
    for record in reader.records() {
        let record = record.expect("a row");
        let text = |i: usize| record[i].to_string();
        let key = [text(0), text(1)];
        let at = rows.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            rows.push((key, BTreeMap::new()));
            rows.len() - 1
        });
        let kept = [4, 5].map(|i: usize| record[i].parse().expect("a number"));
        let known = rows[at].1.insert([text(2), text(3)], kept);
        assert!(known.is_none(), "{record:?} is there twice");
    }
    rows.sort_by_key(|(key, _)| key[0].parse::<u32>().expect("ms"));
    rows
}

/// Returns the table as Markdown. Contracts that do not hold are bold.
fn table() -> String {
    let mut out = String::from(
        "| round trip | alongside | 0.3 BDP | 1 BDP | 4 BDP | 10 BDP |\n|---|---|---|---|---|---|\n",
    );
    for ([round_trip, alongside], kept) in measured() {
        write!(out, "| {round_trip} ms | {alongside} |").expect("a string takes all");
        let least = if alongside.contains("bbr") { 85 } else { 95 };
        for buffer in BUFFERS {
            let of = |system: &str| kept.get(&[buffer.into(), system.into()]);
            let cell = match (of("gateway"), of("wireguard")) {
                (Some([a, b]), Some([c, d])) if *a.min(b) < least => {
                    format!("**{a}, {b}** ({c}, {d})")
                }
                (Some([a, b]), Some([c, d])) => format!("{a}, {b} ({c}, {d})"),
                _ => "–".into(),
            };
            write!(out, " {cell} |").expect("a string takes all");
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_table_of_the_book_is_that_of_the_measurements() {
    is_in("gateway.md", BEGIN, &table());
}
