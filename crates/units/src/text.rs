//! The parser and the printer of numbers with units, shared by all quantities.

use std::fmt;

/// A unit: its name and its size in base units.
pub(crate) struct Unit {
    name: &'static str,
    scale: f64,
    /// True for a name that is parsed but never printed.
    alias: bool,
}

impl Unit {
    pub(crate) const fn new(name: &'static str, scale: f64) -> Unit {
        Unit { name, scale, alias: false }
    }

    pub(crate) const fn alias(self) -> Unit {
        Unit { alias: true, ..self }
    }
}

/// Returns the names of `units`, including those that are never printed.
pub(crate) fn names(units: &'static [Unit]) -> impl Iterator<Item = &'static str> {
    units.iter().map(|u| u.name)
}

/// Gives a quantity of whole base units its units, its parser and its printer.
macro_rules! text {
    ($quantity:ident, $units:ident, $zero:literal, $expected:literal) => {
        impl $quantity {
            #[doc = concat!("Returns the names of the units of ", $expected, ".")]
            pub fn units() -> impl Iterator<Item = &'static str> {
                $crate::text::names($units)
            }
        }

        impl std::str::FromStr for $quantity {
            type Err = $crate::text::ParseError;

            #[doc = concat!("Parses ", $expected, ". The unit is mandatory.")]
            fn from_str(s: &str) -> Result<Self, Self::Err> {
                $crate::text::parse(s, $units, $expected).map($quantity)
            }
        }

        impl std::fmt::Display for $quantity {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.0 {
                    0 => f.pad($zero),
                    n => f.pad(&$crate::text::print(n, $units)),
                }
            }
        }
    };
}
pub(crate) use text;

/// The reason why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The problem, with the text that caused it.
    pub problem: String,
    /// The form that was expected, with an example.
    pub expected: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; expected {}", self.problem, self.expected)
    }
}

impl std::error::Error for ParseError {}

/// The largest number of base units. It is below 2^63, so the sum of two such numbers does not
/// overflow.
const LARGEST: u64 = 9_200_000_000_000_000_000;

/// Parses `number unit` into whole base units. Rejects a missing or unknown unit, a negative or
/// non-finite number, and a number that does not fit in 63 bits.
pub(crate) fn parse(s: &str, units: &[Unit], expected: &'static str) -> Result<u64, ParseError> {
    parse_beside(s, units, &[], expected)
}

/// Parses as [`parse`] does, but also accepts the units `others`, which are parsed elsewhere.
pub(crate) fn parse_beside(
    s: &str,
    units: &[Unit],
    others: &[Unit],
    expected: &'static str,
) -> Result<u64, ParseError> {
    let fail = |problem: String| Err(ParseError { problem, expected });
    let s = s.trim();
    let split = s
        .char_indices()
        .find(|&(i, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && s[i + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+');
            !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_') || exponent)
        })
        .map_or(s.len(), |(i, _)| i);
    let (number, unit) = (s[..split].trim(), s[split..].trim());
    if number.is_empty() {
        return fail(format!("\"{}\" does not start with a number", clip(s)));
    }
    let Ok(value) = number.replace('_', "").parse::<f64>() else {
        return fail(format!("\"{}\" is not a number", clip(number)));
    };
    if unit.is_empty() {
        return fail(format!("\"{}\" has no unit", clip(s)));
    }
    let Some(unit) = units.iter().find(|u| u.name == unit) else {
        let known: Vec<_> = others.iter().chain(units).map(|u| u.name).collect();
        // "mbps" is a slip of "Mbps", a small b means bits, and tc writes "mbit".
        let bits = ["b/s", "bit", "bits", "bits/s"].iter().find_map(|end| unit.strip_suffix(end));
        let bits = bits.map(|prefix| format!("{prefix}bps"));
        let like = |word: &str| known.iter().find(|name| name.eq_ignore_ascii_case(word));
        let near = match unit.strip_suffix("Bps") {
            // A capital B means bytes.
            Some(prefix) => like(&format!("{prefix}B/s")),
            None => bits.as_deref().and_then(like).or_else(|| like(unit)),
        };
        let near = near.map_or(String::new(), |name| format!(", did you mean \"{name}\"?"));
        return fail(format!(
            "unknown unit \"{}\"{near} (known: {})",
            clip(unit),
            known.join(", ")
        ));
    };
    if value < 0.0 {
        return fail(format!("\"{}\" is negative", clip(s)));
    }
    if let Some(base) = exact(number, unit) {
        return Ok(base);
    }
    let base = (value * unit.scale).round();
    if !base.is_finite() || base >= LARGEST as f64 {
        let largest = print(LARGEST, units);
        return fail(format!("\"{}\" is too large: the largest is {largest}", clip(s)));
    }
    if base == 0.0 && value > 0.0 {
        return fail(format!("\"{}\" is too small to differ from zero", clip(s)));
    }
    Ok(base as u64)
}

/// Returns the value of a plain decimal of up to 19 digits if it is a whole number of base units below 2^62.
/// Text that [`print`] writes is therefore parsed to the last digit, although a float has only 53 bits.
fn exact(number: &str, unit: &Unit) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if digits.len() > 19 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let scaled = digits.parse::<u128>().ok()? * unit.scale as u128;
    let divisor = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    let base = u64::try_from(scaled / divisor).ok()?;
    (scaled.is_multiple_of(divisor) && base < 1 << 62).then_some(base)
}

