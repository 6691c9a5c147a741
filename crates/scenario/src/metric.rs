//! The quantities that runs record and expectations refer to. Each has one name for all engines.

use crate::engine::Engine;
use accord_family::{Inner, Quantity, declared};
use accord_units::{Words, words};
use std::fmt;
use std::str::FromStr;

words! {
    /// The unit of a metric's values in a run, with its symbol.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MetricUnit by symbol {
        /// Bits per second.
        BitPerSecond = "bit/s",
        /// Bytes.
        Bytes = "B",
        /// Seconds.
        Seconds = "s",
        /// Packets.
        Packets = "pkt",
        /// A plain ratio; 1 is 100 %.
        Ratio = "1",
    }
}

impl MetricUnit {
    /// Returns `value`, or zero if it is a rounding residue: less than a millionth of a byte, of a bit per
    /// second or of a packet, or less than a thousandth of a picosecond. No measured value is that small. So
    /// differences are not relative to a residue, and tables show 0.
    pub fn settled(self, value: f64) -> f64 {
        let least = match self {
            MetricUnit::BitPerSecond | MetricUnit::Bytes | MetricUnit::Packets => 1e-6,
            MetricUnit::Seconds => 1e-15,
            MetricUnit::Ratio => 1e-11,
        };
        if value.abs() < least { 0.0 } else { value }
    }
}

/// The relative rounding of sums.
const ROUNDING: f64 = 1e-12;

/// The way in which samples of a metric combine over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The mean of the samples.
    Mean,
    /// The sum, for a metric that counts events during each sampling period.
    Sum,
    /// The greatest value, for a metric that is the greatest value within each sampling period.
    Max,
    /// The last sample, for a metric whose values have no mean: a state.
    Last,
    /// The first metric over the second, each folded by its own rule. This is a ratio of sums, not
    /// a mean of ratios. No engine records such a metric. The recorder derives it.
    Ratio(Metric, Metric),
}

/// The row of a metric: its properties in every engine, table and plot. [`Metric`] has the rows.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name in files and tables.
    pub name: &'static str,
    /// The unit of the values.
    pub unit: MetricUnit,
    /// The kind of entity that has the metric.
    pub of: Of,
    /// The meaning, one or two sentences.
    pub doc: &'static str,
    /// The way in which samples combine over time.
    pub fold: Fold,
    /// The engines that record the metric, for every entity that can have it.
    pub engines: &'static [Engine],
    /// True if the value of a group is the sum over its flows.
    pub adds: bool,
    /// True if a group recorded as a whole has [`QUANTILES`] of the metric over its flows.
    pub quantiles: bool,
    /// The greatest possible value.
    pub most: Option<f64>,
    /// True if the axis of a plot begins at 0.
    pub from_zero: bool,
    /// True if plots smooth the metric of an engine that runs packets, because single packets are
    /// visible.
    pub smoothed: bool,
    /// The place in the tables of its entity.
    pub table: Option<Table>,
    /// True if tables for people leave out a row of zeros.
    pub hidden_if_zero: bool,
    /// The place among the panels of the page, and the title there.
    pub panel: Option<(u8, &'static str)>,
    /// The place among the distributions of the page, and the title there.
    pub distribution: Option<(u8, &'static str)>,
    /// The place among the figures of the page of a comparison.
    pub compared: Option<u8>,
}

/// The place of a metric among the rows of a table, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// The place in every table.
    Every(u8),
    /// The place among the rows that appear only in tables of sweeps.
    Sweeps(u8),
}

const NOT_THEORY: &[Engine] = &[Engine::Fluid, Engine::Packet, Engine::Live];
const WITH_PACKETS: &[Engine] = &[Engine::Packet, Engine::Live];
const PACKET: &[Engine] = &[Engine::Packet];

