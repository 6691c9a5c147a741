//! Readers that turn values of the tree into quantities, within sensible bounds.

use crate::{
    Checked, Data, Default, Entry, Own, Problem, Section, Shape, Span, Table, Value, limits, quote,
};
use accord_units::{Bytes, Duration, ParseError, Rate, Time, Words, percent};
use std::str::FromStr;

/// The forms that files of any kind have.
type Plain = Shape<Checked>;

/// Returns the problem for a value that does not have the form of a shape.
pub fn wrong<X: Own>(value: &Value, shape: &Shape<X>) -> Problem {
    let message = format!("expected {}, not {}", shape.expected(), value.describe());
    let problem = Problem::new(value.span, message);
    match &value.data {
        Data::Whole(_) | Data::Number(_) | Data::Foreign(_) if shape.is_quantity() => {
            problem.hint("a quantity is text in quotes, with its unit")
        }
        _ => problem,
    }
}

fn quantity<T: FromStr<Err = ParseError>, X: Own>(
    value: &Value,
    shape: &Shape<X>,
) -> Result<T, Problem> {
    let text = value.text().ok_or_else(|| wrong(value, shape))?;
    let result: Result<T, ParseError> = text.parse();
    result.map_err(|e| {
        Problem::new(value.span, e.problem).hint(format!("expected {}", shape.expected()))
    })
}

/// Returns a quantity of at most `most`. If `positive` has a zero, the quantity must exceed it. `what` is the
/// quantity in words.
///
/// # Errors
/// Fails if the quantity is beyond these bounds.
pub fn bounded<T>(
    value: &Value,
    x: T,
    positive: Option<T>,
    most: T,
    what: &str,
) -> Result<T, Problem>
where
    T: PartialOrd + std::fmt::Display,
{
    let refuse = |message: String| Err(Problem::new(value.span, message));
    match positive {
        Some(zero) if x <= zero => refuse(format!("{what} must be more than zero")),
        _ if x > most => refuse(format!("{x} is too much: {what} is at most {most}")),
        _ => Ok(x),
    }
}

/// Reads a quantity within the bounds of [`bounded`].
///
/// # Errors
/// Fails if the value is not such a quantity.
pub fn within<T, X: Own>(
    value: &Value,
    shape: &Shape<X>,
    positive: Option<T>,
    most: T,
    what: &str,
) -> Result<T, Problem>
where
    T: FromStr<Err = ParseError> + PartialOrd + std::fmt::Display,
{
    bounded(value, quantity(value, shape)?, positive, most, what)
}

/// Reads a rate above zero.
///
/// # Errors
/// Fails if the value is of another form.
pub fn rate(value: &Value) -> Result<Rate, Problem> {
    within(value, &Plain::Rate, Some(Rate::ZERO), limits::RATE, "a rate")
}

/// Reads a rate, which may be zero.
///
/// # Errors
/// Fails if the value is of another form.
pub fn any_rate(value: &Value) -> Result<Rate, Problem> {
    within(value, &Plain::AnyRate, None, limits::RATE, "a rate")
}

/// Reads a delay, which may be zero.
///
/// # Errors
/// Fails if the value is of another form.
pub fn delay(value: &Value) -> Result<Duration, Problem> {
    within(value, &Plain::Delay, None, limits::DELAY, "a delay")
}

/// Reads a span of time above zero.
///
/// # Errors
/// Fails if the value is of another form.
pub fn span(value: &Value) -> Result<Duration, Problem> {
    within(value, &Plain::Span, Some(Duration::ZERO), limits::SPAN, "a span of time")
}

/// Reads an instant.
///
/// # Errors
/// Fails if the value is of another form.
pub fn instant(value: &Value) -> Result<Time, Problem> {
    within(value, &Plain::Instant, None, limits::SPAN, "a time").map(|d| Time::ZERO + d)
}

/// Reads a number of bytes above zero.
///
/// # Errors
/// Fails if the value is of another form.
pub fn amount(value: &Value) -> Result<Bytes, Problem> {
    within(value, &Plain::Amount, Some(Bytes::ZERO), limits::AMOUNT, "an amount")
}

/// Reads `true` or `false`.
///
/// # Errors
/// Fails if the value is of another form.
pub fn flag(value: &Value) -> Result<bool, Problem> {
    match value.data {
        Data::Flag(flag) => Ok(flag),
        _ => Err(wrong(value, &Plain::Flag)),
    }
}

/// Reads a whole number from `min` to `max`.
///
/// # Errors
/// Fails if the value is of another form.
pub fn whole(value: &Value, min: u64, max: u64) -> Result<u64, Problem> {
    let shape = Plain::Whole(min, max);
    match value.data {
        Data::Whole(n) => {
            u64::try_from(n).ok().filter(|n| (min..=max).contains(n)).ok_or_else(|| {
                let message = format!("{n} is out of range: expected {}", shape.expected());
                Problem::new(value.span, message)
            })
        }
        _ => Err(wrong(value, &shape)),
    }
}

