//! Tables for people who read them in a terminal.

use crate::check::{Check, by_expectation, engines, figure, worst};
use crate::class::Class;
use crate::compare::{Column, Outline, Row, Subject, active, columns, covered, rows, with_values};
use crate::show;
use crate::style::Style;
use crate::transfers::{HEADINGS, TransferRow, transfer_rows};
use crate::verdict::Tally;
use accord_record::Run;
use accord_scenario::{Engine, Scenario, Target};
use accord_units::Duration;
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};
use std::collections::BTreeMap;

/// The relative difference up to which engines agree: the papers' "≈".
pub const AGREE: f64 = 0.05;

/// The number of spaces after a column, normally and if room is scarce.
const PADDING: [u16; 2] = [2, 1];

/// The verdict of engines that do not agree.
pub(crate) const DIFFERS: &str = "differs";

/// Returns the engines' runs of one scenario side by side, over its steady window.
pub fn table(scenario: &Scenario, runs: &[&Run], style: Style) -> String {
    let outline = Outline::of(scenario);
    let mut text = comparison(&columns(&outline, runs), style);
    text += &transfers_table(&transfer_rows(&outline, runs), style);
    if let Some(run) = runs.iter().find(|run| !run.certificates.is_empty()) {
        let engine = run.manifest.engine;
        text += &format!("{engine}: {}\n", show::certificates(&run.certificates));
    }
    for run in runs.iter().filter(|run| !run.skipped.is_empty()) {
        let skipped = skipped(run.skipped(), scenario.duration);
        text += &format!("{}, seed {}: {skipped}\n", run.manifest.engine, run.manifest.seed);
    }
    text + &remarks(runs)
}

/// The number of notes shown on a terminal. The page has the others.
const MOST_NOTES: usize = 5;

/// Returns the notes of theory and of the fluid engine on their models, one per line, each once. If there are
/// many, returns the first few of each engine, which cover its largest effects.
pub fn remarks(runs: &[&Run]) -> String {
    let models = [Engine::Theory, Engine::Fluid];
    let models = (runs.iter()).filter(|run| models.contains(&run.manifest.engine));
    let mut ranked: Vec<(usize, &str)> = models
        .flat_map(|run| run.notes.iter().enumerate().map(|(rank, note)| (rank, note.as_str())))
        .collect();
    ranked.sort_by_key(|&(rank, _)| rank);
    let notes = show::shared(ranked.into_iter().map(|(_, note)| note));
    let mut text = String::new();
    for note in show::few(&notes, MOST_NOTES) {
        text += &note;
        text.push('\n');
    }
    text
}

/// Returns the completion times, or nothing if there are no transfers.
fn transfers_table(rows: &[TransferRow], style: Style) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let engines = rows.iter().any(|r| r.engine != rows[0].engine);
    let mut table = new_table(style);
    table.set_header(HEADINGS);
    for row in rows {
        table.add_row(row.cells(engines));
    }
    align_right(&mut table, 2..HEADINGS.len());
    finish(table) + "\n"
}

/// Returns rows for any columns, such as run directories, matched by name. The first column is the
/// reference.
pub fn comparison(columns: &[Column], style: Style) -> String {
    // A column without values cannot serve as the reference.
    let columns = &with_values(columns)[..];
    comparison_of(columns, &rows(columns), style)
}

/// Returns these rows of columns, the first of which is the reference.
pub fn comparison_of(columns: &[Column], rows: &[Row], style: Style) -> String {
    if columns.is_empty() || rows.is_empty() {
        return "There is nothing to compare.\n".into();
    }
    if rows.iter().flat_map(|row| &row.values).all(Option::is_none) {
        let labels: Vec<_> = columns.iter().map(|c| show::clean(&c.label, 60)).collect();
        return format!("No values of {}.\n", labels.join(", "));
    }
    let errors = columns.len() > 1;
    let mut table = new_table(style);
    // The directory is above the engine.
    let (lines, right) = lines(columns, rows, |label| match label.rsplit_once(": ") {
        Some((of, engine)) => format!("{}\n{}", show::clean(of, 24), show::clean(engine, 24)),
        None => show::clean(label, 24),
    });
    let verdicts = errors && rows.iter().any(|row| !agreement(row).is_empty());
    let missing = lines.iter().flatten().any(|cell| cell == show::NONE);
    fill(&mut table, lines);
    align_right(&mut table, right);
    let mut text = format!("Means over {}", windows(columns, rows));
    if let Some(runs) = columns.iter().map(|c| c.runs.len()).max().filter(|n| *n > 1) {
        text += &format!("; ± is the 95 % confidence interval over {runs} runs");
    }
    text += &format!("\n{}\n", finish(table));
    let mut signs: Vec<String> = Vec::new();
    if verdicts {
        let first = show::clean(&columns[0].label, 24);
        signs.push(format!("≈ within 5 % of {first}; error: relative to {first}"));
    }
    if missing {
        signs.push(format!("{} no value", show::NONE));
    }
    if !signs.is_empty() {
        text += &format!("{}\n", signs.join("; "));
    }
    if columns.iter().all(|c| c.runs.len() > 1 && all_same(&c.runs)) {
        text += ALL_SAME;
    }
    paint(text, style)
}

