//! The reports of running programs: their state, through Unix sockets (HTTP, one request per connection), and
//! a [`log`] of events.
//!
//! [`Door`] is the server's side, and [`ask`] the client's. [`Ask`] is a request, and [`State`] the answer
//! in three forms. [`fields!`] declares each field of a state once, and [`metrics`] writes the text format
//! of Prometheus.

#[cfg(unix)]
mod client;
#[cfg(unix)]
mod door;
pub mod log;
pub mod metrics;
mod state;

#[cfg(unix)]
pub use client::ask;
#[cfg(unix)]
pub use door::{Door, Error, Request};
pub use state::{Ask, Form, State, table};
