//! `accord gateway trace`: the messages of a running gateway with a peer, line by line.

use super::args::Trace;
use super::parts::{answer, named, read};
use crate::fail::Failure;
use crate::output::data;
use std::time::Duration;

/// The time from one look to the next.
const LOOK: Duration = Duration::from_millis(200);

/// Carries out the command.
#[expect(clippy::disallowed_methods, reason = "it waits for the running gateway")]
pub fn run(args: &Trace) -> Result<bool, Failure> {
    named(&read(&args.site)?, &args.peer)?;
    let length = Duration::from_secs_f64(args.length.as_secs_f64());
    answer(&args.site, &format!("POST /trace/{}/{}", args.peer, length.as_millis().max(1)))?;
    let begun = std::time::Instant::now();
    loop {
        let ends = begun.elapsed() >= length;
        let lines = answer(&args.site, "GET /trace")?;
        if !lines.is_empty() {
            data(lines)?;
        }
        if ends {
            return Ok(true);
        }
        std::thread::sleep(LOOK.min(length));
    }
}
