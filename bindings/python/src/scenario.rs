//! Scenarios.

use crate::contents::{Rows, contents};
use crate::error::{exception, failed};
use crate::own;
use crate::run::{Mean, Run, measured};
use crate::stability;
use crate::watch::Watch;
use accord::record::Observer;
use accord::scenario::print;
use accord::{Catalogue, Engine, Error, File, Options};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::sync::Arc;

/// A scenario file with settings, and the classes that it may name.
#[pyclass(frozen, module = "accord._accord")]
pub struct Scenario {
    file: File,
    settings: Vec<(String, String)>,
    classes: Vec<Py<PyAny>>,
    catalogue: Catalogue,
}

impl Scenario {
    fn new(
        file: File,
        settings: Vec<(String, String)>,
        classes: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Scenario> {
        let catalogue = own::catalogue(&classes)?;
        Ok(Scenario {
            file,
            settings,
            classes: classes.into_iter().map(Bound::unbind).collect(),
            catalogue,
        })
    }

    fn points(&self, seed: Option<u64>) -> PyResult<Vec<accord::Scenario>> {
        let points = self.file.points(&self.catalogue, seed);
        points.map_err(|e| exception(e.into()))
    }

    fn point(&self, seed: Option<u64>, point: usize) -> PyResult<accord::Scenario> {
        let mut points = self.points(seed)?;
        if (1..=points.len()).contains(&point) {
            Ok(points.swap_remove(point - 1))
        } else {
            let last = points.len();
            let e = format!("point {point}: the scenario has points 1 to {last}");
            Err(PyIndexError::new_err(e))
        }
    }
}

#[pymethods]
impl Scenario {
    #[staticmethod]
    fn load(name: &str, classes: Vec<Bound<'_, PyAny>>) -> PyResult<Scenario> {
        let file = accord::load(name).map_err(exception)?;
        Scenario::new(file, Vec::new(), classes)
    }

    #[staticmethod]
    #[pyo3(signature = (text, name, classes, files=vec![]))]
    fn parse(
        text: &str,
        name: &str,
        classes: Vec<Bound<'_, PyAny>>,
        files: Vec<(String, Vec<u8>)>,
    ) -> PyResult<Scenario> {
        let mut file = File::parse(name, text).map_err(|e| exception(Error::from(e)))?;
        for (name, bytes) in &files {
            file.keep(name, bytes);
        }
        Scenario::new(file, Vec::new(), classes)
    }

    /// The classes that it may name.
    fn classes(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.classes.iter().map(|c| c.clone_ref(py)).collect()
    }

    /// The name and the text of the file, and the settings: with [`Scenario::files`] what
    /// [`Scenario::parse`] and [`Scenario::with_settings`] need to make it again.
    fn parts(&self) -> (String, String, Vec<(String, String)>) {
        let source = self.file.source();
        (source.name.clone(), source.text.clone(), self.settings.clone())
    }

    /// The names and the contents of the files that the text names.
    fn files<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        let all = self.file.contents().into_iter();
        all.map(|(name, bytes)| (name, PyBytes::new(py, &bytes))).collect()
    }

    fn with_settings(
        &self,
        settings: Vec<(String, String)>,
        classes: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Scenario> {
        let mut file = self.file.clone();
        for (path, value) in &settings {
            let set = file.set(path, value);
            set.map_err(|e| exception(Error::from(e)))?;
        }
        let settings = [self.settings.clone(), settings].concat();
        Scenario::new(file, settings, classes)
    }

    /// Returns id, title, seed, duration in seconds, and for each point its settings.
    #[pyo3(signature = (seed=None))]
    #[allow(clippy::type_complexity, reason = "a tuple for Python")]
    fn outline(
        &self,
        seed: Option<u64>,
    ) -> PyResult<(String, String, u64, f64, Vec<Vec<(String, String)>>)> {
        let points = self.points(seed)?;
        let first = &points[0];
        Ok((
            first.id.clone(),
            first.title.clone(),
            first.seed,
            first.duration.as_secs_f64(),
            points.iter().map(|p| p.point.clone()).collect(),
        ))
    }

    #[pyo3(signature = (seed=None, point=1))]
    fn toml(&self, seed: Option<u64>, point: usize) -> PyResult<String> {
        Ok(print(&self.point(seed, point)?))
    }

    /// The engines of theory, packets and the scenario's expectations, in order, without live.
    #[pyo3(signature = (point=1))]
    fn engines(&self, point: usize) -> PyResult<Vec<&'static str>> {
        let scenario = self.point(None, point)?;
        let mut engines = vec![Engine::Theory, Engine::Packet];
        engines.extend(scenario.expectations.iter().map(|e| e.engine));
        engines.sort_unstable();
        engines.dedup();
        let all = engines.into_iter().filter(|e| *e != Engine::Live);
        Ok(all.map(Engine::name).collect())
    }

