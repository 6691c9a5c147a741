//! Readers of what other programs measured of real flows: qlog, `ss -tin` and iperf3.
//!
//! A reader takes text and returns [`Measured`]: flows with samples of quantities at times, or an
//! [`ImportError`] that says where the text is wrong. What a reader leaves out it says in
//! [`Measured::remarks`].
//!
//! ```
//! use accord_import::measured::{Format, Quantity, read};
//!
//! let text = "1700000000.0\n0 0 10.0.0.1:4000 10.0.0.2:5201\n\t cubic rtt:40.5/2 mss:1448 cwnd:10\n";
//! let measured = read(Format::Ss, text)?;
//! let flow = &measured.flows[0];
//! assert_eq!(flow.name, "10.0.0.1:4000 > 10.0.0.2:5201");
//! assert!(flow.samples.iter().any(|s| s.quantity == Quantity::Cwnd && s.value == 14480.0));
//! # Ok::<(), accord_import::ImportError>(())
//! ```

mod iperf;
mod qlog;
mod ss;

use crate::error::ImportError;
use crate::limits;

/// The most samples that are read.
const SAMPLES: usize = 20_000_000;
/// The most flows.
const FLOWS: usize = 10_000;

/// A format of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// qlog, in JSON text sequences or as one JSON document.
    Qlog,
    /// The output of `ss -tin`, again and again, with the time before each.
    Ss,
    /// The JSON of iperf3.
    Iperf3,
}

impl Format {
    /// The formats, with their names.
    pub const NAMES: [(&'static str, Format); 3] = [
        ("qlog", Format::Qlog),
        ("ss", Format::Ss),
        ("iperf3", Format::Iperf3),
    ];

    /// Returns the format of a text. Returns `None` if it does not tell.
    pub fn guess(text: &str) -> Option<Format> {
        let start = text.trim_start_matches('\u{feff}').trim_start();
        let head: String = start.chars().take(4000).collect();
        let is_qlog = ["qlog_version", "urn:ietf:params:qlog", "qlog_format"];
        if start.starts_with('\u{1e}') || is_qlog.iter().any(|key| head.contains(key)) {
            return Some(Format::Qlog);
        }
        if head.starts_with('{') && (head.contains("\"start\"") || head.contains("\"intervals\"")) {
            return Some(Format::Iperf3);
        }
        let mut lines = start.lines();
        let first = lines.next()?.trim();
        (ss::time(first).is_some()).then_some(Format::Ss)
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(s: &str) -> Result<Format, String> {
        let found = Format::NAMES.iter().find(|(name, _)| *name == s);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let names: Vec<_> = Format::NAMES.iter().map(|(name, _)| *name).collect();
            format!("there is no such format (there are: {})", names.join(", "))
        })
    }
}

/// What a sample is of. A total counts from any zero, and only its growth means anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// The congestion window, in bytes.
    Cwnd,
    /// The slow-start threshold, in bytes.
    Ssthresh,
    /// The smoothed round-trip time, in seconds.
    Rtt,
    /// The smallest round-trip time, in seconds.
    MinRtt,
    /// The bytes that were sent, those sent again included: a total.
    Sent,
    /// The bytes that arrived for the first time: a total.
    Arrived,
    /// The packets that were sent again: a total.
    Retransmitted,
    /// The packets that were taken for lost: a total.
    Lost,
}

impl Quantity {
    /// Returns whether samples are totals.
    pub fn is_total(self) -> bool {
        use Quantity::{Arrived, Lost, Retransmitted, Sent};
        matches!(self, Sent | Arrived | Retransmitted | Lost)
    }
}

/// The value of a quantity at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The time in seconds since the first of all samples.
    pub time: f64,
    /// The quantity.
    pub quantity: Quantity,
    /// The value.
    pub value: f64,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// The name, as the file has it.
    pub name: String,
    /// The samples, by time.
    pub samples: Vec<Sample>,
}

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The flows, in the order in which the file names them.
    pub flows: Vec<Flow>,
    /// What the reader left out or assumed, a sentence each.
    pub remarks: Vec<String>,
}

impl Measured {
    /// The time of the last sample, in seconds.
    pub fn length(&self) -> f64 {
        let flows = self.flows.iter();
        let last = flows.filter_map(|f| f.samples.last().map(|s| s.time));
        last.fold(0.0, f64::max)
    }

    /// Returns the index of the flow of this name, which is made if it is not there.
    fn flow(&mut self, name: &str) -> Result<usize, ImportError> {
        if let Some(at) = self.flows.iter().position(|f| f.name == name) {
            return Ok(at);
        }
        if self.flows.len() == FLOWS {
            let message = format!("there are more than {FLOWS} flows");
            return Err(ImportError::whole(message));
        }
        let name = name.chars().take(limits::NAME).collect();
        self.flows.push(Flow {
            name,
            samples: Vec::new(),
        });
        Ok(self.flows.len() - 1)
    }

    /// Adds a remark, unless it is there.
    fn remark(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.remarks.len() < limits::REMARKS && !self.remarks.contains(&text) {
            self.remarks.push(text);
        }
    }

    /// Counts times from the first sample, and drops flows without any.
    fn finish(mut self) -> Result<Measured, ImportError> {
        let count: usize = self.flows.iter().map(|f| f.samples.len()).sum();
        if count > SAMPLES {
            let message = format!("there are {count} samples; at most {SAMPLES} are read");
            return Err(ImportError::whole(message));
        }
        self.flows.retain(|f| !f.samples.is_empty());
        let all = self.flows.iter().flat_map(|f| &f.samples);
        let first = all.map(|s| s.time).fold(f64::INFINITY, f64::min);
        if !first.is_finite() {
            return Err(ImportError::whole("there is no sample of any flow"));
        }
        for flow in &mut self.flows {
            for sample in &mut flow.samples {
                sample.time -= first;
            }
            flow.samples.sort_by(|a, b| a.time.total_cmp(&b.time));
        }
        Ok(self)
    }
}

/// Reads measurements.
///
/// # Errors
/// Fails if the text is too large or is not of that format, or if nothing was measured.
pub fn read(format: Format, text: &str) -> Result<Measured, ImportError> {
    limits::check_measured(text)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Qlog => qlog::read(text),
        Format::Ss => ss::read(text),
        Format::Iperf3 => iperf::read(text),
    }
}
