//! The scenarios that come with Accord.

/// The ids and texts of the scenarios that come with Accord.
pub const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));
