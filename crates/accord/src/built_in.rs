//! The scenarios and the packs of evaluations that come with Accord.

/// The ids and texts of the scenarios that come with Accord.
pub const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// The files of the packs of evaluations that come with Accord: "PACK/NAME", and the text. "PACK/pack"
/// is the pack itself, and the others are scenarios.
pub const PACK_FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/packs.rs"));
