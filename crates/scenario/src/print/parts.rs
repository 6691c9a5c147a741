//! The printer of a link's parts and of live video.

use super::{list, number, quoted, table};
use crate::network::OFF;
use crate::parts::{Bucket, Jitter, Parts, Reorder, Trace};
use accord_traffic::{Delay, Media};

/// The keys of one direction of a link, and their values.
type Keys = Vec<(&'static str, String)>;

/// Returns the keys of the parts that a link has.
pub(super) fn keys(parts: &Parts) -> Keys {
    let mut keys = Vec::new();
    keys.extend(parts.policer.as_ref().map(|b| ("policer", bucket(b))));
    keys.extend(parts.shaper.as_ref().map(|b| ("shaper", bucket(b))));
    keys.extend(parts.jitter.as_ref().map(|j| ("jitter", jitter(j))));
    keys.extend(parts.reorder.as_ref().map(|r| ("reorder", reorder(r))));
    keys.extend((parts.ack_aggregation).map(|period| ("ack_aggregation", quoted(period))));
    keys.extend(parts.ack_thinning.then(|| ("ack_thinning", "true".into())));
    keys
}

/// Returns the keys of the reverse direction that differ from those of the forward direction. Parts
/// that only the forward direction has are turned off.
pub(super) fn different(forward: &Keys, reverse: Keys) -> Keys {
    let missing = |key: &str| !reverse.iter().any(|(k, _)| *k == key);
    let off = |key: &'static str| match key {
        "ack_thinning" => (key, "false".to_string()),
        _ => (key, quoted(OFF)),
    };
    let keys = forward.iter().map(|(key, _)| *key);
    let off: Keys = keys.filter(|key| missing(key)).map(off).collect();
    let other = reverse.into_iter().filter(|key| !forward.contains(key));
    other.chain(off).collect()
}

/// Returns the rate of a link with a trace. The times are in place, so the text needs no file.
pub(super) fn trace(trace: &Trace) -> String {
    let mut out = String::from("[");
    for (i, time) in trace.times().iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(&time.to_string());
    }
    out.push(']');
    table(&[("trace", out)])
}

fn bucket(bucket: &Bucket) -> String {
    table(&[("rate", quoted(bucket.rate)), ("burst", quoted(bucket.burst))])
}

fn jitter(jitter: &Jitter) -> String {
    let mut keys = match jitter.law {
        Delay::Normal { deviation, longest } => {
            vec![("normal", quoted(deviation)), ("at_most", quoted(longest))]
        }
        Delay::Uniform(most) => vec![("uniform", quoted(most))],
        Delay::Exponential(mean) => vec![("exponential", quoted(mean))],
    };
    keys.push(("reorder", jitter.reorder.to_string()));
    table(&keys)
}

fn reorder(reorder: &Reorder) -> String {
    table(&[
        ("share", number(reorder.share)),
        ("delay", quoted(reorder.delay)),
        ("gap", reorder.gap.to_string()),
    ])
}

/// Returns the demand of live video.
pub(super) fn media(media: &Media) -> String {
    let mut keys = vec![
        ("min", quoted(media.least)),
        ("max", quoted(media.most)),
        ("fps", number(media.fps)),
        ("latency", quoted(media.latency)),
        ("size_scale", number(media.size_scale)),
        ("interval_scale", number(media.interval_scale)),
        ("burst", media.burst.to_string()),
        ("burst_size", number(media.burst_size)),
        ("change", number(media.change)),
    ];
    let pause = media.pause.map(|(start, end)| list([quoted(start), quoted(end)]));
    keys.extend(pause.map(|pause| ("pause", pause)));
    table(&[("media", table(&keys))])
}
