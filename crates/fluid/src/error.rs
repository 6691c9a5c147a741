use accord_record::Interrupted;

/// Updates of flows and queues that a run may take; some minutes of one core.
pub(crate) const MOST_WORK: f64 = 2e10;

/// The reason why a scenario has no fluid run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FluidError {
    /// The shortest delay asks for more work than is reasonable.
    #[error(
        "steps of {step:.3e} s make {work:.1e} updates, more than {limit:.0e}; {hint}",
        limit = MOST_WORK
    )]
    TooFine {
        /// The step in seconds.
        step: f64,
        /// Steps times flows and queues.
        work: f64,
        /// The remedy.
        hint: &'static str,
    },
    /// Delays reach too far back for the shortest of them.
    #[error(
        "the longest delay is {ratio:.1e} steps long; histories of more than 4194304 values are not kept"
    )]
    TooDeep {
        /// Longest delay over step.
        ratio: f64,
    },
    /// A controller that has no law here.
    #[error(
        "{group}: the fluid engine has no law for {controller}: {why}; run it with the packet engine"
    )]
    NoLaw {
        /// The group of flows.
        group: String,
        /// The name of its controller.
        controller: &'static str,
        /// Why, as its family says.
        why: &'static str,
    },
    /// A tunnel that does not send all it can.
    #[error(
        "{tunnel}: the fluid engine has tunnels only that send all they can: {why}; run it with the packet engine"
    )]
    Tunnel {
        /// The flow that is the tunnel.
        tunnel: String,
        /// What rides in it.
        why: &'static str,
    },
    /// A queue discipline that has no law here.
    #[error(
        "{link}: the fluid engine has no law for {discipline}: {why}; run it with the packet engine"
    )]
    NoDiscipline {
        /// The link.
        link: String,
        /// The name of its discipline.
        discipline: &'static str,
        /// Why, as its family says.
        why: &'static str,
    },
    /// A link that packets share with a fluid changes.
    #[error(
        "{link}: packets share it with fluid flows, so that its rate and delay cannot change; leave out `as = \"fluid\"` of the flows over it, or the event"
    )]
    Changes {
        /// The link.
        link: String,
    },
    /// The observer stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl From<Interrupted> for FluidError {
    fn from(_: Interrupted) -> Self {
        FluidError::Interrupted
    }
}
