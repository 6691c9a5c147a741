//! The check of a tree against the key tables. It detects unknown keys, wrong types, wrong units
//! and values beyond sensible bounds. A tree that passes can be read without another check of its
//! form.

use crate::error::nearest;
use crate::{
    Checked, Data, Default, Own, Problem, Problems, Section, Shape, Span, Table, Value, quote, read,
};

/// The check of the forms that only one kind of file has.
pub trait Check: Own {
    /// The context that the check needs beyond the value.
    type Context: ?Sized;

    /// Checks a value.
    ///
    /// # Errors
    /// Fails if the value is wrong. Further problems are added to those of the checker.
    fn check(&self, value: &Value, checker: &mut Checker<'_, Self>) -> Result<(), Problem>;
}

impl Check for Checked {
    type Context = ();

    fn check(&self, value: &Value, _: &mut Checker<'_, Self>) -> Result<(), Problem> {
        (self.check)(value)
    }
}

/// Collects the problems of a tree's form.
pub struct Checker<'a, X: Check> {
    /// The context of the forms of this kind of file.
    pub context: &'a X::Context,
    /// The problems found so far.
    pub problems: &'a mut Problems,
}

impl<X: Check> Checker<'_, X> {
    /// Checks the keys of a table and their values.
    pub fn table(&mut self, table: &Table, span: Span, section: &'static Section<X>) {
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
        // A misspelt key is not reported as missing, too.
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

    /// Checks a value.
    pub fn value(&mut self, value: &Value, shape: &Shape<X>) {
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
            Shape::Amount => read::amount(value).map(drop),
            Shape::Choice(words) => read::choice(value, &words()).map(drop),
            Shape::Any => Ok(()),
            Shape::Own(own) => own.check(value, self),
            Shape::List(of) => self.list(value, shape, of, None),
            Shape::Pair(of) => self.list(value, shape, of, Some(2)),
            Shape::Table(section) => {
                table_of(value, shape).map(|table| self.table(table, value.span, section))
            }
            Shape::Named(section) => self.named(value, shape, section),
            Shape::Map(of) => table_of(value, shape)
                .map(|table| table.entries.iter().for_each(|e| self.value(&e.value, of))),
            Shape::Either(shapes) => match shapes.iter().find(|s| takes(s, value)) {
                Some(Shape::Choice(words)) => {
                    read::choice(value, &words()).map(drop).map_err(|p| or_table(p, shapes))
                }
                Some(shape) => {
                    self.value(value, shape);
                    Ok(())
                }
                None => Err(unexpected(value, shape)),
            },
        };
        self.problems.keep(result);
    }

    fn list(
        &mut self,
        value: &Value,
        shape: &Shape<X>,
        of: &Shape<X>,
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
        shape: &Shape<X>,
        section: &'static Section<X>,
    ) -> Result<(), Problem> {
        for entry in &table_of(value, shape)?.entries {
            match &entry.value.data {
                Data::Table(inner) => self.table(inner, entry.span, section),
                _ => {
                    let shape = Shape::Table(section);
                    self.problems.push(unexpected(&entry.value, &shape));
                }
            }
        }
        Ok(())
    }
}

/// Returns whether a value of this type is meant for `shape`, out of several shapes.
fn takes<X: Own>(shape: &Shape<X>, value: &Value) -> bool {
    match shape {
        Shape::List(_) | Shape::Pair(_) => matches!(value.data, Data::List(_)),
        Shape::Table(_) | Shape::Named(_) | Shape::Map(_) => matches!(value.data, Data::Table(_)),
        _ => !matches!(value.data, Data::List(_) | Data::Table(_)),
    }
}

fn table_of<'a, X: Own>(value: &'a Value, shape: &Shape<X>) -> Result<&'a Table, Problem> {
    value.table().ok_or_else(|| unexpected(value, shape))
}

/// Adds the keys of a table to the hint for a word that is not known, if a table is expected as well.
fn or_table<X: Own>(mut problem: Problem, shapes: &[Shape<X>]) -> Problem {
    let table = shapes.iter().find_map(|shape| match shape {
        Shape::Table(section) => Some(section),
        _ => None,
    });
    if let (Some(section), Some(hint)) = (table, &mut problem.hint)
        && !hint.ends_with('?')
    {
        let keys: Vec<_> = section.names().collect();
        *hint += &format!("; or a table with {}", keys.join(", "));
    }
    problem
}

fn unexpected<X: Own>(value: &Value, shape: &Shape<X>) -> Problem {
    let message = format!("expected {}, not {}", shape.expected(), value.describe());
    Problem::new(value.span, message)
}
