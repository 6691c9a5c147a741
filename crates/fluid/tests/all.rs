//! The tests of `accord-fluid`, one module per subject.

mod common;

mod agreement;
mod batches;
mod equilibrium;
mod events;
mod hostile;
mod order;
mod rules;
mod services;
mod signals;
mod starts;
