//! The commands of README.md and the book are run, and their output is compared.
//!
//! Each page has its own directory. A `toml` block that begins with `# NAME.toml:` is that file.
//! Commands of `sh` blocks run in the order of the page and have to end with exit code 0. `text`
//! blocks and Markdown tables are compared if an HTML comment before them names the command that
//! prints them. The comments:
//!
//! - `<!-- parsed only: REASON -->`: the commands are not run; their options have to be valid.
//! - `<!-- exit code: N -->`: the exit code of the commands.
//! - `<!-- append to: FILE -->`: the block is added to a file.
//! - `<!-- file: PATH -->`: the block is a file of the repository.
//! - `<!-- output of: COMMAND -->`: the block or the table is the output of the command.
//! - `<!-- messages of: COMMAND -->`: the block is the command's stderr.
//! - `<!-- output of: COMMAND | from: START | to: START -->`: the block has the lines from the one
//!   with the first prefix to the one with the second. A bar that belongs to the command has no
//!   space behind it.
//! - `<!-- ... | tier: whole -->`: takes more than some five seconds, and runs only if `BOOK` in
//!   the environment names `whole`. `tier: live` needs root and an idle machine; since live runs
//!   differ, numbers are not compared. The test reports the number of skipped blocks.
//! - `<!-- not measured: REASON -->`, `<!-- settings: NUMBERS -->`: see `book/numbers.rs`.
//!
//! A block with `toml,live` runs in the reader's browser, so it is a whole scenario.
//!
//! Commands in sentences are not run. Their options, the scenarios that they name and their
//! settings have to be valid.
//!
//! `UPDATE_DOCS=1 cargo test -p accord-cli --test all book` rewrites the outputs. With `BOOK=whole` it
//! rewrites all, faster with `--release`; `BOOK_PAGE=studies/contracts` selects a page.

#[path = "book/numbers.rs"]
mod numbers;
#[path = "book/page.rs"]
mod page;

use crate::common::*;
use page::{Page, TABLE, words};
use rayon::prelude::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("it is there")
}

/// Returns README.md and the pages of the book.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut open = vec![root().join("docs/src")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("readable").path();
            match path.is_dir() {
                true => open.push(path),
                false if path.extension().is_some_and(|e| e == "md") => pages.push(path),
                false => {}
            }
        }
    }
    pages.sort();
    pages
}

/// Creates an empty directory from which the files of the repository have the same paths as in the
/// book.
fn desk() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    for name in ["docs", "scenarios", "tools"] {
        symlink(root().join(name), dir.path().join(name)).expect("it is empty");
    }
    dir
}

/// Runs a command in a shell. One of a tier may take an hour.
fn shell(dir: &Path, command: &str, tier: Option<&str>) -> Ended {
    let program = Path::new(env!("CARGO_BIN_EXE_accord"));
    let mut path = program.parent().expect("a directory").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(dir).env("PATH", path);
    shell.stdin(Stdio::null()).stdout(Stdio::piped());
    let child = shell.stderr(Stdio::piped()).spawn().expect("there is sh");
    let minutes = if tier.is_some() { 60 } else { 1 };
    end_within(child, Duration::from_secs(60 * minutes))
}

/// Returns true if this tier is selected.
fn asked_for(tier: &str) -> bool {
    std::env::var("BOOK").is_ok_and(|tiers| tiers.split(',').any(|t| t == tier))
}

/// Returns true if outputs are to be rewritten.
fn rewriting() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// Returns a text with each number, including its sign, replaced by a hash.
fn without_numbers(text: &str) -> String {
    let of_a_number = |c: char| c.is_ascii_digit() || ".+-".contains(c);
    let mut kept = String::new();
    for c in text.chars() {
        match of_a_number(c) {
            true if kept.ends_with('#') => {}
            true => kept.push('#'),
            false => kept.push(c),
        }
    }
    kept
}

/// Returns true if the pages' scripts can run here.
fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok()
}

/// Returns the part of a remark after `key: `, up to the next bar.
fn value<'a>(remark: &'a str, key: &str) -> Option<&'a str> {
    let parts = remark.split(" | ");
    { parts }.find_map(|part| part.strip_prefix(key)?.strip_prefix(": "))
}

/// Returns the lines of a command's output that a block shows.
fn shown(printed: &str, remark: &str) -> Result<Vec<String>, String> {
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let from = match value(remark, "from") {
        None => 0,
        Some(start) => { lines.iter() }
            .position(|l| l.trim_start().starts_with(start))
            .ok_or_else(|| format!("no line begins with {start:?}"))?,
    };
    let to = match value(remark, "to") {
        None => lines.len(),
        Some(start) => { lines[from..].iter() }
            .position(|l| l.trim_start().starts_with(start))
            .map(|i| from + i + 1)
            .ok_or_else(|| format!("no line after it begins with {start:?}"))?,
    };
    Ok(lines[from..to].iter().map(|l| l.to_string()).collect())
}

