//! What engines that run packets know of flows and links at the instant of a sample, and the
//! values that are recorded of it.

use crate::metric::{Metric, Of};
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
#[derive(Clone, Debug, PartialEq)]
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
    /// The discipline's average of the signal that bandwidth is left, where it has one.
    pub excess_bandwidth: Option<f64>,
    /// What the discipline knows of each aggregate, if it tells them apart.
    pub aggregates: Vec<AggregateReading>,
}

/// An aggregate at a link at the instant of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AggregateReading {
    /// Probability that its next packet joins the queue.
    pub transmit_probability: f64,
    /// Bytes that came since the start of the run.
    pub offered: u64,
    /// Bytes that joined the queue.
    pub admitted: u64,
    /// The decrease factor in force, times the rate of the link.
    pub decrease_factor: f64,
    /// Its rate over that of those it is measured against, where something measures it.
    pub rate_ratio: Option<f64>,
}

impl AggregateReading {
    /// The values of all metrics of aggregates, in their order, for the `period` seconds since
    /// the reading `last`.
    pub(crate) fn record(&self, last: &AggregateReading, period: f64, row: &mut Vec<f64>) {
        let rate = |now: u64, then: u64| (now - then) as f64 * 8.0 / period;
        for metric in Metric::ALL.iter().filter(|m| m.of() == Of::Aggregate) {
            row.push(match metric {
                Metric::TransmitProbability => self.transmit_probability,
                Metric::OfferedRate => rate(self.offered, last.offered),
                Metric::AdmittedRate => rate(self.admitted, last.admitted),
                Metric::DecreaseFactor => self.decrease_factor,
                Metric::RateRatio => self.rate_ratio.unwrap_or(f64::NAN),
                _ => f64::NAN,
            });
        }
    }
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
            excess_bandwidth: None,
            aggregates: Vec::new(),
        }
    }

    /// The values of `metrics`, in their order, for the `period` seconds since the reading
    /// `last`. How fair its aggregates' rates are, it is told.
    pub(crate) fn record(
        &self,
        last: &LinkReading,
        period: f64,
        metrics: &[Metric],
        fairness: impl Fn() -> f64,
        row: &mut Vec<f64>,
    ) {
        let capacity = self.rate.as_bps_f64();
        let delay = self.backlog.bits_f64() / capacity;
        for metric in metrics {
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
                Metric::AggregateFairness => fairness(),
                Metric::ExcessBandwidth => self.excess_bandwidth.unwrap_or(f64::NAN),
                _ => f64::NAN,
            });
        }
    }
}

impl FlowReading {
    /// The sum of two flows, of what makes sense as one.
    pub(crate) fn plus(&self, other: &FlowReading) -> FlowReading {
        FlowReading {
            active: self.active || other.active,
            sent: self.sent + other.sent,
            delivered: self.delivered + other.delivered,
            fresh: self.fresh + other.fresh,
            retransmissions: self.retransmissions + other.retransmissions,
            losses: self.losses + other.losses,
            accumulation: self.accumulation + other.accumulation,
            ..FlowReading::default()
        }
    }

    /// Its rate of delivery for the `period` seconds since the reading `last`, in bit/s; no number
    /// for a flow that is not active.
    pub(crate) fn throughput(&self, last: &FlowReading, period: f64) -> f64 {
        match self.active {
            true => (self.delivered - last.delivered) as f64 * 8.0 / period,
            false => f64::NAN,
        }
    }

    /// The values of `metrics`, in their order, for the `period` seconds since the reading
    /// `last`.
    pub(crate) fn record(
        &self,
        metrics: &[Metric],
        last: &FlowReading,
        period: f64,
        row: &mut Vec<f64>,
    ) {
        let throughput = self.throughput(last, period);
        let rate = |now: u64, then: u64| (now - then) as f64 * 8.0 / period;
        let bytes = |b: Option<Bytes>| b.map_or(f64::NAN, Bytes::as_f64);
        let seconds = |d: Option<Duration>| d.map_or(f64::NAN, Duration::as_secs_f64);
        for metric in metrics {
            row.push(match metric {
                _ if !self.active => f64::NAN,
                Metric::Throughput => throughput,
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
