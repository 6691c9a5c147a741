//! Links between the pages of the documentation lead to existing pages and headings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages of the book, by path.
fn book() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the lines of a page outside of code blocks.
fn prose(page: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push(line);
        }
    }
    lines
}

/// Returns the targets of a page's links and images, without web addresses.
fn targets(page: &str) -> Vec<String> {
    let text = prose(page).join("\n");
    let ends = text.split("](").skip(1);
    let targets = ends.filter_map(|after| after.split_once(')'));
    targets.map(|(target, _)| target.to_string()).filter(|target| !target.contains("://")).collect()
}

/// Returns the anchors of a page's headings, as mdbook generates them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for heading in prose(page).iter().filter(|line| line.starts_with('#')) {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
            _ => None,
        });
        let anchor: String = kept.collect();
        let before = times.entry(anchor.clone()).or_default();
        found.insert(match *before {
            0 => anchor,
            n => format!("{anchor}-{n}"),
        });
        *before += 1;
    }
    found
}

/// Returns the broken links of a file.
fn broken(file: &Path, page: &str) -> Vec<String> {
    let folder = file.parent().expect("a file is in a folder");
    let mut broken = Vec::new();
    for target in targets(page) {
        let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let other = if path.is_empty() {
            Some(page.to_string())
        } else if path.ends_with(".md") {
            fs::read_to_string(folder.join(path)).ok()
        } else {
            folder.join(path).exists().then(String::new)
        };
        let there = other.is_some_and(|text| anchor.is_empty() || anchors(&text).contains(anchor));
        if !there {
            broken.push(format!("{}: {target}", file.display()));
        }
    }
    broken
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut files = book();
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md"] {
        files.push(root().join(name));
    }
    let mut links = 0;
    let mut wrong = Vec::new();
    for file in files {
        let page = fs::read_to_string(&file).expect("text");
        links += targets(&page).len();
        wrong.extend(broken(&file, &page));
    }
    assert!(wrong.is_empty(), "these lead nowhere:\n{}", wrong.join("\n"));
    assert!(links > 100, "links are found at all: {links}");
}

#[test]
fn every_page_is_in_the_summary() {
    let folder = root().join("docs/src");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).expect("a summary");
    let listed = targets(&summary);
    for page in book() {
        let path = page.strip_prefix(&folder).expect("a page of the book");
        let path = path.to_str().expect("a plain name");
        let times = listed.iter().filter(|target| *target == path).count();
        let expected = usize::from(path != "SUMMARY.md");
        assert_eq!(times, expected, "{path} in SUMMARY.md");
    }
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let file = root().join("docs/src/start.md");
    let page = "# One\n\n## `a` and [b.c]\n\n## One\n\n[x](#one), [x](#one-1), [x](#a-and-bc)\n\
                [x](start.md), [x](../book.toml), [x](https://example.org/none)\n\
                ```\n[x](#in-code)\n## In code\n```\n";
    assert_eq!(broken(&file, page), [] as [&str; 0]);
    for nowhere in ["#two", "#one-2", "none.md", "start.md#none", "#in-code", "none.svg"] {
        let found = broken(&file, &format!("{page}[x]({nowhere})\n"));
        assert_eq!(found.len(), 1, "{nowhere}");
        assert!(found[0].ends_with(nowhere), "{found:?}");
    }
}
