//! The survey: the verdicts of packs on all families, on one page.

use crate::ci::{Verdict as Check, of_limit};
use crate::evaluation::{Evaluation, Key};
use crate::judge::{LimitVerdict, Outcome};
use crate::pack::Pack;
use crate::rule::{Counted, Limit};
use accord::report::{escape, shell, show};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The reasons of verdicts that are known, by family, pack and number of the section.
#[derive(Clone, Debug, Default)]
pub struct Reasons(BTreeMap<[String; 3], String>);

impl Reasons {
    /// Reads lines of "family | pack | section | reason". Other lines are comments.
    pub fn read(text: &str) -> Reasons {
        let line = |line: &str| {
            let mut parts = line.splitn(4, " | ").map(|part| part.trim().to_string());
            let key = [parts.next()?, parts.next()?, parts.next()?];
            Some((key, parts.next()?))
        };
        Reasons(text.lines().filter(|text| !text.starts_with('#')).filter_map(line).collect())
    }

    fn of(&self, family: &str, pack: &str, section: &str) -> Option<&str> {
        self.0.get(&[family, pack, section].map(str::to_string)).map(String::as_str)
    }
}

/// The verdict of a section on a family.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The result, or `None` if the family can run no case of the section.
    pub outcome: Option<Outcome>,
    /// The verdict in one line, or why there is none.
    pub says: String,
    /// The recorded reason of a failure.
    pub reason: Option<String>,
}

/// A section with the verdicts on all families.
#[derive(Clone, Debug)]
struct Row {
    number: String,
    label: String,
    title: String,
    verdicts: BTreeMap<String, Verdict>,
}

/// The verdicts of a pack on all families.
#[derive(Clone, Debug)]
struct Table {
    pack: String,
    title: String,
    source: String,
    families: Vec<String>,
    rows: Vec<Row>,
}

/// The verdicts of packs on all families. There is no total: sections are of different weight, and a family
/// is for some of them only.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    tables: Vec<Table>,
    /// The number of seeds of each case.
    seeds: u64,
}

impl Survey {
    /// Adds the evaluation of a family.
    pub fn add(&mut self, evaluation: &Evaluation, reasons: &Reasons) {
        self.seeds = evaluation.order.reps;
        let family = &evaluation.order.subjects[0].label;
        let verdicts = evaluation.sections();
        for result in &evaluation.packs {
            let table = self.table(&result.pack, family);
            for (s, section) in result.pack.sections.iter().enumerate() {
                let cases = || result.cases.iter().filter(|case| case.planned.section == s);
                if cases().next().is_none() {
                    continue;
                }
                let impossible: Vec<&String> =
                    cases().filter_map(|case| case.planned.impossible[0].as_ref()).collect();
                let own = verdicts
                    .iter()
                    .find(|v| v.pack.pack.name == result.pack.name && v.section == s);
                let verdict = match own {
                    _ if impossible.len() == cases().count() => {
                        Verdict { outcome: None, says: impossible[0].clone(), reason: None }
                    }
                    Some(own) => {
                        // A recorded reason is for the rules of the pack.
                        let asked = own.rules.iter().find(|judged| {
                            judged.requirement.asked && judged.outcome == Outcome::Fail
                        });
                        let reason = reasons.of(family, &result.pack.name, &section.number);
                        let reason = reason
                            .filter(|_| own.outcome == Outcome::Fail && asked.is_none())
                            .map(str::to_string);
                        let label = result.pack.label(section);
                        let says = asked.map_or(own.line.clone(), |judged| {
                            format!("{} {label}: {}", own.outcome.word(), judged.says())
                        });
                        Verdict { outcome: Some(own.outcome), says, reason }
                    }
                    None => continue,
                };
                let place = match table.rows.iter().position(|row| row.number == section.number) {
                    Some(place) => place,
                    None => {
                        table.rows.push(Row {
                            number: section.number.clone(),
                            label: result.pack.label(section),
                            title: section.title.clone(),
                            verdicts: BTreeMap::new(),
                        });
                        table.rows.len() - 1
                    }
                };
                table.rows[place].verdicts.insert(family.clone(), verdict);
            }
        }
    }

