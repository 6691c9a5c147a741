//! The dossier in Markdown.

use super::verdict::anchor;
use super::{Dossier, MOST_ROWS, has_points};
use crate::evaluation::{CaseResult, PackResult};
use accord::report::show;
use std::fmt::Write;

/// Returns the dossier as Markdown; it shows the plots of [`Dossier::plots`].
pub fn markdown(dossier: &Dossier) -> String {
    let order = &dossier.evaluation.order;
    let mut out = format!("# Evaluation of {}\n\n", text(&order.subjects[0].label));
    out += "## Verdict\n\n";
    for line in dossier.summary() {
        _ = match line.anchor() {
            Some(case) => writeln!(out, "- [{}](#{case})", text(&line.text)),
            None => writeln!(out, "- {}", text(&line.text)),
        };
    }
    for line in dossier.method() {
        _ = write!(out, "\n{}\n", text(&line));
    }
    for result in &dossier.evaluation.packs {
        pack(&mut out, dossier, result);
    }
    out
}

fn pack(out: &mut String, dossier: &Dossier, result: &PackResult) {
    let pack = &result.pack;
    _ = write!(out, "\n## {}\n\n{}\n", text(&pack.title), text(&pack.source));
    for remark in pack.remarks() {
        _ = write!(out, "\n{}\n", text(&remark));
    }
    for (s, section) in pack.sections.iter().enumerate() {
        let cases: Vec<_> = result.cases.iter().filter(|c| c.section == s).collect();
        let asked = dossier.evaluation.order.cases.is_empty();
        if cases.is_empty() && !asked {
            continue;
        }
        let level = match section.level.as_str() {
            "" => String::new(),
            level => format!(" ({level})"),
        };
        let head = format!("{} {}{level}", section.number, section.title);
        _ = write!(out, "\n### {}\n\n{}\n", text(&head), text(&section.asks));
        for case in &cases {
            self::case(out, dossier, result, case);
        }
        if !section.not_measured.is_empty() {
            _ = write!(out, "\nNot measured: {}\n", text(&section.not_measured));
        } else if cases.is_empty() {
            out.push_str("\nNot measured: its cases are in the whole tier.\n");
        }
    }
    if !pack.left_out.is_empty() {
        out.push_str("\n### Left out of this pack\n\n");
        for part in &pack.left_out {
            _ = writeln!(out, "- {}: {}", text(&part.what), text(&part.why));
        }
    }
}

fn case(out: &mut String, dossier: &Dossier, result: &PackResult, case: &CaseResult) {
    let (_, definition) = result.case_of(case);
    let anchor = anchor(&result.pack.name, &definition.name);
    _ = write!(out, "\n<a id=\"{anchor}\"></a>\n\n#### {}\n\n", text(&definition.title));
    let points = has_points(case);
    let subjects = &dossier.evaluation.order.subjects;
    let mut head = vec!["measure".to_string()];
    if points {
        head.insert(0, "point".into());
    }
    let rule = head.iter().map(|_| "---").chain(subjects.iter().map(|_| "---:"));
    let rule: Vec<&str> = rule.collect();
    head.extend(subjects.iter().map(|s| cell(&s.label)));
    _ = writeln!(out, "| {} |\n| {} |", head.join(" | "), rule.join(" | "));
    for row in case.rows.iter().take(MOST_ROWS) {
        let (name, figures) = dossier.cells(result, case, row);
        let mut cells = vec![cell(&name)];
        if points {
            cells.insert(0, cell(&row.point));
        }
        cells.extend(figures);
        _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    for remark in dossier.remarks(result, case) {
        _ = write!(out, "\n{}\n", text(&remark));
    }
    out.push('\n');
    for chart in dossier.charts(result, case) {
        let file = dossier.plot_file(result, case, &chart);
        _ = writeln!(out, "![{}]({file})", text(&chart.says));
    }
    let commands = dossier.commands(result, case).join("\n");
    _ = write!(out, "\n```sh\n{commands}\n```\n");
}

/// Returns a text of a pack in one line, without what Markdown takes for markup of a page.
fn text(text: &str) -> String {
    let clean = show::clean(text, 4000);
    clean.replace('<', "&lt;").replace('|', "\\|")
}

fn cell(cell: &str) -> String {
    text(cell.trim())
}
