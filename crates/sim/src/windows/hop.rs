//! The steps of a path.

use accord_scenario::LinkId;
use accord_units::Time;

/// A step on a path: a station, a fused link, a stretch of links, or the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop(u32);

impl Hop {
    /// The bit of a hop that takes packets before their time.
    const EARLY: u32 = 1 << 31;
    /// The bit of a hop that is a stretch. It takes packets before their time.
    const STRETCH: u32 = 1 << 30;
    /// The bits of an index.
    const INDEX: u32 = Hop::STRETCH - 1;
    /// The hop of senders, which take packets at their time.
    pub const SENDER: Hop = Hop(Hop::INDEX);
    /// The hop of receivers, which take packets before their time.
    pub const RECEIVER: Hop = Hop(Hop::EARLY | Hop::INDEX);

    /// Creates the hop over the station of this index.
    pub fn station(index: usize) -> Hop {
        Hop(index as u32)
    }

    /// Creates the hop over the fused link of this index.
    pub fn fused(index: usize) -> Hop {
        Hop(index as u32 | Hop::EARLY)
    }

    /// Creates the hop over the stretch of this index.
    pub fn stretch(index: usize) -> Hop {
        Hop(index as u32 | Hop::EARLY | Hop::STRETCH)
    }

    /// Returns the index of the station, the fused link or the stretch, unless the hop is an end.
    #[inline]
    pub fn index(self) -> usize {
        (self.0 & Hop::INDEX) as usize
    }

    /// Returns whether the packet is at its endpoint.
    #[inline]
    pub fn is_end(self) -> bool {
        self.0 & !Hop::EARLY == Hop::INDEX
    }

    /// Returns whether the hop is one that takes packets before their time.
    #[inline]
    pub fn is_early(self) -> bool {
        self.0 >= Hop::EARLY
    }

    /// Returns whether the hop is a fused link.
    #[inline]
    pub fn is_fused(self) -> bool {
        (Hop::EARLY..Hop::RECEIVER.0).contains(&self.0)
    }

    /// Returns whether the hop is a stretch.
    #[inline]
    pub fn is_stretch(self) -> bool {
        self.0 >= Hop::EARLY | Hop::STRETCH
    }
}

/// The wire that a packet comes out of, and the time.
#[derive(Clone, Copy)]
pub struct Came {
    /// The link.
    pub link: LinkId,
    /// The time.
    pub at: Time,
}
