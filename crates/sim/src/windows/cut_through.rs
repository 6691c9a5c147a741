//! Cut-through links, and the index of each link in the network.

use super::ports::PriorityPipe;
use crate::hop::WireExit;
use crate::pipe::Pipe;
use accord_scenario::LinkId;
use accord_units::{Duration, Time};

/// The list that a link is in, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkIndex {
    /// In the shared links.
    Shared(u32),
    /// In the cut-through links.
    CutThrough(u32),
    /// In the uncontended ports.
    Uncontended(u32),
    /// In the ports that no flow uses.
    Unused(u32),
}

/// A link that takes packets ahead of the clock, because a single part sends all of them in order
/// of arrival. The link belongs to that part.
#[repr(align(64))]
pub struct CutThroughLink {
    /// The port.
    pub port: CutThroughPort,
    /// The propagation delay.
    pub delay: Duration,
    /// The link.
    pub link: LinkId,
}

impl CutThroughLink {
    /// Returns the exit of a packet that enters the wire at `sent`.
    #[inline(always)]
    pub fn leaves(&self, sent: Time) -> WireExit {
        WireExit { link: self.link, at: sent + self.delay }
    }
}

/// The port of a cut-through link.
pub enum CutThroughPort {
    /// Has no limit, and a backlog that is never read.
    Pipe(Pipe),
    /// A pipe with two priorities. Without it `monaco-20` takes 1.5 times the CPU time.
    Priority(Box<PriorityPipe>),
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<CutThroughLink>() == 128);