    fn table(&mut self, pack: &Pack, family: &str) -> &mut Table {
        let place = match self.tables.iter().position(|table| table.pack == pack.name) {
            Some(place) => place,
            None => {
                self.tables.push(Table {
                    pack: pack.name.clone(),
                    title: pack.title.clone(),
                    source: pack.source.clone(),
                    families: Vec::new(),
                    rows: Vec::new(),
                });
                self.tables.len() - 1
            }
        };
        let table = &mut self.tables[place];
        table.families.push(family.to_string());
        table
    }

    /// Returns the verdicts: pack, number of the section, family and verdict.
    pub fn verdicts(&self) -> impl Iterator<Item = (&str, &str, &str, &Verdict)> {
        self.tables.iter().flat_map(|table| {
            table.rows.iter().flat_map(move |row| {
                let verdicts = row.verdicts.iter();
                verdicts.map(move |(family, v)| (&*table.pack, &*row.number, &**family, v))
            })
        })
    }

    /// Returns the failures without a recorded reason.
    pub fn unexplained(&self) -> impl Iterator<Item = (&str, &str, &str, &Verdict)> {
        self.verdicts().filter(|(.., v)| v.outcome == Some(Outcome::Fail) && v.reason.is_none())
    }

    /// Returns the verdicts on limits of counts: of inconclusive sections, over all families. There are
    /// no rivals, so the other counts are 0.
    pub fn limits<'a>(&self, limits: &'a [Limit]) -> Vec<LimitVerdict<'a>> {
        let open = self.verdicts().filter(|(.., v)| v.outcome == Some(Outcome::Inconclusive));
        let open = open.count();
        let count = |limit: &Limit| match limit.counted {
            Counted::Inconclusive => open,
            Counted::Worse | Counted::Unclear => 0,
        };
        let judged = limits.iter().map(|limit| {
            let n = count(limit);
            LimitVerdict::of(limit, &[(n, format!("{} of a family", show::count(n, "section")))])
        });
        judged.collect()
    }

    /// Returns the verdicts for continuous integration: on every section and family, and on limits. A
    /// failure with a recorded reason is skipped, as is a section that nothing decides.
    pub fn checks(&self, limits: &[Limit]) -> Vec<Check> {
        let mut checks = Vec::new();
        for table in &self.tables {
            for row in &table.rows {
                for (family, verdict) in &row.verdicts {
                    let says = verdict.says.clone();
                    let (failure, skipped) = match (verdict.outcome, &verdict.reason) {
                        (Some(Outcome::Fail), None) => (Some(says.clone()), None),
                        (Some(Outcome::Fail), Some(reason)) => {
                            (None, Some(format!("{says}; {reason}")))
                        }
                        (Some(Outcome::Pass), _) => (None, None),
                        (Some(Outcome::Inconclusive) | None, _) => (None, Some(says.clone())),
                    };
                    let key = Key {
                        pack: table.pack.clone(),
                        case: row.label.clone(),
                        point: String::new(),
                        measure: family.clone(),
                    };
                    checks.push(Check { key, failure, skipped, says });
                }
            }
        }
        let pack = self.tables.first().map_or("", |table| &table.pack);
        checks.extend(self.limits(limits).iter().map(|limit| of_limit(limit, pack)));
        checks
    }

    /// Returns a line per section: the families that fail, those that nothing decides, and the others.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for table in &self.tables {
            _ = writeln!(out, "{}", table.title);
            for row in &table.rows {
                let mut parts = Vec::new();
                for outcome in
                    [Some(Outcome::Fail), Some(Outcome::Inconclusive), Some(Outcome::Pass), None]
                {
                    let names: Vec<&str> = table
                        .families
                        .iter()
                        .map(String::as_str)
                        .filter(|family| {
                            row.verdicts.get(*family).is_some_and(|v| v.outcome == outcome)
                        })
                        .collect();
                    if !names.is_empty() {
                        let word = outcome.map_or("not run", Outcome::word);
                        parts.push(format!("{word} {}", names.join(", ")));
                    }
                }
                _ = writeln!(out, "  {}: {}", row.label, parts.join("; "));
            }
        }
        out.trim_end().to_string()
    }

    /// Returns the page.
    pub fn html(&self) -> String {
        let mut out = String::from(STYLE);
        let seeds = show::count(self.seeds as usize, "seed");
        _ = writeln!(
            out,
            "<header>\n<h1>All packs over all families</h1>\n<p>A verdict per section of a standard and family, by the rules of the packs, and each failure in words. Each case ran with {seeds}. There is no total: sections are of different weight, and no family is for all of them.</p>\n</header>\n<main class=\"survey\" id=\"main\">"
        );
        for table in &self.tables {
            _ = writeln!(
                out,
                "<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"signs\">{}</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Verdicts\"><table>\n<thead><tr><th>section</th>",
                escape(&table.pack, 100),
                escape(&table.title, 300),
                escape(&table.source, 500)
            );
            for family in &table.families {
                _ = write!(out, "<th>{}</th>", escape(family, 60));
            }
            out += "</tr></thead>\n<tbody>\n";
            for row in &table.rows {
                let (label, title) = (escape(&row.label, 60), escape(&row.title, 200));
                _ = write!(out, "<tr><td title=\"{title}\">{label}</td>");
                for family in &table.families {
                    out += &cell(row.verdicts.get(family));
                }
                out += "</tr>\n";
            }
            out += "</tbody></table></div>\n";
            failures(&mut out, table);
            out += "</section>\n";
        }
        out += "</main>\n";
        shell("All packs over all families", &out)
    }
}