/// Returns the heading and the rows of a comparison, without empty columns, and the columns of numbers.
/// `name` makes the heading of a column of its label.
pub(crate) fn lines(
    columns: &[Column],
    rows: &[Row],
    name: impl Fn(&str) -> String,
) -> (Vec<Vec<String>>, std::ops::Range<usize>) {
    let errors = columns.len() > 1;
    let mut header = vec!["flow or link".to_string(), "metric".into()];
    header.extend(columns.iter().map(|c| name(&c.label)));
    if errors {
        header.extend(["error".into(), "verdict".into()]);
    }
    let mut lines = vec![header];
    lines.extend(cells(columns, rows, errors));
    let right = drop_empty(&mut lines, 2..2 + columns.len() + usize::from(errors));
    (lines, right)
}

/// Returns the cells of rows: the subject (unless it is that of the row above), the metric, the values, and
/// with `errors` the error and the verdict.
pub(crate) fn cells<'r>(
    columns: &[Column],
    rows: &'r [Row],
    errors: bool,
) -> impl Iterator<Item = Vec<String>> {
    let mut last: Option<&'r Subject> = None;
    // The rows of a quantity share its unit.
    let mut sizes: BTreeMap<&str, f64> = BTreeMap::new();
    for row in rows {
        let means = row.values.iter().flatten().map(|v| v.mean.abs()).filter(|v| v.is_finite());
        let largest = sizes.entry(row.quantity).or_default();
        *largest = means.fold(*largest, f64::max);
    }
    rows.iter().map(move |row| {
        let again = last.replace(&row.of) == Some(&row.of);
        let name = if again { String::new() } else { subject(columns, &row.of) };
        let metric = row.quantity.replace('_', " ");
        let counted = row.counted(columns).map(|what| format!("{metric}, {what}"));
        let mut cells = vec![name, counted.unwrap_or(metric)];
        cells.extend(show::row_beside(&row.values, row.unit, sizes[row.quantity]));
        if errors {
            cells.push(row.error().map_or(show::NONE.into(), show::error));
            cells.push(agreement(row).into());
        }
        cells
    })
}

/// Returns the expectations and the measured figures, with a verdict in one line at the end.
pub fn checks_table(checks: &[Check], style: Style) -> String {
    if checks.is_empty() {
        return "No expectations to check. Add `[[expect]]` for a verdict.\n".into();
    }
    let windows = checks.iter().any(|c| c.during != checks[0].during);
    let papers = checks.iter().any(|c| !c.paper.is_empty());
    let engines = engines(checks);
    let mut table = new_table(style);
    let mut header = vec![String::new(), "expectation".into()];
    if windows {
        header.push("during".into());
    }
    if papers {
        header.push("paper".into());
    }
    header.extend(engines.iter().map(Engine::to_string));
    header.extend(["error".into(), "allowed".into()]);
    let mut lines = vec![header];
    for judged in by_expectation(checks) {
        let check = worst(judged);
        let mut cells = vec![check.class.word().into(), show::clean(&check.name, 80)];
        if windows {
            cells.push(show::window(check.during));
        }
        if papers {
            cells.push(show::clean(&check.paper, 40));
        }
        let values: Vec<_> = engines.iter().map(|e| figure(judged, *e)).collect();
        cells.extend(show::row(&values, check.unit));
        cells.extend([error(check), show::allowed(check.target, check.unit)]);
        lines.push(cells);
    }
    let first = 2 + usize::from(windows) + usize::from(papers);
    let right = drop_empty(&mut lines, first..first + engines.len() + 1);
    fill(&mut table, lines);
    align_right(&mut table, right);
    let mut text = format!("{}\n", finish(table));
    text += &meanings(checks);
    text += &failures(checks);
    let text = paint(text, style);
    format!("{text}{}\n", verdict(checks, style))
}

