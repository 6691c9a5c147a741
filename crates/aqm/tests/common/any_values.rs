//! Random parameters of any family; the tests of controllers use this file too.

use accord_family::{Family, Kind, Param, Raw, Values};
use proptest::prelude::*;

/// A value as a file might have it: usually in range, sizes up to a gigabyte, times up to
/// a thousand seconds, rates up to a terabit per second. `None` leaves the default.
fn any_raw(param: &'static Param) -> impl Strategy<Value = Option<Raw>> {
    (any::<bool>(), 0.0..1.0f64, any::<bool>()).prop_map(|(given, u, flag)| {
        // From 1 to `top`, with all magnitudes equally likely.
        let up_to = |top: f64| top.powf(u);
        given.then(|| match param.kind {
            Kind::Number { min, max } => Raw::Number((min + u * (max.min(1e9) - min)).min(max)),
            Kind::Integer { min, max } => {
                let n = min as f64 + u * (max.min(100_000) as f64 - min as f64);
                Raw::Integer(n as i64)
            }
            Kind::Flag => Raw::Flag(flag),
            Kind::Size if flag => Raw::Text(format!("{:.3} pkt", up_to(1e5))),
            Kind::Size => Raw::Text(format!("{:.0} B", up_to(1e9))),
            Kind::Duration => Raw::Text(format!("{:.0} ns", up_to(1e12))),
            Kind::Rate => Raw::Text(format!("{:.0} bps", up_to(1e12))),
            Kind::Aggregates(_) => unreachable!("each of its parameters is drawn by itself"),
            Kind::Choice(words) => Raw::Text(words[(u * words.len() as f64) as usize].to_string()),
        })
    })
}

/// Each of the parameters, as [`any_raw`].
fn any_raws(params: &'static [Param]) -> Vec<impl Strategy<Value = Option<Raw>>> {
    let plain = |p: &&Param| !matches!(p.kind, Kind::Aggregates(_));
    params.iter().filter(plain).map(any_raw).collect()
}

fn set(values: &mut Values, params: &'static [Param], raws: Vec<Option<Raw>>) {
    let plain = |p: &&Param| !matches!(p.kind, Kind::Aggregates(_));
    for (param, raw) in params.iter().filter(plain).zip(raws) {
        if let Some(raw) = raw {
            values.set(param.name, &raw).expect("made to be in range");
        }
    }
}

/// Returns parameters of `family` that its check accepts, with none to three aggregates if it
/// distinguishes aggregates.
pub fn any_values(family: &'static Family) -> impl Strategy<Value = Values> {
    let each = family.aggregate_params();
    let most = if each.is_empty() { 0 } else { 3 };
    let aggregates = prop::collection::vec(any_raws(each), 0..=most);
    (any_raws(family.params), aggregates).prop_filter_map(
        "the family's check refuses them",
        move |(raws, aggregates)| {
            let mut values = family.defaults();
            set(&mut values, family.params, raws);
            for (i, raws) in aggregates.into_iter().enumerate() {
                set(values.aggregate_mut(&format!("a{i}")), each, raws);
            }
            (family.check)(&values).is_ok().then_some(values)
        },
    )
}

/// The defaults of each law, for a family that has laws; else the defaults.
#[allow(dead_code, reason = "queue disciplines have no law")]
pub fn laws(family: &'static Family) -> Vec<Values> {
    let law = family.params.iter().find(|p| p.name == "law");
    let Some(Kind::Choice(words)) = law.map(|p| p.kind) else {
        return vec![family.defaults()];
    };
    let under = |word: &&str| {
        let mut values = family.defaults();
        let law = Raw::Text((*word).into());
        values.set("law", &law).expect("it is one of the laws");
        values
    };
    words.iter().map(under).collect()
}
