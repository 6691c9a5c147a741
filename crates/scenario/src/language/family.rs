//! Controllers and queue disciplines: their names and parameters come from the families
//! that the caller knows.

use super::error::{Problem, Problems, quote};
use super::tree::{Data, Entry, Value};
use accord_units::param::{Family, Raw, Values};

/// The controllers and queue disciplines that a scenario may use.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue {
    /// All controllers.
    pub controllers: &'static [&'static Family],
    /// All queue disciplines.
    pub disciplines: &'static [&'static Family],
}

/// How a kind of family is written: in a file as bare name or as a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// What it is, for people.
    pub what: &'static str,
    /// The key of the name in the table.
    pub tag: &'static str,
    /// Keys of the table that are not parameters.
    pub others: &'static [&'static str],
}

pub(crate) const CONTROLLER: Kind = Kind {
    what: "controller",
    tag: "name",
    others: &[],
};

pub(crate) const DISCIPLINE: Kind = Kind {
    what: "queue discipline",
    tag: "discipline",
    others: &["limit"],
};

impl Kind {
    /// Reads the family's name and parameters; all that is wrong goes to `problems`.
    pub fn read(
        self,
        value: &Value,
        families: &'static [&'static Family],
        problems: &mut Problems,
    ) -> Option<Values> {
        let tagged = match &value.data {
            Data::Text(_) => value,
            Data::Table(table) => match table.get(self.tag) {
                Some(tag) => tag,
                None => {
                    let message = format!("`{}` is missing", self.tag);
                    let hint = format!("{} = the name of a {}", self.tag, self.what);
                    problems.push(Problem::new(value.span, message).hint(hint));
                    return None;
                }
            },
            _ => {
                let message = format!(
                    "expected the name of a {} or a table with it, not {}",
                    self.what,
                    value.describe()
                );
                problems.push(Problem::new(value.span, message));
                return None;
            }
        };
        let family = problems.keep(self.find(tagged, families))?;
        let mut values = family.defaults();
        let entries = value.table().map_or(&[][..], |t| &t.entries);
        let mut complete = true;
        for entry in entries {
            if entry.key != self.tag && !self.others.contains(&entry.key.as_str()) {
                complete &= problems.keep(self.set(&mut values, entry)).is_some();
            }
        }
        if complete && let Err(message) = (family.check)(&values) {
            problems.push(Problem::new(value.span, message));
            complete = false;
        }
        complete.then_some(values)
    }

    fn find(
        self,
        value: &Value,
        families: &'static [&'static Family],
    ) -> Result<&'static Family, Problem> {
        let Some(name) = value.text() else {
            let message = format!(
                "expected the name of a {}, not {}",
                self.what,
                value.describe()
            );
            return Err(Problem::new(value.span, message));
        };
        families
            .iter()
            .copied()
            .find(|f| f.name == name)
            .ok_or_else(|| {
                Problem::new(
                    value.span,
                    format!("there is no {} {}", self.what, quote(name)),
                )
                .known(name, families.iter().map(|f| f.name))
            })
    }

    fn set(self, values: &mut Values, entry: &Entry) -> Result<(), Problem> {
        let family = values.family();
        if !family.params.iter().any(|p| p.name == entry.key) {
            let message = format!("{} has no parameter {}", family.name, quote(&entry.key));
            let known = family.params.iter().map(|p| p.name);
            let known = known.chain(self.others.iter().copied());
            return Err(Problem::new(entry.span, message).known(&entry.key, known));
        }
        let raw = match &entry.value.data {
            Data::Text(text) => Raw::Text(text.clone()),
            Data::Whole(n) => Raw::Integer(*n),
            Data::Number(x) => Raw::Number(*x),
            Data::Flag(flag) => Raw::Flag(*flag),
            Data::Foreign(_) | Data::List(_) | Data::Table(_) => {
                let message = format!(
                    "a parameter is a single value, not {}",
                    entry.value.describe()
                );
                return Err(Problem::new(entry.value.span, message));
            }
        };
        values
            .set(&entry.key, &raw)
            .map_err(|message| Problem::new(entry.value.span, message))
    }
}
