//! The steps of a path, and where and when they end.

use accord_scenario::LinkId;
use accord_units::{Duration, Time};

/// A step on a path: a link, a stretch of links, or the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop(u32);

impl Hop {
    /// The bit of a hop that takes packets before their time.
    const EARLY: u32 = 1 << 31;
    /// The bit of a hop that is a stretch. It takes packets before their time.
    const STRETCH: u32 = 1 << 30;
    /// The bits of an index.
    const INDEX: u32 = Hop::STRETCH - 1;
    /// The hop of all endpoints, above all links.
    pub const END: Hop = Hop(Hop::INDEX);
    /// The hop of an endpoint that takes packets before their time.
    pub const END_EARLY: Hop = Hop(Hop::EARLY | Hop::INDEX);

    /// Creates the hop over a link that takes packets at their time.
    pub fn station(link: LinkId) -> Hop {
        Hop(link as u32)
    }

    /// Creates the hop over a link that takes packets before their time if it is `early`.
    pub fn over(link: LinkId, early: bool) -> Hop {
        Hop(link as u32 | u32::from(early) << 31)
    }

    /// Creates the hop over the stretch of this index.
    pub fn stretch(index: usize) -> Hop {
        Hop(index as u32 | Hop::EARLY | Hop::STRETCH)
    }

    /// Returns the link, or the index of the stretch, unless the hop is the end.
    #[inline]
    pub fn link(self) -> usize {
        (self.0 & Hop::INDEX) as usize
    }

    /// Returns whether the packet is at its endpoint.
    #[inline]
    pub fn is_end(self) -> bool {
        self.0 & !Hop::EARLY == Hop::END.0
    }

    /// Returns whether the hop is one that takes packets before their time.
    #[inline]
    pub fn is_shortcut(self) -> bool {
        self.0 >= Hop::EARLY
    }

    /// Returns whether the hop is a stretch.
    #[inline]
    pub fn is_stretch(self) -> bool {
        self.0 >= Hop::EARLY | Hop::STRETCH
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

/// Times that limit what can be done ahead.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The end of the run, after which nothing happens.
    pub end: Time,
    /// The time before which nothing is read that is counted. At the end of the run all is.
    pub unread: Time,
}

impl Limits {
    /// The limits of a run up to `end` in which `next` is the next time at which something is read.
    pub fn new(end: Time, next: Time) -> Limits {
        let unread = next.min(end + Duration::from_ps(1));
        Limits { end, unread }
    }
}
