//! Comparison of run directories and sweeps: points matched by label, with a chosen reference.

use crate::cells::Cells;
use crate::compare::{Column, Row, columns, rows, with_values};
use crate::files::{LoadedRun, Stored};
use crate::json::{FORMAT_VERSION, row_records, settings_record};
use crate::show;
use crate::style::Style;
use crate::table::{
    DIFFERS, agreement, align_right, comparison, fill, finish, lines, new_table, paint,
};
use accord_record::Run;
use accord_scenario::Engine;
use serde_json::{Value, json};

/// The comparison at one point: columns of all directories that contain it.
#[derive(Clone, Debug)]
pub struct Versus<'a> {
    /// The values of the sweeps, or nothing.
    pub point: &'a [(String, String)],
    /// The columns, the reference first.
    pub columns: Vec<Column<'a>>,
}

impl Versus<'_> {
    /// Returns the point in one line, or "".
    pub fn label(&self) -> String {
        crate::axis::label(self.point)
    }

    /// Returns the number of directories that have the point.
    pub fn directories(&self) -> usize {
        let outlines = self.columns.iter().map(|c| std::ptr::from_ref(c.outline));
        outlines.collect::<std::collections::BTreeSet<_>>().len()
    }

    /// Returns the rows of the comparison.
    pub fn rows(&self) -> Vec<Row> {
        rows(&self.columns)
    }

    /// Returns the point at a glance: its label, the number of rows, the number of rows that differ, and the
    /// row that is farthest off, with its error.
    pub(crate) fn glance(&self) -> [String; 5] {
        let rows = self.rows();
        let compared = rows.iter().filter(|r| !agreement(r).is_empty()).count();
        let differ = rows.iter().filter(|r| agreement(r) == DIFFERS).count();
        let errors = rows.iter().filter_map(|r| r.error().map(|e| (r, e)));
        let farthest = errors.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let farthest = farthest.filter(|_| differ > 0);
        let (row, error) = farthest.map_or_else(Default::default, |(row, error)| {
            let of = show::clean(row.of.name(), 26);
            (format!("{} of {of}", row.quantity.replace('_', " ")), show::error(error))
        });
        [self.label(), compared.to_string(), differ.to_string(), row, error]
    }
}

/// Returns the name of a directory among others.
fn name(stored: &[Stored], of: &Stored) -> String {
    let alike = stored.iter().filter(|s| s.name() == of.name()).count();
    match alike {
        1 => of.name(),
        _ => of.path.display().to_string(),
    }
}

/// Matches the points of directories by label. `engines` limits the columns unless it is empty.
/// `reference` is a column ("DIR: ENGINE"), a directory or an engine. Without it, the first column
/// that has values is the reference. The error names the columns.
pub fn versus<'a>(
    stored: &'a [Stored],
    engines: &[Engine],
    reference: Option<&str>,
) -> Result<Vec<Versus<'a>>, String> {
    let alone = stored.iter().all(|s| s.points.len() == 1);
    let mut all: Vec<Versus> = Vec::new();
    for s in stored {
        for point in &s.points {
            // Single runs are compared regardless of their points.
            let settings = if alone { &[][..] } else { &point.manifest.scenario.point[..] };
            let own = columns_of(point, &name(stored, s), engines);
            match all.iter_mut().find(|v| v.point == settings) {
                Some(versus) => versus.columns.extend(own),
                None => all.push(Versus { point: settings, columns: own }),
            }
        }
    }
    let mut found = reference.is_none();
    for versus in &mut all {
        versus.columns = with_values(&versus.columns);
        let is = |c: &Column| reference.is_some_and(|r| is_named(&c.label, r));
        if let Some(i) = versus.columns.iter().position(is) {
            versus.columns[..=i].rotate_right(1);
            found = true;
        }
    }
    if !found {
        let labels = all.iter().flat_map(|v| &v.columns).map(|c| c.label.as_str());
        return Err(show::once(labels).join(", "));
    }
    Ok(all)
}

/// The name of the group of a measurement for which none is given.
pub const UNNAMED: &str = "all";