/// Prints without loss, in the largest unit that keeps the number at or above one. Units for
/// printing are powers of ten.
pub(crate) fn print(base: u64, units: &[Unit]) -> String {
    let unit = units
        .iter()
        .filter(|u| !u.alias)
        .take_while(|u| u.scale <= base.max(1) as f64)
        .last()
        .expect("the first unit has scale 1");
    let scale = unit.scale as u64;
    let (whole, rest) = (base / scale, base % scale);
    let digits = scale.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    match fraction.trim_end_matches('0') {
        "" => format!("{whole} {}", unit.name),
        fraction => format!("{whole}.{fraction} {}", unit.name),
    }
}

/// Shortens a text for a message, so hostile input cannot fill the screen.
fn clip(s: &str) -> String {
    match s.char_indices().nth(40) {
        Some((i, _)) => format!("{}…", &s[..i]),
        None => s.to_string(),
    }
}

/// Returns a hundredth of a number. The result is the float nearest to the decimal, which a
/// division would miss.
pub fn percent(number: &str) -> Option<f64> {
    let number = number.trim();
    let percent: f64 = number.parse().ok()?;
    let shifted = format!("{number}e-2").parse();
    Some(shifted.unwrap_or(percent / 100.0))
}

#[cfg(test)]
mod tests {
    use crate::{Bytes, Duration, Rate};

    #[test]
    fn what_is_printed_is_read_back_to_the_last_digit() {
        let mut n = 1u64;
        while n < 1 << 62 {
            for base in [n - 1, n, n + 1, n / 7 * 5] {
                let time = Duration::from_ps(base);
                assert_eq!(time.to_string().parse(), Ok(time));
                let rate = Rate::from_bps(base);
                assert_eq!(rate.to_string().parse(), Ok(rate));
                let bytes = Bytes::new(base);
                assert_eq!(bytes.to_string().parse(), Ok(bytes));
            }
            n = n * 3 + 1;
        }
    }

    #[test]
    fn a_small_b_means_bits_and_a_capital_one_bytes() {
        for (slip, unit) in [
            ("Mb/s", "Mbps"),
            ("mb/s", "Mbps"),
            ("mB/s", "MB/s"),
            ("MBps", "MB/s"),
            ("kBps", "KB/s"),
            ("gBps", "GB/s"),
            ("mbps", "Mbps"),
            // Of tc.
            ("mbit", "Mbps"),
            ("Mbit", "Mbps"),
            ("kbit", "Kbps"),
            ("gbit", "Gbps"),
            ("bit", "bps"),
            ("Mbits/s", "Mbps"),
        ] {
            let error = format!("10 {slip}").parse::<Rate>().expect_err("no unit").to_string();
            assert!(error.contains(&format!("did you mean \"{unit}\"?")), "{error}");
        }
    }

    #[test]
    fn prints_in_the_unit_that_a_person_would_choose() {
        assert_eq!(Duration::from_us(2500).to_string(), "2.5 ms");
        assert_eq!(Duration::from_ps(1).to_string(), "1 ps");
        assert_eq!(Rate::from_bps(2_400_000_000).to_string(), "2.4 Gbps");
        assert_eq!(Bytes::new(64_000).to_string(), "64 KB");
        assert_eq!(Rate::ZERO.to_string(), "0 bps");
    }
}
