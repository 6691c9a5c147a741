//! The expectations of a scenario.

use crate::engine::Engine;
use crate::metric::{Metric, MetricUnit};
use accord_units::{Time, words};

/// A part of the run, from `start` up to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The start of the window.
    pub start: Time,
    /// The end of the window.
    pub end: Time,
}

/// A figure and its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The name for people, one line. It is unique in the scenario.
    pub name: String,
    /// The engine whose run is judged.
    pub engine: Engine,
    /// The quantity that is judged.
    pub metric: Metric,
    /// The subject of the figure.
    pub of: Subject,
    /// The way in which samples in the window combine into one number, per flow or link.
    pub over: Over,
    /// The way in which the numbers of a group's flows combine into one.
    pub across: Across,
    /// The part of the run that counts.
    pub during: Window,
    /// The target, in the metric's unit. It is a ratio for `Over::Variation`, `Over::State`,
    /// `Across::Variation` and `Across::Jain`.
    pub target: Target,
    /// The paper's claim, as text, or "".
    pub paper: String,
    /// The author of the claim.
    pub claim: Claim,
    /// The record of a known failure.
    pub fails: Option<KnownFailure>,
}

impl Expectation {
    /// Returns the unit of the target: the metric's own, or a ratio.
    pub fn unit(&self) -> MetricUnit {
        if self.across.is_plain(self.over) { MetricUnit::Ratio } else { self.metric.unit() }
    }
}

words! {
    /// The author of the claim of an [`Expectation`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Claim by name {
        /// A paper makes the claim.
        Paper = "paper",
        /// A model makes the claim.
        Theory = "theory",
        /// The author of the scenario file makes the claim.
        #[default]
        Ours = "ours",
    }
}

words! {
    /// The cause of a known failure.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Cause by name {
        /// The paper: its claim does not hold, or not in the form that it has there.
        Paper = "paper",
        /// A setting that the paper leaves open.
        Setting = "setting",
        /// This program, or the law that it runs, falls short.
        Ours = "ours",
    }
}

/// A failure that is known and explained.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownFailure {
    /// The cause.
    pub why: Cause,
    /// The cause in words, and the evidence for it.
    pub because: String,
    /// The measured value. It is `None` if the value belongs to other runs, for example with
    /// another seed. Then any value counts as the known failure, and the failure may have
    /// disappeared.
    pub record: Option<Measured>,
}

/// A measured value, and the band in which it may move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The figure, in the unit of the expectation's target.
    pub value: f64,
    /// The largest relative change at which it counts as the same.
    pub band: f64,
}

impl Measured {
    /// Returns whether `value` is within the band of the recorded figure.
    pub fn holds(&self, value: f64) -> bool {
        (value - self.value).abs() <= self.band * self.value.abs()
    }
}

/// The subject of an [`Expectation`] or of a table row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// One flow.
    Flow(usize),
    /// All flows of a group.
    Group(usize),
    /// One directed link.
    Link(usize),
    /// An aggregate at a directed link.
    Aggregate {
        /// The link.
        link: usize,
        /// The aggregate.
        aggregate: usize,
    },
}

words! {
    /// The statistic of samples over time.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub enum Over by word {
        /// The mean, or the sum for a metric that counts.
        #[default]
        Mean = "mean",
        /// The smallest sample.
        Min = "min",
        /// The largest sample.
        Max = "max",
        /// The standard deviation divided by the mean.
        Variation = "variation",
        {
            /// The quantile at this fraction. The text is that of [`percentile`](crate::percentile).
            Quantile(f64)
        }
        {
            /// The share of the samples in the state of this name, of a metric that has
            /// [states](Metric::states). Files have it as `state`.
            State(&'static str)
        }
    }
}

words! {
    /// The statistic of the numbers of several flows.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Across by name {
        /// Every number has to meet the target. The one farthest off is shown.
        #[default]
        Each = "each",
        /// The mean.
        Mean = "mean",
        /// The flows taken as one: their sum at each sample, without the flows that are not active, and
        /// then the statistic over time. So a mean is over the window, not over a flow's active time.
        Sum = "sum",
        /// The smallest number.
        Min = "min",
        /// The largest number.
        Max = "max",
        /// The standard deviation divided by the mean.
        Variation = "variation",
        /// Jain's fairness index.
        Jain = "jain",
    }
}

/// The target of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// This value within `tolerance` (relative).
    Value {
        /// The value, in the metric's unit.
        value: f64,
        /// The relative tolerance.
        tolerance: f64,
    },
    /// Farther from this value than `tolerance` (relative): a claim that a result does not occur.
    Beyond {
        /// The value, in the metric's unit.
        value: f64,
        /// The relative tolerance.
        tolerance: f64,
    },
    /// Another engine's figure within `tolerance` (relative).
    Engine {
        /// The engine to agree with.
        engine: Engine,
        /// The relative tolerance.
        tolerance: f64,
    },
    /// A range. Either bound may be infinite.
    Range {
        /// The lower bound.
        min: f64,
        /// The upper bound.
        max: f64,
    },
}
