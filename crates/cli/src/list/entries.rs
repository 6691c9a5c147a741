//! The entries of each kind for `accord list`.

use super::Kind;
use super::show::Entry;
use crate::choice::engines;
use crate::fail::Failure;
use accord::draft::{Size, TEMPLATES, Template};
use accord::family::{self, Dynamics, Family, Objective, Param};
use accord::report::DERIVED;
use accord::report::show::{TITLE, clean, visible};
use accord::scenario::{Fold, Metric, MetricUnit, Of};
use accord::{BUILT_IN, Catalogue, Engine, load};
use accord_evaluate::pack::{Case, Section, built_in, open};
use accord_evaluate::rule::Rule;
use serde_json::{Value, json};

/// Returns the entries of a kind, in their order.
pub fn entries(kind: Kind, catalogue: &Catalogue) -> Result<Vec<Entry>, Failure> {
    Ok(match kind {
        Kind::Controllers => catalogue.controllers.iter().map(|f| family(f)).collect(),
        Kind::Disciplines => catalogue.disciplines.iter().map(|f| family(f)).collect(),
        Kind::Metrics => metrics(),
        Kind::Experiments => {
            let all = BUILT_IN.iter().map(|(id, _)| experiment(id, catalogue));
            return all.collect();
        }
        Kind::Templates => TEMPLATES.iter().map(template).collect(),
        Kind::Packs => return built_in().map(self::pack).collect(),
    })
}

/// A controller or a queue discipline.
fn family(f: &'static Family) -> Entry {
    let no_fluid = match f.dynamics {
        Dynamics::Missing(why) => Some(why),
        Dynamics::Window(_) | Dynamics::Queue(_) => None,
    };
    let mut params: Vec<(String, &Param)> = Vec::new();
    for p in f.params {
        params.push((p.name.into(), p));
        if let family::Kind::Aggregates(inner) = p.kind {
            params.extend(inner.iter().map(|i| (format!("{}.NAME.{}", p.name, i.name), i)));
        }
    }
    let no_theory = match f.role.objective(&f.defaults()) {
        Some(Objective::Loss | Objective::WeightedLoss) => Some("it reacts to loss"),
        Some(Objective::Other) => Some("it steers no queue of its own"),
        _ => None,
    };
    let engines = Engine::ALL.into_iter().filter(|engine| match engine {
        Engine::Theory => no_theory.is_none(),
        Engine::Fluid => no_fluid.is_none(),
        _ => true,
    });
    let engines: Vec<&str> = engines.map(Engine::name).collect();
    let mut record = json!({
        "name": f.name, "doc": f.doc, "source": f.source, "engines": engines,
    });
    for (key, value) in [("no_theory", no_theory), ("no_fluid", no_fluid), ("kernel", f.kernel)] {
        if let Some(value) = value {
            record[key] = value.into();
        }
    }
    record["page"] = f.page.into();
    record["parameters"] = params.iter().map(|(name, p)| parameter_record(name, p)).collect();
    let brief = params.iter().map(|(name, p)| match p.default {
        "" => name.clone(),
        default => format!("{name} = {default}"),
    });
    let brief = brief.collect::<Vec<_>>().join(", ");
    let page = if f.page.is_empty() { String::new() } else { format!("docs/src/{}", f.page) };
    let model = f.kernel.map(|name| format!("a model of Linux's {name}"));
    Entry {
        name: f.name.into(),
        doc: f.doc.into(),
        facts: vec![("engines", engines.join(", ")), ("parameters", brief)],
        more: vec![
            ("engines", engines.join(", ")),
            ("no theory", no_theory.unwrap_or_default().into()),
            ("no fluid", no_fluid.unwrap_or_default().into()),
            ("kernel", model.unwrap_or_default()),
            ("source", f.source.into()),
            ("page", page),
        ],
        parameters: params.into_iter().map(|(name, p)| (name, parameter_text(p))).collect(),
        record,
    }
}

fn parameter_record(name: &str, p: &Param) -> Value {
    let default = Some(p.default).filter(|text| !text.is_empty());
    json!({
        "name": name, "symbol": p.symbol, "value": p.kind.expected(), "default": default,
        "doc": p.doc, "source": p.source,
    })
}

fn parameter_text(p: &Param) -> String {
    let default = match p.default {
        "" => "; absent by default".into(),
        default => format!("; {default} by default"),
    };
    let of: Vec<_> = [p.symbol, p.source].into_iter().filter(|s| !s.is_empty()).collect();
    let of = if of.is_empty() { String::new() } else { format!(" ({})", of.join(", ")) };
    format!("{}{of}\n{}{default}", p.doc, p.kind.expected())
}

/// All metrics, and the quantities of tables that are not metrics.
fn metrics() -> Vec<Entry> {
    let metric = |m: &Metric| {
        let of = match m.of() {
            Of::Flow => "flow",
            Of::Group => "group",
            Of::Link => "link",
            Of::Aggregate => "aggregate at a link",
            Of::Transfer => "transfer",
        };
        let over_time = match m.fold() {
            Fold::Mean => "the mean of its samples".into(),
            Fold::Sum => "the sum of its samples".into(),
            Fold::Max => "the greatest of its samples".into(),
            Fold::Last => "the share of a state in its samples".into(),
            Fold::Ratio(a, b) => format!("{} over {}", a.name(), b.name()),
        };
        quantity((m.name(), m.doc()), (m.unit(), of), m.engines(), over_time)
    };
    let derived = DERIVED.into_iter().map(|named| {
        let over_time = "a comparison of means: it is in tables and summaries only";
        quantity(named, (MetricUnit::Ratio, "group"), &[], over_time.into())
    });
    Metric::known().iter().map(metric).chain(derived).collect()
}

