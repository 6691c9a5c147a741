//! The tests of `accord-sim`, one module per subject.

mod common;

mod aggregates;
mod applications;
mod aqm;
mod calendar;
mod ecn;
mod estimate;
mod hosts;
mod inner;
mod l4s;
mod links;
mod machines;
mod monaco;
mod one_fifo;
mod others;
mod paths;
mod queueing;
mod readings;
mod recovery;
mod response;
mod response_cubic;
mod rivals;
mod sampling;
mod service;
mod shortcuts;
mod skip;
mod stacks;
mod ties;
mod tunnels;
mod validation;
mod web;
mod windows;
