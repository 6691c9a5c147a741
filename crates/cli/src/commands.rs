//! The commands.

use crate::args::{Args, Command, Kind, Run};
use crate::capture::CaptureFile;
use crate::choice::controllers;
use crate::evaluate::output::{check_file, put_at};
use crate::execute::{Executed, Outcome, Work};
use crate::fail::Failure;
use crate::output::{data, heading, json, note, prose, style};
use crate::progress::{Progress, watch_interrupts};
use crate::qlogs::QlogDir;
use crate::results::{
    self, build, check_directory, ending, experiment, keep, short_queues, vacant,
    warning_of_replaced, write,
};
use crate::run_options::RunOptions;
use crate::source::load;
use crate::{
    attack, bench, check, compare, cost, emulate, evaluate, explain, export, gateway, import,
    kernel, lab, list, live, manual, new, plot, point, record, reproduce, skip, solve, stability,
};
use accord::Catalogue;
use accord::report::show::visible;
use accord::report::{Lock, Tally, checks_table, output_schema, overview, table};
use accord::set;
use accord_evaluate::junit_of_checks;
use std::path::Path;

/// Carries out a command. `Ok(false)` means that an expectation failed unexpectedly.
pub fn run(args: Args, catalogue: &Catalogue) -> Result<bool, Failure> {
    if !matches!(args.command, Command::Emulate(_) | Command::Gateway(_) | Command::Kernel(_)) {
        // Long-running commands handle signals themselves, including SIGHUP.
        watch_interrupts();
    }
    match args.command {
        Command::List(a) => list::run(&a, catalogue),
        Command::Import(a) => import::run(&a, catalogue),
        Command::Export(a) => export::run(&a),
        Command::New(a) => new::run(&a, catalogue),
        Command::Run(a) => run_one(a, catalogue),
        Command::Check(a) => check::run(a, catalogue),
        Command::Compare(a) => compare::run(&a),
        Command::Plot(a) => plot::run(&a),
        Command::Explain(a) => explain::run(a, catalogue),
        Command::Reproduce(a) => reproduce::run(a, catalogue),
        Command::Attack(a) => attack::run(&a, catalogue),
        Command::Evaluate(a) => evaluate::run(&a, catalogue),
        Command::Emulate(a) => emulate::run(a, catalogue),
        Command::Solve(a) => solve::run(a),
        Command::Stability(a) => stability::run(&a, catalogue),
        Command::Schema(a) => {
            let schema = a.output.and_then(|command| output_schema(&command));
            json(&schema.unwrap_or_else(|| match a.file {
                Kind::Scenario => accord::language::schema(catalogue),
                Kind::Pack => accord_evaluate::pack::schema(),
                Kind::Rules => accord_evaluate::rule::schema(),
                #[cfg(feature = "gateway")]
                Kind::Site => accord_gateway::config::schema(),
            }))?;
            Ok(true)
        }
        Command::Bench(a) => bench::run(&a, catalogue),
        Command::Lab(a) => lab::run(a, catalogue),
        Command::Gateway(a) => gateway::run(&a, catalogue),
        Command::Kernel(a) => kernel::run(&a, catalogue),
        Command::Completions(a) => manual::completions(&a),
        Command::Man(a) => manual::man(&a),
    }
}

