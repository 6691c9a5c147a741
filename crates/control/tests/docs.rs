//! The tables of parameters in the documentation are those of the families.

use accord_control::FAMILIES;
use accord_family::fill_tables;
use std::fs;

/// Run with UPDATE_DOCS=1 to write them.
#[test]
fn the_tables_of_parameters_are_up_to_date() {
    let pages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/models");
    for page in fs::read_dir(pages).expect("the documentation is there") {
        let path = page.expect("readable").path();
        let old = fs::read_to_string(&path).expect("readable");
        let new = fill_tables(&old, FAMILIES);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, new).expect("writable");
        } else {
            assert!(
                old == new,
                "{} is out of date; UPDATE_DOCS=1 cargo test -p accord-control --test docs",
                path.display()
            );
        }
    }
}
