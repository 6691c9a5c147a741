//! `accord run --watch`: a run whenever the file is saved.
#![expect(clippy::disallowed_methods, reason = "it waits for a person")]

use crate::args::Run;
use crate::fail::Failure;
use crate::output::note;
use crate::progress::interrupted;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The interval at which the file is polled.
const LOOK: Duration = Duration::from_millis(200);

/// Runs the scenario file now and whenever it changes. Errors in it are shown and do not end the
/// command; only an interrupt does.
pub fn run(
    args: &Run,
    mut run_one: impl FnMut(Run) -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    let path = Path::new(&args.scenario);
    if !path.is_file() {
        let message = format!("there is no file \"{}\" to watch", args.scenario);
        return Err(Failure::new(message));
    }
    loop {
        let seen = changed(path);
        match run_one(args.clone()) {
            Ok(_) => {}
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(failure) => {
                failure.report();
            }
        }
        note(format_args!("\nwaiting for {} to be saved; Ctrl-C ends", args.scenario));
        // An editor may remove the file for a moment while it saves.
        while changed(path).is_none_or(|now| Some(now) == seen) {
            if interrupted() {
                return Err(Failure::Interrupted);
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Returns the time of the file's last change.
fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|m| m.modified()).ok()
}
