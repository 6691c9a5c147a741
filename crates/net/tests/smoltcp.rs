//! `integrations/smoltcp`: its sources and its tests, unchanged, and the table of the page.

#[path = "../../../integrations/smoltcp/src/lib.rs"]
mod stack;

#[path = "../../../integrations/smoltcp/tests/networks.rs"]
mod networks;

mod integration;

// The tests of the integration name it as a crate.
extern crate self as accord_smoltcp;
pub use stack::{CongestionControl, with};

#[test]
fn the_page_has_the_figures() {
    let alone = include_str!("../../../integrations/smoltcp/tests/alone.toml");
    integration::page_has(
        alone,
        [
            ("its CUBIC", CongestionControl::Cubic),
            ("its Reno", CongestionControl::Reno),
            ("no congestion control", CongestionControl::None),
        ]
        .map(|(name, control)| (name, move || with(control))),
    );
}

/// The tests here compile the integration with the same dependency as its manifest.
#[test]
fn the_integration_has_the_same_dependencies() {
    integration::has_same_dependency(
        "smoltcp",
        include_str!("../../../integrations/smoltcp/Cargo.toml"),
    );
}
