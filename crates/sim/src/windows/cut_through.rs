//! The links that belong to the part that feeds them, and the places of all links.

use super::ports::PriorityPipe;
use crate::hop::WireExit;
use crate::pipe::Pipe;
use accord_scenario::LinkId;
use accord_units::{Duration, Time};

/// The list that a link is in, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkIndex {
    /// Among the stations.
    Shared(usize),
    /// Among the fused links.
    CutThrough(usize),
    /// Among the calm ports.
    Uncontended(usize),
    /// Among those that no flow uses.
    Unused(usize),
}

/// A link that takes packets before their time: they come in the order in which one part sends them.
#[repr(align(64))]
pub struct CutThroughLink {
    /// Its port.
    pub port: CutThroughPort,
    /// Its propagation delay.
    pub delay: Duration,
    /// The link.
    pub link: LinkId,
}

impl CutThroughLink {
    /// Returns where a packet comes out that is on the wire at `sent`.
    #[inline(always)]
    pub fn leaves(&self, sent: Time) -> WireExit {
        WireExit {
            link: self.link,
            at: sent + self.delay,
        }
    }
}

/// The port of a fused link.
pub enum CutThroughPort {
    /// Has no limit, and a length that is never read.
    Pipe(Pipe),
    /// The same with two priorities. Without lanes `monaco-20` takes 1.7 to 2.0 times the CPU time.
    Priority(Box<PriorityPipe>),
}

const _: () = assert!(size_of::<CutThroughLink>() == 128);
