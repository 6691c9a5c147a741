//! The tests of `accord-control`, one module per subject.

mod common;
#[path = "common/bbr3_flow.rs"]
mod flow;
#[path = "common/script.rs"]
mod script;
#[path = "../../aqm/tests/common/any_values.rs"]
mod values;

mod acc;
mod any;
mod bbr1;
mod bbr3;
mod bbr3_rules;
mod bbr3_window;
mod c4;
mod c4_oracle;
mod config;
mod copa_mode;
mod cubic;
mod dctcp;
mod ecn_windows;
mod hystart;
mod initial_window;
mod law;
mod ledbat;
mod ledbat_pp;
mod loss;
mod multcp;
mod papers;
mod pauses;
mod prague;
mod rapid;
mod reno;
mod search;
mod service;
mod vegas;
mod vegas_rem;
