//! Controllers and queue disciplines that are classes of Python.
//!
//! A class becomes a family like those of another crate. Families are declared once and kept until
//! the program ends, with the classes behind them: a known class gets its existing family. The
//! scenario alone determines which classes it may name.
//!
//! Controllers and disciplines cannot fail per packet, but Python can. The first exception of a
//! thread's callbacks is kept in [`failure`]. The run's observer finds it and stops the run.

mod classes;
mod controller;
mod discipline;
mod failure;

pub use controller::{Ack, Path};
pub use discipline::{Packet, Queue};
pub use failure::{Aloud, failure};

use accord::family::{
    Catalogue, Dynamics, Family, Kind, Meaning, Objective, Param, Price, Role, Values,
};
use accord::units::{Duration, Rate, Size};
use classes::{Own, of, registry};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::ptr;
use std::sync::OnceLock;

/// Returns the families that come with this build, with those of stacks.
fn built_in() -> Catalogue {
    static BUILT_IN: OnceLock<Catalogue> = OnceLock::new();
    *BUILT_IN.get_or_init(|| accord::catalogue_with(accord_cli::CONTROLLERS, &[]))
}

/// Returns the families that come with Accord and those of these classes.
pub fn catalogue(classes: &[Bound<'_, PyAny>]) -> PyResult<Catalogue> {
    let built_in = built_in();
    if classes.is_empty() {
        return Ok(built_in);
    }
    // Attributes of classes are Python's code. So they are read before the registry is locked.
    let drafts: Vec<Own> = classes.iter().map(declared).collect::<PyResult<_>>()?;
    let twin = |i: usize, own: &Own| {
        let theirs = if own.is_controller { built_in.controllers } else { built_in.disciplines };
        let same =
            |o: &Own| (o.family.name, o.is_controller) == (own.family.name, own.is_controller);
        theirs.iter().any(|f| f.name == own.family.name) || drafts[..i].iter().any(same)
    };
    if let Some((_, own)) = drafts.iter().enumerate().find(|(i, own)| twin(*i, own)) {
        let name = own.family.name;
        let e = format!("there are two called \"{name}\"; give the class another `name`");
        return Err(PyValueError::new_err(e));
    }
    let mut registry = registry();
    let owned: Vec<&'static Own> = drafts.into_iter().map(|d| registry.entry(d)).collect();
    let same = |known: &[&Own]| {
        known.len() == owned.len() && known.iter().zip(&owned).all(|(a, b)| ptr::eq(*a, *b))
    };
    if let Some((_, catalogue)) = registry.catalogues.iter().find(|(known, _)| same(known)) {
        return Ok(*catalogue);
    }
    let families = |controllers: bool| -> Vec<&'static Family> {
        let its = owned.iter().filter(|o| o.is_controller == controllers);
        its.map(|o| o.family).collect()
    };
    let controllers = [accord_cli::CONTROLLERS, &families(true)].concat();
    let catalogue = accord::catalogue_with(&controllers, &families(false));
    registry.catalogues.push((owned, catalogue));
    Ok(catalogue)
}

