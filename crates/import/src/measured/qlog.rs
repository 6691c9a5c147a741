//! qlog: JSON text sequences [RFC 7464], JSON lines, or one JSON document with traces.
//!
//! The names of events of all versions are read: `quic:packet_sent` of the drafts since 2022,
//! `transport:packet_sent` and `recovery:metrics_updated` of version 0.3 and before. So are their
//! formats of time. A file is of one end, and tells what it sent.

use super::{Measured, Quantity, Sample};
use crate::error::{ImportError, quote};
use serde_json::Value;
use std::collections::BTreeMap;

pub fn read(text: &str) -> Result<Measured, ImportError> {
    let mut measured = Measured::default();
    match serde_json::from_str::<Value>(text) {
        Ok(file) if file.get("traces").is_some() => contained(&file, &mut measured)?,
        // One record is a header without events.
        _ => sequence(text, &mut measured)?,
    }
    measured.finish()
}

/// A document with all traces in it.
fn contained(file: &Value, measured: &mut Measured) -> Result<(), ImportError> {
    let Some(traces) = file.get("traces").and_then(Value::as_array) else {
        return Err(ImportError::whole("`traces` is no list"));
    };
    for (i, trace) in traces.iter().enumerate() {
        let place = format!("traces[{i}]");
        let Some(events) = trace.get("events").and_then(Value::as_array) else {
            // A trace that could not be made has an error in place of events.
            measured.remark(format!("{place} has no events and is left out."));
            continue;
        };
        let mut reader = Reader::of(trace, &place, measured)?;
        for (j, event) in events.iter().enumerate() {
            let place = format!("{place}.events[{j}]");
            let said = |message: String| ImportError::whole(format!("{place}: {message}"));
            reader.take(event, measured).map_err(said)?;
        }
    }
    Ok(())
}

/// A header, and then a record per event.
fn sequence(text: &str, measured: &mut Measured) -> Result<(), ImportError> {
    let mut reader = None;
    for (i, line) in text.lines().enumerate() {
        let record = line.trim_matches(['\u{1e}', ' ', '\t', '\r']);
        if record.is_empty() {
            continue;
        }
        let at = |message: String| ImportError::at(i + 1, message);
        let record: Value =
            serde_json::from_str(record).map_err(|e| at(format!("this is no JSON: {e}")))?;
        match &mut reader {
            None => {
                let header = ["qlog_version", "file_schema", "trace"];
                if !header.iter().any(|key| record.get(key).is_some()) {
                    let message = "the first record is no header of qlog".into();
                    return Err(
                        at(message).hint("it has `trace`, and `file_schema` or `qlog_version`")
                    );
                }
                let trace = record.get("trace").unwrap_or(&Value::Null);
                reader = Some(Reader::of(trace, "trace", measured)?);
            }
            Some(reader) => reader.take(&record, measured).map_err(at)?,
        }
    }
    Ok(())
}

/// The state of a trace.
struct Reader {
    flow: usize,
    /// Times are counted from the last event.
    delta: bool,
    /// What one unit of time is, in seconds.
    unit: f64,
    now: f64,
    sent: f64,
    arrived: f64,
    lost: f64,
    /// The sizes of the packets that are not acknowledged, by number.
    out: BTreeMap<u64, f64>,
}

/// The most packets that may be in flight.
const IN_FLIGHT: usize = 1_000_000;

