//! Tables that describe parameters.
//!
//! Each controller and queue discipline declares its parameters once, as a [`Family`].
//! The scenario language reads, checks and documents them from that table; the
//! constructor gets them as [`Values`], already in range.

mod markdown;

pub use markdown::{fill_tables, markdown_table};

use crate::objective::{Objective, Price};
use crate::quantity::{Bytes, Rate};
use crate::size::Size;
use crate::text::ParseError;
use crate::time::Duration;
use std::fmt;

/// The kind of quantity that a parameter is.
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
    /// Bytes or packets, more than zero.
    Size,
    /// A span of time, more than zero.
    Duration,
    /// A rate, more than zero.
    Rate,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A table from names of aggregates to tables of these parameters: what a queue
    /// discipline is told of each kind of traffic. None of them is of this kind itself.
    Aggregates(&'static [Param]),
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// The key in a scenario file.
    pub name: &'static str,
    /// The symbol in the papers, or "".
    pub symbol: &'static str,
    /// The kind of quantity.
    pub kind: Kind,
    /// The default, written as in a scenario file; "" for a parameter without one, which
    /// is then absent unless given.
    pub default: &'static str,
    /// The meaning, in a sentence.
    pub doc: &'static str,
    /// The source, such as "[Xia05 table I]".
    pub source: &'static str,
}

/// A controller or a queue discipline as the scenario language sees it.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its name in a scenario file.
    pub name: &'static str,
    /// A description, in a sentence.
    pub doc: &'static str,
    /// The source.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Checks relations between parameters; the message says what is wrong and how to mend it.
    pub check: fn(&Values) -> Result<(), String>,
    /// The part of it that theory uses.
    pub role: Role,
}

/// The part of a [`Family`] that theory uses.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    /// A controller fed by acknowledgements, with its objective for given parameters.
    Controller(fn(&Values) -> Objective),
    /// A controller fed by pairs of control packets, once per round trip; its objective.
    Tunnel(fn(&Values) -> Objective),
    /// A queue discipline, with its price for given parameters.
    Queue(fn(&Values) -> Price),
}

impl Role {
    /// A controller's objective for given parameters; `None` for a queue discipline.
    pub fn objective(&self, values: &Values) -> Option<Objective> {
        match self {
            Role::Controller(objective) | Role::Tunnel(objective) => Some(objective(values)),
            Role::Queue(_) => None,
        }
    }
}

/// A value as it stands in a file, before it has a meaning.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A float, perhaps not finite.
    Number(f64),
    /// A boolean.
    Flag(bool),
}

/// A value with a meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Not given, and there is no default.
    Absent,
    /// A number.
    Number(f64),
    /// A whole number.
    Integer(u64),
    /// A boolean.
    Flag(bool),
    /// Bytes or packets.
    Size(Size),
    /// A span of time.
    Duration(Duration),
    /// A rate.
    Rate(Rate),
    /// A word of the parameter's choice.
    Choice(&'static str),
}

impl Kind {
    /// A description of the values of this kind.
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
    pub fn read(&self, raw: &Raw) -> Result<Value, String> {
        let expected = || format!("expected {}", self.expected());
        let positive = |zero: bool, value: Value| {
            if zero {
                Err(format!("must be more than zero; {}", expected()))
            } else {
                Ok(value)
            }
        };
        let text = |e: ParseError| e.to_string();
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
                    Err(format!("{v} is out of range; {}", expected()))
                }
            }
            (Kind::Integer { min, max }, Raw::Integer(i)) => match u64::try_from(*i) {
                Ok(v) if (*min..=*max).contains(&v) => Ok(Value::Integer(v)),
                _ => Err(format!("{i} is out of range; {}", expected())),
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
                .ok_or_else(|| format!("\"{s}\" is not known; {}", expected())),
            (Kind::Size | Kind::Duration | Kind::Rate, Raw::Integer(_) | Raw::Number(_)) => {
                Err(format!("a bare number has no unit; {}", expected()))
            }
            _ => Err(expected()),
        }
    }
}

impl Param {
    /// The default, read by the same reader as a file's values.
    ///
    /// # Panics
    /// When the table itself is wrong; [`Family::defaults`] on every family is a test.
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
            .ok_or_else(|| "not of its kind".to_string())
            .and_then(|raw| self.kind.read(&raw))
        {
            Ok(value) => value,
            Err(e) => panic!("default of parameter {}: {e}", self.name),
        }
    }
}

impl Family {
    /// The parameters at their defaults.
    pub fn defaults(&'static self) -> Values {
        Values::defaults(self, self.params)
    }

