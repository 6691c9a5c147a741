//! The program `accord`, for programs with their own controllers and queue disciplines.
//!
//! [`main_with`] is the whole program. A controller registered with it is available in scenario
//! files, in the packet engine and the live one, in theory and the fluid engine as far as its
//! family supports them, in tables and on the page. `docs/src/own-controller.md` shows one.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 success, 1 an expectation
//! failed that is not known to fail, 2 a mistake in the usage or the scenario, 3 this machine cannot
//! do it, 130 interrupted.

mod args;
mod attack;
mod axis;
mod bench;
mod capture;
mod check;
mod choice;
mod commands;
mod compare;
mod contents;
mod cost;
mod draft;
mod emulate;
mod evaluate;
mod events;
mod execute;
mod explain;
mod export;
mod fail;
mod gateway;
mod help;
mod import;
mod kernel;
mod lab;
mod list;
mod live;
mod manual;
mod measured;
mod names;
mod new;
mod option;
mod output;
mod plot;
mod point;
mod program;
mod progress;
mod python;
mod qlogs;
mod readings;
mod record;
mod reproduce;
mod results;
mod run_options;
mod skip;
mod solve;
mod source;
mod stability;
mod summary;

use accord::catalogue_with;
use accord::family::Family;
use accord::form::nearest;
use clap::FromArgMatches;
use clap::error::ErrorKind;
use fail::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command line with these controllers and queue disciplines in addition to those of the
/// program. Returns the exit code.
///
/// # Panics
///
/// Panics if a family is not sound, see [`accord::catalogue_with`].
pub fn main_with(controllers: &[&'static Family], disciplines: &[&'static Family]) -> ExitCode {
    let code = match prepared() {
        Ok(()) => main_from(std::env::args_os(), controllers, disciplines),
        Err(e) => e.report(),
    };
    ExitCode::from(code)
}

/// Prepares the process: a limit on the size of files becomes an error, and threads are started while a failure can
/// be reported. A gateway and the guard of an emulation take their signals in a process of one thread: another
/// thread would be ended by them.
fn prepared() -> Result<(), Failure> {
    let limits = accord::files::limits_are_errors();
    limits.map_err(|e| Failure::Unable(format!("signals cannot be set up: {e}")))?;
    let of_one = |command: OsString| command == "gateway" || emulate::is_guard(&command);
    if std::env::args_os().nth(1).is_some_and(of_one) {
        return Ok(());
    }
    let threads = rayon::ThreadPoolBuilder::new().build_global();
    threads.map_err(|e| Failure::Unable(format!("threads cannot be started: {e}")))
}

/// The controllers that this build adds to those of [`accord::catalogue`]: with the feature `quic` those of
/// quinn, otherwise none.
#[cfg(feature = "quic")]
pub const CONTROLLERS: &[&Family] = accord_quinn::FAMILIES;
/// The controllers that this build adds to those of [`accord::catalogue`]: with the feature `quic` those of
/// quinn, otherwise none.
#[cfg(not(feature = "quic"))]
pub const CONTROLLERS: &[&Family] = &[];

/// Runs as [`main_with`] with a given command line, whose first argument is the program's name.
/// Wrong usage and `--help` end the process.
///
/// # Panics
///
/// Panics if a family is not sound, see [`accord::catalogue_with`].
pub fn main_from<T: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = T>,
    controllers: &[&'static Family],
    disciplines: &[&'static Family],
) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    if let Some(code) = emulate::guarded(&arguments) {
        return code;
    }
    let catalogue = catalogue_with(controllers, disciplines);
    let done = events::print(arguments.get(1).map(OsString::as_os_str))
        .and_then(|()| python::refuse(&arguments))
        .and_then(|()| emulate::mahimahi::rewritten(arguments))
        .and_then(|arguments| commands::run(parsed(arguments), &catalogue));
    match done {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(e) => e.report(),
    }
}

/// Keeps results under this identity of the program, in place of a hash of its executable: for programs
/// whose controllers are elsewhere. The first call counts.
pub fn identify(build: String) {
    results::identify(build);
}

