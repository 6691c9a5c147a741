//! Code points of differentiated services, by name or by number [RFC 2474].

use std::fmt;
use std::str::FromStr;

/// A code point: 6 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dscp(pub u8);

/// The names that do not consist of letters and a number.
const NAMES: &[(&str, u8)] = &[("DF", 0), ("LE", 1), ("VA", 44), ("NQB", 45), ("EF", 46)];

const EXPECTED: &str =
    "expected a DSCP: EF, CS0 to CS7, AF11 to AF43, LE, NQB, VA, DF or a number up to 63";

impl Dscp {
    /// Returns the code point of a number.
    ///
    /// # Errors
    /// Fails if the number has more than 6 bits.
    pub fn number(n: u64) -> Result<Dscp, String> {
        match n {
            0..64 => Ok(Dscp(n as u8)),
            _ => Err(EXPECTED.into()),
        }
    }
}

impl FromStr for Dscp {
    type Err = String;

    fn from_str(text: &str) -> Result<Dscp, String> {
        if let Some((_, value)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(Dscp(*value));
        }
        let digit = |b: u8, most: u8| (b'1'..=b'0' + most).contains(&b).then(|| b - b'0');
        match *text.as_bytes() {
            [b'C', b'S', b'0'] => Ok(Dscp(0)),
            [b'C', b'S', n] if digit(n, 7).is_some() => Ok(Dscp(8 * (n - b'0'))),
            [b'A', b'F', class, drop] if digit(class, 4).is_some() && digit(drop, 3).is_some() => {
                Ok(Dscp(8 * (class - b'0') + 2 * (drop - b'0')))
            }
            _ => Err(EXPECTED.into()),
        }
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, value)| *value == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "DSCP {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_rfcs() {
        // RFC 4594 figure 3, RFC 2597 section 6, RFC 8622, RFC 5865.
        for (name, value) in [
            ("EF", 46),
            ("CS1", 8),
            ("CS6", 48),
            ("AF11", 10),
            ("AF23", 22),
            ("AF41", 34),
            ("AF43", 38),
            ("LE", 1),
            ("VA", 44),
        ] {
            assert_eq!(name.parse(), Ok(Dscp(value)), "{name}");
        }
        for wrong in ["", "CS8", "AF51", "AF14", "ef", "AF4"] {
            assert!(wrong.parse::<Dscp>().is_err(), "{wrong}");
        }
    }
}
