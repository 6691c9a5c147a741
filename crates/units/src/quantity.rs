//! Bytes and bit rates.

use crate::round::rounded;
use crate::text::{Unit, text};
use crate::time::Duration;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// An amount of data in whole bytes. 1 KB is 1000 bytes, 1 KiB is 1024 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// Creates an amount of `n` bytes.
    #[inline]
    pub const fn new(n: u64) -> Bytes {
        Bytes(n)
    }

    /// The number of bytes.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bytes as a float, for arithmetic.
    #[inline]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Creates an amount of `n` bytes, rounded to a whole number. A negative number and NaN give
    /// zero.
    #[inline]
    pub fn from_f64(n: f64) -> Bytes {
        Bytes(rounded(n))
    }

    /// The number of bits.
    #[inline]
    pub fn bits_f64(self) -> f64 {
        self.0 as f64 * 8.0
    }

    /// Returns this amount less `other`, or zero if `other` is more.
    #[inline]
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, b: Bytes) -> Bytes {
        Bytes(self.0 + b.0)
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, b: Bytes) {
        self.0 += b.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    #[inline]
    fn sub(self, b: Bytes) -> Bytes {
        Bytes(self.0 - b.0)
    }
}

impl SubAssign for Bytes {
    #[inline]
    fn sub_assign(&mut self, b: Bytes) {
        self.0 -= b.0;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        Bytes(iter.map(|b| b.0).sum())
    }
}

/// A rate in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Zero bits per second.
    pub const ZERO: Rate = Rate(0);

    /// Creates a rate of `bps` bits per second.
    #[inline]
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }

    /// Creates a rate of `bps` bits per second, rounded to a whole number. A negative number and
    /// NaN give zero.
    #[inline]
    pub fn from_bps_f64(bps: f64) -> Rate {
        Rate(rounded(bps))
    }

    /// The rate in bits per second.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The rate in bits per second as a float, for arithmetic.
    #[inline]
    pub fn as_bps_f64(self) -> f64 {
        self.0 as f64
    }

    /// Returns the time that `size` takes at this rate, rounded down to the picosecond. Returns
    /// [`Duration::MAX`] for a rate of zero. A port that must not lose the fraction must carry it over.
    #[inline]
    pub fn transmission(self, size: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        // A 64-bit division is one instruction, and suffices for a packet.
        if let Some(bits) = size.0.checked_mul(8_000_000_000_000) {
            return Duration::from_ps(bits / self.0);
        }
        let ps = size.0 as u128 * 8_000_000_000_000 / self.0 as u128;
        Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Returns the bytes that this rate moves in `d`, rounded down.
    #[inline]
    pub fn bytes_in(self, d: Duration) -> Bytes {
        let bytes = self.0 as u128 * d.as_ps() as u128 / 8_000_000_000_000;
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

pub(crate) const BYTE_UNITS: &[Unit] = &[
    Unit::new("B", 1.0),
    Unit::new("KB", 1e3),
    Unit::new("kB", 1e3).alias(),
    Unit::new("KiB", 1024.0).alias(),
    Unit::new("MB", 1e6),
    Unit::new("MiB", 1048576.0).alias(),
    Unit::new("GB", 1e9),
    Unit::new("GiB", 1073741824.0).alias(),
    Unit::new("TB", 1e12),
];

const RATE_UNITS: &[Unit] = &[
    Unit::new("bps", 1.0),
    Unit::new("bit/s", 1.0).alias(),
    Unit::new("Kbps", 1e3),
    Unit::new("kbps", 1e3).alias(),
    Unit::new("kbit/s", 1e3).alias(),
    Unit::new("Mbps", 1e6),
    Unit::new("Mbit/s", 1e6).alias(),
    Unit::new("Gbps", 1e9),
    Unit::new("Gbit/s", 1e9).alias(),
    Unit::new("Tbps", 1e12),
    Unit::new("KB/s", 8e3).alias(),
    Unit::new("kB/s", 8e3).alias(),
    Unit::new("MB/s", 8e6).alias(),
    Unit::new("GB/s", 8e9).alias(),
];

text!(Bytes, BYTE_UNITS, "0 B", "a size such as \"64 KB\"");
text!(Rate, RATE_UNITS, "0 bps", "a rate such as \"30 Mbps\"");
