//! Every source that code, book and scenarios cite is on the page of references.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A source in `docs/references.toml`.
struct Source {
    key: String,
    authors: String,
    title: String,
    published: String,
    used_for: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources() -> Vec<Source> {
    let path = root().join("docs/references.toml");
    let text = fs::read_to_string(&path).expect("the references are there");
    let table: toml::Table = text.parse().expect("TOML");
    let source = |(key, value): (&String, &toml::Value)| {
        let field = |name: &str| {
            let text = value.get(name).and_then(toml::Value::as_str);
            let text = text.unwrap_or_else(|| panic!("{key} has no {name}"));
            text.to_string()
        };
        Source {
            key: key.clone(),
            authors: field("authors"),
            title: field("title"),
            published: field("published"),
            used_for: field("use"),
        }
    };
    table.iter().map(source).collect()
}

/// Returns the text files of the product that may cite: code, book, scenarios.
fn citing_files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = ["crates", "gateway", "integrations", "docs", "scenarios"]
        .map(|name| root().join(name))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let ending = path.extension().and_then(|e| e.to_str());
            if matches!(ending, Some("rs" | "md" | "toml")) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the keys in a text: a name, two digits of a year, optionally a letter, at the start of
/// brackets or after a comma in them, as in `[Xia05 eq. 10, KS01]`.
fn keys(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in text.split('[').skip(1) {
        let Some((inside, after)) = part.split_once(']') else {
            continue;
        };
        // A link's text is not a citation.
        if after.starts_with('(') || inside.contains('\n') && inside.contains("```") {
            continue;
        }
        for item in inside.split([',', ';']) {
            let word = item.trim().split(char::is_whitespace).next();
            let word = word.unwrap_or_default();
            if is_key(word) {
                found.insert(word.to_string());
            }
        }
    }
    found
}

fn is_key(word: &str) -> bool {
    let letters = word.chars().take_while(char::is_ascii_alphabetic).count();
    let rest = &word[letters..];
    letters >= 2
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && rest.len() == 2
        && rest.chars().all(|c| c.is_ascii_digit())
}

fn page(sources: &[Source]) -> String {
    let mut page = String::from(
        "# References\n\nThe sources that the book, the code and the scenarios cite by key, as in \
         `[Xia05 eq. 10]`. RFCs are cited by number; their texts are at \
         <https://www.rfc-editor.org>.\n\nThis page is made from `docs/references.toml` by \
         `UPDATE_DOCS=1 cargo test -p accord-cli --test all references`.\n\n",
    );
    for s in sources {
        writeln!(
            page,
            "- **{}**: {}. *{}.* {}. Used here for: {}.",
            s.key, s.authors, s.title, s.published, s.used_for
        )
        .expect("a string takes all");
    }
    page
}

#[test]
fn every_citation_resolves() {
    let known: BTreeSet<String> = sources().into_iter().map(|s| s.key).collect();
    let mut unknown: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut cited = BTreeSet::new();
    for path in citing_files() {
        // Examples of documentation, invented by this test and that of parameters.
        if path.ends_with("references.rs") || path.ends_with("family/src/markdown.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        for key in keys(&text) {
            if !known.contains(&key) {
                unknown.insert(key.clone(), path.clone());
            }
            cited.insert(key);
        }
    }
    assert!(unknown.is_empty(), "cited, but not in docs/references.toml: {unknown:?}");
    assert!(cited.len() > 5, "citations are found at all: {cited:?}");
}

#[test]
fn the_page_of_references_is_up_to_date() {
    let path = root().join("docs/src/references.md");
    let new = page(&sources());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, new).expect("writable");
        return;
    }
    let old = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        old == new,
        "docs/src/references.md is out of date: UPDATE_DOCS=1 cargo test -p accord-cli --test all references"
    );
}

#[test]
fn keys_are_found_where_they_are_cited() {
    let text = "as in [Xia05 eq. 10, KS01] but not [this](page.md), [RFC 5681] or `a[12]`";
    let found: Vec<String> = keys(text).into_iter().collect();
    assert_eq!(found, ["KS01", "Xia05"]);
}
