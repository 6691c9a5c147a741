//! qlog: JSON text sequences [RFC 7464], JSON lines, or one JSON document with traces.
//!
//! The reader supports the drafts since 2022 (`quic:packet_sent`), version 0.3 and the drafts from
//! 02 on (`transport:packet_sent`), and draft-00 and -01, whose events are lists of the values
//! named by `event_fields`. Some stacks rename fields and events. The names of aioquic, mvfst,
//! picoquic and quinn are known. A file has the view of one end, and records the packets that it
//! sent.

use super::Quantity;
use super::draft::Draft;
use super::records::{Records, mend};
use crate::error::{ImportError, quote};
use serde_json::Value;
use std::collections::BTreeMap;

pub fn read(text: &str, draft: &mut Draft) {
    let mut records = Records::new(text, is_record);
    let first = records.next();
    if let Some(Err(_)) = first {
        let mut damage = Vec::new();
        let mended = mend(text, "events", is_event, |at, e| damage.push((at, e)));
        if let Some(file) = mended.filter(|file| file.get("traces").is_some()) {
            damage.iter().for_each(|(at, e)| draft.damaged_json(text, *at, e));
            draft.remark("The file is truncated or damaged. Its complete part is here.");
            contained(&file, draft);
            return;
        }
    }
    let mut trace: Option<Trace> = None;
    for record in first.into_iter().chain(records) {
        let (at, record) = match record {
            Ok(whole) => whole,
            Err((at, e)) => {
                draft.damaged_json(text, at, &e);
                continue;
            }
        };
        if record.get("traces").is_some() {
            contained(&record, draft);
            continue;
        }
        if is_header(&record) {
            let about = record.get("trace").unwrap_or(&Value::Null);
            if let Some(over) = trace.replace(Trace::of(about, "trace")) {
                over.finish(draft);
            }
            continue;
        }
        let trace = trace.get_or_insert_with(|| {
            draft.remark("There is no header: times are taken in milliseconds.");
            Trace::of(&Value::Null, "trace")
        });
        if let Err(message) = trace.take(&record, draft) {
            draft.damage(|| {
                let line = 1 + text[..at].matches('\n').count();
                ImportError::at(line, message)
            });
        }
    }
    if let Some(trace) = trace {
        trace.finish(draft);
    }
}

fn is_header(value: &Value) -> bool {
    let header = ["qlog_version", "file_schema", "trace", "traces"];
    header.iter().any(|key| value.get(key).is_some())
}

fn is_event(value: &Value) -> bool {
    match value {
        Value::Array(values) => {
            let time = values.first().and_then(number).is_some();
            time && values.len() > 2 && values.iter().any(Value::is_object)
        }
        event => {
            let times = ["time", "relative_time", "delta_time"];
            event.get("data").is_some() && times.iter().any(|key| event.get(key).is_some())
        }
    }
}

fn is_record(value: &Value) -> bool {
    is_header(value) || is_event(value)
}

/// Reads a document with all traces in it.
fn contained(file: &Value, draft: &mut Draft) {
    let Some(traces) = file.get("traces").and_then(Value::as_array) else {
        draft.damage(|| ImportError::whole("`traces` is not a list"));
        return;
    };
    for (i, about) in traces.iter().enumerate() {
        let place = format!("traces[{i}]");
        let Some(events) = about.get("events").and_then(Value::as_array) else {
            // A trace that could not be converted has an error in place of events.
            draft.remark(format!("{place} has no events and is left out."));
            continue;
        };
        let mut trace = Trace::of(about, &place);
        for (j, event) in events.iter().enumerate() {
            if let Err(message) = trace.take(event, draft) {
                let message = format!("{place}.events[{j}]: {message}");
                draft.damage(|| ImportError::whole(message));
            }
        }
        trace.finish(draft);
    }
}

/// The number space of a packet [RFC 9000 §12.3], with its path, which has its own space in
/// multipath QUIC.
type Space = (u64, u8);

/// A connection, or a path of it.
type Key = (Option<String>, u64);

