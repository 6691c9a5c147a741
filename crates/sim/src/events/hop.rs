//! The steps of a path.

use accord_scenario::LinkId;
use accord_units::Time;

/// A step on a path: a link or the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop(u32);

impl Hop {
    /// The bit of a hop that takes packets before their time.
    const EARLY: u32 = 1 << 31;
    /// The bits of an index.
    const INDEX: u32 = Hop::EARLY - 1;
    /// The hop of all endpoints, above all links.
    pub const END: Hop = Hop(Hop::INDEX);
    /// The hop of an endpoint that takes packets before their time.
    pub const END_EARLY: Hop = Hop(Hop::EARLY | Hop::INDEX);

    /// Creates the hop over a link that takes packets before their time if it is `early`.
    pub fn over(link: LinkId, early: bool) -> Hop {
        Hop(link as u32 | u32::from(early) << 31)
    }

    /// Returns the link, unless the hop is the end.
    #[inline]
    pub fn link(self) -> usize {
        (self.0 & Hop::INDEX) as usize
    }

    /// Returns whether the packet is at its endpoint.
    #[inline]
    pub fn is_end(self) -> bool {
        self.0 & Hop::INDEX == Hop::INDEX
    }

    /// Returns whether the hop is one that takes packets before their time.
    #[inline]
    pub fn is_early(self) -> bool {
        self.0 >= Hop::EARLY
    }
}

/// Where a packet comes out of a wire.
#[derive(Clone, Copy)]
pub struct Came {
    /// The link.
    pub link: LinkId,
    /// The time.
    pub at: Time,
}
