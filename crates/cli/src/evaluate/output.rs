//! The files and the output of an evaluation.

use crate::fail::Failure;
use crate::output::style;
use accord::columns::Format;
use accord::report::{Class, Estimate, FORMAT_VERSION, show};
use accord_evaluate::{
    Changes, Dossier, Evaluation, Finding, Measurements, Subject, html, markdown, sentence, tidy,
};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Creates and returns the directory of an evaluation. A directory with other files is refused.
pub fn claim(
    asked: Option<&Path>,
    subject: &Subject,
    below: Option<&str>,
) -> Result<PathBuf, Failure> {
    let mut directory = match asked {
        Some(directory) => directory.to_path_buf(),
        None => {
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            let name: String = subject.label.chars().map(plain).take(60).collect();
            Path::new("runs").join(format!("evaluate-{name}"))
        }
    };
    directory.extend(below);
    let shown = directory.display();
    let ours = directory.join(Measurements::FILE).exists();
    let filled = fs::read_dir(&directory).is_ok_and(|mut entries| entries.next().is_some());
    if filled && !ours {
        let hint = "choose another directory with -o, or remove it";
        return Err(Failure::new(format!("{shown} contains other files")).hint(hint));
    }
    fs::create_dir_all(directory.join("plots"))
        .map_err(|e| Failure::io(format!("{shown} cannot be created: {e}"), &e))?;
    Ok(directory)
}

/// Writes the dossier and the tables.
pub fn write(directory: &Path, evaluation: &Evaluation, dossier: &Dossier) -> Result<(), Failure> {
    let table = tidy(evaluation);
    for format in [Format::Csv, Format::Parquet] {
        let mut bytes = Vec::new();
        let made = table.write(&mut bytes, format, "evaluation");
        made.map_err(|e| Failure::io(format!("the table cannot be written: {e}"), &e))?;
        put(directory, &format!("evaluation.{}", format.extension()), &bytes)?;
    }
    let plots = directory.join("plots");
    let old = fs::read_dir(&plots).into_iter().flatten().flatten();
    for entry in old.filter(|e| e.path().extension().is_some_and(|ending| ending == "svg")) {
        let _ = fs::remove_file(entry.path());
    }
    for (name, svg) in dossier.plots() {
        put(directory, &name, svg.as_bytes())?;
    }
    put(directory, "dossier.md", markdown(dossier).as_bytes())?;
    put(directory, "index.html", html(dossier).as_bytes())
}

/// Writes a file atomically.
pub fn put(directory: &Path, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    put_at(&directory.join(name), bytes)
}

/// Writes the file at `path` atomically.
pub fn put_at(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    let write = || {
        fs::File::create(&partial)?.write_all(bytes)?;
        fs::rename(&partial, path)
    };
    write().map_err(|e| {
        let _ = fs::remove_file(&partial);
        Failure::io(format!("{} cannot be written: {e}", path.display()), &e)
    })
}

/// Returns the verdict as text, preceded by the figures of all cases with `details`.
pub fn text(evaluation: &Evaluation, dossier: &Dossier, details: bool) -> String {
    let mut out = if details { figures(evaluation) } else { String::new() };
    for line in dossier.summary() {
        let indent = if line.finding.is_some() { "  " } else { "" };
        let text = format!("{indent}{}", show::clean(&line.text, 2000));
        _ = match line.finding {
            Some(Finding::Worse) => writeln!(out, "{}", style().amber(&text)),
            Some(Finding::Better) => writeln!(out, "{}", style().paint(Class::Met, &text)),
            _ => writeln!(out, "{text}"),
        };
    }
    out.trim_end().to_string()
}

