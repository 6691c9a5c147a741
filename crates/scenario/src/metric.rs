//! The quantities that runs record and expectations speak of: one name each, for all
//! engines.

use std::fmt;
use std::str::FromStr;

/// The unit of a metric's values in a [`Run`](crate::Run).
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
    /// The unit's symbol, as in column documentation.
    pub const fn symbol(self) -> &'static str {
        match self {
            MetricUnit::BitPerSecond => "bit/s",
            MetricUnit::Bytes => "B",
            MetricUnit::Seconds => "s",
            MetricUnit::Packets => "pkt",
            MetricUnit::Ratio => "1",
        }
    }
}

/// How samples of a metric combine over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The mean of the samples.
    Mean,
    /// The sum: the metric counts what happened during each sampling period.
    Sum,
}

macro_rules! metrics {
    ($($variant:ident $name:literal $unit:ident $fold:ident $entity:ident $doc:literal;)*) => {
        /// A recorded quantity.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Metric { $(#[doc = $doc] $variant,)* }

        impl Metric {
            /// All metrics.
            pub const ALL: &'static [Metric] = &[$(Metric::$variant,)*];
            /// The name in files and tables.
            pub const fn name(self) -> &'static str {
                match self { $(Metric::$variant => $name,)* }
            }
            /// The unit of its values.
            pub const fn unit(self) -> MetricUnit {
                match self { $(Metric::$variant => MetricUnit::$unit,)* }
            }
            /// How its samples combine over time.
            pub const fn fold(self) -> Fold {
                match self { $(Metric::$variant => Fold::$fold,)* }
            }
            /// What has it.
            pub const fn of(self) -> Of {
                match self { $(Metric::$variant => Of::$entity,)* }
            }
            /// What it means, in a sentence.
            pub const fn doc(self) -> &'static str {
                match self { $(Metric::$variant => $doc,)* }
            }
        }
    };
}

/// What a metric is recorded of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Flows.
    Flow,
    /// Groups of flows.
    Group,
    /// Directed links.
    Link,
    /// Aggregates at the links whose queue disciplines tell them apart.
    Aggregate,
    /// Single transfers, so no series.
    Transfer,
}

metrics! {
    Throughput "throughput" BitPerSecond Mean Flow
        "Data that reached the receiver, headers included, duplicates too, per time.";
    Goodput "goodput" BitPerSecond Mean Flow
        "Data that reached the receiver for the first time, headers included, per time.";
    SendingRate "sending_rate" BitPerSecond Mean Flow
        "Data that the sender put on its first link, retransmissions included, per time.";
    Cwnd "cwnd" Bytes Mean Flow "Congestion window.";
    Ssthresh "ssthresh" Bytes Mean Flow "Slow-start threshold; absent while it is not set.";
    Rtt "rtt" Seconds Mean Flow "Round-trip time as the sender measures it; smoothed.";
    MinRtt "min_rtt" Seconds Mean Flow
        "The sender's estimate of its base round-trip time, where its controller keeps one.";
    Accumulation "accumulation" Bytes Mean Flow
        "Data of the flow queued on its path, as eq. 1 of Xia05 defines it: the true value.";
    AccumulationEstimate "accumulation_estimate" Bytes Mean Flow
        "The accumulation that the flow's controller believes it has.";
    Retransmissions "retransmissions" Packets Sum Flow "Packets sent again.";
    Losses "losses" Packets Sum Flow "Packets of the flow dropped on the way, of any kind.";
    CompletionTime "completion_time" Seconds Mean Transfer
        "Time from the start of a transfer until its sender knows that all has arrived; of transfers that end in the window.";
    TransferSize "transfer_size" Bytes Mean Transfer "Size of a transfer that ends in the window.";
    Backlog "backlog" Bytes Mean Link "Data waiting or in service at the link's port.";
    BacklogPackets "backlog_packets" Packets Mean Link "Packets waiting or in service at the link's port.";
    QueuingDelay "queuing_delay" Seconds Mean Link "Backlog over rate.";
    Utilisation "utilisation" Ratio Mean Link "Share of the link's rate that is used.";
    Drops "drops" Packets Sum Link "Packets dropped at the link's port.";
    Marks "marks" Packets Sum Link "Packets marked at the link's port.";
    MarkingProbability "marking_probability" Ratio Mean Link
        "Share of the arriving packets that the link's discipline marked or dropped.";
    Price "price" Seconds Mean Link
        "The congestion signal that flows are shown: queuing delay plus virtual delay, or REM's price.";
    FairnessIndex "fairness_index" Ratio Mean Group
        "Fairness of the throughputs of a group's flows, each divided by the flow's share [Ple03 eq. 2]: 1 if all have what they should have.";
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

impl Metric {
    /// Whether a group has it as the sum over its flows.
    pub const fn adds(self) -> bool {
        matches!(
            self,
            Metric::Throughput
                | Metric::Goodput
                | Metric::SendingRate
                | Metric::Accumulation
                | Metric::Retransmissions
                | Metric::Losses
        )
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

/// What a series belongs to; the number is the index in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entity {
    /// A flow.
    Flow(usize),
    /// A group of flows.
    Group(usize),
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
