//! Amounts of data that a scenario may count in bytes or in packets.

use crate::quantity::{BYTE_UNITS, Bytes};
use crate::text::{self, ParseError, Unit};
use std::fmt;
use std::str::FromStr;

/// An amount of data, in bytes or in packets of the flow concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// A number of bytes.
    Bytes(Bytes),
    /// A number of packets. It may be a fraction, as for a target.
    Packets(f64),
}

impl Size {
    /// Returns the amount in bytes for packets of `packet` bytes.
    pub fn bytes_f64(self, packet: Bytes) -> f64 {
        match self {
            Size::Bytes(b) => b.as_f64(),
            Size::Packets(n) => n * packet.as_f64(),
        }
    }
}

/// The units of packets. The parser counts packets in millionths, so all quantities can share it.
const PACKET_UNITS: &[Unit] = &[
    Unit::new("pkt", 1e6),
    Unit::new("pkts", 1e6).alias(),
    Unit::new("packet", 1e6).alias(),
    Unit::new("packets", 1e6).alias(),
];

const EXPECTED: &str = "an amount such as \"90 pkt\" or \"64 KB\"";

impl Size {
    /// Returns the names of the units that a text may have, as in "2 pkt".
    pub fn units() -> impl Iterator<Item = &'static str> {
        text::names(PACKET_UNITS).chain(Bytes::units())
    }
}

impl FromStr for Size {
    type Err = ParseError;

    /// Parses texts such as "90 pkt" and "64 KB". The unit is mandatory.
    fn from_str(s: &str) -> Result<Self, ParseError> {
        match text::parse(s, PACKET_UNITS, EXPECTED) {
            Ok(millionths) => return Ok(Size::Packets(millionths as f64 / 1e6)),
            Err(e) if s.contains("pkt") || s.contains("packet") => return Err(e),
            Err(_) => {}
        }
        text::parse_beside(s, BYTE_UNITS, PACKET_UNITS, EXPECTED)
            .map(|bytes| Size::Bytes(Bytes::new(bytes)))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Bytes(b) => b.fmt(f),
            Size::Packets(n) => f.pad(&format!("{n} pkt")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_speaks_of_the_unit_that_was_written() {
        let error = |s: &str| s.parse::<Size>().unwrap_err().to_string();
        assert!(error("1e30 pkt").contains("too large"), "{}", error("1e30 pkt"));
        assert!(error("-1 packets").contains("negative"), "{}", error("-1 packets"));
        assert!(error("1 KBB").contains("KBB"), "{}", error("1 KBB"));
    }
}
