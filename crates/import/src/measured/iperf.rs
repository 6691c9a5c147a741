//! The JSON of an iperf3 sender or receiver: one document (`iperf3 --json`), several documents, as
//! a server writes them, or a line per event (`--json-stream`), followed by the document
//! (`--json-stream-full-output`).

use super::Quantity;
use super::draft::Draft;
use super::records::{Records, mend};
use crate::error::{ImportError, quote};
use serde_json::Value;
use std::collections::BTreeMap;

pub fn read(text: &str, draft: &mut Draft) {
    let mut tests = Tests::default();
    let mut records = Records::new(text, is_record);
    let first = records.next();
    if let Some(Err(_)) = first {
        let mut damage = Vec::new();
        let mended = mend(text, "intervals", is_interval, |at, e| damage.push((at, e)));
        if let Some(file) = mended {
            damage.iter().for_each(|(at, e)| draft.damaged_json(text, *at, e));
            draft.remark("The file is truncated or damaged. Its complete part is here.");
            return tests.document(&file, draft);
        }
    }
    for record in first.into_iter().chain(records) {
        match record {
            Ok((_, record)) => tests.take(&record, draft),
            Err((at, e)) => draft.damaged_json(text, at, &e),
        }
    }
}

fn is_record(value: &Value) -> bool {
    let has = |key| value.get(key).is_some();
    has("intervals") || has("event") && has("data")
}

fn is_interval(value: &Value) -> bool {
    let streams = value.get("streams").and_then(Value::as_array);
    streams.is_some_and(|all| all.iter().any(|s| s.get("bytes").is_some()))
}

/// The tests of a file.
#[derive(Default)]
struct Tests {
    /// The number of tests, the time of the first, and the time of the current one since the first,
    /// in seconds.
    count: usize,
    first: Option<f64>,
    offset: f64,
    intervals: usize,
    /// True if the test came as events, after which a document repeats it.
    events: bool,
    /// True after an omitted interval (`--omit`), at whose end the clock of the test restarts.
    omitted: bool,
    /// The payload of a full packet of the test, if it is known.
    payload: Option<f64>,
    /// The flows by their sockets.
    sockets: Vec<(f64, usize)>,
    /// The end of the last interval, in seconds since the start of the test.
    length: f64,
    /// The bytes so far, by flow: bytes sent or received, packets retransmitted and packets lost.
    totals: BTreeMap<usize, [f64; 3]>,
}

impl Tests {
    /// Processes a document or an event.
    fn take(&mut self, record: &Value, draft: &mut Draft) {
        let data = record.get("data").unwrap_or(&Value::Null);
        match record.get("event").and_then(Value::as_str) {
            Some("start") => {
                self.begin(data);
                self.events = true;
            }
            Some("interval") => {
                self.interval(data, draft);
                self.events = true;
            }
            Some("end") => self.end(data, draft),
            Some("error") => self.failed(data, draft),
            Some("server_output_json" | "server_output_text") => server_output(draft),
            Some(_) => {}
            None if record.get("start").or(record.get("intervals")).is_some() => {
                if !std::mem::take(&mut self.events) {
                    self.document(record, draft)
                }
            }
            None => draft.damage(|| ImportError::whole("there is no list `intervals`")),
        }
    }

    fn document(&mut self, file: &Value, draft: &mut Draft) {
        self.begin(file.get("start").unwrap_or(&Value::Null));
        let intervals = file.get("intervals").and_then(Value::as_array);
        let error = file.get("error").filter(|e| e.is_string());
        let Some(intervals) = intervals else {
            if let Some(error) = error {
                return self.failed(error, draft);
            }
            let message = "there is no list `intervals`";
            draft.damage(|| ImportError::whole(message).hint("iperf3 --json writes it"));
            return;
        };
        if ["server_output_json", "server_output_text"].iter().any(|key| file.get(*key).is_some()) {
            server_output(draft);
        }
        for interval in intervals {
            self.interval(interval, draft);
        }
        self.end(file.get("end").unwrap_or(&Value::Null), draft);
        if let Some(error) = error {
            self.failed(error, draft);
        }
    }

    /// Adds the sums of the other end, which has no intervals in the file.
    fn end(&self, end: &Value, draft: &mut Draft) {
        let streams = end.get("streams").and_then(Value::as_array);
        for stream in streams.into_iter().flatten() {
            let sums = |name| stream.get(name).unwrap_or(&Value::Null);
            self.mean(sums("sender"), Quantity::Sent, 1.0, draft);
            self.mean(sums("receiver"), Quantity::Arrived, 1.0, draft);
            // With UDP the bytes are those of the sender, the losses those of the receiver.
            let udp = sums("udp");
            let (lost, packets) = (number(udp, "lost_packets"), number(udp, "packets"));
            if let (Some(lost), Some(packets)) = (lost, packets)
                && packets > 0.0
                && self.of(udp).is_some_and(|flow| draft.has(flow, Quantity::Sent))
            {
                self.mean(udp, Quantity::Arrived, 1.0 - lost / packets, draft);
                self.total(udp, Quantity::Lost, lost, draft);
            }
        }
    }

    /// Returns the flow of sums or of an interval, if it has intervals.
    fn of(&self, stream: &Value) -> Option<usize> {
        let socket = number(stream, "socket")?;
        let mut all = self.sockets.iter();
        all.find(|(known, _)| *known == socket).map(|(_, flow)| *flow)
    }

