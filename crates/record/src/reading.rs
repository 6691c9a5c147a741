//! The readings of flows and links at the instant of a sample, from engines that run packets, and
//! the values that are recorded of them.

use accord_scenario::{Metric, Of};
use accord_units::{Bytes, Duration};

/// The reading of a flow at the instant of a sample: sums since the start of the run, and its
/// state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowReading {
    /// True if the flow has started, and has not both stopped and left the network. A flow that has
    /// left has no data on the way.
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
    /// The packets of any kind that were dropped or lost on the way.
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

/// The sums of a [`FlowReading`], which the next one is compared with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    sent: u64,
    delivered: u64,
    fresh: u64,
    delays: Delays,
    retransmissions: u64,
    losses: u64,
    lost: u64,
    pub(crate) accumulation: u64,
    edge_drops: u64,
}

/// The delays of data packets that were delivered, as sums since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delays {
    /// The number of packets.
    pub packets: u64,
    /// The time from the sender to the receiver, in picoseconds.
    pub total: f64,
    /// The time beyond that over the path with empty queues, in picoseconds.
    pub queuing: f64,
}

impl Delays {
    /// Adds a packet that was delivered after `delay`. With empty queues it would have taken
    /// `one_way`.
    #[inline]
    pub fn add(&mut self, delay: Duration, one_way: Duration) {
        self.packets += 1;
        // The conversion by way of a signed integer is one instruction.
        let ps = |span: Duration| span.as_ps() as i64 as f64;
        self.total += ps(delay);
        self.queuing += ps(delay.saturating_sub(one_way));
    }
}

/// The reading of a directed link at the instant of a sample: sums since the start of the run, and
/// its state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkReading {
    /// The bytes sent, with the sent part of the packet in service.
    pub served: f64,
    /// The packets offered.
    pub offered: u64,
    /// The packets dropped, by the discipline or because they did not fit.
    pub drops: u64,
    /// The packets marked.
    pub marks: u64,
    /// The packets marked or dropped by the discipline.
    pub judged: u64,
    /// The most packets and bytes at the port since the reading before, those in service included.
    pub longest: (u64, u64),
    /// The packets that wait, without the one in service, integrated over time in picoseconds.
    pub packet_area: u128,
    /// Their bytes, integrated likewise.
    pub area: u128,
    /// The part of that of packets which were dropped after they had waited.
    pub in_vain: u128,
    /// The price in seconds, if the discipline has one of its own.
    pub price: Option<f64>,
    /// The virtual delay.
    pub virtual_delay: Duration,
    /// The discipline's average of the signal that bandwidth is left, if it has one.
    pub excess_bandwidth: Option<f64>,
    /// The discipline's state of each aggregate, if it distinguishes them.
    pub aggregates: Vec<AggregateReading>,
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
    /// The ratio of its rate to that of the reference, if the discipline measures it.
    pub rate_ratio: Option<f64>,
}

impl AggregateReading {
    /// Appends the values of all metrics of aggregates, in their order, for the `period` seconds
    /// since the reading `last`.
    pub(crate) fn record(&self, last: &AggregateReading, period: f64, row: &mut Vec<f64>) {
        let rate = |now: u64, then: u64| (now - then) as f64 * 8.0 / period;
        use Metric::*;
        for metric in Metric::ALL.iter().filter(|m| m.of() == Of::Aggregate) {
            row.push(match metric {
                TransmitProbability => self.transmit_probability,
                OfferedRate => rate(self.offered, last.offered),
                AdmittedRate => rate(self.admitted, last.admitted),
                DecreaseFactor => self.decrease_factor,
                RateRatio => self.rate_ratio.unwrap_or(f64::NAN),
                // These are of other entities, or derived from other metrics.
                Throughput | Goodput | SendingRate | Cwnd | Ssthresh | Rtt | MinRtt
                | Accumulation | AccumulationEstimate | Retransmissions | Losses | LostRate
                | PathLossRatio | Deliveries | DelaySum | QueuingSum | OneWayDelay
                | PathQueuingDelay | EdgeBacklog | EdgeDrops | CompletionTime | TransferSize
                | Backlog | ServedBacklog | BacklogPackets | BacklogMax | BacklogPacketsMax
                | LinkRate | ServedRate | QueuingDelay | Utilisation | Arrivals | Drops | Marks
                | Judged | MarkingProbability | LossRatio | Price | FairnessIndex
                | AggregateFairness | ExcessBandwidth => f64::NAN,
            });
        }
    }
}

