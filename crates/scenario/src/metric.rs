//! The quantities that runs record and expectations are about. Each has one name for all engines.

use crate::engine::Engine;
use std::fmt;
use std::str::FromStr;

/// The unit of a metric's values in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricUnit {
    /// Bits per second.
    BitPerSecond,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// Packets.
    Packets,
    /// A plain ratio; 1 is 100 %.
    Ratio,
}

impl MetricUnit {
    /// Returns the unit's symbol, as in column documentation.
    pub const fn symbol(self) -> &'static str {
        match self {
            MetricUnit::BitPerSecond => "bit/s",
            MetricUnit::Bytes => "B",
            MetricUnit::Seconds => "s",
            MetricUnit::Packets => "pkt",
            MetricUnit::Ratio => "1",
        }
    }

    /// Returns zero for what rounding leaves of it: less than a millionth of a byte, of a bit per
    /// second or of a packet, or than a thousandth of a picosecond. Nothing that is measured is so
    /// small. Differences are not relative to such a value, and tables show 0.
    pub fn settled(self, value: f64) -> f64 {
        let least = match self {
            MetricUnit::BitPerSecond | MetricUnit::Bytes | MetricUnit::Packets => 1e-6,
            MetricUnit::Seconds => 1e-15,
            MetricUnit::Ratio => 1e-11,
        };
        match value.abs() < least {
            true => 0.0,
            false => value,
        }
    }
}

/// The way in which samples of a metric combine over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The mean of the samples.
    Mean,
    /// The sum. The metric counts events during each sampling period.
    Sum,
    /// The greatest value. The metric is the greatest value within each sampling period.
    Max,
    /// The first metric over the second, each folded by its own rule. This is a ratio of sums, not
    /// a mean of ratios. No engine records such a metric. The recorder derives it.
    Ratio(Metric, Metric),
}

macro_rules! metrics {
    ($($variant:ident $name:literal $unit:ident $fold:tt $entity:ident $doc:literal;)*) => {
        /// A recorded quantity.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Metric { $(#[doc = $doc] $variant,)* }

        impl Metric {
            /// All metrics.
            pub const ALL: &'static [Metric] = &[$(Metric::$variant,)*];
            /// Returns the name in files and tables.
            pub const fn name(self) -> &'static str {
                match self { $(Metric::$variant => $name,)* }
            }
            /// Returns the unit of the values.
            pub const fn unit(self) -> MetricUnit {
                match self { $(Metric::$variant => MetricUnit::$unit,)* }
            }
            /// Returns the way in which samples combine over time.
            #[allow(unused_parens, reason = "one token for the macro")]
            pub const fn fold(self) -> Fold {
                use Fold::{Max, Mean, Ratio, Sum};
                use Metric::*;
                match self { $(Metric::$variant => $fold,)* }
            }
            /// Returns the kind of entity that has the metric.
            pub const fn of(self) -> Of {
                match self { $(Metric::$variant => Of::$entity,)* }
            }
            /// Returns the meaning, one sentence.
            pub const fn doc(self) -> &'static str {
                match self { $(Metric::$variant => $doc,)* }
            }
        }
    };
}

/// The kind of entity that a metric is recorded of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Flows.
    Flow,
    /// Groups of flows.
    Group,
    /// Directed links.
    Link,
    /// Aggregates at the links whose queue disciplines distinguish them.
    Aggregate,
    /// Single transfers, which have no series.
    Transfer,
}

