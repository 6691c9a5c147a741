//! Readers of what links have beyond a rate and a delay.

use super::{whole, within, wrong};
use crate::error::Problem;
use crate::limits;
use crate::shape::Shape;
use crate::trace::{self, no_length};
use crate::tree::{Data, Delays, Steps, Value};
use accord_scenario::{OFF, Trace};
use accord_units::Duration;

/// Reads the delivery opportunities of a link, from a file that was read or in place.
pub(crate) fn trace(value: &Value) -> Result<Trace, Problem> {
    let list = match &value.data {
        Data::Trace(trace) => return Ok(trace.clone()),
        Data::List(list) if list.len() <= limits::OPPORTUNITIES => list,
        Data::List(_) => {
            let message = format!("more than {} delivery opportunities", limits::OPPORTUNITIES);
            return Err(Problem::new(value.span, message));
        }
        _ => return Err(wrong(value, &Shape::Trace)),
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
        _ => above_zero(value, &Shape::Period).map(Some),
    }
}

fn above_zero(value: &Value, shape: &Shape) -> Result<Duration, Problem> {
    within(value, shape, Some(Duration::ZERO), limits::DELAY, "a delay")
}

/// Reads a delay on a wire that is more than zero.
pub(crate) fn wire_delay(value: &Value) -> Result<Duration, Problem> {
    above_zero(value, &Shape::Delay)
}

/// Reads the steps of a link's rate, from a file that was read or from lines in place.
pub(crate) fn steps(value: &Value) -> Result<Steps, Problem> {
    match &value.data {
        Data::Steps(steps) => Ok(steps.clone()),
        Data::List(_) => in_place(value, &Shape::Steps),
        _ => Err(wrong(value, &Shape::Steps)),
    }
}

/// Reads the steps of a link's delay, likewise.
pub(crate) fn delays(value: &Value) -> Result<Delays, Problem> {
    match &value.data {
        Data::Delays(steps) => Ok(steps.clone()),
        Data::List(_) => in_place(value, &Shape::Delays),
        _ => Err(wrong(value, &Shape::Delays)),
    }
}

/// Reads steps from the lines of a list.
fn in_place<T: trace::Step>(
    value: &Value,
    shape: &Shape,
) -> Result<std::sync::Arc<[(accord_units::Time, T)]>, Problem> {
    let list = value.list().unwrap_or_default();
    let mut lines = Vec::new();
    for line in list {
        lines.push((line.span, line.text().ok_or_else(|| wrong(value, shape))?));
    }
    let texts = (1..).zip(lines.iter().map(|(_, text)| text.trim()));
    trace::steps_of(texts).map_err(|(line, wrong)| {
        let span = line.checked_sub(1).and_then(|i| lines.get(i)).map_or(value.span, |l| l.0);
        Problem::new(span, wrong).hint(T::LINES)
    })
}
