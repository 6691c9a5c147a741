//! `accord reproduce`: the experiments that come with the program, their verdicts over all of
//! them, and their recorded results.

use crate::args::Reproduce;
use crate::capture::CaptureFile;
use crate::execute::{Executed, execute};
use crate::fail::Failure;
use crate::live;
use crate::output::{data, heading, json, note, prose, style};
use crate::point;
use crate::qlogs::QlogDir;
use crate::record;
use crate::results::{build, experiment, keep, warn_of_replaced, write};
use crate::skip;
use accord::Catalogue;
use accord::report::show::visible;
use accord::report::{
    Class, Experiment, ExperimentRow, Experiments, Kept, Point, Results, Tally, check_place,
    checks_table, overview, remarks, rewrite, totals,
};
use accord::{BUILT_IN, load, set};
use std::path::Path;

/// The largest number of differences that are printed.
const SHOWN: usize = 200;

/// The command that writes the recorded results, as the files name it.
const COMMAND: &str = "accord reproduce --all --write --results scenarios/results.txt \
                       --tables README.md,docs/src/experiments.md";

/// Carries out the command. `Ok(false)` means that a result is not as recorded.
pub fn run(args: Reproduce, catalogue: &Catalogue) -> Result<bool, Failure> {
    let ids: Vec<String> = match args.all {
        true => BUILT_IN.iter().map(|(id, _)| id.to_string()).collect(),
        false => args.id.clone(),
    };
    if let Some(id) = (ids.iter()).find(|id| BUILT_IN.iter().all(|(known, _)| known != id)) {
        let known = BUILT_IN.iter().map(|(known, _)| *known);
        let hint = match accord::language::suggest(id, known) {
            Some(hint) => format!("{hint} accord list experiments shows all"),
            None => "accord list experiments shows them".into(),
        };
        return Err(Failure::new(format!("there is no experiment \"{id}\"")).hint(hint));
    }
    for id in &ids {
        check_place(&args.output.join(id))?;
    }
    // Files that cannot be read are reported before the work.
    let recorded = Recorded::open(&args)?;
    let (mut unfit, mut captured) = (Ok(()), Ok(()));
    let mut experiments = Vec::new();
    let (mut rows, mut results) = (Vec::new(), Results::default());
    let build = build();
    let without_live = args.all || args.results.is_some();
    // Kept to the end, so that an interrupted command that is given again shows all experiments.
    let mut all_kept = Vec::new();
    for id in &ids {
        let mut file = load(id)?;
        set(&mut file, &args.how.set)?;
        let scenarios = file.points(catalogue, args.how.seed)?;
        let chosen = point::chosen(&scenarios, &args.how.point)?;
        let name = point::directory(id, scenarios.len(), &chosen);
        let dir = args.output.join(name);
        check_place(&dir)?;
        warn_of_replaced(&dir, &file, catalogue, &args.how)?;
        let kept = keep(&dir, &args.how, &build)?;
        let Executed {
            outcomes,
            capture,
            logs,
        } = execute(&file, catalogue, &args.how, without_live, &kept)?;
        unfit = unfit.and_then(|()| live::fit(outcomes.iter().flat_map(|o| &o.runs)));
        let experiment = experiment(id, &outcomes, &dir);
        let page = write(&dir, &outcomes, false)?;
        all_kept.push(kept);
        captured = captured
            .and_then(|()| capture.map_or(Ok(()), CaptureFile::finish))
            .and_then(|()| logs.map_or(Ok(()), QlogDir::finish));
        let points: Vec<Point> = outcomes.iter().map(|o| o.point()).collect();
        rows.push(ExperimentRow::of(id, &points));
        results.add(id, &points);
        if args.how.record {
            record::show(&outcomes)?;
        } else if !args.how.json {
            prose(heading(&outcomes[0].scenario))?;
            // A sweep has an overview, and its points on request.
            let details = outcomes.len() == 1 || args.how.details;
            if outcomes.len() > 1 {
                prose(overview(&points, style()))?;
            }
            for outcome in outcomes.iter().filter(|_| details) {
                if !outcome.scenario.point.is_empty() {
                    data(visible(&outcome.point().label()))?;
                }
                prose(checks_table(&outcome.checks, style()))?;
                let remarks = remarks(&outcome.runs.iter().collect::<Vec<_>>());
                if !remarks.is_empty() {
                    prose(visible(&remarks))?;
                }
            }
            if !args.how.quiet {
                points.iter().for_each(live::remarks);
                if args.how.skip.is_some() {
                    points.iter().for_each(skip::remarks);
                }
                note(format_args!("plots: {page}\n"));
            }
        }
        experiments.push(experiment);
    }
    all_kept.iter().for_each(Kept::discard);
    if args.how.json {
        json(&Experiments::of(experiments.clone()))?;
    } else if experiments.len() > 1 && !args.how.record {
        show(&experiments, &rows)?;
    }
    let same = recorded.settle(&args, &results, &rows)?;
    captured?;
    unfit?;
    Ok(same && experiments.iter().all(|e| e.class != Class::Unknown))
}

