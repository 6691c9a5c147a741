//! `integrations/noq`: its sources and its tests, unchanged, and the table of the page.

#[path = "../../../integrations/noq/src/lib.rs"]
mod stack;

#[path = "../../../integrations/noq/tests/networks.rs"]
mod networks;

mod integration;

// The tests of the integration name it as a crate.
extern crate self as accord_noq;
pub use stack::{CongestionControl, with};

#[test]
fn the_page_has_the_figures() {
    let alone = include_str!("../../../integrations/noq/tests/alone.toml");
    integration::page_has(
        alone,
        [("its CUBIC", CongestionControl::Cubic), ("its NewReno", CongestionControl::NewReno)]
            .map(|(name, control)| (name, move || with(control))),
    );
}

/// The tests here compile the integration with the dependencies of its manifest.
#[test]
fn the_integration_has_the_same_dependencies() {
    integration::has_same_dependency(
        "noq-proto",
        include_str!("../../../integrations/noq/Cargo.toml"),
    );
}
