//! The English of comments, messages and pages, by the rules of STYLE.md that a pattern can find.
//!
//! A rule counts its matches in the whole tree. It allows a few, for the sentences in which the
//! words are right. `cargo test -p accord-cli --test prose` prints the matches of a rule that finds
//! more.

use regex::Regex;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

struct Rule {
    name: &'static str,
    /// The texts in which the rule looks.
    within: &'static [Kind],
    pattern: &'static str,
    instead: &'static str,
    /// The number of matches that are allowed.
    most: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A comment on an item or a file: `///` or `//!`.
    Doc,
    /// Another comment, in any language.
    Comment,
    /// A paragraph, a heading or an item of a list in Markdown.
    Page,
    /// A string of several words in a Rust file of the product.
    Message,
    /// A line of Rust without its comments and strings.
    Code,
}

use Kind::*;

const TEXT: &[Kind] = &[Doc, Comment, Page, Message];

const RULES: &[Rule] = &[
    Rule {
        name: "a clause in place of a noun",
        within: TEXT,
        pattern: r"(?i)\bwhat (?:is|was|are|were|has|had|have|it|its|they|he|a|an|the|this|these|that|those|comes|came|becomes|became|remains|follows|can|could|may|must|cannot|does|did|do|there|goes|went|each|every|one|stands|makes|made|takes|took|only|no|nobody)\b[^?]*$",
        instead: "a noun: \"the data in flight\", not \"what is in flight\"",
        most: 4,
    },
    Rule {
        name: "a comment that begins with a question word",
        within: &[Doc, Comment],
        pattern: r"^(?:What|Who|How|Where|Whether|Whom|Whose|Which)\b[^?]*$",
        instead: "a noun phrase, or a verb as in \"Returns the backlog\"",
        most: 0,
    },
    Rule {
        name: "a pronoun without its noun",
        within: &[Doc],
        pattern: r"^(?:It|Its|These|Those|They|Their|Of it|Of them|Of these)\b",
        instead: "the noun",
        most: 0,
    },
    Rule {
        name: "told",
        within: TEXT,
        pattern: r"(?i)\b(?:told|tells?|telling)\b",
        instead: "reports, notifies, passes, says, distinguishes",
        most: 7,
    },
    Rule {
        name: "so many for a number",
        within: TEXT,
        pattern: r"(?i)\bso (?:many|much|long|often|few)\b(?: [a-z]+)?",
        instead: "the number: \"`packets` packets\", \"for `delay`\"",
        most: 2,
    },
    Rule {
        name: "a chain of which",
        within: TEXT,
        pattern: r"\b(?:which|whose|whom)\b[^.;:!?|]*\b(?:which|whose|whom)\b",
        instead: "two sentences",
        most: 1,
    },
    Rule {
        name: "a negation of nobody",
        within: TEXT,
        pattern: r"(?i)\b(?:nobody|no one|nothing but|none but)\b",
        instead: "a positive sentence with its subject",
        most: 0,
    },
    Rule {
        name: "a dated word",
        within: TEXT,
        pattern: r"(?i)\b(?:anew|beside|meanwhile|heeds?|heeded|hitherto|thereby|therein|thereof|whereof|lest)\b",
        instead: "again, next to, alongside, recently, so",
        most: 8,
    },
    Rule {
        name: "so that for a consequence",
        within: TEXT,
        pattern: r", so that\b",
        instead: "\", so\": \"a port keeps its rate, so the queue grows\"",
        most: 20,
    },
    Rule {
        name: "is no for is not a",
        within: TEXT,
        pattern: r"(?i)\b(?:it|this|that|which|an? \w+|the \w+) (?:is|are|was|were) no (?:bottleneck|sample|gap|name|part|phase|value|flow|packet|stream|mistake|error|failure|sign|bound|contract|price|backlog|swing|round trip)s?\b",
        instead: "\"is not a\": \"an outage is not a gap\"",
        most: 6,
    },
    Rule {
        name: "in the mean",
        within: TEXT,
        pattern: r"\bin the mean\b",
        instead: "on average",
        most: 6,
    },
    Rule {
        name: "a private word",
        within: &[Doc, Comment, Message, Code],
        pattern: r"(?i)(?:\b|_)(?:ledgers?|glides?|calms?|crests?|spared|books|express)(?:\b|_)",
        instead: "the field's term: see the glossary in ARCHITECTURE.md",
        most: 0,
    },
];

