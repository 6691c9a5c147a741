//! Estimators of a flow's accumulation, and of the price of its path.

mod marks;
mod sliding_min;
mod vegas;

pub use marks::MarkEstimator;
pub use vegas::VegasEstimator;