const STYLE: &str = "<style>
.survey td { font-size: 0.75rem; }
.survey td:first-child { white-space: nowrap; }
.survey .fail { color: var(--line-4); font-weight: 600; }
.survey .pass { color: var(--pass); }
.survey li { max-width: 60rem; overflow-wrap: anywhere; }
</style>
";

fn cell(verdict: Option<&Verdict>) -> String {
    let Some(verdict) = verdict else { return "<td></td>".into() };
    let (class, word) = match verdict.outcome {
        Some(Outcome::Fail) => ("fail", "FAIL"),
        Some(Outcome::Inconclusive) => ("open", "open"),
        Some(Outcome::Pass) => ("pass", "pass"),
        None => ("open", "–"),
    };
    format!("<td class=\"{class}\" title=\"{}\">{word}</td>", escape(&verdict.says, 500))
}

/// The failures of a pack, with their figures and reasons.
fn failures(out: &mut String, table: &Table) {
    let failed: BTreeSet<&String> = (table.rows.iter().flat_map(|row| &row.verdicts))
        .filter(|(_, verdict)| verdict.outcome == Some(Outcome::Fail))
        .map(|(family, _)| family)
        .collect();
    if failed.is_empty() {
        out.push_str("<p>Nothing failed.</p>\n");
        return;
    }
    out.push_str("<ul>\n");
    for family in table.families.iter().filter(|family| failed.contains(family)) {
        for row in &table.rows {
            let Some(verdict) = row.verdicts.get(family) else { continue };
            if verdict.outcome == Some(Outcome::Fail) {
                let reason = verdict.reason.as_deref().unwrap_or("no reason is recorded");
                let text = format!("{family}: {}. Reason: {reason}.", verdict.says);
                _ = writeln!(out, "<li>{}</li>", escape(&text, 2000));
            }
        }
    }
    out.push_str("</ul>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_by_family_pack_and_section() {
        let reasons =
            Reasons::read("# a | b | c | d\n\nbbr1 | rfc9743 | 5.2 | no answer | to loss\n");
        assert_eq!(reasons.of("bbr1", "rfc9743", "5.2"), Some("no answer | to loss"));
        assert_eq!(reasons.of("bbr1", "rfc9743", "5"), None);
        assert_eq!(reasons.0.len(), 1);
    }
}
