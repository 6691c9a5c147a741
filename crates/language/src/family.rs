//! The reader of controllers and queue disciplines. Their names and parameters come from the
//! families that the caller knows.

use super::{limits, read};
use accord_family::{Family, Kind as ParamKind, Param, Raw, Values};
use accord_form::{Data, Entry, Value};
use accord_form::{Problem, Problems, fail, quote};

/// The hint for a file that needs QUIC, in a build without QUIC.
pub(crate) const WITH_QUIC: &str =
    "the feature quic, added to those of the build, has it: cargo build --release --features quic";

/// A kind of family, with its form in a file: a bare name or a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The name of the kind, for people.
    pub what: &'static str,
    /// The key of the family's name in the table.
    pub tag: &'static str,
    /// The keys of the table that are not parameters.
    pub others: &'static [&'static str],
}

pub(crate) const CONTROLLER: Kind = Kind { what: "controller", tag: "name", others: &[] };

pub(crate) const DISCIPLINE: Kind =
    Kind { what: "queue discipline", tag: "discipline", others: &["limit"] };

impl Kind {
    /// Reads the family's name and parameters. Adds problems to `problems`.
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
        if complete && let Err(e) = (family.check)(&values) {
            problems.push(Problem::new(value.span, e.to_string()));
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
            let message = format!("expected the name of a {}, not {}", self.what, value.describe());
            return Err(Problem::new(value.span, message));
        };
        let found = families.iter().copied().find(|f| f.name == name);
        found.ok_or_else(|| {
            let message = format!("there is no {} {}", self.what, quote(name));
            let problem = Problem::new(value.span, message);
            let of_quinn = |name: &str| name.starts_with("quinn-");
            if of_quinn(name) && !families.iter().any(|f| of_quinn(f.name)) {
                problem.hint(WITH_QUIC)
            } else {
                problem.known(name, families.iter().map(|f| f.name))
            }
        })
    }

    fn set(self, values: &mut Values, entry: &Entry) -> Result<(), Problem> {
        let family = values.family();
        match family.params.iter().find(|p| p.name == entry.key) {
            Some(param) => match param.kind {
                ParamKind::Aggregates(params) => aggregates(values, params, entry),
                _ => set(values, entry),
            },
            None => Err(unknown(family, family.params, self.others, entry)),
        }
    }
}

/// Reads the parameters of each aggregate.
fn aggregates(values: &mut Values, params: &'static [Param], entry: &Entry) -> Result<(), Problem> {
    let family = values.family();
    let table = |value: &Value, what: &str| {
        value.table().map(|t| t.entries.clone()).ok_or_else(|| {
            let message = format!("expected {what}, not {}", value.describe());
            let hint = format!("{} = {{ udp = {{ ... }}, tcp = {{ ... }} }}", entry.key);
            Problem::new(value.span, message).hint(hint)
        })
    };
    let tables = table(&entry.value, "tables, each under the name of its aggregate")?;
    if let Some(aggregate) = tables.get(limits::AGGREGATES) {
        return fail(aggregate.span, format!("more than {} aggregates", limits::AGGREGATES));
    }
    for aggregate in tables {
        read::check_name(&aggregate.key, aggregate.span, false)?;
        let own = values.aggregate_mut(&aggregate.key);
        for inner in table(&aggregate.value, "a table of the aggregate's parameters")? {
            if !params.iter().any(|p| p.name == inner.key) {
                return Err(unknown(family, params, &[], &inner));
            }
            set(own, &inner)?;
        }
    }
    Ok(())
}

fn unknown(family: &Family, params: &[Param], others: &[&'static str], entry: &Entry) -> Problem {
    let message = format!("{} has no parameter {}", family.name, quote(&entry.key));
    let known = params.iter().map(|p| p.name);
    let known = known.chain(others.iter().copied());
    Problem::new(entry.span, message).known(&entry.key, known)
}

/// Sets a parameter of the family, or one of an aggregate.
fn set(values: &mut Values, entry: &Entry) -> Result<(), Problem> {
    let raw = match &entry.value.data {
        Data::Text(text) => Raw::Text(text.clone()),
        Data::Whole(n) => Raw::Integer(*n),
        Data::Number(x) => Raw::Number(*x),
        Data::Flag(flag) => Raw::Flag(*flag),
        Data::Foreign(_) | Data::List(_) | Data::Table(_) | Data::Made(..) => {
            let message = format!("a parameter is a single value, not {}", entry.value.describe());
            return Err(Problem::new(entry.value.span, message));
        }
    };
    values.set(&entry.key, &raw).map_err(|e| Problem::new(entry.value.span, e.to_string()))
}
