//! `accord reproduce --readings`: the figures and tables of papers in packets, under the readings that
//! their papers permit and with several seeds.
//!
//! A cell is a point of an experiment under a reading, with a seed. Finished cells are kept in a file
//! next to the record, a line each, so an interrupted command can go on.

use crate::args::Reproduce;
use crate::evaluate::put_at;
use crate::fail::Failure;
use crate::output::{data, note, style};
use crate::progress::Progress;
use crate::results::build;
use accord::files::{open_log, read, read_text, remove};
use accord::report::{
    FigureReadings, LAW_AXIS, Lock, Never, OUR_LAW, PaperFigure, Papers, RECORD, Reading,
    ReadingRow, Readings, SEEDS, checks,
};
use accord::scenario::{Claim, Engine, Scenario, Target};
use accord::units::Duration;
use accord::{Catalogue, Options, load, papers, set};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The size of a record, or of the cells that are kept, above which it is not read.
const MOST_BYTES: u64 = 1 << 28;

/// Runs the readings of the figures that the experiments `ids` show, and writes them into `record`.
/// Readings of other figures stay as they are recorded there.
pub fn run(
    ids: &[String],
    record: &Path,
    args: &Reproduce,
    catalogue: &Catalogue,
) -> Result<bool, Failure> {
    let papers = papers();
    if let Some(id) =
        ids.iter().find(|id| !args.all && papers.shown_by(&[id.to_string()]).is_empty())
    {
        let message = format!("{id} shows no figure or table of a paper, and has no readings");
        let hint = "docs/figures.toml names those that do; accord reproduce --all --readings runs them all";
        return Err(Failure::new(message).hint(hint));
    }
    let mut readings = recorded(record, &papers, args.all)?;
    let lock = Lock::take(record)?;
    let kept = Kept::beside(record, &build(), args.options.fresh)?;
    let figures = papers.shown_by(ids);
    let grid = Grid { papers: &papers, catalogue, kept: &kept };
    // Stage by stage, since the readings of the second depend on the reading of the law that the first
    // one shows.
    let first: Vec<Work> = (figures.iter())
        .map(|figure| grid.work(figure, papers.at_first_settings(figure)))
        .collect::<Result<_, _>>()?;
    let time = figures.iter().zip(&first).fold(Duration::ZERO, |sum, (figure, work)| {
        let others = papers.others(figure, &vec![0; papers.switches(figure).len()]).len();
        let runs = (work.readings.len() + others) as f64 / work.readings.len().max(1) as f64;
        sum + work.duration().mul_f64(runs)
    });
    let progress = Progress::new(time, args.options.quiet);
    if kept.before() > 0 && !args.options.quiet {
        progress.note(format_args!(
            "readings: {} cells were done before the interruption; resuming",
            kept.before()
        ));
    }
    grid.make(&first, &progress)?;
    for (figure, work) in figures.iter().zip(&first) {
        readings.put(figure_readings(figure, &[work], &kept));
    }
    let others: Vec<Work> = (figures.iter())
        .map(|figure| {
            let switches = papers.chosen_switches(figure, &readings);
            grid.work(figure, papers.others(figure, &switches))
        })
        .collect::<Result<_, _>>()?;
    grid.make(&others, &progress)?;
    drop(progress);
    for ((figure, first), others) in figures.iter().zip(&first).zip(&others) {
        readings.put(figure_readings(figure, &[first, others], &kept));
    }
    let text = readings.text(&papers);
    put_at(record, text.as_bytes())?;
    kept.discard();
    drop(lock);
    if let Err(e) = readings.check(&papers) {
        let (e, all) = (format!("{}: {e}", record.display()), "accord reproduce --all --readings");
        note(format_args!("{e}; {all} completes it"));
    }
    // Parsed again, for the lines of its rows.
    let readings = Readings::parse(&text, &papers).map_err(Failure::new)?;
    let mut summary = papers.summary(&[], &readings);
    summary.figures.retain(|f| figures.iter().any(|g| g.paper == f.paper && g.name == f.figure));
    data(summary.verdicts(style()))?;
    Ok(true)
}

