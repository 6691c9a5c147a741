//! Events of a file that have no effect.

use super::read;
use accord_form::{Table, Value};
use accord_units::Time;
use std::collections::BTreeMap;

/// The keys of an event with a value that it sets.
const SET: [&str; 5] = ["delay", "rate", "demand_rate", "path", "reverse_path"];

/// An event, as far as it can be read without the network.
struct Event<'a> {
    at: Time,
    /// The link or the flow.
    of: &'a str,
    direction: &'a str,
    sets: Vec<&'static str>,
}

impl<'a> Event<'a> {
    fn of(value: &'a Value) -> Option<Event<'a>> {
        let table = value.table()?;
        let text = |key: &str| table.get(key).and_then(Value::text);
        Some(Event {
            at: read::instant(table.get("at")?).ok()?,
            of: text("link").or_else(|| text("flow"))?,
            direction: text("direction").unwrap_or(BOTH),
            sets: SET.into_iter().filter(|key| table.get(key).is_some()).collect(),
        })
    }

    /// Returns a value that a later event of the same time, and the same link or flow, sets again.
    fn replaced_by(&self, later: &Event<'_>) -> Option<&'static str> {
        let meet =
            [self.direction, later.direction].contains(&BOTH) || self.direction == later.direction;
        self.sets.iter().copied().find(|key| meet && later.sets.contains(key))
    }
}

/// The direction of an event that names none.
const BOTH: &str = "both";

/// Returns a sentence per event of a file without sweeps that has no effect: another one sets the same value at
/// the same time, or the run is over.
pub(crate) fn without_effect(tree: &Table) -> Vec<String> {
    let list = tree.get("event").and_then(Value::list).unwrap_or_default();
    let duration = tree.get("duration").and_then(|value| read::span(value).ok());
    let end = duration.map_or(Time::MAX, |duration| Time::ZERO + duration);
    let events: Vec<Event<'_>> = list.iter().filter_map(Event::of).collect();
    let mut alike: BTreeMap<(Time, &str), Vec<&Event<'_>>> = BTreeMap::new();
    for event in &events {
        alike.entry((event.at, event.of)).or_default().push(event);
    }
    let mut found = Vec::new();
    for ((at, of), events) in alike {
        for (i, event) in events.iter().enumerate().take(MOST) {
            if let Some(key) = events[i + 1..].iter().find_map(|later| event.replaced_by(later)) {
                found.push(format!(
                    "two events set the {key} of {of} at {at}: the later one in the file applies"
                ));
            }
        }
        if at >= end {
            found.push(format!("the event of {of} at {at} has no effect: the run ends then"));
        }
    }
    found.truncate(MOST);
    found
}

/// The most sentences, and the most events of a time that are compared with the others of that time.
const MOST: usize = 20;
