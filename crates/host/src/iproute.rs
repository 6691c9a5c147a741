//! Commands of iproute2.

use std::io::{self, ErrorKind, Write};
use std::process::{Command, Output, Stdio};

/// The reason why a command of iproute2 failed.
#[derive(Debug)]
pub enum Error {
    /// The program is not installed.
    Missing,
    /// The program cannot be run.
    System(io::Error),
    /// The program refused, with the first line of its reason.
    Refused(String),
}

/// Runs `ip` with these arguments and this input. Returns its output.
///
/// # Errors
///
/// Fails if the program is missing or refuses.
pub fn ip(arguments: &[&str], input: &str) -> Result<String, Error> {
    let run = || -> io::Result<Output> {
        let mut child = Command::new("ip")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut to) = child.stdin.take() {
            to.write_all(input.as_bytes())?;
        }
        child.wait_with_output()
    };
    match run() {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            Err(Error::Refused(text.lines().next().unwrap_or("no reason given").into()))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Err(Error::Missing),
        Err(e) => Err(Error::System(e)),
    }
}