/// Returns whether a file can be written at a path, as far as its folder is there.
fn has_folder(path: &Path) -> bool {
    path.parent().is_some_and(|dir| dir == Path::new("") || dir.is_dir())
}

/// Returns the readings that are recorded in a file, or none if all are made again.
fn recorded(record: &Path, papers: &Papers, all: bool) -> Result<Readings, Failure> {
    let shown = record.display();
    let text = match read_text(record, MOST_BYTES) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound && has_folder(record) => {
            return Ok(Readings::default());
        }
        Err(e) if e.kind() != ErrorKind::NotFound => {
            return Err(Failure::io(format!("{shown}: {e}"), &e));
        }
        Err(e) => {
            let hint = format!(
                "run it in a clone of the repository, which has {RECORD}, or name a file: --readings=FILE"
            );
            return Err(Failure::new(format!("{shown}: {e}")).hint(hint));
        }
    };
    match Readings::parse(&text, papers) {
        Ok(_) if all => Ok(Readings::default()),
        Ok(readings) => Ok(readings),
        // Never replaces a file of another kind.
        Err(_) if all && text.lines().any(|line| line.starts_with("readings ")) => {
            Ok(Readings::default())
        }
        Err(e) => Err(Failure::new(format!("{shown}: {e}")).hint(
            "accord reproduce --all --readings makes a record of this version again; another file \
             is named with --readings=FILE",
        )),
    }
}

/// A point of an experiment under a reading, with a seed.
struct Cell {
    key: String,
    experiment: String,
    scenario: Scenario,
}

/// The cells of readings of a figure.
struct Work {
    readings: Vec<(Reading, Vec<Vec<Cell>>)>,
}

impl Work {
    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.readings.iter().flat_map(|(_, seeds)| seeds).flatten()
    }

    /// Returns the simulated time.
    fn duration(&self) -> Duration {
        self.cells().fold(Duration::ZERO, |sum, cell| sum + cell.scenario.duration)
    }
}

struct Grid<'a> {
    papers: &'a Papers,
    catalogue: &'a Catalogue,
    kept: &'a Kept,
}

impl Grid<'_> {
    /// Returns the cells of readings of a figure.
    fn work(&self, figure: &PaperFigure, readings: Vec<Reading>) -> Result<Work, Failure> {
        let of = |reading: Reading| Ok((self.seeds(figure, &reading)?, reading));
        let made: Result<Vec<_>, Failure> = readings.into_par_iter().map(of).collect();
        let readings = made?.into_iter().map(|(seeds, reading)| (reading, seeds)).collect();
        Ok(Work { readings })
    }

    /// Returns the cells of a reading, by seed.
    fn seeds(&self, figure: &PaperFigure, reading: &Reading) -> Result<Vec<Vec<Cell>>, Failure> {
        let (settings, at) = figure.settings(self.papers, reading);
        let laws: BTreeSet<&str> =
            self.papers.figures.iter().filter_map(|f| f.law.as_deref()).collect();
        // A scheme that has no law of ours, such as Vegas, is a part of both.
        let is_of_scheme =
            |law: &str| law == reading.scheme || (law != OUR_LAW && !laws.contains(law));
        let mut seeds: Vec<Vec<Cell>> = SEEDS.iter().map(|_| Vec::new()).collect();
        for id in &figure.experiments {
            let mut file = load(id)?;
            set(&mut file, &settings)
                .map_err(|e| undeclared(self.papers, figure, reading, e.into()))?;
            for (seed, cells) in SEEDS.iter().zip(&mut seeds) {
                let points = file.points(self.catalogue, Some(*seed));
                let points =
                    points.map_err(|e| undeclared(self.papers, figure, reading, e.into()))?;
                for mut scenario in points {
                    let is = |(axis, value): &(String, String)| match axis == LAW_AXIS {
                        true if figure.law.is_some() => is_of_scheme(value),
                        _ => at.iter().all(|(own, v)| own != axis || v == value),
                    };
                    if !scenario.point.iter().all(is) {
                        continue;
                    }
                    scenario
                        .expectations
                        .retain(|e| e.engine == Engine::Packet && e.claim == Claim::Paper);
                    if scenario.expectations.iter().all(|e| !figure.has_name(&e.name)) {
                        continue;
                    }
                    scenario.expectations.iter_mut().for_each(|e| e.fails = None);
                    let key = format!("{}-{seed}", &scenario.hash()[..32]);
                    cells.push(Cell { key, experiment: id.clone(), scenario });
                }
            }
        }
        Ok(seeds)
    }

    /// Runs the cells that are not kept, on all cores, the longest first.
    fn make(&self, works: &[Work], progress: &Progress) -> Result<(), Failure> {
        let mut left: BTreeMap<&str, &Cell> = BTreeMap::new();
        for cell in works.iter().flat_map(Work::cells) {
            if self.kept.get(&cell.key).is_none() {
                left.insert(&cell.key, cell);
            }
        }
        let all: Duration = works.iter().fold(Duration::ZERO, |sum, work| sum + work.duration());
        let to_do = left.values().fold(Duration::ZERO, |sum, cell| sum + cell.scenario.duration);
        progress.pass(all - to_do);
        let mut left: Vec<&Cell> = left.into_values().collect();
        left.sort_by_key(|cell| std::cmp::Reverse(cell.scenario.duration));
        let failed = AtomicBool::new(false);
        let made: Result<(), Failure> = left.into_par_iter().with_max_len(1).try_for_each(|cell| {
            let met = met(cell, progress)?;
            if let Err(e) = self.kept.keep(&cell.key, met)
                && !failed.swap(true, Ordering::Relaxed)
            {
                progress.note(format_args!("cells cannot be saved for a resumption: {e}"));
            }
            Ok(())
        });
        if matches!(made, Err(Failure::Interrupted)) {
            let n = self.kept.count();
            progress.note(format_args!(
                "readings: {n} cells are done and kept; the same command without --fresh resumes"
            ));
        }
        made
    }
}

