//! Results of commands: run directories, the runs of interrupted commands, and JSON records.

use crate::choice::engines;
use crate::execute::Outcome;
use crate::fail::Failure;
use crate::output::note;
use crate::run_options::RunOptions;
use accord::report::show::{count, few, visible};
use accord::report::{
    Kept, Point, RunDir, StoredManifest, check_place, experiment_record, gap, page, replaced,
    write_run_dir, write_sweep_dir,
};
use accord::scenario::{Engine, Scenario, print};
use accord::{Catalogue, File as Source, live_mode};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ReadCache};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns whether runs of these points are live, unless this machine cannot make them.
pub fn has_live(options: &RunOptions, points: &[Scenario]) -> bool {
    engines(&options.engine, points).contains(&Engine::Live)
}

/// Returns the runs of an interrupted command next to `dir`. `live` is true if the command
/// makes live runs.
pub fn keep(dir: &Path, options: &RunOptions, live: bool, build: &str) -> Result<Kept, Failure> {
    // A run that skips time is not equal to a whole one.
    let build = match &options.skip {
        Some(_) => format!("{build}-skip"),
        None => build.into(),
    };
    // Nor is one over another medium, if any is live.
    let build = if live { format!("{build}-{}", live_mode(options.live)) } else { build };
    let kept = Kept::beside(dir, &build)?;
    if options.fresh {
        kept.discard();
    }
    Ok(kept)
}

/// Returns the warning of a run with other options that is replaced in a directory that the user named. It is
/// for when the run is certain: the lock is taken, and the options are valid.
pub fn warning_of_replaced(
    dir: &Path,
    file: &Source,
    catalogue: &Catalogue,
    options: &RunOptions,
) -> Result<Option<String>, Failure> {
    if options.quiet || !dir.exists() {
        return Ok(None);
    }
    let old = other_run(dir, &options.repetitions(file, catalogue)?, options);
    Ok(old.map(|old| {
        format!(
            "replacing an earlier run in {} with other settings ({old}); use `-o DIR` to keep both",
            dir.display()
        )
    }))
}

/// Returns a directory for a run: `dir`, or `dir-2` and so on if `dir` has a run with other options, which
/// stays. Also returns the remark on that, for when the run is certain.
pub fn vacant(
    dir: PathBuf,
    file: &Source,
    catalogue: &Catalogue,
    options: &RunOptions,
) -> Result<(PathBuf, Option<String>), Failure> {
    if !dir.exists() {
        return Ok((dir, None));
    }
    let new = options.repetitions(file, catalogue)?;
    let Some(old) = other_run(&dir, &new, options) else {
        return Ok((dir, None));
    };
    let numbered = (2..).map(|n| PathBuf::from(format!("{}-{n}", dir.display())));
    let free = |place: &PathBuf| !place.exists() || other_run(place, &new, options).is_none();
    let Some(place) = numbered.take(MOST_NUMBERED).find(free) else {
        let message = format!("{0}, {0}-2 and so on have other runs", dir.display());
        return Err(Failure::new(message).hint("choose a directory with -o"));
    };
    let remark = (!options.quiet).then(|| {
        format!(
            "{} keeps another run ({old}); this one is written to {}",
            dir.display(),
            place.display()
        )
    });
    Ok((place, remark))
}

/// The largest number of directories of one name.
const MOST_NUMBERED: usize = 1000;

/// Describes a run in a directory that these scenarios would not make. A scenario that draws start times has
/// another hash with another seed.
fn other_run(dir: &Path, new: &[Vec<Scenario>], options: &RunOptions) -> Option<String> {
    let engines = engines(&options.engine, &new[0]);
    let one = replaced(dir, &new.iter().flatten().collect::<Vec<_>>(), &engines)?;
    Some(sweep_in(dir).unwrap_or(one))
}

/// The largest manifest that is read, in bytes.
const LARGEST_MANIFEST: u64 = 64 << 20;

/// Describes the sweep in a directory: "a sweep of 4 points, theory and packet, seed 1". Returns `None` if the
/// directory has another content.
fn sweep_in(dir: &Path) -> Option<String> {
    const MANIFEST: &str = "manifest.json";
    if dir.join(MANIFEST).exists() {
        return None;
    }
    let entries = dir.read_dir().ok()?.flatten().map(|entry| entry.path());
    let mut points: Vec<PathBuf> = entries.filter(|at| at.join(MANIFEST).is_file()).collect();
    points.sort();
    let first = accord::files::read(&points.first()?.join(MANIFEST), LARGEST_MANIFEST).ok()?;
    let first: StoredManifest = serde_json::from_slice(&first).ok()?;
    let (mut engines, mut seeds) = (Vec::new(), Vec::new());
    for run in first.runs {
        if !engines.contains(&run.engine) {
            engines.push(run.engine);
        }
        if !seeds.contains(&run.seed) {
            seeds.push(run.seed);
        }
    }
    let seed = match seeds[..] {
        [one] => format!("seed {one}"),
        _ => count(seeds.len(), "seed"),
    };
    Some(format!("a sweep of {}, {}, {seed}", count(points.len(), "point"), listed(&engines)))
}

