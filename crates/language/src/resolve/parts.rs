//! The reader of a link's parts: buckets, jitter, reordering and filters of acknowledgements.

use crate::keys;
use crate::read::{self, Reader};
use crate::shape::Section;
use accord_form::Problem;
use accord_scenario::{Bucket, Jitter, Parts, Reorder, Trace};
use accord_traffic::Delay;
use accord_units::Duration;

/// Reads the parts of a link. Returns `None` if it has none.
pub(super) fn read(
    reader: &Reader<'_>,
    trace: Option<Trace>,
) -> Result<Option<Box<Parts>>, Problem> {
    let parts = Parts {
        trace,
        policer: bucket(reader, "policer", &keys::POLICING)?,
        shaper: bucket(reader, "shaper", &keys::SHAPING)?,
        jitter: own(reader, "jitter", &keys::JITTERS).map(|r| jitter(&r)).transpose()?,
        reorder: own(reader, "reorder", &keys::REORDERING).map(|r| reorder(&r)).transpose()?,
        ack_aggregation: reader.get("ack_aggregation", read::period)?,
        ack_thinning: reader.get("ack_thinning", read::flag)?,
    };
    if parts.trace.is_some() && parts.shaper.is_some() {
        let message = "a shaper does not go with a trace, which says when the link sends";
        return Err(Problem::new(reader.at("shaper"), message));
    }
    Ok((parts != Parts::default()).then(|| Box::new(parts)))
}

/// Returns the reader of the table at `key`, without other layers, because the parts of a bucket
/// are given together.
fn own<'a>(reader: &Reader<'a>, key: &str, section: &'static Section) -> Option<Reader<'a>> {
    let value = reader.given(key)?;
    Some(Reader::new(section, value.table()?, value.span))
}

fn bucket(
    reader: &Reader<'_>,
    key: &str,
    section: &'static Section,
) -> Result<Option<Bucket>, Problem> {
    let Some(reader) = own(reader, key, section) else {
        return Ok(None);
    };
    Ok(Some(Bucket {
        rate: reader.get("rate", read::rate)?,
        burst: reader.get("burst", read::amount)?,
    }))
}

fn jitter(reader: &Reader<'_>) -> Result<Jitter, Problem> {
    let normal = reader.opt("normal", read::wire_delay)?;
    let uniform = reader.opt("uniform", read::wire_delay)?;
    let exponential = reader.opt("exponential", read::wire_delay)?;
    let longest = reader.opt("at_most", read::wire_delay)?;
    let law = match (normal, uniform, exponential, longest) {
        (Some(deviation), None, None, longest) => Delay::Normal {
            deviation,
            longest: longest.unwrap_or(Duration::from_ps(3 * deviation.as_ps())),
        },
        (None, Some(most), None, None) => Delay::Uniform(most),
        (None, None, Some(mean), None) => Delay::Exponential(mean),
        _ => {
            let message =
                "expected one law: normal, with or without at_most, uniform or exponential";
            return Err(Problem::new(reader.span, message).hint("jitter = { normal = \"5 ms\" }"));
        }
    };
    Ok(Jitter { law, reorder: reader.get("reorder", read::flag)? })
}

fn reorder(reader: &Reader<'_>) -> Result<Reorder, Problem> {
    Ok(Reorder {
        share: reader.get("share", read::probability)?,
        delay: reader.get("delay", read::wire_delay)?,
        gap: reader.get("gap", |v| read::whole(v, 1, 1_000_000_000))?,
    })
}
