//! The program `accord`, for programs that have controllers and queue disciplines of their own.
//!
//! [`main_with`] is all of it. A program that registers a controller has it in scenario files,
//! in the packet engine and the live one, in theory and the fluid engine as far as its family
//! says how, in tables and on the page. `docs/src/own-controller.md` shows one.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 all is well, 1 an
//! expectation failed and is not known to, 2 bad usage or a bad scenario, 3 this machine cannot do it, 130
//! interrupted.

mod args;
mod attack;
mod axis;
mod bench;
mod capture;
mod check;
mod choice;
mod commands;
mod compare;
mod cost;
mod crowd;
mod draft;
mod evaluate;
mod execute;
mod explain;
mod export;
mod fail;
mod gateway;
mod import;
mod kernel;
mod lab;
mod list;
mod live;
mod manual;
mod measured;
mod metrics;
mod new;
mod output;
mod plot;
mod point;
mod progress;
mod python;
mod qlogs;
mod record;
mod reproduce;
mod results;
mod skip;
mod solve;
mod source;
mod stability;
mod summary;
mod watch;

use accord::catalogue_with;
use accord::family::Family;
use clap::Parser;
use fail::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Reads the command line and does what it says, with these controllers and queue disciplines
/// beside those that come with the program. Returns the exit code.
///
/// # Panics
/// When a family is not sound, see [`accord::catalogue_with`].
pub fn main_with(controllers: &[&'static Family], disciplines: &[&'static Family]) -> ExitCode {
    ExitCode::from(main_from(std::env::args_os(), controllers, disciplines))
}

/// [`main_with`] of a command line that is given, with the program's name as the first argument.
/// Wrong usage and `--help` end the process.
///
/// # Panics
/// When a family is not sound, see [`accord::catalogue_with`].
pub fn main_from<T: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = T>,
    controllers: &[&'static Family],
    disciplines: &[&'static Family],
) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let catalogue = catalogue_with(controllers, disciplines);
    let done = python::refuse(&arguments)
        .and_then(|()| commands::run(args::Args::parse_from(arguments), &catalogue));
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

/// Returns the text of the scenario that `accord new` makes with these arguments, the first of which is
/// the program's name, and with these controllers and queue disciplines in addition.
///
/// # Errors
/// Fails as the command does, with the message and a hint.
///
/// # Panics
/// When a family is not sound, see [`accord::catalogue_with`].
pub fn drafted<T: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = T>,
    controllers: &[&'static Family],
    disciplines: &[&'static Family],
) -> Result<String, (String, Option<String>)> {
    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        new: new::New,
    }
    let catalogue = catalogue_with(controllers, disciplines);
    let parsed = Alone::try_parse_from(arguments).map_err(|e| refused(&e))?;
    new::text(&parsed.new, &catalogue).map_err(said)
}

/// Returns the text of the scenario that `accord import` writes of a topology, whose arguments these
/// are, with the program's name as the first.
///
/// # Errors
/// Fails as the command does, with the message and a hint.
pub fn imported<T: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = T>,
) -> Result<String, (String, Option<String>)> {
    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        import: import::Import,
    }
    let parsed = Alone::try_parse_from(arguments).map_err(|e| refused(&e))?;
    import::text(&parsed.import).map_err(said)
}

/// Returns what is wrong with arguments, without the usage of a command.
fn refused(e: &clap::Error) -> (String, Option<String>) {
    let text = e.to_string();
    let first = text.lines().next().unwrap_or_default();
    (first.trim_start_matches("error: ").to_string(), None)
}

/// Returns message and hint of a failure.
fn said(e: Failure) -> (String, Option<String>) {
    match e {
        Failure::Other { message, hint } => (message, hint),
        Failure::Unable(message) => (message, None),
        Failure::Interrupted => (fail::INTERRUPTED_TEXT.into(), None),
        Failure::Scenario(errors) => (errors.to_string(), None),
    }
}
