//! Unix sockets by which running programs report their state: HTTP, one request per connection.
//!
//! [`Door`] is the server's side, and [`ask`] the client's. [`metrics`] writes answers in the text
//! format of Prometheus.

#[cfg(unix)]
mod client;
#[cfg(unix)]
mod door;
pub mod metrics;

#[cfg(unix)]
pub use client::ask;
#[cfg(unix)]
pub use door::{Door, Error, Request, line};