/// Returns the figures: a block per pack.
fn figures(evaluation: &Evaluation) -> String {
    let mut out = String::new();
    let subjects = &evaluation.order.subjects;
    for result in &evaluation.packs {
        _ = writeln!(out, "{}", show::clean(&result.pack.title, show::TITLE));
        for case in &result.cases {
            let (section, definition) = result.case_of(case);
            let title = show::clean(&definition.title, show::TITLE);
            _ = writeln!(out, "\n{} {title} ({})", section.number, definition.name);
            for row in &case.rows {
                let estimates = (0..subjects.len()).map(|i| row.estimate(i));
                let texts = show::row(&estimates.collect::<Vec<_>>(), row.unit);
                let named = subjects.iter().zip(texts);
                let figures: Vec<String> = named
                    .map(|(subject, text)| format!("{} {text}", show::clean(&subject.label, 40)))
                    .collect();
                let measure = result.measure(row);
                let point = match row.point.as_str() {
                    "" => String::new(),
                    point => format!(" ({})", show::clean(point, 120)),
                };
                _ = writeln!(
                    out,
                    "  {}{point}: {}",
                    show::clean(&measure.name, 80),
                    figures.join(" · ")
                );
            }
        }
        out.push('\n');
    }
    out
}

/// The JSON record of an evaluation.
#[derive(Serialize)]
pub struct Record<'a> {
    format_version: u32,
    subject: &'a str,
    rivals: Vec<&'a str>,
    tier: &'static str,
    engine: &'static str,
    seed: u64,
    reps: u64,
    pass: bool,
    rows: Vec<RowRecord<'a>>,
    /// Thresholds of standards that are not met.
    unmet: Vec<Sentence>,
    /// Runs of the subject that failed.
    failures: Vec<Sentence>,
    /// Measures worse than those of the baseline; null without one.
    regressions: Option<Vec<Sentence>>,
}

#[derive(Serialize)]
struct RowRecord<'a> {
    pack: &'a str,
    section: &'a str,
    case: &'a str,
    point: &'a str,
    measure: &'a str,
    unit: &'static str,
    better: &'static str,
    figures: Vec<FigureRecord<'a>>,
}

#[derive(Serialize)]
struct FigureRecord<'a> {
    of: &'a str,
    estimate: Option<Estimate>,
    /// The relation of the subject to this rival; null for the subject itself.
    subject_is: Option<&'static str>,
}

#[derive(Serialize)]
struct Sentence {
    of: String,
    why: String,
}

/// Returns the record of an evaluation.
pub fn record<'a>(evaluation: &'a Evaluation, changes: Option<&Changes>) -> Record<'a> {
    let order = &evaluation.order;
    let rivals = 1..order.subjects.len();
    let against: Vec<_> = rivals.map(|r| evaluation.against(r)).collect();
    let rows = evaluation.rows().enumerate().map(|(n, (result, case, row))| {
        let (section, definition) = result.case_of(case);
        let measure = result.measure(row);
        let figures = order.subjects.iter().enumerate().map(|(i, subject)| FigureRecord {
            of: &subject.label,
            estimate: row.estimate(i),
            subject_is: (i > 0).then(|| word(against[i - 1][n].finding)),
        });
        RowRecord {
            pack: &result.pack.name,
            section: &section.number,
            case: &definition.name,
            point: &row.point,
            measure: &measure.name,
            unit: row.unit.symbol(),
            better: measure.better.name(),
            figures: figures.collect(),
        }
    });
    let unmet =
        evaluation.unmet().into_iter().map(|(key, why)| Sentence { of: key.to_string(), why });
    let failures = evaluation.failures().into_iter().map(|(key, failure)| Sentence {
        of: format!("{key}, seed {}", failure.seed),
        why: failure.why.clone(),
    });
    let (unmet, failures): (Vec<_>, Vec<_>) = (unmet.collect(), failures.collect());
    let regressions = changes.map(|changes| {
        let regressions = changes
            .regressions()
            .map(|compared| Sentence { of: compared.key.to_string(), why: sentence(compared) });
        regressions.collect::<Vec<_>>()
    });
    Record {
        format_version: FORMAT_VERSION,
        subject: &order.subjects[0].label,
        rivals: order.subjects[1..].iter().map(|s| s.label.as_str()).collect(),
        tier: order.tier.name(),
        engine: order.engine.name(),
        seed: order.seed,
        reps: order.reps,
        pass: unmet.is_empty()
            && failures.is_empty()
            && regressions.as_ref().is_none_or(Vec::is_empty),
        rows: rows.collect(),
        unmet,
        failures,
        regressions,
    }
}

fn word(finding: Finding) -> &'static str {
    match finding {
        Finding::Better => "better",
        Finding::Worse => "worse",
        Finding::Moved => "different",
        Finding::Same => "not told apart",
        Finding::Missing => "not compared",
    }
}
