//! The program `accord`.

use std::process::ExitCode;

fn main() -> ExitCode {
    accord_cli::main_with(accord_cli::CONTROLLERS, &[])
}
