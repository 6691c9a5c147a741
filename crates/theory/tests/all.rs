//! The tests of `accord-theory`, one module per subject.

#[path = "../../solver/tests/common/mod.rs"]
mod common;

mod assumptions;
mod bat;
mod demands;
mod gradient;
mod papers;
mod phases;
mod rules;
mod services;
mod transfers;
mod tunnels;
mod warm;