    /// The parameters that each aggregate has; none for most families.
    pub fn aggregate_params(&self) -> &'static [Param] {
        let of = |p: &Param| match p.kind {
            Kind::Aggregates(params) => Some(params),
            _ => None,
        };
        self.params.iter().find_map(of).unwrap_or_default()
    }
}

/// The parameters of one use of a [`Family`], complete and each in its range.
#[derive(Clone, Debug)]
pub struct Values {
    family: &'static Family,
    params: &'static [Param],
    values: Vec<Value>,
    /// Names of aggregates with their own parameters.
    aggregates: Vec<(String, Values)>,
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.family.name == other.family.name
            && self.values == other.values
            && self.aggregates == other.aggregates
    }
}

macro_rules! getter {
    ($(#[$doc:meta])* $name:ident, $option:ident, $variant:ident, $type:ty) => {
        $(#[$doc])*
        ///
        /// # Panics
        /// When the family has no such parameter, or it is absent: both are errors of
        /// the family's own table.
        pub fn $name(&self, name: &str) -> $type {
            self.$option(name).unwrap_or_else(|| {
                panic!("{} has no value for parameter {name}", self.family.name)
            })
        }

        /// The same, `None` where it was not given and has no default.
        pub fn $option(&self, name: &str) -> Option<$type> {
            match self.get(name) {
                Value::$variant(v) => Some(v),
                Value::Absent => None,
                v => panic!("parameter {name} of {} is {v:?}", self.family.name),
            }
        }
    };
}

impl Values {
    fn defaults(family: &'static Family, params: &'static [Param]) -> Values {
        Values {
            family,
            params,
            values: params.iter().map(Param::default_value).collect(),
            aggregates: Vec::new(),
        }
    }

    /// The parameters of an aggregate, to be set: at their defaults if it is new.
    pub fn aggregate_mut(&mut self, name: &str) -> &mut Values {
        let known = self.aggregates.iter().position(|(n, _)| n == name);
        let i = known.unwrap_or_else(|| {
            let params = self.family.aggregate_params();
            let defaults = Values::defaults(self.family, params);
            self.aggregates.push((name.to_string(), defaults));
            self.aggregates.len() - 1
        });
        &mut self.aggregates[i].1
    }

    /// Has exactly these aggregates, in this order, from now on: those that it was told
    /// nothing of have their defaults. Gives the name of one that it was told of and that
    /// is not among them, if there is one. A family without such parameters stays as it is.
    pub fn arrange_aggregates(&mut self, names: &[String]) -> Result<(), String> {
        if self.family.aggregate_params().is_empty() {
            return Ok(());
        }
        let strange = |(name, _): &&(String, Values)| !names.contains(name);
        if let Some((name, _)) = self.aggregates.iter().find(strange) {
            return Err(name.clone());
        }
        for name in names {
            self.aggregate_mut(name);
        }
        let place = |name: &String| names.iter().position(|n| n == name);
        self.aggregates.sort_by_key(|(name, _)| place(name));
        Ok(())
    }

    /// The aggregates with their parameters.
    pub fn aggregates(&self) -> impl ExactSizeIterator<Item = (&str, &Values)> {
        self.aggregates.iter().map(|(name, of)| (name.as_str(), of))
    }

    /// The family that these are parameters of.
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// Sets one parameter from a file's value. Fails where the name is unknown or the
    /// value is not of the parameter's kind or range.
    pub fn set(&mut self, name: &str, raw: &Raw) -> Result<(), String> {
        let i = self
            .params
            .iter()
            .position(|p| p.name == name)
            .ok_or_else(|| {
                let known: Vec<_> = self.params.iter().map(|p| p.name).collect();
                format!(
                    "{} has no parameter \"{name}\" (it has: {})",
                    self.family.name,
                    known.join(", ")
                )
            })?;
        self.values[i] = self.params[i].kind.read(raw)?;
        Ok(())
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// When the family has no such parameter.
    pub fn get(&self, name: &str) -> Value {
        let i = self.params.iter().position(|p| p.name == name);
        let i = i.unwrap_or_else(|| panic!("{} has no parameter {name}", self.family.name));
        self.values[i]
    }

    /// Parameters with their values, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Param, Value)> + '_ {
        self.params.iter().zip(self.values.iter().copied())
    }

    getter!(
        /// A number.
        number, number_opt, Number, f64
    );
    getter!(
        /// A whole number.
        integer, integer_opt, Integer, u64
    );
    getter!(
        /// A flag.
        flag, flag_opt, Flag, bool
    );
    getter!(
        /// Bytes or packets.
        size, size_opt, Size, Size
    );
    getter!(
        /// A span of time.
        duration, duration_opt, Duration, Duration
    );
    getter!(
        /// A rate.
        rate, rate_opt, Rate, Rate
    );
    getter!(
        /// A word.
        choice, choice_opt, Choice, &'static str
    );
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
