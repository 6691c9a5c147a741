//! The tests of `accord-language`, one module per subject.

mod common;

mod carrier;
mod errors;
mod hostile;
mod language;
mod lines;
mod properties;
mod reference;
mod schema;
mod service;
mod trace;
mod tunnels;
mod web;
