//! The meaning of attributes of nodes and links, by their names, and the text of quantities.

use std::fmt;

/// The units of bare numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// Bits per second per unit of capacities and demands without a unit.
    pub rate: f64,
    /// Seconds per unit of delays without a unit. If it is `None`, such delays are left out.
    pub delay: Option<f64>,
}

/// Mbit/s.
impl Default for Units {
    fn default() -> Units {
        Units { rate: 1e6, delay: None }
    }
}

/// A property of a node or a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Property {
    Longitude(f64),
    Latitude(f64),
    /// In bit/s.
    Rate(f64),
    /// A rate without a unit in the file. The default unit is assumed.
    AssumedRate(f64),
    /// A rate of zero.
    NoRate,
    /// In seconds.
    Delay(f64),
    /// In kilometres.
    Length(f64),
}

/// The reason why the value of a quantity is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsound {
    /// Not a quantity of its kind, or a negative one.
    Value,
    /// A delay without a unit, in the absence of --delay-unit.
    NoUnit,
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsound::Value => "is not a valid quantity",
            Unsound::NoUnit => "has no unit (set it with --delay-unit)",
        })
    }
}

/// A kind of quantity: the names of its attributes, its units, its property and its least value.
type Kind = (&'static [&'static str], fn(&str) -> Option<f64>, fn(f64) -> Property, f64);

/// The name of a rate in bit/s. The Topology Zoo gives `LinkSpeed` as a number, its unit elsewhere, and
/// both together raw.
const RAW: &str = "linkspeedraw";
const ABOVE_ZERO: f64 = f64::MIN_POSITIVE;

const KINDS: [Kind; 3] = [
    (&[RAW, "rate", "capacity", "bandwidth", "bw"], rate_unit, Property::Rate, ABOVE_ZERO),
    (&["delay", "latency", "propagationdelay"], time_unit, Property::Delay, 0.0),
    (&["dist", "distance", "length"], length_unit, Property::Length, 0.0),
];

/// Returns the property that the attribute `name` with the value `text` stands for, or `None` if it is
/// not used. Names may end in their unit: `capacity_gbps`, `delay_ms`, `dist_km`. Fails for a
/// quantity with an invalid value.
pub(crate) fn property(name: &str, text: &str, units: &Units) -> Result<Option<Property>, Unsound> {
    let name = name.to_ascii_lowercase();
    let bare: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    let number = finite(text);
    for (names, unit, property, least) in KINDS {
        let in_name = names.iter().filter_map(|name| bare.strip_prefix(name)).find_map(unit);
        let value = match (in_name, number) {
            (Some(unit), number) => number.map(|x| x * unit),
            (None, _) if !names.contains(&bare.as_str()) => continue,
            (None, None) => quantity(text, unit),
            (None, Some(x)) => match property(x) {
                Property::Rate(x) if bare != RAW && x > 0.0 => {
                    return Ok(Some(Property::AssumedRate(x * units.rate)));
                }
                Property::Delay(_) => match units.delay {
                    Some(unit) => Some(x * unit),
                    None if x == 0.0 => Some(x),
                    None if x > 0.0 => return Err(Unsound::NoUnit),
                    None => None,
                },
                _ => Some(x),
            },
        };
        if value == Some(0.0) && least > 0.0 {
            return Ok(Some(Property::NoRate));
        }
        let sound = value.filter(|x| *x >= least);
        return sound.map(|x| Some(property(x))).ok_or(Unsound::Value);
    }
    Ok(match bare.as_str() {
        "longitude" | "lon" | "lng" => number.map(Property::Longitude),
        "latitude" | "lat" => number.map(Property::Latitude),
        _ => None,
    })
}

/// Returns the place if the numbers are a valid longitude and latitude.
pub(crate) fn place(longitude: f64, latitude: f64) -> Option<[f64; 2]> {
    let fits = longitude.abs() <= 180.0 && latitude.abs() <= 90.0;
    fits.then_some([longitude, latitude])
}

/// Parses a finite number.
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

