//! The meaning of attributes of nodes and links, by their names, and the text of quantities.

/// The units of bare numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// Bits per second per unit of capacities and demands without a unit.
    pub rate: f64,
}

/// Mbit/s.
impl Default for Units {
    fn default() -> Units {
        Units { rate: 1e6 }
    }
}

/// A property of a node or a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Property {
    Longitude(f64),
    Latitude(f64),
    /// In bit/s.
    Rate(f64),
    /// In seconds.
    Delay(f64),
    /// In kilometres.
    Length(f64),
}

/// The meaning of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    Property(Property),
    /// A capacity without a unit, taken in the default one.
    Assumed(Property),
    /// The name of a quantity with an invalid value.
    Unclear,
    /// An attribute of no interest.
    Other,
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

/// Returns the meaning of the attribute `name` with the value `text`. Names may end in their unit:
/// `capacity_gbps`, `delay_ms`, `dist_km`.
pub(crate) fn meaning(name: &str, text: &str, units: &Units) -> Meaning {
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
                    return Meaning::Assumed(Property::Rate(x * units.rate));
                }
                Property::Delay(_) => None,
                _ => Some(x),
            },
        };
        let sound = value.filter(|x| *x >= least);
        return sound.map_or(Meaning::Unclear, |x| Meaning::Property(property(x)));
    }
    match (bare.as_str(), number) {
        ("longitude" | "lon" | "lng", Some(x)) => Meaning::Property(Property::Longitude(x)),
        ("latitude" | "lat", Some(x)) => Meaning::Property(Property::Latitude(x)),
        _ => Meaning::Other,
    }
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
    // The unit are the trailing letters; 1e6 has its exponent before digits.
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
        use Meaning::{Assumed, Other, Property as P, Unclear};
        use Property::{Delay, Latitude, Length, Rate};
        let units = Units::default();
        for (name, text, expected) in [
            ("LinkSpeedRaw", "1e10", P(Rate(1e10))),
            ("capacity", "40", Assumed(Rate(40e6))),
            ("capacity", "40 Gbps", P(Rate(40e9))),
            ("bandwidth_kbps", "64", P(Rate(64e3))),
            ("capacity", "1e3Mbit/s", P(Rate(1e9))),
            ("capacity", "0", Unclear),
            ("capacity", "-1 Gbps", Unclear),
            ("capacity", "inf", Unclear),
            ("rate", "fast", Unclear),
            ("delay", "5 ms", P(Delay(0.005))),
            ("latency_us", "250", P(Delay(250.0 * 1e-6))),
            ("delay", "5", Unclear),
            ("dist", "120.5", P(Length(120.5))),
            ("distance_km", "3", P(Length(3.0))),
            ("length", "7 km", P(Length(7.0))),
            ("length", "7000 m", P(Length(7.0))),
            ("distance_miles", "100", P(Length(160.9344))),
            ("capacity_gbit", "10", P(Rate(1e10))),
            ("Latency (msec)", "3", P(Delay(3.0 * 1e-3))),
            ("Latitude", "33.75", P(Latitude(33.75))),
            ("latitude", "north", Other),
            ("color", "red", Other),
        ] {
            assert_eq!(meaning(name, text, &units), expected, "{name} = {text}");
        }
    }
}
