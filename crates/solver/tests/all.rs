//! The tests of `accord-solver`, one module per subject.

#[path = "common/barrier.rs"]
mod barrier;
mod common;
#[path = "common/double.rs"]
mod double;

mod bisection;
mod certificate;
mod contracts;
mod demand;
mod hostile;
mod max_min;
mod optimum;
mod start;
