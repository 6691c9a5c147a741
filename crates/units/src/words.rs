//! Enumerations whose values are words in files.

/// An enumeration whose values are words in files. [`words!`](crate::words!) makes one.
pub trait Words: Copy + 'static {
    /// The words, each with its value. A value that is not a word, such as a quantile, has no entry.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the words in order.
    fn words() -> Vec<&'static str> {
        Self::WORDS.iter().map(|(word, _)| *word).collect()
    }

    /// Returns the value of a word.
    fn of_word(text: &str) -> Option<Self> {
        let found = Self::WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value)
    }

    /// Returns the value of a word.
    ///
    /// # Errors
    /// The message lists the words.
    fn read_word(text: &str) -> Result<Self, String> {
        let known = || format!("\"{text}\" is not known (there are: {})", Self::words().join(", "));
        Self::of_word(text).ok_or_else(known)
    }
}

/// Makes an enumeration from its values and their words in files, with [`Words`], `FromStr` and a getter of
/// the word. The name of the getter follows `by`. If the enumeration ends with variants in braces, the getter
/// returns an option, because these variants have no word.
///
/// ```
/// use accord_units::{Words, words};
///
/// words! {
///     /// A direction of a link.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub enum Direction by name {
///         /// From `from` to `to`.
///         Forward = "forward",
///         /// From `to` to `from`.
///         Reverse = "reverse",
///     }
/// }
///
/// assert_eq!(Direction::words(), ["forward", "reverse"]);
/// assert_eq!(Direction::of_word("reverse"), Some(Direction::Reverse));
/// assert_eq!(Direction::Forward.name(), "forward");
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $getter:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $crate::Words for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $name::$variant),)+];
        }

        impl $name {
            /// All values, in order.
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$variant),+];

            /// Returns the word in files.
            pub const fn $getter(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                $crate::Words::read_word(text)
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $getter:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)+
            $({ $(#[$other_doc:meta])* $other:ident($value:ty) })+
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$doc])* $variant,)+
            $($(#[$other_doc])* $other($value),)+
        }

        impl $crate::Words for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $name::$variant),)+];
        }

        impl $name {
            /// Returns the word in files, if the value is a word.
            pub const fn $getter(self) -> Option<&'static str> {
                match self {
                    $($name::$variant => Some($word),)+
                    $($name::$other(_) => None,)+
                }
            }
        }
    };
}
