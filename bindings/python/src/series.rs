//! Series as an Arrow stream.

use accord::report::Outline;
use accord::scenario::{Entity, Metric};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator};
use arrow_buffer::{Buffer, ScalarBuffer, ToByteSlice};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// Series of a run: a table with a row per sample, for any reader of Arrow.
#[pyclass(frozen, module = "accord._accord")]
pub struct Series {
    scenario: Arc<accord::Scenario>,
    run: Arc<accord::Run>,
    /// The chosen series, by their indices in the run.
    chosen: Vec<usize>,
}

impl Series {
    /// Returns the series of a run for which `choose` is true.
    pub fn new(
        scenario: Arc<accord::Scenario>,
        run: Arc<accord::Run>,
        choose: impl Fn(&accord::record::Series) -> bool,
    ) -> Series {
        let all = run.series.iter().enumerate();
        let chosen = all.filter(|(_, s)| choose(s)).map(|(i, _)| i).collect();
        Series { scenario, run, chosen }
    }

    /// Returns the schema: names of entities and metrics as categories, and all metrics with their
    /// units and descriptions.
    fn schema(&self) -> SchemaRef {
        let text = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let mut metrics: Vec<Metric> = self.chosen().map(|s| s.metric).collect();
        metrics.sort();
        metrics.dedup();
        let field = |name: &str, kind: DataType, doc: &str| {
            let mut metadata = vec![("doc".to_string(), doc.to_string())];
            let unit = match (name, &metrics[..]) {
                ("time_s", _) => Some("s"),
                ("value", [only]) => Some(only.unit().symbol()),
                _ => None,
            };
            metadata.extend(unit.map(|unit| ("unit".to_string(), unit.to_string())));
            let metadata = metadata.into_iter().collect();
            Field::new(name, kind, name == "value").with_metadata(metadata)
        };
        let units = metrics.iter().flat_map(|m| {
            let unit = (format!("unit.{m}"), m.unit().symbol().to_string());
            [unit, (format!("doc.{m}"), m.doc().to_string())]
        });
        Arc::new(Schema::new_with_metadata(
            vec![
                field("engine", text.clone(), "the engine that ran"),
                field("entity_kind", text.clone(), "flow, group, quantile, link or aggregate"),
                field("entity", text.clone(), "name in the scenario"),
                field("metric", text.clone(), "the quantity"),
                field("unit", text, "unit of the value: bit/s, B, s, pkt, 1"),
                field("time_s", DataType::Float64, "end of the sampling period, in seconds"),
                field("value", DataType::Float64, "the value; null where there is none"),
            ],
            units.collect(),
        ))
    }

    fn chosen(&self) -> impl Iterator<Item = &accord::record::Series> {
        self.chosen.iter().map(|&i| &self.run.series[i])
    }

    /// Returns the numbers of a series, or the times, where the run has them.
    fn numbers(&self, series: Option<usize>) -> ScalarBuffer<f64> {
        let run = self.run.clone();
        Buffer::from(bytes::Bytes::from_owner(Numbers { run, series })).into()
    }

    fn batch(
        &self,
        schema: &SchemaRef,
        names: &Names,
        place: usize,
    ) -> Result<RecordBatch, ArrowError> {
        let series = &self.run.series[place];
        let rows = self.run.time.len();
        let constant = |text: &str| -> Result<ArrayRef, ArrowError> {
            let mut builder = StringDictionaryBuilder::<Int32Type>::new();
            builder.append_n(text, rows)?;
            Ok(Arc::new(builder.finish()))
        };
        let (kind, entity) = names.of_entity(series.entity);
        let missing = series.values.iter().any(|v| v.is_nan());
        let valid = missing.then(|| series.values.iter().map(|v| !v.is_nan()).collect());
        let columns = vec![
            constant(self.run.manifest.engine.name())?,
            constant(kind)?,
            constant(&entity)?,
            constant(series.metric.name())?,
            constant(series.metric.unit().symbol())?,
            Arc::new(Float64Array::new(self.numbers(None), None)),
            Arc::new(Float64Array::new(self.numbers(Some(place)), valid)),
        ];
        RecordBatch::try_new(schema.clone(), columns)
    }
}

