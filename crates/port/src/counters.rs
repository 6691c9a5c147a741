//! The counters of a port. At any time: offered = served + dropped + queued.

use accord_units::{Bytes, Time};
use std::hint::cold_path;

/// A number of packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of packets.
    pub packets: u64,
    /// The sum of their sizes.
    pub bytes: u64,
}

impl Count {
    /// Counts one packet.
    #[inline]
    pub fn add(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size.get();
    }

    /// Raises each number to at least that of `other`.
    #[inline]
    pub fn raise(&mut self, other: Count) {
        // The branches are rarely taken, since most backlogs are not the largest. Without branches the
        // compiler compares a vector, for which many processors have no instruction.
        if other.packets > self.packets {
            cold_path();
            self.packets = other.packets;
        }
        if other.bytes > self.bytes {
            cold_path();
            self.bytes = other.bytes;
        }
    }

    /// Removes one packet.
    #[inline]
    pub fn remove(&mut self, size: Bytes) {
        self.packets -= 1;
        self.bytes -= size.get();
    }
}

impl std::ops::Add for Count {
    type Output = Count;
    fn add(self, o: Count) -> Count {
        Count { packets: self.packets + o.packets, bytes: self.bytes + o.bytes }
    }
}

/// The reason why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The packet did not fit.
    Overflow,
    /// The queue discipline dropped the packet.
    Discipline,
    /// The policer had no tokens for the packet, or a later acknowledgement superseded it.
    Entry,
}

/// The counters of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The packets that arrived.
    pub offered: Count,
    /// The packets served completely.
    pub served: Count,
    /// The packets that did not fit.
    pub overflowed: Count,
    /// The packets that the discipline dropped.
    pub refused: Count,
    /// The packets that the policer dropped, and the acknowledgements that later ones superseded.
    pub filtered: Count,
    /// The packets marked. They also count as served.
    pub marked: Count,
    /// The sum of the waiting times of packets dropped after they were queued, in bytes times
    /// picoseconds.
    pub in_vain: u128,
}

impl Counters {
    /// Returns all dropped packets.
    pub fn dropped(&self) -> Count {
        self.overflowed + self.refused + self.filtered
    }

    /// Counts a packet that is dropped at `now` after waiting since `arrived`.
    pub(crate) fn drop_late(&mut self, reason: DropReason, size: Bytes, arrived: Time, now: Time) {
        self.drop(reason, size);
        self.in_vain += u128::from(now.since(arrived).as_ps()) * u128::from(size.get());
    }

    #[inline]
    pub(crate) fn drop(&mut self, reason: DropReason, size: Bytes) {
        match reason {
            DropReason::Overflow => self.overflowed.add(size),
            DropReason::Discipline => self.refused.add(size),
            DropReason::Entry => self.filtered.add(size),
        }
    }
}

/// The integral of the waiting packets over time. The mean over a span is exactly the difference
/// between two areas, divided by the length of the span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Area {
    /// Packets times picoseconds.
    pub packets: u128,
    /// Bytes times picoseconds.
    pub bytes: u128,
}

impl Area {
    /// Adds the wait of a packet from `from` to `to`.
    #[inline]
    pub(crate) fn stay(&mut self, from: Time, to: Time, size: u64) {
        let span = to.since(from).as_ps();
        self.packets += u128::from(span);
        self.bytes += u128::from(span) * u128::from(size);
    }

    /// Subtracts the time at which a packet enters. The sums wrap around until the packet leaves.
    #[inline]
    pub(crate) fn enter(&mut self, at: Time, size: u64) {
        let at = u128::from(at.as_ps());
        self.packets = self.packets.wrapping_sub(at);
        self.bytes = self.bytes.wrapping_sub(at * u128::from(size));
    }

    /// Adds the time at which a packet leaves.
    #[inline]
    pub(crate) fn leave(&mut self, at: Time, size: u64) {
        let at = u128::from(at.as_ps());
        self.packets = self.packets.wrapping_add(at);
        self.bytes = self.bytes.wrapping_add(at * u128::from(size));
    }

    /// Returns the area up to `now`. The packets `there` have entered and not yet left.
    pub(crate) fn with(self, there: Count, now: Time) -> Area {
        let now = u128::from(now.as_ps());
        Area {
            packets: self.packets.wrapping_add(now * u128::from(there.packets)),
            bytes: self.bytes.wrapping_add(now * u128::from(there.bytes)),
        }
    }

    /// Removes the part of a wait from `from` to `to`, because the packet leaves at `from`.
    pub(crate) fn cut(&mut self, from: Time, to: Time, size: u64) {
        let span = to.since(from).as_ps();
        self.packets -= u128::from(span);
        self.bytes -= u128::from(span) * u128::from(size);
    }
}
