//! The program `accord`.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 all is well, 1 an
//! expectation failed and is not known to, 2 bad usage or a bad scenario, 3 this machine cannot do it, 130
//! interrupted.

mod args;
mod bench;
mod capture;
mod check;
mod commands;
mod execute;
mod explain;
mod fail;
mod live;
mod output;
mod progress;
mod record;
mod reproduce;
mod solve;
mod source;
mod stability;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match commands::run(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(e) => e.report(),
    }
}
