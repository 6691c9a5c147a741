//! Stability margins of the equilibria of congestion control.
//!
//! [`stability`] linearises the model of [`accord_fluid`] at the equilibrium of a phase and returns its
//! distance from cycling. Windows that are decided once per round trip have their own [`Loop`].
//!
//! Keys of the sources: `[Xia05]` Xia, Harrison, Kalyanaraman, Ramachandran, Venkatesan,
//! *Accumulation-based Congestion Control*; `[Low02]` Low, Peterson, Wang, *Understanding TCP Vegas: A
//! Duality Model*; `[Har02]` Harrison, Xia, Kalyanaraman, Venkatesan, *A Closed-loop Scheme for Expected
//! Minimum Rate and Weighted Rate Services*.
//!
//! Two Monaco flows share a link of 8 Mbps:
//!
//! ```
//! use accord_family::Catalogue;
//! use accord_language::File;
//! use accord_units::Time;
//!
//! let (controllers, disciplines) = (accord_control::FAMILIES, accord_aqm::FAMILIES);
//! let catalogue = Catalogue { controllers, disciplines };
//! let text = r#"
//!     duration = "10 s"
//!     topology.dumbbell = { rate = "8 Mbps", delay = "20 ms" }
//!     flow.a = { count = 2, from = "left", to = "right", controller = "monaco" }
//! "#;
//! let scenario = File::parse("small.toml", text)?.points(&catalogue, None)?.remove(0);
//!
//! let found = accord_margins::stability(&scenario, Time::ZERO)?;
//! assert!(found.is_stable());
//! // The gain is 0.5, and the loop of a round trip has the limit 1.
//! assert!((found.margins.gain - 2.0).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod balance;
mod error;
mod linear;
mod linearise;
mod margins;
mod rest;
mod roots;
mod rounds;
mod show;
mod signal;
mod stability;

pub use error::MarginsError;
pub use linear::{Linear, Term};
pub use linearise::linearise;
pub use margins::{Margins, margins};
pub use nalgebra::Complex;
pub use rest::Rest;
pub use roots::rightmost_roots;
pub use rounds::{Loop, largest};
pub use show::text;
pub use stability::{Stability, stability};
