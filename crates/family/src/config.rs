//! Typed configurations: the parameters of a family as a plain struct, for programs.
//!
//! The table of a family lists its parameters, and scenario files set them by name. [`config!`]
//! makes a struct of the same parameters. Its defaults are those of the table, and
//! [`values`](crate::config!) checks the values of a program against the table's ranges.

use crate::{Param, Raw, Values};
use accord_units::{Duration, Rate, Size};

/// A type that a parameter can have.
pub trait Field: Sized {
    /// Returns the value of a parameter.
    fn of(values: &Values, name: &str) -> Self;

    /// Returns the parameter as a file would have it; `None` where it is not given.
    fn raw(&self) -> Option<Raw>;
}

macro_rules! field {
    ($type:ty, $getter:ident, $self:ident => $raw:expr) => {
        impl Field for $type {
            fn of(values: &Values, name: &str) -> $type {
                values.$getter(name)
            }

            fn raw(&self) -> Option<Raw> {
                let $self = self;
                Some($raw)
            }
        }
    };
}

field!(f64, number, x => Raw::Number(*x));
// A number beyond i64 is beyond every range.
field!(u64, integer, n => Raw::Integer(i64::try_from(*n).unwrap_or(i64::MAX)));
field!(bool, flag, b => Raw::Flag(*b));
field!(Size, size, s => Raw::Text(s.to_string()));
field!(Duration, duration, d => Raw::Text(d.to_string()));
field!(Rate, rate, r => Raw::Text(r.to_string()));

impl<F: Field> Field for Option<F> {
    fn of(values: &Values, name: &str) -> Option<F> {
        match values.get(name) {
            crate::Value::Absent => None,
            _ => Some(F::of(values, name)),
        }
    }

    fn raw(&self) -> Option<Raw> {
        self.as_ref().and_then(F::raw)
    }
}

/// Sets a parameter from a field; the error names the parameter.
///
/// # Errors
/// When the family has no such parameter, or it is out of its range.
pub fn set(values: &mut Values, name: &'static str, field: &impl Field) -> Result<(), String> {
    let Some(raw) = field.raw() else {
        return Ok(());
    };
    let set = values.set(name, &raw);
    set.map_err(|why| format!("{name}: {why}"))
}

/// Parameters that a program has set.
pub trait Parameters {
    /// Puts them into values of their family.
    ///
    /// # Errors
    /// When one is out of its range; the message names it.
    fn set(&self, values: &mut Values) -> Result<(), String>;
}

/// Returns values with these aggregates, by name.
///
/// # Errors
/// When a parameter of an aggregate is out of its range, or the family's check refuses them.
pub fn with_aggregates(
    mut values: Values,
    aggregates: &[(&str, impl Parameters)],
) -> Result<Values, String> {
    for (name, aggregate) in aggregates {
        let set = aggregate.set(values.aggregate_mut(name));
        set.map_err(|why| format!("{name}: {why}"))?;
    }
    (values.family().check)(&values)?;
    Ok(values)
}