/// Reads a number from `min` to `max`.
///
/// # Errors
/// Fails if the value is of another form.
pub fn number(value: &Value, min: f64, max: f64) -> Result<f64, Problem> {
    let shape = Plain::Number(min, max);
    let x = match value.data {
        Data::Whole(n) => n as f64,
        Data::Number(x) => x,
        _ => return Err(wrong(value, &shape)),
    };
    if !(min..=max).contains(&x) {
        let message =
            format!("{} is out of range: expected {}", value.describe(), shape.expected());
        return Err(Problem::new(value.span, message));
    }
    Ok(x)
}

/// Reads a text of this form.
///
/// # Errors
/// Fails if the value is of another form.
pub fn text<'a, X: Own>(value: &'a Value, shape: &Shape<X>) -> Result<&'a str, Problem> {
    value.text().ok_or_else(|| wrong(value, shape))
}

/// Reads any text.
///
/// # Errors
/// Fails if the value is of another form.
pub fn string(value: &Value) -> Result<String, Problem> {
    text(value, &Plain::Text).map(str::to_string)
}

/// Reads a text that a type parses.
///
/// # Errors
/// Fails if the value is of another form.
pub fn parsed<T: FromStr<Err: std::fmt::Display>>(value: &Value) -> Result<T, Problem> {
    let read = text(value, &Plain::Text)?.parse();
    read.map_err(|e: T::Err| Problem::new(value.span, e.to_string()))
}

/// Reads the values of a list with `read`.
///
/// # Errors
/// Fails if `read` does.
pub fn each<T>(
    value: &Value,
    read: impl Fn(&Value) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    value.list().unwrap_or_default().iter().map(read).collect()
}

/// Reads a name that the file declares or uses. `dots` allows names that the program made, such as
/// "bottleneck.reverse".
///
/// # Errors
/// Fails if the value is of another form.
pub fn name(value: &Value, dots: bool) -> Result<&str, Problem> {
    let shape = if dots { Plain::Dotted } else { Plain::Name };
    let name = text(value, &shape)?;
    check_name(name, value.span, dots)?;
    Ok(name)
}

/// Checks that a text is a name, as [`name`] does.
///
/// # Errors
/// Fails if the text is not a name.
pub fn check_name(name: &str, span: Span, dots: bool) -> Result<(), Problem> {
    let odd = |c: char| !(c.is_alphanumeric() || c == '-' || c == '_' || dots && c == '.');
    if name.is_empty() || name.contains(odd) || name.chars().count() > limits::NAME {
        let dots = if dots { ", '.'" } else { "" };
        return Err(Problem::new(span, format!("{} is not a name", quote(name)))
            .hint(format!("a name has 1 to {} letters, digits, '-', '_'{dots}", limits::NAME)));
    }
    Ok(())
}