impl Row {
    /// Returns the row of a mean over time that all engines record and that no table or plot shows.
    const fn new(name: &'static str, unit: MetricUnit, of: Of) -> Row {
        Row {
            name,
            unit,
            of,
            doc: "",
            fold: Fold::Mean,
            engines: &Engine::ALL,
            adds: false,
            quantiles: false,
            most: None,
            from_zero: true,
            smoothed: false,
            table: None,
            hidden_if_zero: false,
            panel: None,
            distribution: None,
            compared: None,
        }
    }

    /// Returns the row of a variable of controllers.
    const fn of_inner(inner: &Inner) -> Row {
        let unit = match inner.quantity {
            Quantity::Rate => MetricUnit::BitPerSecond,
            Quantity::Bytes => MetricUnit::Bytes,
            Quantity::Seconds => MetricUnit::Seconds,
            Quantity::Packets => MetricUnit::Packets,
            Quantity::Number | Quantity::State(_) => MetricUnit::Ratio,
        };
        let fold = match inner.quantity {
            Quantity::State(_) => Fold::Last,
            _ => Fold::Mean,
        };
        let from_zero = !matches!(inner.quantity, Quantity::Seconds);
        let row = Row::new(inner.name, unit, Of::Flow);
        Row { doc: inner.doc, fold, from_zero, engines: WITH_PACKETS, ..row }
    }
}

/// Makes [`Metric`] and its rows. A row consists of the documentation, the variant, the kind of entity with
/// the name and the unit, and the fields that differ from [`Row::new`].
macro_rules! metrics {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident = $of:ident($name:literal, $unit:ident) { $($field:ident: $value:expr),* $(,)? }
    )*) => {
        /// A recorded quantity.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Metric {
            $($(#[doc = $doc])+ $variant,)*
            /// A variable of the controllers of a family.
            Inner(&'static Inner),
        }

        /// The place of a metric among [`Metric::ALL`].
        enum Place { $($variant,)* }

        impl Words for Metric {
            const WORDS: &'static [(&'static str, Metric)] = &[$(($name, Metric::$variant),)*];

            fn of_word(text: &str) -> Option<Metric> {
                Metric::known().into_iter().find(|metric| metric.name() == text)
            }
        }

        impl Metric {
            /// Returns the place among [`Metric::ALL`].
            const fn place(self) -> Option<usize> {
                match self {
                    $(Metric::$variant => Some(Place::$variant as usize),)*
                    Metric::Inner(_) => None,
                }
            }

            /// All metrics but the variables of controllers.
            pub const ALL: &'static [Metric] = &[$(Metric::$variant,)*];

            /// The rows, in the order of [`Metric::ALL`].
            const ROWS: &'static [Row] = {
                use {Fold::*, Metric::*, Table::*};
                &[$(Row {
                    doc: concat!($($doc),+).trim_ascii(),
                    $($field: $value,)*
                    ..Row::new($name, MetricUnit::$unit, Of::$of)
                },)*]
            };
        }
    };
}

