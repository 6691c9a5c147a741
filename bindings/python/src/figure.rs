//! The data of figures, which `accord plot` draws as they are and matplotlib draws for Python.

use crate::run::{Run, same_point};
use crate::shares::bytes;
use accord::report::{Figure, FigureError, FigureKind, Point, Request, Stored};
use accord::scenario::Metric;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A line: the name of its entity, its number, its engine, and as bytes of 64-bit floats x, y, and the
/// lower and the upper ends of its band.
type Line<'py> = (String, usize, &'static str, Array<'py>, Array<'py>, Array<'py>, Array<'py>);
type Array<'py> = Bound<'py, PyBytes>;

/// The lines, the labels of the axes, and the ends of the vertical axis.
type Drawn<'py> = (Vec<Line<'py>>, [String; 2], (f64, f64));

/// Returns the lines of a metric over time of runs of one point, the labels of the axes, and the ends of
/// the vertical one.
#[pyfunction]
pub fn figure<'py>(
    py: Python<'py>,
    runs: Vec<Bound<'py, Run>>,
    metric: &str,
    by: Option<&str>,
    of: Vec<String>,
) -> PyResult<Drawn<'py>> {
    let scenario = &*same_point(&runs)?;
    let metric: Metric = crate::run::named(metric)?;
    let wrong = |e: String| PyValueError::new_err(format!("by: {e}"));
    let request = Request {
        by: by.map(str::parse).transpose().map_err(wrong)?,
        of,
        kind: Some(FigureKind::Time),
        ..Request::of(metric)
    };
    let runs: Vec<accord::Run> = runs.iter().map(|r| (*r.get().run).clone()).collect();
    let stored = Stored::of(&Point { scenario, runs: &runs, checks: &[] });
    let figure = Figure::of(&[stored], &request).map_err(|e| match e {
        FigureError::Wrong { message, hint } => {
            // The hints are those of the command line.
            let hint = hint.replace("--by ", "by=").replace("--of", "of=");
            PyValueError::new_err(format!("{message}; {hint}"))
        }
        FigureError::Unable(message) => PyValueError::new_err(message),
    })?;
    let line = |l: accord::report::Line| {
        let [x, y, low, high] = [l.x, l.y, l.low, l.high].map(|values| bytes(py, &values));
        (l.of, l.colour, l.engine.name(), x, y, low, high)
    };
    Ok((figure.lines().into_iter().map(line).collect(), figure.labels(), figure.ends()))
}
