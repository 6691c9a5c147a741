//! Accord with a controller for quinn of one's own.

mod gentle;

use accord_quinn::{CUBIC, Family, family};
use std::process::ExitCode;

static GENTLE: Family = family::<gentle::GentleConfig>("gentle");

pub fn main() -> ExitCode {
    accord_cli::main_with(&[&GENTLE, &CUBIC], &[])
}
