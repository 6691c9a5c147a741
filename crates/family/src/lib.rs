//! Controllers and queue disciplines, as all other parts see them.
//!
//! Each one declares itself once, as a [`Family`]. The scenario language reads, checks and
//! documents its parameters from that table, and the constructor gets them as [`Values`],
//! already in range. Theory takes its [`Objective`] or its [`Price`] from there, the fluid engine
//! its [`Dynamics`], and the packet engines what makes one.

mod catalogue;
mod config;
mod dynamics;
mod family;
mod markdown;
mod objective;
mod param;
mod service;
mod values;

pub use catalogue::Catalogue;
pub use config::{Field, differences, set};
pub use dynamics::{
    BaseRtt, Dynamics, FlowFacts, QueueDynamics, QueueFacts, QueueLaw, Reads, WindowDynamics,
    WindowLaw,
};
pub use family::{Family, Role};
pub use markdown::{fill_tables, markdown_table};
pub use objective::{Objective, Price, Target};
pub use param::{Kind, Param, Raw, Value};
pub use service::Service;
pub use values::Values;
