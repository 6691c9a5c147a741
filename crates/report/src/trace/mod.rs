//! Lines over time as plots need them: chosen, smoothed and thinned.

pub mod lines;
pub mod smooth;
pub mod thin;
