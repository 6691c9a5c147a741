//! The readings of flows and links at the instant of a sample, from engines that run packets. The
//! metrics recorded from them are in one table per kind of entity.

use accord_scenario::Metric;
use accord_units::{Bytes, Duration};

/// The reading of a flow at the instant of a sample: sums since the start of the run, and its
/// state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowReading {
    /// True from the start of the flow until it has stopped and none of its data is in flight.
    pub active: bool,
    /// The data bytes sent.
    pub sent: u64,
    /// The data bytes delivered.
    pub delivered: u64,
    /// The data bytes delivered for the first time.
    pub fresh: u64,
    /// The delays of the data delivered, if they are known.
    pub delays: Option<Delays>,
    /// The packets sent again.
    pub retransmissions: u64,
    /// The number of packets of any kind that were dropped or lost on the way.
    pub losses: u64,
    /// The data bytes that were dropped or lost on the way.
    pub lost: u64,
    /// The bytes queued on its path [Xia05 eq. 1].
    pub accumulation: u64,
    /// The congestion window.
    pub cwnd: Option<Bytes>,
    /// The slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// The smoothed round-trip time.
    pub rtt: Option<Duration>,
    /// The estimated base round-trip time.
    pub min_rtt: Option<Duration>,
    /// The estimated accumulation, in bytes.
    pub accumulation_estimate: Option<f64>,
    /// The bytes that wait at the edge of a tunnel, and the packets that its queue has dropped.
    pub edge: Option<(u64, u64)>,
}

/// Declares the counters of [`FlowReading`] that are differences between samples and sums over flows.
macro_rules! counters {
    ($($counter:ident),*) => {
        /// The sums of a [`FlowReading`], for comparison with the next one.
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct Counts {
            $($counter: u64,)*
            delays: Delays,
            pub(crate) accumulation: u64,
            edge_drops: u64,
        }

        impl FlowReading {
            /// Returns the sums.
            pub(crate) fn counts(&self) -> Counts {
                Counts {
                    $($counter: self.$counter,)*
                    delays: self.delays.unwrap_or_default(),
                    accumulation: self.accumulation,
                    edge_drops: self.edge.map_or(0, |(_, drops)| drops),
                }
            }

            /// Updates a sum over flows, after the reading of one of them has changed from `last` to `now`.
            /// Only fields that add up over flows change.
            pub(crate) fn change(&mut self, last: &Counts, now: &FlowReading) {
                $(self.$counter += now.$counter - last.$counter;)*
                if let Some(now) = now.delays {
                    let last = last.delays;
                    let sum = self.delays.get_or_insert_default();
                    sum.packets += now.packets - last.packets;
                    sum.total += now.total - last.total;
                    sum.queuing += now.queuing - last.queuing;
                }
                self.accumulation = self.accumulation - last.accumulation + now.accumulation;
            }
        }
    };
}

counters!(sent, delivered, fresh, retransmissions, losses, lost);

/// The delays of data packets that were delivered, as sums since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delays {
    /// The number of packets.
    pub packets: u64,
    /// The time from the sender to the receiver, in picoseconds.
    pub total: f64,
    /// The excess over the time with empty queues, in picoseconds.
    pub queuing: f64,
}

impl Delays {
    /// Adds a packet that was delivered after `delay`. With empty queues it would have taken
    /// `one_way`.
    #[inline]
    pub fn add(&mut self, delay: Duration, one_way: Duration) {
        self.packets += 1;
        // The conversion of a signed integer is one instruction.
        let ps = |span: Duration| span.as_ps() as i64 as f64;
        self.total += ps(delay);
        self.queuing += ps(delay.saturating_sub(one_way));
    }
}

