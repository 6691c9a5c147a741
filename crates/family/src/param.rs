//! Parameters, and the reading of their values.

use crate::Invalid;
use accord_units::{Bytes, Duration, ParseError, Rate, Size};
use std::fmt;

/// The kind of quantity that a parameter holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A plain number within `min..=max`.
    Number {
        /// Smallest value allowed.
        min: f64,
        /// Largest value allowed.
        max: f64,
    },
    /// A whole number within `min..=max`.
    Integer {
        /// Smallest value allowed.
        min: u64,
        /// Largest value allowed.
        max: u64,
    },
    /// `true` or `false`.
    Flag,
    /// An amount in bytes or packets, more than zero.
    Size,
    /// A span of time, more than zero.
    Duration,
    /// A rate, more than zero.
    Rate,
    /// One of the given words.
    Choice(&'static [&'static str]),
    /// A table of these parameters per aggregate, by name, with which a queue discipline treats
    /// each kind of traffic. None of the inner parameters is of this kind.
    Aggregates(&'static [Param]),
}

/// The meaning of a parameter for code that does not know the family. An example is an explanation
/// that repeats a scenario with smaller packets.
///
/// An amount ([`Kind::Size`]) in packets needs no meaning here, because it stays the same in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Known only to the family. Other code leaves the value alone.
    Own,
    /// A whole number of packets, or of samples with one per packet.
    Packets,
    /// A number whose inverse is a number of packets.
    PerPacket,
    /// The source of the base round-trip time. This word is for the true one.
    BaseRtt(&'static str),
    /// The source of the accumulation. This word is for its definition.
    Accumulation(&'static str),
    /// The least time-out of the sender.
    LeastTimeout,
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// The key in a scenario file.
    pub name: &'static str,
    /// The symbol in the papers, or "" if there is none.
    pub symbol: &'static str,
    /// The kind of quantity.
    pub kind: Kind,
    /// The default, written as in a scenario file. A parameter with the default "" is absent unless
    /// it is given.
    pub default: &'static str,
    /// The meaning for other code: [`Meaning::Own`] unless the family says otherwise.
    pub meaning: Meaning,
    /// The description, one sentence.
    pub doc: &'static str,
    /// The source, such as "[Xia05 table I]".
    pub source: &'static str,
}

/// A value as in a file, before a parameter gives it a meaning.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A float. It may be infinite or NaN.
    Number(f64),
    /// A boolean.
    Flag(bool),
}

/// A value with the meaning of its parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// No value: none was given, and there is no default.
    Absent,
    /// A number.
    Number(f64),
    /// A whole number.
    Integer(u64),
    /// A boolean.
    Flag(bool),
    /// An amount in bytes or packets.
    Size(Size),
    /// A span of time.
    Duration(Duration),
    /// A rate.
    Rate(Rate),
    /// One of the words of the parameter's choice.
    Choice(&'static str),
}

impl Kind {
    /// Returns a description of the values of this kind.
    pub fn expected(&self) -> String {
        match self {
            Kind::Number { min, max } if *max >= f64::MAX => format!("a number of at least {min}"),
            Kind::Number { min, max } => format!("a number from {min} to {max}"),
            Kind::Integer { min, max } if *max == u64::MAX => {
                format!("a whole number of at least {min}")
            }
            Kind::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Flag => "true or false".into(),
            Kind::Size => "an amount such as \"3 pkt\" or \"3000 B\"".into(),
            Kind::Duration => "a time such as \"100 ms\"".into(),
            Kind::Rate => "a rate such as \"30 Mbps\"".into(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Aggregates(_) => "tables, each under the name of its aggregate".into(),
        }
    }

    /// Reads a raw value as this kind, in range.
    ///
    /// # Errors
    /// If the value is not of this kind, or out of range. The reason has the expected form.
    pub fn read(&self, raw: &Raw) -> Result<Value, Invalid> {
        let expected = || format!("expected {}", self.expected());
        let invalid = |reason: String| Err(Invalid::from(reason));
        let positive = |zero: bool, value: Value| match zero {
            true => invalid(format!("must be more than zero; {}", expected())),
            false => Ok(value),
        };
        let text = |e: ParseError| Invalid::from(e.to_string());
        match (self, raw) {
            (Kind::Number { min, max }, Raw::Number(_) | Raw::Integer(_)) => {
                let v = match raw {
                    Raw::Integer(i) => *i as f64,
                    Raw::Number(v) => *v,
                    _ => unreachable!("matched above"),
                };
                if v.is_finite() && (*min..=*max).contains(&v) {
                    Ok(Value::Number(v))
                } else {
                    invalid(format!("{v} is out of range; {}", expected()))
                }
            }
            (Kind::Integer { min, max }, Raw::Integer(i)) => match u64::try_from(*i) {
                Ok(v) if (*min..=*max).contains(&v) => Ok(Value::Integer(v)),
                _ => invalid(format!("{i} is out of range; {}", expected())),
            },
            (Kind::Flag, Raw::Flag(b)) => Ok(Value::Flag(*b)),
            (Kind::Size, Raw::Text(s)) => {
                let size: Size = s.parse().map_err(text)?;
                positive(size.bytes_f64(Bytes::new(1)) == 0.0, Value::Size(size))
            }
            (Kind::Duration, Raw::Text(s)) => {
                let d: Duration = s.parse().map_err(text)?;
                positive(d.is_zero(), Value::Duration(d))
            }
            (Kind::Rate, Raw::Text(s)) => {
                let r: Rate = s.parse().map_err(text)?;
                positive(r == Rate::ZERO, Value::Rate(r))
            }
            (Kind::Choice(words), Raw::Text(s)) => words
                .iter()
                .find(|w| *w == s)
                .map(|w| Value::Choice(w))
                .ok_or_else(|| Invalid::from(format!("\"{s}\" is not known; {}", expected()))),
            (Kind::Size | Kind::Duration | Kind::Rate, Raw::Integer(_) | Raw::Number(_)) => {
                invalid(format!("a bare number has no unit; {}", expected()))
            }
            _ => invalid(expected()),
        }
    }
}

impl Param {
    /// Returns the default. The code that reads the values of a file also reads the default.
    ///
    /// # Panics
    /// Panics if the table itself is wrong. A test calls
    /// [`Family::defaults`](crate::Family::defaults) on every family.
    pub fn default_value(&self) -> Value {
        if self.default.is_empty() {
            return Value::Absent;
        }
        let raw = match self.kind {
            Kind::Number { .. } => self.default.parse().map(Raw::Number).ok(),
            Kind::Integer { .. } => self.default.parse().map(Raw::Integer).ok(),
            Kind::Flag => self.default.parse().map(Raw::Flag).ok(),
            _ => Some(Raw::Text(self.default.into())),
        };
        match raw
            .ok_or_else(|| Invalid::from("not of its kind"))
            .and_then(|raw| self.kind.read(&raw))
        {
            Ok(value) => value,
            Err(e) => panic!("default of parameter {}: {e}", self.name),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Absent => f.write_str("none"),
            Value::Number(v) => v.fmt(f),
            Value::Integer(v) => v.fmt(f),
            Value::Flag(v) => v.fmt(f),
            Value::Size(v) => v.fmt(f),
            Value::Duration(v) => v.fmt(f),
            Value::Rate(v) => v.fmt(f),
            Value::Choice(v) => v.fmt(f),
        }
    }
}