/// Makes a struct of the parameters of a family, with their names. `of aggregates of` makes one of the
/// parameters that each of its aggregates has.
///
/// The struct has `Default` (the family's table), `From<&Values>`, and `values()`, which
/// checks the fields and returns them in the form of scenarios.
///
/// ```
/// use accord_family::{Family, Kind, Objective, Param, Role, Values};
///
/// static FAMILY: Family = Family {
///     params: &[Param {
///         name: "gain",
///         symbol: "κ",
///         kind: Kind::Number { min: 0.0, max: 1.0 },
///         default: "0.5",
///         doc: "What part of an error a step takes away.",
///         source: "",
///     }],
///     ..Family::new("keeper", Role::Controller(|_| Objective::Loss))
/// };
///
/// accord_family::config! {
///     /// The parameters of a keeper.
///     pub struct Config of FAMILY {
///         /// The part of an error that a step takes away.
///         pub gain: f64,
///     }
/// }
///
/// assert_eq!(Config::default(), Config { gain: 0.5 });
/// let values = Config { gain: 0.25 }.values()?;
/// assert_eq!(Config::from(&values).gain, 0.25);
/// let refused = Config { gain: 2.0 }.values();
/// assert!(refused.is_err_and(|why| why.starts_with("gain: 2 is out of range")));
/// # Ok::<(), String>(())
/// ```
#[macro_export]
macro_rules! config {
    (
        $(#[$doc:meta])*
        pub struct $config:ident of $family:path { $($fields:tt)* }
    ) => {
        $crate::config! { @fields $(#[$doc])* $config { $($fields)* } }

        impl Default for $config {
            fn default() -> $config {
                $config::from(&$family.defaults())
            }
        }

        impl $config {
            /// Returns the parameters in the form that scenarios have them in.
            ///
            /// # Errors
            /// When one is out of its range, or they contradict each other; the message says
            /// which.
            pub fn values(&self) -> Result<$crate::Values, String> {
                let mut values = $family.defaults();
                $crate::Parameters::set(self, &mut values)?;
                ($family.check)(&values)?;
                Ok(values)
            }
        }
    };
    (
        $(#[$doc:meta])*
        pub struct $config:ident of aggregates of $family:path { $($fields:tt)* }
    ) => {
        $crate::config! { @fields $(#[$doc])* $config { $($fields)* } }

        impl Default for $config {
            fn default() -> $config {
                $config::from(&$family.aggregate_defaults())
            }
        }
    };
    (
        @fields $(#[$doc:meta])* $config:ident {
            $($(#[$field_doc:meta])* pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $config {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl From<&$crate::Values> for $config {
            fn from(values: &$crate::Values) -> $config {
                $config {
                    $($field: $crate::Field::of(values, stringify!($field)),)*
                }
            }
        }

        impl $config {
            /// The names of the parameters.
            pub const PARAMS: &'static [&'static str] = &[$(stringify!($field)),*];
        }

        impl $crate::Parameters for $config {
            fn set(&self, values: &mut $crate::Values) -> Result<(), String> {
                $($crate::set(values, stringify!($field), &self.$field)?;)*
                Ok(())
            }
        }
    };
}

/// Makes an enum of the words of a choice, for a [`config!`].
///
/// ```
/// accord_family::choice! {
///     /// Where a base round-trip time comes from.
///     pub enum BaseRtt {
///         /// The smallest sample.
///         Measured = "measured",
///         /// The network says it.
///         Known = "known",
///     }
/// }
/// assert_eq!(BaseRtt::WORDS, ["measured", "known"]);
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[$doc:meta])*
        pub enum $choice:ident {
            $($(#[$word_doc:meta])* $variant:ident = $word:literal,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $choice {
            $($(#[$word_doc])* $variant,)*
        }

        impl $choice {
            /// The words in scenario files.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// Returns the word in scenario files.
            pub const fn word(self) -> &'static str {
                match self {
                    $($choice::$variant => $word,)*
                }
            }
        }

        impl $crate::Field for $choice {
            fn of(values: &$crate::Values, name: &str) -> $choice {
                match values.choice(name) {
                    $($word => $choice::$variant,)*
                    other => unreachable!("\"{other}\" is no word of the choice"),
                }
            }

            fn raw(&self) -> Option<$crate::Raw> {
                Some($crate::Raw::Text(self.word().into()))
            }
        }
    };
}

/// Returns the names of a table's parameters that a configuration has not, and the other way
/// round; for tests.
pub fn differences(params: &[Param], config: &[&str]) -> Vec<String> {
    let table = params.iter().map(|p| p.name);
    let missing = table.filter(|name| !config.contains(name));
    let strange = config
        .iter()
        .filter(|name| params.iter().all(|p| p.name != **name));
    let missing = missing.map(|name| format!("{name} is in the table only"));
    let strange = strange.map(|name| format!("{name} is not in the table"));
    missing.chain(strange).collect()
}