/// Returns a line for each experiment, and the counts over all.
fn show(experiments: &[Experiment], rows: &[ExperimentRow]) -> Result<(), Failure> {
    for e in experiments {
        let tally = Tally::of(e.checks.iter().map(|c| c.class));
        let (mark, met) = (style().mark(e.class), tally.count(Class::Met));
        let failures = match tally.failures(style()) {
            failures if failures.is_empty() => failures,
            failures => format!(": {failures}"),
        };
        let of = tally.total();
        data(format_args!(
            "{mark} {:12} {met} of {of} checks met{failures}",
            e.id
        ))?;
    }
    data("")?;
    for line in totals(rows.iter().map(ExperimentRow::checks)) {
        data(line)?;
    }
    Ok(())
}

/// The content of the files that results and tables are compared with.
struct Recorded {
    results: Results,
    /// The text of each page.
    pages: Vec<String>,
}

impl Recorded {
    fn open(args: &Reproduce) -> Result<Recorded, Failure> {
        let read = |path: &Path| {
            std::fs::read_to_string(path)
                .map_err(|e| Failure::new(format!("{} cannot be read: {e}", path.display())))
        };
        let results = match &args.results {
            None => Results::default(),
            // A new file, or one that is replaced.
            Some(path) if args.write && (args.all || !path.exists()) => Results::default(),
            Some(path) => Results::parse(&read(path)?).map_err(|e| {
                let message = format!("{} has no results: {e}", path.display());
                Failure::new(message).hint(format!("it is written by {COMMAND}"))
            })?,
        };
        let pages = args.tables.iter().map(|path| {
            let page = read(path)?;
            rewrite(&page, &[]).map_err(|e| Failure::new(format!("{}: {e}", path.display())))?;
            Ok(page)
        });
        Ok(Recorded {
            results,
            pages: pages.collect::<Result<_, Failure>>()?,
        })
    }

    /// Writes the results, or reports how they differ. Returns whether nothing differs.
    fn settle(
        &self,
        args: &Reproduce,
        results: &Results,
        rows: &[ExperimentRow],
    ) -> Result<bool, Failure> {
        let put = |path: &Path, text: &str| {
            std::fs::write(path, text)
                .map_err(|e| Failure::new(format!("{} cannot be written: {e}", path.display())))
        };
        let mut same = true;
        if let (Some(path), true) = (&args.results, args.write) {
            put(path, &self.results.clone().with(results).print(COMMAND))?;
        } else if let Some(path) = &args.results {
            let lines = self.results.differences(results, args.all);
            same = lines.is_empty();
            lines.iter().take(SHOWN).for_each(note);
            if lines.len() > SHOWN {
                note(format_args!("and {} lines more", lines.len() - SHOWN));
            }
            if !same {
                note(format_args!(
                    "these are not the results in {}; where that is meant: {COMMAND}",
                    path.display()
                ));
            }
        }
        for (path, page) in args.tables.iter().zip(&self.pages) {
            let new = rewrite(page, rows)
                .map_err(|e| Failure::new(format!("{}: {e}", path.display())))?;
            if new == *page {
                continue;
            }
            if args.write {
                put(path, &new)?;
                continue;
            }
            same = false;
            let old: Vec<&str> = page.lines().collect();
            let lines = new.lines().filter(|line| !old.contains(line));
            note(format_args!("{}: these lines are new:", path.display()));
            lines.take(SHOWN).for_each(note);
        }
        Ok(same)
    }
}
