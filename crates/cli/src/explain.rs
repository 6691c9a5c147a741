//! `accord explain`: why engines differ.

use crate::args::Explain;
use crate::fail::Failure;
use crate::live;
use crate::output::{json, prose};
use crate::progress::Progress;
use crate::run_options::RunOptions;
use crate::source::load;
use accord::explain::{Job, Pair, Values, Which, attribute, text};
use accord::report::figure_values;
use accord::report::show::visible;
use accord::scenario::{Engine, Scenario};
use accord::units::Duration;
use accord::{Catalogue, run_all};

/// Explains every point of a scenario. Returns `Ok(false)` if a gap is left unexplained.
pub fn run(args: Explain, catalogue: &Catalogue) -> Result<bool, Failure> {
    let which = if args.standard { Which::Standard } else { Which::Expected };
    let pair = Pair {
        reference: match args.engine {
            Engine::Live => Engine::Packet,
            Engine::Fluid | Engine::Packet => Engine::Theory,
            Engine::Theory => {
                let why = "theory is the reference, and cannot be explained";
                return Err(Failure::new(why).hint("name packet, fluid or live"));
            }
        },
        measured: args.engine,
    };
    let file = load(&args.scenario, &args.set)?;
    let options = RunOptions {
        engine: vec![args.engine],
        live: args.live,
        seed: args.seed,
        reps: args.reps,
        json: args.json,
        quiet: args.quiet,
        ..RunOptions::default()
    };
    let by_seed = options.repetitions(&file, catalogue)?;
    live::possible(vec![args.engine], &options, false, &by_seed[0])?;
    let mut all = Vec::new();
    for point in 0..by_seed[0].len() {
        let seeds: Vec<Scenario> = by_seed.iter().map(|s| s[point].clone()).collect();
        let found = attribute(&seeds, pair, which, args.finer, &mut |jobs| runs(jobs, &options))?;
        if !args.json {
            prose(visible(&text(&found)))?;
        }
        all.push(found);
    }
    if args.json {
        json(&all)?;
    }
    if let Some(empty) = all.iter().find(|a| a.findings.is_empty()) {
        let why = format!("{}: the engines have no figure in common", empty.id);
        return Err(Failure::new(why).hint("accord run shows the results of theory"));
    }
    Ok(all.iter().all(|a| a.pass()))
}

/// Runs scenarios on all cores.
fn runs(jobs: Vec<Job>, options: &RunOptions) -> Result<Vec<Values>, Failure> {
    let total = jobs.iter().fold(Duration::ZERO, |sum, j| sum + j.scenario.duration);
    let progress = Progress::new(total, options.quiet || options.json);
    let to_do: Vec<accord::Job> = (jobs.iter())
        .map(|job| accord::Job { scenario: &job.scenario, engine: job.engine })
        .collect();
    let observe = |_: &accord::Job| progress.observe(None, None);
    let runs = run_all(&to_do, &options.engine_settings(), observe, |_, _| {})?;
    live::fit(&runs)?;
    Ok(jobs.iter().zip(&runs).map(|(job, run)| figure_values(&job.scenario, run)).collect())
}