/// A trace during reading.
struct Trace {
    name: String,
    /// True if times count from the previous event.
    delta: bool,
    /// The unit of time, in seconds.
    unit: f64,
    now: f64,
    /// The names of the values in events that are written as lists.
    fields: Vec<String>,
    /// The connections to which events refer by index.
    groups: Vec<Value>,
    flows: BTreeMap<Key, Connection>,
}

/// The state of a flow.
struct Connection {
    flow: usize,
    /// The time of its first event.
    first: f64,
    /// The sizes of unacknowledged packets, by number.
    out: BTreeMap<(Space, u64), f64>,
    /// The times at which bytes were sent or arrived, or packets were lost, with the amount.
    counts: Vec<(f64, Quantity, f64)>,
}

/// The hint for the log of a receiver, which has neither metrics nor packets sent.
const RECEIVER: &str = "the log has packets received only; that of the sender has windows, \
                        round-trip times and rates";

/// The maximum number of packets in flight.
const IN_FLIGHT: usize = 1_000_000;

/// The names of events with metrics.
const METRICS: [&str; 4] =
    ["recovery_metrics_updated", "metrics_updated", "metric_update", "congestion_metric_update"];

impl Trace {
    fn of(about: &Value, place: &str) -> Trace {
        let common = about.get("common_fields").unwrap_or(&Value::Null);
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let vantage = about.get("vantage_point").and_then(|v| v.get("name"));
        let name = [
            vantage,
            about.get("title"),
            common.get("group_id"),
            common.get("ODCID"),
            common.get("odcid"),
        ];
        let name = (name.into_iter().filter_map(text)).find(|name| !name.trim().is_empty());
        let format = text(common.get("time_format"));
        let units = about.get("configuration").unwrap_or(common).get("time_units");
        let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();
        let fields = list(about.get("event_fields")).unwrap_or_default();
        Trace {
            name: name.unwrap_or_else(|| place.to_owned()),
            delta: format.is_some_and(|format| is_delta(&format)),
            unit: match units.and_then(Value::as_str) {
                Some("us") => 1e-6,
                _ => 1e-3,
            },
            now: 0.0,
            fields: (fields.iter()).map(|f| f.as_str().unwrap_or("").to_lowercase()).collect(),
            groups: list(common.get("group_ids")).unwrap_or_default(),
            flows: BTreeMap::new(),
        }
    }

