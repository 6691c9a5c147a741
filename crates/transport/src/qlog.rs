//! The log of a stream's sender as qlog events [draft-ietf-quic-qlog-quic-events-13], in JSON text sequences
//! [RFC 7464].
//!
//! A stream is not QUIC, but is described in terms of QUIC. Each transmission is a packet with a
//! number of its own. Data is a stream frame. An acknowledgement is a packet with an ACK frame for
//! the packets that it is the first to report.
//!
//! | event | when |
//! |---|---|
//! | `packet_sent` | a packet leaves, for the first time or again |
//! | `packet_received` | an acknowledgement arrives |
//! | `packet_lost` | the repair of a packet leaves; the loss was found then or earlier |
//! | `recovery_metrics_updated` | a metric has changed, after an acknowledgement or a time-out |
//! | `congestion_state_updated` | the state has changed, after the same |
//!
//! The states are those of RFC 9002 §7.3: `slow_start`, `congestion_avoidance` and `recovery`. While a controller has no
//! slow-start threshold, its state is the one that its family declares, such as `probe_rtt` of BBR, or
//! `no_ssthresh`. The other variables of the family are metrics under their full names, such as
//! `bbr3.max_bw`, which extends the schema as it allows.

use crate::{Segment, stream};
use accord_control::Controller;
use accord_family::Inner;
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A stream's sender with a log. It behaves as the sender without a log.
#[derive(Clone, Debug)]
pub struct Logged {
    sender: stream::StreamSender,
    /// The records that have not yet been taken.
    text: String,
    /// The latest transmission of each packet that is not known to have arrived.
    out: BTreeMap<u64, u64>,
    /// The number of the next transmission, and of the next acknowledgement.
    next: u64,
    heard: u64,
    /// The first packet that was never sent.
    fresh: u64,
    /// The number of time-outs when the last loss was logged.
    timeouts: u64,
    reported: Metrics,
    state: Option<&'static str>,
    /// The variables of the controller, with their values now and as last logged.
    inner: &'static [Inner],
    values: Vec<f64>,
    logged: Vec<f64>,
}

/// The metrics as last logged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Metrics {
    min_rtt: Option<Duration>,
    smoothed_rtt: Option<Duration>,
    latest_rtt: Option<Duration>,
    congestion_window: Option<Bytes>,
    bytes_in_flight: Option<Bytes>,
    ssthresh: Option<Bytes>,
    pacing_rate: Option<Rate>,
}

impl Logged {
    /// Creates the log of a sender that has sent nothing. `inner` are the variables of its controller's family.
    pub fn new(sender: stream::StreamSender, inner: &'static [Inner]) -> Logged {
        Logged {
            sender,
            text: String::new(),
            out: BTreeMap::new(),
            next: 0,
            heard: 0,
            fresh: 0,
            timeouts: 0,
            reported: Metrics::default(),
            state: None,
            inner,
            values: Vec::new(),
            logged: vec![f64::NAN; inner.len()],
        }
    }

    /// The sender.
    pub fn sender(&self) -> &stream::StreamSender {
        &self.sender
    }

    /// The sender, for calls that are not logged.
    pub fn sender_mut(&mut self) -> &mut stream::StreamSender {
        &mut self.sender
    }

    /// Takes the records since the last call.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Calls [`stream::StreamSender::poll`], and logs it.
    pub fn poll(&mut self, now: Time) -> Result<Segment, Time> {
        let polled = self.sender.poll(now);
        if let Ok(Segment::Data { number, .. }) = polled {
            self.sent(number, now);
        }
        polled
    }

    /// Calls [`stream::StreamSender::on_wake`], and logs it.
    pub fn on_wake(&mut self, now: Time) {
        let timeouts = self.sender.timeouts();
        self.sender.on_wake(now);
        if self.sender.timeouts() > timeouts {
            self.measure(now);
        }
    }

    /// Calls [`stream::StreamSender::on_ack`], and logs it.
    pub fn on_ack(
        &mut self,
        next: u64,
        block: u32,
        block_len: u32,
        echo: Time,
        marked: u32,
        now: Time,
    ) {
        self.received(next, block, block_len, marked, now);
        (self.sender).on_ack(next, block, block_len, echo, marked, now);
        self.measure(now);
    }

    fn sent(&mut self, number: u64, now: Time) {
        let size = self.sender.packet().get();
        if number < self.fresh {
            self.lost(number, now);
        }
        self.fresh = self.fresh.max(number + 1);
        let (packet, offset) = (self.next, number * size);
        self.next += 1;
        self.out.insert(number, packet);
        self.record(
            now,
            "packet_sent",
            format_args!(
                r#""header":{{"packet_type":"1RTT","packet_number":{packet}}},"raw":{{"length":{size}}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":{offset},"raw":{{"length":{size}}}}}]"#
            ),
        );
    }

    /// Logs a retransmission, and the loss of the previous transmission.
    fn lost(&mut self, number: u64, now: Time) {
        let Some(packet) = self.out.remove(&number) else {
            return;
        };
        let trigger = if self.sender.timeouts() > self.timeouts {
            "pto_expired"
        } else {
            "reordering_threshold"
        };
        self.timeouts = self.sender.timeouts();
        self.record(
            now,
            "packet_lost",
            format_args!(
                r#""header":{{"packet_type":"1RTT","packet_number":{packet}}},"trigger":"{trigger}""#
            ),
        );
    }