/// The kind of entity for which a metric is recorded.
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
    /// Data that reached the receiver, headers included, duplicates too, per time.
    Throughput = Flow("throughput", BitPerSecond) {
        adds: true, quantiles: true, smoothed: true, table: Some(Every(1)),
        panel: Some((1, "Throughput of a flow")), compared: Some(1),
    }
    /// Data that reached the receiver for the first time, headers included, per time.
    Goodput = Flow("goodput", BitPerSecond) { adds: true }
    /// Data that the sender put on its first link, retransmissions included, per time.
    SendingRate = Flow("sending_rate", BitPerSecond) { adds: true }
    /// Congestion window at the end of the period.
    Cwnd = Flow("cwnd", Bytes) {
        quantiles: true, table: Some(Every(3)), panel: Some((12, "Congestion window")),
    }
    /// Slow-start threshold at the end of the period; absent while it is not set.
    Ssthresh = Flow("ssthresh", Bytes) { engines: WITH_PACKETS }
    /// Round-trip time as the sender measures it, smoothed, at the end of the period.
    Rtt = Flow("rtt", Seconds) {
        quantiles: true, from_zero: false, table: Some(Every(2)),
        panel: Some((15, "Round-trip time")), distribution: Some((1, "Round-trip time")),
        compared: Some(2),
    }
    /// The sender's estimate of its base round-trip time at the end of the period, where its
    /// controller keeps one.
    MinRtt = Flow("min_rtt", Seconds) { from_zero: false }
    /// Data of the flow queued on its path at the end of the period, as eq. 1 of Xia05 defines it:
    /// the true value.
    Accumulation = Flow("accumulation", Bytes) {
        adds: true, quantiles: true, table: Some(Every(4)),
        panel: Some((13, "Accumulation: true and estimated")),
    }
    /// The controller's estimate of the flow's accumulation at the end of the period.
    AccumulationEstimate = Flow("accumulation_estimate", Bytes) { table: Some(Every(5)) }
    /// Packets sent again.
    Retransmissions = Flow("retransmissions", Packets) {
        fold: Sum, engines: WITH_PACKETS, adds: true, table: Some(Every(6)), hidden_if_zero: true,
    }
    /// Packets of the flow dropped on the way, of any kind.
    Losses = Flow("losses", Packets) {
        fold: Sum, engines: NOT_THEORY, adds: true, table: Some(Sweeps(2)), hidden_if_zero: true,
    }
    /// Data of the flow dropped on the way, per time.
    LostRate = Flow("lost_rate", BitPerSecond) { engines: NOT_THEORY, adds: true }
    /// Share of the data sent that was dropped on the way, by links of the path or on their wires;
    /// absent where none is sent, or less than is dropped.
    PathLossRatio = Flow("path_loss_ratio", Ratio) {
        fold: Ratio(LostRate, SendingRate), engines: NOT_THEORY,
    }
    /// Data packets that reached the receiver, duplicates too.
    Deliveries = Flow("deliveries", Packets) { fold: Sum, engines: WITH_PACKETS, adds: true }
    /// Sum of the times that the data packets delivered took from the sender to the receiver.
    DelaySum = Flow("delay_sum", Seconds) { fold: Sum, engines: WITH_PACKETS, adds: true }
    /// Sum of the times that the data packets delivered took beyond those of their path with empty
    /// queues: in queues, and on wires with jitter or reordering. Packets on their way at a change of
    /// the path are measured by the new one.
    QueuingSum = Flow("queuing_sum", Seconds) { fold: Sum, engines: WITH_PACKETS, adds: true }
    /// Mean time that a data packet took from the sender to the receiver, whether the flow answers
    /// congestion or not.
    OneWayDelay = Flow("one_way_delay", Seconds) {
        fold: Ratio(DelaySum, Deliveries), engines: WITH_PACKETS, from_zero: false,
        distribution: Some((2, "One-way delay")),
    }
    /// Mean time that a data packet took beyond that of its path with empty queues: in queues, and on
    /// wires with jitter or reordering. Packets on their way at a change of the path are measured by
    /// the new one.
    PathQueuingDelay = Flow("path_queuing_delay", Seconds) {
        fold: Ratio(QueuingSum, Deliveries), engines: WITH_PACKETS,
    }
    /// Data that the sender takes to be on its way at the end of the period: sent, not known to have
    /// arrived, and not taken for lost. It is recorded with `inner`.
    Inflight = Flow("inflight", Bytes) { engines: WITH_PACKETS }
    /// Rate at which the sender spaces its packets, at the end of the period; absent where its
    /// controller sets none. It is recorded with `inner`.
    PacingRate = Flow("pacing_rate", BitPerSecond) { engines: WITH_PACKETS }
    /// Data that became known to the sender as arrived, per time. It is recorded with `inner`.
    DeliveryRate = Flow("delivery_rate", BitPerSecond) { engines: WITH_PACKETS, smoothed: true }
    /// Bytes that wait at the edge of a tunnel to be sent, the overhead of the tunnel included.
    EdgeBacklog = Flow("edge_backlog", Bytes) {
        engines: PACKET, panel: Some((14, "Waiting at the edge of a tunnel")),
    }
    /// Packets dropped at the edge of a tunnel, by FQ-CoDel or for want of room.
    EdgeDrops = Flow("edge_drops", Packets) { fold: Sum, engines: PACKET }
    /// Time from the start of a transfer until its sender knows that all data has arrived; of
    /// transfers that end in the window.
    CompletionTime = Transfer("completion_time", Seconds) {
        engines: WITH_PACKETS, compared: Some(5),
    }
    /// Size of a transfer that ends in the window.
    TransferSize = Transfer("transfer_size", Bytes) { engines: WITH_PACKETS }
    /// Data waiting at the link's port, without the packet in service, averaged over time.
    Backlog = Link("backlog", Bytes) { table: Some(Every(2)) }
    /// Backlog without the data that is dropped after it has waited, as disciplines do that drop at
    /// the head. Its wait is taken off from the drop on, never below zero: where a queue empties by
    /// drops, the rest is not taken off.
    ServedBacklog = Link("served_backlog", Bytes) {}
    /// Packets waiting at the link's port, without the one in service, averaged over time.
    BacklogPackets = Link("backlog_packets", Packets) {
        panel: Some((10, "Queue")), distribution: Some((4, "Queue")), compared: Some(3),
    }
    /// The most data at the link's port at any time of the period, the packet in service included,
    /// as the limit of the queue counts it.
    BacklogMax = Link("backlog_max", Bytes) { fold: Max, engines: NOT_THEORY }
    /// The most packets at the link's port at any time of the period, the one in service included,
    /// as the limit of the queue counts them.
    BacklogPacketsMax = Link("backlog_packets_max", Packets) { fold: Max, engines: NOT_THEORY }
    /// Rate of the link, or of a token bucket there if that is less, its changes by events included,
    /// averaged over time.
    LinkRate = Link("link_rate", BitPerSecond) {}
    /// Data that the link's port sent per time, control packets and the sent part of the packet in
    /// service included.
    ServedRate = Link("served_rate", BitPerSecond) {}
    /// Served backlog over link rate: the waiting time of data at a full link. Elsewhere packets wait longer,
    /// this divided by the utilisation. Absent where the rate is 0.
    QueuingDelay = Link("queuing_delay", Seconds) {
        fold: Ratio(ServedBacklog, LinkRate), table: Some(Sweeps(1)),
        distribution: Some((3, "Queuing delay")),
    }
    /// Share of the link rate that is used; absent where the rate is 0.
    Utilisation = Link("utilisation", Ratio) {
        fold: Ratio(ServedRate, LinkRate), most: Some(1.0), smoothed: true, table: Some(Every(1)),
        panel: Some((11, "Utilisation")), compared: Some(4),
    }
    /// Packets that came to the link's port.
    Arrivals = Link("arrivals", Packets) { fold: Sum }
    /// Packets dropped at the link's port.
    Drops = Link("drops", Packets) {
        fold: Sum, engines: NOT_THEORY, table: Some(Every(5)),
        panel: Some((17, "Packets dropped so far")),
    }
    /// Packets marked at the link's port.
    Marks = Link("marks", Packets) { fold: Sum, engines: NOT_THEORY }
    /// Packets that the link's discipline marked or dropped.
    Judged = Link("judged", Packets) { fold: Sum }
    /// Share of the arriving packets that the link's discipline marked or dropped; absent where
    /// none arrive, or fewer than it drops.
    MarkingProbability = Link("marking_probability", Ratio) {
        fold: Ratio(Judged, Arrivals), table: Some(Every(4)), hidden_if_zero: true,
    }
    /// Share of the arriving packets that were dropped, by the discipline or for lack of room;
    /// absent where none arrive, or fewer than are dropped.
    LossRatio = Link("loss_ratio", Ratio) {
        fold: Ratio(Drops, Arrivals), engines: NOT_THEORY, table: Some(Sweeps(2)),
        hidden_if_zero: true,
    }
    /// The congestion signal of the link: queuing delay plus virtual delay, or REM's price.
    Price = Link("price", Seconds) { table: Some(Every(3)), panel: Some((16, "Price")) }
    /// Fairness of the throughputs of a group's flows in the period, each divided by the flow's
    /// share [Ple03 eq. 2]: 1 if every flow has its share. Over a period of few packets per flow
    /// the index shows single packets.
    FairnessIndex = Group("fairness_index", Ratio) {
        engines: WITH_PACKETS, most: Some(1.0), table: Some(Sweeps(1)),
        panel: Some((5, "Fairness within a group")),
    }
    /// Fairness of the aggregates on a link: the throughputs of the flows of each together, divided
    /// by their shares together.
    AggregateFairness = Link("aggregate_fairness", Ratio) {
        engines: WITH_PACKETS, most: Some(1.0), table: Some(Every(6)),
        panel: Some((6, "Fairness of aggregates")),
    }
    /// BAT's average of its signal that the link has bandwidth left.
    ExcessBandwidth = Link("excess_bandwidth", Ratio) {
        engines: WITH_PACKETS, panel: Some((9, "Excess bandwidth")),
    }
    /// Probability that a packet of the aggregate joins the link's queue.
    TransmitProbability = Aggregate("transmit_probability", Ratio) {
        engines: WITH_PACKETS, most: Some(1.0), table: Some(Every(3)),
        panel: Some((8, "Transmit probability")),
    }
    /// Data of the aggregate that came to the link, per time.
    OfferedRate = Aggregate("offered_rate", BitPerSecond) {
        engines: WITH_PACKETS, smoothed: true, table: Some(Every(2)),
        panel: Some((3, "Offered rate of an aggregate")),
    }
    /// Data of the aggregate that joined the link's queue, per time.
    AdmittedRate = Aggregate("admitted_rate", BitPerSecond) {
        engines: WITH_PACKETS, smoothed: true, table: Some(Every(1)),
        panel: Some((2, "Rate of an aggregate")),
    }
    /// The decrease factor that BAT uses for the aggregate, times the link's rate.
    DecreaseFactor = Aggregate("decrease_factor", Ratio) {
        engines: WITH_PACKETS, table: Some(Every(4)), panel: Some((7, "Decrease factor")),
    }
    /// Rate of the aggregate over the rate of the aggregates that CLCC compares it with.
    RateRatio = Aggregate("rate_ratio", Ratio) {
        engines: WITH_PACKETS, table: Some(Every(5)), panel: Some((4, "Ratio of rates")),
    }
}