    /// Returns the field of an event that has one of these names. The oldest draft has them in
    /// capitals.
    fn field<'v>(&self, event: &'v Value, names: &[&str]) -> Option<&'v Value> {
        names.iter().find_map(|name| match event {
            Value::Array(values) => values.get(self.fields.iter().position(|f| f == name)?),
            event => event.get(name).or_else(|| event.get(name.to_uppercase())),
        })
    }

    /// Returns the data of an event. A list may have one value more than `event_fields` names.
    fn data<'v>(&self, event: &'v Value) -> &'v Value {
        let named = self.field(event, &["data"]);
        let last = || event.as_array()?.iter().rfind(|value| value.is_object());
        (named.filter(|data| data.is_object())).or_else(last).unwrap_or(&Value::Null)
    }

    /// Processes an event. If it returns an error, the whole event is skipped.
    fn take(&mut self, event: &Value, draft: &mut Draft) -> Result<(), String> {
        let now = self.time(event)?;
        let name = self.field(event, &["name", "event", "event_type", "type"]);
        let name = name.and_then(Value::as_str).ok_or("an event has no `name`")?;
        let name = name.rsplit(':').next().unwrap_or(name).to_lowercase();
        let data = self.data(event);
        let path = self.field(event, &["path_id"]).and_then(integer).unwrap_or(0);
        let key = (self.group(event), path);
        match &name[..] {
            name if METRICS.contains(&name) => {
                let metrics = metrics(data, self.unit)?;
                let flow = self.connection(key, draft).flow;
                for (quantity, value) in metrics {
                    draft.add(flow, now, quantity, value);
                }
            }
            "packet_sent" => {
                let Some(size) = size(data).or_else(|| {
                    let payload = payload(data)?;
                    draft.bare();
                    Some(payload)
                }) else {
                    return Ok(());
                };
                let space = (path, space(data));
                let connection = self.connection(key, draft);
                connection.counts.push((now, Quantity::Sent, size));
                if let Some(number) = packet_number(data) {
                    if connection.out.len() == IN_FLIGHT {
                        connection.out.pop_first();
                    }
                    connection.out.insert((space, number), size);
                }
            }
            "packet_received" => {
                draft.hint = Some(RECEIVER);
                let frames = data.get("frames").and_then(Value::as_array);
                for frame in frames.into_iter().flatten() {
                    // A frame of multipath QUIC acknowledges packets of any path.
                    let path = frame.get("path_id").and_then(integer).unwrap_or(path);
                    let connection = self.connection((key.0.clone(), path), draft);
                    for range in ranges(frame.get("acked_ranges")) {
                        connection.acknowledge(now, (path, space(data)), range);
                    }
                }
            }
            "packets_acked" | "packet_ack" => {
                let connection = self.connection(key, draft);
                let numbers = data.get("packet_numbers").or(data.get("packet_num"));
                for range in ranges(numbers) {
                    connection.acknowledge(now, (path, space(data)), range);
                }
            }
            // mvfst logs several at once.
            "packet_lost" | "packets_lost" => {
                let count = data.get("lost_packets").and_then(number).unwrap_or(1.0);
                let connection = self.connection(key, draft);
                connection.counts.push((now, Quantity::Lost, count));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the time of an event, in seconds.
    fn time(&mut self, event: &Value) -> Result<f64, String> {
        let own = |name| self.field(event, &[name]);
        let delta = match own("time_format").and_then(Value::as_str) {
            Some(format) => is_delta(format),
            None => self.delta || own("delta_time").is_some(),
        };
        let time = self.field(event, &["time", "relative_time", "delta_time"]);
        let time = time.and_then(any_number).filter(|t| t.abs() < 1e16);
        let time = time.ok_or("an event has no number `time`")? * self.unit;
        self.now = if delta { self.now + time } else { time };
        Ok(self.now)
    }

    /// Returns the connection that an event names.
    fn group(&self, event: &Value) -> Option<String> {
        let group = self.field(event, &["group_id"])?;
        let index = group.as_u64().and_then(|i| self.groups.get(i as usize));
        Some(match index.unwrap_or(group) {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }

    fn connection(&mut self, key: Key, draft: &mut Draft) -> &mut Connection {
        let (name, now) = (&self.name, self.now);
        self.flows.entry(key).or_insert_with_key(|(group, path)| {
            let name = match group {
                Some(group) if *group != *name => format!("{name} {group}"),
                _ => name.clone(),
            };
            let name = match path {
                0 => name,
                path => format!("{name}, path {path}"),
            };
            Connection {
                flow: draft.new_flow(&name),
                first: now,
                out: BTreeMap::new(),
                counts: Vec::new(),
            }
        })
    }

    /// Adds the totals, in the order of time.
    fn finish(self, draft: &mut Draft) {
        for mut connection in self.flows.into_values() {
            let flow = connection.flow;
            connection.counts.sort_by(|a, b| a.0.total_cmp(&b.0));
            for quantity in [Quantity::Sent, Quantity::Arrived, Quantity::Lost] {
                let mut total = 0.0;
                for (time, _, more) in connection.counts.iter().filter(|c| c.1 == quantity) {
                    // Losses are single events, so without events there were no losses.
                    if quantity == Quantity::Lost {
                        if total == 0.0 {
                            draft.add(flow, connection.first, quantity, total);
                        }
                        draft.add(flow, *time, quantity, total);
                    }
                    total += more;
                    draft.add(flow, *time, quantity, total);
                }
            }
        }
    }
}

impl Connection {
    fn acknowledge(&mut self, now: f64, space: Space, (first, last): (u64, u64)) {
        let range = self.out.range((space, first)..=(space, last));
        let numbers: Vec<_> = range.map(|(n, _)| *n).collect();
        let sizes = numbers.iter().filter_map(|n| self.out.remove(n));
        let arrived: f64 = sizes.sum();
        if arrived > 0.0 {
            self.counts.push((now, Quantity::Arrived, arrived));
        }
    }
}

fn is_delta(format: &str) -> bool {
    matches!(format, "delta" | "relative_to_previous_event")
}

/// Returns the metrics of an event, by their names in drafts and stacks.
fn metrics(data: &Value, unit: f64) -> Result<Vec<(Quantity, f64)>, String> {
    let known: [(Quantity, f64, &[&str]); 4] = [
        (Quantity::Cwnd, 1.0, &["congestion_window", "cwnd", "current_cwnd"]),
        (Quantity::Ssthresh, 1.0, &["ssthresh"]),
        (Quantity::Rtt, unit, &["smoothed_rtt"]),
        (Quantity::MinRtt, unit, &["min_rtt"]),
    ];
    let mut found = Vec::new();
    for (quantity, unit, names) in known {
        let is_there = |name: &&&str| data.get(**name).is_some_and(|value| !value.is_null());
        let Some(name) = names.iter().find(is_there) else {
            continue;
        };
        let value = number(&data[*name])
            .ok_or_else(|| format!("{} is not a number of at least 0", quote(name)))?;
        // The largest number stands for a value that is not set.
        if value < 1e15 && value != f64::from(u32::MAX) {
            found.push((quantity, value * unit));
        }
    }
    Ok(found)
}

/// Returns the ranges of packets in a list of numbers and ranges, which are lists of one or two
/// numbers.
fn ranges(list: Option<&Value>) -> impl Iterator<Item = (u64, u64)> {
    let one = list.filter(|list| !list.is_array());
    let many = list.and_then(Value::as_array).into_iter().flatten();
    one.into_iter().chain(many).filter_map(|range| {
        let ends = match range {
            Value::Array(ends) => (integer(ends.first()?)?, integer(ends.last()?)?),
            number => (integer(number)?, integer(number)?),
        };
        Some((ends.0.min(ends.1), ends.0.max(ends.1)))
    })
}

/// Returns the size of a packet, whose field differs between versions.
fn size(data: &Value) -> Option<f64> {
    let header = data.get("header");
    let places = [
        data.get("raw").and_then(|raw| raw.get("length")),
        data.get("packet_size"),
        header.and_then(|h| h.get("packet_size")),
        header.and_then(|h| h.get("length")),
    ];
    places.into_iter().flatten().find_map(number)
}

/// Returns the size of the payload of a packet, which some stacks log in place of the whole.
fn payload(data: &Value) -> Option<f64> {
    let places = [data.get("raw"), data.get("header"), Some(data)];
    let mut found = places.into_iter().flatten().filter_map(|p| p.get("payload_length"));
    found.find_map(number)
}

fn packet_number(data: &Value) -> Option<u64> {
    let header = data.get("header").and_then(|h| h.get("packet_number"));
    integer(header.or(data.get("packet_number"))?)
}

/// Returns the number space of a packet: 0 for Initial packets, 1 for Handshake packets, 2 for all
/// others.
fn space(data: &Value) -> u8 {
    let header = data.get("header").and_then(|h| h.get("packet_type"));
    let own = ["packet_type", "packet_number_space", "packet_num_space"];
    let kind = header.or_else(|| own.iter().find_map(|key| data.get(*key)));
    match kind.and_then(Value::as_str).map(str::to_lowercase).as_deref() {
        Some("initial") => 0,
        Some("handshake") => 1,
        _ => 2,
    }
}

/// Returns a finite number. Old versions have numbers as texts.
fn any_number(value: &Value) -> Option<f64> {
    let value = match value {
        Value::String(text) => text.parse().ok()?,
        value => value.as_f64()?,
    };
    value.is_finite().then_some(value)
}

/// Returns a number of at least zero.
fn number(value: &Value) -> Option<f64> {
    any_number(value).filter(|value| (0.0..1e20).contains(value))
}

fn integer(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    }
}
