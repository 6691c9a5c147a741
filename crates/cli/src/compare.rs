//! `accord compare`: comparisons of run directories and sweeps.

use crate::fail::{Failure, unwritable};
use crate::output::{data, json, note, prose, style};
use accord::files::write;
use accord::report::{
    Markup, Stored, Versus, check_comparison_place, comparison_page, comparison_record,
    differences, load_stored, pair_measured, unpaired, versus, versus_cells, versus_table,
    write_comparison_dir,
};
use accord::scenario::Engine;
use accord::units::Words;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// Run directories, or directories of sweeps, whose points are matched by their settings.
    #[arg(required = true, value_name = "DIR")]
    pub runs: Vec<PathBuf>,
    /// The reference of the comparison: a directory, an engine or "DIR: ENGINE"; by default the
    /// first with values.
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    /// The engines to compare, separated by commas; by default all.
    #[arg(short, long, value_delimiter = ',', value_parser = crate::names::engine(), hide_possible_values = true)]
    pub engine: Vec<Engine>,
    /// The group of the runs that measurements are compared with; by default the only one, or that of
    /// the same name.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// Writes a page, and the values as JSON, into this directory.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Also writes the table to this file, as Markdown (.md), LaTeX (.tex) or CSV (.csv).
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Prints a table per point of a sweep.
    #[arg(long)]
    pub details: bool,
    /// Prints JSON instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Prints only the result, without hints.
    #[arg(short, long)]
    pub quiet: bool,
}

pub fn run(args: &Args) -> Result<bool, Failure> {
    let table = args.table.as_deref().map(|path| Ok::<_, Failure>((path, markup(path)?)));
    let table = table.transpose()?;
    if let Some(dir) = &args.output {
        check_comparison_place(dir)?;
    }
    let stored = args.runs.iter().map(|dir| load_stored(dir));
    let mut stored: Vec<Stored> = stored.collect::<Result<_, _>>()?;
    pair_measured(&mut stored, args.group.as_deref()).map_err(|known| {
        let name = args.group.as_deref().unwrap_or_default();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        let why = format!("no run here has a group \"{name}\"");
        Failure::new(why).hint(format!("groups of the runs: {known}"))
    })?;
    let reference = args.reference.as_deref();
    let all = versus(&stored, &args.engine, reference).map_err(|names| {
        let name = reference.unwrap_or_default();
        Failure::new(format!("unknown reference \"{name}\"")).hint(format!("known: {names}"))
    })?;
    let several = |v: &Versus| match stored.len() {
        1 => v.columns.len() > 1,
        _ => v.directories() > 1,
    };
    let (all, alone): (Vec<Versus>, Vec<Versus>) = all.into_iter().partition(several);
    if all.is_empty() {
        let why = match stored.len() {
            1 => "there is only one engine of one run, and nothing to compare it with",
            _ => "these directories have no point of a sweep in common",
        };
        let hint = match alone.iter().map(Versus::label).find(|l| !l.is_empty()) {
            Some(label) => format!(
                "points are matched by their settings, such as {label}; a single point of a sweep is a directory, such as {}/001",
                args.runs[0].display()
            ),
            None => "name another run directory".into(),
        };
        return Err(Failure::new(why).hint(hint));
    }
    let record = comparison_record(&all);
    if args.json {
        json(&record)?;
    } else if let [one] = &all[..] {
        prose(versus_table(one, style()).trim_end())?;
    } else {
        prose(differences(&all, style()).trim_end())?;
        for versus in all.iter().filter(|_| args.details) {
            data(format_args!("\n{}", versus_table(versus, style()).trim_end()))?;
        }
    }
    if let Some((path, markup)) = table {
        let text = versus_cells(&all).text(markup);
        write(path, text.as_bytes()).map_err(unwritable(path))?;
        if !args.quiet {
            note(format_args!("table: {}", path.display()));
        }
    }
    if !args.quiet && !alone.is_empty() {
        let labels: Vec<String> = alone.iter().take(4).map(Versus::label).collect();
        note(format_args!(
            "{} of {} points are in one directory only: {}",
            alone.len(),
            alone.len() + all.len(),
            labels.join("; ")
        ));
    }
    if let Some(groups) = unpaired(&stored).filter(|_| !args.quiet) {
        note(format_args!(
            "the measurements share no row with a run: --group NAME names the group to compare them with, of {}",
            groups.join(", ")
        ));
    }
    if !args.quiet {
        // Among them is which packets rates and windows count.
        let measured = stored.iter().flat_map(|s| &s.points).filter(|point| point.is_measured());
        for text in measured.flat_map(|point| &point.runs).flat_map(|run| &run.notes) {
            note(text);
        }
    }
    if let Some(dir) = &args.output {
        let names = args.runs.iter().map(|dir| dir.display().to_string());
        let page = comparison_page(&all, &stored, &args.engine);
        write_comparison_dir(dir, names.collect(), &record, &page)?;
        if !args.quiet {
            note(format_args!("page: {}", dir.join("page.html").display()));
        }
    }
    Ok(true)
}

/// Returns the language of a table, by the name of its file.
fn markup(path: &Path) -> Result<Markup, Failure> {
    let ending = path.extension().and_then(|e| e.to_str());
    ending.and_then(|e| Markup::read_word(e).ok()).ok_or_else(|| {
        let why = format!("--table: the format of {} is unknown", path.display());
        let endings = Markup::words().into_iter().map(|word| format!(".{word}"));
        let endings: Vec<String> = endings.collect();
        Failure::new(why).hint(format!("expected a name that ends in {}", endings.join(", ")))
    })
}