/// Returns the error of a reading that does not fit its scenario.
fn undeclared(papers: &Papers, figure: &PaperFigure, reading: &Reading, e: Failure) -> Failure {
    let (name, reading) = (figure.full_name(), papers.in_words(figure, reading));
    note(format_args!(
        "docs/figures.toml, {name}: this reading does not fit the scenario: {reading}"
    ));
    e
}

/// Runs a cell, and returns which of its expectations are met.
fn met(cell: &Cell, progress: &Progress) -> Result<Vec<bool>, Failure> {
    let mut engines = vec![Engine::Packet];
    for e in &cell.scenario.expectations {
        if let Target::Engine { engine, .. } = e.target
            && !engines.contains(&engine)
        {
            engines.push(engine);
        }
    }
    let mut runs = Vec::new();
    for engine in engines {
        let packets = engine == Engine::Packet;
        let options = Options::default();
        let run = match packets {
            true => {
                accord::run(&cell.scenario, engine, &options, &mut progress.observe(None, None))
            }
            // Its time is not that of the bar.
            false => accord::run(&cell.scenario, engine, &options, &mut accord::record::Quiet),
        };
        runs.push(run.map_err(Failure::from)?);
    }
    let runs: Vec<&accord::Run> = runs.iter().collect();
    Ok(checks(&cell.scenario, &runs).iter().map(|check| check.pass).collect())
}

