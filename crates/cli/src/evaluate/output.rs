//! The files and the output of an evaluation.

use crate::fail::{Failure, unwritable};
use crate::output::style;
use accord::columns::Format;
use accord::files::{Whole, write as write_whole};
use accord::report::{Class, FORMAT_VERSION, show};
use accord_evaluate::rule::Requirement;
use accord_evaluate::{
    Changes, Dossier, Evaluation, Finding, LimitVerdict, Outcome, html, sentence, tidy,
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Writes the dossier and the tables.
pub fn write(directory: &Path, evaluation: &Evaluation, dossier: &Dossier) -> Result<(), Failure> {
    let table = tidy(evaluation);
    for format in [Format::Csv, Format::Parquet] {
        let mut bytes = Vec::new();
        let made = table.write(&mut bytes, format, "evaluation");
        made.map_err(|e| Failure::io(format!("the table cannot be written: {e}"), &e))?;
        put_at(&directory.join(format!("evaluation.{}", format.extension())), &bytes)?;
    }
    put_at(&directory.join("index.html"), html(dossier).as_bytes())
}

/// Writes the file at `path` whole.
pub fn put_at(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_whole(path, bytes).map_err(unwritable(path))
}

/// Fails if there cannot be a file at a path. It is called before long work, and leaves a file there as it is.
pub fn check_file(path: &Path) -> Result<(), Failure> {
    Whole::replace(path).map(drop).map_err(unwritable(path))
}

/// Returns the verdict as text: the differences from the rivals, and then PASS, FAIL or INCONCLUSIVE per
/// section. With `details` the values of all cases and the worse or better measures come first.
pub fn text(evaluation: &Evaluation, dossier: &Dossier, details: bool) -> String {
    let (mut out, beside) = match details {
        true => (figures(evaluation), dossier.beside_rivals()),
        false => (String::new(), dossier.beside()),
    };
    for line in beside.into_iter().chain(dossier.failed()).chain(dossier.verdict()) {
        let indent = if line.finding.is_some() { "  " } else { "" };
        let text = format!("{indent}{}", show::clean(&line.text, 2000));
        _ = match (line.finding, line.outcome) {
            (Some(Finding::Worse), _) | (_, Some(Outcome::Inconclusive)) => {
                writeln!(out, "{}", style().amber(&text))
            }
            (_, Some(Outcome::Fail)) => writeln!(out, "{}", style().paint(Class::Failed, &text)),
            (Some(Finding::Better), _) | (_, Some(Outcome::Pass)) => {
                writeln!(out, "{}", style().paint(Class::Met, &text))
            }
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
            let (section, definition) = case.planned.within(&result.pack);
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

/// Returns the JSON record of limits of counts.
pub fn limits(limits: &[LimitVerdict]) -> Vec<Value> {
    let record = |limit: &LimitVerdict| json!({ "says": limit.line, "pass": limit.passes });
    limits.iter().map(record).collect()
}

/// Returns the JSON record of an evaluation. "subject_is" is the relation of the subject to a rival,
/// "regressions" and "unmatched" are null without a baseline.
pub fn record(evaluation: &Evaluation, changes: Option<&Changes>) -> Value {
    let order = &evaluation.order;
    let rivals = 1..order.subjects.len();
    let against: Vec<_> = rivals.map(|r| evaluation.against(r)).collect();
    let rows = evaluation.rows().enumerate().map(|(n, (result, case, row))| {
        let (section, definition) = case.planned.within(&result.pack);
        let measure = result.measure(row);
        let figures = order.subjects.iter().enumerate().map(|(i, subject)| {
            json!({
                "of": subject.label,
                "estimate": row.estimate(i),
                "subject_is": (i > 0).then(|| against[i - 1][n].finding.word()),
            })
        });
        json!({
            "pack": result.pack.name,
            "section": section.number,
            "case": definition.name,
            "point": row.point,
            "measure": measure.name,
            "unit": row.unit.symbol(),
            "better": measure.better.name(),
            "figures": figures.collect::<Vec<_>>(),
        })
    });
    let said = |of: String, why: &str| json!({ "of": of, "why": why });
    let sections = evaluation.sections();
    let failed = sections.iter().any(|section| section.outcome == Outcome::Fail);
    let sections = sections.iter().map(|section| {
        let definition = &section.pack.pack.sections[section.section];
        let rules = section.rules.iter().map(|judged| {
            let Requirement { key, source, because, value, .. } = judged.requirement;
            json!({
                "case": key.case,
                "point": key.point,
                "measure": key.measure,
                "bound": judged.requirement.words(judged.row.unit),
                "value": value,
                "source": source,
                "because": because,
                "outcome": judged.outcome.word(),
                "seeds": judged.seeds,
            })
        });
        json!({
            "pack": section.pack.pack.name,
            "section": definition.number,
            "title": definition.title,
            "level": definition.level,
            "outcome": section.outcome.word(),
            "says": section.line,
            "rules": rules.collect::<Vec<_>>(),
        })
    });
    let sections: Vec<Value> = sections.collect();
    let limits = evaluation.limits();
    let kept = limits.iter().all(|limit| limit.passes);
    let failures = evaluation.failures().into_iter();
    let failures: Vec<Value> = failures
        .map(|(key, failure)| said(format!("{key}, seed {}", failure.seed), &failure.why))
        .collect();
    let regressions: Option<Vec<Value>> = changes.map(|changes| {
        let all = changes.regressions();
        all.map(|compared| said(compared.key.to_string(), &sentence(compared))).collect()
    });
    let worse = regressions.as_ref().is_some_and(|all| !all.is_empty());
    json!({
        "format_version": FORMAT_VERSION,
        "subject": order.subjects[0].label,
        "command": order.subjects[0].command(),
        "rivals": order.subjects[1..].iter().map(|s| &s.label).collect::<Vec<_>>(),
        "tier": order.tier.name(),
        "engine": order.engine.name(),
        "seed": order.seed,
        "reps": order.reps,
        "pass": !failed && kept && failures.is_empty() && !worse,
        "rows": rows.collect::<Vec<_>>(),
        "sections": sections,
        "limits": self::limits(&limits),
        "failures": failures,
        "regressions": regressions,
        "unmatched": changes.map(|changes| changes.unmatched),
    })
}
