//! Typed configurations: the parameters of a family as a plain struct, for programs.
//!
//! Scenario files set the parameters of a family by name. [`params!`](crate::params!) declares the
//! table of these names together with a struct of the same parameters, whose values are checked
//! against the table's ranges.

use crate::{Invalid, Raw, Values};
use accord_units::{Duration, Rate, Size};

/// A type of a parameter.
pub trait Field: Sized {
    /// Returns the value of a parameter.
    fn of(values: &Values, name: &str) -> Self;

    /// Returns the parameter in the form of a file, or `None` if it is not given.
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
// A number beyond i64 is out of every range.
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

/// Sets a parameter from a field. The error names the parameter.
///
/// # Errors
/// If the family has no such parameter, or the value is out of its range.
pub fn set(values: &mut Values, name: &'static str, field: &impl Field) -> Result<(), Invalid> {
    let Some(raw) = field.raw() else {
        return Ok(());
    };
    values.set(name, &raw)
}

/// Parameters that a program has set.
pub trait Parameters {
    /// Writes the parameters into values of their family.
    ///
    /// # Errors
    /// If a parameter is out of its range. The message names it.
    fn set(&self, values: &mut Values) -> Result<(), Invalid>;
}

/// Returns values with these aggregates, by name.
///
/// # Errors
/// If a parameter of an aggregate is out of its range, or the family's check rejects the values.
pub fn with_aggregates(
    mut values: Values,
    aggregates: &[(&str, impl Parameters)],
) -> Result<Values, Invalid> {
    for (name, aggregate) in aggregates {
        let set = aggregate.set(values.aggregate_mut(name));
        set.map_err(|e| e.within(name))?;
    }
    (values.family().check)(&values)?;
    Ok(values)
}

/// Declares the parameters of a family once. The result is a struct for programs and a table
/// ([`Param`](crate::Param)) for scenario files, the reference and messages. `of aggregates of` declares the
/// parameters of each aggregate.
///
/// An entry consists of the documentation, the name, the type and the rest of the [`Param`](crate::Param),
/// made by the functions of [`kind`](crate::kind). An entry without documentation takes that of its
/// [`Param`](crate::Param), which several families share. An entry without `pub` and type is only in the
/// table.
///
/// `of FAMILY => Made()` adds `build()`, which checks the parameters and passes them to `Made::new`.
///
/// The struct has `PARAMS` (the table), `Default`, `From<&Values>`, and `values()`, which checks the
/// fields and returns them in the form of scenarios.
///
/// ```
/// use accord_family::{Family, Objective, Role};
///
/// static FAMILY: Family = Family {
///     params: Config::PARAMS,
///     ..Family::new("keeper", Role::Controller(|_| Objective::Loss))
/// };
///
/// accord_family::params! {
///     /// The parameters of a keeper.
///     pub struct Config of FAMILY {
///         /// The part of an error that a step takes away.
///         pub gain: f64 = number("0.5", 0.0, 1.0).symbol("κ"),
///     }
/// }
///
/// assert_eq!(Config::PARAMS[0].doc, "The part of an error that a step takes away.");
/// assert_eq!(Config::default(), Config { gain: 0.5 });
/// let values = Config { gain: 0.25 }.values()?;
/// assert_eq!(Config::from(&values).gain, 0.25);
/// let refused = Config { gain: 2.0 }.values();
/// assert!(refused.is_err_and(|e| e.path == ["gain"] && e.reason.starts_with("2 is out of range")));
/// # Ok::<(), accord_family::Invalid>(())
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$doc:meta])*
        pub struct $config:ident of $family:path
            $(=> $made:ident($($arg:ident: $arg_type:ty)?))?
        { $($entries:tt)* }
    ) => {
        $crate::params! { @entries [$(#[$doc])* $config] [] [] $($entries)* }

        impl Default for $config {
            fn default() -> $config {
                $config::from(&$family.defaults())
            }
        }

        $(
            impl $config {
                /// Builds the controller or the discipline from these parameters. A controller is
                /// built for packets of this size.
                ///
                /// # Errors
                /// As [`values`](Self::values).
                pub fn build(&self $(, $arg: $arg_type)?) -> Result<$made, $crate::Invalid> {
                    Ok($made::new(&self.values()? $(, $arg)?))
                }
            }
        )?

        impl $config {
            /// Returns the parameters in the form of scenarios.
            ///
            /// # Errors
            /// If a parameter is out of its range, or parameters contradict each other. The message
            /// names them.
            pub fn values(&self) -> Result<$crate::Values, $crate::Invalid> {
                let mut values = $family.defaults();
                $crate::Parameters::set(self, &mut values)?;
                ($family.check)(&values)?;
                Ok(values)
            }
        }
    };
    (
        $(#[$doc:meta])*
        pub struct $config:ident of aggregates of $family:path { $($entries:tt)* }
    ) => {
        $crate::params! { @entries [$(#[$doc])* $config] [] [] $($entries)* }

        impl Default for $config {
            fn default() -> $config {
                $config::from(&$family.aggregate_defaults())
            }
        }
    };
    (
        @entries $head:tt [$($field:tt)*] [$($param:tt)*]
        pub $name:ident: $type:ty = $rest:expr, $($entries:tt)*
    ) => {
        $crate::params! {
            @entries $head
            [$($field)* #[doc = concat!("`", stringify!($name), "`, which several families have.")] pub $name: $type,]
            [$($param)* (stringify!($name), "", $rest)]
            $($entries)*
        }
    };
    (
        @entries $head:tt [$($field:tt)*] [$($param:tt)*]
        $(#[doc = $doc:literal])+ pub $name:ident: $type:ty = $rest:expr, $($entries:tt)*
    ) => {
        $crate::params! {
            @entries $head
            [$($field)* $(#[doc = $doc])* pub $name: $type,]
            [$($param)* (stringify!($name), concat!($($doc),*), $rest)]
            $($entries)*
        }
    };
    (
        @entries $head:tt $fields:tt [$($param:tt)*]
        $(#[doc = $doc:literal])* $name:ident = $rest:expr, $($entries:tt)*
    ) => {
        $crate::params! {
            @entries $head $fields
            [$($param)* (stringify!($name), concat!($($doc),*), $rest)]
            $($entries)*
        }
    };
    (
        @entries [$(#[$doc:meta])* $config:ident]
        [$($(#[$field_doc:meta])* pub $field:ident: $type:ty,)*]
        [$(($name:expr, $about:expr, $rest:expr))*]
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
            /// The table of the parameters.
            pub const PARAMS: &'static [$crate::Param] = {
                #[allow(unused_imports, reason = "not every family has a parameter of each kind")]
                use $crate::kind::*;
                &[$($rest.declared($name, $about),)*]
            };
        }

        impl $crate::Parameters for $config {
            fn set(&self, values: &mut $crate::Values) -> Result<(), $crate::Invalid> {
                $($crate::set(values, stringify!($field), &self.$field)?;)*
                Ok(())
            }
        }
    };
}

/// Makes an enum of the words of a choice, for a parameter of [`params!`](crate::params!).
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
                    other => unreachable!("\"{other}\" is not a word of the choice"),
                }
            }

            fn raw(&self) -> Option<$crate::Raw> {
                Some($crate::Raw::Text(self.word().into()))
            }
        }
    };
}