impl Reader {
    fn of(trace: &Value, place: &str, measured: &mut Measured) -> Result<Reader, ImportError> {
        let common = trace.get("common_fields").unwrap_or(&Value::Null);
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let vantage = trace.get("vantage_point").and_then(|v| v.get("name"));
        let name = text(vantage)
            .or_else(|| text(trace.get("title")))
            .or_else(|| text(common.get("group_id")))
            .or_else(|| text(common.get("ODCID")))
            .filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| place.to_owned());
        // Two traces may have one name.
        let taken = |name: &str| measured.flows.iter().any(|f| f.name == name);
        let names = (2..).map(|i| format!("{name} ({i})"));
        let name = std::iter::once(name.clone())
            .chain(names)
            .find(|n| !taken(n));
        let format = text(common.get("time_format"));
        let units = trace.get("configuration").and_then(|c| c.get("time_units"));
        Ok(Reader {
            flow: measured.flow(&name.unwrap_or_default())?,
            delta: matches!(
                format.as_deref(),
                Some("delta" | "relative_to_previous_event")
            ),
            unit: match units.and_then(Value::as_str) {
                Some("us") => 1e-6,
                _ => 1e-3,
            },
            now: 0.0,
            sent: 0.0,
            arrived: 0.0,
            lost: 0.0,
            out: BTreeMap::new(),
        })
    }

    /// Takes an event.
    fn take(&mut self, event: &Value, measured: &mut Measured) -> Result<(), String> {
        let time = event.get("time").and_then(Value::as_f64);
        let time = time.filter(|t| t.is_finite() && t.abs() < 1e16);
        let time = time.ok_or("an event has no number `time`")? * self.unit;
        self.now = if self.delta { self.now + time } else { time };
        let name = match event.get("name").and_then(Value::as_str) {
            Some(name) => name.rsplit(':').next().unwrap_or(name),
            None => (event.get("type").and_then(Value::as_str)).ok_or("an event has no `name`")?,
        };
        let nothing = Value::Null;
        let data = event.get("data").unwrap_or(&nothing);
        let samples = &mut measured.flows[self.flow].samples;
        let now = self.now;
        let mut add = |quantity, value| {
            samples.push(Sample {
                time: now,
                quantity,
                value,
            });
        };
        match name {
            "recovery_metrics_updated" | "metrics_updated" => {
                for (name, quantity, unit) in [
                    ("congestion_window", Quantity::Cwnd, 1.0),
                    ("ssthresh", Quantity::Ssthresh, 1.0),
                    ("smoothed_rtt", Quantity::Rtt, self.unit),
                    ("min_rtt", Quantity::MinRtt, self.unit),
                ] {
                    let Some(value) = data.get(name) else {
                        continue;
                    };
                    let value = number(value)
                        .ok_or_else(|| format!("{} is no number of at least 0", quote(name)))?;
                    // The largest number stands for a threshold that is not set.
                    if value < 1e15 {
                        add(quantity, value * unit);
                    }
                }
            }
            "packet_sent" => {
                if let Some(size) = size(data) {
                    if let Some(number) = packet_number(data)
                        && self.out.len() < IN_FLIGHT
                    {
                        self.out.insert(number, size);
                    }
                    self.sent += size;
                    add(Quantity::Sent, self.sent);
                }
            }
            "packet_received" => {
                let before = self.arrived;
                let frames = data.get("frames").and_then(Value::as_array);
                for range in frames.into_iter().flatten().flat_map(acked_ranges) {
                    self.acknowledge(range);
                }
                if self.arrived > before {
                    add(Quantity::Arrived, self.arrived);
                }
            }
            "packet_lost" => {
                self.lost += 1.0;
                add(Quantity::Lost, self.lost);
            }
            _ => {}
        }
        Ok(())
    }

    fn acknowledge(&mut self, (first, last): (u64, u64)) {
        let numbers: Vec<u64> = self.out.range(first..=last).map(|(n, _)| *n).collect();
        for number in numbers {
            self.arrived += self.out.remove(&number).unwrap_or(0.0);
        }
    }
}

/// The ranges of packets that an ACK frame acknowledges.
fn acked_ranges(frame: &Value) -> Vec<(u64, u64)> {
    if frame.get("frame_type").and_then(Value::as_str) != Some("ack") {
        return Vec::new();
    }
    let ranges = frame.get("acked_ranges").and_then(Value::as_array);
    let range = |range: &Value| {
        let range = range.as_array()?;
        let first = integer(range.first()?)?;
        let last = integer(range.last()?)?;
        (first <= last).then_some((first, last))
    };
    ranges.into_iter().flatten().filter_map(range).collect()
}

/// The size of a packet: a field that has moved from version to version.
fn size(data: &Value) -> Option<f64> {
    let header = data.get("header");
    let places = [
        data.get("raw").and_then(|raw| raw.get("length")),
        data.get("packet_size"),
        header.and_then(|h| h.get("packet_size")),
    ];
    places.into_iter().flatten().find_map(number)
}

fn packet_number(data: &Value) -> Option<u64> {
    integer(data.get("header")?.get("packet_number")?)
}

/// A number of at least zero; old versions have them as texts.
fn number(value: &Value) -> Option<f64> {
    let value = match value {
        Value::String(text) => text.parse().ok()?,
        value => value.as_f64()?,
    };
    (value.is_finite() && (0.0..1e20).contains(&value)).then_some(value)
}

fn integer(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    }
}
