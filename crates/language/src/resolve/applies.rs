//! The engines and points of a sweep that something applies to.

use super::super::error::{Problem, Span, quote};
use super::super::read;
use super::super::shape::Shape;
use super::super::tree::{Data, Value};
use super::Context;
use accord_scenario::Engine;

/// Returns whether `points`, a table of values of sweeps, lists this point. Every point is listed
/// if nothing is given.
pub(super) fn listed(points: Option<&Value>, context: &Context<'_>) -> Result<bool, Problem> {
    let Some(table) = points.and_then(Value::table) else {
        return Ok(true);
    };
    let mut applies = true;
    for entry in &table.entries {
        let Some((axis, here)) = context.label(&entry.key) else {
            return Err(no_sweep(entry.span, &entry.key, context));
        };
        let labels = labels(&entry.value);
        for value in &labels {
            axis.check(&value.label(), value.span)?;
        }
        applies &= labels.iter().any(|v| v.label() == here);
    }
    Ok(applies)
}

/// Returns one label of a sweep, or a list of them, as a list.
pub(super) fn labels(value: &Value) -> Vec<&Value> {
    match &value.data {
        Data::List(list) => list.iter().collect(),
        _ => vec![value],
    }
}

/// Returns the problem that there is no such sweep.
pub(super) fn no_sweep(span: Span, name: &str, context: &Context<'_>) -> Problem {
    Problem::new(span, format!("there is no sweep {}", quote(name)))
        .known(name, context.axes.iter().map(|a| a.name.as_str()))
}

/// Reads one engine, or a list of them.
pub(super) fn engines(value: &Value) -> Result<Vec<Engine>, Problem> {
    match &value.data {
        Data::List(list) => list.iter().map(engine).collect(),
        _ => Ok(vec![engine(value)?]),
    }
}

fn engine(value: &Value) -> Result<Engine, Problem> {
    let engine: Result<Engine, String> = read::text(value, &Shape::Text)?.parse();
    engine.map_err(|e| Problem::new(value.span, e))
}
