//! The reader of `pack.toml`. Every error has its place.

use super::{Better, Case, Figure, LeftOut, Measure, Pack, Parameter, Section, SubjectRole, Tier};
use crate::rule::{Rule, inside};
use accord::language::{Errors, ScenarioError, Source, suggest};
use accord::scenario::{Metric, MetricUnit};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use toml::{Spanned, Table, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPack {
    name: Spanned<String>,
    title: String,
    source: String,
    standard: Option<String>,
    #[serde(default)]
    notes: String,
    subject: SubjectRole,
    #[serde(default)]
    rivals: Vec<String>,
    #[serde(default)]
    parameters: BTreeMap<Spanned<String>, Value>,
    measure: Vec<Spanned<RawMeasure>>,
    section: Vec<Spanned<Section>>,
    #[serde(default)]
    left_out: Vec<LeftOut>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMeasure {
    name: Spanned<String>,
    #[serde(default)]
    title: String,
    metric: Option<Spanned<String>>,
    of: Option<Spanned<String>>,
    over: Option<Value>,
    state: Option<Value>,
    across: Option<String>,
    during: Option<Value>,
    reach: Option<Spanned<Value>>,
    ratio: Option<Spanned<[String; 2]>>,
    better: Better,
    relevant: Option<Spanned<f64>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRule {
    require: Spanned<String>,
    source: Spanned<String>,
    because: Spanned<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCase {
    name: Spanned<String>,
    title: String,
    #[serde(default)]
    notes: String,
    scenario: Spanned<String>,
    #[serde(default)]
    set: Vec<String>,
    #[serde(default)]
    quick: Vec<String>,
    #[serde(default)]
    tier: Tier,
    subject: Vec<String>,
    measures: Vec<Spanned<String>>,
    ellipse: Option<[Spanned<String>; 2]>,
    #[serde(default)]
    margins: bool,
}

/// The least relative change that matters where a measure says nothing.
const RELEVANT: f64 = 0.05;
/// The largest number of cases and of measures.
const MOST: usize = 500;

/// Reads a pack. `text_of` returns the text of the scenario of a name.
pub(super) fn read(
    origin: Arc<Source>,
    directory: Option<String>,
    text_of: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Pack, Errors> {
    let raw: RawPack = toml::from_str(&origin.text).map_err(|e| {
        let span = e.span().unwrap_or(0..0);
        ScenarioError::at(&origin, span, e.message(), None)
    })?;
    let wrong = |span, message: String, hint| ScenarioError::at(&origin, span, message, hint);
    let name = checked(&origin, &raw.name)?;
    let mut measures: Vec<Measure> = Vec::new();
    if raw.measure.len() > MOST || raw.section.len() > MOST {
        let message = format!("a pack has at most {MOST} measures and {MOST} sections");
        return Err(wrong(0..0, message, None).into());
    }
    for entry in raw.measure {
        let measure = measure(&origin, &measures, entry)?;
        if measures.iter().any(|known| known.name == measure.name) {
            let message = format!("there are two measures \"{}\"", measure.name);
            return Err(wrong(measure.span, message, None).into());
        }
        measures.push(measure);
    }
    let find = |wanted: &Spanned<String>| {
        let found = measures.iter().position(|m| m.name == *wanted.get_ref());
        found.ok_or_else(|| {
            let message = format!("there is no measure \"{}\"", wanted.get_ref());
            let hint = suggest(wanted.get_ref(), measures.iter().map(|m| m.name.as_str()));
            wrong(wanted.span(), message, hint)
        })
    };
    let mut names = BTreeSet::new();
    let mut sections = Vec::new();
    for entry in raw.section {
        let span = entry.span();
        let mut section = entry.into_inner();
        if section.case.is_empty() && section.not_measured.is_empty() {
            let message = format!("section {} has no case", section.number);
            let hint = "say in `not_measured` why nothing is measured";
            return Err(wrong(span, message, Some(hint.into())).into());
        }
        for entry in std::mem::take(&mut section.case) {
            let span = entry.span();
            let case = entry.into_inner();
            let name = checked(&origin, &case.name)?;
            if !names.insert(name.clone()) {
                let message = format!("there are two cases \"{name}\"");
                return Err(wrong(case.name.span(), message, None).into());
            }
            if case.subject.is_empty() || case.measures.is_empty() {
                let message = format!("case \"{name}\" has no subject or measures nothing");
                return Err(wrong(case.name.span(), message, None).into());
            }
            let scenario = checked(&origin, &case.scenario)?;
            let text = text_of(&scenario).map_err(|why| {
                let message = format!("scenario \"{scenario}.toml\": {why}");
                wrong(case.scenario.span(), message, None)
            })?;
            let measures = case.measures.iter().map(find);
            let measures = measures.collect::<Result<Vec<_>, _>>()?;
            let ellipse = match &case.ellipse {
                Some([delay, rate]) => Some([find(delay)?, find(rate)?]),
                None => None,
            };
            section.cases.push(Case {
                name,
                title: case.title,
                notes: case.notes,
                scenario,
                text,
                set: case.set,
                quick: case.quick,
                tier: case.tier,
                subject: case.subject,
                measures,
                ellipse,
                margins: case.margins,
                span,
            });
        }
        for raw in std::mem::take(&mut section.rule) {
            let rule = rule(&origin, &section, &measures, &raw)?;
            section.rules.push(rule);
        }
        sections.push(section);
    }
    Ok(Pack {
        standard: raw.standard.unwrap_or_else(|| name.clone()),
        name,
        title: raw.title,
        source: raw.source,
        notes: raw.notes,
        role: raw.subject,
        rivals: raw.rivals,
        parameters: (raw.parameters.iter())
            .map(|(name, value)| Parameter {
                name: name.get_ref().clone(),
                value: value.to_string(),
                span: name.span(),
            })
            .collect(),
        measures,
        sections,
        left_out: raw.left_out,
        origin,
        directory,
    })
}

/// Returns a name if it can be that of a file and in a command.
fn checked(origin: &Arc<Source>, name: &Spanned<String>) -> Result<String, ScenarioError> {
    let text = name.get_ref();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !text.is_empty() && text.len() <= 60 && text.chars().all(fits) {
        Ok(text.clone())
    } else {
        let hint = "use up to 60 letters, digits, \"-\" and \"_\"";
        let message = format!("{text:?} is no name");
        Err(ScenarioError::at(origin, name.span(), message, Some(hint.into())))
    }
}

fn measure(
    origin: &Arc<Source>,
    known: &[Measure],
    entry: Spanned<RawMeasure>,
) -> Result<Measure, ScenarioError> {
    let whole = entry.span();
    let raw = entry.into_inner();
    let span = raw.name.span();
    let wrong = |span: Range<usize>, message: String, hint: Option<String>| {
        Err(ScenarioError::at(origin, span, message, hint))
    };
    let name = raw.name.get_ref().clone();
    if name.is_empty() || name.chars().any(char::is_control) || name.len() > 100 {
        return wrong(span, "the name of a measure is one short line".into(), None);
    }
    if let Some(relevant) = &raw.relevant
        && !(0.0..=10.0).contains(relevant.get_ref())
    {
        let message = "a relevant change is between 0 and 10: 0.05 is 5 %".into();
        return wrong(relevant.span(), message, None);
    }
    let figure = match (&raw.metric, &raw.ratio) {
        (Some(metric), None) => match wanted(origin, &raw, metric)? {
            entry if raw.reach.is_some() => Figure::Reach(entry),
            entry => Figure::Value(entry),
        },
        (None, Some(ratio)) => {
            let mut parts = [0; 2];
            for (part, name) in parts.iter_mut().zip(ratio.get_ref()) {
                let found = known.iter().position(|m| m.name == *name);
                let plain = found.filter(|i| !matches!(known[*i].figure, Figure::Ratio(..)));
                let Some(found) = plain else {
                    let message =
                        format!("\"{name}\" must name an earlier measure that is not a ratio");
                    let hint = suggest(name, known.iter().map(|m| m.name.as_str()));
                    return wrong(ratio.span(), message, hint);
                };
                *part = found;
            }
            Figure::Ratio(parts[0], parts[1])
        }
        _ => {
            let message = format!("measure \"{name}\" needs either `metric` or `ratio`");
            return wrong(whole, message, None);
        }
    };
    let most = match (&figure, raw.across.as_deref()) {
        (Figure::Value(_), Some("jain")) => Some(1.0),
        (Figure::Value(_), None) if raw.state.is_some() => Some(1.0),
        (Figure::Value(_), Some("sum" | "variation")) => None,
        (Figure::Value(_), _) if raw.over.as_ref().and_then(Value::as_str) != Some("variation") => {
            let metric = raw.metric.as_ref().and_then(|m| m.get_ref().parse::<Metric>().ok());
            metric.and_then(|m| m.row().most)
        }
        _ => None,
    };
    Ok(Measure {
        title: raw.title,
        figure,
        better: raw.better,
        relevant: raw.relevant.map_or(RELEVANT, |r| *r.get_ref()),
        most,
        name,
        span,
    })
}

/// Returns a rule of a section, which is about measures of its cases.
fn rule(
    origin: &Arc<Source>,
    section: &Section,
    measures: &[Measure],
    raw: &RawRule,
) -> Result<Rule, ScenarioError> {
    for (text, key, hint) in [
        (&raw.source, "source", "name the section of a standard, or say \"ours\""),
        (&raw.because, "because", "say why the bound is there, and not elsewhere"),
    ] {
        if text.get_ref().trim().is_empty() {
            let message = format!("`{key}` of a rule is empty");
            return Err(ScenarioError::at(origin, text.span(), message, Some(hint.into())));
        }
    }
    let mut rule = Rule::parse(origin, inside(origin, &raw.require)?, true, raw.source.get_ref())?;
    rule.because = raw.because.get_ref().clone();
    let wrong = |part: &crate::rule::Part, message: String, hint: Option<String>| {
        Err(ScenarioError::at(origin, part.span.clone(), message, hint))
    };
    let named = |case: &&Case| rule.case.as_ref().is_none_or(|part| part.text == case.name);
    let cases: Vec<&Case> = section.cases.iter().filter(named).collect();
    if let (Some(part), true) = (&rule.case, cases.is_empty()) {
        let message = format!("section {} has no case \"{}\"", section.number, part.text);
        let hint = suggest(&part.text, section.cases.iter().map(|case| case.name.as_str()));
        return wrong(part, message, hint);
    }
    let here = || cases.iter().flat_map(|case| &case.measures).map(|m| measures[*m].name.as_str());
    if here().all(|name| name != rule.measure.text) {
        let message = format!("no case here measures \"{}\"", rule.measure.text);
        let mut names: Vec<&str> = here().collect();
        names.sort_unstable();
        names.dedup();
        return wrong(&rule.measure, message, suggest(&rule.measure.text, names));
    }
    Ok(rule)
}

/// Returns the entry of `expect` that makes the figure. Its bound is the level that is to be
/// reached, or one that says nothing.
fn wanted(
    origin: &Arc<Source>,
    raw: &RawMeasure,
    metric: &Spanned<String>,
) -> Result<String, ScenarioError> {
    let Ok(parsed) = metric.get_ref().parse::<Metric>() else {
        let message = format!("there is no metric \"{}\"", metric.get_ref());
        let hint = suggest(metric.get_ref(), Metric::known().into_iter().map(Metric::name));
        return Err(ScenarioError::at(origin, metric.span(), message, hint));
    };
    let Some(of) = &raw.of else {
        let message = format!("measure \"{}\" lacks `of`", raw.name.get_ref());
        return Err(ScenarioError::at(origin, raw.name.span(), message, None));
    };
    let mut entry = Table::new();
    let mut put = |key: &str, value: Value| drop(entry.insert(key.into(), value));
    put("name", Value::String(raw.name.get_ref().clone()));
    put("metric", Value::String(parsed.name().into()));
    put("of", Value::String(of.get_ref().clone()));
    let plain = matches!(raw.over.as_ref().and_then(Value::as_str), Some("variation"))
        || matches!(raw.across.as_deref(), Some("variation" | "jain"));
    let zero = match parsed.unit() {
        _ if plain => Value::Float(0.0),
        MetricUnit::BitPerSecond => Value::String("0 bps".into()),
        MetricUnit::Bytes => Value::String("0 B".into()),
        MetricUnit::Seconds => Value::String("0 s".into()),
        MetricUnit::Packets | MetricUnit::Ratio => Value::Float(0.0),
    };
    let reach = raw.reach.as_ref().map(|r| r.get_ref().clone());
    put("at_least", reach.unwrap_or(zero));
    for (key, value) in [("over", &raw.over), ("state", &raw.state), ("during", &raw.during)] {
        if let Some(value) = value {
            put(key, value.clone());
        }
    }
    if let Some(across) = &raw.across {
        put("across", Value::String(across.clone()));
    }
    let pairs: Vec<String> = entry.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    Ok(format!("{{ {} }}", pairs.join(", ")))
}