/// Fails if a directory of results cannot be written at `dir`.
pub fn check_directory(dir: &Path) -> Result<(), Failure> {
    if dir.exists() && !dir.is_dir() {
        let what = if dir.is_file() { "a file, not a directory" } else { "not a directory" };
        let why = format!("{} is {what}", dir.display());
        return Err(Failure::new(why).hint("-o names the directory of the run"));
    }
    Ok(check_place(dir)?)
}

static IDENTITY: OnceLock<String> = OnceLock::new();

/// Sets what [`build`] returns, in place of a hash of the program.
pub fn identify(build: String) {
    IDENTITY.get_or_init(|| build);
}

/// Returns true if the program is a part of another one.
pub fn is_elsewhere() -> bool {
    IDENTITY.get().is_some()
}

/// Returns an identification of this build: that of the linker, which is a hash of the program, or such a
/// hash where it has none, or `unknown` if the program cannot read itself.
pub fn build() -> String {
    if let Some(build) = IDENTITY.get() {
        return build.clone();
    }
    let program = || std::env::current_exe().and_then(File::open);
    let linked = program().ok().and_then(|program| linked(ReadCache::new(program)));
    linked.unwrap_or_else(|| {
        let hash = program().and_then(|program| {
            let mut hash = blake3::Hasher::new();
            hash.update_reader(program)?;
            Ok(hash.finalize().to_hex())
        });
        hash.map_or("unknown".into(), |hash| hash[..16].into())
    })
}

/// Returns the identification of this build for runs of an engine. For live runs it includes the medium:
/// `live`, or the one that this machine allows. Runs over different media have different results.
pub fn build_for(engine: Engine, live: Option<accord::live::Mode>) -> String {
    match engine {
        Engine::Live => format!("{}-{}", build(), live_mode(live)),
        Engine::Theory | Engine::Fluid | Engine::Packet => build(),
    }
}

/// Returns the identification that the linker has written into a program.
fn linked(program: ReadCache<File>) -> Option<String> {
    let elf = ElfFile64::<Endianness, _>::parse(&program).ok()?;
    let id = elf.build_id().ok()??;
    Some(id.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
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

/// Returns warnings of queues that are too short for their packets.
pub fn short_queues(outcomes: &[Outcome]) -> Vec<String> {
    let found: BTreeSet<String> =
        outcomes.iter().flat_map(|outcome| outcome.scenario.shallow_queues()).collect();
    let found: Vec<_> = found.iter().map(|text| visible(&format!("warning: {text}"))).collect();
    few(&found, 2)
}

/// Returns words as a list in a sentence: "theory, packet and live".
pub fn listed(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match &words[..] {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        words => words.join(""),
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

#[cfg(test)]
mod tests {
    use super::*;
    use accord::live::Mode;

    /// The identification is the same each time, be it the linker's or a hash.
    #[test]
    fn a_build_has_an_identification_of_sixteen_digits() {
        let found = build();
        assert!(found.len() == 16 && found.bytes().all(|b| b.is_ascii_hexdigit()), "{found}");
        assert_eq!(found, build());
    }

    /// The medium of live runs counts even if the command names none, and only for live runs.
    #[test]
    fn kept_runs_know_their_medium() {
        let dir = Path::new("runs/mine");
        let kept = |live, is_live| {
            let options = RunOptions { live, ..RunOptions::default() };
            format!("{:?}", keep(dir, &options, is_live, "build").ok().expect("a name"))
        };
        let usual = live_mode(None);
        assert_eq!(kept(None, true), kept(Some(usual), true));
        assert_ne!(kept(Some(Mode::Loopback), true), kept(Some(Mode::Namespaces), true));
        assert_eq!(kept(None, false), kept(Some(Mode::Loopback), false));
        let of = |live| build_for(Engine::Live, live);
        assert_eq!(of(None), of(Some(usual)));
        assert_ne!(of(Some(Mode::Loopback)), of(Some(Mode::Namespaces)));
        assert_eq!(build_for(Engine::Packet, Some(Mode::Loopback)), build());
    }

    #[test]
    fn a_file_that_no_linker_wrote_has_no_identification() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let file = File::open(path).expect("it is there");
        assert_eq!(linked(ReadCache::new(file)), None);
    }
}
