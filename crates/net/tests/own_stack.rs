//! `examples/own-stack`: its sources and its tests, unchanged.

#[path = "../../../examples/own-stack/src/lib.rs"]
mod stack;

#[path = "../../../examples/own-stack/tests/duel.rs"]
mod duel;

// The tests of the example name it as a crate.
extern crate self as own_stack;
pub use stack::{NUMBER, Receiver, Sender};

use std::path::Path;

/// The dependency of the example is this crate, by its path, and the page shows the example.
#[test]
fn the_example_is_a_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/own-stack");
    let read = |path: &Path| std::fs::read_to_string(path).expect("text");
    let manifest = read(&root.join("Cargo.toml"));
    let path = manifest.lines().find_map(|line| line.strip_prefix("accord-net = { path = \""));
    let path = root.join(path.expect("a dependency").trim_end_matches("\" }"));
    assert!(read(&path.join("Cargo.toml")).contains("name = \"accord-net\"\n"));
    let page = read(&root.join("../../docs/src/stacks.md"));
    for file in ["tests/duel.toml", "tests/duel.rs"] {
        assert!(root.join(file).is_file());
        assert!(page.contains(&format!("{{{{#include ../../examples/own-stack/{file}}}}}")));
    }
}