/// The reading of a directed link at the instant of a sample: sums since the start of the run, and
/// its state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkReading {
    /// The bytes sent, including the sent part of the packet in service.
    pub served: f64,
    /// The packets offered.
    pub offered: u64,
    /// The number of packets dropped by the discipline or because they did not fit.
    pub drops: u64,
    /// The packets marked.
    pub marks: u64,
    /// The number of packets marked or dropped by the discipline.
    pub judged: u64,
    /// The most packets and bytes at the port since the previous reading, including those in
    /// service.
    pub longest: (u64, u64),
    /// The number of waiting packets, without the one in service, integrated over time in
    /// picoseconds.
    pub packet_area: u128,
    /// The number of waiting bytes, integrated in the same way.
    pub area: u128,
    /// The part of that integral due to packets that were dropped after waiting.
    pub in_vain: u128,
    /// The part of `in_vain` that is not yet taken off a served backlog.
    pub owed: u128,
    /// The price in seconds, if the discipline has its own price.
    pub price: Option<f64>,
    /// The virtual delay.
    pub virtual_delay: Duration,
    /// The discipline's average of the excess-bandwidth signal, if it has one.
    pub excess_bandwidth: Option<f64>,
    /// The discipline's state of each aggregate, if it distinguishes them.
    pub aggregates: Vec<AggregateReading>,
}

impl LinkReading {
    /// Returns the waiting bytes since the reading `last`, integrated over time, and the wait that is to be taken
    /// off them.
    fn due(&self, last: &LinkReading) -> (u128, u128) {
        (self.area.saturating_sub(last.area), last.owed + (self.in_vain - last.in_vain))
    }

    /// Carries over the wait that the time since the reading `last` does not have.
    pub(crate) fn carry(&mut self, last: &LinkReading) {
        let (area, vain) = self.due(last);
        self.owed = vain.saturating_sub(area);
    }
}

/// The reading of an aggregate at a link at the instant of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AggregateReading {
    /// The probability that the next packet joins the queue.
    pub transmit_probability: f64,
    /// The bytes that arrived since the start of the run.
    pub offered: u64,
    /// The bytes that joined the queue.
    pub admitted: u64,
    /// The decrease factor in force, times the rate of the link.
    pub decrease_factor: f64,
    /// The ratio of the aggregate's rate to that of the reference, if the discipline measures it.
    pub rate_ratio: Option<f64>,
}

/// A row of the tables below: a metric that is read from readings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read<F: 'static> {
    pub metric: Metric,
    /// The condition on the scenario under which the metric is recorded.
    pub needs: Needs,
    value: F,
}

/// A condition on a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Needs {
    Nothing,
    /// A flow is a tunnel between gateways.
    Tunnels,
    /// Fairness indices of aggregates are recorded.
    AggregateFairness,
    /// The discipline of a recorded link distinguishes aggregates.
    Aggregates,
}

