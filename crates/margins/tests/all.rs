//! The tests of `accord-margins`, one module per subject.

mod common;

mod equations;
mod hostile;
mod loops;
mod margins;
mod rounds;
mod services;
mod signals;
