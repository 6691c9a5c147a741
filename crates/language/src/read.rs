//! Readers from values of the tree to quantities, each within sensible bounds.

mod links;

pub(crate) use links::*;

use super::error::{Problem, Span, fail, quote};
use super::limits;
use super::shape::{Default, Processing, Section, Shape};
use super::tree::{Data, Table, Value};
use accord_scenario::{Metric, Over, UNLIMITED, percent};
use accord_units::{Bytes, Duration, ParseError, Rate, Size, Time, Words};
use std::str::FromStr;

/// The size of a buffer as written, before rates and round-trip times are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RawLimit {
    Size(Size),
    Time(Duration),
    /// A multiple of the bandwidth-delay product.
    Product(f64),
    Unlimited,
}

fn wrong(value: &Value, shape: &Shape) -> Problem {
    let message = format!("expected {}, not {}", shape.expected(), value.describe());
    let problem = Problem::new(value.span, message);
    match &value.data {
        Data::Whole(_) | Data::Number(_) | Data::Foreign(_) if shape.is_quantity() => {
            problem.hint("a quantity is text in quotes, with its unit")
        }
        _ => problem,
    }
}

fn quantity<T: FromStr<Err = ParseError>>(value: &Value, shape: &Shape) -> Result<T, Problem> {
    let text = value.text().ok_or_else(|| wrong(value, shape))?;
    let result: Result<T, ParseError> = text.parse();
    result.map_err(|e| {
        Problem::new(value.span, e.problem).hint(format!("expected {}", shape.expected()))
    })
}

fn bounded<T>(value: &Value, x: T, positive: Option<T>, most: T, what: &str) -> Result<T, Problem>
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

/// Reads a quantity up to `most`, and above zero if `positive` has that zero.
fn within<T>(
    value: &Value,
    shape: &Shape,
    positive: Option<T>,
    most: T,
    what: &str,
) -> Result<T, Problem>
where
    T: FromStr<Err = ParseError> + PartialOrd + std::fmt::Display,
{
    bounded(value, quantity(value, shape)?, positive, most, what)
}

pub(crate) fn rate(value: &Value) -> Result<Rate, Problem> {
    within(value, &Shape::Rate, Some(Rate::ZERO), limits::RATE, "a rate")
}

/// Reads a rate, which may be zero.
pub(crate) fn any_rate(value: &Value) -> Result<Rate, Problem> {
    within(value, &Shape::AnyRate, None, limits::RATE, "a rate")
}

pub(crate) fn delay(value: &Value) -> Result<Duration, Problem> {
    within(value, &Shape::Delay, None, limits::DELAY, "a delay")
}

pub(crate) fn span(value: &Value) -> Result<Duration, Problem> {
    within(value, &Shape::Span, Some(Duration::ZERO), limits::SPAN, "a span of time")
}

pub(crate) fn instant(value: &Value) -> Result<Time, Problem> {
    within(value, &Shape::Instant, None, limits::SPAN, "a time").map(|d| Time::ZERO + d)
}

pub(crate) fn amount(value: &Value) -> Result<Bytes, Problem> {
    within(value, &Shape::Amount, Some(Bytes::ZERO), limits::AMOUNT, "an amount")
}

pub(crate) fn packet(value: &Value) -> Result<Bytes, Problem> {
    within(value, &Shape::Packet, Some(Bytes::ZERO), limits::PACKET, "the size of a packet")
}

pub(crate) fn processing(value: &Value) -> Result<Processing, Problem> {
    if let Some(word) = value.text().and_then(Processing::of_word) {
        return Ok(word);
    }
    within(value, &Shape::Processing, None, limits::SPAN, "a time").map(Processing::Time)
}

pub(crate) fn timeout(value: &Value) -> Result<Duration, Problem> {
    within(value, &Shape::Timeout, None, limits::MIN_RTO, "a least time-out")
}

pub(crate) fn flag(value: &Value) -> Result<bool, Problem> {
    match value.data {
        Data::Flag(flag) => Ok(flag),
        _ => Err(wrong(value, &Shape::Flag)),
    }
}

pub(crate) fn whole(value: &Value, min: u64, max: u64) -> Result<u64, Problem> {
    let shape = Shape::Whole(min, max);
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

pub(crate) fn number(value: &Value, min: f64, max: f64) -> Result<f64, Problem> {
    let shape = Shape::Number(min, max);
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

pub(crate) fn text<'a>(value: &'a Value, shape: &Shape) -> Result<&'a str, Problem> {
    value.text().ok_or_else(|| wrong(value, shape))
}

/// Reads a name that the file declares or uses. `dots` allows names that the program made, such as
/// "bottleneck.reverse".
pub(crate) fn name(value: &Value, dots: bool) -> Result<&str, Problem> {
    let shape = if dots { Shape::Dotted } else { Shape::Name };
    let name = text(value, &shape)?;
    check_name(name, value.span, dots)?;
    Ok(name)
}

pub(crate) fn check_name(name: &str, span: Span, dots: bool) -> Result<(), Problem> {
    let odd = |c: char| !(c.is_alphanumeric() || c == '-' || c == '_' || dots && c == '.');
    if name.is_empty() || name.contains(odd) || name.chars().count() > limits::NAME {
        let dots = if dots { ", '.'" } else { "" };
        return Err(Problem::new(span, format!("{} is not a name", quote(name)))
            .hint(format!("a name has 1 to {} letters, digits, '-', '_'{dots}", limits::NAME)));
    }
    Ok(())
}