pub(crate) type FlowMetric = Read<fn(&FlowPeriod<'_>) -> f64>;
pub(crate) type LinkMetric = Read<fn(&LinkPeriod<'_>) -> f64>;
/// A function of two successive readings and the time between them in seconds.
pub(crate) type AggregateMetric = Read<fn(&AggregateReading, &AggregateReading, f64) -> f64>;

const fn read<F>(metric: Metric, value: F) -> Read<F> {
    read_if(Needs::Nothing, metric, value)
}

const fn read_if<F>(needs: Needs, metric: Metric, value: F) -> Read<F> {
    Read { metric, needs, value }
}

/// The metrics of flows. A value is NaN for a flow that was not active in the period.
pub(crate) const OF_FLOWS: &[FlowMetric] = &[
    read(Metric::Throughput, |f| f.rate(|c| c.delivered)),
    read(Metric::Goodput, |f| f.rate(|c| c.fresh)),
    read(Metric::SendingRate, |f| f.rate(|c| c.sent)),
    read(Metric::Cwnd, |f| f.state(f.now.cwnd.map(Bytes::as_f64))),
    read(Metric::Ssthresh, |f| f.state(f.now.ssthresh.map(Bytes::as_f64))),
    read(Metric::Rtt, |f| f.state(f.now.rtt.map(Duration::as_secs_f64))),
    read(Metric::MinRtt, |f| f.state(f.now.min_rtt.map(Duration::as_secs_f64))),
    read(Metric::Accumulation, |f| f.now.accumulation as f64),
    read(Metric::AccumulationEstimate, |f| f.state(f.now.accumulation_estimate)),
    read(Metric::Retransmissions, |f| f.count(|c| c.retransmissions)),
    read(Metric::Losses, |f| f.count(|c| c.losses)),
    read(Metric::LostRate, |f| f.rate(|c| c.lost)),
    read(Metric::Deliveries, |f| f.delays(|d| d.packets as f64)),
    read(Metric::DelaySum, |f| f.delays(|d| d.total * 1e-12)),
    read(Metric::QueuingSum, |f| f.delays(|d| d.queuing * 1e-12)),
    read_if(Needs::Tunnels, Metric::EdgeBacklog, |f| f.at_edge(|bytes, _| bytes as f64)),
    read_if(Needs::Tunnels, Metric::EdgeDrops, |f| {
        f.at_edge(|_, drops| (drops - f.last.edge_drops) as f64)
    }),
];

/// The metrics of links.
pub(crate) const OF_LINKS: &[LinkMetric] = &[
    read(Metric::Backlog, |l| l.backlog()),
    read(Metric::ServedBacklog, |l| l.served_backlog()),
    read(Metric::BacklogPackets, |l| l.mean(|r| r.packet_area)),
    read(Metric::BacklogMax, |l| l.now.longest.1 as f64),
    read(Metric::BacklogPacketsMax, |l| l.now.longest.0 as f64),
    read(Metric::ServedRate, |l| (l.now.served - l.last.served) * 8.0 / l.period),
    read(Metric::Arrivals, |l| l.count(|r| r.offered)),
    read(Metric::Drops, |l| l.count(|r| r.drops)),
    read(Metric::Marks, |l| l.count(|r| r.marks)),
    read(Metric::Judged, |l| l.count(|r| r.judged)),
    read(Metric::Price, |l| l.price()),
    read_if(Needs::AggregateFairness, Metric::AggregateFairness, |l| (l.fairness)()),
    read_if(Needs::Aggregates, Metric::ExcessBandwidth, |l| {
        l.now.excess_bandwidth.unwrap_or(f64::NAN)
    }),
];

/// The metrics of aggregates.
pub(crate) const OF_AGGREGATES: &[AggregateMetric] = &[
    read(Metric::TransmitProbability, |now, _, _| now.transmit_probability),
    read(Metric::OfferedRate, |now, last, s| (now.offered - last.offered) as f64 * 8.0 / s),
    read(Metric::AdmittedRate, |now, last, s| (now.admitted - last.admitted) as f64 * 8.0 / s),
    read(Metric::DecreaseFactor, |now, _, _| now.decrease_factor),
    read(Metric::RateRatio, |now, _, _| now.rate_ratio.unwrap_or(f64::NAN)),
];

impl AggregateReading {
    /// Appends the values of [`OF_AGGREGATES`] for the `period` seconds since the reading `last`.
    pub(crate) fn record(&self, last: &AggregateReading, period: f64, row: &mut Vec<f64>) {
        row.extend(OF_AGGREGATES.iter().map(|read| (read.value)(self, last, period)));
    }
}

/// Two successive readings of a link.
pub(crate) struct LinkPeriod<'a> {
    pub now: &'a LinkReading,
    pub last: &'a LinkReading,
    /// The time between the readings, in seconds.
    pub period: f64,
    /// The mean rate of the link between the readings, in bit/s.
    pub rate: f64,
    /// Returns the fairness of the rates of the link's aggregates.
    pub fairness: &'a dyn Fn() -> f64,
}

impl LinkPeriod<'_> {
    /// Returns the mean of a quantity that is integrated over time in picoseconds.
    fn mean(&self, of: fn(&LinkReading) -> u128) -> f64 {
        of(self.now).saturating_sub(of(self.last)) as f64 * 1e-12 / self.period
    }

    /// Returns the growth of a number of packets.
    fn count(&self, of: fn(&LinkReading) -> u64) -> f64 {
        (of(self.now) - of(self.last)) as f64
    }

    fn backlog(&self) -> f64 {
        self.mean(|r| r.area)
    }

    /// The wait of a dropped packet is known only when it is dropped, and may be longer than the period. The rest
    /// is taken off the next periods, so no value is negative.
    fn served_backlog(&self) -> f64 {
        let (area, vain) = self.now.due(self.last);
        area.saturating_sub(vain) as f64 * 1e-12 / self.period
    }

    fn price(&self) -> f64 {
        let virtual_delay = self.now.virtual_delay.as_secs_f64();
        match self.now.price {
            Some(price) => price,
            None if self.rate > 0.0 => self.served_backlog() * 8.0 / self.rate + virtual_delay,
            None => f64::NAN,
        }
    }

    /// Appends the values of `metrics`.
    pub fn record(&self, metrics: &[LinkMetric], row: &mut Vec<f64>) {
        row.extend(metrics.iter().map(|read| (read.value)(self)));
    }
}

