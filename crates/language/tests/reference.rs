//! The reference of the language in the documentation matches the reader of files.

use accord_language::reference;
use std::fs;

const BEGIN: &str = "<!-- keys -->";
const END: &str = "<!-- end of keys -->";

/// Run with UPDATE_DOCS=1 to write it.
#[test]
fn the_reference_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/scenario.md");
    let old = fs::read_to_string(path).expect("the documentation is there");
    let (head, rest) = old.split_once(BEGIN).expect("the page has a place for it");
    let (_, tail) = rest.split_once(END).expect("the place has an end");
    let tables: String = reference()
        .iter()
        .map(|t| format!("## {}\n\n{}\n", t.title.replace('[', "\\["), t.markdown))
        .collect();
    let new = format!("{head}{BEGIN}\n\n{tables}{END}{tail}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, new).expect("writable");
    } else {
        assert!(
            old == new,
            "out of date; UPDATE_DOCS=1 cargo test -p accord-scenario --test reference"
        );
    }
}
