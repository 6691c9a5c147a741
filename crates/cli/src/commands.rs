//! The commands.

use crate::args::{Args, Command, Compare, Run};
use crate::bench;
use crate::capture::CaptureFile;
use crate::check;
use crate::cost;
use crate::execute::{Executed, Outcome, execute};
use crate::explain;
use crate::fail::Failure;
use crate::import;
use crate::list;
use crate::live;
use crate::manual;
use crate::new;
use crate::output::{data, json, note, style};
use crate::progress::watch_interrupts;
use crate::record;
use crate::reproduce;
use crate::results::{build, experiment, keep, warn_of_replaced, write};
use crate::solve;
use crate::stability;
use accord::Catalogue;
use accord::report::show::{TITLE, clean, visible};
use accord::report::{
    Class, Column, RowRecord, check_place, checks_table, comparison, load_run_dir, rows, table,
};
use accord::{load, set};
use std::path::Path;

/// Carries out a command. `Ok(false)` means that an expectation failed, and not as it is known to.
pub fn run(args: Args, catalogue: &Catalogue) -> Result<bool, Failure> {
    watch_interrupts();
    match args.command {
        Command::List(a) => list::run(&a, catalogue),
        Command::Import(a) => import::run(&a, catalogue),
        Command::New(a) => new::run(&a, catalogue),
        Command::Run(a) => run_one(a, catalogue),
        Command::Check(a) => check::run(a, catalogue),
        Command::Compare(a) => compare(a),
        Command::Explain(a) => explain::run(a, catalogue),
        Command::Reproduce(a) => reproduce::run(a, catalogue),
        Command::Solve(a) => solve::run(a),
        Command::Stability(a) => stability::run(&a, catalogue),
        Command::Schema => {
            json(&accord::language::schema(catalogue))?;
            Ok(true)
        }
        Command::Bench(a) => bench::run(&a, catalogue),
        Command::Completions(a) => manual::completions(&a),
        Command::Man(a) => manual::man(&a),
    }
}

fn run_one(args: Run, catalogue: &Catalogue) -> Result<bool, Failure> {
    let mut file = load(&args.scenario)?;
    set(&mut file, &args.how.set)?;
    let points = file.points(catalogue, args.how.seed)?;
    let cost = cost::estimate(&points, &args.how.engine, args.how.reps, catalogue);
    cost.announce(args.how.force, args.how.quiet)?;
    let id = points[0].id.clone();
    drop(points);
    let dir = args.output.unwrap_or_else(|| Path::new("runs").join(&id));
    check_place(&dir)?;
    warn_of_replaced(&dir, &file, catalogue, &args.how)?;
    let kept = keep(&dir, &args.how, &build())?;
    let Executed { outcomes, capture } = execute(&file, catalogue, &args.how, false, &kept)?;
    let experiment = experiment(&id, &outcomes);
    let pages = write(&dir, &outcomes, args.csv)?;
    kept.discard();
    let captured = capture.map_or(Ok(()), CaptureFile::finish);
    if args.how.record {
        record::show(&outcomes)?;
    } else if args.how.json {
        json(&experiment)?;
    } else {
        show(&outcomes)?;
        if !args.how.quiet {
            (outcomes.iter()).for_each(|o| live::remarks(&o.point()));
            note(format_args!("\nplots: {pages}\ndata:  {}", dir.display()));
        }
    }
    captured?;
    if args.explain {
        explain::after_run(&file, catalogue, &args.how)?;
    }
    live::fit(outcomes.iter().flat_map(|o| &o.runs))?;
    Ok(experiment.class != Class::Unknown)
}

/// Tables for people.
fn show(outcomes: &[Outcome]) -> Result<(), Failure> {
    for outcome in outcomes {
        let s = &outcome.scenario;
        data(format_args!("{}: {}", s.id, clean(&s.title, TITLE)))?;
        if !s.point.is_empty() {
            data(visible(&outcome.point().label()))?;
        }
        let runs: Vec<_> = outcome.runs.iter().collect();
        data(table(s, &runs, style()))?;
        data(checks_table(&outcome.checks, style()))?;
    }
    Ok(())
}

fn compare(args: Compare) -> Result<bool, Failure> {
    let loaded: Vec<_> = args
        .runs
        .iter()
        .map(|dir| load_run_dir(dir))
        .collect::<Result<_, _>>()?;
    let columns: Vec<Column> = loaded.iter().flat_map(|run| run.columns()).collect();
    if columns.len() < 2 {
        let why = "there is one engine of one run, and nothing to compare it with";
        return Err(Failure::new(why).hint("name another run directory"));
    }
    if args.json {
        json(&RowRecord::of(&columns, &rows(&columns)))?;
    } else {
        data(comparison(&columns, style()).trim_end())?;
    }
    Ok(true)
}
