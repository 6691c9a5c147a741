//! Data to stdout, everything else to stderr. All printing is here, since `println!` panics where
//! a pipe is closed.
#![expect(clippy::disallowed_methods, reason = "here is where printing is done")]

use accord::report::Style;
use accord::report::show::visible;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};

/// The error that stdout takes no more output.
#[derive(Debug)]
pub struct NoOutput(pub std::io::Error);

/// Writes data and a line break to stdout. A reader that closed the pipe is not an error.
pub fn data(text: impl Display) -> Result<(), NoOutput> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(NoOutput(e)),
        _ => Ok(()),
    }
}

/// Writes data as JSON.
pub fn json(value: &impl serde::Serialize) -> Result<(), NoOutput> {
    data(escaped(
        &serde_json::to_string_pretty(value).expect("plain data"),
    ))
}

/// Escapes the control characters in the strings of a JSON or TOML text. The writers of both leave
/// some as they are (U+0080 to U+009F), which a terminal obeys.
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

/// Prints a message to stderr without control characters, which may come from a file or its name.
/// A closed stderr is not an error.
pub fn note(text: impl Display) {
    report(visible(&text.to_string()));
}

/// Prints a text to stderr as it is. It may contain colours, and must be safe otherwise.
pub fn report(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Returns whether messages are coloured: on a terminal, unless the user asks for plain text.
pub fn notes_are_coloured() -> bool {
    std::io::stderr().is_terminal() && !no_colour()
}

fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some()
}

/// The width for a pipe or a file: nothing is wrapped or cut.
const UNBOUNDED: u16 = 10_000;

/// Returns the width of the terminal, within limits, and that of a pipe elsewhere.
pub fn style() -> Style {
    let out = std::io::stdout();
    let plain = no_colour();
    let width = terminal_size::terminal_size_of(&out).map(|(width, _)| width.0.clamp(80, 160));
    Style {
        width: width.unwrap_or(UNBOUNDED),
        colour: out.is_terminal() && !plain,
        words: plain,
    }
}