impl LinkReading {
    /// Appends the values of `metrics`, in their order, for the `period` seconds since the reading
    /// `last`. The link's mean rate in them was `rate` bit/s. The fairness of its aggregates' rates
    /// is an argument.
    pub(crate) fn record(
        &self,
        last: &LinkReading,
        period: f64,
        rate: f64,
        metrics: &[Metric],
        fairness: impl Fn() -> f64,
        row: &mut Vec<f64>,
    ) {
        let mean = |now: u128, then: u128| now.saturating_sub(then) as f64 * 1e-12 / period;
        let backlog = mean(self.area, last.area);
        let served_backlog = backlog - mean(self.in_vain, last.in_vain);
        let price = || match self.price {
            Some(price) => price,
            None if rate > 0.0 => served_backlog * 8.0 / rate + self.virtual_delay.as_secs_f64(),
            None => f64::NAN,
        };
        use Metric::*;
        for metric in metrics {
            row.push(match metric {
                Backlog => backlog,
                ServedBacklog => served_backlog,
                BacklogPackets => mean(self.packet_area, last.packet_area),
                BacklogMax => self.longest.1 as f64,
                BacklogPacketsMax => self.longest.0 as f64,
                ServedRate => (self.served - last.served) * 8.0 / period,
                Arrivals => (self.offered - last.offered) as f64,
                Drops => (self.drops - last.drops) as f64,
                Marks => (self.marks - last.marks) as f64,
                Judged => (self.judged - last.judged) as f64,
                Price => price(),
                AggregateFairness => fairness(),
                ExcessBandwidth => self.excess_bandwidth.unwrap_or(f64::NAN),
                // These are of other entities, or derived from other metrics.
                Throughput | Goodput | SendingRate | Cwnd | Ssthresh | Rtt | MinRtt
                | Accumulation | AccumulationEstimate | Retransmissions | Losses | LostRate
                | PathLossRatio | Deliveries | DelaySum | QueuingSum | OneWayDelay
                | PathQueuingDelay | EdgeBacklog | EdgeDrops | CompletionTime | TransferSize
                | LinkRate | QueuingDelay | Utilisation | MarkingProbability | LossRatio
                | FairnessIndex | TransmitProbability | OfferedRate | AdmittedRate
                | DecreaseFactor | RateRatio => f64::NAN,
            });
        }
    }
}

