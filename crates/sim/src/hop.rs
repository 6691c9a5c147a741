//! The steps of a path.

use accord_scenario::LinkId;

/// A step on a path: a link, or the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop(u32);

impl Hop {
    /// The bit of a hop that takes packets before their time.
    const EARLY: u32 = 1 << 31;
    /// The hop of all endpoints, above all links.
    pub const END: Hop = Hop(Hop::EARLY - 1);
    /// The hop of an endpoint that takes packets before their time.
    pub const END_EARLY: Hop = Hop(u32::MAX);

    /// Creates the hop over a link that takes packets at their time.
    pub fn station(link: LinkId) -> Hop {
        Hop(link as u32)
    }

    /// Creates the hop over a link that takes packets before their time if it is `early`.
    pub fn over(link: LinkId, early: bool) -> Hop {
        Hop(link as u32 | u32::from(early) << 31)
    }

    /// Returns the link, unless the hop is the end.
    #[inline]
    pub fn link(self) -> usize {
        (self.0 & !Hop::EARLY) as usize
    }

    /// Returns whether the packet is at its endpoint.
    #[inline]
    pub fn is_end(self) -> bool {
        self.0 & !Hop::EARLY == Hop::END.0
    }

    /// Returns whether the hop is a link or an endpoint that takes packets before their time.
    #[inline]
    pub fn is_shortcut(self) -> bool {
        self.0 >= Hop::EARLY
    }
}
