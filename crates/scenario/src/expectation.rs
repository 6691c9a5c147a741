//! The expectations of a scenario.

use crate::engine::Engine;
use crate::metric::{Metric, MetricUnit};
use accord_units::Time;

/// A part of the run, from `start` up to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// From here ...
    pub start: Time,
    /// ... to here.
    pub end: Time,
}

/// One figure, and what it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// One line for people; unique in the scenario.
    pub name: String,
    /// The engine whose run is judged.
    pub engine: Engine,
    /// The quantity.
    pub metric: Metric,
    /// Of what.
    pub of: Subject,
    /// The way in which the samples in the window become one number, per flow or link.
    pub over: Over,
    /// The way in which the numbers of a group's flows become one.
    pub across: Across,
    /// The part of the run that counts.
    pub during: Window,
    /// What it should be, in the metric's unit (a ratio for `Over::Variation`,
    /// `Across::Variation` and `Across::Jain`).
    pub target: Target,
    /// The paper's claim, as text, or "".
    pub paper: String,
    /// Whose claim it is.
    pub claim: Claim,
    /// The record of a known failure.
    pub fails: Option<KnownFailure>,
}

impl Expectation {
    /// The unit of its target: the metric's own, or a ratio.
    pub fn unit(&self) -> MetricUnit {
        let index = matches!(self.across, Across::Variation | Across::Jain);
        match self.over == Over::Variation || index {
            true => MetricUnit::Ratio,
            false => self.metric.unit(),
        }
    }
}

/// Whose claim an [`Expectation`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Claim {
    /// A paper says so.
    Paper,
    /// A model says so.
    Theory,
    /// Whoever wrote the file says so.
    #[default]
    Ours,
}

impl Claim {
    /// All of them with their words in files.
    pub const NAMES: [(&'static str, Claim); 3] = [
        ("paper", Claim::Paper),
        ("theory", Claim::Theory),
        ("ours", Claim::Ours),
    ];

    /// The word in files.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }
}

/// The cause of a known failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The paper: its claim does not hold, or not as it stands there.
    Paper,
    /// A setting that the paper leaves open.
    Setting,
    /// This program falls short, or the law that it runs.
    Ours,
}

impl Cause {
    /// All of them with their words in files.
    pub const NAMES: [(&'static str, Cause); 3] = [
        ("paper", Cause::Paper),
        ("setting", Cause::Setting),
        ("ours", Cause::Ours),
    ];

    /// The word in files.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }
}

/// A failure that is known and explained.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownFailure {
    /// The cause.
    pub why: Cause,
    /// The cause in words, and how it is known.
    pub because: String,
    /// What was measured. `None` where that was of other runs, such as of another seed: then
    /// the failure is known whatever comes out, and may be gone.
    pub record: Option<Measured>,
}

/// A figure that was measured, and how far it may move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The figure, in the unit of the expectation's target.
    pub value: f64,
    /// The relative move up to which it counts as the same.
    pub band: f64,
}

impl Measured {
    /// Whether `value` is the recorded figure, give or take the band.
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

/// The way in which samples over time become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Over {
    /// Their mean, or sum for a metric that counts.
    #[default]
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Their standard deviation divided by their mean.
    Variation,
    /// The quantile at this fraction.
    Quantile(f64),
}

/// The way in which the numbers of several flows become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Across {
    /// Their mean.
    Mean,
    /// The flows taken as one: their sum at each sample, of which those that are not active are
    /// no part, then over time. So a mean is over the window, not over a flow's active time.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Each must meet the target; the one farthest off is shown.
    #[default]
    Each,
    /// Their standard deviation divided by their mean.
    Variation,
    /// Jain's fairness index.
    Jain,
}

/// The target of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// This value, give or take `tolerance` (relative).
    Value {
        /// The value, in the metric's unit.
        value: f64,
        /// Relative tolerance.
        tolerance: f64,
    },
    /// Farther from this value than `tolerance` (relative): a claim that something does not
    /// come out.
    Beyond {
        /// The value, in the metric's unit.
        value: f64,
        /// Relative tolerance.
        tolerance: f64,
    },
    /// Another engine's figure, give or take `tolerance` (relative).
    Engine {
        /// The engine to agree with.
        engine: Engine,
        /// Relative tolerance.
        tolerance: f64,
    },
    /// Within these bounds, either of which may be infinite.
    Range {
        /// At least this.
        min: f64,
        /// At most this.
        max: f64,
    },
}
