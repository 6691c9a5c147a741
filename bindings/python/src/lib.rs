//! Accord for Python: the extension module `accord._accord`.
//!
//! The module has the parts that need Rust. Its functions take and return plain data: JSON, bytes
//! of arrays, Arrow streams. The package around it (`python/accord`) provides the interface for
//! Python users.

mod contents;
mod error;
mod figure;
mod own;
mod run;
mod scenario;
mod series;
mod shares;
mod stability;
mod watch;

use accord::draft::New;
use accord::family::Family;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the program `accord` with these arguments, of which the first is its name, and with Python classes. Returns
/// the exit code. `identity` is that of the program together with the code of the classes.
#[pyfunction]
fn program(
    py: Python<'_>,
    arguments: Vec<String>,
    classes: Vec<Bound<'_, PyAny>>,
    identity: Option<String>,
) -> PyResult<u8> {
    let (own, disciplines) = own::families(&classes)?;
    let controllers = [accord_cli::CONTROLLERS, &own].concat();
    // Later runs of this process have observers again.
    let _aloud = (!classes.is_empty()).then(own::Aloud::begin);
    identity.into_iter().for_each(accord_cli::identify);
    let run = || accord_cli::main_from(arguments, &controllers, &disciplines);
    // A class that raises has said so, and it has ended the run.
    Ok(py.detach(|| catch_unwind(AssertUnwindSafe(run)).unwrap_or(2)))
}

/// Returns the text of the scenario of a template with these arguments: names and values. An error names
/// its argument.
#[pyfunction]
fn drafted(arguments: Vec<(String, String)>, classes: Vec<Bound<'_, PyAny>>) -> PyResult<String> {
    let (own, disciplines) = own::families(&classes)?;
    let controllers = [accord_cli::CONTROLLERS, &own].concat();
    let mut new = New::default();
    let set = arguments.iter().try_for_each(|(name, value)| new.set(name, value));
    let made = set.and_then(|()| new.text(&accord::catalogue_with(&controllers, &disciplines)));
    made.map_err(|e| {
        let hint = e.hint.iter().map(|hint| format!("; {hint}")).collect::<String>();
        PyValueError::new_err(format!("{}: {e}{hint}", new.template))
    })
}

/// Names, each with a line about it.
type Names = Vec<(&'static str, &'static str)>;

/// Returns the names of the controllers and of the queue disciplines that come with Accord.
#[pyfunction]
fn families() -> (Names, Names) {
    let all = accord::catalogue();
    let named = |families: &[&'static Family]| families.iter().map(|f| (f.name, f.doc)).collect();
    (named(all.controllers), named(all.disciplines))
}

/// Returns the scenario that `accord import` makes from a topology, as text.
#[pyfunction]
fn imported(py: Python<'_>, arguments: Vec<String>) -> PyResult<String> {
    let made = py.detach(|| accord_cli::imported(arguments));
    made.map_err(|(message, hint)| error::AccordError::new_err((message, hint)))
}

/// Writes a file whole, or leaves the one that was there. Makes its folder.
#[pyfunction]
fn write_file(py: Python<'_>, path: std::path::PathBuf, content: &[u8]) -> PyResult<()> {
    py.detach(|| {
        path.parent().map_or(Ok(()), accord::files::create_dirs)?;
        Ok(accord::files::write(&path, content)?)
    })
}

/// Returns a text as a cell of CSV that no spreadsheet takes for a formula.
#[pyfunction]
fn csv_text(text: &str) -> String {
    accord::columns::csv_text(text).into_owned()
}

/// Returns the ids of the scenarios that come with Accord.
#[pyfunction]
fn built_in() -> Vec<&'static str> {
    accord::BUILT_IN.iter().map(|(id, _)| *id).collect()
}

/// The module that `import accord` loads.
#[pymodule(gil_used = false)]
fn _accord(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<series::Series>()?;
    module.add_class::<own::Ack>()?;
    module.add_class::<own::Path>()?;
    module.add_class::<own::Packet>()?;
    module.add_class::<own::Queue>()?;
    module.add_function(wrap_pyfunction!(program, module)?)?;
    module.add_function(wrap_pyfunction!(drafted, module)?)?;
    module.add_function(wrap_pyfunction!(families, module)?)?;
    module.add_function(wrap_pyfunction!(figure::figure, module)?)?;
    module.add_function(wrap_pyfunction!(imported, module)?)?;
    module.add_function(wrap_pyfunction!(write_file, module)?)?;
    module.add_function(wrap_pyfunction!(csv_text, module)?)?;
    module.add_function(wrap_pyfunction!(built_in, module)?)?;
    module.add_function(wrap_pyfunction!(run::write, module)?)?;
    module.add_function(wrap_pyfunction!(run::compared, module)?)?;
    module.add_function(wrap_pyfunction!(run::estimate, module)?)?;
    module.add_function(wrap_pyfunction!(run::read, module)?)?;
    module.add_function(wrap_pyfunction!(shares::shares, module)?)?;
    module.add_function(wrap_pyfunction!(stability::write_map, module)?)?;
    Ok(())
}
