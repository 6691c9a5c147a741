//! Accord with a controller and a queue discipline of one's own.

mod keeper;
mod marker;

use std::process::ExitCode;

pub fn main() -> ExitCode {
    accord_cli::main_with(&[&keeper::FAMILY], &[&marker::FAMILY])
}
