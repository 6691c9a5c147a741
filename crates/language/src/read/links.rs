//! Readers of the properties of links other than a rate and a delay.

use super::{whole, within, wrong};
use crate::limits;
use crate::shape::{Own, Shape};
use crate::trace::{self, Step, StepsOf, no_length};
use accord_form::Problem;
use accord_form::{Data, Value};
use accord_scenario::{OFF, Trace};
use accord_units::{Duration, Rate};

/// Reads the delivery opportunities of a link, from a file that was read or from an inline list.
pub(crate) fn trace(value: &Value) -> Result<Trace, Problem> {
    if let Some(trace) = value.made::<Trace>() {
        return Ok(trace.clone());
    }
    let list = match &value.data {
        Data::List(list) if list.len() <= limits::OPPORTUNITIES => list,
        Data::List(_) => {
            let message = format!("more than {} delivery opportunities", limits::OPPORTUNITIES);
            return Err(Problem::new(value.span, message));
        }
        _ => return Err(wrong(value, &Shape::Own(Own::Trace))),
    };
    let most = u64::from(limits::TRACE_LENGTH);
    let time = |v: &Value| whole(v, 0, most).map(|n| n as u32);
    let times: Vec<u32> = list.iter().map(time).collect::<Result<_, _>>()?;
    let count = times.len();
    Trace::new(times).map_err(|i| match list.get(i) {
        Some(late) => {
            let message = format!("{} ms comes after a later time", late.describe());
            Problem::new(late.span, message)
        }
        None => Problem::new(value.span, format!("the trace {}", no_length(count))),
    })
}

/// Reads a period. Returns `None` for [`OFF`].
pub(crate) fn period(value: &Value) -> Result<Option<Duration>, Problem> {
    match value.text() {
        Some(OFF) => Ok(None),
        _ => above_zero(value, &Shape::Own(Own::Period)).map(Some),
    }
}

fn above_zero(value: &Value, shape: &Shape) -> Result<Duration, Problem> {
    within(value, shape, Some(Duration::ZERO), limits::DELAY, "a delay")
}

/// Reads a delay on a wire, which is more than zero.
pub(crate) fn wire_delay(value: &Value) -> Result<Duration, Problem> {
    above_zero(value, &Shape::Delay)
}

/// Reads the steps of a link's rate, from a file that was read or from inline lines.
pub(crate) fn steps(value: &Value) -> Result<StepsOf<Rate>, Problem> {
    steps_of(value, Own::Steps)
}

/// Reads the steps of a link's delay, likewise.
pub(crate) fn delays(value: &Value) -> Result<StepsOf<Duration>, Problem> {
    steps_of(value, Own::Delays)
}

fn steps_of<T: Step>(value: &Value, form: Own) -> Result<StepsOf<T>, Problem> {
    if let Some(steps) = value.made::<StepsOf<T>>() {
        return Ok(steps.clone());
    }
    let refuse = || wrong(value, &Shape::Own(form));
    let mut lines = Vec::new();
    for line in value.list().ok_or_else(refuse)? {
        lines.push((line.span, line.text().ok_or_else(refuse)?));
    }
    let texts = (1..).zip(lines.iter().map(|(_, text)| text.trim()));
    trace::steps_of(texts).map_err(|(line, wrong)| {
        let problem = match line.checked_sub(1).and_then(|i| lines.get(i)) {
            Some((span, _)) => Problem::new(*span, wrong),
            None => Problem::new(value.span, format!("the list {wrong}")),
        };
        problem.hint(T::LINES)
    })
}