/// Returns the checks that are met under readings of a figure.
fn figure_readings(figure: &PaperFigure, works: &[&Work], kept: &Kept) -> FigureReadings {
    let mut rows = Vec::new();
    // In the order in which they are met first: whether any reading and seed meets them, by scheme.
    let mut seen: Vec<(Never, bool)> = Vec::new();
    let mut places: BTreeMap<(String, String, String, String), usize> = BTreeMap::new();
    for (reading, seeds) in works.iter().flat_map(|work| &work.readings) {
        let (mut met, mut of) = (Vec::new(), 0);
        for cells in seeds {
            let mut count = 0;
            of = 0;
            for cell in cells {
                let passes = kept.get(&cell.key).unwrap_or_default();
                let place = figure.place(&cell.scenario.point);
                let named = cell.scenario.expectations.iter().zip(passes);
                for (e, pass) in named.filter(|(e, _)| figure.has_name(&e.name)) {
                    of += 1;
                    count += usize::from(pass);
                    let (scheme, experiment) = (reading.scheme.clone(), cell.experiment.clone());
                    let key = (scheme.clone(), experiment.clone(), place.clone(), e.name.clone());
                    let i = *places.entry(key).or_insert_with(|| {
                        let (place, name) = (place.clone(), e.name.clone());
                        seen.push((Never { scheme, experiment, place, name, line: 0 }, false));
                        seen.len() - 1
                    });
                    seen[i].1 |= pass;
                }
            }
            met.push(count);
        }
        rows.push(ReadingRow { reading: reading.clone(), met, of });
    }
    rows.sort_by_key(|row| {
        let ours = row.reading.scheme == OUR_LAW && figure.law.is_some();
        (ours, row.reading.clone())
    });
    let never = seen.into_iter().filter(|(_, met)| !met).map(|(check, _)| check).collect();
    FigureReadings { paper: figure.paper.clone(), figure: figure.name.clone(), rows, never }
}

/// Finished cells by key, with a bit per check that is met, and the file that the next ones go to.
struct Cells {
    met: BTreeMap<String, Vec<bool>>,
    file: Option<File>,
}

/// The finished cells, in memory and in a file.
struct Kept {
    path: PathBuf,
    cells: Mutex<Cells>,
    before: usize,
    head: String,
}

impl Kept {
    /// Reads the cells that are kept next to a record by this build. A line that was cut off does not
    /// count.
    fn beside(record: &Path, build: &str, fresh: bool) -> Result<Kept, Failure> {
        let name = record.file_name().unwrap_or_default().to_string_lossy();
        // The folder is that of the lock.
        let path = record.with_file_name(format!(".{name}.resume")).join("cells");
        let head = format!("cells of {} {build}", env!("CARGO_PKG_VERSION"));
        let text = match read(&path, MOST_BYTES) {
            Ok(bytes) if !fresh => String::from_utf8_lossy(&bytes).into_owned(),
            _ => String::new(),
        };
        let mut lines = text.lines();
        let mut cells = BTreeMap::new();
        if lines.next() == Some(&head) {
            for line in lines {
                let Some((content, sum)) = line.rsplit_once(' ') else { continue };
                let Some((key, bits)) = content.split_once(' ') else { continue };
                if sum == checksum(content) {
                    cells.insert(key.to_string(), bits.chars().map(|bit| bit == '1').collect());
                }
            }
        }
        let before = cells.len();
        Ok(Kept { path, cells: Mutex::new(Cells { met: cells, file: None }), before, head })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cells> {
        self.cells.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The number of cells at the beginning.
    fn before(&self) -> usize {
        self.before
    }

    fn count(&self) -> usize {
        self.lock().met.len()
    }

    fn get(&self, key: &str) -> Option<Vec<bool>> {
        self.lock().met.get(key).cloned()
    }

    /// Keeps a cell, in memory whatever happens.
    fn keep(&self, key: &str, met: Vec<bool>) -> std::io::Result<()> {
        let bits: String = met.iter().map(|met| if *met { '1' } else { '0' }).collect();
        let mut guard = self.lock();
        let Cells { met: cells, file } = &mut *guard;
        cells.insert(key.to_string(), met);
        if file.is_none() {
            let fresh = self.before == 0;
            let mut log = open_log(&self.path, fresh)?;
            // The last line may have been cut off.
            let begin = if fresh { self.head.as_str() } else { "" };
            log.write_all(format!("{begin}\n").as_bytes())?;
            *file = Some(log);
        }
        let content = format!("{key} {bits}");
        let line = format!("{content} {}\n", checksum(&content));
        file.as_mut().map_or(Ok(()), |file| file.write_all(line.as_bytes()))
    }

    fn discard(&self) {
        self.lock().file = None;
        remove(&self.path);
    }
}

/// Returns a checksum of a line.
fn checksum(content: &str) -> String {
    blake3::hash(content.as_bytes()).to_hex()[..8].to_string()
}
