//! Data to stdout, everything else to stderr. All printing is here, since `println!` panics if a
//! pipe is closed.
#![expect(clippy::disallowed_methods, reason = "here is where printing is done")]

use accord::report::Style;
use accord::report::show::{TITLE, clean, visible};
use accord::scenario::Scenario;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};

/// An error of writing to stdout.
#[derive(Debug)]
pub struct NoOutput(pub std::io::Error);

/// Writes data and a line break to stdout. A reader that closed the pipe is not an error.
pub fn data(text: impl Display) -> Result<(), NoOutput> {
    let mut out = std::io::stdout().lock();
    known(writeln!(out, "{text}").and_then(|()| out.flush()))
}

/// Writes help or the version, in colours on a terminal.
pub fn help(text: &clap::Error) -> Result<(), NoOutput> {
    known(text.print().and_then(|()| std::io::stdout().flush()))
}

fn known(written: std::io::Result<()>) -> Result<(), NoOutput> {
    match written {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(NoOutput(e)),
        _ => Ok(()),
    }
}

/// Writes text for people. On a terminal a long sentence is wrapped between words, with an indent.
pub fn prose(text: impl Display) -> Result<(), NoOutput> {
    let width = usize::from(style().width);
    let lines: Vec<String> =
        (text.to_string().split('\n')).map(|line| wrapped(line, width)).collect();
    data(lines.join("\n"))
}

/// Wraps a line longer than `width`. Rows of a table, which have several spaces between words, stay
/// unchanged.
fn wrapped(line: &str, width: usize) -> String {
    let words = line.trim_start_matches(' ');
    let indent = line.len() - words.len();
    if shown(line) <= width || words.contains("  ") {
        return line.to_string();
    }
    fill(" ".repeat(indent), words.split(' '), indent + 2, width)
}

/// Adds words to a line, and begins further ones with an indent where they would exceed `width`.
pub fn fill<'a>(
    mut out: String,
    words: impl Iterator<Item = &'a str>,
    indent: usize,
    width: usize,
) -> String {
    let mut column = shown(&out);
    for (i, word) in words.enumerate() {
        let length = shown(word);
        if i > 0 && column + 1 + length > width {
            column = indent;
            out += &format!("\n{:column$}", "");
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += length;
    }
    out
}

/// Returns the number of visible characters, without colour codes.
fn shown(text: &str) -> usize {
    let mut parts = text.split('\x1b');
    let after = |part: &str| part.split_once('m').map_or(0, |(_, rest)| rest.chars().count());
    let first = parts.next().map_or(0, |part| part.chars().count());
    first + parts.map(after).sum::<usize>()
}

/// The first line about a scenario: its id, and its title if it has one.
pub fn heading(scenario: &Scenario) -> String {
    if scenario.title.is_empty() {
        scenario.id.clone()
    } else {
        format!("{}: {}", scenario.id, clean(&scenario.title, TITLE))
    }
}

/// Writes data as JSON.
pub fn json(value: &impl serde::Serialize) -> Result<(), NoOutput> {
    data(escaped(&serde_json::to_string_pretty(value).expect("plain data")))
}

/// Escapes the control characters in the strings of a JSON or TOML text. The writers of both leave
/// some unescaped (U+0080 to U+009F), which a terminal interprets.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out
}

/// Prints a message to stderr without control characters, which may come from a file or its name. A
/// closed stderr is not an error.
pub fn note(text: impl Display) {
    report(visible(&text.to_string()));
}

/// Prints a text to stderr unchanged. It may contain colours, and must be safe otherwise.
pub fn report(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Returns true if messages are coloured: on a terminal, unless the user asks for plain text.
pub fn notes_are_coloured() -> bool {
    std::io::stderr().is_terminal() && !no_colour() && !is_dumb()
}

fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some()
}

/// The width for a pipe or a file: nothing is wrapped or cut.
const UNBOUNDED: u16 = 10_000;

/// The width of a terminal without capabilities.
const DUMB: u16 = 80;

/// Returns true if the terminal only prints: no colours, and no overwritten lines.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Returns the style for the terminal, within limits, or for a pipe.
pub fn style() -> Style {
    let out = std::io::stdout();
    let width = terminal_size::terminal_size_of(&out).map(|(width, _)| width.0);
    style_on(width, no_colour(), is_dumb())
}

/// Returns the style for a terminal of this width, or for a pipe.
fn style_on(terminal: Option<u16>, plain: bool, dumb: bool) -> Style {
    let width = terminal.map(|width| if dumb { DUMB } else { width.clamp(40, 160) });
    Style { width: width.unwrap_or(UNBOUNDED), colour: terminal.is_some() && !plain && !dumb }
}

#[cfg(test)]
mod tests {
    use super::{style_on, wrapped};

    #[test]
    fn a_dumb_terminal_has_no_colours_and_eighty_columns() {
        let of = |terminal, plain, dumb| {
            let style = style_on(terminal, plain, dumb);
            (style.width, style.colour)
        };
        assert_eq!(of(Some(120), false, false), (120, true));
        assert_eq!(of(Some(120), true, false), (120, false));
        assert_eq!(of(Some(120), false, true), (80, false));
        assert_eq!(of(Some(60), false, false), (60, true));
        assert_eq!(of(None, false, false), (10_000, false));
    }

    #[test]
    fn sentences_are_wrapped_and_rows_are_not() {
        assert_eq!(wrapped("  one two three", 9), "  one two\n    three");
        assert_eq!(wrapped("one  two  three", 9), "one  two  three");
        assert_eq!(wrapped("one two", 7), "one two");
        let red = "\x1b[31mone\x1b[0m two";
        assert_eq!(wrapped(red, 7), red);
        assert_eq!(wrapped("one", 2), "one");
    }
}