/// The recorded quantiles over the flows of a group, in per cent.
pub const QUANTILES: [u8; 5] = [5, 25, 50, 75, 95];

/// Makes a getter of a column of the rows.
macro_rules! getters {
    ($($doc:literal $column:ident: $kind:ty,)*) => {
        impl Metric {
            $(#[doc = $doc]
            pub const fn $column(self) -> $kind {
                self.row().$column
            })*
        }
    };
}

getters! {
    "Returns the name in files and tables." name: &'static str,
    "Returns the unit of the values." unit: MetricUnit,
    "Returns the way in which samples combine over time." fold: Fold,
    "Returns the kind of entity that has the metric." of: Of,
    "Returns the meaning." doc: &'static str,
    "Returns whether the value of a group is the sum over its flows." adds: bool,
    "Returns the engines that record the metric, for every entity that can have it." engines: &'static [Engine],
}

impl Metric {
    const fn count_with_quantiles() -> usize {
        let (mut i, mut count) = (0, 0);
        while i < Metric::ROWS.len() {
            count += Metric::ROWS[i].quantiles as usize;
            i += 1;
        }
        count
    }

    /// The metrics of flows with [`QUANTILES`] for a group recorded as a whole.
    pub const WITH_QUANTILES: [Metric; Metric::count_with_quantiles()] = {
        let mut found = [Metric::ALL[0]; Metric::count_with_quantiles()];
        let (mut i, mut count) = (0, 0);
        while i < Metric::ROWS.len() {
            if Metric::ROWS[i].quantiles {
                found[count] = Metric::ALL[i];
                count += 1;
            }
            i += 1;
        }
        found
    };