fn quantity(
    (name, doc): (&str, &str),
    (unit, of): (MetricUnit, &str),
    engines: &[Engine],
    over_time: String,
) -> Entry {
    let unit = unit.symbol();
    let names: Vec<&str> = engines.iter().map(|e| e.name()).collect();
    let recorded = match names[..] {
        [] => "those that record its inputs".into(),
        _ => names.join(", "),
    };
    let facts = vec![("unit", format!("{unit}, per {of}")), ("engines", recorded)];
    Entry {
        more: [&facts[..], &[("over time", over_time.clone())]].concat(),
        facts,
        record: json!({
            "name": name, "unit": unit, "of": of, "engines": names, "over_time": over_time,
            "doc": doc,
        }),
        ..Entry::new(name, doc)
    }
}

/// A scenario that comes with the program.
fn experiment(id: &str, catalogue: &Catalogue) -> Result<Entry, Failure> {
    let mut points = load(id)?.points(catalogue, None)?;
    let engines: Vec<&str> = engines(&[], &points).into_iter().map(Engine::name).collect();
    let (count, s) = (points.len(), points.swap_remove(0));
    let duration = s.duration.as_secs_f64();
    Ok(Entry {
        more: vec![
            ("source", visible(&s.source)),
            ("notes", visible(&s.notes)),
            ("engines", engines.join(", ")),
            ("points", count.to_string()),
            ("duration", format!("{duration} s")),
            ("flows", s.flows.len().to_string()),
            ("expected", s.expectations.len().to_string()),
            ("run", format!("accord reproduce {}", s.id)),
        ],
        record: json!({
            "id": s.id, "title": s.title, "source": s.source, "notes": s.notes, "points": count,
            "duration_s": duration, "flows": s.flows.len(), "expectations": s.expectations.len(),
            "engines": engines,
        }),
        ..Entry::new(&s.id, clean(&s.title, TITLE))
    })
}

fn template(t: &Template) -> Entry {
    let sizes: Vec<_> = t.sizes.iter().map(|s| format!("--{} {}", s.name, s.default)).collect();
    let size = |s: &Size| {
        let [least, most] = s.range;
        let range = format!("a whole number from {least} to {most}; {} by default", s.default);
        (format!("--{}", s.name), format!("{}\n{range}", s.doc))
    };
    Entry {
        facts: vec![("sizes", sizes.join(", "))],
        more: vec![("file", format!("accord new {} -o FILE", t.name))],
        parameters: t.sizes.iter().map(size).collect(),
        record: json!({
            "name": t.name,
            "doc": t.doc,
            "sizes": t.sizes.iter().map(|s| json!({
                "name": s.name, "default": s.default, "range": s.range, "doc": s.doc,
            })).collect::<Vec<_>>(),
        }),
        ..Entry::new(t.name, t.doc)
    }
}

/// A pack of evaluations that comes with the program.
fn pack(name: &str) -> Result<Entry, Failure> {
    let pack = open(name)?;
    let tier = |case: &Case| case.tier.name();
    let case = |(section, case): (&Section, &Case)| {
        let (number, tier, path) = (&section.number, tier(case), pack.path_of(case));
        let doc = format!("{}\nsection {number}; {tier} tier; {path}", case.title);
        (case.name.clone(), visible(&doc))
    };
    let record = |(section, case): (&Section, &Case)| {
        json!({
            "name": case.name, "section": section.number, "title": case.title,
            "tier": tier(case), "scenario": pack.path_of(case),
        })
    };
    let rules = pack.sections.iter().flat_map(|s| s.rules.iter().map(move |rule| (s, rule)));
    let rules: Vec<(&Section, &Rule)> = rules.collect();
    let said = |(section, rule): &(&Section, &Rule)| {
        format!("{}: {rule} ({})", pack.label(section), rule.source)
    };
    let subject = pack.role.key();
    Ok(Entry {
        facts: vec![("subject", subject.into())],
        more: vec![
            ("source", visible(&pack.source)),
            ("notes", visible(&pack.notes)),
            ("subject", subject.into()),
            ("rivals", pack.rivals.join(", ")),
            ("run", format!("accord evaluate --pack {name} --subject NAME")),
        ]
        .into_iter()
        .chain(rules.iter().enumerate().map(|(i, rule)| {
            // A rule is a line.
            (if i == 0 { "rules" } else { "" }, visible(&said(rule)))
        }))
        .collect(),
        parameters: pack.cases().map(case).collect(),
        record: json!({
            "name": pack.name, "title": pack.title, "source": pack.source, "notes": pack.notes,
            "subject": subject, "rivals": pack.rivals,
            "cases": pack.cases().map(record).collect::<Vec<_>>(),
            "rules": rules.iter().map(|(section, rule)| json!({
                "section": section.number, "rule": rule.to_string(),
                "source": rule.source, "because": rule.because,
            })).collect::<Vec<_>>(),
        }),
        ..Entry::new(&pack.name, clean(&pack.title, TITLE))
    })
}
