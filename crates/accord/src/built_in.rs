//! The scenarios and packs of evaluations that come with Accord, with their recorded results.
//!
//! The texts are statics, because a program may contain a constant once per use.

use accord_report::Papers;

/// The ids and texts of the scenarios that come with Accord.
pub static BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// The files of the packs of evaluations that come with Accord: "PACK/NAME", and the text. "PACK/pack"
/// is the pack itself, and the others are scenarios.
pub static PACK_FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/packs.rs"));

/// The files of the examples of the book, by their paths below `docs/examples`, and their bytes.
pub static EXAMPLES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// The recorded results of the scenarios, for [`Results::parse`](accord_report::Results::parse).
pub static RECORDED: &str = include_str!(env!("ACCORD_RESULTS"));

/// The recorded readings of the figures and tables of papers, for
/// [`Readings::parse`](accord_report::Readings::parse).
pub static RECORDED_READINGS: &str = include_str!(env!("ACCORD_READINGS"));

/// The text of [`papers`].
const FIGURES: &str = include_str!(env!("ACCORD_FIGURES"));

/// Returns the figures and tables of papers that the scenarios reproduce.
pub fn papers() -> Papers {
    toml::from_str(FIGURES).expect("a test reads the file that is built in")
}

/// The sections of packs that shipped families fail, with the reasons: "family | pack | section | reason" per
/// line, and comments.
pub static RECORDED_VERDICTS: &str = include_str!(env!("ACCORD_VERDICTS"));