/// Returns the meanings of the verdicts in a table, except for "met" and "FAILED", which need none.
pub(crate) fn meanings(checks: &[Check]) -> String {
    let tally = Tally::of(checks.iter().map(|c| c.class));
    let known = [Class::Finding, Class::Open, Class::Ours, Class::Unjudged];
    let there = known.into_iter().filter(|c| tally.count(*c) > 0);
    let meanings = there.map(|c| format!("{}: {}", c.word(), c.meaning()));
    let meanings: Vec<String> = meanings.collect();
    if meanings.is_empty() { String::new() } else { format!("{}\n", meanings.join("; ")) }
}

/// Returns each check that is not met or differs from the record, and each reason once, after its
/// checks.
fn failures(checks: &[Check]) -> String {
    let mut text = String::new();
    let because = |check: &Check| check.fails.as_ref().map(|k| k.because.clone());
    let failed = checks.iter().filter(|c| c.class != Class::Met);
    let failed: Vec<&Check> = failed.collect();
    for (i, check) in failed.iter().enumerate() {
        let (name, of) = (show::clean(&check.name, 60), show::clean(&check.of, 40));
        let (word, engine) = (check.class.word(), check.engine);
        text += &format!("{word}: {name} ({of}, {engine}): {}\n", check.reason);
        let next = failed.get(i + 1).and_then(|c| because(c));
        if let Some(reason) = because(check).filter(|r| next.as_ref() != Some(r)) {
            text += &format!("  because: {}\n", show::clean(&reason, 1000));
        }
    }
    text
}

/// Returns the verdict in one line: "54 of 80 checks met; not met: 22 findings on the paper and 4 open
/// settings". It says whether time was skipped.
pub(crate) fn verdict<'a>(checks: impl IntoIterator<Item = &'a Check>, style: Style) -> String {
    let checks: Vec<&Check> = checks.into_iter().collect();
    let tally = Tally::of(checks.iter().map(|c| c.class));
    let mut text = tally.sentence();
    if let Some((span, of)) = checks.iter().filter_map(|c| c.skipped).max() {
        text += &format!("; {}", skipped(span, of));
    }
    style.paint(tally.worst(), &text)
}

fn skipped(span: Duration, of: Duration) -> String {
    format!("skipped {span} of {of}")
}

/// Returns the deviation of a check, as text.
pub(crate) fn error(check: &Check) -> String {
    match (check.target, check.error) {
        (Target::Range { .. }, Some(0.0)) => "within".into(),
        (_, Some(error)) => show::error(error),
        (_, None) => show::NONE.into(),
    }
}

/// The remark in tables on equal repetitions.
pub(crate) const ALL_SAME: &str = "The runs with different seeds are the same: the scenario draws \
                                   nothing at random, so ± says nothing\n";

/// Returns whether runs are equal bit for bit.
pub(crate) fn all_same(runs: &[&Run]) -> bool {
    let bits = |run: &Run| -> Vec<u64> {
        let series = run.series.iter().flat_map(|s| &s.values);
        let transfers = run.transfers.iter().map(|t| &t.duration);
        series.chain(transfers).map(|v| v.to_bits()).collect()
    };
    runs.windows(2).all(|pair| bits(pair[0]) == bits(pair[1]))
}

/// Removes columns, from the third on, that have a header and no cells below it. Returns the remaining
/// columns of `right`.
fn drop_empty(lines: &mut [Vec<String>], right: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let empty = |i: usize| {
        let mut cells = lines[1..].iter().map(|cells| cells[i].as_str());
        lines.len() > 1 && cells.all(|cell| cell.is_empty() || cell == show::NONE)
    };
    let keep: Vec<bool> = (0..lines[0].len()).map(|i| i < 2 || !empty(i)).collect();
    for line in lines.iter_mut() {
        let mut keep = keep.iter();
        line.retain(|_| keep.next().is_none_or(|keep| *keep));
    }
    let left = |range: std::ops::Range<usize>| keep[range].iter().filter(|keep| **keep).count();
    left(0..right.start)..left(0..right.end)
}

