//! The JSON of iperf3 (`iperf3 --json`), of a sender or of a receiver.

use super::{Measured, Quantity, Sample};
use crate::error::ImportError;
use serde_json::Value;
use std::collections::BTreeMap;

pub fn read(text: &str) -> Result<Measured, ImportError> {
    let file: Value = serde_json::from_str(text)
        .map_err(|e| ImportError::at(e.line(), format!("this is no JSON: {e}")))?;
    let error = file.get("error").and_then(Value::as_str);
    let error = error.map(crate::error::quote);
    let none = |list: &Vec<Value>| list.is_empty();
    let intervals = file.get("intervals").and_then(Value::as_array);
    if let Some(error) = error.as_ref().filter(|_| intervals.is_none_or(none)) {
        let message = format!("iperf3 failed: {error}");
        return Err(ImportError::whole(message));
    }
    let Some(intervals) = intervals else {
        let message = "there is no list `intervals`";
        return Err(ImportError::whole(message).hint("iperf3 --json writes it"));
    };
    let mut measured = Measured::default();
    if let Some(error) = error {
        measured.remark(format!(
            "iperf3 ended early: {error}. What it had measured is here."
        ));
    }
    // The clock starts again at the end of what is omitted (`--omit`).
    let mut omitted = false;
    // The bytes so far, by flow: those handed over or arrived, and the packets sent again.
    let mut totals: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (i, interval) in intervals.iter().enumerate() {
        let place = format!("intervals[{i}]");
        let Some(streams) = interval.get("streams").and_then(Value::as_array) else {
            let message = format!("{place} has no list `streams`");
            return Err(ImportError::whole(message));
        };
        for (j, stream) in streams.iter().enumerate() {
            let place = format!("{place}.streams[{j}]");
            let need = |name: &str| {
                let message = || ImportError::whole(format!("{place} has no number `{name}`"));
                number(stream, name).ok_or_else(message)
            };
            if stream.get("omitted").and_then(Value::as_bool) == Some(true) {
                measured.remark("What iperf3 was told to omit is left out.");
                omitted = true;
                continue;
            }
            let flow = measured.flow(&format!("stream {}", need("socket")?))?;
            let (mut start, end, bytes) = (need("start")?, need("end")?, need("bytes")?);
            if omitted && !totals.contains_key(&flow) {
                // iperf3 3.12 gives its first interval the start of an omitted one.
                start = 0.0;
            }
            if end < start {
                let message = format!("{place} ends before it starts");
                return Err(ImportError::whole(message));
            }
            let receives = stream.get("sender").and_then(Value::as_bool) == Some(false);
            let quantity = match receives {
                true => Quantity::Arrived,
                false => Quantity::Sent,
            };
            let samples = &mut measured.flows[flow].samples;
            let mut add = |time, quantity, value| {
                samples.push(Sample {
                    time,
                    quantity,
                    value,
                });
            };
            if !totals.contains_key(&flow) {
                add(start, quantity, 0.0);
            }
            let total = totals.entry(flow).or_default();
            total.0 += bytes;
            add(end, quantity, total.0);
            if let Some(n) = number(stream, "retransmits") {
                if total.1 == 0.0 {
                    add(start, Quantity::Retransmitted, 0.0);
                }
                total.1 += n;
                add(end, Quantity::Retransmitted, total.1);
            }
            for (name, quantity, unit) in [
                ("snd_cwnd", Quantity::Cwnd, 1.0),
                ("rtt", Quantity::Rtt, 1e-6),
            ] {
                if let Some(value) = number(stream, name) {
                    add(end, quantity, value * unit);
                }
            }
        }
    }
    measured.remark("Rates are those of the application's data, without headers.");
    measured.finish()
}

/// A number of at least zero.
fn number(object: &Value, name: &str) -> Option<f64> {
    let value = object.get(name)?.as_f64()?;
    (value.is_finite() && (0.0..1e18).contains(&value)).then_some(value)
}
