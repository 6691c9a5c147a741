//! Why engines differ: gap attribution.
//!
//! Theory is a model of packets, and packets are a model of a network. If their values differ, the
//! cause is an effect that the model leaves out. An [`Effect`] is a function that takes a scenario
//! and returns the same scenario without the effect. The equilibrium of the model stays. No
//! correction is computed: each number is the difference between two runs. `docs/src/explain.md`
//! defines the gap, the part that an effect explains, and the verdicts.
//!
//! A gap is relative to the reference's own value for the same scenario, so a change of the
//! reference never counts as an explanation. [`Attribution::shifts`] gives the size of that change.
//! An effect that opens another gap may hide one that has a separate cause. So a set of effects
//! explains a gap only if removing all effects also closes the gap.
//!
//! The crate does not make runs. The caller of [`attribute`] does, any number of them at once.

mod attribution;
mod effect;
mod figure;
mod flows;
mod lead;
mod missing;
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
pub use missing::Missing;
pub use show::text;
