//! Equilibria, their margins and maps of them, as plain data.

use crate::error::failed;
use accord::Scenario;
use accord::margins::Stability;
use accord::report::{Cell, Parameter, StabilityMap, write_map_dir};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

/// Returns the margins of the phase from `span.0` to `span.1` seconds. Infinite numbers are null.
pub fn record(scenario: &Scenario, span: (f64, f64), found: &Stability) -> Value {
    let flows = found.rest.iter().map(|rest| {
        json!({
            "group": scenario.groups[rest.group].name,
            "flows": rest.flows,
            "rate": 8.0 * rest.rate,
            "round_trip": rest.base_rtt + rest.queue,
            "signal": rest.signal,
            "halving_jitter": rest.halving_jitter(),
        })
    });
    let roots = found.roots.iter().map(|r| [r.re, r.im]);
    json!({
        "start": span.0,
        "end": span.1,
        "error": null,
        "stable": found.is_stable(),
        "gain_margin": found.margins.gain,
        "delay_margin": found.margins.delay,
        "phase_margin": found.margins.phase_degrees(),
        "roots": roots.collect::<Vec<_>>(),
        "flows": flows.collect::<Vec<_>>(),
    })
}

/// A cell of a map: its values, and gain margin, delay margin, growth, variation of the queue and
/// error as [`cell`] returns them.
type Place = (Vec<f64>, Margins);

/// Gain margin, delay margin in seconds, growth in 1/s, the variation of the queue if packets were
/// run, and the reason why there is no result.
pub type Margins = (f64, f64, f64, Option<f64>, Option<String>);

/// Returns a cell as a tuple.
pub fn cell(cell: Cell) -> Margins {
    (
        cell.gain_margin,
        cell.delay_margin_s,
        cell.growth_per_s,
        cell.packet_queue_variation,
        cell.error,
    )
}

/// Writes a map as the program does. An axis has its path, its unit and its values; cells are
/// ordered by rows, with the values of the first axis in a row.
#[pyfunction]
pub fn write_map(
    py: Python<'_>,
    directory: &str,
    id: String,
    axes: Vec<(String, String, Vec<f64>)>,
    cells: Vec<Place>,
) -> PyResult<()> {
    let columns = axes.first().map_or(1, |(_, _, values)| values.len().max(1));
    let axes = axes.into_iter();
    let map = StabilityMap {
        id,
        axes: axes.map(|(path, unit, values)| Parameter { path, unit, values }).collect(),
        cells: (cells.into_iter().enumerate())
            .map(|(n, (at, (gain, delay, growth, variation, error)))| Cell {
                at,
                place: [n % columns, n / columns],
                gain_margin: gain,
                delay_margin_s: delay,
                growth_per_s: growth,
                packet_queue_variation: variation,
                error,
            })
            .collect(),
    };
    py.detach(|| write_map_dir(Path::new(directory), &map)).map_err(|e| failed(e.to_string()))
}
