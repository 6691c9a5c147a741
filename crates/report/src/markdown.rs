//! Tables of results in Markdown pages, between a marker and its end:
//!
//! ```text
//! <!-- results: experiments -->
//! <!-- end of results -->
//! ```
//!
//! The table `experiments` has a row per experiment. The table `counts` has the counts of
//! [`Summary::counts`](crate::Summary::counts). Counts within a text are in [`crate::failing`].

use crate::class::Class;
use crate::failing;
use crate::json::Point;
use crate::results::Results;
use crate::show;
use crate::verdict::{Judged, Kind, Tally};
use accord_scenario::{Engine, Expectation, Scenario};

const MARKER: &str = "<!-- results: ";
const END: &str = "<!-- end of results -->";

/// One experiment in the tables of results.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentRow {
    pub(crate) id: String,
    /// The checks, without those of live runs.
    pub(crate) judged: Vec<Judged>,
    /// The known failures, engine by engine and point by point: the class, the reason, and whether
    /// the run is live.
    known: Vec<(Class, String, bool)>,
}

impl ExperimentRow {
    /// Returns the row of the experiment `id`. Of live runs it includes only the known failures.
    pub fn of(id: &str, points: &[Point]) -> ExperimentRow {
        let judged = |p: &Point| {
            let checks = p.checks.iter().filter(|c| c.engine != Engine::Live);
            let judged = checks.map(|c| Judged {
                point: p.scenario.point.clone(),
                name: c.name.clone(),
                engine: c.engine,
                metric: c.metric,
                kind: Kind::of(c.engine, c.claim),
                class: c.class,
            });
            judged.collect::<Vec<_>>()
        };
        ExperimentRow {
            id: id.to_string(),
            judged: points.iter().flat_map(judged).collect(),
            known: known(points.iter().map(|p| p.scenario)),
        }
    }

    /// Returns the row of the experiment `id` as `results` record it. `scenarios` are the points of
    /// its sweep.
    ///
    /// # Errors
    /// Fails if the results are not of these scenarios, and says where they differ.
    pub fn recorded(
        id: &str,
        scenarios: &[Scenario],
        results: &Results,
    ) -> Result<ExperimentRow, String> {
        let mut judged = Vec::new();
        for scenario in scenarios {
            judged.extend(results.judged(id, scenario)?);
        }
        Ok(ExperimentRow { id: id.to_string(), judged, known: known(scenarios) })
    }

    /// Returns the kinds and classes of its checks, for [`totals`](crate::totals).
    pub fn checks(&self) -> impl Iterator<Item = (Kind, Class)> {
        self.judged.iter().map(|c| (c.kind, c.class))
    }

    /// Returns its checks of packets against a paper.
    pub(crate) fn against_paper(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|c| c.kind == Kind::Paper)
    }

    fn cells(&self) -> String {
        let tally = |kinds: &[Kind]| {
            let of = self.checks().filter(|(kind, _)| kinds.contains(kind));
            Tally::of(of.map(|(_, class)| class))
        };
        let met = |kinds: &[Kind]| match tally(kinds) {
            t if t.total() == 0 => show::NONE.to_string(),
            t => format!("{} of {}", t.count(Class::Met), t.total()),
        };
        let worst = tally(&Kind::ALL).worst();
        format!(
            "| {} | {} | {} | {} | {} | {} |",
            worst.word(),
            cell(&self.id),
            met(&[Kind::Paper]),
            met(&[Kind::Theory, Kind::Ours]),
            met(&[Kind::Models]),
            self.reasons()
        )
    }

    /// Returns each reason once, with the number of checks that it explains.
    fn reasons(&self) -> String {
        let mut texts = Vec::new();
        let mut seen: Vec<&(Class, String, bool)> = Vec::new();
        for known in &self.known {
            if seen.contains(&known) {
                continue;
            }
            seen.push(known);
            let count = self.known.iter().filter(|k| *k == known).count();
            let (class, because, live) = known;
            let live = if *live { ", live" } else { "" };
            let (count, because) = (class.counted(count), cell(because));
            texts.push(format!("{count}{live}: {because}"));
        }
        let unknown = self.checks().filter(|(_, c)| *c == Class::Unknown);
        match unknown.count() {
            0 => {}
            n => texts.push(Class::Unknown.counted(n)),
        }
        texts.join("<br>")
    }
}

/// Returns the known failures that scenarios record.
fn known<'a>(scenarios: impl IntoIterator<Item = &'a Scenario>) -> Vec<(Class, String, bool)> {
    let known = |e: &Expectation| {
        let known = e.fails.as_ref()?;
        let live = e.engine == Engine::Live;
        Some((Class::of(known.why), known.because.clone(), live))
    };
    let expectations = scenarios.into_iter().flat_map(|s| &s.expectations);
    expectations.filter_map(known).collect()
}

/// Puts new tables into a page. `counts` returns the lines that count verdicts. `Err` describes the
/// fault of the page's markers.
pub fn rewrite(
    page: &str,
    rows: &[ExperimentRow],
    counts: impl Fn(&[ExperimentRow]) -> [String; 2],
) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = page;
    while let Some(at) = rest.find(MARKER) {
        let (before, marked) = rest.split_at(at);
        let (marker, after) = marked.split_once('\n').unwrap_or((marked, ""));
        let kind = marker[MARKER.len()..].trim_end().strip_suffix(" -->");
        let table = match kind {
            Some("experiments") => experiments(rows),
            Some("counts") => (counts(rows).iter()).map(|line| format!("- {line}\n")).collect(),
            _ => {
                return Err(format!("\"{marker}\": the kinds are experiments and counts"));
            }
        };
        let Some(end) = after.find(END) else {
            return Err(format!("\"{marker}\" has no \"{END}\""));
        };
        out += &format!("{before}{marker}\n\n{table}\n{END}");
        rest = &after[end + END.len()..];
    }
    if out.is_empty() {
        return Err(format!("there is no \"{MARKER}... -->\""));
    }
    let of = |id: &str| {
        let row = rows.iter().find(|row| row.id == id);
        row.map(|row| &row.judged[..])
    };
    failing::rewrite(&(out + rest), of, rows.is_empty())
}

fn experiments(rows: &[ExperimentRow]) -> String {
    let signs = Class::ALL.map(|c| format!("{}: {}", c.word(), c.meaning()));
    let mut out = format!(
        "Checks that are met, of how many, and the worst verdict; {}.\n\n\
         | worst | experiment | packets against the paper | packets against models and ourselves | models against models | what fails, and why |\n\
         |---|---|---|---|---|---|\n",
        signs.join("; ")
    );
    for row in rows {
        out += &row.cells();
        out.push('\n');
    }
    out
}

/// Returns a text that stays in its cell.
fn cell(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace('|', "\\|")
}
