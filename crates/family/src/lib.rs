//! What a controller or a queue discipline is to everybody else.
//!
//! Each one declares itself once, as a [`Family`]. The scenario language reads, checks and
//! documents its parameters from that table, and the constructor gets them as [`Values`],
//! already in range. Theory takes its [`Objective`] or its [`Price`] from there.

mod family;
mod markdown;
mod objective;
mod param;
mod service;
mod values;

pub use family::{Family, Role};
pub use markdown::{fill_tables, markdown_table};
pub use objective::{Objective, Price, Target};
pub use param::{Kind, Param, Raw, Value};
pub use service::Service;
pub use values::Values;
