//! The solver of fair shares, on arrays.

use crate::watch::Watch;
use accord::solver::{Certificate, Demand, Problem, Routes, Settings, Status, solve_watched};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// The number of flows with bounds between two looks at the interpreter.
const CHUNK: usize = 1 << 16;

/// Returns numbers as bytes in the machine's order, for `numpy.frombuffer`.
pub fn bytes<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyBytes> {
    let all: Vec<[u8; 8]> = values.iter().map(|v| v.to_ne_bytes()).collect();
    PyBytes::new(py, all.as_flattened())
}

fn read<T, const N: usize>(bytes: &[u8], of: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|b| of(*b)).collect()
}

/// Solves for fair shares. Arrays are bytes of 64-bit floats and 32-bit indices: paths in compressed
/// rows, and per flow weight, smallest and largest rate. Returns a dictionary, with empty arrays if the
/// problem is infeasible.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "called with keywords from Python")]
pub fn shares<'py>(
    py: Python<'py>,
    offsets: &[u8],
    links: &[u8],
    capacities: &[u8],
    weights: &[u8],
    min_rates: &[u8],
    max_rates: &[u8],
    alpha: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let [offsets, links] = [offsets, links].map(|bytes| read(bytes, u32::from_ne_bytes));
    let [capacities, weights, low, high] =
        [capacities, weights, min_rates, max_rates].map(|bytes| read(bytes, f64::from_ne_bytes));
    let demands = demands(&weights, &low, &high, alpha)?;
    let mut watch = Watch::new(None, 1.0);
    let solved = py.detach(|| {
        let problem = Routes::from_compressed(capacities.len(), offsets, links)
            .and_then(|routes| Problem::new(routes, capacities, demands))
            .map_err(|e| PyValueError::new_err(e.to_string()))?;
        let mut solution =
            solve_watched(&problem, &Settings::default(), &mut |_| match watch.look(0.0) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            });
        if let Some(e) = watch.stopped.take() {
            return Err(e);
        }
        let bound = |flow| (solution.certificate).rate_bounds(&problem, &solution.prices, flow);
        let mut bounds: (Vec<f64>, Vec<f64>) = Default::default();
        let flows = match solution.status {
            Status::Infeasible { .. } => 0,
            _ => problem.routes().flows(),
        };
        for start in (0..flows).step_by(CHUNK) {
            if watch.look(0.0).is_err() {
                break;
            }
            let chunk = start..flows.min(start + CHUNK);
            let (lower, upper): (Vec<f64>, Vec<f64>) = chunk.into_par_iter().map(bound).unzip();
            bounds.0.extend(lower);
            bounds.1.extend(upper);
        }
        if let Some(e) = watch.stopped.take() {
            return Err(e);
        }
        let loads = problem.routes().loads(&solution.rates);
        // The rates of the last step are not an answer: they exceed capacities.
        if let Status::Infeasible { .. } = solution.status {
            (solution.rates, solution.prices) = (Vec::new(), Vec::new());
            return Ok((solution, bounds, Vec::new()));
        }
        Ok((solution, bounds, loads))
    });
    let (solution, (lower, upper), loads) = solved?;
    let answer = PyDict::new(py);
    let (status, oversubscribed) = match solution.status {
        Status::Solved => ("solved", None),
        Status::NotConverged => ("not converged", None),
        Status::Infeasible { link, insisted, capacity } => {
            ("infeasible", Some((link, insisted, capacity)))
        }
    };
    answer.set_item("status", status)?;
    answer.set_item("oversubscribed", oversubscribed)?;
    answer.set_item("iterations", solution.iterations)?;
    answer.set_item("rates", bytes(py, &solution.rates))?;
    answer.set_item("prices", bytes(py, &solution.prices))?;
    answer.set_item("loads", bytes(py, &loads))?;
    answer.set_item("lower", bytes(py, &lower))?;
    answer.set_item("upper", bytes(py, &upper))?;
    answer.set_item("certificate", certificate(&solution.certificate))?;
    Ok(answer)
}

fn demands(weights: &[f64], low: &[f64], high: &[f64], alpha: f64) -> PyResult<Vec<Demand>> {
    let flows = weights.iter().zip(low).zip(high).enumerate();
    flows
        .map(|(flow, ((&weight, &floor), &cap))| {
            let limited = floor > 0.0 || cap < f64::INFINITY;
            Ok(match (alpha == 1.0, limited) {
                (true, false) => Demand::Log { weight },
                (true, true) if floor > 0.0 => {
                    Demand::Contract { weight, floor, limit: f64::INFINITY, cap }
                }
                (true, true) => Demand::Capped { weight, cap },
                (false, false) => Demand::AlphaFair { weight, alpha },
                (false, true) => {
                    let e = format!(
                        "flow {flow}: min_rate and max_rate need alpha = 1, and alpha is {alpha}"
                    );
                    return Err(PyValueError::new_err(e));
                }
            })
        })
        .collect()
}

fn certificate(c: &Certificate) -> Vec<(&'static str, f64)> {
    vec![
        ("stationarity", c.stationarity),
        ("primal_feasibility", c.primal),
        ("dual_feasibility", c.dual),
        ("complementary_slackness", c.complementarity),
        ("relative_gap", c.relative_gap),
    ]
}
