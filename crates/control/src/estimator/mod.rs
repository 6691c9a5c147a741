//! Estimators of a flow's accumulation.

mod sliding_min;
mod vegas;

pub use vegas::VegasEstimator;
