//! Errors as shown to the user.

use crate::output::{NoOutput, note, notes_are_coloured, report};
use accord::Error;
use accord::form::{Errors, TextError, suggest};
use accord::report::is_refused;
use accord::report::show::visible;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitStatus;

/// The message of an interrupted program.
pub const INTERRUPTED_TEXT: &str = "interrupted; the unfinished result was not written";

/// The reason why the program ends without a result.
pub enum Failure {
    /// The scenario is wrong.
    Scenario(Errors),
    /// Another error.
    Other { message: String, hint: Option<String> },
    /// The machine or the user's permissions do not allow it.
    Unable(String),
    /// The user stopped it.
    Interrupted,
    /// A command that the user gave ended with this exit code.
    Exit(u8),
    /// The user stopped a service, which has no result.
    #[cfg_attr(not(any(feature = "gateway", feature = "kernel")), allow(dead_code))]
    Ended,
}

impl Failure {
    pub fn new(message: impl Display) -> Failure {
        Failure::Other { message: message.to_string(), hint: None }
    }

    /// Returns the failure of a command that the user gave, unless it succeeded: with its exit code or, as in
    /// shells, 128 plus the signal that ended it.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub fn of_command(status: ExitStatus) -> Result<(), Failure> {
        if status.success() {
            return Ok(());
        }
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal: Option<i32> = None;
        let code = status.code().or(signal.map(|signal| 128 + signal));
        Err(Failure::Exit(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
    }

    /// Returns the failure of a system call. A full or read-only disk is not a mistake of the user.
    pub fn io(message: String, e: &io::Error) -> Failure {
        if is_refused(e) { Failure::Unable(message) } else { Failure::new(message) }
    }

    /// Returns the failure of a name that is not one of `known`.
    pub fn unknown<'a>(
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Failure {
        Failure::new(format_args!("unknown {what} \"{name}\"")).hinted(suggest(name, known))
    }

    /// Adds a hint, if there is one.
    pub fn hinted(self, hint: Option<String>) -> Failure {
        hint.into_iter().fold(self, Failure::hint)
    }

    pub fn hint(self, text: impl Into<String>) -> Failure {
        match self {
            Failure::Other { message, .. } => Failure::Other { message, hint: Some(text.into()) },
            other => other,
        }
    }

    /// Prints the message, and returns the exit code.
    pub fn report(self) -> u8 {
        match self {
            Failure::Scenario(errors) => {
                for (i, e) in errors.iter().enumerate() {
                    if i > 0 {
                        note("");
                    }
                    show(&e.message, Some(e), e.hint.as_deref());
                }
            }
            Failure::Other { message, hint } => show(&message, None, hint.as_deref()),
            Failure::Unable(message) => {
                show(&message, None, None);
                return 3;
            }
            Failure::Interrupted => {
                note(INTERRUPTED_TEXT);
                return 130;
            }
            Failure::Exit(code) => return code,
            Failure::Ended => return 130,
        }
        2
    }
}

/// Returns the failure to read a file, for `map_err`.
pub fn unreadable(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |e| Failure::io(format!("{} cannot be read: {e}", path.display()), &e)
}

/// Returns the failure to write a file, for `map_err`.
pub fn unwritable(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |e| Failure::io(format!("{} cannot be written: {e}", path.display()), &e)
}

/// Prints an error as rustc does, with its place in a scenario if it has one.
fn show(message: &str, place: Option<&TextError>, hint: Option<&str>) {
    let message = visible(message);
    let source = place.map(|e| (visible(&e.origin.name), visible(&e.origin.text), e));
    let hint = hint.map(visible);
    let mut group = Group::with_title(Level::ERROR.primary_title(&message));
    if let Some((name, text, e)) = &source {
        // An empty text, such as that of an unreadable file, has no line to show.
        group = if text.is_empty() {
            group.element(Origin::path(name).line(e.line).char_column(e.column))
        } else {
            let mark = AnnotationKind::Primary.span(e.span.clone());
            group.element(Snippet::source(text).path(name).annotation(mark))
        };
    }
    if let Some(hint) = &hint {
        group = group.element(Level::HELP.message(hint));
    }
    let renderer = if notes_are_coloured() { Renderer::styled() } else { Renderer::plain() };
    report(renderer.render(&[group]));
}

impl From<NoOutput> for Failure {
    fn from(NoOutput(e): NoOutput) -> Failure {
        Failure::io(format!("cannot write to stdout: {e}"), &e)
    }
}

impl From<Error> for Failure {
    fn from(e: Error) -> Failure {
        match e {
            Error::Scenario(errors) => Failure::Scenario(errors),
            Error::Unable(_) => Failure::Unable(e.to_string()),
            Error::Interrupted => Failure::Interrupted,
            e => {
                let hint = e.hint();
                Failure::new(e).hinted(hint)
            }
        }
    }
}

impl From<Errors> for Failure {
    fn from(e: Errors) -> Failure {
        Failure::Scenario(e)
    }
}

impl From<TextError> for Failure {
    fn from(e: TextError) -> Failure {
        Failure::Scenario(e.into())
    }
}

impl From<accord::report::FileError> for Failure {
    fn from(e: accord::report::FileError) -> Failure {
        if is_refused(&e) { Failure::Unable(e.to_string()) } else { Failure::new(e) }
    }
}