/// The numbers of a series, or the times. It holds the run, so readers of Arrow can share its
/// memory.
struct Numbers {
    run: Arc<accord::Run>,
    series: Option<usize>,
}

impl AsRef<[u8]> for Numbers {
    fn as_ref(&self) -> &[u8] {
        let numbers = match self.series {
            Some(place) => &self.run.series[place].values,
            None => &self.run.time,
        };
        numbers.to_byte_slice()
    }
}

/// The names of the entities of a scenario.
struct Names {
    outline: Outline,
    flows: Vec<String>,
}

impl Names {
    fn of(scenario: &accord::Scenario) -> Names {
        let outline = Outline::of(scenario);
        let flows = outline.groups.iter().flat_map(|g| g.flows.clone());
        Names { flows: flows.collect(), outline }
    }

    /// Returns type and name of an entity.
    fn of_entity(&self, entity: Entity) -> (&'static str, String) {
        let outline = &self.outline;
        match entity {
            Entity::Flow(f) => ("flow", self.flows[f].clone()),
            Entity::Group(g) => ("group", outline.groups[g].name.clone()),
            Entity::Quantile { group, percent } => ("quantile", outline.quantile(group, percent)),
            Entity::Link(l) => ("link", outline.links[l].name.clone()),
            Entity::Aggregate { link, aggregate } => {
                let (link, name) = (&outline.links[link].name, &outline.aggregates[aggregate]);
                ("aggregate", format!("{link}.{name}"))
            }
        }
    }
}

/// Returns the table as one of PyArrow.
fn arrow<'py>(series: &Bound<'py, Series>) -> PyResult<Bound<'py, PyAny>> {
    needed(series.py(), "pyarrow", "a table of series")?.call_method1("table", (series,))
}

/// Returns a module of an optional dependency. The error has the command that installs it.
fn needed<'py>(py: Python<'py>, module: &str, what: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("accord._errors")?.getattr("needed")?.call1((module, what))
}

#[pymethods]
impl Series {
    fn __len__(&self) -> usize {
        self.chosen.len() * self.run.time.len()
    }

    fn __repr__(&self) -> String {
        let (series, samples) = (self.chosen.len(), self.run.time.len());
        let mut metrics: Vec<&str> = self.chosen().map(|s| s.metric.name()).collect();
        metrics.sort_unstable();
        metrics.dedup();
        format!(
            "<Series: {series} series of {samples} samples, {}; pyarrow.table(...) is the table>",
            metrics.join(", ")
        )
    }

    /// The rows of a slice, or the column of a name, as PyArrow has them.
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        arrow(slf)?.get_item(key)
    }

    /// The table as a data frame of pandas.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        needed(slf.py(), "pandas", "a data frame of series")?;
        arrow(slf)?.call_method0("to_pandas")
    }

    /// The Arrow PyCapsule interface: a stream of record batches, one per series.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer ignore the requested schema. The consumer casts then.
        let _ = requested_schema;
        let schema = self.schema();
        let names = Names::of(&self.scenario);
        let batches: Vec<_> =
            (self.chosen.iter()).map(|&place| self.batch(&schema, &names, place)).collect();
        let reader = RecordBatchIterator::new(batches, schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The entities, metrics and values: (kind, name, metric, unit, bytes of 64-bit floats) for each
    /// series. A missing value is NaN.
    fn columns<'py>(
        &self,
        py: Python<'py>,
    ) -> Vec<(&'static str, String, &'static str, &'static str, Bound<'py, pyo3::types::PyBytes>)>
    {
        let names = Names::of(&self.scenario);
        self.chosen()
            .map(|s| {
                let (kind, entity) = names.of_entity(s.entity);
                let (metric, unit) = (s.metric.name(), s.metric.unit().symbol());
                (kind, entity, metric, unit, crate::shares::bytes(py, &s.values))
            })
            .collect()
    }

    /// The times in seconds, as bytes of 64-bit floats.
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, pyo3::types::PyBytes> {
        crate::shares::bytes(py, &self.run.time)
    }
}