pub(crate) fn choice(value: &Value, words: &[&'static str]) -> Result<&'static str, Problem> {
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
pub(crate) fn word<T: Words>(value: &Value) -> Result<T, Problem> {
    let word = choice(value, &T::words())?;
    Ok(T::of_word(word).expect("it is one of the words"))
}

/// Reads a metric: a word, or a variable of a controller.
pub(crate) fn metric(value: &Value) -> Result<Metric, Problem> {
    let known = Metric::known();
    let names: Vec<_> = known.iter().map(|metric| metric.name()).collect();
    let name = choice(value, &names)?;
    Ok(known.into_iter().find(|metric| metric.name() == name).expect("it is one of them"))
}

/// Reads a share of one: "5 %" or 0.05. It is never negative and always finite.
pub(crate) fn ratio(value: &Value, shape: &Shape) -> Result<f64, Problem> {
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

pub(crate) fn probability(value: &Value) -> Result<f64, Problem> {
    let x = ratio(value, &Shape::Probability)?;
    bounded(value, x, None, 1.0, "a probability")
}

pub(crate) fn tolerance(value: &Value) -> Result<f64, Problem> {
    let x = ratio(value, &Shape::Tolerance)?;
    bounded(value, x, Some(0.0), 10.0, "a tolerance")
}

pub(crate) fn over(value: &Value) -> Result<Over, Problem> {
    let text = text(value, &Shape::Over)?;
    let quantile = || {
        let share = text.strip_prefix('p').and_then(percent)?;
        (0.0..=1.0).contains(&share).then_some(Over::Quantile(share))
    };
    Over::of_word(text).or_else(quantile).ok_or_else(|| {
        let message = format!("{} is not known; expected {}", quote(text), Shape::Over.expected());
        Problem::new(value.span, message).known(text, Over::words())
    })
}

pub(crate) fn limit(value: &Value) -> Result<RawLimit, Problem> {
    let text = text(value, &Shape::Limit)?;
    let refuse = |message: String| {
        Problem::new(value.span, message).hint(format!("expected {}", Shape::Limit.expected()))
    };
    if text == UNLIMITED {
        return Ok(RawLimit::Unlimited);
    }
    if let Some(product) = text.strip_suffix("BDP") {
        return product
            .trim()
            .parse()
            .ok()
            .filter(|x: &f64| x.is_finite() && *x > 0.0 && *x <= 1e6)
            .map(RawLimit::Product)
            .ok_or_else(|| refuse(format!("{} is not a limit", quote(text))));
    }
    if let Ok(time) = text.parse::<Duration>() {
        let zero = Some(Duration::ZERO);
        return bounded(value, time, zero, limits::DELAY, "a limit").map(RawLimit::Time);
    }
    match text.parse::<Size>() {
        Ok(size @ Size::Packets(n)) if n >= 1.0 && n.fract() == 0.0 => Ok(RawLimit::Size(size)),
        Ok(Size::Packets(_)) => {
            Err(refuse(format!("{} is not a whole number of packets, one or more", quote(text))))
        }
        Ok(Size::Bytes(bytes)) => {
            let zero = Some(Bytes::ZERO);
            bounded(value, bytes, zero, limits::AMOUNT, "a limit")
                .map(|bytes| RawLimit::Size(Size::Bytes(bytes)))
        }
        Err(e) => Err(refuse(e.problem)),
    }
}

/// Reads a pair of instants in order. The second may equal the first if `empty` is set.
pub(crate) fn interval(value: &Value, empty: bool) -> Result<(Time, Time), Problem> {
    let shape = Shape::Pair(&Shape::Instant);
    let Some([first, second]) = value.list() else {
        return Err(wrong(value, &shape));
    };
    let (from, to) = (instant(first)?, instant(second)?);
    if from > to || (from == to && !empty) {
        return fail(value.span, format!("it ends at {to}, but starts at {from}"));
    }
    Ok((from, to))
}

/// Returns the value of a default, which the key tables hold as text.
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

/// Reads the keys of a section from one or several tables. The first table that has a key decides.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    section: &'static Section,
    layers: Vec<&'a Table>,
    /// The place that problems about missing keys point at.
    pub span: Span,
}

impl<'a> Reader<'a> {
    pub fn new(section: &'static Section, table: &'a Table, span: Span) -> Reader<'a> {
        Reader { section, layers: vec![table], span }
    }

    /// Adds `base` as the tables for keys that are not found in these.
    pub fn or(mut self, base: &Reader<'a>) -> Reader<'a> {
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
    pub fn table(&self, key: &str, section: &'static Section) -> Option<Reader<'a>> {
        let value = self.given(key)?;
        let layers = self.layers.iter().filter_map(|t| t.get(key)?.table());
        Some(Reader { section, layers: layers.collect(), span: value.span })
    }

    /// Returns the reader of the same keys for the reverse direction. It finds first the keys in
    /// `reverse`, and then those of the forward direction. Returns `None` if no layer has a
    /// `reverse`.
    pub fn reverse(&self) -> Option<Reader<'a>> {
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

    /// Reads `key` by `read`, with its default if it is not given. Returns `None` if there is no
    /// default.
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

    /// Reads a key that has to be given or have a default.
    pub fn get<T>(
        &self,
        key: &str,
        read: impl Fn(&Value) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.opt(key, read)?.ok_or_else(|| self.missing(key))
    }

    /// Returns the problem that `key` is not given and has no default.
    pub fn missing(&self, key: &str) -> Problem {
        missing(self.section, key, self.span)
    }
}

pub(crate) fn missing(section: &Section, key: &str, span: Span) -> Problem {
    let problem = Problem::new(span, format!("`{key}` is missing"));
    match section.key(key) {
        Some(k) => problem.hint(format!("{key} = {}", k.shape.expected())),
        None => problem,
    }
}
