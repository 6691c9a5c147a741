//! The scenario language: from the text of a file to [`Scenario`](accord_scenario::Scenario)s.
//!
//! A text becomes a tree in which each value knows its place (`tree`). `--set` and sweeps put other
//! values into the tree. The form of the tree is checked against the key tables (`shape`, `keys`,
//! `check`). Then names and defaults are resolved (`resolve`).

mod check;
mod error;
mod family;
mod figure;
mod file;
#[rustfmt::skip] // a table reads better with one row a line
mod keys;
mod limits;
mod read;
mod reference;
mod resolve;
mod schema;
mod shape;
mod sweep;
mod tree;

pub use error::{Errors, ScenarioError, Source};
pub use file::File;
pub use reference::{KeyTable, reference};
pub use schema::schema;