/// Returns the scenario that `accord import` writes for a topology, given its arguments, the first
/// of which is the program's name.
///
/// # Errors
///
/// Fails as the command does, with the message and a hint.
pub fn imported<T: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = T>,
) -> Result<String, (String, Option<String>)> {
    import::text(&alone(arguments)?).map_err(said)
}

/// Parses the arguments of a command. An error has no usage of the command.
fn alone<A: clap::Args>(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<A, (String, Option<String>)> {
    let command = A::augment_args(clap::Command::new("accord"));
    let parsed = command.try_get_matches_from(arguments).and_then(|m| A::from_arg_matches(&m));
    parsed.map_err(|e| {
        let text = expected(&e.to_string());
        let first = text.lines().next().unwrap_or_default();
        (first.trim_start_matches("error: ").to_string(), None)
    })
}

/// Parses the arguments, or ends the program with the error.
fn parsed(arguments: Vec<OsString>) -> args::Args {
    let matches = help::command().try_get_matches_from(&arguments);
    matches.and_then(|m| args::Args::from_arg_matches(&m)).unwrap_or_else(|e| {
        let text = expected(&e.to_string());
        match e.kind() {
            ErrorKind::InvalidUtf8 => {
                let odd = arguments.iter().find(|argument| argument.to_str().is_none());
                let odd = odd.map_or(String::new(), |odd| odd.display().to_string());
                let why = format!("the argument {odd} is not UTF-8 text\n");
                clap::Error::raw(e.kind(), why).exit()
            }
            // The name of --reps in other programs; the nearest name here is another option.
            ErrorKind::UnknownArgument if invalid(&e).is_some_and(|name| name == "--seeds") => {
                let tip = "--reps 5 makes runs with five seeds, from --seed on";
                let why = format!("unexpected argument '--seeds' found\n\n  tip: {tip}\n");
                clap::Error::raw(e.kind(), why).exit()
            }
            ErrorKind::InvalidSubcommand if near_command(&e).is_some() => {
                let near = near_command(&e).unwrap_or_default();
                clap::Error::raw(e.kind(), format!("{near}\n")).exit()
            }
            ErrorKind::ValueValidation if text != e.to_string() => {
                clap::Error::raw(e.kind(), text.trim_start_matches("error: ")).exit()
            }
            // Help and the version are data.
            _ if !e.use_stderr() => {
                let printed = output::help(&e).map_err(Failure::from);
                std::process::exit(printed.map_or_else(|e| e.report().into(), |()| 0))
            }
            _ => e.exit(),
        }
    })
}

/// Returns the message about a command that does not exist, if it is another one with letters that are missing,
/// added or exchanged. The library finds the others.
fn near_command(e: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue};
    let Some(ContextValue::String(name)) = e.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    if e.get(ContextKind::SuggestedSubcommand).is_some() {
        return None;
    }
    let command = help::command();
    let near = nearest(name, command.get_subcommands().map(clap::Command::get_name))?;
    Some(format!(
        "unrecognized subcommand '{name}'\n\n  tip: a similar subcommand exists: '{near}'"
    ))
}

/// Returns the argument that an error is about.
fn invalid(e: &clap::Error) -> Option<String> {
    match e.get(clap::error::ContextKind::InvalidArg) {
        Some(clap::error::ContextValue::String(name)) => Some(name.clone()),
        _ => None,
    }
}

/// Replaces the reasons that the standard library and clap give for a wrong number.
fn expected(text: &str) -> String {
    const NUMBERS: [(&str, &str); 6] = [
        (": invalid digit found in string", ": expected a whole number of at least 0"),
        (": cannot parse integer from empty string", ": expected a whole number"),
        (": number too large to fit in target type", ": the number is too large"),
        (": invalid float literal", ": expected a number"),
        (": cannot parse float from empty string", ": expected a number"),
        ("..=", " to "),
    ];
    let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    NUMBERS.iter().fold(text.to_owned(), replace)
}

/// Returns message and hint of a failure.
fn said(e: Failure) -> (String, Option<String>) {
    match e {
        Failure::Other { message, hint } => (message, hint),
        Failure::Unable(message) => (message, None),
        Failure::Interrupted | Failure::Exit(_) | Failure::Ended => {
            (fail::INTERRUPTED_TEXT.into(), None)
        }
        Failure::Scenario(errors) => (errors.to_string(), None),
    }
}
