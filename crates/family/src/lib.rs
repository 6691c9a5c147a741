//! Controllers and queue disciplines, as the other crates see them.
//!
//! Each controller and each discipline declares itself once, as a [`Family`]. The scenario language
//! reads, checks and documents its parameters from that table. The constructor gets them as
//! [`Values`], already in range. Theory takes the [`Objective`] or the [`Price`] from the family.
//! The fluid engine takes its [`Dynamics`], and the packet engines take its maker.
//!
//! ```
//! use accord_family::{Family, Kind, Objective, Param, Raw, Role};
//! use accord_units::{Bytes, Size};
//!
//! static PARAMS: &[Param] = &[Param {
//!     name: "target",
//!     symbol: "a*",
//!     kind: Kind::Size,
//!     default: "3 pkt",
//!     doc: "The accumulation kept.",
//!     source: "",
//! }];
//! static KEEPER: Family = Family {
//!     params: PARAMS,
//!     ..Family::new(
//!         "keeper",
//!         Role::Controller(|values| Objective::Accumulation { target: values.size("target") }),
//!     )
//! };
//!
//! let mut values = KEEPER.defaults();
//! values.set("target", &Raw::Text("6 KB".into()))?;
//! let target = Size::Bytes(Bytes::new(6000));
//! assert_eq!(KEEPER.role.objective(&values), Some(Objective::Accumulation { target }));
//! // A value of another kind is refused, and the message names the expected one.
//! assert!(values.set("target", &Raw::Flag(true)).is_err());
//! # Ok::<(), String>(())
//! ```

mod catalogue;
mod config;
mod dynamics;
mod family;
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
pub use markdown::{fill_tables, markdown_table};
pub use objective::{Objective, Price, Target};
pub use param::{Kind, Param, Raw, Value};
pub use service::{Service, Signal};
pub use stack::{Stack, StackCode};
pub use values::Values;
