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
use accord::solver::{Settings, Status, max_min, solve_watched};
use answer::Answer;
use network::Network;
use std::ops::ControlFlow;

/// Solves a network. Returns `Ok(false)` if there is no solution, or none was found.
pub fn run(args: Solve) -> Result<bool, Failure> {
    let network = Network::open(&args.network)?;
    let problem = &network.problem;
    let (found, seconds) = timed(|| {
        if args.max_min {
            max_min(problem).map(Found::MaxMin)
        } else {
            let settings = Settings::default();
            let progress = Convergence::new(settings.tolerance, args.quiet || args.json);
            let solution = solve_watched(problem, &settings, &mut |now| {
                progress.show(now.iterations, now.residual);
                if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            Ok(Found::Utility(solution))
        }
    });
    if interrupted() {
        return Err(Failure::Interrupted);
    }
    let answer = match found {
        Ok(Found::Utility(solution)) => Answer::of_utilities(problem, solution, seconds),
        Ok(Found::MaxMin(found)) => Answer::of_max_min(problem, found, seconds),
        Err(e) => {
            let e = Failure::new(format!("{}: {e}", args.network.display()));
            return Err(e.hint("remove --max-min, or give these flows the utility log"));
        }
    };
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

enum Found {
    Utility(accord::solver::Solution),
    MaxMin(accord::solver::MaxMin),
}

#[allow(clippy::disallowed_methods, reason = "the duration is not part of the result")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let before = std::time::Instant::now();
    (work(), before.elapsed().as_secs_f64())
}
