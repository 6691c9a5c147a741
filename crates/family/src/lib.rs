//! Controllers and queue disciplines, as the other crates see them.
//!
//! Each controller and each discipline declares itself once, as a [`Family`] with its [`params!`].
//! The scenario language reads, checks and documents its parameters from that table. The
//! constructor receives them as [`Values`], already in range. Theory takes the [`Objective`] or the
//! [`Price`] from the family. The fluid engine takes its [`Dynamics`], and the packet engines take
//! its maker.

mod catalogue;
mod config;
mod dynamics;
mod family;
mod inner;
mod invalid;
pub mod kind;
mod markdown;
mod objective;
mod param;
mod service;
mod stack;
mod values;

pub use catalogue::Catalogue;
pub use config::{Field, Parameters, set, with_aggregates};
pub use dynamics::{
    BaseRtt, Dynamics, FlowFacts, GivesUp, Pace, QueueDynamics, QueueFacts, QueueLaw, Reads,
    Rounds, WindowDynamics, WindowLaw,
};
pub use family::{Family, Role};
pub use inner::{Inner, InnerState, Quantity, declared};
pub use invalid::Invalid;
pub use markdown::{fill_tables, markdown_table};
pub use objective::{Objective, Price, Target};
pub use param::{Kind, Meaning, Param, Raw, Value};
pub use service::{Service, Signal};
pub use stack::{Stack, StackCode};
pub use values::Values;
