//! The engines and the points of a sweep to which an entry applies.

use super::Context;
use crate::read;
use crate::sweep::Axis;
use accord_form::{Data, Value};
use accord_form::{Problem, Span, fail, quote};
use accord_scenario::Engine;

/// Returns whether `points`, a table of values of sweeps, lists this point. Every point is listed
/// if there is no table.
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
        if labels.is_empty() {
            let message = format!("this matches no point: {} has no values", quote(&entry.key));
            return Err(Problem::new(entry.value.span, message).hint("leave it out for all points"));
        }
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

/// Returns the sweep that `by` names, which chooses among the values of a table at `span`, and its
/// label at this point.
pub(super) fn by<'a>(
    by: Option<&Value>,
    span: Span,
    context: &'a Context<'_>,
) -> Result<(&'a Axis, &'a str), Problem> {
    let Some(by) = by else {
        return fail(span, "a table of values needs `by`, the sweep that chooses among them");
    };
    let name = read::name(by, false)?;
    context.label(name).ok_or_else(|| no_sweep(by.span, name, context))
}

/// Returns the problem for a name that is not a sweep.
fn no_sweep(span: Span, name: &str, context: &Context<'_>) -> Problem {
    Problem::new(span, format!("there is no sweep {}", quote(name)))
        .known(name, context.axes.iter().map(|a| a.name.as_str()))
}

/// Reads one engine, or a list of them.
pub(super) fn engines(value: &Value) -> Result<Vec<Engine>, Problem> {
    match &value.data {
        Data::List(list) => list.iter().map(read::word).collect(),
        _ => Ok(vec![read::word(value)?]),
    }
}
