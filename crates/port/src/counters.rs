//! Counters of a port. At any time: offered = served + dropped + queued.

use accord_units::{Bytes, Time};

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of packets.
    pub packets: u64,
    /// Their sizes together.
    pub bytes: u64,
}

impl Count {
    /// Counts one packet.
    #[inline]
    pub fn add(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size.get();
    }

    /// Each is at least as much as in `other`.
    #[inline]
    pub fn raise(&mut self, other: Count) {
        self.packets = self.packets.max(other.packets);
        self.bytes = self.bytes.max(other.bytes);
    }

    /// Takes one packet back.
    #[inline]
    pub fn remove(&mut self, size: Bytes) {
        self.packets -= 1;
        self.bytes -= size.get();
    }
}

impl std::ops::Add for Count {
    type Output = Count;
    fn add(self, o: Count) -> Count {
        Count {
            packets: self.packets + o.packets,
            bytes: self.bytes + o.bytes,
        }
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// It did not fit.
    Overflow,
    /// The queue discipline decided so.
    Discipline,
}

/// The counters of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that came.
    pub offered: Count,
    /// Packets wholly served.
    pub served: Count,
    /// Packets that did not fit.
    pub overflowed: Count,
    /// Packets dropped by the discipline.
    pub refused: Count,
    /// Packets marked (they count as served, too).
    pub marked: Count,
}

impl Counters {
    /// All packets dropped.
    pub fn dropped(&self) -> Count {
        self.overflowed + self.refused
    }

    #[inline]
    pub(crate) fn drop(&mut self, reason: DropReason, size: Bytes) {
        match reason {
            DropReason::Overflow => self.overflowed.add(size),
            DropReason::Discipline => self.refused.add(size),
        }
    }
}

/// What is queued, integrated over time: its mean over a span is the difference of two of
/// these over the length of the span, exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Area {
    /// Packets times picoseconds.
    pub packets: u128,
    /// Bytes times picoseconds.
    pub bytes: u128,
}

impl Area {
    /// A packet is there from `from` to `to`.
    #[inline]
    pub(crate) fn stay(&mut self, from: Time, to: Time, size: u64) {
        let span = to.since(from).as_ps();
        self.packets += u128::from(span);
        self.bytes += u128::from(span) * u128::from(size);
    }

    /// It is there no longer than to `from`, after all.
    pub(crate) fn cut(&mut self, from: Time, to: Time, size: u64) {
        let span = to.since(from).as_ps();
        self.packets -= u128::from(span);
        self.bytes -= u128::from(span) * u128::from(size);
    }
}
