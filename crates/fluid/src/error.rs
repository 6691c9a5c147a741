use accord_record::Interrupted;

/// The maximum number of updates of flows and queues in a run: some minutes of one core.
pub(crate) const MOST_WORK: f64 = 2e10;

/// The reason why a scenario has no fluid run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FluidError {
    /// The shortest delay requires too many steps.
    #[error(
        "steps of {step:.3e} s make {work:.1e} updates, more than {limit:.0e}; {hint}",
        limit = MOST_WORK
    )]
    TooFine {
        /// The step in seconds.
        step: f64,
        /// The number of steps times that of flows and queues.
        work: f64,
        /// The remedy.
        hint: &'static str,
    },
    /// The ratio of the longest to the shortest delay is too large.
    #[error(
        "the longest delay is {ratio:.1e} steps long; histories of more than 4194304 values are not kept"
    )]
    TooDeep {
        /// The longest delay in steps.
        ratio: f64,
    },
    /// A controller without a fluid law.
    #[error(
        "{group}: the fluid engine has no law for {controller}: {why}; run it with the packet engine"
    )]
    NoLaw {
        /// The group of flows.
        group: String,
        /// The name of its controller.
        controller: &'static str,
        /// The reason, from its family.
        why: &'static str,
    },
    /// A tunnel that does not always send as much as it can.
    #[error(
        "{tunnel}: the fluid engine needs tunnels that always have data to send: {why}; run it with the packet engine"
    )]
    Tunnel {
        /// The flow that is the tunnel.
        tunnel: String,
        /// The traffic in the tunnel.
        why: &'static str,
    },
    /// A queue discipline without a fluid law.
    #[error(
        "{link}: the fluid engine has no law for {discipline}: {why}; run it with the packet engine"
    )]
    NoDiscipline {
        /// The link.
        link: String,
        /// The name of its discipline.
        discipline: &'static str,
        /// The reason, from its family.
        why: &'static str,
    },
    /// The observer stopped the run.
    #[error("interrupted")]
    Interrupted,
}

impl From<Interrupted> for FluidError {
    fn from(_: Interrupted) -> Self {
        FluidError::Interrupted
    }
}
