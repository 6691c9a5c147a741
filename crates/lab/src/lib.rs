//! The laboratory: a page on which a scenario is written, run and compared.
//!
//! The page shows the errors of a scenario as it is typed, its topology, and its plots. Theory and
//! the fluid engine respond to every change. Packet runs are streamed while they are computed.
//!
//! The page is served on localhost ([`Lab`]), or is one file that a browser opens without a server ([`saved`]).
//! Both have the same answers to the page's requests. In the file a worker gives them: this crate as WebAssembly,
//! built by `tools/web/build`.
//!
//! The server listens on the loopback interface only. Every request has to carry a secret, which is
//! in the address of the page, and the page loads nothing from elsewhere.
//!
//! ```
//! use accord_lab::{Lab, Settings};
//!
//! let lab = Lab::open(Settings::new(accord::catalogue()))?;
//! assert!(lab.url().starts_with("http://127.0.0.1:"));
//! # Ok::<(), std::io::Error>(())
//! ```

#![expect(clippy::disallowed_methods, reason = "a server waits, and reports the duration of runs")]

#[cfg(not(target_family = "wasm"))]
mod class;
mod desk;
mod draft;
mod exercise;
mod gallery;
mod hand_in;
mod lesson;
#[cfg(not(target_family = "wasm"))]
mod place;
mod run;
#[cfg(not(target_family = "wasm"))]
mod save;
#[cfg(not(target_family = "wasm"))]
mod serve;
#[cfg(not(target_family = "wasm"))]
mod server;
#[cfg(not(target_family = "wasm"))]
mod settings;
#[cfg(target_family = "wasm")]
mod worker;

#[cfg(not(target_family = "wasm"))]
pub use class::{Class, Mark, Student};
pub use exercise::{Exercise, Task};
pub use gallery::LESSONS;
pub use hand_in::Work;
pub use lesson::{Choice, Guess, Judged, Lesson, Shown};
#[cfg(not(target_family = "wasm"))]
pub use save::saved;
#[cfg(not(target_family = "wasm"))]
pub use serve::Lab;
#[cfg(not(target_family = "wasm"))]
pub use settings::{PORT, Settings};
