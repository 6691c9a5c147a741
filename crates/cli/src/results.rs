//! Results of commands: run directories, the runs of interrupted commands, and JSON records.

use crate::execute::Outcome;
use crate::fail::Failure;
use crate::output::note;
use crate::run_options::RunOptions;
use accord::report::{
    Kept, Point, RunDir, experiment_record, gap, page, replaced, write_run_dir, write_sweep_dir,
};
use accord::scenario::print;
use accord::{Catalogue, File as Source};
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

/// Returns the runs of an interrupted command next to `dir`.
pub fn keep(dir: &Path, options: &RunOptions, build: &str) -> Result<Kept, Failure> {
    // A run that skips time is not equal to a whole one.
    let build = match &options.skip {
        Some(_) => format!("{build}-skip"),
        None => build.into(),
    };
    let kept = Kept::beside(dir, &build)?;
    if options.fresh {
        kept.discard();
    }
    Ok(kept)
}

/// Warns before a run with other settings or another seed is replaced.
pub fn warn_of_replaced(
    dir: &Path,
    file: &Source,
    catalogue: &Catalogue,
    options: &RunOptions,
) -> Result<(), Failure> {
    if options.quiet || !dir.exists() {
        return Ok(());
    }
    // A scenario that draws start times has another hash with another seed.
    let new = options.repetitions(file, catalogue)?;
    if let Some(old) = replaced(dir, &new.iter().flatten().collect::<Vec<_>>()) {
        note(format_args!(
            "{0} contains a run with other settings ({old}), which this one replaces; to keep it, \
             interrupt this one and rename {0}, or choose another directory with -o",
            dir.display()
        ));
    }
    Ok(())
}

static IDENTITY: OnceLock<String> = OnceLock::new();

/// Sets what [`build`] returns, in place of a hash of the program.
pub fn identify(build: String) {
    IDENTITY.get_or_init(|| build);
}

/// Returns an identification of this build: a hash of the program, or its version if it cannot read
/// itself.
pub fn build() -> String {
    if let Some(build) = IDENTITY.get() {
        return build.clone();
    }
    let read = std::env::current_exe().and_then(File::open);
    let hash = read.and_then(|program| {
        let mut hash = blake3::Hasher::new();
        hash.update_reader(program)?;
        Ok(hash.finalize().to_hex())
    });
    hash.map_or("unknown".into(), |hash| hash[..16].into())
}

/// Returns the JSON of the results.
pub fn experiment(id: &str, outcomes: &[Outcome], dir: &Path) -> Value {
    let points: Vec<Point> = outcomes.iter().map(Outcome::point).collect();
    experiment_record(id, &points, Some(dir))
}

/// Reports the place of the finished runs of a result that could not be written.
pub fn report_kept(kept: &Kept) {
    if let Some(dir) = kept.left() {
        let dir = dir.display();
        note(format_args!("the finished runs are in {dir}; the same command resumes from there"));
    }
}

/// Returns the last line about an experiment: the gap between packets and theory, and its page.
pub fn ending(outcomes: &[Outcome], page: &str) -> String {
    let points: Vec<Point> = outcomes.iter().map(Outcome::point).collect();
    match gap(&points) {
        Some(gap) => format!("{gap}; page: {page}"),
        None => format!("page: {page}"),
    }
}

/// Writes run directories and the page, and returns the path of the page.
pub fn write(dir: &Path, outcomes: &[Outcome], csv: bool) -> Result<String, Failure> {
    let points: Vec<Point> = outcomes.iter().map(Outcome::point).collect();
    let html = page(&points);
    let texts: Vec<String> = outcomes.iter().map(|o| print(&o.scenario)).collect();
    let contents: Vec<RunDir> = (points.iter().zip(&texts))
        .map(|(point, text)| RunDir {
            scenario_toml: text,
            point: *point,
            page: (points.len() == 1).then_some(&html),
            csv,
        })
        .collect();
    match &contents[..] {
        [contents] => write_run_dir(dir, contents)?,
        contents => write_sweep_dir(dir, contents, &html)?,
    }
    Ok(dir.join("page.html").display().to_string())
}
