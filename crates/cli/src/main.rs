//! The program `accord`.

use std::process::ExitCode;

fn main() -> ExitCode {
    accord::main_with(&[], &[])
}
