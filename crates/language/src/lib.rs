//! The scenario language: from the text of a file to [`Scenario`](accord_scenario::Scenario)s.
//!
//! The text is parsed into a tree in which each value knows its place ([`accord_form::Table`]). `--set` and
//! sweeps replace values in the tree (`path`). The form of the tree is checked against the key tables
//! (`shape`, `keys`). Then names and defaults are resolved (`resolve`).
//!
//! ```
//! use accord_family::Catalogue;
//! use accord_language::File;
//!
//! let catalogue = Catalogue {
//!     controllers: accord_control::FAMILIES,
//!     disciplines: accord_aqm::FAMILIES,
//! };
//! let text = r#"
//!     duration = "10 s"
//!     [sweep.rate]
//!     set = ["topology.dumbbell.rate"]
//!     values = ["8 Mbps", "16 Mbps"]
//!     [topology.dumbbell]
//!     rate = "8 Mbps"
//!     delay = "20 ms"
//!     [flow.a]
//!     from = "left"
//!     to = "right"
//!     controller = "vegas"
//! "#;
//! let points = File::parse("small.toml", text)?.points(&catalogue, None)?;
//! assert_eq!(points.len(), 2);
//! assert_eq!(points[1].point, [("rate".to_string(), "16 Mbps".to_string())]);
//!
//! // An error has its place, a message and a hint.
//! let wrong = text.replace("vegas", "vega");
//! let errors = File::parse("small.toml", &wrong)?.points(&catalogue, None).unwrap_err();
//! let error = errors.iter().next().expect("there is one");
//! assert_eq!(error.line, 12);
//! println!("{}; {:?}", error.message, error.hint);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod events;
mod family;
mod figure;
mod file;
#[rustfmt::skip] // a table reads better with one row per line
mod keys;
mod limits;
mod line;
mod own;
mod path;
mod read;
mod resolve;
mod schema;
mod shape;
mod sweep;
#[cfg(test)]
mod tests;
mod trace;

pub use accord_form::{Errors, KeyTable, Source, TextError, suggest};
pub use file::File;
pub use limits::TEXT as LONGEST_TEXT;
pub use schema::schema;
pub use trace::parse as parse_trace;

/// Returns every kind of table that a scenario file may have, with its keys.
pub fn reference() -> Vec<KeyTable> {
    accord_form::reference(&keys::FILE)
}
