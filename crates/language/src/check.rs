//! The check of a tree against the key tables. It finds unknown keys, wrong types, wrong units and
//! values beyond sensible bounds. A tree that passes can be read without another check of its form.

use super::error::{Problem, Problems, Span, nearest, quote};
use super::family::{CONTROLLER, DISCIPLINE};
use super::shape::{Default, Section, Shape};
use super::tree::{Data, Table, Value};
use super::{keys, line, read};
use accord_family::Catalogue;

/// Collects the problems of a tree's form.
pub(crate) struct Checker<'a> {
    pub catalogue: &'a Catalogue,
    pub problems: &'a mut Problems,
}

impl Checker<'_> {
    pub fn table(&mut self, table: &Table, span: Span, section: &'static Section) {
        for entry in &table.entries {
            if self.problems.is_full() {
                return;
            }
            match section.key(&entry.key) {
                Some(key) => self.value(&entry.value, &key.shape),
                None => self.problems.push(
                    Problem::new(entry.span, format!("unknown key {}", quote(&entry.key)))
                        .known(&entry.key, section.names()),
                ),
            }
        }
        // A key that is misspelt is not missing, too.
        let unknown = || { table.entries.iter() }.filter(|e| section.key(&e.key).is_none());
        let misspelt = |name| unknown().any(|e| nearest(&e.key, section.names()) == Some(name));
        for key in section.keys {
            let required = matches!(key.default, Default::Required);
            if required && table.get(key.name).is_none() && !misspelt(key.name) {
                self.problems.push(read::missing(section, key.name, span));
            }
        }
        if section.one_of && table.entries.len() != 1 {
            let names: Vec<_> = section.names().collect();
            let message = format!("exactly one key is needed, of {}", names.join(", "));
            self.problems.push(Problem::new(span, message));
        }
    }

    pub fn value(&mut self, value: &Value, shape: &Shape) {
        if self.problems.is_full() {
            return;
        }
        let result = match shape {
            Shape::Text => read::text(value, shape).map(drop),
            Shape::Name => read::name(value, false).map(drop),
            Shape::Dotted => read::name(value, true).map(drop),
            Shape::Flag => read::flag(value).map(drop),
            Shape::Whole(min, max) => read::whole(value, *min, *max).map(drop),
            Shape::Number(min, max) => read::number(value, *min, *max).map(drop),
            Shape::Probability => read::probability(value).map(drop),
            Shape::Tolerance => read::tolerance(value).map(drop),
            Shape::Instant => read::instant(value).map(drop),
            Shape::Span => read::span(value).map(drop),
            Shape::Delay => read::delay(value).map(drop),
            Shape::Rate => read::rate(value).map(drop),
            Shape::AnyRate => read::any_rate(value).map(drop),
            Shape::Trace => read::trace(value).map(drop),
            Shape::Period => read::period(value).map(drop),
            Shape::Steps => read::steps(value).map(drop),
            Shape::Delays => read::delays(value).map(drop),
            Shape::Amount => read::amount(value).map(drop),
            Shape::Packet => read::packet(value).map(drop),
            Shape::Limit => read::limit(value).map(drop),
            Shape::Timeout => read::timeout(value).map(drop),
            Shape::Processing => read::processing(value).map(drop),
            Shape::Metric => read::metric(value).map(drop),
            Shape::Choice(words) => read::choice(value, &words()).map(drop),
            Shape::Over => read::over(value).map(drop),
            // The unit depends on the metric, so it is checked when the expectation is resolved.
            Shape::Figure | Shape::Any => Ok(()),
            Shape::Controller => {
                CONTROLLER.read(value, self.catalogue.controllers, self.problems);
                Ok(())
            }
            Shape::Queue => {
                self.queue(value);
                Ok(())
            }
            Shape::List(of) => self.list(value, shape, of, None),
            Shape::Pair(of) => self.list(value, shape, of, Some(2)),
            Shape::Table(section) => {
                table_of(value, shape).map(|table| self.table(table, value.span, section))
            }
            Shape::Named(section) | Shape::Links(section) => self.named(value, shape, section),
            Shape::Map(of) => table_of(value, shape)
                .map(|table| table.entries.iter().for_each(|e| self.value(&e.value, of))),
            Shape::Either(shapes) => (shapes.iter().find(|s| takes(s, value)))
                .ok_or_else(|| unexpected(value, shape))
                .map(|shape| self.value(value, shape)),
        };
        self.problems.keep(result);
    }

    fn list(
        &mut self,
        value: &Value,
        shape: &Shape,
        of: &Shape,
        length: Option<usize>,
    ) -> Result<(), Problem> {
        let list = value.list().ok_or_else(|| unexpected(value, shape))?;
        if length.is_some_and(|length| length != list.len()) {
            let message = format!("expected {}, not a list of {}", shape.expected(), list.len());
            return Err(Problem::new(value.span, message));
        }
        list.iter().for_each(|v| self.value(v, of));
        Ok(())
    }

    fn named(
        &mut self,
        value: &Value,
        shape: &Shape,
        section: &'static Section,
    ) -> Result<(), Problem> {
        for entry in &table_of(value, shape)?.entries {
            match &entry.value.data {
                Data::Table(inner) => self.table(inner, entry.span, section),
                // Lines that can be read are tables by now.
                _ if matches!(shape, Shape::Links(_)) => {
                    self.problems.keep(line::read(&entry.value));
                }
                _ => {
                    let shape = Shape::Table(section);
                    self.problems.push(unexpected(&entry.value, &shape));
                }
            }
        }
        Ok(())
    }

    fn queue(&mut self, value: &Value) {
        let table = value.table();
        if let Some(random) = table.and_then(|t| t.get("random")) {
            match random.list() {
                Some(list) if !list.is_empty() => list.iter().for_each(|v| self.queue(v)),
                _ => self.problems.push(
                    Problem::new(random.span, "expected a list of queues to choose from")
                        .hint("random = [\"droptail\", \"red\"]"),
                ),
            }
            let others = table.into_iter().flat_map(|t| &t.entries);
            if let Some(seed) = table.and_then(|t| t.get("seed")) {
                self.value(seed, &keys::SEED);
            }
            for entry in others.filter(|e| e.key != "random" && e.key != "seed") {
                let message = format!("{} cannot be combined with `random`", quote(&entry.key));
                self.problems.push(
                    Problem::new(entry.span, message).hint("put it into each queue of the list"),
                );
            }
            return;
        }
        DISCIPLINE.read(value, self.catalogue.disciplines, self.problems);
        if let Some(limit) = table.and_then(|t| t.get("limit")) {
            self.problems.keep(read::limit(limit));
        }
    }
}

/// Returns whether `shape` is the one of several that a value of this type is meant for.
fn takes(shape: &Shape, value: &Value) -> bool {
    match shape {
        Shape::List(_) | Shape::Pair(_) => matches!(value.data, Data::List(_)),
        Shape::Table(_) | Shape::Named(_) | Shape::Links(_) | Shape::Map(_) => {
            matches!(value.data, Data::Table(_))
        }
        _ => !matches!(value.data, Data::List(_) | Data::Table(_)),
    }
}

fn table_of<'a>(value: &'a Value, shape: &Shape) -> Result<&'a Table, Problem> {
    value.table().ok_or_else(|| unexpected(value, shape))
}

fn unexpected(value: &Value, shape: &Shape) -> Problem {
    let message = format!("expected {}, not {}", shape.expected(), value.describe());
    Problem::new(value.span, message)
}