/// Parses a number and its unit, and converts it to the base unit.
fn quantity(text: &str, unit: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let text = text.trim();
    let is_unit = |c: char| c.is_alphabetic() || c == '/' || c == 'µ';
    // The unit consists of the trailing letters. In 1e6, digits follow the exponent's letter.
    let at = text
        .rfind(|c: char| !is_unit(c))
        .map_or(0, |i| i + text[i..].chars().next().map_or(0, char::len_utf8));
    let factor = unit(&text[at..].to_ascii_lowercase())?;
    Some(finite(&text[..at])? * factor).filter(|x| x.is_finite())
}

/// Returns a unit of rates in bits per second.
pub(crate) fn rate_unit(name: &str) -> Option<f64> {
    let (prefix, rest) = match name.chars().next()? {
        'k' => (1e3, &name[1..]),
        'm' => (1e6, &name[1..]),
        'g' => (1e9, &name[1..]),
        't' => (1e12, &name[1..]),
        _ => (1.0, name),
    };
    ["bps", "bit", "bit/s", "bits/s", "b/s", "bits", "bitpersec"].contains(&rest).then_some(prefix)
}

/// Returns a unit of time in seconds.
fn time_unit(name: &str) -> Option<f64> {
    Some(match name {
        "s" | "sec" | "seconds" => 1.0,
        "ms" | "msec" | "milliseconds" => 1e-3,
        "us" | "µs" | "usec" | "microseconds" => 1e-6,
        "ns" | "nsec" => 1e-9,
        _ => return None,
    })
}

/// Returns a unit of length in kilometres.
fn length_unit(name: &str) -> Option<f64> {
    Some(match name {
        "km" | "kilometers" | "kilometres" => 1.0,
        "m" | "meters" | "metres" => 1e-3,
        "mi" | "miles" => 1.609_344,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_units_give_quantities() {
        use Property::{AssumedRate, Delay, Latitude, Length, NoRate, Rate};
        use Unsound::{NoUnit, Value};
        let units = Units::default();
        for (name, text, expected) in [
            ("LinkSpeedRaw", "1e10", Ok(Some(Rate(1e10)))),
            ("capacity", "40", Ok(Some(AssumedRate(40e6)))),
            ("capacity", "40 Gbps", Ok(Some(Rate(40e9)))),
            ("bandwidth_kbps", "64", Ok(Some(Rate(64e3)))),
            ("capacity", "1e3Mbit/s", Ok(Some(Rate(1e9)))),
            ("capacity", "0", Ok(Some(NoRate))),
            ("capacity", "0 Gbps", Ok(Some(NoRate))),
            ("capacity", "-1 Gbps", Err(Value)),
            ("capacity", "inf", Err(Value)),
            ("rate", "fast", Err(Value)),
            ("delay", "5 ms", Ok(Some(Delay(0.005)))),
            ("latency_us", "250", Ok(Some(Delay(250.0 * 1e-6)))),
            ("delay", "5", Err(NoUnit)),
            ("delay", "0", Ok(Some(Delay(0.0)))),
            ("delay", "-5", Err(Value)),
            ("dist", "120.5", Ok(Some(Length(120.5)))),
            ("distance_km", "3", Ok(Some(Length(3.0)))),
            ("length", "7 km", Ok(Some(Length(7.0)))),
            ("length", "7000 m", Ok(Some(Length(7.0)))),
            ("distance_miles", "100", Ok(Some(Length(160.9344)))),
            ("capacity_gbit", "10", Ok(Some(Rate(1e10)))),
            ("Latency (msec)", "3", Ok(Some(Delay(3.0 * 1e-3)))),
            ("Latitude", "33.75", Ok(Some(Latitude(33.75)))),
            ("latitude", "north", Ok(None)),
            ("color", "red", Ok(None)),
        ] {
            assert_eq!(property(name, text, &units), expected, "{name} = {text}");
        }
        let units = Units { delay: Some(1e-3), ..units };
        assert_eq!(property("delay", "5", &units), Ok(Some(Delay(0.005))));
        assert_eq!(property("delay", "5 s", &units), Ok(Some(Delay(5.0))));
    }
}
