//! The links that belong to the part that feeds them, and the places of all links.

use super::hop::Came;
use super::lines::Lane;
use crate::pipe::Pipe;
use accord_scenario::LinkId;
use accord_units::{Duration, Time};

/// The list that a link is in, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among the stations.
    Station(usize),
    /// Among the fused links.
    Fused(usize),
    /// Among the calm ports.
    Calm(usize),
    /// Among those that no flow uses.
    Idle(usize),
}

/// A link that takes packets before their time: they come in the order in which one part sends them.
#[repr(align(64))]
pub struct Fused {
    /// Its port.
    pub line: Line,
    /// Its propagation delay.
    pub delay: Duration,
    /// The link.
    pub link: LinkId,
}

impl Fused {
    /// Returns where a packet comes out that is on the wire at `sent`.
    #[inline(always)]
    pub fn leaves(&self, sent: Time) -> Came {
        Came {
            link: self.link,
            at: sent + self.delay,
        }
    }
}

/// The port of a fused link.
pub enum Line {
    /// Has no limit, and a length that is never read.
    Pipe(Pipe),
    /// The same with two priorities. Without lanes `monaco-20` takes 1.7 to 2.0 times the CPU time.
    Lane(Box<Lane>),
}

const _: () = assert!(size_of::<Fused>() == 128);
