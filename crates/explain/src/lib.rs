//! Why engines differ: gap attribution.
//!
//! Theory is a model of packets, and packets are a model of a network. If a figure of one differs
//! from that of the other, something that the model leaves out is the cause. An [`Effect`] is one
//! such thing: a function that takes a scenario and gives the same scenario without it. The
//! equilibrium of the model stays. No correction is computed: each number is the difference of two
//! runs. `docs/src/explain.md` defines the gap, the part that an effect explains, and the verdicts.
//!
//! A gap is relative to the reference's own value of the same scenario, so a change of the
//! reference is never counted as an explanation; [`Attribution::shifts`] gives the size of that
//! change. An effect that opens another gap may cover one that has a cause of its own. So a set of
//! effects explains a gap only if the gap without all effects is closed, too.
//!
//! The crate makes no runs: who calls [`attribute`] does, as many at once as it likes.

mod attribution;
mod effect;
mod figure;
mod flows;
mod lead;
mod resize;
mod show;
mod stretch;
mod timers;

pub use attribution::{
    Attribution, Explained, Finding, Job, MATERIAL, Seeds, Shift, Skipped, Verdict, attribute,
};
pub use effect::Effect;
pub use figure::{DEFAULT_TOLERANCE, Pair, Values, Which};
pub use lead::lead;
pub use show::text;
