//! From rules to the measures of cases and points that they are about.

use super::{Bound, Part, Rule};
use crate::evaluation::Key;
use crate::pack::{Case, Pack, Tier};
use crate::plan::{Plan, Planned};
use accord::form::{Errors, TextError, suggest};
use accord::report::show;
use accord::scenario::MetricUnit;
use accord::units::{Bytes, Duration, ParseError, Rate};
use std::collections::BTreeMap;

/// A bound of a measure of a case at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The measure.
    pub key: Key,
    /// The kind of bound.
    pub bound: Bound,
    /// The bound, in the unit of the measure.
    pub value: f64,
    /// The source of the bound.
    pub source: String,
    /// The reason for the bound, or "".
    pub because: String,
    /// True if a user asked for it, and not the pack.
    pub asked: bool,
}

impl Requirement {
    /// Returns the bound in words: "at most 5 %".
    pub fn words(&self, unit: MetricUnit) -> String {
        format!("{} {}", self.bound.words(), show::round_quantity(self.value, unit))
    }
}

/// A requirement with its rule, for errors.
type Found<'a> = (Requirement, &'a Rule, MetricUnit);

/// Returns the bounds by the rules of the packs and of the user, by measure, case and point. Rules judge the
/// first `judged` subjects of the plans.
///
/// # Errors
/// Fails if a rule names nothing that is run, has a value of another unit, always or never holds, or
/// contradicts another one, or if no run can decide a rule of the user.
pub fn resolve(
    plans: &[Plan],
    rules: &[Rule],
    tier: Tier,
    judged: usize,
) -> Result<Vec<Requirement>, Errors> {
    let mut found: Vec<Found> = Vec::new();
    for plan in plans {
        for (s, section) in plan.pack.sections.iter().enumerate() {
            for rule in &section.rules {
                let cases = plan.cases.iter().filter(|planned| planned.section == s);
                for planned in cases {
                    let (_, case) = planned.within(&plan.pack);
                    if rule.case.as_ref().is_some_and(|part| part.text != case.name) {
                        continue;
                    }
                    let here = at_case(plan, planned, case, rule)?;
                    // Another tier may have the point.
                    if here.is_empty() && tier == Tier::Whole {
                        no_point(planned, case, rule)?;
                    }
                    found.extend(here);
                }
            }
        }
    }
    for rule in rules {
        found.extend(of_user(plans, rule, tier, judged)?);
    }
    check(&found)?;
    Ok(found.into_iter().map(|(requirement, ..)| requirement).collect())
}

/// Returns the bounds by a rule of the user.
fn of_user<'a>(
    plans: &[Plan],
    rule: &'a Rule,
    tier: Tier,
    judged: usize,
) -> Result<Vec<Found<'a>>, TextError> {
    let Some(wanted) = &rule.pack else {
        return Err(rule.wrong(&rule.measure, "the rule names no pack".into(), None));
    };
    let is = |plan: &&Plan| {
        plan.pack.name == wanted.text || plan.pack.directory.as_ref() == Some(&wanted.text)
    };
    let Some(plan) = plans.iter().find(is) else {
        let hint = suggest(&wanted.text, plans.iter().map(|plan| plan.pack.name.as_str()));
        let message = format!("pack \"{}\" is not evaluated", wanted.text);
        return Err(rule.wrong(wanted, message, hint));
    };
    let pack = &plan.pack;
    let mut cases: Vec<&Planned> = plan.cases.iter().collect();
    if let Some(part) = &rule.case {
        let Some((_, case)) = pack.cases().find(|(_, case)| case.name == part.text) else {
            let hint = suggest(&part.text, pack.cases().map(|(_, case)| case.name.as_str()));
            let message = format!("pack {} has no case \"{}\"", pack.name, part.text);
            return Err(rule.wrong(part, message, hint));
        };
        cases.retain(|planned| planned.within(pack).1.name == case.name);
        if cases.is_empty() {
            let hint = match (case.tier, tier) {
                (Tier::Whole, Tier::Quick) => "it is in the whole tier: --tier whole",
                _ => "name it in --case",
            };
            let message = format!("case \"{}\" is not run", case.name);
            return Err(rule.wrong(part, message, Some(hint.into())));
        }
    }
    let name = |&m: &usize| pack.measures[m].name.as_str();
    let measured = |planned: &Planned| planned.within(pack).1.measures.iter().map(name);
    let known = cases.iter().any(|planned| measured(planned).any(|m| m == rule.measure.text));
    if !known {
        let mut names: Vec<&str> = cases.iter().flat_map(|planned| measured(planned)).collect();
        names.sort_unstable();
        names.dedup();
        let measured = format!("measured here: {}", names.join(", "));
        let hint = suggest(&rule.measure.text, names).unwrap_or(measured);
        let message = format!("no case here measures \"{}\"", rule.measure.text);
        return Err(rule.wrong(&rule.measure, message, Some(hint)));
    }
    let mut found = Vec::new();
    for planned in &cases {
        found.extend(at_case(plan, planned, planned.within(pack).1, rule)?);
    }
    if found.is_empty() {
        no_point(cases[0], cases[0].within(pack).1, rule)?;
    }
    decidable(pack, &cases, rule, judged)?;
    Ok(found)
}

