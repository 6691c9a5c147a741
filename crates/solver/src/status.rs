//! Outcomes of the solver.

/// The outcome of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Status {
    /// Every residual is within the tolerance.
    Solved,
    /// No rates fit. On one link the flows insist on more than there is `[Har02 eq. 15]`, or on all
    /// there is while another flow needs some of it.
    ///
    /// The rates are then those that the flows insist on, and the prices are zero.
    Infeasible {
        /// The link that is oversubscribed by the largest factor.
        link: usize,
        /// The rates that its flows insist on: contracted rates without accumulation limit, and
        /// fixed rates.
        insisted: f64,
        /// The capacity of the link.
        capacity: f64,
    },
    /// The residuals did not come within the tolerance. The rates and prices are the best that were
    /// found, and the certificate says how good they are.
    NotConverged,
}