fn run_one(mut args: Run, catalogue: &Catalogue) -> Result<bool, Failure> {
    let mut file = load(&args.scenario, &args.options.set)?;
    let mut points = file.points(catalogue, args.options.seed)?;
    if let Some(controller) = &args.controller {
        let settings = controllers(controller, &points);
        set(&mut file, &settings)?;
        points = file.points(catalogue, args.options.seed)?;
        args.options.set.extend(settings);
    }
    // A table of all samples needs them.
    args.options.series |= args.csv;
    let id = points[0].id.clone();
    let chosen = point::chosen(&points, &args.options.point)?;
    let name = point::directory(&id, points.len(), &chosen);
    point::retain(&mut points, &chosen);
    let cost = cost::estimate(
        &points,
        &args.options.engine,
        args.options.reps,
        args.options.series,
        catalogue,
    );
    cost.announce(args.options.memory, args.options.quiet)?;
    let live = results::has_live(&args.options, &points);
    drop(points);
    let (dir, remark) = match args.output {
        Some(dir) => {
            let warning = warning_of_replaced(&dir, &file, catalogue, &args.options)?;
            (dir, warning)
        }
        None => vacant(Path::new("runs").join(name), &file, catalogue, &args.options)?,
    };
    args.junit.as_deref().map_or(Ok(()), check_file)?;
    check_directory(&dir)?;
    let _lock = Lock::take(&dir)?;
    let kept = keep(&dir, &args.options, live, &build())?;
    let work = Work::of(&file, catalogue, &args.options, false)?;
    remark.iter().for_each(note);
    if !args.options.quiet {
        let odd = file.events_without_effect();
        odd.iter().for_each(|text| note(visible(&format!("warning: {text}"))));
    }
    let progress = Progress::new(work.duration(), args.options.quiet || args.options.json);
    let Executed { outcomes, capture, logs } = work.execute(&kept, &progress)?;
    drop(progress);
    let experiment = experiment(&id, &outcomes, &dir);
    let written = write(&dir, &outcomes, args.csv);
    let verdicts = args.junit.as_deref().map_or(Ok(()), |path| {
        let points: Vec<_> = outcomes.iter().map(Outcome::point).collect();
        put_at(path, junit_of_checks(&id, &points).as_bytes())
    });
    match &written {
        Ok(_) => kept.discard(),
        Err(_) => results::report_kept(&kept),
    }
    let captured = capture.map_or(Ok(()), CaptureFile::finish);
    let logged = logs.map_or(Ok(()), QlogDir::finish);
    if args.options.record {
        record::lines(&outcomes).iter().try_for_each(data)?;
    } else if args.options.json {
        json(&experiment)?;
    } else {
        show(&outcomes, &args.options)?;
        if !args.options.quiet {
            short_queues(&outcomes).iter().for_each(note);
            (outcomes.iter()).for_each(|o| live::remarks(&o.point()).iter().for_each(note));
            if args.options.skip.is_some() {
                (outcomes.iter()).for_each(|o| skip::remarks(&o.point()).iter().for_each(note));
            }
            if outcomes.len() == 1 && !args.options.show.is_empty() {
                note("--show is for the overview of a sweep; one point has all of its quantities");
            }
            if outcomes.len() > 1 && !args.options.details {
                note("tables of each point: --details, or the page");
            }
            if let Ok(page) = &written {
                note(ending(&outcomes, page));
            }
        }
    }
    // A full disk does not lose the results in memory.
    written?;
    verdicts?;
    captured?;
    logged?;
    live::fit(outcomes.iter().flat_map(|o| &o.runs))?;
    let classes = outcomes.iter().flat_map(|o| &o.checks).map(|c| c.class);
    Ok(Tally::of(classes).worst().passes())
}

/// Prints the tables.
fn show(outcomes: &[Outcome], options: &RunOptions) -> Result<(), Failure> {
    if outcomes.len() > 1 {
        prose(heading(&outcomes[0].scenario))?;
        let points: Vec<_> = outcomes.iter().map(Outcome::point).collect();
        prose(overview(&points, &options.show, style()))?;
        if !options.details {
            return Ok(());
        }
    }
    for outcome in outcomes {
        let s = &outcome.scenario;
        prose(heading(s))?;
        if !s.point.is_empty() {
            data(visible(&outcome.point().label()))?;
        }
        let runs: Vec<_> = outcome.runs.iter().collect();
        prose(table(s, &runs, style()))?;
        prose(checks_table(&outcome.checks, style()))?;
    }
    Ok(())
}