/// The result of a page.
#[derive(Default)]
struct Worked {
    /// The page with the actual outputs.
    lines: Vec<String>,
    /// The errors.
    wrong: Vec<String>,
    /// The reasons of skipped blocks, one each.
    left_out: Vec<&'static str>,
}

/// Runs the commands of a page.
fn work_through(text: &str) -> Worked {
    let page = Page::new(text);
    let desk = desk();
    let (mut wrong, mut left_out, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
    for block in &page.blocks {
        let remark = block.remark.as_deref().unwrap_or_default();
        let tier = value(remark, "tier");
        match tier {
            Some(tier) if asked_for(tier) => {}
            Some("whole") => {
                left_out.push("BOOK=whole runs them: they take long");
                continue;
            }
            Some("live") => {
                left_out.push("BOOK=live runs them: they want root and an idle machine");
                continue;
            }
            Some(tier) => wrong.push(format!("{remark}: no tier is called {tier:?}")),
            None => {}
        }
        if let Some(path) = value(remark, "file") {
            let file = fs::read_to_string(root().join(path)).expect("it is there");
            outputs.push((block, file.lines().map(str::to_string).collect()));
        }
        let text = page.text(block) + "\n";
        match block.language.as_str() {
            "toml" => {
                let name = text.strip_prefix("# ").and_then(|t| t.split_once(": "));
                let name = name.filter(|(name, _)| name.ends_with(".toml") && !name.contains(' '));
                if let Some((name, _)) = name {
                    fs::write(desk.path().join(name), &text).expect("writable");
                }
                if let Some(name) = value(remark, "append to") {
                    let path = desk.path().join(name);
                    let old = fs::read_to_string(&path).unwrap_or_default();
                    fs::write(path, old + "\n" + &text).expect("writable");
                }
            }
            "sh" if value(remark, "parsed only").is_none() => {
                for command in page.commands(block) {
                    if is_template(&command) || !command.starts_with("accord ") {
                        continue;
                    }
                    let ended = shell(desk.path(), &command, tier);
                    let code = value(remark, "exit code").unwrap_or("0");
                    if ended.code.map(|c| c.to_string()).as_deref() != Some(code) {
                        wrong.push(format!("{command}: {ended:#?}"));
                    }
                }
            }
            "text" | TABLE => {
                let output = value(remark, "output of");
                let messages = value(remark, "messages of");
                let Some(command) = output.or(messages) else {
                    continue;
                };
                if command.starts_with("python3 ") && !has_python() {
                    left_out.push("there is no python3");
                    continue;
                }
                let ended = shell(desk.path(), command, tier);
                let printed = match output {
                    Some(_) => &ended.stdout,
                    None => &ended.stderr,
                };
                match shown(printed.trim_end(), remark) {
                    Ok(lines) if lines.iter().all(String::is_empty) => {
                        wrong.push(format!("{command}: prints nothing: {ended:#?}"));
                    }
                    Ok(lines) if tier == Some("live") && !rewriting() => {
                        if without_numbers(&lines.join("\n")) != without_numbers(text.trim_end()) {
                            outputs.push((block, lines));
                        }
                    }
                    Ok(lines) => outputs.push((block, lines)),
                    Err(why) => wrong.push(format!("{command}: {why}: {ended:#?}")),
                }
            }
            _ => {}
        }
    }
    let mut lines = page.lines.clone();
    for (block, new) in outputs.into_iter().rev() {
        lines.splice(block.lines.clone(), new);
    }
    Worked { lines, wrong, left_out }
}

/// Returns the result of a page. Its outputs are rewritten if requested.
fn check(path: &Path) -> Worked {
    let text = fs::read_to_string(path).expect("text");
    let mut worked = work_through(&text);
    let wrong = &mut worked.wrong;
    let new = worked.lines.join("\n") + "\n";
    if new != text && rewriting() {
        fs::write(path, new).expect("writable");
    } else if new != text {
        let differs = text.lines().zip(new.lines()).find(|(old, new)| old != new);
        wrong.push(format!(
            "an output is not what the page says: {differs:#?}; UPDATE_DOCS=1 writes it"
        ));
    }
    for w in wrong {
        *w = format!("{}: {w}", path.display());
    }
    worked
}

#[test]
fn commands_run_and_print_what_the_book_says() {
    let mut pages = pages();
    if let Ok(name) = std::env::var("BOOK_PAGE") {
        pages.retain(|p| p.with_extension("").ends_with(&name));
        assert!(!pages.is_empty(), "no page is called {name}");
    }
    let worked: Vec<Worked> = pages.par_iter().map(|p| check(p)).collect();
    let mut left_out: Vec<&str> = worked.iter().flat_map(|w| w.left_out.clone()).collect();
    left_out.sort_unstable();
    for why in left_out.chunk_by(|a, b| a == b) {
        skipped(&format!("{} blocks of the book: {}", why.len(), why[0]));
    }
    let wrong: Vec<&str> =
        { worked.iter() }.flat_map(|w| w.wrong.iter().map(String::as_str)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The studies state measurements, so every number in them has to come from a command.
#[test]
fn numbers_of_studies_are_reprinted() {
    let of_a_study = |path: &PathBuf| path.parent().is_some_and(|p| p.ends_with("studies"));
    let mut wrong = Vec::new();
    for path in pages().into_iter().filter(of_a_study) {
        let page = Page::new(&fs::read_to_string(&path).expect("text"));
        let loose = numbers::loose(&page).into_iter();
        wrong.extend(loose.map(|w| format!("{}:{w}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns true if a command has placeholders: FILE, DIR....
fn is_template(command: &str) -> bool {
    words(command).iter().any(|w| {
        let name = w.trim_end_matches("...").trim_start_matches("--set=");
        w.ends_with("...") || name.len() > 1 && name.bytes().all(|b| b.is_ascii_uppercase())
    })
}

/// Returns the error of a command without running it.
fn misunderstood(dir: &Path, command: &str) -> Option<String> {
    // Ellipses stand for missing words, and brackets surround optional ones.
    let mut words = words(command);
    if words.last().is_some_and(|w| w == "...") {
        words.truncate(words.len() - 2);
    }
    let optional = |w: &String| w.starts_with('[') && w.ends_with(']') && !w.contains('=');
    words.retain(|w| !optional(w));
    let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    // Placeholders for templates, disciplines and the like are invalid values.
    if matches!(args[..], ["new" | "COMMAND", ..]) && is_template(command) || args.is_empty() {
        return None;
    }
    // Words after -- belong to another program.
    let own = args.iter().position(|arg| *arg == "--");
    let (own, others) = args.split_at(own.unwrap_or(args.len()));
    let parsed = accord(dir, &[own, &["--help"], others].concat());
    if parsed.code != Some(0) {
        return Some(format!("{command}: {}", parsed.stderr));
    }
    // The scenarios of the command, with their settings.
    let mut settings = Vec::new();
    for pair in args.windows(2) {
        if pair[0] == "--set" {
            settings.extend(["--set", pair[1]]);
        }
    }
    let verbs = ["run", "check", "reproduce", "explain", "stability"];
    if args.is_empty() || !verbs.contains(&args[0]) {
        return None;
    }
    let of_a_repository = |name: &&&str| {
        let id = Path::new("scenarios").join(format!("{name}.toml"));
        dir.join(id).exists() || name.contains('/') && name.ends_with(".toml")
    };
    args[1..].iter().filter(of_a_repository).find_map(|name| {
        let checked = accord(dir, &[&["check", name][..], &settings].concat());
        (checked.code != Some(0)).then(|| format!("{command}: {}", checked.stderr))
    })
}

#[test]
fn commands_that_are_not_run_are_understood() {
    let desk = desk();
    let (mut known, mut wrong) = (0, Vec::new());
    for path in pages() {
        let page = Page::new(&fs::read_to_string(&path).expect("text"));
        let mut commands = page.commands_in_prose();
        for block in page.blocks.iter().filter(|b| b.language == "sh") {
            let remark = block.remark.as_deref().unwrap_or_default();
            let skipped = value(remark, "parsed only").is_some();
            commands.extend(page.commands(block).into_iter().filter(|c| skipped || is_template(c)));
        }
        commands.retain(|c| c.starts_with("accord "));
        commands.sort();
        commands.dedup();
        known += commands.len();
        let problems = commands.iter().filter_map(|c| misunderstood(desk.path(), c));
        wrong.extend(problems.map(|p| format!("{}: {p}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(known > 100, "commands are found at all: {known}");
}

/// The words that people wrote and others have to read: sentences, and the cells of tables that no
/// program makes. Blocks of code, generated tables and the targets of links do not count.
fn written_words(page: &Page) -> usize {
    const MADE: [&str; 8] = [
        "results: ",
        "table of: ",
        "parameters of ",
        "keys",
        "metrics",
        "controllers",
        "disciplines",
        "carried",
    ];
    let (mut words, mut made) = (0, false);
    for (i, line) in page.lines.iter().enumerate() {
        let block = page.blocks.iter().find(|b| b.lines.contains(&i));
        if let Some(remark) = line.strip_prefix("<!-- ").and_then(|l| l.strip_suffix(" -->")) {
            made |= MADE.iter().any(|begin| {
                remark == begin.trim_end() || begin.ends_with(' ') && remark.starts_with(begin)
            });
            made |= remark == "ns-2";
            made &= !remark.starts_with("end of ");
            continue;
        }
        let printed = block.is_some_and(|block| {
            let remark = block.remark.as_deref().unwrap_or_default();
            block.language != TABLE || value(remark, "output of").is_some()
        });
        if !made && !printed && !line.starts_with("```") {
            let targets = line.split("](").enumerate();
            let text = targets.map(|(n, part)| match n {
                0 => part,
                _ => part.split_once(')').map_or("", |(_, rest)| rest),
            });
            let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
            words += text.flat_map(str::split_whitespace).filter(is_word).count();
        }
    }
    words
}

/// A book that is read. Whoever adds a page shortens another one.
#[test]
fn the_book_is_short() {
    const MOST: usize = 70_000;
    let book = pages().into_iter().filter(|path| !path.ends_with("README.md"));
    let count = |path: PathBuf| {
        let page = Page::new(&fs::read_to_string(&path).expect("text"));
        (written_words(&page), path)
    };
    let mut counts: Vec<(usize, PathBuf)> = book.map(count).collect();
    counts.sort();
    let all: usize = counts.iter().map(|(words, _)| words).sum();
    println!("{all} words, of at most {MOST}");
    let longest = &counts[counts.len() - 10..];
    assert!(all <= MOST, "{all} words, for at most {MOST}; the longest pages: {longest:#?}");
}

#[test]
fn words_are_those_that_people_wrote() {
    let page = "# A page\n\n```sh\naccord run x\n```\n\nOne [two](three.md) `four` – 5.\n\n\
                | six |\n|---|\n| seven |\n\n<!-- output of: accord list -->\n| no |\n|---|\n\n\
                <!-- parameters of reno -->\n\n| no |\n\n<!-- end of parameters -->\nEight.\n";
    assert_eq!(written_words(&Page::new(page)), 2 + 4 + 2 + 1);
}

/// A page shows something before it explains: a command, a file, a table or a picture.
#[test]
fn every_page_begins_with_an_example() {
    const MOST: usize = 110;
    let mut late = Vec::new();
    for path in pages() {
        // Lists of links.
        if path.ends_with("SUMMARY.md") || path.ends_with("references.md") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let shown = |line: &&str| ["```", "| ", "!["].iter().any(|begin| line.starts_with(begin));
        let shown_at = text.lines().position(|line| shown(&line));
        let before = text.lines().take(shown_at.unwrap_or(usize::MAX));
        let sentences = before.filter(|line| !line.starts_with("<!--"));
        let words: usize = sentences.map(|line| line.split_whitespace().count()).sum();
        if shown_at.is_none() || words > MOST {
            late.push(format!("{}: {words} words before the first example", path.display()));
        }
    }
    assert!(late.is_empty(), "{}", late.join("\n"));
}

/// A browser runs them (docs/live/live.js).
#[test]
fn live_blocks_are_scenarios() {
    let catalogue = accord::catalogue();
    let mut found = 0;
    for path in pages() {
        let page = Page::new(&fs::read_to_string(&path).expect("text"));
        for block in page.blocks.iter().filter(|b| b.live) {
            let file = accord::File::parse("lab.toml", &page.text(block)).expect("it is TOML");
            let points = file.points(&catalogue, None);
            assert!(points.is_ok_and(|p| p.len() == 1), "{}: {block:?}", path.display());
            found += 1;
        }
    }
    assert!(found >= 8, "{found} blocks");
}

/// Other commands would not be found.
#[test]
fn commands_are_in_blocks_with_a_fence() {
    for path in pages() {
        let text = fs::read_to_string(&path).expect("text");
        let page = Page::new(&text);
        for (i, line) in page.lines.iter().enumerate() {
            let block = page.blocks.iter().find(|b| b.lines.contains(&i));
            let indented = block.is_none() && line.starts_with("    accord ");
            let other = block.is_some_and(|b| b.language.is_empty() && line.starts_with("accord "));
            assert!(!indented && !other, "{}:{}: ```sh", path.display(), i + 1);
        }
    }
}
