//! The numbers of a study that no command prints.
//!
//! In `## Result` and `## Consequence`, or `### Result: SUBJECT` on a page of several studies, a
//! number with a decimal point, or with a unit, has to stand with the same digits in a block of the
//! page that a command reprints, or as a setting in the parts above (`## Question`, `## Method`, `## Command`, `## Analysis`, blocks of scenarios) or
//! between backticks. Two comments excuse the others:
//!
//! - `<!-- not measured: REASON -->`: the table, block or paragraph after it, and repetitions of a
//!   table's numbers. A sentence of the page should state the same to its readers.
//! - `<!-- settings: 5 %, 0.3 -->`: these numbers, anywhere on the page: thresholds and settings.
//!
//! Limits. Whole numbers without a unit and numbers in words are not checked. A number may occur in
//! a block by chance, or with another meaning. A reprinted block does not prove the sentence about
//! its number. Numbers of other sections, such as limits and bounds, are not checked, and neither
//! are pages that are not studies.

use super::page::{Page, TABLE};
use std::collections::BTreeSet;

/// The units that make a whole number a measurement.
const UNITS: &[&str] = &[
    "%", "°", "bps", "Kbps", "Mbps", "Gbps", "kB", "B", "KB", "MB", "GB", "bytes", "packet",
    "packets", "pkt", "us", "µs", "ms", "s", "seconds", "minutes", "checks", "times",
];

/// Words between numbers that share a unit.
const BETWEEN: &[&str] = &["to", "and", "or", "of", "±", "–", "/", ":"];

/// Returns the number in a word, without signs and surrounding punctuation. Sections do not count.
fn number(word: &str) -> Option<&str> {
    if word.starts_with('§') {
        return None;
    }
    let word = word.trim_matches(|c: char| !c.is_ascii_digit());
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = word.split('.').collect();
    (parts.len() <= 2 && parts.iter().all(|p| digits(p))).then_some(word)
}

/// Returns all numbers of a text.
fn all(text: &str) -> BTreeSet<String> {
    let pieces = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    pieces.filter_map(number).map(str::to_string).collect()
}

/// Returns the numbers in a line that have a decimal point or a unit.
fn stated(line: &str) -> BTreeSet<String> {
    let outside_code: String = { line.split('`').step_by(2) }.collect::<Vec<_>>().join(" ` ");
    let spaced = outside_code.replace(['|', '(', ')', ';', '*'], " ");
    let (mut found, mut unit) = (BTreeSet::new(), false);
    for word in spaced.split_whitespace().rev() {
        let bare = word.trim_end_matches(['.', ',', ':']);
        if UNITS.contains(&bare) {
            unit = true;
        } else if let Some(number) = number(word) {
            // A sentence ends after the number, so no unit of the next one belongs to it.
            unit &= !word.ends_with('.');
            if unit || number.contains('.') {
                found.insert(number.to_string());
            }
        } else if !BETWEEN.contains(&word) {
            unit = false;
        }
    }
    found
}

/// Returns the unsupported numbers of a page, each with its line.
pub fn loose(page: &Page) -> Vec<String> {
    let (mut known, mut judged) = (BTreeSet::new(), false);
    let mut lines = Vec::new();
    let mut excused = false;
    for (i, line) in page.lines.iter().enumerate() {
        let block = page.blocks.iter().find(|b| b.lines.contains(&i));
        if (line.starts_with("## ") || line.starts_with("### ")) && block.is_none() {
            judged = ["## Result", "## Consequence"].contains(&line.as_str())
                || line.starts_with("### Result");
        }
        let remark = block.and_then(|b| b.remark.as_deref()).unwrap_or_default();
        let printed = ["output of: ", "messages of: ", "file: "];
        if let Some(settings) = line.strip_prefix("<!-- settings: ") {
            known.extend(all(settings));
        } else if printed.iter().any(|key| remark.starts_with(key)) {
            known.extend(all(line));
        } else if line.starts_with("<!-- ") {
            excused = line.starts_with("<!-- not measured: ");
        } else if let Some(block) = block {
            // Its own remark, or that of its section before a sentence.
            let of_text = block.language == "text" || block.language == TABLE;
            if !judged || !of_text || remark.starts_with("not measured: ") {
                known.extend(all(line));
            } else {
                lines.push((i, line));
            }
        } else if line.is_empty() {
            // A comment may be followed by an empty line.
            excused &= i > 0 && page.lines[i - 1].starts_with("<!-- ");
        } else if !judged {
            known.extend(all(line));
        } else {
            known.extend(line.split('`').skip(1).step_by(2).flat_map(all));
            if !excused {
                lines.push((i, line));
            }
        }
    }
    let wrong = lines.into_iter().filter_map(|(i, line)| {
        let loose: Vec<String> = stated(line).difference(&known).cloned().collect();
        let place = i + 1;
        (!loose.is_empty()).then(|| format!("{place}: {} not reprinted", loose.join(", ")))
    });
    wrong.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        loose(&Page::new(text))
    }

    #[test]
    fn a_number_that_no_command_prints_is_found() {
        let table = "<!-- output of: accord run x -->\n| a |\n|---|\n| 37.0 Mbps |\n";
        let said = |sentence: &str| of(&format!("## Result\n\n{table}\n{sentence}\n"));
        assert!(said("It gets 37.0 Mbps of 100 or more, in 3 runs.").is_empty());
        assert_eq!(said("It gets 36.5 Mbps."), ["8: 36.5 not reprinted"]);
        assert_eq!(said("From 5 to 12 % are lost."), ["8: 12, 5 not reprinted"]);
        assert_eq!(said("It fails 10 of 31 checks."), ["8: 10, 31 not reprinted"]);
        assert_eq!(said("| a |\n|---|\n| 12.5 |"), ["10: 12.5 not reprinted"]);
        let below = format!("## One\n\n### Result: one\n\n{table}\nIt gets 36.5 Mbps.\n");
        assert_eq!(of(&below), ["10: 36.5 not reprinted"]);
        assert_eq!(said("(0.21), in 1.0"), ["8: 0.21, 1.0 not reprinted"]);
    }

    #[test]
    fn settings_and_what_is_marked_are_excused() {
        let text =
            "## Method\n\nA link of 20 Mbps.\n\n## Result\n\nOf 20 Mbps `gain=0.1` is 0.1.\n";
        assert!(of(text).is_empty());
        let settings = "<!-- settings: 5 %, 0.3 -->\n## Result\n\nWithin 5 %, at 0.3 or 0.4.\n";
        assert_eq!(of(settings), ["4: 0.4 not reprinted"]);
        let marked =
            "## Result\n\n<!-- not measured: an old machine -->\nIt took 3 s.\n\nNow 4 s.\n";
        assert_eq!(of(marked), ["6: 4 not reprinted"]);
        let table =
            "## Result\n\n<!-- not measured: a form that is gone -->\n| a |\n| 3 s |\n\nNow 4 s.\n";
        assert_eq!(of(table), ["7: 4 not reprinted"]);
    }
}