    /// Adds the mean rate of a part of the bytes of sums.
    fn mean(&self, sums: &Value, quantity: Quantity, part: f64, draft: &mut Draft) {
        let numbers = ["start", "end", "bytes"].map(|name| number(sums, name));
        let [Some(start), Some(end), Some(bytes)] = numbers else {
            return;
        };
        if end > start && bytes > 0.0 {
            // The sums cover a few milliseconds more than the intervals.
            let length = self.length / (end - start);
            self.total(sums, quantity, bytes * part * length, draft);
        }
    }

    /// Adds a total that grows evenly during the intervals, unless the intervals contain it.
    fn total(&self, sums: &Value, quantity: Quantity, value: f64, draft: &mut Draft) {
        let Some(flow) = self.of(sums).filter(|flow| !draft.has(*flow, quantity)) else {
            return;
        };
        draft.add(flow, self.offset, quantity, 0.0);
        draft.add(flow, self.offset + self.length, quantity, value);
        draft.remark(
            "Series of the other end are means over the whole test: iperf3 reports them at its end only.",
        );
    }

    /// Begins a test, whose times count from its own start.
    fn begin(&mut self, start: &Value) {
        let mss = number(start, "tcp_mss").or_else(|| number(start, "tcp_mss_default"));
        let payload = mss.filter(|mss| (1.0..=65_535.0).contains(mss));
        let stamp = start.get("timestamp");
        let part = |name| number(stamp?, name);
        let milliseconds = part("timemillisecs").map(|ms| ms * 1e-3);
        let now = milliseconds.or(part("timesecs"));
        self.first = self.first.or(now);
        *self = Tests {
            count: self.count + 1,
            first: self.first,
            payload,
            offset: now.zip(self.first).map_or(0.0, |(now, first)| now - first),
            ..Tests::default()
        };
    }

    /// Processes an abnormal end reported by iperf3.
    fn failed(&self, error: &Value, draft: &mut Draft) {
        let error = quote(error.as_str().unwrap_or(""));
        match self.intervals {
            0 => draft.damage(|| ImportError::whole(format!("iperf3 failed: {error}"))),
            _ => draft.remark(format!(
                "iperf3 ended early: {error}. Its measurements until then are here."
            )),
        }
    }

    fn interval(&mut self, interval: &Value, draft: &mut Draft) {
        let place = format!("intervals[{}]", self.intervals);
        self.intervals += 1;
        let Some(streams) = interval.get("streams").and_then(Value::as_array) else {
            draft.damage(|| ImportError::whole(format!("{place} has no list `streams`")));
            return;
        };
        for (j, stream) in streams.iter().enumerate() {
            if stream.get("omitted").and_then(Value::as_bool) == Some(true) {
                draft.remark("Intervals omitted by iperf3 (--omit) are left out.");
                self.omitted = true;
                continue;
            }
            match Part::of(stream) {
                Ok(part) => self.add(stream, part, draft),
                Err(what) => {
                    let message = format!("{place}.streams[{j}] {what}");
                    draft.damage(|| ImportError::whole(message));
                }
            }
        }
        draft.remark("Rates are those of the application's data, without headers.");
    }

    /// Adds an interval of a stream.
    fn add(&mut self, stream: &Value, part: Part, draft: &mut Draft) {
        let flow = draft.flow(&match self.count {
            0 | 1 => format!("stream {}", part.socket),
            n => format!("test {n}, stream {}", part.socket),
        });
        draft.payload(flow, self.payload);
        let known = self.totals.contains_key(&flow);
        if !known {
            self.sockets.push((part.socket, flow));
        }
        self.length = self.length.max(part.end);
        // iperf3 3.12 gives its first interval the start of an omitted one.
        let start = if self.omitted && !known { 0.0 } else { part.start };
        let (start, end) = (self.offset + start, self.offset + part.end);
        let quantity = match stream.get("sender").and_then(Value::as_bool) {
            Some(false) => Quantity::Arrived,
            _ => Quantity::Sent,
        };
        let totals = self.totals.entry(flow).or_default();
        let more = [
            (quantity, Some(part.bytes)),
            (Quantity::Retransmitted, number(stream, "retransmits")),
            (Quantity::Lost, number(stream, "lost_packets")),
        ];
        for ((quantity, more), total) in more.into_iter().zip(totals) {
            let Some(more) = more else { continue };
            if !known {
                draft.add(flow, start, quantity, 0.0);
            }
            *total += more;
            draft.add(flow, end, quantity, *total);
        }
        for (name, quantity, unit) in
            [("snd_cwnd", Quantity::Cwnd, 1.0), ("rtt", Quantity::Rtt, 1e-6)]
        {
            if let Some(value) = number(stream, name) {
                draft.add(flow, end, quantity, value * unit);
            }
        }
    }
}

/// The fields common to all intervals of a stream.
struct Part {
    socket: f64,
    start: f64,
    end: f64,
    bytes: f64,
}

impl Part {
    fn of(stream: &Value) -> Result<Part, String> {
        let need = |name| number(stream, name).ok_or_else(|| format!("has no number `{name}`"));
        let part = Part {
            socket: need("socket")?,
            start: need("start")?,
            end: need("end")?,
            bytes: need("bytes")?,
        };
        if part.end < part.start { Err("ends before it starts".into()) } else { Ok(part) }
    }
}

fn server_output(draft: &mut Draft) {
    draft.remark("The output of the server, which the file also has, is left out.");
}

/// Returns a number of at least zero.
fn number(object: &Value, name: &str) -> Option<f64> {
    let value = object.get(name)?.as_f64()?;
    (value.is_finite() && (0.0..1e18).contains(&value)).then_some(value)
}
