//! Estimators of a flow's accumulation, and of the price of its path.

mod marks;
mod queuing;
mod recent;
mod sliding_min;
mod vegas;

pub use marks::MarkEstimator;
pub(crate) use queuing::QueuingDelay;
pub(crate) use recent::Recent;
pub use vegas::VegasEstimator;