/// Puts a header and rows into a table.
pub(crate) fn fill(table: &mut Table, lines: Vec<Vec<String>>) {
    let mut lines = lines.into_iter();
    if let Some(header) = lines.next() {
        table.set_header(header);
    }
    for line in lines {
        table.add_row(line);
    }
}

/// Returns the verdict of a row as text, or "" if there is nothing to compare.
pub(crate) fn agreement(row: &Row) -> &'static str {
    match row.agrees(AGREE) {
        Some(true) => "≈",
        Some(false) => DIFFERS,
        None => "",
    }
}

/// The name of a row's subject, with the number of its flows.
fn subject(columns: &[Column], subject: &Subject) -> String {
    let limit = 26;
    match subject {
        Subject::Link(name) | Subject::Aggregate(name) => show::name(name, limit),
        Subject::Group(name) => {
            let groups = columns.iter().flat_map(|c| &c.outline.groups);
            let group = (groups.filter(|g| g.name == *name)).max_by_key(|g| g.flows.len());
            group.map_or(show::name(name, limit), |g| g.title(limit))
        }
    }
}

/// Returns the time of the means in `rows`: the parts that columns average, each once, and the parts in which groups
/// are active that start later or end earlier, "15–30 s (a over 15–20 s)".
pub(crate) fn windows(columns: &[Column], rows: &[Row]) -> String {
    let texts: Vec<String> = columns.iter().map(|c| show::window(covered(c))).collect();
    let steady = show::once(texts.iter().map(String::as_str)).join(", ");
    let groups = show::once(rows.iter().filter_map(|row| match &row.of {
        Subject::Group(name) => Some(name.as_str()),
        Subject::Link(_) | Subject::Aggregate(_) => None,
    }));
    let parts = groups.into_iter().filter_map(|group| {
        let of = Subject::Group(group.into());
        // Active flows lack values too in a phase without an equilibrium.
        let is_whole = |c: &&Column| {
            c.runs.iter().all(|run| {
                run.manifest.engine != Engine::Theory || run.is_solved(c.outline.steady())
            })
        };
        let part = columns.iter().filter(is_whole).find_map(|column| active(column, &of))?;
        Some(format!("{} over {}", show::name(group, 26), show::window(part)))
    });
    let mut parts: Vec<String> = parts.collect();
    let more = parts.len().saturating_sub(PARTS);
    if more > 0 {
        parts.truncate(PARTS);
        parts.push(format!("{more} others while they are active"));
    }
    if parts.is_empty() { steady } else { format!("{steady} ({})", parts.join(", ")) }
}

/// The greatest number of parts in a line.
const PARTS: usize = 3;

pub(crate) fn new_table(style: Style) -> Table {
    const LIGHT: TableStyle = TableStyle::new()
        .top_border(LineStyle::none().fill('─').junction('─'))
        .header_separator(LineStyle::none().fill('─').junction('─'))
        .bottom_border(LineStyle::none().fill('─').junction('─'));
    let mut table = Table::new();
    table
        .load_style(LIGHT)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(style.width);
    table
}