/// Reads one of some words.
///
/// # Errors
/// Fails if the value is of another form.
pub fn choice(value: &Value, words: &[&'static str]) -> Result<&'static str, Problem> {
    let Some(text) = value.text() else {
        let words: Vec<_> = words.iter().map(|w| quote(w)).collect();
        let message = format!("expected {}, not {}", words.join(" or "), value.describe());
        return Err(Problem::new(value.span, message));
    };
    words.iter().copied().find(|w| *w == text).ok_or_else(|| {
        Problem::new(value.span, format!("{} is not known", quote(text)))
            .known(text, words.iter().copied())
    })
}

/// Reads a word of an enumeration.
///
/// # Errors
/// Fails if the value is of another form.
pub fn word<T: Words>(value: &Value) -> Result<T, Problem> {
    let word = choice(value, &T::words())?;
    Ok(T::of_word(word).expect("it is one of the words"))
}

/// Reads a fraction: "5 %" or 0.05. The result is never negative and always finite.
///
/// # Errors
/// Fails if the value is of another form.
pub fn ratio<X: Own>(value: &Value, shape: &Shape<X>) -> Result<f64, Problem> {
    let x = match &value.data {
        Data::Whole(n) => *n as f64,
        Data::Number(x) => *x,
        Data::Text(text) => {
            text.strip_suffix('%').and_then(percent).ok_or_else(|| wrong(value, shape))?
        }
        _ => return Err(wrong(value, shape)),
    };
    if !x.is_finite() || x < 0.0 {
        let message = format!("{} is not a share", value.describe());
        return Err(
            Problem::new(value.span, message).hint(format!("expected {}", shape.expected()))
        );
    }
    Ok(x)
}

/// Reads a probability.
///
/// # Errors
/// Fails if the value is of another form.
pub fn probability(value: &Value) -> Result<f64, Problem> {
    let x = ratio(value, &Plain::Probability)?;
    bounded(value, x, None, 1.0, "a probability")
}

/// Reads a relative tolerance.
///
/// # Errors
/// Fails if the value is of another form.
pub fn tolerance(value: &Value) -> Result<f64, Problem> {
    let x = ratio(value, &Plain::Tolerance)?;
    bounded(value, x, Some(0.0), 10.0, "a tolerance")
}

/// Returns the value of a default, which is text in the key tables.
fn written(text: &str, span: Span) -> Value {
    let data = if let Ok(n) = text.parse() {
        Data::Whole(n)
    } else if let Ok(x) = text.parse() {
        Data::Number(x)
    } else if let Ok(flag) = text.parse() {
        Data::Flag(flag)
    } else {
        Data::Text(text.to_string())
    };
    Value { span, data }
}

/// Reads the keys of a section from one or several tables. The first table with a key determines
/// its value.
#[derive(Clone, Debug)]
pub struct Reader<'a, X: 'static> {
    section: &'static Section<X>,
    layers: Vec<&'a Table>,
    /// The place to which problems about missing keys point.
    pub span: Span,
}

impl<'a, X: Own> Reader<'a, X> {
    /// Creates the reader of a table.
    pub fn new(section: &'static Section<X>, table: &'a Table, span: Span) -> Reader<'a, X> {
        Reader { section, layers: vec![table], span }
    }

    /// Adds the tables of `base`, for keys that are not found in the current ones.
    pub fn or(mut self, base: &Reader<'a, X>) -> Reader<'a, X> {
        self.layers.extend(&base.layers);
        self
    }

    /// Returns the place of the value given for `key`, or of the table.
    pub fn at(&self, key: &str) -> Span {
        self.given(key).map_or(self.span, |v| v.span)
    }

    /// Returns the value given for `key`, if there is one.
    pub fn given(&self, key: &str) -> Option<&'a Value> {
        debug_assert!(
            self.section.key(key).is_some(),
            "the key tables have no {key} in {}",
            self.section.title
        );
        self.layers.iter().find_map(|table| table.get(key))
    }

    /// Returns the reader of a given table, with its layers.
    pub fn table(&self, key: &str, section: &'static Section<X>) -> Option<Reader<'a, X>> {
        let value = self.given(key)?;
        let layers = self.layers.iter().filter_map(|t| t.get(key)?.table());
        Some(Reader { section, layers: layers.collect(), span: value.span })
    }

    /// Returns the readers of the tables of a list.
    pub fn tables(&self, key: &str, section: &'static Section<X>) -> Vec<Reader<'a, X>> {
        let list = self.given(key).and_then(Value::list).unwrap_or_default();
        let reader = |value: &'a Value| Some(Reader::new(section, value.table()?, value.span));
        list.iter().filter_map(reader).collect()
    }

    /// Returns the readers of tables by name, with the entries of the names.
    pub fn named(
        &self,
        key: &str,
        section: &'static Section<X>,
    ) -> Vec<(&'a Entry, Reader<'a, X>)> {
        let table = self.given(key).and_then(Value::table);
        let reader = |e: &'a Entry| Some((e, Reader::new(section, e.value.table()?, e.span)));
        table.map_or(&[][..], |t| &t.entries).iter().filter_map(reader).collect()
    }

    /// Returns the reader of the same keys for the reverse direction. Keys in `reverse` take
    /// precedence over those of the forward direction. Returns `None` if no layer has a `reverse`.
    pub fn reverse(&self) -> Option<Reader<'a, X>> {
        let own = self.table("reverse", self.section)?;
        Some(own.or(self))
    }

    /// Returns whether the first layer that has either `key` or one of `others` has `key`.
    pub fn prefers(&self, key: &str, others: &[&str]) -> bool {
        let has = |t: &&&Table| t.get(key).is_some() || others.iter().any(|k| t.get(k).is_some());
        let first = self.layers.iter().find(has);
        first.is_some_and(|table| table.get(key).is_some())
    }

    /// Returns one of `others` that is in the same table as `key`.
    pub fn beside(&self, key: &str, others: &[&str]) -> Option<&'a Value> {
        let table = self.layers.iter().find(|t| t.get(key).is_some())?;
        others.iter().find_map(|k| table.get(k))
    }

    /// Reads `key` with `read`, and uses the default if it is not given. Returns `None` if there is
    /// no default.
    ///
    /// # Errors
    /// Fails if `read` does.
    pub fn opt<T>(
        &self,
        key: &str,
        read: impl Fn(&Value) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        if let Some(value) = self.given(key) {
            return read(value).map(Some);
        }
        match self.section.key(key).map(|k| k.default) {
            Some(Default::Value(text)) => read(&written(text, self.span)).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads a key that must be given or have a default.
    ///
    /// # Errors
    /// Fails if it has neither, or if `read` fails.
    pub fn get<T>(
        &self,
        key: &str,
        read: impl Fn(&Value) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.opt(key, read)?.ok_or_else(|| self.missing(key))
    }

    /// Returns the problem for `key`, which is not given and has no default.
    pub fn missing(&self, key: &str) -> Problem {
        missing(self.section, key, self.span)
    }
}

/// Returns the problem for a missing key of a section.
pub fn missing<X: Own>(section: &Section<X>, key: &str, span: Span) -> Problem {
    let problem = Problem::new(span, format!("`{key}` is missing"));
    match section.key(key) {
        Some(k) => problem.hint(format!("{key} = {}", k.shape.expected())),
        None => problem,
    }
}
