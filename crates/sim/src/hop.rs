//! The steps of a path, in both engines.

use accord_scenario::LinkId;
use accord_units::Time;

/// A step on a path: a link, an uncontended path or an endpoint.
///
/// A *cut-through* hop takes a packet ahead of the clock, as soon as its arrival time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop(u32);

impl Hop {
    /// The bit of cut-through hops.
    const CUT_THROUGH: u32 = 1 << 31;
    /// The bit of uncontended paths, which are cut-through hops.
    const UNCONTENDED: u32 = 1 << 30;
    /// The bits of an index.
    const INDEX: u32 = Hop::UNCONTENDED - 1;
    /// The hop of endpoints that take packets at their arrival.
    pub const END: Hop = Hop(Hop::INDEX);
    /// The hop of endpoints that take packets ahead of the clock.
    pub const END_CUT_THROUGH: Hop = Hop(Hop::CUT_THROUGH | Hop::INDEX);

    /// Creates the hop over the link of this index.
    pub fn link(index: usize) -> Hop {
        Hop(index as u32)
    }

    /// Creates the hop over the cut-through link of this index.
    pub fn cut_through(index: usize) -> Hop {
        Hop(index as u32 | Hop::CUT_THROUGH)
    }

    /// Creates the hop over the uncontended path of this index.
    pub fn uncontended(index: usize) -> Hop {
        Hop(index as u32 | Hop::CUT_THROUGH | Hop::UNCONTENDED)
    }

    /// Returns the index of the link or the uncontended path. An endpoint has none.
    #[inline]
    pub fn index(self) -> usize {
        (self.0 & Hop::INDEX) as usize
    }

    /// Returns true if the hop is an endpoint.
    #[inline]
    pub fn is_end(self) -> bool {
        self.0 & !Hop::CUT_THROUGH == Hop::INDEX
    }

    /// Returns true if the hop takes packets ahead of the clock.
    #[inline]
    pub fn is_cut_through(self) -> bool {
        self.0 >= Hop::CUT_THROUGH
    }

    /// Returns true if the hop is a cut-through link.
    #[inline]
    pub fn is_cut_through_link(self) -> bool {
        (Hop::CUT_THROUGH..Hop::END_CUT_THROUGH.0).contains(&self.0)
    }

    /// Returns true if the hop is an uncontended path.
    #[inline]
    pub fn is_uncontended(self) -> bool {
        self.0 >= Hop::CUT_THROUGH | Hop::UNCONTENDED
    }
}

/// The arrival of a packet at the far end of a wire.
#[derive(Clone, Copy)]
pub struct WireExit {
    /// The link of the wire.
    pub link: LinkId,
    /// The time of the arrival.
    pub at: Time,
}