impl FlowReading {
    /// Returns the sums.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            sent: self.sent,
            delivered: self.delivered,
            fresh: self.fresh,
            delays: self.delays.unwrap_or_default(),
            retransmissions: self.retransmissions,
            losses: self.losses,
            lost: self.lost,
            accumulation: self.accumulation,
            edge_drops: self.edge.map_or(0, |(_, drops)| drops),
        }
    }

    /// Updates a sum over flows, of which so `many` had the counts `last` and have the reading `now`.
    /// Only the fields that have a sum are changed.
    pub(crate) fn change(&mut self, many: u64, last: &Counts, now: &FlowReading) {
        self.sent += many * (now.sent - last.sent);
        self.delivered += many * (now.delivered - last.delivered);
        self.fresh += many * (now.fresh - last.fresh);
        if let Some(now) = now.delays {
            let last = last.delays;
            let sum = self.delays.get_or_insert_default();
            sum.packets += many * (now.packets - last.packets);
            sum.total += many as f64 * (now.total - last.total);
            sum.queuing += many as f64 * (now.queuing - last.queuing);
        }
        self.retransmissions += many * (now.retransmissions - last.retransmissions);
        self.losses += many * (now.losses - last.losses);
        self.lost += many * (now.lost - last.lost);
        self.accumulation = self.accumulation - many * last.accumulation + many * now.accumulation;
    }

    /// Returns whether the flow took part in the period since the reading `last`: it is active, or
    /// it was and its counts changed.
    fn was_active(&self, last: &Counts) -> bool {
        let done = (self.sent, self.delivered, self.losses);
        self.active || done != (last.sent, last.delivered, last.losses)
    }

    /// Returns the rate of delivery for the `period` seconds since the reading `last`, in bit/s. It
    /// is NaN for a flow that was not active.
    pub(crate) fn throughput(&self, last: &Counts, period: f64) -> f64 {
        match self.was_active(last) {
            true => (self.delivered - last.delivered) as f64 * 8.0 / period,
            false => f64::NAN,
        }
    }

    /// Appends the values of `metrics`, in their order, for the `period` seconds since the reading
    /// `last`.
    pub(crate) fn record(
        &self,
        metrics: &[Metric],
        last: &Counts,
        period: f64,
        row: &mut Vec<f64>,
    ) {
        let throughput = self.throughput(last, period);
        let rate = |now: u64, then: u64| (now - then) as f64 * 8.0 / period;
        let bytes = |b: Option<Bytes>| b.map_or(f64::NAN, Bytes::as_f64);
        let seconds = |d: Option<Duration>| d.map_or(f64::NAN, Duration::as_secs_f64);
        let there = self.was_active(last);
        let delays = |of: fn(&Delays) -> f64| {
            let now = self.delays.as_ref().map_or(f64::NAN, of);
            now - of(&last.delays)
        };
        use Metric::*;
        for metric in metrics {
            row.push(match metric {
                _ if !there => f64::NAN,
                Throughput => throughput,
                Goodput => rate(self.fresh, last.fresh),
                SendingRate => rate(self.sent, last.sent),
                Accumulation => self.accumulation as f64,
                Retransmissions => (self.retransmissions - last.retransmissions) as f64,
                Losses => (self.losses - last.losses) as f64,
                LostRate => rate(self.lost, last.lost),
                EdgeBacklog => self.edge.map_or(f64::NAN, |(bytes, _)| bytes as f64),
                EdgeDrops => {
                    (self.edge).map_or(f64::NAN, |(_, drops)| (drops - last.edge_drops) as f64)
                }
                Deliveries => delays(|d| d.packets as f64),
                DelaySum => delays(|d| d.total * 1e-12),
                QueuingSum => delays(|d| d.queuing * 1e-12),
                _ if !self.active => f64::NAN,
                Cwnd => bytes(self.cwnd),
                Ssthresh => bytes(self.ssthresh),
                Rtt => seconds(self.rtt),
                MinRtt => seconds(self.min_rtt),
                AccumulationEstimate => self.accumulation_estimate.unwrap_or(f64::NAN),
                // These are of other entities, or derived from other metrics.
                OneWayDelay | PathQueuingDelay | PathLossRatio | CompletionTime | TransferSize
                | Backlog | ServedBacklog | BacklogMax | BacklogPacketsMax | BacklogPackets
                | LinkRate | ServedRate | QueuingDelay | Utilisation | Arrivals | Drops | Marks
                | Judged | MarkingProbability | LossRatio | Price | FairnessIndex
                | AggregateFairness | ExcessBandwidth | TransmitProbability | OfferedRate
                | AdmittedRate | DecreaseFactor | RateRatio => f64::NAN,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(of: Of) -> Vec<Metric> {
        let all = Metric::ALL.iter().copied();
        all.filter(|m| m.of() == of && !m.is_ratio()).collect()
    }

    /// A metric without an arm in `record` would be recorded without a value, and no error would
    /// say so.
    #[test]
    fn every_metric_is_recorded() {
        let nothing = FlowReading::default();
        let flow = FlowReading {
            active: true,
            delays: Some(Delays::default()),
            cwnd: Some(Bytes::new(1)),
            ssthresh: Some(Bytes::new(1)),
            rtt: Some(Duration::from_ms(1)),
            min_rtt: Some(Duration::from_ms(1)),
            accumulation_estimate: Some(1.0),
            edge: Some((1, 1)),
            ..nothing
        };
        let link = LinkReading {
            excess_bandwidth: Some(1.0),
            ..LinkReading::default()
        };
        let aggregate = AggregateReading {
            rate_ratio: Some(1.0),
            ..AggregateReading::default()
        };
        let mut of_links = metrics(Of::Link);
        // The recorder takes it from the scenario.
        of_links.retain(|m| *m != Metric::LinkRate);
        let (mut flows, mut links, mut aggregates) = (vec![], vec![], vec![]);
        flow.record(&metrics(Of::Flow), &nothing.counts(), 1.0, &mut flows);
        let idle = LinkReading::default();
        link.record(&idle, 1.0, 1e6, &of_links, || 1.0, &mut links);
        aggregate.record(&AggregateReading::default(), 1.0, &mut aggregates);
        for (names, row) in [
            (metrics(Of::Flow), flows),
            (of_links, links),
            (metrics(Of::Aggregate), aggregates),
        ] {
            assert_eq!(names.len(), row.len());
            for (metric, value) in names.iter().zip(row) {
                assert!(!value.is_nan(), "{metric} is not recorded");
            }
        }
    }
}
