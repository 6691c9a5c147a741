//! Runs, and comparisons of runs.

use crate::error::{exception, failed};
use crate::own;
use crate::series::Series;
use accord::File;
use accord::language::suggest;
use accord::report::{
    DERIVED, Estimate, Outline, Point, RunDir, Style, all_rows, check_record, checks_of_runs,
    checks_table, columns, experiment_record, load_run_dir, mean_of, page, show, table,
    write_run_dir,
};
use accord::scenario::{Entity, Metric, print};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

/// The run of a point of a scenario.
#[pyclass(frozen, module = "accord._accord")]
pub struct Run {
    pub scenario: Arc<accord::Scenario>,
    pub run: Arc<accord::Run>,
}

impl Run {
    /// Returns the run of `scenario`.
    pub fn new(scenario: Arc<accord::Scenario>, run: accord::Run) -> Run {
        Run { scenario, run: Arc::new(run) }
    }
}

#[pymethods]
impl Run {
    #[getter]
    fn engine(&self) -> &'static str {
        self.run.manifest.engine.name()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.run.manifest.seed
    }

    #[getter]
    fn version(&self) -> &str {
        &self.run.manifest.version
    }

    #[getter]
    fn scenario_hash(&self) -> &str {
        &self.run.manifest.scenario_hash
    }

    #[getter]
    fn digest(&self) -> &str {
        &self.run.manifest.digest
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.run.notes.clone()
    }

    /// The skipped parts: start and end in seconds.
    #[getter]
    fn skipped(&self) -> Vec<(f64, f64)> {
        let parts = self.run.skipped.iter();
        parts.map(|part| (part.start.as_secs_f64(), part.end.as_secs_f64())).collect()
    }

    #[getter]
    fn unfit(&self) -> Option<String> {
        self.run.unfit.clone()
    }

    #[getter]
    fn id(&self) -> &str {
        &self.scenario.id
    }

    #[getter]
    fn packet_hops(&self) -> u64 {
        self.run.statistics.packet_hops
    }

    #[getter]
    fn point(&self) -> Vec<(String, String)> {
        self.scenario.point.clone()
    }

    /// The start and the end of the steady part, in seconds.
    #[getter]
    fn steady(&self) -> (f64, f64) {
        let steady = self.scenario.steady;
        (steady.start.as_secs_f64(), steady.end.as_secs_f64())
    }

    /// The mean of a metric, or of a quantity of the tables, over the steady part.
    fn mean(&self, metric: &str, of: &str) -> PyResult<Option<f64>> {
        if DERIVED.iter().all(|(name, _)| *name != metric) {
            named(metric)?;
        }
        Ok(mean_of(&self.scenario, &self.run, metric, of))
    }

    /// The series of a metric of entities of a type ("" for any), or of all metrics.
    #[pyo3(signature = (metric=None, kind=None))]
    fn series(&self, metric: Option<&str>, kind: Option<&str>) -> PyResult<Series> {
        let metric = metric.map(named).transpose()?;
        let kind = match kind {
            None | Some("flow" | "group" | "quantile" | "link" | "aggregate") => {
                kind.map(str::to_string)
            }
            Some(other) => {
                let e =
                    format!("kind \"{other}\": expected flow, group, quantile, link or aggregate");
                return Err(PyValueError::new_err(e));
            }
        };
        Ok(Series::new(self.scenario.clone(), self.run.clone(), move |series| {
            let its = match series.entity {
                Entity::Flow(_) => "flow",
                Entity::Group(_) => "group",
                Entity::Quantile { .. } => "quantile",
                Entity::Link(_) => "link",
                Entity::Aggregate { .. } => "aggregate",
            };
            metric.is_none_or(|m| m == series.metric)
                && kind.as_deref().is_none_or(|kind| kind == its)
        }))
    }
}

/// Returns the metric of a name.
pub fn named(metric: &str) -> PyResult<Metric> {
    metric.parse().map_err(|e: String| {
        let near = suggest(metric, Metric::known().into_iter().map(Metric::name));
        PyValueError::new_err(format!(
            "{e}; {}",
            near.unwrap_or("accord list metrics lists them".into())
        ))
    })
}

/// Returns the scenario of runs of one point. The seed and the values that it draws may differ.
pub fn same_point(runs: &[Bound<'_, Run>]) -> PyResult<Arc<accord::Scenario>> {
    let Some(first) = runs.first().map(Bound::get) else {
        return Err(PyValueError::new_err("there are no runs to compare"));
    };
    let scenario = &first.scenario;
    let text = OnceCell::new();
    let same = |run: &Bound<'_, Run>| {
        let other = &run.get().scenario;
        Arc::ptr_eq(other, scenario)
            || other.point == scenario.point
                && as_drawn_in(other, scenario) == *text.get_or_init(|| print(scenario))
    };
    if !runs.iter().all(same) {
        return Err(PyValueError::new_err("the runs are of different scenarios or points"));
    }
    Ok(scenario.clone())
}