/// Checks that a run of some case can decide a rule: the engine records the quantity, and a subject can run
/// the case.
fn decidable(pack: &Pack, cases: &[&Planned], rule: &Rule, judged: usize) -> Result<(), TextError> {
    let mut obstacle = None;
    for planned in cases {
        let (_, case) = planned.within(pack);
        let named = |m: &usize| pack.measures[*m].name == rule.measure.text;
        let Some(at) = case.measures.iter().position(named) else {
            continue;
        };
        let impossible = planned.impossible.iter().take(judged);
        obstacle = match (&planned.unrecorded[at], impossible.map(Option::as_ref).min().flatten()) {
            (Some(why), _) => {
                Some((why, &rule.measure, "accord list metrics shows the engines of each quantity"))
            }
            (None, Some(why)) => {
                let part = rule.case.as_ref().or(rule.pack.as_ref()).unwrap_or(&rule.measure);
                Some((why, part, "evaluate a subject that can run the case, or leave the rule out"))
            }
            (None, None) => return Ok(()),
        };
    }
    let Some((why, part, hint)) = obstacle else {
        return Ok(());
    };
    Err(rule.wrong(part, format!("no run can decide the rule: {why}"), Some(hint.into())))
}

/// Returns the error of a point that a case does not have.
fn no_point(planned: &Planned, case: &Case, rule: &Rule) -> Result<(), TextError> {
    let Some(point) = &rule.point else {
        return Ok(());
    };
    let message = format!("case \"{}\" has no point \"{}\" in this tier", case.name, point.text);
    let hint = suggest(&point.text, planned.points.iter().map(String::as_str));
    Err(rule.wrong(point, message, hint))
}

/// Returns whether the label of a point has all parts of a text: "rate = 1 Mbps" is a part of
/// "rate = 1 Mbps, buffer = 2 BDP".
fn has(label: &str, text: &str) -> bool {
    text.split(", ").all(|part| label.split(", ").any(|known| known == part.trim()))
}

