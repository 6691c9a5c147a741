//! Tables of results in Markdown pages, between a marker and its end:
//!
//! ```text
//! <!-- results: experiments -->
//! <!-- end of results -->
//! ```
//!
//! The table `experiments` has a row per experiment. The table `counts` has the counts over all of
//! them. Counts within a text are in [`crate::failing`].

use crate::class::Class;
use crate::failing::{self, Judged};
use crate::json::Point;
use crate::show;
use crate::verdict::{Kind, Tally, kinds, totals};
use accord_scenario::{Engine, Expectation};

const MARKER: &str = "<!-- results: ";
const END: &str = "<!-- end of results -->";

/// One experiment in the tables of results.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentRow {
    id: String,
    checks: Vec<(Kind, Class)>,
    /// The known failures, engine by engine and point by point: the class, the reason, and whether
    /// the run is live.
    known: Vec<(Class, String, bool)>,
    /// Its checks of packets.
    packets: Vec<Judged>,
}

impl ExperimentRow {
    /// Returns the row of the experiment `id`. Of live runs it includes only the known failures.
    pub fn of(id: &str, points: &[Point]) -> ExperimentRow {
        let known = |e: &Expectation| {
            let known = e.fails.as_ref()?;
            let live = e.engine == Engine::Live;
            Some((Class::of(known.why), known.because.clone(), live))
        };
        let expectations = points.iter().flat_map(|p| &p.scenario.expectations);
        let checks = points.iter().flat_map(|p| p.checks);
        let checks: Vec<_> = checks
            .filter(|c| c.engine != Engine::Live)
            .cloned()
            .collect();
        ExperimentRow {
            id: id.to_string(),
            checks: kinds(&checks).collect(),
            known: expectations.filter_map(known).collect(),
            packets: failing::judged(points),
        }
    }

    /// Returns the kinds and classes of its checks, for [`totals`].
    pub fn checks(&self) -> &[(Kind, Class)] {
        &self.checks
    }

    fn cells(&self) -> String {
        let tally = |kinds: &[Kind]| {
            let of = self.checks.iter().filter(|(kind, _)| kinds.contains(kind));
            Tally::of(of.map(|(_, class)| *class))
        };
        let met = |kinds: &[Kind]| match tally(kinds) {
            t if t.total() == 0 => show::NONE.to_string(),
            t => format!("{} of {}", t.count(Class::Met), t.total()),
        };
        let worst = tally(&Kind::ALL).worst();
        format!(
            "| {} | {} | {} | {} | {} | {} |",
            worst.sign(),
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
            let live = if *live { " live" } else { "" };
            let (sign, because) = (class.sign(), cell(because));
            texts.push(format!("{sign} {count}{live}: {because}"));
        }
        let unknown = self.checks.iter().filter(|(_, c)| *c == Class::Unknown);
        match unknown.count() {
            0 => {}
            n => texts.push(format!("! {n} not known")),
        }
        texts.join("<br>")
    }
}

/// Puts new tables into a page. `Err` says what is wrong with its markers.
pub fn rewrite(page: &str, rows: &[ExperimentRow]) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = page;
    while let Some(at) = rest.find(MARKER) {
        let (before, marked) = rest.split_at(at);
        let (marker, after) = marked.split_once('\n').unwrap_or((marked, ""));
        let kind = marker[MARKER.len()..].trim_end().strip_suffix(" -->");
        let table = match kind {
            Some("experiments") => experiments(rows),
            Some("counts") => counts(rows),
            _ => {
                return Err(format!(
                    "\"{marker}\": the kinds are experiments and counts"
                ));
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
        row.map(|row| &row.packets[..])
    };
    failing::rewrite(&(out + rest), of, rows.is_empty())
}

fn experiments(rows: &[ExperimentRow]) -> String {
    let signs = Class::ALL.map(|c| format!("{} {}", c.sign(), c.meaning()));
    let mut out = format!(
        "Checks that are met, of how many; {}.\n\n\
         | | experiment | packets against the paper | packets against models and ourselves | models against models | what fails, and why |\n\
         |---|---|---|---|---|---|\n",
        signs.join("; ")
    );
    for row in rows {
        out += &row.cells();
        out.push('\n');
    }
    out
}

fn counts(rows: &[ExperimentRow]) -> String {
    let lines = totals(rows.iter().map(ExperimentRow::checks));
    lines.iter().map(|line| format!("- {line}\n")).collect()
}

/// Returns a text that stays in its cell.
fn cell(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace('|', "\\|")
}
