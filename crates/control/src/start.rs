//! The slow starts that a sender can choose.

use crate::hystart::{Classic, HyStart};
use crate::prelude::*;
use crate::rapid::Rapid;
use crate::search::{Rule, Search};
use accord_family::Field;

accord_family::choice! {
    /// The growth of a first slow start, and its end before a loss.
    pub enum SlowStart {
        /// The window doubles until a loss [RFC 5681].
        Plain = "plain",
        /// HyStart++: when the round-trip time rises, five rounds of slower growth, then the end [RFC 9406].
        HyStartPlus = "hystart-plus",
        /// HyStart as Linux has it, which ends slow start at once; after time-outs, too.
        HyStart = "hystart",
        /// SEARCH: ends when the data that arrives no longer doubles; after time-outs, too.
        Search = "search",
        /// Rapid Start: triples the window until there is a queue.
        Rapid = "rapid",
    }
}

/// The names of the stages of [`Start::stage`].
pub(crate) const STAGES: &[&str] = &["doubles", "conservative", "triples", "recovery", "over"];
/// The stage after slow start.
pub(crate) const OVER: f64 = 4.0;

/// The state of a slow start with rules of its own.
#[derive(Clone, Debug)]
pub(crate) enum Start {
    Plus(HyStart),
    Classic(Classic),
    Search(Box<Search>),
    Rapid(Box<Rapid>),
}

/// The effect of an acknowledgement in slow start.
pub(crate) enum Step {
    /// The window grows by these bytes.
    Grow(u64),
    /// Slow start is over, and the window falls by these bytes.
    End(u64),
}

/// The rules of the slow starts after time-outs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Later {
    Plain,
    Classic,
    Search(Rule),
}

impl Later {
    pub fn new(values: &Values) -> Later {
        match SlowStart::of(values, "slow_start") {
            SlowStart::HyStart => Later::Classic,
            SlowStart::Search => Later::Search(Rule::new(values)),
            _ => Later::Plain,
        }
    }

    /// Begins a slow start.
    pub fn begin(self, now: Time) -> Option<Start> {
        match self {
            Later::Plain => None,
            Later::Classic => Some(Start::Classic(Classic::new(now))),
            Later::Search(rule) => Some(Start::Search(Box::new(Search::new(rule)))),
        }
    }
}

impl Start {
    /// Begins the first slow start, if it has rules of its own.
    pub fn first(values: &Values) -> Option<Start> {
        match SlowStart::of(values, "slow_start") {
            SlowStart::HyStartPlus => Some(Start::Plus(HyStart::new())),
            SlowStart::Rapid => Some(Start::Rapid(Box::new(Rapid::new(values)))),
            _ => Later::new(values).begin(Time::ZERO),
        }
    }

    /// Takes an acknowledgement with the window and the packet in bytes.
    pub fn on_ack(
        &mut self,
        ack: &Acked,
        (window, packet): (u64, u64),
        path: &PathView,
        now: Time,
    ) -> Step {
        match self {
            Start::Plus(plus) => plus.on_ack(ack, packet).map_or(Step::End(0), Step::Grow),
            Start::Classic(classic) => match classic.ends(ack, (window, packet), path.srtt, now) {
                true => Step::End(0),
                false => Step::Grow(ack.bytes.get()),
            },
            Start::Search(search) => match search.ends(ack, now) {
                Some(less) => Step::End(less),
                None => Step::Grow(ack.bytes.get()),
            },
            Start::Rapid(rapid) => Step::Grow(rapid.growth(ack, path, now)),
        }
    }

    /// Returns true in a recovery of Rapid Start.
    pub fn recovers(&self) -> bool {
        matches!(self, Start::Rapid(rapid) if rapid.recovers())
    }

    /// The stage, as an index of [`STAGES`].
    pub fn stage(&self) -> f64 {
        match self {
            Start::Plus(plus) if plus.is_conservative() => 1.0,
            start if start.recovers() => 3.0,
            Start::Rapid(rapid) if rapid.triples() => 2.0,
            _ => 0.0,
        }
    }

    /// The latest verdict of SEARCH.
    pub fn missing(&self) -> Option<f64> {
        match self {
            Start::Search(search) => search.missing(),
            _ => None,
        }
    }
}
