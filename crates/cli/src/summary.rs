//! `accord reproduce --all --summary`: the verdicts on the figures and tables of the papers.

use crate::fail::Failure;
use crate::output::{data, json, style};
use accord::report::{ExperimentRow, RECORD, Readings, Results};
use accord::{BUILT_IN, Catalogue, RECORDED, RECORDED_READINGS, load, papers};

/// Prints the summary of the recorded results. `Ok(false)` means that they have a failure without a
/// reason.
pub fn recorded(catalogue: &Catalogue, as_json: bool) -> Result<bool, Failure> {
    let rows = rows(catalogue)?;
    print(&rows, as_json)?;
    let mut checks = rows.iter().flat_map(ExperimentRow::checks);
    Ok(checks.all(|(_, class)| class.passes()))
}

/// Returns the recorded rows of all experiments.
fn rows(catalogue: &Catalogue) -> Result<Vec<ExperimentRow>, Failure> {
    let wrong = |e: String| {
        let message = format!("the recorded results do not match the experiments: {e}");
        Failure::new(message).hint("accord reproduce --all --summary makes the runs")
    };
    let results = Results::parse(RECORDED).map_err(wrong)?;
    let row = |(id, _): &(&str, &str)| {
        let points = load(id)?.points(catalogue, None)?;
        results.row(id, &points).map_err(wrong)
    };
    BUILT_IN.iter().map(row).collect()
}

/// Returns the recorded readings of all figures.
pub fn readings() -> Result<Readings, Failure> {
    let papers = papers();
    let readings = Readings::parse(RECORDED_READINGS, &papers);
    let readings = readings.and_then(|readings| readings.check(&papers).map(|()| readings));
    readings.map_err(|e| {
        let message = format!("{RECORD} does not match the figures of the papers: {e}");
        Failure::new(message).hint("accord reproduce --all --readings records them again")
    })
}

/// Prints the summary of all experiments, as a table or as JSON.
pub fn print(rows: &[ExperimentRow], as_json: bool) -> Result<(), Failure> {
    let summary = papers().summary(rows, &readings()?);
    if as_json {
        json(&summary)?
    } else {
        data(summary.text(style()))?
    }
    Ok(())
}
