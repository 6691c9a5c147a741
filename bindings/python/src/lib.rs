//! Accord for Python: the extension module `accord._accord`.
//!
//! The module has the parts that need Rust. Its functions take and return plain data: JSON, bytes
//! of arrays, Arrow streams. The package around it (`python/accord`) provides the interface for
//! Python users.

mod contents;
mod error;
mod own;
mod run;
mod scenario;
mod series;
mod shares;
mod stability;
mod watch;

use pyo3::prelude::*;

/// Runs the program `accord` with the arguments after the first, and returns its exit code.
#[pyfunction]
fn program(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| accord_cli::main_from(arguments, &[], &[]))
}

/// Runs `accord kernel` with these arguments and classes of Python, and returns its exit code. A
/// class that raises panics, which the connection survives.
#[pyfunction]
fn kernel(py: Python<'_>, arguments: Vec<String>, classes: Vec<Bound<'_, PyAny>>) -> PyResult<u8> {
    let built_in = accord::catalogue().controllers;
    let all = own::catalogue(&classes)?.controllers;
    let own: Vec<_> = (all.iter().copied())
        .filter(|family| built_in.iter().all(|other| other.name != family.name))
        .collect();
    own::fail_aloud();
    let arguments = ["accord", "kernel"]
        .map(String::from)
        .into_iter()
        .chain(arguments);
    Ok(py.detach(|| accord_cli::main_from(arguments, &own, &[])))
}

/// Returns the scenario that `accord import` makes from a topology, as text.
#[pyfunction]
fn imported(py: Python<'_>, arguments: Vec<String>) -> PyResult<String> {
    let made = py.detach(|| accord_cli::imported(arguments));
    made.map_err(|(message, hint)| error::AccordError::new_err((message, hint)))
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
    module.add_function(wrap_pyfunction!(kernel, module)?)?;
    module.add_function(wrap_pyfunction!(imported, module)?)?;
    module.add_function(wrap_pyfunction!(built_in, module)?)?;
    module.add_function(wrap_pyfunction!(run::write, module)?)?;
    module.add_function(wrap_pyfunction!(run::compared, module)?)?;
    module.add_function(wrap_pyfunction!(run::estimate, module)?)?;
    module.add_function(wrap_pyfunction!(run::read, module)?)?;
    module.add_function(wrap_pyfunction!(shares::shares, module)?)?;
    module.add_function(wrap_pyfunction!(stability::write_map, module)?)?;
    Ok(())
}