metrics! {
    Throughput "throughput" BitPerSecond Mean Flow
        "Data that reached the receiver, headers included, duplicates too, per time.";
    Goodput "goodput" BitPerSecond Mean Flow
        "Data that reached the receiver for the first time, headers included, per time.";
    SendingRate "sending_rate" BitPerSecond Mean Flow
        "Data that the sender put on its first link, retransmissions included, per time.";
    Cwnd "cwnd" Bytes Mean Flow "Congestion window at the end of the period.";
    Ssthresh "ssthresh" Bytes Mean Flow
        "Slow-start threshold at the end of the period; absent while it is not set.";
    Rtt "rtt" Seconds Mean Flow
        "Round-trip time as the sender measures it, smoothed, at the end of the period.";
    MinRtt "min_rtt" Seconds Mean Flow
        "The sender's estimate of its base round-trip time at the end of the period, where its controller keeps one.";
    Accumulation "accumulation" Bytes Mean Flow
        "Data of the flow queued on its path at the end of the period, as eq. 1 of Xia05 defines it: the true value.";
    AccumulationEstimate "accumulation_estimate" Bytes Mean Flow
        "The accumulation that the flow's controller believes it has at the end of the period.";
    Retransmissions "retransmissions" Packets Sum Flow "Packets sent again.";
    Losses "losses" Packets Sum Flow "Packets of the flow dropped on the way, of any kind.";
    LostRate "lost_rate" BitPerSecond Mean Flow
        "Data of the flow dropped on the way, per time.";
    PathLossRatio "path_loss_ratio" Ratio (Ratio(LostRate, SendingRate)) Flow
        "Share of the data sent that was dropped on the way, by links of the path or on their wires; absent where none is sent.";
    Deliveries "deliveries" Packets Sum Flow "Data packets that reached the receiver, duplicates too.";
    DelaySum "delay_sum" Seconds Sum Flow
        "The times that these packets took from the sender to the receiver, added up.";
    QueuingSum "queuing_sum" Seconds Sum Flow
        "The same without what the path takes with empty queues when they arrive.";
    OneWayDelay "one_way_delay" Seconds (Ratio(DelaySum, Deliveries)) Flow
        "Mean time that a data packet took from the sender to the receiver, whether the flow answers congestion or not.";
    PathQueuingDelay "path_queuing_delay" Seconds (Ratio(QueuingSum, Deliveries)) Flow
        "Mean time that a data packet waited in the queues of its path.";
    EdgeBacklog "edge_backlog" Bytes Mean Flow
        "Bytes that wait at the edge of a tunnel to be sent, the overhead of the tunnel included.";
    EdgeDrops "edge_drops" Packets Sum Flow "Packets dropped at the edge of a tunnel, by FQ-CoDel or for want of room.";
    CompletionTime "completion_time" Seconds Mean Transfer
        "Time from the start of a transfer until its sender knows that all has arrived; of transfers that end in the window.";
    TransferSize "transfer_size" Bytes Mean Transfer "Size of a transfer that ends in the window.";
    Backlog "backlog" Bytes Mean Link "Data waiting at the link's port, without the packet in service, averaged over time.";
    ServedBacklog "served_backlog" Bytes Mean Link
        "The same without data that was dropped after it had waited, as disciplines do that drop at the head.";
    BacklogPackets "backlog_packets" Packets Mean Link
        "Packets waiting at the link's port, without the one in service, averaged over time.";
    BacklogMax "backlog_max" Bytes Max Link
        "The most data at the link's port at any time of the period, the packet in service included, as the limit of the queue counts it.";
    BacklogPacketsMax "backlog_packets_max" Packets Max Link
        "The most packets at the link's port at any time of the period, the one in service included, as the limit of the queue counts them.";
    LinkRate "link_rate" BitPerSecond Mean Link "What the link could have sent per time, events included.";
    ServedRate "served_rate" BitPerSecond Mean Link
        "What the link's port sent per time, control packets and the sent part of the packet in service included.";
    QueuingDelay "queuing_delay" Seconds (Ratio(ServedBacklog, LinkRate)) Link
        "Time that data waits which is served: its backlog over the rate; absent where the rate is 0.";
    Utilisation "utilisation" Ratio (Ratio(ServedRate, LinkRate)) Link
        "Share of what the link could have sent that it sent; absent where the rate is 0.";
    Arrivals "arrivals" Packets Sum Link "Packets that came to the link's port.";
    Drops "drops" Packets Sum Link "Packets dropped at the link's port.";
    Marks "marks" Packets Sum Link "Packets marked at the link's port.";
    Judged "judged" Packets Sum Link "Packets that the link's discipline marked or dropped.";
    MarkingProbability "marking_probability" Ratio (Ratio(Judged, Arrivals)) Link
        "Share of the arriving packets that the link's discipline marked or dropped; absent where none arrive.";
    LossRatio "loss_ratio" Ratio (Ratio(Drops, Arrivals)) Link
        "Share of the arriving packets that were dropped, by the discipline or for want of room; absent where none arrive.";
    Price "price" Seconds Mean Link
        "The congestion signal that flows are shown: queuing delay plus virtual delay, or REM's price.";
    FairnessIndex "fairness_index" Ratio Mean Group
        "Fairness of the throughputs of a group's flows in the period, each divided by the flow's share [Ple03 eq. 2]: 1 if all have what they should have. Where a period holds few packets of a flow it tells of whole packets.";
    AggregateFairness "aggregate_fairness" Ratio Mean Link
        "The same of the aggregates on a link: their flows' throughputs together, divided by their shares together.";
    ExcessBandwidth "excess_bandwidth" Ratio Mean Link
        "BAT's average of the signal that bandwidth is left.";
    TransmitProbability "transmit_probability" Ratio Mean Aggregate
        "Probability that a packet of the aggregate joins the link's queue.";
    OfferedRate "offered_rate" BitPerSecond Mean Aggregate "Data of the aggregate that came to the link, per time.";
    AdmittedRate "admitted_rate" BitPerSecond Mean Aggregate
        "Data of the aggregate that joined the link's queue, per time.";
    DecreaseFactor "decrease_factor" Ratio Mean Aggregate
        "The decrease factor that BAT uses for the aggregate, times the link's rate.";
    RateRatio "rate_ratio" Ratio Mean Aggregate
        "Rate of the aggregate over that of those that CLCC measures it against.";
}