    /// Returns the row of the metric.
    pub const fn row(self) -> Row {
        let place = match (self, self.place()) {
            (Metric::Inner(inner), _) => return Row::of_inner(inner),
            (_, Some(place)) => place,
            (_, None) => unreachable!(),
        };
        Metric::ROWS[place]
    }

    /// Returns all metrics. The variables of the controllers in the declared catalogues are at the end, in
    /// the order of their names.
    pub fn known() -> Vec<Metric> {
        let inner = declared().into_iter().map(Metric::Inner);
        Metric::ALL.iter().copied().chain(inner).collect()
    }

    /// Returns the names of the states that the values index, or an empty list for a metric that is not a
    /// state.
    pub const fn states(self) -> &'static [&'static str] {
        match self {
            Metric::Inner(inner) => inner.states(),
            _ => &[],
        }
    }

    /// Returns whether the metric is of the inner state of senders, which is recorded if the scenario asks
    /// for it ([`Scenario::inner`](crate::Scenario::inner)).
    pub const fn is_inner(self) -> bool {
        matches!(
            self,
            Metric::Inner(_) | Metric::Inflight | Metric::PacingRate | Metric::DeliveryRate
        )
    }

    /// Returns the metrics for which `place` has a value, in the order of these values.
    pub fn placed(place: impl Fn(&Row) -> Option<u8>) -> Vec<Metric> {
        let all = Metric::ALL.iter();
        let mut found: Vec<_> = all.filter_map(|m| Some((place(&m.row())?, *m))).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, metric)| metric).collect()
    }

    /// Returns the metrics that the page plots over time, in its order. The first is the default subject of a
    /// scenario.
    pub fn plotted() -> Vec<Metric> {
        Metric::placed(|row| Some(row.panel?.0))
    }

    /// Returns whether the metric is a ratio of two other metrics, which are recorded instead.
    pub const fn is_ratio(self) -> bool {
        matches!(self.fold(), Fold::Ratio(..))
    }

    /// Returns the value of a ratio from the sums or means of its two metrics, in its unit. Returns `None` if
    /// the denominator is zero, and for a share above 1: the packets dropped came earlier.
    pub fn ratio(over: Metric, over_sum: f64, under: Metric, under_sum: f64) -> Option<f64> {
        let bits = |metric: Metric| match metric.unit() {
            MetricUnit::Bytes => 8.0,
            _ => 1.0,
        };
        let ratio = over_sum * bits(over) / (under_sum * bits(under));
        let is_share = matches!(over, Metric::Drops | Metric::Judged | Metric::LostRate);
        let most = if is_share { 1.0 + ROUNDING } else { f64::INFINITY };
        (under_sum > 0.0 && ratio <= most).then_some(ratio)
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
        Metric::of_word(s).ok_or_else(|| format!("there is no metric \"{s}\""))
    }
}

/// The entity of a series. Numbers are indices in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entity {
    /// A flow.
    Flow(usize),
    /// A group of flows.
    Group(usize),
    /// A quantile over the flows of a group, at each sample over the flows that have a value.
    Quantile {
        /// The group.
        group: usize,
        /// The share of the flows with a smaller value, in per cent.
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
