//! Lines over time for plots: chosen, smoothed and thinned.

pub mod lines;
pub mod smooth;
pub mod thin;
