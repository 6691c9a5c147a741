//! TOML files written by people: the reader shared by all kinds of files.
//!
//! A text becomes a tree in which each value knows its place ([`Table`]). Key tables ([`Section`]) define the
//! keys of a table, the form of their values and their meaning. The check against them ([`Checker`]) reports
//! all problems at once, with places and hints. Then a [`Reader`] takes the values. The JSON Schema
//! ([`schema()`]) and the reference ([`reference()`]) come from the same tables.
//!
//! ```
//! use accord_form::{Checked, Default, Section, Shape, Source, key, section, tree};
//! use std::sync::Arc;
//!
//! const FILE: Section<Checked> = section("The file", "A link.", &[
//!     key("rate", Shape::Rate, Default::Required, "Its rate."),
//!     key("loss", Shape::Probability, Default::Value("0"), "Its losses."),
//! ]);
//! let text = "rate = \"30 parsecs\"\nlos = 0.5";
//! let source = Arc::new(Source { name: "link.toml".into(), text: text.into() });
//! let errors: Vec<_> = tree(&source, &FILE, &()).unwrap_err().into_iter().collect();
//! assert_eq!(errors.len(), 2);
//! assert_eq!(errors[1].to_string(), "link.toml:2:1: unknown key \"los\"\n  hint: did you mean \"loss\"?");
//! ```

mod check;
mod error;
pub mod limits;
pub mod read;
mod reference;
pub mod schema;
mod shape;
mod tree;

pub use check::{Check, Checker};
pub use error::{
    Errors, Problem, Problems, Source, Span, TextError, fail, nearest, quote, suggest,
};
pub use read::Reader;
pub use reference::{KeyTable, in_code, reference, sections};
pub use schema::schema;
pub use shape::{Checked, Default, Key, Own, Section, Shape, key, one_of, section};
pub use tree::{Data, Entry, Table, Value, split};

use std::sync::Arc;

/// Reads a text as a tree of this form.
///
/// # Errors
/// Fails with all deviations from the key tables.
pub fn tree<X: Check>(
    source: &Arc<Source>,
    file: &'static Section<X>,
    context: &X::Context,
) -> Result<Table, Errors> {
    prepared(source, file, context, |_| ())
}

/// Reads a text as [`tree`] does, after a change to its tables, such as defaults of the file.
///
/// # Errors
/// Fails as [`tree`] does.
pub fn prepared<X: Check>(
    source: &Arc<Source>,
    file: &'static Section<X>,
    context: &X::Context,
    prepare: impl FnOnce(&mut Table),
) -> Result<Table, Errors> {
    let sources = std::slice::from_ref(source);
    let mut tree = Table::parse(&source.text, 0).map_err(|problem| problem.locate(sources))?;
    prepare(&mut tree);
    let mut problems = Problems::default();
    Checker { context, problems: &mut problems }.table(&tree, Span::default(), file);
    problems.check(sources)?;
    Ok(tree)
}
