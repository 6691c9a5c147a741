//! The description, the schema and the check of the forms that only scenarios have.

use crate::family::{CONTROLLER, DISCIPLINE};
use crate::shape::{Own, Processing, Section, Shape};
use crate::{keys, limits, line, read, schema};
use accord_family::Catalogue;
use accord_form::schema::{above_zero, name, quantity, reference};
use accord_form::{Checker, Data, Problem, Value, in_code, one_of, quote};
use accord_scenario::{Metric, OFF, Over, UNLIMITED};
use accord_units::{Bytes, Duration, Words};
use serde_json::json;

impl accord_form::Own for Own {
    fn expected(&self) -> String {
        let words_or = |other: &str| {
            let words: Vec<_> = self.words().iter().map(|w| quote(w)).collect();
            format!("{} or {other}", words.join(", "))
        };
        match self {
            Own::Timeout => "a time such as \"200 ms\"".into(),
            Own::Trace => {
                "the name of a file, or a list of times in milliseconds such as [1, 2, 4]".into()
            }
            Own::Period => words_or("a time such as \"10 ms\""),
            Own::Steps => "the name of a file, or a list of lines such as [\"0, 10 Mbps\"]".into(),
            Own::Delays => "the name of a file, or a list of lines such as [\"0, 25 ms\"]".into(),
            Own::Packet => "a size such as \"1000 B\"".into(),
            Own::Limit => format!(
                "a limit such as \"90 pkt\", \"64 KB\", \"20 ms\", \"1 BDP\" or {}",
                quote(UNLIMITED)
            ),
            Own::Processing => words_or("a time such as \"80 us\""),
            Own::Metric => one_of(&self.words()),
            Own::Over => words_or("a percentile such as \"p95\" (\"p50\" is the median)"),
            Own::Figure => "a value in the metric's unit".into(),
            Own::Controller => "the name of a controller or a table with it".into(),
            Own::Queue => "the name of a queue discipline or a table with it".into(),
            Own::Links(_) => "links, each under its name".into(),
        }
    }

    fn brief(&self) -> String {
        let words_and = |other: &str| format!("{}, {other}", in_code(&self.words()));
        match self {
            Own::Timeout => "time".into(),
            Own::Trace => "file, list of milliseconds".into(),
            Own::Period | Own::Processing => words_and("time"),
            Own::Steps | Own::Delays => "file, list of lines".into(),
            Own::Packet => "size".into(),
            Own::Limit => "limit".into(),
            Own::Metric => words_and("[a variable of a controller](output.md#inner-state)"),
            Own::Over => words_and("`\"p95\"`"),
            Own::Figure => "value".into(),
            Own::Controller => "[controller](#controllers)".into(),
            Own::Queue => "[queue](#queues)".into(),
            Own::Links(section) => format!(
                "lines such as `{}`, or tables: {}",
                line::EXAMPLE,
                section.title.replace('[', "\\[")
            ),
        }
    }

    fn schema(&self) -> serde_json::Value {
        match self {
            Own::Timeout => quantity(Duration::units()),
            Own::Trace => json!({ "anyOf": [
                { "type": "string" },
                {
                    "type": "array",
                    "items": { "type": "integer", "minimum": 0, "maximum": limits::TRACE_LENGTH },
                    "minItems": 1,
                },
            ] }),
            Own::Period | Own::Processing => {
                json!({ "anyOf": [{ "enum": self.words() }, quantity(Duration::units())] })
            }
            Own::Steps | Own::Delays => json!({ "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" }, "minItems": 1 },
            ] }),
            Own::Packet => above_zero(Bytes::units()),
            Own::Limit => schema::limit(),
            Own::Metric => json!({ "anyOf": [
                { "enum": self.words() },
                { "type": "string", "pattern": "^[a-z0-9-]+[.][a-z0-9_]+$" },
            ] }),
            Own::Over => json!({
                "type": "string",
                "pattern": format!("^({}|p[0-9.]+)$", self.words().join("|")),
            }),
            Own::Figure => json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }),
            Own::Controller => json!({ "$ref": "#/$defs/controller" }),
            Own::Queue => json!({ "$ref": "#/$defs/queue" }),
            Own::Links(section) => json!({
                "type": "object",
                "propertyNames": name("."),
                "additionalProperties": {
                    "anyOf": [schema::line(), { "$ref": reference(section) }],
                },
            }),
        }
    }

    fn words(&self) -> Vec<&'static str> {
        match self {
            Own::Metric => Metric::words(),
            Own::Over => Over::words(),
            Own::Processing => Processing::words(),
            Own::Period => vec![OFF],
            Own::Limit => vec![UNLIMITED],
            _ => Vec::new(),
        }
    }

    fn is_quantity(&self) -> bool {
        use Own::*;
        matches!(self, Period | Packet | Limit | Processing | Timeout | Figure)
    }

    fn sections(&self) -> Vec<&'static Section> {
        match self {
            Own::Links(section) => vec![section],
            _ => Vec::new(),
        }
    }
}

impl accord_form::Check for Own {
    type Context = Catalogue;

    fn check(&self, value: &Value, checker: &mut Checker<'_, Own>) -> Result<(), Problem> {
        match self {
            Own::Trace => read::trace(value).map(drop),
            Own::Period => read::period(value).map(drop),
            Own::Steps => read::steps(value).map(drop),
            Own::Delays => read::delays(value).map(drop),
            Own::Packet => read::packet(value).map(drop),
            Own::Limit => read::limit(value).map(drop),
            Own::Timeout => read::timeout(value).map(drop),
            Own::Processing => read::processing(value).map(drop),
            Own::Metric => read::metric(value).map(drop),
            Own::Over => read::over(value).map(drop),
            // The unit depends on the metric, so it is checked when the expectation is resolved.
            Own::Figure => Ok(()),
            Own::Controller => {
                CONTROLLER.read(value, checker.context.controllers, checker.problems);
                Ok(())
            }
            Own::Queue => {
                queue(value, checker);
                Ok(())
            }
            Own::Links(section) => {
                let table = value.table().ok_or_else(|| read::wrong(value, &Shape::Own(*self)))?;
                for entry in &table.entries {
                    match &entry.value.data {
                        Data::Table(inner) => checker.table(inner, entry.span, section),
                        // Valid lines are already tables.
                        _ => drop(checker.problems.keep(line::read(&entry.value))),
                    }
                }
                Ok(())
            }
        }
    }
}

fn queue(value: &Value, checker: &mut Checker<'_, Own>) {
    let table = value.table();
    if let Some(random) = table.and_then(|t| t.get("random")) {
        match random.list() {
            Some(list) if !list.is_empty() => list.iter().for_each(|v| queue(v, checker)),
            _ => checker.problems.push(
                Problem::new(random.span, "expected a list of queues to choose from")
                    .hint("random = [\"droptail\", \"red\"]"),
            ),
        }
        let others = table.into_iter().flat_map(|t| &t.entries);
        if let Some(seed) = table.and_then(|t| t.get("seed")) {
            checker.value(seed, &keys::SEED);
        }
        for entry in others.filter(|e| e.key != "random" && e.key != "seed") {
            let message = format!("{} cannot be combined with `random`", quote(&entry.key));
            checker
                .problems
                .push(Problem::new(entry.span, message).hint("put it into each queue of the list"));
        }
        return;
    }
    DISCIPLINE.read(value, checker.context.disciplines, checker.problems);
    if let Some(limit) = table.and_then(|t| t.get("limit")) {
        checker.problems.keep(read::limit(limit));
    }
}
