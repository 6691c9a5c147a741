//! The traffic of flows as given in a file: starts, demands and sizes of packets.

use crate::read::{self, Reader};
use crate::shape::Section;
use crate::{keys, limits};
use accord_form::{Data, Entry, Value};
use accord_form::{Problem, Span, fail};
use accord_scenario::GREEDY;
use accord_traffic::{Demand, Draw, LEAST_PACKET, Media, PacketSizes, Purpose, Web, stream};
use accord_units::{Bytes, Time};
use rand_xoshiro::rand_core::Rng;

/// Reads the size of a flow's packets, and the law of the size if it is random.
pub(super) fn packet(value: &Value) -> Result<(Bytes, Option<PacketSizes>), Problem> {
    let Data::Table(table) = &value.data else {
        return read::packet(value).map(|size| (size, None));
    };
    let bounded = |size: Bytes, span: Span| {
        if size.get() < LEAST_PACKET {
            let message =
                format!("{size} is too little: random sizes are at least {} B", LEAST_PACKET);
            Err(Problem::new(span, message))
        } else {
            Ok(size)
        }
    };
    let size = |v: &Value| bounded(read::packet(v)?, v.span);
    let reader = Reader::new(&keys::PACKET_SIZES, table, value.span);
    let law = if let Some(mean) = reader.opt("exponential", size)? {
        PacketSizes::Exponential(mean)
    } else if let Some(pair) = reader.given("uniform") {
        let Some([least, most]) = pair.list() else {
            return Err(Problem::new(pair.span, "expected [least, most]"));
        };
        let (from, to) = (size(least)?, size(most)?);
        if from > to {
            return fail(pair.span, format!("it ends at {to}, but starts at {from}"));
        }
        PacketSizes::Uniform(from, to)
    } else {
        let mix = reader.given("mix").ok_or_else(|| reader.missing("mix"))?;
        let entries = mix.table().map_or(&[][..], |t| &t.entries);
        let one = |e: &Entry| {
            let text = Value { span: e.span, data: Data::Text(e.key.clone()) };
            Ok((size(&text)?, read::whole(&e.value, 1, 1_000_000)?))
        };
        let sizes: Vec<_> = entries.iter().map(one).collect::<Result<_, Problem>>()?;
        if sizes.is_empty() || sizes.len() > limits::SIZES {
            let message = format!("expected 1 to {} sizes, not {}", limits::SIZES, sizes.len());
            let hint = "mix = { \"40 B\" = 7, \"576 B\" = 4, \"1500 B\" = 1 }";
            return Err(Problem::new(mix.span, message).hint(hint));
        }
        PacketSizes::Mix(sizes)
    };
    Ok((Bytes::from_f64(law.mean()), Some(law)))
}

/// Draws a start between the earliest and the latest.
pub(super) fn draw((earliest, latest): (Time, Time), seed: u64, flow: usize) -> Time {
    if earliest == latest {
        return earliest;
    }
    let width = latest.since(earliest).as_ps();
    let random = stream(seed, flow, Purpose::Start).next_u64();
    let offset = (u128::from(random) * u128::from(width)) >> 64;
    earliest + accord_units::Duration::from_ps(offset as u64)
}

/// Reads the earliest and the latest start.
pub(super) fn start(value: &Value) -> Result<(Time, Time), Problem> {
    match value.table() {
        Some(table) => match table.get("uniform") {
            Some(interval) => read::interval(interval, true),
            None => Err(Problem::new(value.span, "expected { uniform = [from, to] }")),
        },
        None => read::instant(value).map(|t| (t, t)),
    }
}

/// Reads the demand of a flow.
pub(super) fn demand(value: &Value) -> Result<Demand, Problem> {
    let Data::Table(table) = &value.data else {
        return read::choice(value, &[GREEDY]).map(|_| Demand::Greedy);
    };
    let reader = Reader::new(&keys::DEMANDS, table, value.span);
    if let Some(size) = reader.opt("size", read::amount)? {
        Ok(Demand::Size(size))
    } else if let Some(rate) = reader.opt("constant", read::rate)? {
        Ok(Demand::Constant(rate))
    } else if let Some(rate) = reader.opt("poisson", read::rate)? {
        Ok(Demand::Poisson(rate))
    } else if let Some(video) = reader.table("media", &keys::MEDIA) {
        media(&video).map(Demand::Media)
    } else if let Some(web) = reader.table("web", &keys::WEB) {
        web_user(&web).map(Demand::Web)
    } else {
        let on_off = reader.table("on_off", &keys::ON_OFF);
        let on_off = on_off.ok_or_else(|| reader.missing("on_off"))?;
        Ok(Demand::OnOff {
            rate: on_off.opt("rate", read::rate)?,
            burst: on_off.get("burst", |v| {
                law(v, (&keys::RANDOM_AMOUNT, &keys::PARETO_AMOUNT), read::amount)
            })?,
            pause: on_off
                .get("pause", |v| law(v, (&keys::RANDOM_SPAN, &keys::PARETO_SPAN), read::span))?,
        })
    }
}

fn media(reader: &Reader<'_>) -> Result<Media, Problem> {
    // The bounds in the table of keys have already been checked.
    let number = |key| reader.get(key, |v| read::number(v, 0.0, f64::MAX));
    let media = Media {
        least: reader.get("min", read::rate)?,
        most: reader.get("max", read::rate)?,
        fps: number("fps")?,
        latency: reader.get("latency", read::delay)?,
        size_scale: number("size_scale")?,
        interval_scale: number("interval_scale")?,
        burst: reader.get("burst", |v| read::whole(v, 0, 1000))?,
        burst_size: number("burst_size")?,
        change: number("change")?,
        pause: reader.opt("pause", |v| read::interval(v, false))?,
    };
    if media.least > media.most {
        return fail(
            reader.span,
            format!("min, {}, is more than max, {}", media.least, media.most),
        );
    }
    Ok(media)
}

fn web_user(reader: &Reader<'_>) -> Result<Web, Problem> {
    // The bounds in the table of keys have already been checked.
    let number = |key| reader.get(key, |v| read::number(v, 0.0, f64::MAX));
    Ok(Web {
        body_mu: number("body_mu")?,
        body_sigma: number("body_sigma")?,
        tail_share: reader.get("tail_share", read::probability)?,
        tail_least: reader.get("tail_least", read::amount)?,
        tail_shape: number("tail_shape")?,
        largest: reader.get("largest", read::amount)?,
        objects_shape: number("objects_shape")?,
        off_scale: reader.get("off_scale", read::span)?,
        off_shape: number("off_shape")?,
        think_least: reader.get("think_least", read::span)?,
        think_shape: number("think_shape")?,
        longest: reader.get("longest", read::span)?,
        load: reader.opt("load", read::rate)?,
    })
}

/// Reads a quantity, or a table with the law from which it is drawn.
fn law<T>(
    value: &Value,
    (section, pareto): (&'static Section, &'static Section),
    read: fn(&Value) -> Result<T, Problem>,
) -> Result<Draw<T>, Problem> {
    let Data::Table(table) = &value.data else {
        return read(value).map(Draw::Constant);
    };
    let reader = Reader::new(section, table, value.span);
    if let Some(pareto) = reader.table("pareto", pareto) {
        return Ok(Draw::Pareto {
            mean: pareto.get("mean", read)?,
            shape: pareto.get("shape", |v| read::number(v, 1.01, 100.0))?,
        });
    }
    reader.get("exponential", read).map(Draw::Exponential)
}