pub(crate) fn align_right(table: &mut Table, range: std::ops::Range<usize>) {
    for i in range {
        if let Some(column) = table.column_mut(i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Returns the length of the longest word. A value with its unit counts as a word, and if
/// `intervals` is true, so does one with its interval.
fn longest(text: &str, intervals: bool) -> u16 {
    let figure = text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
    let two = text.split(' ').count() == 2;
    let whole = figure && (two || intervals && text.contains(" ± "));
    let words = text.split(|c: char| c.is_whitespace() && !whole);
    let widths = words.map(|word| word.chars().count() as u16);
    widths.max().unwrap_or_default()
}

/// Keeps every column as wide as its cells if there is room, so a row is a line. Otherwise a column is at
/// least as wide as its longest value with its interval, or else as its longest word, so no word is broken.
/// If there is no room for that, columns move closer together, and then words of the header may be broken.
/// Returns whether there is room.
fn keep_words_whole(table: &mut Table) -> bool {
    let of = |row: &comfy_table::Row, intervals: bool| -> Vec<u16> {
        let cells = row.cell_iter();
        cells.map(|c| longest(&c.content(), intervals)).collect()
    };
    let widths = |row: &comfy_table::Row| of(row, false);
    let wider = |a: Vec<u16>, b: Vec<u16>| a.into_iter().zip(b).map(|(a, b)| a.max(b)).collect();
    let rows = table.row_iter().map(widths).reduce(wider);
    let (Some(header), Some(figures)) = (table.header(), rows) else {
        return true;
    };
    let all = wider(widths(header), figures.clone());
    let spans = table.row_iter().map(|row| of(row, true));
    let spans = spans.fold(all.clone(), wider);
    let whole = |row: &comfy_table::Row| -> Vec<u16> {
        let lines = |c: &comfy_table::Cell| c.content().lines().map(|l| l.chars().count()).max();
        row.cell_iter().map(|c| lines(c).unwrap_or_default() as u16).collect()
    };
    let cells = table.row_iter().map(whole).reduce(wider).unwrap_or_default();
    let cells = wider(all.clone(), cells);
    let [wide, close] = PADDING;
    let fits = |(widths, padding): &(Vec<u16>, u16)| {
        // There is a space between columns in addition to the padding.
        let all: u32 = widths.iter().map(|w| u32::from(w + padding + 1)).sum();
        table.width().is_none_or(|width| all <= u32::from(width) + 1)
    };
    let choices = [
        (cells.clone(), wide),
        (cells.clone(), close),
        (cells, 0),
        (spans.clone(), close),
        (spans, 0),
        (all.clone(), wide),
        (all, close),
        (figures, close),
    ];
    let Some((widths, padding)) = choices.into_iter().find(fits) else {
        return false;
    };
    for column in table.column_iter_mut() {
        column.set_padding((0, padding));
    }
    for (column, width) in table.column_iter_mut().zip(widths) {
        let width = Width::Fixed(width + padding);
        column.set_constraint(ColumnConstraint::LowerBoundary(width));
    }
    true
}

/// Returns the table as text, without the padding at the ends of lines. If it does not fit, each row takes
/// one or more separate lines.
pub(crate) fn finish(mut table: Table) -> String {
    if !keep_words_whole(&mut table) {
        return records(&table);
    }
    let lines = table.lines().map(|l| l.trim_end().to_string());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a table whose rows are paragraphs: the first cells, and below them each other cell after the name
/// of its column. An empty cell in the first column stands for that of the row above.
fn records(table: &Table) -> String {
    let width = table.width().map_or(usize::MAX, usize::from);
    let cells = |row: &comfy_table::Row| -> Vec<String> {
        let text = |cell: &comfy_table::Cell| {
            cell.content().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        row.cell_iter().map(text).collect()
    };
    let header = table.header().map(cells).unwrap_or_default();
    let (mut out, mut above) = (Vec::new(), String::new());
    for row in table.row_iter().map(cells) {
        let mut parts = row.iter().zip(&header);
        let first = parts.next().map_or("", |(cell, _)| cell.as_str());
        if !first.is_empty() {
            above = first.into();
        }
        let named = parts.filter(|(cell, _)| !cell.is_empty() && *cell != show::NONE);
        let named = named.map(|(cell, name)| format!("{name} {cell}").trim_start().to_string());
        let mut line = above.clone();
        for part in named {
            if line.chars().count() + 2 + part.chars().count() > width {
                out.push(std::mem::replace(&mut line, format!("  {part}")));
            } else {
                line += &format!("  {part}");
            }
        }
        out.push(line);
    }
    out.join("\n")
}

/// Colours the words of verdicts in a text. This follows the layout, so codes take no room in it.
/// The words begin a line, before a column or a colon, or end it.
pub(crate) fn paint(text: String, style: Style) -> String {
    if !style.colour {
        return text;
    }
    let line = |line: &str| {
        for class in Class::ALL {
            let word = class.word();
            let after = line.strip_prefix(word);
            if let Some(rest) = after.filter(|rest| rest.starts_with("  ") || rest.starts_with(':'))
            {
                return style.paint(class, word) + rest;
            }
            // The last column of an overview is headed "met".
            let before = line.strip_suffix(word).filter(|_| class != Class::Met);
            if let Some(rest) = before.filter(|rest| rest.ends_with(' ')) {
                return rest.to_string() + &style.paint(class, word);
            }
        }
        line.replace(DIFFERS, &format!("\x1b[33m{DIFFERS}\x1b[0m"))
    };
    let lines: Vec<String> = text.split('\n').map(line).collect();
    lines.join("\n")
}
