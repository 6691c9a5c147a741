//! Why engines differ: gap attribution.
//!
//! Theory is a model of packets, and packets are a model of a network. If a figure of one differs
//! from that of the other, something that the model leaves out is the cause. An [`Effect`] is one
//! such thing: a function that takes a scenario and gives the same scenario without it. The
//! equilibrium of the model stays. No correction is computed: each number is the difference of two
//! runs.
//!
//! Definitions, for a figure with the value r by the reference and m by the engine in question:
//!
//! ```text
//! gap of a set S       g(S) = (m(S) − r(S)) / |r(S)|, both engines run without the effects of S
//! an effect e explains g(B) − g(B ∪ {e}), B empty, or what e needs to be without as well
//! interaction          g(∅) − g(all) − the sum of the parts of the effects
//! left                 g(all)
//! ```
//!
//! A gap is relative to the reference's own value of the same scenario, so that a change of the
//! reference is never counted as an explanation; [`Attribution::shifts`] gives the size of that
//! change. Flows that are judged each by itself have the gap of the one that is farthest off.
//!
//! Smaller packets make controllers slower that move by a packet a round trip. So that a longer
//! transient is not taken for an effect of packets, they are compared in the run that is longer
//! as well: B is the start-up there.
//!
//! Verdicts, with the tolerance t of the expectation, or 5 %:
//!
//! - AGREE: |g(∅)| ≤ t.
//! - EXPLAINED by S: runs without S were made, |g(S)| ≤ t, each effect in S is claimed, and
//!   |g(all)| ≤ t.
//! - DIVERGENT: none of these.
//!
//! The last condition of EXPLAINED guards against chance. An effect that opens another gap may
//! cover one that has a cause of its own; then packets without any effect differ from theory still.
//!
//! An effect is claimed of a figure by itself if it explains in the direction of the gap, at least
//! [`MATERIAL`] of it, and more than its noise: the 95 % confidence interval over the seeds, of the
//! differences seed by seed. S is the single effect that explains most of those that do by
//! themselves; else the two that explain most, the three, and so on. If no such set is enough,
//! effects may work only together: a buffer that is too small hides another effect that would fill
//! it. Then S is all effects but those that can be put back, the weakest first, with the gap still
//! closed; an effect in it is claimed because the gap opens with it, by more than noise.
//!
//! The crate makes no runs: who calls [`attribute`] does, as many at once as it likes.
//!
//! An effect is taken away from a scenario, and the equilibrium of the model stays:
//!
//! ```
//! use accord_explain::Effect;
//! use accord_family::Catalogue;
//! use accord_language::File;
//! use accord_record::Quiet;
//! use accord_scenario::{Engine, Entity, Limit, Metric};
//!
//! let catalogue = Catalogue {
//!     controllers: accord_control::FAMILIES,
//!     disciplines: accord_aqm::FAMILIES,
//! };
//! let text = r#"
//!     duration = "10 s"
//!     [topology.dumbbell]
//!     rate = "8 Mbps"
//!     delay = "20 ms"
//!     [flow.a]
//!     count = 2
//!     from = "left"
//!     to = "right"
//!     controller = "vegas"
//! "#;
//! let scenario = File::parse("small.toml", text)?.points(&catalogue, None)?.remove(0);
//!
//! let endless = Effect::Buffers.without(&scenario, 4, Engine::Packet)?;
//! assert!(endless.links.iter().all(|l| l.queue.limit == Limit::Unlimited));
//! let rate = |s| {
//!     let run = accord_theory::run(s, &mut Quiet).expect("it is a valid problem");
//!     run.mean(Metric::Throughput, Entity::Flow(0), s.steady)
//! };
//! assert_eq!(rate(&scenario), rate(&endless));
//! // There is no loss on wires here that could be taken away.
//! assert!(Effect::Loss.without(&scenario, 4, Engine::Packet).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attribution;
mod effect;
mod figure;
mod flows;
mod resize;
mod show;
mod stretch;
mod timers;

pub use attribution::{
    Attribution, Explained, Finding, Job, MATERIAL, Reading, Seeds, Shift, Skipped, Verdict,
    attribute,
};
pub use effect::Effect;
pub use figure::{DEFAULT_TOLERANCE, Pair, Which};
pub use show::text;