    /// The linearised equilibria of a point, a record per phase, as JSON.
    #[pyo3(signature = (seed=None, point=1))]
    fn stability(&self, py: Python<'_>, seed: Option<u64>, point: usize) -> PyResult<String> {
        let scenario = self.point(seed, point)?;
        let mut phases = Vec::new();
        for phase in scenario.phases() {
            py.check_signals()?;
            let found = py.detach(|| accord::margins::stability(&scenario, phase.start));
            let span = (phase.start.as_secs_f64(), phase.end.as_secs_f64());
            phases.push(match found {
                Ok(found) => stability::record(&scenario, span, &found),
                Err(e) => json!({"start": span.0, "end": span.1, "error": e.to_string()}),
            });
        }
        serde_json::to_string(&phases).map_err(|e| failed(e.to_string()))
    }

    /// The margins in the middle of the steady part, and with `packets` the variation of the
    /// longest queue. `progress` is called while packets run, and may stop them.
    #[pyo3(signature = (packets=false, progress=None))]
    fn stability_cell(
        &self,
        py: Python<'_>,
        packets: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<stability::Margins> {
        let scenario = self.point(None, 1)?;
        let mut watch = Watch::new(progress.as_ref(), scenario.duration.as_secs_f64());
        drop(own::failure());
        let cell = py.detach(|| {
            let observer: Option<&mut dyn Observer> = packets.then_some(&mut watch as _);
            accord::stability_cell(&scenario, observer)
        });
        match watch.stopped.or_else(own::failure) {
            Some(e) => Err(e),
            None => Ok(stability::cell(cell)),
        }
    }

    /// The links and the groups of flows, as rows of text.
    #[pyo3(signature = (point=1))]
    fn contents(&self, point: usize) -> PyResult<(Rows, Rows)> {
        Ok(contents(&self.point(None, point)?))
    }

    /// Runs the only point in engines, and returns the means over the steady part and the checks as JSON.
    #[pyo3(signature = (engines, seed, progress=None, skip_steady=false))]
    fn measure(
        &self,
        py: Python<'_>,
        engines: Vec<String>,
        seed: u64,
        progress: Option<Py<PyAny>>,
        skip_steady: bool,
    ) -> PyResult<(Vec<Mean>, String)> {
        let mut runs = Vec::new();
        let scenario = Arc::new(self.point(Some(seed), 1)?);
        for engine in engines {
            runs.push(self.ran(py, &scenario, &engine, progress.as_ref(), skip_steady)?);
        }
        Ok(py.detach(|| measured(&scenario, &runs)))
    }

    #[pyo3(signature = (engine, seed=None, point=1, progress=None, skip_steady=false))]
    fn run(
        &self,
        py: Python<'_>,
        engine: &str,
        seed: Option<u64>,
        point: usize,
        progress: Option<Py<PyAny>>,
        skip_steady: bool,
    ) -> PyResult<Run> {
        let scenario = Arc::new(self.point(seed, point)?);
        let run = self.ran(py, &scenario, engine, progress.as_ref(), skip_steady)?;
        Ok(Run::new(scenario, run))
    }
}

impl Scenario {
    /// Runs a point in an engine.
    fn ran(
        &self,
        py: Python<'_>,
        scenario: &accord::Scenario,
        engine: &str,
        progress: Option<&Py<PyAny>>,
        skip_steady: bool,
    ) -> PyResult<accord::Run> {
        let engine: Engine = engine.parse().map_err(PyValueError::new_err)?;
        if engine == Engine::Live && !self.classes.is_empty() {
            return Err(failed(
                "live: controllers and disciplines of Python run in the packet engine only",
            ));
        }
        let mut watch = Watch::new(progress, scenario.duration.as_secs_f64());
        let options = Options { skip_steady, ..Options::default() };
        // An exception of an earlier run on this thread does not belong to this one.
        drop(own::failure());
        let run = py.detach(|| accord::run(scenario, engine, &options, &mut watch));
        // A callback may have failed after the observer's last look.
        match watch.stopped.or_else(own::failure) {
            Some(e) => Err(e),
            None => run.map_err(exception),
        }
    }
}