/// Returns the families of these classes: controllers, and queue disciplines.
pub fn families(
    classes: &[Bound<'_, PyAny>],
) -> PyResult<(Vec<&'static Family>, Vec<&'static Family>)> {
    let (built_in, all) = (built_in(), catalogue(classes)?);
    let own = |all: &[&'static Family], built_in: &[&'static Family]| {
        let mut all = all.to_vec();
        all.retain(|family| built_in.iter().all(|other| other.name != family.name));
        all
    };
    Ok((own(all.controllers, built_in.controllers), own(all.disciplines, built_in.disciplines)))
}

/// Reads the declarations of a class. `_accord_` is its kind.
fn declared(class: &Bound<'_, PyAny>) -> PyResult<Own> {
    let is_controller = class.getattr("_accord_")?.extract::<String>()? == "controller";
    let name: String = class.call_method0("family_name")?.extract()?;
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if !name.chars().all(word) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        let e = format!("name \"{name}\": expected lower-case letters, digits, - and _");
        return Err(PyValueError::new_err(e));
    }
    let doc: Option<String> = class.getattr("__doc__")?.extract()?;
    let doc = doc.unwrap_or_default();
    let doc = doc.trim().lines().next().unwrap_or_default().to_string();
    let mut params = Vec::new();
    let table = class.getattr("parameters")?.call_method0("items")?;
    for item in table.try_iter()? {
        let (key, default): (String, Bound<'_, PyAny>) = item?.extract()?;
        params.push(param(&name, key, &default)?);
    }
    let keeps: Option<String> =
        if is_controller { class.getattr("keeps")?.extract()? } else { None };
    let size = |keeps: &String| (params.iter()).any(|p| p.name == *keeps && p.kind == Kind::Size);
    if let Some(keeps) = keeps.as_ref().filter(|keeps| !size(keeps)) {
        let e = format!(
            "{name}: keeps \"{keeps}\": expected the name of a parameter that is an amount"
        );
        return Err(PyValueError::new_err(e));
    }
    let (role, maker): (Role, &'static (dyn std::any::Any + Send + Sync)) = if is_controller {
        (Role::Controller(objective), &controller::MAKER)
    } else {
        (Role::Queue(|_| Price::Loss), &discipline::MAKER)
    };
    let family = Family {
        doc: doc.leak(),
        params: params.leak(),
        dynamics: Dynamics::Missing("it is written in Python, without a law for the fluid"),
        maker,
        ..Family::new(name.leak(), role)
    };
    Ok(Own {
        family: Box::leak(Box::new(family)),
        class: class.clone().unbind(),
        is_controller,
        keeps,
    })
}

/// Returns the objective of a controller for theory, if it has one.
fn objective(values: &Values) -> Objective {
    match &of(values.family()).keeps {
        Some(keeps) => Objective::Accumulation { target: values.size(keeps) },
        None => Objective::Other,
    }
}

/// Returns the parameter of a name and a default, whose type says the kind.
fn param(class: &str, name: String, default: &Bound<'_, PyAny>) -> PyResult<Param> {
    let wrong = |expected: &str| {
        let e = format!("{class}: parameter {name}: {expected}");
        PyTypeError::new_err(e)
    };
    let (kind, text) = if let Ok(flag) = default.cast::<PyBool>() {
        (Kind::Flag, flag.is_true().to_string())
    } else if let Ok(whole) = default.extract::<u64>() {
        let (min, max) = (0, u64::MAX);
        (Kind::Integer { min, max }, whole.to_string())
    } else if default.hasattr("__index__")? {
        return Err(wrong(&format!(
            "a whole number is from 0 to 2^64 - 1, and {default} is not; a number of any sign is \
             written with a point, such as -3.0"
        )));
    } else if let Ok(number) = default.extract::<f64>() {
        if !number.is_finite() {
            return Err(wrong("a default has to be a finite number"));
        }
        let (min, max) = (f64::MIN, f64::MAX);
        (Kind::Number { min, max }, number.to_string())
    } else if let Ok(text) = default.extract::<String>() {
        let kind = if text.parse::<Size>().is_ok() {
            Kind::Size
        } else if text.parse::<Duration>().is_ok() {
            Kind::Duration
        } else if text.parse::<Rate>().is_ok() {
            Kind::Rate
        } else {
            let e =
                "expected an amount, a time or a rate, such as \"10 pkt\", \"5 ms\", \"1 Mbps\"";
            return Err(wrong(&format!("{e}, and got \"{text}\"")));
        };
        (kind, text)
    } else {
        return Err(wrong("expected a truth value, a number or a text with a unit"));
    };
    Ok(Param {
        name: name.leak(),
        symbol: "",
        kind,
        default: text.leak(),
        meaning: Meaning::Own,
        doc: "",
        source: "",
    })
}
