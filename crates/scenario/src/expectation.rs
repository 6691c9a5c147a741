//! What a scenario expects of its runs.

use crate::engine::Engine;
use crate::metric::Metric;
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
    /// How the samples in the window become one number, for each flow or link.
    pub over: Over,
    /// How the numbers of a group's flows become one.
    pub across: Across,
    /// The part of the run that counts.
    pub during: Window,
    /// What it should be, in the metric's unit (a ratio for `Over::Variation`,
    /// `Across::Variation` and `Across::Jain`).
    pub target: Target,
    /// What the paper says, as text, or "".
    pub paper: String,
}

/// What an [`Expectation`] or a table row is about.
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

/// How samples over time become one number.
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

/// How the numbers of several flows become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Across {
    /// Their mean.
    Mean,
    /// Their sum.
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

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// This value, give or take `tolerance` (relative).
    Value {
        /// The value, in the metric's unit.
        value: f64,
        /// Relative tolerance.
        tolerance: f64,
    },
    /// What another engine says, give or take `tolerance` (relative).
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