/// Returns the bounds by a rule at the points of a case; nothing if the case does not measure it.
fn at_case<'a>(
    plan: &Plan,
    planned: &Planned,
    case: &Case,
    rule: &'a Rule,
) -> Result<Vec<Found<'a>>, TextError> {
    let named = |m: &usize| plan.pack.measures[*m].name == rule.measure.text;
    let Some(at) = case.measures.iter().position(named) else {
        return Ok(Vec::new());
    };
    let (measure, unit) = (&plan.pack.measures[case.measures[at]], planned.units[at]);
    let value = value(&rule.value, unit)
        .map_err(|why| rule.wrong(&rule.value, format!("{}: {why}", measure.name), None))?;
    let text = |v| show::round_quantity(v, unit);
    let most = measure.most.unwrap_or(f64::INFINITY);
    let (never, always) = match rule.bound {
        Bound::Below => (value == 0.0, value > most),
        Bound::AtMost => (false, value >= most),
        Bound::AtLeast => (value > most, value == 0.0),
        Bound::Above => (value >= most, false),
    };
    if never || always {
        let word = if never { "never" } else { "always" };
        let message = format!(
            "the rule {word} holds: {} is {}",
            measure.name,
            if most.is_finite() {
                format!("between {} and {}", text(0.0), text(most))
            } else {
                format!("at least {}", text(0.0))
            }
        );
        return Err(rule.wrong(&rule.value, message, None));
    }
    let points = planned.points.iter().filter(|label| match &rule.point {
        Some(point) => has(label, &point.text),
        None => true,
    });
    let requirement = |label: &String| Requirement {
        key: Key {
            pack: plan.pack.name.clone(),
            case: case.name.clone(),
            point: label.clone(),
            measure: measure.name.clone(),
        },
        bound: rule.bound,
        value,
        source: rule.source.clone(),
        because: rule.because.clone(),
        asked: rule.pack.is_some(),
    };
    Ok(points.map(|label| (requirement(label), rule, unit)).collect())
}

/// Returns the value of a text in a unit, or the reason why it is not one.
fn value(part: &Part, unit: MetricUnit) -> Result<f64, String> {
    let text = part.text.as_str();
    let plain = |number: &str| -> Result<f64, String> {
        match number.trim().parse::<f64>() {
            Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
            _ => Err(format!("\"{text}\" is not {}", expected(unit))),
        }
    };
    let why = |e: ParseError| e.to_string();
    match unit {
        MetricUnit::Ratio => match text.strip_suffix('%') {
            Some(number) => Ok(plain(number)? / 100.0),
            None => plain(text),
        },
        MetricUnit::Packets => plain(text.strip_suffix("pkt").unwrap_or(text)),
        MetricUnit::BitPerSecond => text.parse::<Rate>().map(Rate::as_bps_f64).map_err(why),
        MetricUnit::Bytes => text.parse::<Bytes>().map(Bytes::as_f64).map_err(why),
        MetricUnit::Seconds => text.parse::<Duration>().map(Duration::as_secs_f64).map_err(why),
    }
}

fn expected(unit: MetricUnit) -> &'static str {
    match unit {
        MetricUnit::Ratio => "a ratio such as \"5 %\" or 0.05",
        _ => "a number such as \"3 pkt\"",
    }
}

/// Checks that no two rules contradict each other.
fn check(found: &[Found]) -> Result<(), TextError> {
    let mut ceilings: BTreeMap<&Key, &Found> = BTreeMap::new();
    let mut floors: BTreeMap<&Key, &Found> = BTreeMap::new();
    for this in found {
        let (requirement, rule, unit) = this;
        let key = &requirement.key;
        // The tightest of each kind.
        let (own, tighter): (_, fn(f64, f64) -> bool) = match requirement.bound.is_ceiling() {
            true => (&mut ceilings, |new, known| new < known),
            false => (&mut floors, |new, known| new > known),
        };
        let known = own.entry(key).or_insert(this);
        if tighter(requirement.value, known.0.value) {
            *known = this;
        }
        if let (Some(ceiling), Some(floor)) = (ceilings.get(key), floors.get(key)) {
            let strict = ceiling.0.bound == Bound::Below || floor.0.bound == Bound::Above;
            let (high, low) = (ceiling.0.value, floor.0.value);
            if low > high || (strict && low == high) {
                let other = if std::ptr::eq(*ceiling, this) { floor } else { ceiling };
                let message = format!(
                    "this contradicts another rule: {key} {}, {}",
                    other.0.words(*unit),
                    other.0.source
                );
                let hint = Some("no value meets both: leave one out".to_string());
                return Err(TextError::at(&rule.origin, rule.span.clone(), message, hint));
            }
        }
    }
    Ok(())
}
