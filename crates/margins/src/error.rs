use accord_fluid::FluidError;

/// The reason why a scenario has no margins.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MarginsError {
    /// The fluid engine has no model of the scenario.
    #[error(transparent)]
    Fluid(#[from] FluidError),
    /// There is no such equilibrium.
    #[error("no equilibrium to linearise at: {0}")]
    NoEquilibrium(String),
    /// A law cannot be linearised.
    #[error(
        "{group}: {law} moves its window by the sign of its error only, so it has no linearisation and no margins: it goes on cycling, or stops, whatever its gain; run it (accord run FILE --engine fluid)"
    )]
    Sign {
        /// The group of flows.
        group: String,
        /// The law.
        law: &'static str,
    },
    /// The response at the equilibrium has no derivative.
    #[error(
        "{link}: {discipline} marks and rests with its queue just empty, a corner: it answers to more by a queue and to less by the price alone, so it has no linearisation; run it"
    )]
    Corner {
        /// The link.
        link: String,
        /// The name of its discipline.
        discipline: &'static str,
    },
    /// The price damps itself, which the linear model leaves out.
    #[error(
        "{link}: {discipline} drops here and does not count the drops as arrivals (count_dropped = false), for which there are no margins; run it"
    )]
    Uncounted {
        /// The link.
        link: String,
        /// The name of its discipline.
        discipline: &'static str,
    },
    /// The system is too large for dense eigenvalues.
    #[error(
        "{kinds} kinds of flows and {queues} queues make {size} unknowns, more than {limit}; stability is for smaller networks"
    )]
    TooLarge {
        /// The number of kinds of flows.
        kinds: usize,
        /// The number of queues.
        queues: usize,
        /// The number of unknowns.
        size: usize,
        /// The maximum number of unknowns.
        limit: usize,
    },
}