/// The metrics that the page plots over time, in its order. The first is what a scenario is about if it
/// says nothing else.
pub const PLOTTED: [Metric; 17] = [
    Metric::Throughput,
    Metric::AdmittedRate,
    Metric::OfferedRate,
    Metric::RateRatio,
    Metric::FairnessIndex,
    Metric::AggregateFairness,
    Metric::DecreaseFactor,
    Metric::TransmitProbability,
    Metric::ExcessBandwidth,
    Metric::BacklogPackets,
    Metric::Utilisation,
    Metric::Cwnd,
    Metric::Accumulation,
    Metric::EdgeBacklog,
    Metric::Rtt,
    Metric::Price,
    Metric::Drops,
];

/// The quantiles over the flows of a group that are recorded, in percent.
pub const QUANTILES: [u8; 5] = [5, 25, 50, 75, 95];

impl Metric {
    /// The metrics of flows of which a group that is recorded as one has [`QUANTILES`].
    pub const WITH_QUANTILES: [Metric; 4] = [
        Metric::Throughput,
        Metric::Cwnd,
        Metric::Rtt,
        Metric::Accumulation,
    ];

    /// Returns whether the value of a group is the sum over its flows.
    pub const fn adds(self) -> bool {
        matches!(
            self,
            Metric::Throughput
                | Metric::Goodput
                | Metric::SendingRate
                | Metric::Accumulation
                | Metric::Retransmissions
                | Metric::Losses
                | Metric::LostRate
                | Metric::Deliveries
                | Metric::DelaySum
                | Metric::QueuingSum
        )
    }

    /// Returns the engines that record the metric, for every entity that can have it.
    pub const fn engines(self) -> &'static [Engine] {
        use Metric::*;
        match self {
            Throughput | Goodput | SendingRate | Cwnd | Rtt | MinRtt | Accumulation
            | AccumulationEstimate | Backlog | ServedBacklog | BacklogPackets | LinkRate
            | ServedRate | QueuingDelay | Utilisation | Arrivals | Judged | MarkingProbability
            | Price => &Engine::ALL,
            Losses | LostRate | PathLossRatio | BacklogMax | BacklogPacketsMax | Drops | Marks
            | LossRatio => &[Engine::Fluid, Engine::Packet, Engine::Live],
            EdgeBacklog | EdgeDrops => &[Engine::Packet],
            Ssthresh | Retransmissions | Deliveries | DelaySum | QueuingSum | OneWayDelay
            | PathQueuingDelay | CompletionTime | TransferSize | FairnessIndex
            | AggregateFairness | ExcessBandwidth | TransmitProbability | OfferedRate
            | AdmittedRate | DecreaseFactor | RateRatio => &[Engine::Packet, Engine::Live],
        }
    }

    /// Returns whether the metric is a ratio of two other metrics, which are recorded in its place.
    pub const fn is_ratio(self) -> bool {
        matches!(self.fold(), Fold::Ratio(..))
    }

    /// Returns the value of a ratio from the sums or means of its two metrics, in its unit, or
    /// `None` over zero.
    pub fn ratio(over: Metric, over_sum: f64, under: Metric, under_sum: f64) -> Option<f64> {
        let bits = |metric: Metric| match metric.unit() {
            MetricUnit::Bytes => 8.0,
            _ => 1.0,
        };
        let ratio = over_sum * bits(over) / (under_sum * bits(under));
        (under_sum > 0.0).then_some(ratio)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        Metric::ALL
            .iter()
            .copied()
            .find(|m| m.name() == s)
            .ok_or_else(|| format!("there is no metric \"{s}\""))
    }
}

/// The entity of a series. Numbers are indices in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entity {
    /// A flow.
    Flow(usize),
    /// A group of flows.
    Group(usize),
    /// A quantile over the flows of a group, at each sample over those that have a value.
    Quantile {
        /// The group.
        group: usize,
        /// The share of the flows that have less, in percent.
        percent: u8,
    },
    /// A directed link.
    Link(usize),
    /// An aggregate at a directed link.
    Aggregate {
        /// The link.
        link: usize,
        /// The aggregate.
        aggregate: usize,
    },
}
