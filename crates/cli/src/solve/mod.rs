//! `accord solve`: rates and prices of a network that is given as tables, with their proof.

mod answer;
mod network;
mod show;
mod table;
mod write;

use crate::args::Solve;
use crate::fail::Failure;
use crate::output;
use crate::progress::{Convergence, interrupted};
use accord::solver::{ProblemError, Progress, Settings, Status, max_min, solve_watched};
use answer::Answer;
use network::Network;
use std::ops::ControlFlow;

/// Solves a network. Returns `Ok(false)` if there is no solution, or none was found.
pub fn run(args: Solve) -> Result<bool, Failure> {
    let network = Network::open(&args.network)?;
    let problem = &network.problem;
    let answer = if args.max_min {
        let (found, seconds) = timed(|| max_min(problem));
        let found = found.map_err(|e| {
            let what = match e {
                ProblemError::WrongDemand { flow, expected } => {
                    format!("flow \"{}\": {expected}", network.flows[flow])
                }
                other => other.to_string(),
            };
            let e = Failure::new(format!("{}: {what}", args.network.display()));
            e.hint("remove --max-min, or give these flows the utility log")
        })?;
        Answer::of_max_min(problem, found, seconds)
    } else {
        let settings = Settings::default();
        let progress = Convergence::new(settings.tolerance, args.quiet || args.json);
        let mut watch = |now: Progress| {
            progress.show(now.iterations, now.residual);
            if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (solution, seconds) = timed(|| solve_watched(problem, &settings, &mut watch));
        Answer::of_utilities(problem, solution, seconds)
    };
    if interrupted() {
        return Err(Failure::Interrupted);
    }
    if let Some(dir) = &args.output {
        write::write(dir, &network, &answer)?;
    }
    if args.json {
        output::json(&show::json(&network, &answer))?
    } else {
        output::data(show::text(&network, &answer, args.top).trim_end())?
    }
    Ok(answer.status == Status::Solved)
}

#[allow(clippy::disallowed_methods, reason = "the duration is not part of the result")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let before = std::time::Instant::now();
    (work(), before.elapsed().as_secs_f64())
}
