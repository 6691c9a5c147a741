//! The tests of `accord-aqm`, one module per subject.

mod common;
#[path = "common/any_values.rs"]
mod values;

mod any;
mod avd;
mod avq;
mod bat;
mod clcc;
mod codel;
mod config;
mod dualpi2;
mod pie;
mod red;
mod rem;
mod step;