/// A piece of text, with its place.
struct Piece {
    file: PathBuf,
    line: usize,
    kind: Kind,
    text: String,
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the folder of the workspace")
}

/// The files of the project, without those that others wrote or that a program made.
fn files() -> Vec<PathBuf> {
    const OTHERS: &[&str] = &[
        "target",
        "runs",
        "node_modules",
        "fixtures",
        "snapshots",
        "packs",
        "dist",
        "corpus",
        "peers",
    ];
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("readable").path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or(".");
            if name.starts_with('.') || OTHERS.contains(&name) || path.ends_with("docs/live") {
                continue;
            }
            if path.is_symlink() {
                continue; // to files that have been read under their own path
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Gathers the lines of a paragraph into a piece.
struct Paragraphs {
    file: PathBuf,
    pieces: Vec<Piece>,
    open: Option<Kind>,
}

impl Paragraphs {
    fn add(&mut self, line: usize, kind: Kind, text: &str) {
        let begins = text.starts_with(['#', '-', '*', '|']) || self.open != Some(kind);
        let text = text.trim_start_matches(['#', '-', '*', ' ']).trim();
        if text.is_empty() {
            self.open = None;
        } else if begins {
            let (file, text) = (self.file.clone(), text.to_string());
            self.pieces.push(Piece { file, line, kind, text });
            self.open = Some(kind);
        } else {
            let last = &mut self.pieces.last_mut().expect("a paragraph is open").text;
            last.push(' ');
            last.push_str(text);
        }
    }

    fn close(&mut self) {
        self.open = None;
    }
}

/// Splits a line of Rust into its code and its strings.
fn strings(line: &str) -> (String, Vec<String>) {
    let (mut code, mut found, mut string) = (String::new(), Vec::new(), None::<String>);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (&mut string, c) {
            (Some(text), '\\') => text.extend(chars.next()),
            (Some(_), '"') => found.extend(string.take()),
            (Some(text), c) => text.push(c),
            (None, '"') => string = Some(String::new()),
            // A quotation mark as a character.
            (None, '\'') if chars.peek() == Some(&'"') => drop((chars.next(), chars.next())),
            (None, c) => code.push(c),
        }
    }
    found.extend(string);
    (code, found)
}

fn rust(text: &str, tests: bool, to: &mut Paragraphs) {
    let mut fenced = false;
    for (i, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let comment = ["///", "//!", "//"].iter().find_map(|&mark| {
            let rest = start.strip_prefix(mark)?;
            Some((if mark == "//" { Comment } else { Doc }, rest.trim()))
        });
        match comment {
            Some((_, rest)) if rest.starts_with("```") => fenced = !fenced,
            Some((kind, rest)) if !fenced => to.add(i + 1, kind, rest),
            Some(_) => {}
            None => {
                (fenced, to.open) = (false, None);
                let (code, strings) = strings(line);
                to.add(i + 1, Code, &code);
                for text in strings.iter().filter(|s| !tests && s.contains(' ')) {
                    to.close();
                    to.add(i + 1, Message, text);
                }
                to.close();
            }
        }
    }
}

fn page(text: &str, to: &mut Paragraphs) {
    let mut fenced = false;
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            to.add(i + 1, Page, line.trim());
        }
    }
}

fn hashed(text: &str, to: &mut Paragraphs) {
    for (i, line) in text.lines().enumerate() {
        match line.trim_start().strip_prefix('#') {
            Some(rest) => to.add(i + 1, Comment, rest.trim()),
            None => to.close(),
        }
    }
}

