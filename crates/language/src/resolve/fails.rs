//! Known failures of expectations.

use super::Context;
use super::applies::{by, engines, labels, listed};
use crate::read::{self, Reader};
use crate::shape::Shape;
use crate::{figure, keys};
use accord_form::{Data, Table, Value};
use accord_form::{Problem, Span, fail, quote};
use accord_scenario::{Engine, KnownFailure, Measured, Metric};

/// The known failures of an expectation that apply at this point.
#[derive(Default)]
pub(super) struct Failures(Vec<(Engine, KnownFailure)>);

impl Failures {
    /// Reads `fails` of the expectation `reader`, which `judged` engines evaluate.
    pub fn read(
        reader: &Reader<'_>,
        context: &Context<'_>,
        metric: Metric,
        plain: bool,
        judged: &[Engine],
    ) -> Result<Failures, Problem> {
        let mut found = Failures::default();
        let Some(given) = reader.given("fails") else {
            return Ok(found);
        };
        let entries = match &given.data {
            Data::List(list) if list.is_empty() => {
                let message = "no known failure is in this list";
                return Err(Problem::new(given.span, message).hint("leave `fails` out"));
            }
            Data::List(list) => list.iter().collect(),
            _ => vec![given],
        };
        for value in entries {
            let table = value.table().expect("its form was checked");
            let entry = Reader::new(&keys::FAILS, table, value.span);
            let known = known(reader, &entry, context, metric, plain)?;
            let of = failing(&entry, judged)?;
            let Some(known) = known else {
                continue;
            };
            for engine in of {
                if found.of(engine).is_some() {
                    let message = format!("that the {engine} engine fails here is said twice");
                    let hint = "distinguish them by `engine`, `at` or the table `measured`";
                    return Err(Problem::new(value.span, message).hint(hint));
                }
                found.0.push((engine, known.clone()));
            }
        }
        Ok(found)
    }

    /// Returns the known failure of `engine`.
    pub fn of(&self, engine: Engine) -> Option<KnownFailure> {
        let found = self.0.iter().find(|(e, _)| *e == engine);
        found.map(|(_, known)| known.clone())
    }
}

/// Reads the known failure in `entry`. Returns `None` if it does not apply at this point.
fn known(
    expectation: &Reader<'_>,
    entry: &Reader<'_>,
    context: &Context<'_>,
    metric: Metric,
    plain: bool,
) -> Result<Option<KnownFailure>, Problem> {
    let why = entry.get("why", read::word)?;
    let because = entry.given("because").ok_or_else(|| entry.missing("because"))?;
    let reason = read::text(because, &Shape::Text)?.trim();
    if reason.is_empty() {
        let message = "a known failure needs a reason";
        let hint = "give the cause and its evidence, such as a change that makes it pass";
        return Err(Problem::new(because.span, message).hint(hint));
    }
    let when = expectation.given("when").and_then(Value::table);
    let at = entry.given("at").and_then(Value::table);
    for sweep in at.into_iter().flat_map(|t| &t.entries) {
        let chosen = labels(&sweep.value);
        if chosen.is_empty() {
            let message = format!("this matches no point: {} has no values", quote(&sweep.key));
            return Err(Problem::new(sweep.value.span, message).hint("leave it out for all points"));
        }
        for value in chosen {
            within(when, &sweep.key, &value.label(), value.span)?;
        }
    }
    let here = listed(entry.given("at"), context)?;
    let measured = entry.given("measured").ok_or_else(|| entry.missing("measured"))?;
    let value = match &measured.data {
        Data::Table(table) => chosen(expectation, entry, table, context, (at, when))?,
        _ => Some(measured),
    };
    let band = entry.get("band", read::tolerance)?;
    // The value is read even if the failure does not apply here, so a mistake is found at any
    // point.
    let value = value.map(|v| figure::read(v, metric, plain)).transpose()?;
    Ok(value.filter(|_| here).map(|value| KnownFailure {
        why,
        because: reason.to_string(),
        record: Some(Measured { value, band }),
    }))
}

/// Returns the value that applies at this point, out of a table of measured values.
fn chosen<'a>(
    expectation: &Reader<'_>,
    entry: &Reader<'_>,
    values: &'a Table,
    context: &Context<'_>,
    (at, when): (Option<&Table>, Option<&Table>),
) -> Result<Option<&'a Value>, Problem> {
    let given = entry.given("by").or(expectation.given("by"));
    let (axis, here) = by(given, entry.span, context)?;
    let name = axis.name.as_str();
    if let Some(twice) = at.and_then(|t| t.get(name)) {
        let message = format!("{} chooses among the values of `measured` already", quote(name));
        return Err(Problem::new(twice.span, message).hint("leave it out of `at`"));
    }
    if values.entries.is_empty() {
        return fail(entry.span, "this matches no point: the table of values is empty");
    }
    for value in &values.entries {
        axis.check(&value.key, value.span)?;
        within(when, name, &value.key, value.span)?;
    }
    Ok(values.get(here))
}

/// Rejects a label of a sweep that `when` leaves out, because nothing is expected there.
fn within(when: Option<&Table>, sweep: &str, label: &str, span: Span) -> Result<(), Problem> {
    let Some(expected) = when.and_then(|t| t.get(sweep)) else {
        return Ok(());
    };
    let expected: Vec<String> = labels(expected).into_iter().map(Value::label).collect();
    if expected.iter().any(|e| e == label) {
        return Ok(());
    }
    let message = format!("this matches no point: nothing is expected at {sweep} = {label}");
    Err(Problem::new(span, message).hint(format!("`when` has: {}", expected.join(", "))))
}

/// Returns the engines to which the failure belongs.
fn failing(entry: &Reader<'_>, judged: &[Engine]) -> Result<Vec<Engine>, Problem> {
    let Some(given) = entry.given("engine") else {
        return Ok(judged.to_vec());
    };
    let of = engines(given)?;
    if of.is_empty() {
        return Err(Problem::new(given.span, "no engine is named").hint("leave it out for all"));
    }
    match of.iter().find(|e| !judged.contains(e)) {
        Some(engine) => {
            let judged: Vec<_> = judged.iter().map(Engine::to_string).collect();
            let message = format!("the {engine} engine is not judged by this expectation");
            Err(Problem::new(given.span, message)
                .hint(format!("`engine` of the expectation has: {}", judged.join(", "))))
        }
        None => Ok(of),
    }
}