/// A reading of a flow, with the sums of the previous one.
pub(crate) struct FlowPeriod<'a> {
    now: &'a FlowReading,
    last: &'a Counts,
    sums: Counts,
    /// The time between the readings, in seconds.
    period: f64,
}

impl FlowPeriod<'_> {
    /// Returns the growth of a number of bytes, in bit/s.
    fn rate(&self, of: fn(&Counts) -> u64) -> f64 {
        self.count(of) * 8.0 / self.period
    }

    /// Returns the growth of a number.
    fn count(&self, of: fn(&Counts) -> u64) -> f64 {
        (of(&self.sums) - of(self.last)) as f64
    }

    /// Returns the value of a state variable of the sender. It is NaN after the flow has ended, or if the
    /// sender lacks the variable.
    fn state(&self, value: Option<f64>) -> f64 {
        value.filter(|_| self.now.active).unwrap_or(f64::NAN)
    }

    /// Returns the growth of a sum over the data delivered.
    fn delays(&self, of: fn(&Delays) -> f64) -> f64 {
        let now = self.now.delays.as_ref().map_or(f64::NAN, of);
        now - of(&self.last.delays)
    }

    /// Returns a value from the backlog and the drops at the edge of a tunnel.
    fn at_edge(&self, of: impl Fn(u64, u64) -> f64) -> f64 {
        self.now.edge.map_or(f64::NAN, |(bytes, drops)| of(bytes, drops))
    }
}

impl FlowReading {
    /// Returns whether the flow was active in the period since the reading `last`: it still is, or
    /// it was and its counts changed.
    fn was_active(&self, last: &Counts) -> bool {
        let done = (self.sent, self.delivered, self.losses);
        self.active || done != (last.sent, last.delivered, last.losses)
    }

    /// Returns the rate of delivery for the `period` seconds since the reading `last`, in bit/s. It
    /// is NaN for an inactive flow.
    pub(crate) fn throughput(&self, last: &Counts, period: f64) -> f64 {
        if self.was_active(last) {
            (self.delivered - last.delivered) as f64 * 8.0 / period
        } else {
            f64::NAN
        }
    }

    /// Appends the values of `metrics`, in their order, for the `period` seconds since the reading
    /// `last`.
    pub(crate) fn record(
        &self,
        metrics: &[FlowMetric],
        last: &Counts,
        period: f64,
        row: &mut Vec<f64>,
    ) {
        if !self.was_active(last) {
            row.extend(metrics.iter().map(|_| f64::NAN));
            return;
        }
        let (now, sums) = (self, self.counts());
        let readings = FlowPeriod { now, last, sums, period };
        row.extend(metrics.iter().map(|read| (read.value)(&readings)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer;
    use accord_scenario::Of;

    /// A metric that is not recorded would be in the tables of the book but in no run.
    #[test]
    fn every_metric_is_recorded_in_one_way() {
        for metric in Metric::ALL {
            let (of, derived) = (metric.of(), metric.is_ratio());
            let places = [
                (Of::Flow, OF_FLOWS.iter().filter(|r| r.metric == *metric).count()),
                (Of::Link, OF_LINKS.iter().filter(|r| r.metric == *metric).count()),
                (Of::Aggregate, OF_AGGREGATES.iter().filter(|r| r.metric == *metric).count()),
                (Of::Transfer, transfer::METRICS.iter().filter(|(m, _)| m == metric).count()),
                // The recorder derives these from the scenario and from the rates of all flows.
                (Of::Link, usize::from(*metric == Metric::LinkRate)),
                (Of::Flow, usize::from(metric.is_inner())),
                (Of::Group, usize::from(*metric == Metric::FairnessIndex)),
                (of, usize::from(derived)),
            ];
            let found: usize = places.iter().map(|(_, count)| count).sum();
            assert_eq!(found, 1, "{metric} is recorded in {found} ways");
            let fits = places.iter().all(|(kind, count)| *count == 0 || *kind == of);
            assert!(fits, "{metric} is recorded of another kind of entity");
        }
    }
}
