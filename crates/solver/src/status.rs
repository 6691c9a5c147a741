//! Outcomes of the solver.

/// The outcome of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Status {
    /// Every residual is within the tolerance.
    Solved,
    /// There are no feasible rates. On one link the flows need more than its capacity at any price
    /// `[Har02 eq. 15]`, or all of it while another flow needs some.
    ///
    /// The rates are then those that are needed at any price, and the prices are zero.
    Infeasible {
        /// The link that is oversubscribed by the largest factor.
        link: usize,
        /// The rate that its flows need at any price: contracted rates without accumulation limit,
        /// and fixed rates.
        insisted: f64,
        /// The capacity of the link.
        capacity: f64,
    },
    /// The residuals did not come within the tolerance. The rates and prices are the best found,
    /// and the certificate bounds their error.
    NotConverged,
}
