//! What engines that run packets know of flows and links at the instant of a sample, and the
//! values that are recorded of it.

use crate::metric::Metric;
use accord_units::{Bytes, Duration, Rate};

/// A flow at the instant of a sample: sums since the start of the run, and its state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowReading {
    /// It has started, and has not both stopped and left the network.
    pub active: bool,
    /// Data bytes sent.
    pub sent: u64,
    /// Data bytes delivered.
    pub delivered: u64,
    /// Data bytes delivered for the first time.
    pub fresh: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Packets of any kind that were dropped or lost on the way.
    pub losses: u64,
    /// Bytes queued on its path [Xia05 eq. 1].
    pub accumulation: u64,
    /// Congestion window.
    pub cwnd: Option<Bytes>,
    /// Slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// Smoothed round-trip time.
    pub rtt: Option<Duration>,
    /// Base round-trip time as estimated.
    pub min_rtt: Option<Duration>,
    /// Accumulation as estimated, in bytes.
    pub accumulation_estimate: Option<f64>,
}

/// A directed link at the instant of a sample: sums since the start of the run, and its state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkReading {
    /// Bytes served.
    pub served: u64,
    /// Packets offered.
    pub offered: u64,
    /// Packets dropped, by the discipline or for want of room.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Packets marked or dropped by the discipline.
    pub judged: u64,
    /// Packets queued.
    pub packets: u64,
    /// Bytes queued.
    pub backlog: Bytes,
    /// Service rate.
    pub rate: Rate,
    /// Price in seconds, where the discipline has one of its own.
    pub price: Option<f64>,
    /// Virtual delay.
    pub virtual_delay: Duration,
}

impl LinkReading {
    /// Nothing happened yet at a link of this rate.
    pub fn idle(rate: Rate) -> LinkReading {
        LinkReading {
            served: 0,
            offered: 0,
            drops: 0,
            marks: 0,
            judged: 0,
            packets: 0,
            backlog: Bytes::ZERO,
            rate,
            price: None,
            virtual_delay: Duration::ZERO,
        }
    }

    /// The values of all metrics of links, in their order, for the `period` seconds since the
    /// reading `last`.
    pub(crate) fn record(&self, last: &LinkReading, period: f64, row: &mut Vec<f64>) {
        let capacity = self.rate.as_bps_f64();
        let delay = self.backlog.bits_f64() / capacity;
        for metric in Metric::ALL.iter().filter(|m| m.of_links()) {
            row.push(match metric {
                Metric::Backlog => self.backlog.as_f64(),
                Metric::BacklogPackets => self.packets as f64,
                Metric::QueuingDelay => delay,
                Metric::Utilisation => (self.served - last.served) as f64 * 8.0 / period / capacity,
                Metric::Drops => (self.drops - last.drops) as f64,
                Metric::Marks => (self.marks - last.marks) as f64,
                Metric::MarkingProbability => {
                    (self.judged - last.judged) as f64 / (self.offered - last.offered) as f64
                }
                Metric::Price => (self.price).unwrap_or(delay + self.virtual_delay.as_secs_f64()),
                _ => f64::NAN,
            });
        }
    }
}

impl FlowReading {
    /// The values of all metrics of flows, in their order, for the `period` seconds since the
    /// reading `last`.
    pub(crate) fn record(&self, last: &FlowReading, period: f64, row: &mut Vec<f64>) {
        let rate = |now: u64, then: u64| (now - then) as f64 * 8.0 / period;
        let bytes = |b: Option<Bytes>| b.map_or(f64::NAN, Bytes::as_f64);
        let seconds = |d: Option<Duration>| d.map_or(f64::NAN, Duration::as_secs_f64);
        for metric in Metric::ALL.iter().filter(|m| !m.of_links()) {
            row.push(match metric {
                _ if !self.active => f64::NAN,
                Metric::Throughput => rate(self.delivered, last.delivered),
                Metric::Goodput => rate(self.fresh, last.fresh),
                Metric::SendingRate => rate(self.sent, last.sent),
                Metric::Cwnd => bytes(self.cwnd),
                Metric::Ssthresh => bytes(self.ssthresh),
                Metric::Rtt => seconds(self.rtt),
                Metric::MinRtt => seconds(self.min_rtt),
                Metric::Accumulation => self.accumulation as f64,
                Metric::AccumulationEstimate => self.accumulation_estimate.unwrap_or(f64::NAN),
                Metric::Retransmissions => (self.retransmissions - last.retransmissions) as f64,
                Metric::Losses => (self.losses - last.losses) as f64,
                _ => f64::NAN,
            });
        }
    }
}