    fn received(&mut self, next: u64, block: u32, block_len: u32, marked: u32, now: Time) {
        let number = self.heard;
        self.heard += 1;
        let beyond = self.out.split_off(&next.min(self.fresh));
        let mut arrived: Vec<u64> =
            std::mem::replace(&mut self.out, beyond).into_values().collect();
        let from = next.saturating_add(u64::from(block));
        let block = from..from.saturating_add(u64::from(block_len));
        let of_block: Vec<u64> = self.out.range(block).map(|(number, _)| *number).collect();
        arrived.extend(of_block.iter().filter_map(|number| self.out.remove(number)));
        arrived.sort_unstable();
        let mut ranges = String::new();
        for run in arrived.chunk_by(|a, b| a + 1 == *b) {
            let comma = if ranges.is_empty() { "" } else { "," };
            let (first, last) = (run[0], run[run.len() - 1]);
            let _ = if first == last {
                write!(ranges, "{comma}[{first}]")
            } else {
                write!(ranges, "{comma}[{first},{last}]")
            };
        }
        let ranges =
            if ranges.is_empty() { ranges } else { format!(r#","acked_ranges":[{ranges}]"#) };
        let marks = match marked {
            0 => String::new(),
            n => format!(r#","ce":{n}"#),
        };
        self.record(
            now,
            "packet_received",
            format_args!(
                r#""header":{{"packet_type":"1RTT","packet_number":{number}}},"frames":[{{"frame_type":"ack","ack_delay":0{ranges}{marks}}}]"#
            ),
        );
    }

    /// Logs the metrics and states that have changed.
    fn measure(&mut self, now: Time) {
        self.values.clear();
        self.sender.controller().inner(&mut self.values);
        let state = self.state();
        if let Some(old) = self.state.filter(|old| *old != state) {
            let both = format_args!(r#""old":"{old}","new":"{state}""#);
            record(&mut self.text, now, "congestion_state_updated", both);
        } else if self.state.is_none() {
            let new = format_args!(r#""new":"{state}""#);
            record(&mut self.text, now, "congestion_state_updated", new);
        }
        self.state = Some(state);
        let (metrics, reported) = (self.metrics(), self.reported);
        let mut text = String::new();
        let rtts = [
            ("min_rtt", metrics.min_rtt, reported.min_rtt),
            ("smoothed_rtt", metrics.smoothed_rtt, reported.smoothed_rtt),
            ("latest_rtt", metrics.latest_rtt, reported.latest_rtt),
        ];
        for (name, new, old) in rtts {
            if let Some(new) = new.filter(|_| new != old) {
                let _ = write!(text, r#","{name}":{}"#, new.as_ms_f64());
            }
        }
        let bytes = |b: Option<Bytes>| b.map(Bytes::get);
        let rate = |r: Option<Rate>| r.map(Rate::as_bps);
        let (window, old_window) = (metrics.congestion_window, reported.congestion_window);
        let (flight, old_flight) = (metrics.bytes_in_flight, reported.bytes_in_flight);
        let counts = [
            ("congestion_window", bytes(window), bytes(old_window)),
            ("bytes_in_flight", bytes(flight), bytes(old_flight)),
            ("ssthresh", bytes(metrics.ssthresh), bytes(reported.ssthresh)),
            ("pacing_rate", rate(metrics.pacing_rate), rate(reported.pacing_rate)),
        ];
        for (name, new, old) in counts {
            if let Some(new) = new.filter(|_| new != old) {
                let _ = write!(text, r#","{name}":{new}"#);
            }
        }
        self.reported = metrics;
        // A variable has no value before its first one.
        for ((variable, new), old) in self.inner.iter().zip(&self.values).zip(&mut self.logged) {
            if variable.states().is_empty() && new.is_finite() && new != old {
                let _ = write!(text, r#","{}":{new}"#, variable.name);
                *old = *new;
            }
        }
        if let Some(text) = text.strip_prefix(',') {
            self.record(now, "recovery_metrics_updated", format_args!("{text}"));
        }
    }

    fn metrics(&self) -> Metrics {
        let (controller, rtt) = (self.sender.controller(), self.sender.round_trip());
        let allowance = controller.allowance();
        let sampled = !rtt.smoothed().is_zero();
        Metrics {
            min_rtt: sampled.then(|| rtt.min()),
            smoothed_rtt: sampled.then(|| rtt.smoothed()),
            latest_rtt: sampled.then(|| rtt.latest()),
            congestion_window: Some(controller.cwnd()),
            bytes_in_flight: Some(self.sender.bytes_in_flight()),
            ssthresh: controller.ssthresh(),
            pacing_rate: allowance.pacing,
        }
    }

    fn state(&self) -> &'static str {
        let controller = self.sender.controller();
        let Some(threshold) = controller.ssthresh() else {
            return self.declared().unwrap_or("no_ssthresh");
        };
        match controller.cwnd() < threshold {
            _ if self.sender.is_recovering() => "recovery",
            true => "slow_start",
            false => "congestion_avoidance",
        }
    }

    /// The state of the controller by its own names.
    fn declared(&self) -> Option<&'static str> {
        let mut values = self.inner.iter().zip(&self.values).filter(|(_, value)| value.is_finite());
        values.find_map(|(variable, value)| variable.states().get(*value as usize).copied())
    }

    fn record(&mut self, now: Time, name: &str, data: std::fmt::Arguments) {
        record(&mut self.text, now, name, data);
    }
}

/// Appends a record of an event.
fn record(text: &mut String, now: Time, name: &str, data: std::fmt::Arguments) {
    let ms = now.since_start().as_ms_f64();
    // Writing to a text does not fail.
    let _ = writeln!(text, "\u{1e}{{\"time\":{ms},\"name\":\"quic:{name}\",\"data\":{{{data}}}}}");
}