/// Gives the flows of measurements the name of a group of the other runs so that they share its rows: that
/// of `group`, or else of the only one if the measurements have no given group.
///
/// # Errors
/// Fails with the names of the groups if there is no `group` among them.
pub fn pair_measured(stored: &mut [Stored], group: Option<&str>) -> Result<(), Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for point in stored.iter().flat_map(|s| &s.points).filter(|point| !point.is_measured()) {
        names.extend(point.manifest.scenario.groups.iter().map(|group| group.name.clone()));
    }
    let once: Vec<String> =
        show::once(names.iter().map(String::as_str)).into_iter().map(String::from).collect();
    let name = match (group, &once[..]) {
        (Some(group), _) if !once.iter().any(|name| name == group) => return Err(once),
        (Some(group), _) => group.to_string(),
        (None, [name]) => name.clone(),
        (None, _) => return Ok(()),
    };
    for point in stored.iter_mut().flat_map(|s| &mut s.points).filter(|point| point.is_measured()) {
        if let [own] = &mut point.manifest.scenario.groups[..]
            && (group.is_some() || own.name == UNNAMED)
        {
            own.name.clone_from(&name);
        }
    }
    Ok(())
}

/// Returns the groups of runs, if there are measurements next to them that share none of these.
pub fn unpaired(stored: &[Stored]) -> Option<Vec<&str>> {
    let points = stored.iter().flat_map(|s| &s.points);
    let (measured, runs): (Vec<_>, Vec<_>) = points.partition(|point| point.is_measured());
    let [own, names] = [measured, runs].map(|points| {
        let groups = points.into_iter().flat_map(|point| &point.manifest.scenario.groups);
        show::once(groups.map(|group| group.name.as_str()))
    });
    let apart = !own.is_empty() && !names.is_empty() && !names.iter().any(|n| own.contains(n));
    apart.then_some(names)
}

fn columns_of<'a>(point: &'a LoadedRun, name: &str, engines: &[Engine]) -> Vec<Column<'a>> {
    let wanted = |r: &&Run| engines.is_empty() || engines.contains(&r.manifest.engine);
    let runs: Vec<&Run> = point.runs.iter().filter(wanted).collect();
    let mut columns = columns(&point.manifest.scenario, &runs);
    for column in &mut columns {
        let engine = if point.is_measured() { "measured" } else { &column.label };
        column.label = format!("{name}: {engine}");
    }
    columns
}

/// Returns whether a text is a column's label, its directory or its engine.
fn is_named(label: &str, text: &str) -> bool {
    let text = text.trim_end_matches('/');
    let parts = label.rsplit_once(": ");
    label == text || parts.is_some_and(|(dir, engine)| dir == text || engine == text)
}

/// Returns the heading and a line per point, at a glance.
fn glances(all: &[Versus]) -> Vec<Vec<String>> {
    let header = ["point", "rows", "differ", "farthest", "error"].map(String::from);
    let mut lines = vec![header.to_vec()];
    lines.extend(all.iter().map(|versus| {
        let mut cells = versus.glance();
        cells[0] = show::clean(&cells[0], 60);
        cells.to_vec()
    }));
    lines
}

/// Returns points at a glance: the number of rows that differ, and the row that is farthest from
/// the reference.
pub fn differences(all: &[Versus], style: Style) -> String {
    let lines = glances(all);
    let mut table = new_table(style);
    fill(&mut table, lines);
    align_right(&mut table, 1..3);
    align_right(&mut table, 4..5);
    let reference = all.first().and_then(|v| v.columns.first());
    let reference = reference.map_or("", |c| &c.label);
    let text = format!(
        "{}\ndiffer: not within 5 % of {}; error: relative to it, of the column that is farthest off\n",
        finish(table),
        show::clean(reference, 60)
    );
    paint(text, style)
}

/// Returns the table of one point, under its label.
pub fn versus_table(versus: &Versus, style: Style) -> String {
    let label = versus.label();
    let head = if label.is_empty() { label } else { format!("{label}\n") };
    head + &comparison(&versus.columns, style)
}

/// Returns the table of a comparison for a paper or a page: the rows of one point, or a row per point of
/// a sweep.
pub fn versus_cells(all: &[Versus]) -> Cells {
    let (mut lines, names) = match all {
        [one] => {
            let named = |label: &str| show::clean(label, 60);
            let (mut lines, _) = lines(&one.columns, &one.rows(), named);
            // Every row names its flow or link.
            for i in 1..lines.len() {
                if lines[i][0].is_empty() {
                    lines[i][0] = lines[i - 1][0].clone();
                }
            }
            (lines, 2)
        }
        _ => (glances(all), 1),
    };
    let head = lines.remove(0);
    Cells { head, rows: lines, names }
}

/// Returns the record of a comparison, for `--json`.
pub fn comparison_record(all: &[Versus]) -> Value {
    let points = all.iter().map(|versus| {
        json!({
            "label": versus.label(),
            "settings": settings_record(versus.point),
            "reference": versus.columns.first().map_or("", |c| &c.label),
            "rows": row_records(&versus.columns, &versus.rows()),
        })
    });
    json!({ "format_version": FORMAT_VERSION, "points": points.collect::<Vec<_>>() })
}
