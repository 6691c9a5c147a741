//! What each command does.

use crate::args::{Args, Check, Command, Compare, Reproduce, Run};
use crate::bench;
use crate::execute::{Outcome, execute};
use crate::fail::Failure;
use crate::progress::watch_interrupts;
use crate::solve;
use crate::source::{BUILT_IN, CATALOGUE, load};
use accord_report::{
    Column, Experiment, Point, RowRecord, RunDir, Style, checks_table, comparison, load_run_dir,
    page, rows, table, write_file, write_run_dir,
};
use accord_scenario::print;
use std::io::IsTerminal;
use std::path::Path;

/// Carries out a command. `Ok(false)` means that an expectation failed.
pub fn run(args: Args) -> Result<bool, Failure> {
    watch_interrupts();
    match args.command {
        Command::Run(a) => run_one(a),
        Command::Check(a) => check(a),
        Command::Compare(a) => compare(a),
        Command::Reproduce(a) => reproduce(a),
        Command::Solve(a) => solve::run(a),
        Command::Schema => {
            print_json(&accord_scenario::schema(&CATALOGUE));
            Ok(true)
        }
        Command::Bench(a) => bench::run(a.name.as_deref(), a.json),
    }
}

fn style() -> Style {
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    Style {
        colour,
        ..Style::default()
    }
}

fn print_json(value: &impl serde::Serialize) {
    println!(
        "{}",
        serde_json::to_string_pretty(value).expect("plain data")
    );
}

fn run_one(args: Run) -> Result<bool, Failure> {
    let file = load(&args.scenario, &args.how.set)?;
    let outcomes = execute(&file, &args.how)?;
    let id = outcomes[0].scenario.id.clone();
    let experiment = experiment(&id, &outcomes);
    let dir = args.output.unwrap_or_else(|| Path::new("runs").join(&id));
    let pages = write(&dir, &outcomes, args.csv)?;
    if args.how.json {
        print_json(&experiment);
    } else {
        show(&outcomes);
        if !args.how.quiet {
            eprintln!("\nplots: {pages}\ndata:  {}", dir.display());
        }
    }
    Ok(experiment.pass)
}

fn experiment(id: &str, outcomes: &[Outcome]) -> Experiment {
    let points: Vec<Point> = outcomes.iter().map(Outcome::point).collect();
    Experiment::of(id, &points)
}

/// Tables for people.
fn show(outcomes: &[Outcome]) {
    for outcome in outcomes {
        let s = &outcome.scenario;
        println!("{}: {}", s.id, s.title);
        if !s.point.is_empty() {
            println!("{}", outcome.point().label());
        }
        let runs: Vec<_> = outcome.runs.iter().collect();
        println!("{}", table(s, &runs, style()));
        println!("{}", checks_table(&outcome.checks, style()));
    }
}

/// Writes run directories and the page; gives where the page is.
fn write(dir: &Path, outcomes: &[Outcome], csv: bool) -> Result<String, Failure> {
    let points: Vec<Point> = outcomes.iter().map(Outcome::point).collect();
    let html = page(&points);
    if let [outcome] = outcomes {
        let contents = RunDir {
            scenario_toml: &print(&outcome.scenario),
            point: points[0],
            page: Some(&html),
            csv,
        };
        write_run_dir(dir, &contents)?;
    } else {
        for (i, outcome) in outcomes.iter().enumerate() {
            let contents = RunDir {
                scenario_toml: &print(&outcome.scenario),
                point: points[i],
                page: None,
                csv,
            };
            write_run_dir(&dir.join(format!("{:03}", i + 1)), &contents)?;
        }
        write_file(&dir.join("page.html"), html.as_bytes())?;
    }
    Ok(dir.join("page.html").display().to_string())
}

fn check(args: Check) -> Result<bool, Failure> {
    let file = load(&args.scenario, &args.set)?;
    let points = file.points(&CATALOGUE, args.seed)?;
    if args.print {
        for point in &points {
            println!("{}", print(point));
        }
        return Ok(true);
    }
    let s = &points[0];
    let runs = match points.len() {
        1 => String::new(),
        n => format!(", {n} points"),
    };
    println!(
        "{}: valid; {} nodes, {} links, {} flows, {} expectations, {} simulated{runs}",
        s.id,
        s.nodes.len(),
        s.links.len(),
        s.flows.len(),
        s.expectations.len(),
        s.duration
    );
    Ok(true)
}

fn compare(args: Compare) -> Result<bool, Failure> {
    let loaded: Vec<_> = args
        .runs
        .iter()
        .map(|dir| load_run_dir(dir))
        .collect::<Result<_, _>>()?;
    let columns: Vec<Column> = loaded.iter().flat_map(|run| run.columns()).collect();
    if args.json {
        print_json(&RowRecord::of(&columns, &rows(&columns)));
    } else {
        print!("{}", comparison(&columns, style()));
    }
    Ok(true)
}

fn reproduce(args: Reproduce) -> Result<bool, Failure> {
    if args.list {
        for (id, _) in BUILT_IN {
            let points = load(id, &[])?.points(&CATALOGUE, None)?;
            println!("{id:12} {}", points[0].title);
        }
        return Ok(true);
    }
    let ids: Vec<String> = match args.all {
        true => BUILT_IN.iter().map(|(id, _)| id.to_string()).collect(),
        false => args.id,
    };
    let mut experiments = Vec::new();
    for id in &ids {
        if !BUILT_IN.iter().any(|(known, _)| known == id) {
            let hint = "accord reproduce --list shows them";
            return Err(Failure::new(format!("there is no experiment \"{id}\"")).hint(hint));
        }
        let file = load(id, &args.how.set)?;
        let outcomes = execute(&file, &args.how)?;
        let experiment = experiment(id, &outcomes);
        let page = write(&args.output.join(id), &outcomes, false)?;
        if !args.how.json {
            println!("{id}: {}", outcomes[0].scenario.title);
            for outcome in &outcomes {
                if !outcome.scenario.point.is_empty() {
                    println!("{}", outcome.point().label());
                }
                println!("{}", checks_table(&outcome.checks, style()));
            }
            if !args.how.quiet {
                eprintln!("plots: {page}\n");
            }
        }
        experiments.push(experiment);
    }
    if args.how.json {
        print_json(&experiments);
    } else if experiments.len() > 1 {
        for e in &experiments {
            let met = e.checks.iter().filter(|c| c.pass).count();
            let mark = if e.pass { "✓" } else { "✗" };
            println!(
                "{mark} {:12} {met} of {} checks passed",
                e.id,
                e.checks.len()
            );
        }
    }
    Ok(experiments.iter().all(|e| e.pass))
}
