//! The dossier as one HTML page, which loads nothing.

use super::verdict::anchor;
use super::{Dossier, MOST_ROWS, has_points};
use crate::evaluation::{CaseResult, Finding, PackResult};
use crate::judge::{Outcome, SectionVerdict};
use accord::report::{escape, shell};
use std::fmt::Write;

/// The style of parts that only dossiers have.
const STYLE: &str = "<style>
.dossier section > p, .dossier li { max-width: 48rem; overflow-wrap: anywhere; }
#verdict li { max-width: none; }
.dossier h3 { margin: 1.6rem 0 0.2rem; }
.dossier h4 { margin: 1.1rem 0 0.4rem; font-size: 0.95rem; }
.dossier pre { overflow-x: auto; font-size: 0.8rem; color: var(--soft); margin: 0.3rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.dossier .level { font-size: 0.75rem; font-weight: 600; color: var(--line-0); margin-left: 0.4rem; }
.dossier .plots { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0.6rem; margin: 0.6rem 0; }
.dossier .plots svg { width: min(100%, 360px); height: auto; background: var(--panel); border: 1px solid var(--rule); border-radius: 8px; }
.dossier tbody td:first-child { white-space: nowrap; }
.verdict.worse, .dossier .worse a { color: var(--line-4); }
.dossier .better a { color: var(--pass); }
.dossier .rules { font-size: 0.85rem; color: var(--soft); }
.dossier .rules .worse { color: var(--line-4); }
.dossier .toc { columns: 18rem; padding-left: 1.2rem; }
@media (max-width: 600px) { .dossier tbody td:first-child { white-space: normal; min-width: 6.5rem; } }
</style>
";

/// Returns the dossier as a page.
pub fn html(dossier: &Dossier) -> String {
    let e = dossier.evaluation;
    let subject = escape(&e.order.subjects[0].label, 200);
    let mut out = format!("{STYLE}<header>\n<h1>Evaluation of {subject}</h1>\n");
    let verdict = dossier.verdict();
    let regressions = dossier.regressions();
    let class = match verdict.iter().filter_map(|line| line.outcome).min() {
        _ if regressions > 0 => "fail",
        Some(Outcome::Fail) => "fail",
        Some(Outcome::Inconclusive) => "worse",
        _ => "pass",
    };
    let headline = e.conclusion_with(regressions);
    _ = writeln!(out, "<p class=\"verdict {class}\">{}</p>\n</header>", escape(&headline, 2000));
    out +=
        "<main class=\"dossier\" id=\"main\">\n<section id=\"verdict\">\n<h2>Verdict</h2>\n<ul>\n";
    let lines = verdict.iter().rev().skip(1).rev().cloned();
    for line in lines.chain(dossier.failed()).chain(dossier.beside_rivals()) {
        let text = escape(&line.text, 2000);
        let class = match (line.finding, line.outcome) {
            (Some(Finding::Worse), _) | (_, Some(Outcome::Fail)) => " class=\"worse\"",
            (Some(Finding::Better), _) | (_, Some(Outcome::Pass)) => " class=\"better\"",
            _ => "",
        };
        _ = match line.anchor() {
            Some(case) => {
                writeln!(out, "<li{class}><a href=\"#{}\">{text}</a></li>", escape(&case, 200))
            }
            None => writeln!(out, "<li{class}>{text}</li>"),
        };
    }
    out += "</ul>\n";
    for line in dossier.method() {
        _ = writeln!(out, "<p class=\"signs\">{}</p>", escape(&line, 2000));
    }
    out += "</section>\n";
    contents(&mut out, dossier);
    for result in &e.packs {
        pack(&mut out, dossier, result);
    }
    out += "</main>\n";
    shell(&format!("Evaluation of {}", e.order.subjects[0].label), &out)
}

fn contents(out: &mut String, dossier: &Dossier) {
    if dossier.evaluation.packs.len() < 2 {
        return;
    }
    out.push_str("<nav aria-label=\"Packs\"><ul class=\"toc\">\n");
    for result in &dossier.evaluation.packs {
        let (name, title) = (&result.pack.name, escape(&result.pack.title, 200));
        _ = writeln!(out, "<li><a href=\"#{name}\">{title}</a></li>");
    }
    out.push_str("</ul></nav>\n");
}

fn pack(out: &mut String, dossier: &Dossier, result: &PackResult) {
    let pack = &result.pack;
    let (title, source) = (escape(&pack.title, 300), escape(&pack.source, 500));
    _ = writeln!(
        out,
        "<section id=\"{}\">\n<h2>{title}</h2>\n<p class=\"signs\">{source}</p>",
        pack.name
    );
    for remark in pack.remarks() {
        _ = writeln!(out, "<p>{}</p>", escape(&remark, 4000));
    }
    let verdicts = dossier.evaluation.sections();
    for (s, section) in pack.sections.iter().enumerate() {
        let cases: Vec<_> = result.cases.iter().filter(|c| c.planned.section == s).collect();
        if cases.is_empty() && !dossier.evaluation.order.cases.is_empty() {
            continue;
        }
        let level = match section.level.as_str() {
            "" => String::new(),
            level => format!("<span class=\"level\">{}</span>", escape(level, 20)),
        };
        _ = writeln!(
            out,
            "<h3>{} {}{level}</h3>\n<p>{}</p>",
            escape(&section.number, 40),
            escape(&section.title, 200),
            escape(&section.asks, 4000)
        );
        let own = |v: &&SectionVerdict| v.pack.pack.name == pack.name && v.section == s;
        if let Some(verdict) = verdicts.iter().find(own) {
            rules(out, verdict);
        }
        for case in &cases {
            self::case(out, dossier, result, case);
        }
        let missing = match section.not_measured.as_str() {
            "" if cases.is_empty() => "its cases are in the whole tier.",
            missing => missing,
        };
        if !missing.is_empty() {
            let missing = escape(missing, 4000);
            _ = writeln!(out, "<p class=\"because\">Not measured: {missing}</p>");
        }
    }
    if !pack.left_out.is_empty() {
        out.push_str("<h3>Left out of this pack</h3>\n<ul>\n");
        for part in &pack.left_out {
            let (what, why) = (escape(&part.what, 500), escape(&part.why, 2000));
            _ = writeln!(out, "<li>{what}: {why}</li>");
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</section>\n");
}

/// The rules of a section at each point, with their reasons.
fn rules(out: &mut String, verdict: &SectionVerdict) {
    out.push_str("<ul class=\"rules\">\n");
    for judged in &verdict.rules {
        let class = match judged.outcome {
            Outcome::Fail => "worse",
            Outcome::Inconclusive => "open",
            Outcome::Pass => "better",
        };
        let because = match judged.requirement.because.as_str() {
            "" => String::new(),
            because => format!(". {because}"),
        };
        let text = format!(
            "{}: {}, {}{because}",
            judged.outcome.word(),
            judged.requirement.key.case,
            judged.says()
        );
        _ = writeln!(out, "<li class=\"{class}\">{}</li>", escape(&text, 2000));
    }
    out.push_str("</ul>\n");
}

fn case(out: &mut String, dossier: &Dossier, result: &PackResult, case: &CaseResult) {
    let (_, definition) = case.planned.within(&result.pack);
    let points = has_points(case);
    _ = write!(
        out,
        "<h4 id=\"{}\">{}</h4>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Figures\"><table>\n<thead><tr>{}<th>measure</th>",
        escape(&anchor(&result.pack.name, &definition.name), 200),
        escape(&definition.title, 300),
        if points { "<th>point</th>" } else { "" }
    );
    for subject in &dossier.evaluation.order.subjects {
        _ = write!(out, "<th class=\"n\">{}</th>", escape(&subject.label, 60));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in case.rows.iter().take(MOST_ROWS) {
        let (name, figures) = dossier.cells(result, case, row);
        out.push_str("<tr>");
        if points {
            _ = write!(out, "<td>{}</td>", escape(&row.point, 200));
        }
        let title = escape(&result.measure(row).title, 300);
        _ = write!(out, "<td title=\"{title}\">{}</td>", escape(&name, 120));
        for figure in figures {
            _ = write!(out, "<td class=\"n\">{}</td>", escape(&figure, 80));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    for remark in dossier.remarks(result, case) {
        _ = writeln!(out, "<p class=\"signs\">{}</p>", escape(&remark, 2000));
    }
    out.push_str("<div class=\"plots\">\n");
    for chart in dossier.charts(result, case) {
        _ = writeln!(out, "{}", chart.svg());
    }
    let commands = dossier.commands(result, case).join("\n");
    // A command is quoted whole; names in it are checked and subjects are escaped.
    let commands: Vec<String> = commands.lines().map(|c| escape(c, 4000)).collect();
    _ = writeln!(out, "</div>\n<pre>{}</pre>", commands.join("\n"));
}