/// Returns the text of a scenario with the seed of another one. If the seeds differ it also has the values
/// that the other one has drawn: the starts of flows, and queues of another discipline.
fn as_drawn_in(scenario: &accord::Scenario, other: &accord::Scenario) -> String {
    if scenario.seed == other.seed {
        return print(scenario);
    }
    let mut scenario = scenario.clone();
    scenario.seed = other.seed;
    for (flow, theirs) in scenario.flows.iter_mut().zip(&other.flows) {
        flow.start = theirs.start;
    }
    for (link, theirs) in scenario.links.iter_mut().zip(&other.links) {
        if link.queue.discipline != theirs.queue.discipline {
            link.queue.clone_from(&theirs.queue);
        }
    }
    print(&scenario)
}

/// Compares runs of one point: the record as JSON, and the tables as text. `width` is that of the
/// text.
#[pyfunction]
pub fn compared(runs: Vec<Bound<'_, Run>>, width: u16) -> PyResult<(String, String)> {
    let scenario = &*same_point(&runs)?;
    let runs: Vec<accord::Run> = runs.iter().map(|r| (*r.get().run).clone()).collect();
    let all: Vec<&accord::Run> = runs.iter().collect();
    let checks = checks_of_runs(scenario, &all);
    let point = Point { scenario, runs: &runs, checks: &checks };
    let json = experiment_record(&scenario.id, &[point], None).to_string();
    let style = Style { width, ..Style::default() };
    let mut text = if scenario.title.is_empty() {
        scenario.id.clone()
    } else {
        format!("{}: {}", scenario.id, show::clean(&scenario.title, show::TITLE))
    };
    if !scenario.point.is_empty() {
        text += &format!("\n{}", show::visible(&point.label()));
    }
    text += &format!("\n\n{}", table(scenario, &all, style));
    text += &checks_table(&checks, style);
    Ok((json, text))
}

/// A mean over the steady part: the kind and the name of the entity, the metric, the unit, the engine and
/// the value.
pub type Mean = (&'static str, String, &'static str, &'static str, String, f64);

/// Returns the means of runs of one point, and the checks as JSON.
pub fn measured(scenario: &accord::Scenario, runs: &[accord::Run]) -> (Vec<Mean>, String) {
    let all: Vec<&accord::Run> = runs.iter().collect();
    let outline = Outline::of(scenario);
    let columns = columns(&outline, &all);
    let means = all_rows(scenario, &columns).into_iter().flat_map(|row| {
        let (kind, unit) = (row.of.kind(), row.unit.symbol());
        let known = columns.iter().zip(row.values);
        let known = known.filter_map(|(column, value)| Some((column.label.clone(), value?.mean)));
        let with_name = move |(engine, mean)| {
            (kind, row.of.name().to_string(), row.quantity, unit, engine, mean)
        };
        known.map(with_name).collect::<Vec<_>>()
    });
    let means = means.collect();
    let checks: Value = checks_of_runs(scenario, &all).iter().map(check_record).collect();
    (means, checks.to_string())
}

/// Reads a run directory, which any program may have written.
#[pyfunction]
pub fn read(py: Python<'_>, directory: &str, classes: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Run>> {
    let catalogue = own::catalogue(&classes)?;
    py.detach(|| {
        let dir = Path::new(directory);
        let loaded = load_run_dir(dir).map_err(|e| failed(e.to_string()))?;
        let file = File::open(&dir.join("scenario.toml")).map_err(|e| exception(e.into()))?;
        let points = file.points(&catalogue, None);
        let mut scenario = points.map_err(|e| exception(e.into()))?.remove(0);
        // A point of a sweep is kept without the sweep. The manifest has its settings.
        scenario.point = loaded.manifest.scenario.point.clone();
        let scenario = Arc::new(scenario);
        let runs = loaded.runs.into_iter();
        Ok(runs.map(|run| Run::new(scenario.clone(), run)).collect())
    })
}

/// Writes a run directory with runs of one point, and optionally with the page.
#[pyfunction]
pub fn write(
    py: Python<'_>,
    runs: Vec<Bound<'_, Run>>,
    directory: &str,
    with_page: bool,
) -> PyResult<()> {
    let scenario = same_point(&runs)?;
    let runs: Vec<accord::Run> = runs.iter().map(|r| (*r.get().run).clone()).collect();
    py.detach(|| {
        let all: Vec<&accord::Run> = runs.iter().collect();
        let checks = checks_of_runs(&scenario, &all);
        let point = Point { scenario: &scenario, runs: &runs, checks: &checks };
        let html = with_page.then(|| page(&[point]));
        let contents =
            RunDir { scenario_toml: &print(&scenario), point, page: html.as_deref(), csv: false };
        write_run_dir(Path::new(directory), &contents).map_err(|e| failed(e.to_string()))
    })
}

/// Returns the mean of values, and the half-width of its 95 % confidence interval if there are at
/// least two.
#[pyfunction]
pub fn estimate(values: Vec<f64>) -> PyResult<(f64, Option<f64>)> {
    let estimate = Estimate::of(&values);
    let estimate = estimate.ok_or_else(|| PyValueError::new_err("there are no values"))?;
    Ok((estimate.mean, estimate.half_width))
}
