//! Errors as people see them.

use crate::output::{NoOutput, note, report};
use accord::Error;
use accord::language::{Errors, ScenarioError};
use accord::report::is_full;
use accord::report::show::visible;
use miette::{LabeledSpan, MietteDiagnostic, NamedSource, Report, Severity};
use std::fmt::Display;
use std::process::ExitCode;

/// What an interrupted program says.
pub const INTERRUPTED_TEXT: &str = "interrupted; no result was written for what was going on";

/// Why the program ends without a result.
pub enum Failure {
    /// The scenario is wrong.
    Scenario(Errors),
    /// Something else is.
    Other {
        /// The message.
        message: String,
        /// A hint how to mend it.
        hint: Option<String>,
    },
    /// This machine, or this user on it, cannot do it.
    Unable(String),
    /// The user stopped it.
    Interrupted,
}

impl Failure {
    /// Something is wrong.
    pub fn new(message: impl Display) -> Failure {
        Failure::Other {
            message: message.to_string(),
            hint: None,
        }
    }

    /// The operating system refused it. A full disk is nothing that the user asked wrongly.
    pub fn io(message: String, e: &std::io::Error) -> Failure {
        match is_full(e) {
            true => Failure::Unable(message),
            false => Failure::new(message),
        }
    }

    /// Adds a hint how to mend it.
    pub fn hint(self, text: impl Into<String>) -> Failure {
        match self {
            Failure::Other { message, .. } => Failure::Other {
                message,
                hint: Some(text.into()),
            },
            other => other,
        }
    }

    /// Prints it, and gives the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::Scenario(errors) => {
                for e in errors.iter() {
                    report(format_args!("{:?}", diagnostic(e)));
                }
            }
            Failure::Other { message, hint } => {
                let mut d = MietteDiagnostic::new(visible(&message)).with_severity(Severity::Error);
                d.help = hint.as_deref().map(visible);
                report(format_args!("{:?}", Report::from(d)));
            }
            Failure::Unable(message) => {
                let d = MietteDiagnostic::new(visible(&message)).with_severity(Severity::Error);
                report(format_args!("{:?}", Report::from(d)));
                return ExitCode::from(3);
            }
            Failure::Interrupted => {
                note(INTERRUPTED_TEXT);
                return ExitCode::from(130);
            }
        }
        ExitCode::from(2)
    }
}

fn diagnostic(e: &ScenarioError) -> Report {
    let mut labels = vec![LabeledSpan::underline(e.span.clone())];
    if let Some(also) = &e.also {
        labels.push(LabeledSpan::at(also.span.clone(), also.what));
    }
    let mut d = MietteDiagnostic::new(visible(&e.message)).with_labels(labels);
    d.help = e.hint.as_deref().map(visible);
    Report::from(d).with_source_code(
        NamedSource::new(visible(&e.origin.name), visible(&e.origin.text)).with_language("toml"),
    )
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
                let failure = Failure::new(&e);
                e.hint().into_iter().fold(failure, Failure::hint)
            }
        }
    }
}

impl From<Errors> for Failure {
    fn from(e: Errors) -> Failure {
        Failure::Scenario(e)
    }
}

impl From<ScenarioError> for Failure {
    fn from(e: ScenarioError) -> Failure {
        Failure::Scenario(e.into())
    }
}

impl From<accord::report::FileError> for Failure {
    fn from(e: accord::report::FileError) -> Failure {
        match e.is_full() {
            true => Failure::Unable(e.to_string()),
            false => Failure::new(e),
        }
    }
}
