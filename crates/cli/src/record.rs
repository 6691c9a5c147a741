//! `--record`: the `fails` of a scenario file that match the results. Existing reasons are kept;
//! new ones are empty, which a scenario file may not contain.

use crate::execute::Outcome;
use accord::report::Class;
use accord::report::show::once;
use accord::scenario::{Engine, MetricUnit, print_figure, print_text};

/// The default band of a failure.
const BAND: f64 = 0.01;

/// A failure at one point.
struct Item {
    why: &'static str,
    because: String,
    band: f64,
    engine: Engine,
    /// The sweeps that distinguish points of the expectation, with their labels.
    at: Vec<(String, String)>,
    measured: String,
}

/// Returns the `fails` of all expectations that have an unknown failure.
pub fn lines(outcomes: &[Outcome]) -> Vec<String> {
    let mut out = Vec::new();
    let unknown = outcomes.iter().flat_map(|o| &o.checks).filter(|c| c.class == Class::Failed);
    for name in once(unknown.map(|c| c.name.as_str())) {
        let id = &outcomes[0].scenario.id;
        out.push(format!("# {id}, {}", print_text(name)));
        let (items, missing) = items(outcomes, name);
        for text in missing {
            out.push(format!("# nothing to record: {text}"));
        }
        if items.is_empty() {
            out.push("# no `fails`\n".into());
            continue;
        }
        out.push("fails = [".into());
        for entry in entries(items) {
            out.push(format!("    {entry},"));
        }
        out.push("]\n".into());
    }
    out
}

/// Returns the failures of the expectation `name`, and as text those without a figure.
fn items(outcomes: &[Outcome], name: &str) -> (Vec<Item>, Vec<String>) {
    let (mut items, mut missing) = (Vec::new(), Vec::new());
    let expects = |o: &Outcome| o.scenario.expectations.iter().any(|e| e.name == name);
    let of: Vec<&Outcome> = outcomes.iter().filter(|o| expects(o)).collect();
    let varies = |i: usize| {
        let label = |o: &&Outcome| o.scenario.point[i].1.clone();
        of.iter().any(|o| label(o) != label(&of[0]))
    };
    for outcome in &of {
        let point = outcome.scenario.point.iter().enumerate();
        let at: Vec<_> = point
            .filter(|(i, _)| varies(*i))
            .map(|(_, (sweep, label))| (sweep.clone(), label.clone()))
            .collect();
        let expectations = outcome.scenario.expectations.iter();
        for e in expectations.filter(|e| e.name == name) {
            let check = (outcome.checks.iter()).find(|c| c.name == name && c.engine == e.engine);
            let measured = match check {
                Some(check) if check.pass => continue,
                Some(check) => check.measured_text(),
                // An engine that did not run, such as live with --all. Its entries stay.
                None => match e.fails.as_ref().and_then(|known| known.record) {
                    Some(record) => {
                        Some(print_figure(record.value, e.metric, e.unit() == MetricUnit::Ratio))
                    }
                    None => continue,
                },
            };
            let Some(measured) = measured else {
                let why = check.map_or("", |c| &c.reason);
                missing.push(format!("{} {}: {why}", outcome.point().label(), e.engine));
                continue;
            };
            let known = e.fails.as_ref();
            let band = known.and_then(|k| k.record).map_or(BAND, |r| r.band);
            items.push(Item {
                why: known.map_or("", |k| k.why.name()),
                because: known.map_or(String::new(), |k| k.because.clone()),
                band,
                engine: e.engine,
                at: at.clone(),
                measured,
            });
        }
    }
    (items, missing)
}

/// Joins entries that differ in one sweep only.
fn entries(items: Vec<Item>) -> Vec<String> {
    let alike = |a: &Item, b: &Item| {
        (a.why, &a.because, a.band, a.engine) == (b.why, &b.because, b.band, b.engine)
    };
    grouped(&items, alike).iter().flat_map(|group| of_group(group)).collect()
}

/// Returns groups of items that are alike, in the order of their first items.
fn grouped<'a>(
    items: impl IntoIterator<Item = &'a Item>,
    alike: impl Fn(&Item, &Item) -> bool,
) -> Vec<Vec<&'a Item>> {
    let mut groups: Vec<Vec<&Item>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|g| alike(g[0], item)) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

fn of_group(group: &[&Item]) -> Vec<String> {
    let sweeps = group[0].at.len();
    let labels = |i: usize| once(group.iter().map(|item| item.at[i].1.as_str())).len();
    let Some(by) = (0..sweeps).max_by_key(|i| labels(*i)) else {
        return group.iter().map(|i| entry(i, &[], &i.measured)).collect();
    };
    let others = |item: &Item| -> Vec<(String, String)> {
        let others = item.at.iter().enumerate().filter(|(i, _)| *i != by);
        others.map(|(_, at)| at.clone()).collect()
    };
    let parts = grouped(group.iter().copied(), |a, b| others(a) == others(b));
    let text = |part: &Vec<&Item>| match part[..] {
        [one] => entry(one, &one.at, &one.measured),
        _ => {
            let value = |item: &&Item| (item.at[by].1.clone(), item.measured.clone());
            let values: Vec<_> = part.iter().map(value).collect();
            let sweep = print_text(&part[0].at[by].0);
            let values = table(&values, |measured| measured.to_string());
            entry(part[0], &others(part[0]), &format!("{values}, by = {sweep}"))
        }
    };
    parts.iter().map(text).collect()
}

/// Returns an entry of the list. Other keys may follow `measured`.
fn entry(item: &Item, at: &[(String, String)], measured: &str) -> String {
    let mut out = format!(
        "{{ why = {}, because = {}, engine = \"{}\"",
        print_text(item.why),
        print_text(&item.because),
        item.engine
    );
    if !at.is_empty() {
        out += &format!(", at = {}", table(at, print_text));
    }
    out += &format!(", measured = {measured}");
    if item.band != BAND {
        out += &format!(", band = {:?}", item.band);
    }
    out + " }"
}

fn table(entries: &[(String, String)], value: impl Fn(&str) -> String) -> String {
    let entry = |(key, text): &(String, String)| format!("{} = {}", print_text(key), value(text));
    let entries: Vec<_> = entries.iter().map(entry).collect();
    format!("{{ {} }}", entries.join(", "))
}
