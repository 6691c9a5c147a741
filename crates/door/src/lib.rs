//! Unix sockets by which programs that run answer for their state: HTTP, one request per connection.
//!
//! [`Door`] is the end of the program that runs, and [`ask`] that of those who ask. [`metrics`] writes
//! answers in the text format of Prometheus.

#[cfg(unix)]
mod client;
#[cfg(unix)]
mod door;
pub mod metrics;

#[cfg(unix)]
pub use client::ask;
#[cfg(unix)]
pub use door::{Door, Error, Request, line};
