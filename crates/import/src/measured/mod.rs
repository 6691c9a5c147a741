//! Readers of other programs' measurements of real flows: qlog, `ss -tin`, iperf3, and captures of packets.
//!
//! A reader returns [`Measured`]: flows with timed samples of quantities, or an [`ImportError`]
//! with the place of the error. Damaged records are skipped. [`Measured::remarks`] lists everything
//! left out or missing.

mod draft;
mod iperf;
mod pcap;
mod qlog;
mod records;
mod ss;

use crate::error::ImportError;
use crate::limits;
use crate::text::{decoded_in_part, numbers};
use accord_units::{Words, words};
use draft::Draft;

words! {
    /// A format of measurements.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format by name {
        /// qlog, in JSON text sequences or as one JSON document.
        Qlog = "qlog",
        /// Repeated outputs of `ss -tin`, each after a line with the time.
        Ss = "ss",
        /// The JSON of iperf3.
        Iperf3 = "iperf3",
        /// A capture of packets: pcap or pcapng.
        Pcap = "pcap",
    }
}

impl Format {
    /// The quantities that files of the format may have.
    fn quantities(self) -> &'static [Quantity] {
        use Quantity::{Arrived, Cwnd, Lost, MinRtt, Retransmitted, Rtt, Sent, Ssthresh};
        match self {
            Format::Qlog => &[Cwnd, Ssthresh, Rtt, MinRtt, Sent, Arrived, Lost],
            Format::Ss => &[Cwnd, Ssthresh, Rtt, MinRtt, Sent, Arrived, Retransmitted],
            Format::Iperf3 => &[Cwnd, Rtt, Sent, Arrived, Retransmitted, Lost],
            Format::Pcap => &[Rtt, Sent, Arrived, Retransmitted],
        }
    }

    /// Returns the format of a file's contents, or `None` if it is not recognised.
    pub fn guess(contents: impl AsRef<[u8]>) -> Option<Format> {
        if pcap::is_capture(contents.as_ref()) {
            return Some(Format::Pcap);
        }
        let text = decoded_in_part(contents.as_ref());
        let start = text.trim_start_matches('\u{feff}').trim_start();
        let head: String = start.chars().take(16_000).collect();
        let is_qlog = ["qlog_version", "urn:ietf:params:qlog", "qlog_format", "vantage_point"];
        if start.starts_with('\u{1e}') || is_qlog.iter().any(|key| head.contains(key)) {
            return Some(Format::Qlog);
        }
        let is_iperf3 = ["\"start\"", "\"interval\"", "\"intervals\""];
        if head.starts_with('{') && is_iperf3.iter().any(|key| head.contains(key)) {
            return Some(Format::Iperf3);
        }
        let mut lines = start.lines();
        let first = lines.next()?.trim();
        (ss::time(first).is_some() || ss::stamped(first).is_some()).then_some(Format::Ss)
    }

    /// Returns a hint for a text whose format is not recognised.
    pub fn advice(text: &str) -> String {
        // The head of the table that iperf3 prints for people.
        if text.contains("[ ID]") && text.contains("Interval") {
            return "this is the output of iperf3 for people: write it with iperf3 --json".into();
        }
        format!("name it with --format: {}", Format::words().join(", "))
    }
}

words! {
    /// The quantity of a sample, with the name of its series. A total counts from an arbitrary start; only
    /// its growth has a meaning.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Quantity by name {
        /// The congestion window, in bytes.
        Cwnd = "cwnd",
        /// The slow-start threshold, in bytes.
        Ssthresh = "ssthresh",
        /// The smoothed round-trip time, in seconds.
        Rtt = "rtt",
        /// The smallest round-trip time, in seconds.
        MinRtt = "min_rtt",
        /// The bytes sent, including retransmissions: a total.
        Sent = "sending_rate",
        /// The bytes that arrived for the first time: a total.
        Arrived = "throughput and goodput",
        /// The packets retransmitted: a total.
        Retransmitted = "retransmissions",
        /// The packets declared lost: a total.
        Lost = "losses",
    }
}

impl Quantity {
    /// The quantities whose samples are totals.
    const TOTALS: [Quantity; 4] =
        [Quantity::Sent, Quantity::Arrived, Quantity::Retransmitted, Quantity::Lost];

    /// Returns true if samples are totals.
    pub fn is_total(self) -> bool {
        Quantity::TOTALS.contains(&self)
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
    /// The name in the file.
    pub name: String,
    /// The samples, by time.
    pub samples: Vec<Sample>,
    /// The payload of a full packet in bytes, if the amounts are of payload and the file has it: the
    /// last maximum segment size of the connection.
    pub payload: Option<f64>,
}

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The flows, in the order of the file.
    pub flows: Vec<Flow>,
    /// Omissions and assumptions of the reader, a sentence each.
    pub remarks: Vec<String>,
    /// True if sizes of packets are those of payloads, since the file has no others.
    pub bare: bool,
}

impl Measured {
    /// The time of the last sample, in seconds.
    pub fn length(&self) -> f64 {
        let flows = self.flows.iter();
        let last = flows.filter_map(|f| f.samples.last().map(|s| s.time));
        last.fold(0.0, f64::max)
    }
}

/// Reads measurements.
///
/// # Errors
///
/// Fails if the contents are too large or invalid in that format, or have no measurements.
pub fn read(format: Format, contents: impl AsRef<[u8]>) -> Result<Measured, ImportError> {
    let mut draft = Draft::default();
    if format == Format::Pcap {
        pcap::read(contents.as_ref(), &mut draft);
        return draft.finish(format.quantities());
    }
    // A record with invalid bytes may be damaged, but the others are not.
    let text = decoded_in_part(contents.as_ref());
    let text = limits::check(&text, limits::MEASURED)?;
    match format {
        Format::Pcap => {}
        Format::Qlog => qlog::read(&numbers(text), &mut draft),
        Format::Ss => ss::read(text, &mut draft),
        Format::Iperf3 => iperf::read(&numbers(text), &mut draft),
    }
    draft.finish(format.quantities())
}
