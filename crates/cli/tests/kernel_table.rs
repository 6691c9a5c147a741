//! The book's table of the kernel's and our controllers matches the measurements. `UPDATE_DOCS=1`
//! writes it; `tools/kernel/table.py` measures.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- table of: docs/examples/kernel-table.csv -->\n";
const END: &str = "<!-- end of table -->";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Mean and half-width.
type Measured = (f64, f64);

/// Returns the measurements by setting, algorithm and quantity, in the order of the file, and by
/// implementation.
fn measured() -> Vec<([String; 3], BTreeMap<String, Measured>)> {
    let file = root().join("docs/examples/kernel-table.csv");
    let mut reader = csv::Reader::from_path(file).expect("the measurements");
    let mut found: Vec<([String; 3], BTreeMap<String, Measured>)> = Vec::new();
    for record in reader.records() {
        let record = record.expect("a row");
        let text = |i: usize| record[i].to_string();
        let number = |i: usize| record[i].parse::<f64>().expect("a number");
        let key = [text(0), text(1), text(3)];
        let at = found.iter().position(|(known, _)| *known == key);
        let at = at.unwrap_or_else(|| {
            found.push((key, BTreeMap::new()));
            found.len() - 1
        });
        assert_eq!(&record[7], "3", "three repetitions");
        let known = found[at].1.insert(text(2), (number(5), number(6)));
        assert!(known.is_none(), "{record:?} is there twice");
    }
    found
}

/// Returns the table as Markdown. A deviation is that of the means. The time of a single file varies
/// too much for three repetitions, and is left out.
fn table() -> String {
    let mut out = String::from(
        "| setting | algorithm | quantity | packets | ours, live | the kernel's, live | of packets | of ours, live |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for ([setting, algorithm, quantity], by) in measured() {
        let (name, unit, factor) = match &quantity[..] {
            "throughput" => ("throughput", "Mbps", 1e-6),
            "rtt" => ("round-trip time", "ms", 1e3),
            "retransmissions" => ("packets sent again", "", 1.0),
            "completion_time" => continue,
            other => panic!("{other} has no name"),
        };
        let show = |(mean, half): Measured| {
            format!("{:.2} ± {:.2} {unit}", mean * factor, half * factor).trim_end().to_string()
        };
        let (packets, ours, kernel) = (by["packets"], by["ours, live"], by["kernel, live"]);
        let of = |other: Measured| {
            if other.0 > 0.0 {
                format!("{:+.1} %", 100.0 * (kernel.0 / other.0 - 1.0))
            } else {
                "–".into()
            }
        };
        writeln!(
            out,
            "| {setting} | {algorithm} | {name} | {} | {} | {} | {} | {} |",
            show(packets),
            show(ours),
            show(kernel),
            of(packets),
            of(ours)
        )
        .expect("a string takes all");
    }
    out
}

/// Compares the table of a page after its first line `begin`, or writes it with `UPDATE_DOCS=1`.
pub fn is_in(page: &str, begin: &str, table: &str) {
    let page = root().join("docs/src").join(page);
    let text = fs::read_to_string(&page).expect("the page");
    let (before, rest) = text.split_once(begin).expect("the page has the table");
    let (shown, after) = rest.split_once(END).expect("the table ends");
    let table = format!("\n{table}\n");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&page, format!("{before}{begin}{table}{END}{after}")).expect("written");
        return;
    }
    assert_eq!(shown, table, "UPDATE_DOCS=1 writes it");
}

#[test]
fn the_table_of_the_book_is_that_of_the_measurements() {
    is_in("validation.md", BEGIN, &table());
}

/// Three settings, three algorithms, four quantities, each of packets, ours and the kernel's.
#[test]
fn nothing_is_missing_in_the_measurements() {
    let all = measured();
    assert_eq!(all.len(), 3 * 3 * 4);
    for (key, by) in all {
        assert_eq!(by.len(), 3, "{key:?}");
    }
}
