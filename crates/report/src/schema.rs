//! JSON Schemas of the output of `--json`. `outputs.txt` describes the objects. A test of the
//! program checks real output against them.

use crate::class::Class;
use crate::json::FORMAT_VERSION;
use crate::papers::FigureVerdict;
use accord_scenario::{Cause, Claim, Engine, MetricUnit};
use accord_units::Words as _;
use serde_json::{Map, Value, json};

/// The commands whose output has a schema.
pub const OUTPUTS: [&str; 4] = ["run", "compare", "stability", "reproduce"];

/// Returns the schema of the output of a command of [`OUTPUTS`] with `--json`.
pub fn output_schema(command: &str) -> Option<Value> {
    let body = match command {
        "run" => object("experiment", ""),
        "reproduce" => json!({ "oneOf": [object("experiments", ""), object("summary", "")] }),
        "compare" => object("comparison", ""),
        "stability" => json!({ "oneOf": [object("equilibria", ""), object("map", "")] }),
        _ => return None,
    };
    let mut schema = Map::new();
    schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".into(), format!("accord {command} --json").into());
    if let Value::Object(body) = body {
        schema.extend(body);
    }
    Some(Value::Object(schema))
}

/// Returns the schema of an object of `outputs.txt`, with its own description or `about`.
fn object(name: &str, about: &str) -> Value {
    let mut lines = include_str!("outputs.txt").lines();
    let own = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let own = own.unwrap_or_else(|| panic!("outputs.txt has no {name}"));
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for line in lines.map_while(|line| line.strip_prefix("  ")) {
        let mut parts = line.splitn(3, ' ');
        let mut next = || parts.next().unwrap_or("");
        let (key, kind, about) = (next(), next(), next());
        let value = schema_of(kind, about);
        match key.strip_prefix('-') {
            Some(optional) => properties.insert(optional.into(), value),
            None => {
                required.push(key);
                properties.insert(key.into(), value)
            }
        };
    }
    json!({
        "description": if about.is_empty() { own } else { about },
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Returns the schema of a type of `outputs.txt`.
fn schema_of(kind: &str, about: &str) -> Value {
    if let Some(words) = kind.strip_prefix('@') {
        return json!({ "description": about, "enum": words_of(words) });
    }
    if let Some(items) = kind.strip_prefix('[').and_then(|k| k.strip_suffix(']')) {
        return json!({ "description": about, "type": "array", "items": schema_of(items, "") });
    }
    let mut schema = match kind {
        "string" | "number" | "integer" | "boolean" => json!({ "type": kind }),
        "pair" => {
            json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 })
        }
        "version" => {
            json!({ "description": "raised when a reader of the last version would misread this one", "const": FORMAT_VERSION })
        }
        "settings" => json!({
            "description": "the settings of the point of the sweep, by name, as the scenario names the values",
            "type": "object",
            "additionalProperties": { "type": "string" },
        }),
        name => match name.strip_suffix('?') {
            Some(given) => json!({ "type": [given, "null"] }),
            None => return object(name, about),
        },
    };
    if !about.is_empty() {
        schema["description"] = about.into();
    }
    schema
}

/// Returns the words of a type, followed by null if its name ends with a question mark.
fn words_of(name: &str) -> Vec<Value> {
    let words = match name.trim_end_matches('?') {
        "Cause" => Cause::words(),
        "Claim" => Claim::words(),
        "Class" => Class::words(),
        "Engine" => Engine::words(),
        "FigureVerdict" => FigureVerdict::words(),
        "MetricUnit" => MetricUnit::words(),
        other => panic!("outputs.txt has words of {other}"),
    };
    let null = name.ends_with('?').then_some(Value::Null);
    words.into_iter().map(Value::from).chain(null).collect()
}