fn pieces() -> Vec<Piece> {
    let code = Regex::new("`[^`]*`|\\]\\([^)]*\\)").expect("a pattern");
    let mut all = Vec::new();
    for file in files() {
        let ending = file.extension().and_then(|e| e.to_str()).unwrap_or("");
        let place = file.strip_prefix(root()).expect("below the root").to_path_buf();
        let tests =
            place.components().any(|c| c.as_os_str() == "tests") || place.ends_with("tests.rs");
        let mut to = Paragraphs { file: place.clone(), pieces: Vec::new(), open: None };
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        match ending {
            // This file states the patterns. Tables of recorded output name settings by their words.
            "rs" if place.ends_with("cli/tests/prose.rs") => continue,
            "rs" | "js" | "mjs" | "c" => rust(&text, tests || ending != "rs", &mut to),
            // It states examples of the faults.
            "md" if place.ends_with("STYLE.md") => continue,
            "md" => page(&text, &mut to),
            "toml" | "py" | "sh" | "yml" => hashed(&text, &mut to),
            _ => continue,
        }
        for mut piece in to.pieces {
            if piece.kind != Code {
                piece.text = code.replace_all(&piece.text, "X").into_owned();
            }
            all.push(piece);
        }
    }
    all
}

#[test]
fn comments_messages_and_pages_are_plain_english() {
    let pieces = pieces();
    assert!(pieces.len() > 10_000, "only {} pieces of text", pieces.len());
    let mut report = String::new();
    for rule in RULES {
        let pattern = Regex::new(rule.pattern).expect("a pattern");
        let inside = pieces.iter().filter(|p| rule.within.contains(&p.kind));
        let found: Vec<_> = inside.filter_map(|p| Some((p, pattern.find(&p.text)?))).collect();
        if found.len() > rule.most {
            let (name, most, n) = (rule.name, rule.most, found.len());
            let _ = writeln!(report, "{name}: {n} for at most {most}; write {}", rule.instead);
            for (piece, hit) in found {
                let from = piece.text.floor_char_boundary(hit.start().saturating_sub(30));
                let to = piece.text.floor_char_boundary((hit.start() + 60).min(piece.text.len()));
                let (file, line) = (piece.file.display(), piece.line);
                let _ = writeln!(report, "  {file}:{line}: {}", &piece.text[from..to]);
            }
        }
    }
    assert!(report.is_empty(), "{report}");
}

/// Each rule finds the sentence that it is made for.
#[test]
fn rules_find_what_they_are_for() {
    let cases = [
        ("a clause in place of a noun", "Returns what is in flight."),
        ("a comment that begins with a question word", "Whether the queue is full."),
        ("a pronoun without its noun", "These are sent."),
        ("told", "The port is told of arrivals."),
        ("so many for a number", "It waits for so many packets."),
        ("a chain of which", "A wire whose packets pass a queue which is full."),
        ("a negation of nobody", "Nobody reads it."),
        ("a dated word", "The timer starts anew."),
        ("so that for a consequence", "The queue is full, so that packets are lost."),
        ("is no for is not a", "An outage is no gap."),
        ("in the mean", "A window of 10 packets in the mean."),
        ("a private word", "fn ledger()"),
    ];
    assert_eq!(cases.len(), RULES.len());
    for (rule, (name, text)) in RULES.iter().zip(cases) {
        assert_eq!(rule.name, name);
        let pattern = Regex::new(rule.pattern).expect("a pattern");
        assert!(pattern.is_match(text), "{name}: {text}");
        assert!(!pattern.is_match("Returns the packets in flight."), "{name}");
    }
}

#[test]
fn pieces_are_split_at_strings_and_comments() {
    let mut to = Paragraphs { file: PathBuf::new(), pieces: Vec::new(), open: None };
    rust("/// One\n/// sentence.\nlet a = f(\"two words\", '\"');\n", false, &mut to);
    let found: Vec<_> = to.pieces.iter().map(|p| p.text.as_str()).collect();
    assert_eq!(found, ["One sentence.", "let a = f(, );", "two words"]);
    assert_eq!(to.pieces.iter().map(|p| p.line).collect::<Vec<_>>(), [1, 3, 3]);
}
