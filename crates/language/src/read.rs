//! Readers that turn values of the tree into quantities of scenarios, within sensible bounds.

mod links;

pub(crate) use accord_form::read::*;
pub(crate) use links::*;

use crate::limits;
use crate::shape::{Own, Processing, Shape};
use accord_form::{Own as _, Problem, Value, fail, quote};
use accord_scenario::{Metric, Over, UNLIMITED};
use accord_units::{Bytes, Duration, Size, Time, Words, percent};

pub(crate) type Reader<'a> = accord_form::Reader<'a, Own>;

/// The size of a buffer as written, before rates and round-trip times are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RawLimit {
    Size(Size),
    Time(Duration),
    /// A multiple of the bandwidth-delay product.
    Product(f64),
    Unlimited,
}

pub(crate) fn packet(value: &Value) -> Result<Bytes, Problem> {
    within(
        value,
        &Shape::Own(Own::Packet),
        Some(Bytes::ZERO),
        limits::PACKET,
        "the size of a packet",
    )
}

pub(crate) fn processing(value: &Value) -> Result<Processing, Problem> {
    if let Some(word) = value.text().and_then(Processing::of_word) {
        return Ok(word);
    }
    within(value, &Shape::Own(Own::Processing), None, limits::SPAN, "a time").map(Processing::Time)
}

pub(crate) fn timeout(value: &Value) -> Result<Duration, Problem> {
    within(value, &Shape::Own(Own::Timeout), None, limits::MIN_RTO, "a least time-out")
}

/// Reads a metric: a word, or a variable of a controller.
pub(crate) fn metric(value: &Value) -> Result<Metric, Problem> {
    let known = Metric::known();
    let names: Vec<_> = known.iter().map(|metric| metric.name()).collect();
    let name = choice(value, &names)?;
    Ok(known.into_iter().find(|metric| metric.name() == name).expect("it is one of them"))
}

pub(crate) fn over(value: &Value) -> Result<Over, Problem> {
    let text = text(value, &Shape::Own(Own::Over))?;
    let quantile = || {
        let share = text.strip_prefix('p').and_then(percent)?;
        (0.0..=1.0).contains(&share).then_some(Over::Quantile(share))
    };
    Over::of_word(text).or_else(quantile).ok_or_else(|| {
        let message = format!("{} is not known; expected {}", quote(text), Own::Over.expected());
        Problem::new(value.span, message).known(text, Over::words())
    })
}

/// The largest limit of a queue, in bandwidth-delay products.
const LARGEST_PRODUCT: f64 = 1e6;

pub(crate) fn limit(value: &Value) -> Result<RawLimit, Problem> {
    let text = text(value, &Shape::Own(Own::Limit))?;
    let refuse = |message: String| {
        Problem::new(value.span, message).hint(format!("expected {}", Own::Limit.expected()))
    };
    if text == UNLIMITED {
        return Ok(RawLimit::Unlimited);
    }
    if let Some(product) = text.strip_suffix("BDP") {
        let Ok(product) = product.trim().parse::<f64>() else {
            return Err(refuse(format!("{} is not a limit", quote(text))));
        };
        return match product > 0.0 && product <= LARGEST_PRODUCT {
            true => Ok(RawLimit::Product(product)),
            false => Err(refuse(format!(
                "{} is out of range: more than 0 BDP and at most {LARGEST_PRODUCT} BDP",
                quote(text)
            ))),
        };
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
