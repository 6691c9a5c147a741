//! The JSON Schema of the language, for editors.

use super::family::{CONTROLLER, DISCIPLINE, Kind};
use super::keys;
use super::shape::Own;
use accord_family::Catalogue;
use accord_family::{Family, Kind as ParamKind, Param, Value as ParamValue};
use accord_form::Own as _;
use accord_form::schema::{ABOVE_ZERO, NAME, NUMBER, quantity, shape};
use accord_units::{Duration, Rate, Size};
use serde_json::{Map, Value, json};

/// Returns the JSON Schema (2020-12) of scenario files that use `catalogue`.
///
/// The schema covers only form, as [that of every kind of file](accord_form::schema()).
/// [`File::points`](super::File::points) makes the checks that need the whole file, for example that flows
/// reach their sink. Nor can the schema detect that a sweep supplies a key that is otherwise missing.
pub fn schema(catalogue: &Catalogue) -> Value {
    catalogue.declare();
    let mut schema = accord_form::schema("Accord scenario", &keys::FILE);
    let queue = json!({ "$ref": "#/$defs/queue" });
    let random = object(&[
        ("random", json!({ "type": "array", "minItems": 1, "items": queue })),
        ("seed", shape(&keys::SEED)),
    ]);
    let mut queues = family(DISCIPLINE, catalogue.disciplines);
    queues.push(required(random, &["random"]));
    let controllers = family(CONTROLLER, catalogue.controllers);
    schema["$defs"]["queue"] = json!({ "anyOf": queues });
    schema["$defs"]["controller"] = json!({ "anyOf": controllers });
    schema
}

/// Returns the schema of a link in one line.
pub(crate) fn line() -> Value {
    let name = format!("[{NAME}.-]+");
    let units = |number, units: Vec<&str>| format!("*{number} *({})", units.join("|"));
    let (rate, delay) =
        (units(ABOVE_ZERO, Rate::units().collect()), units(NUMBER, Duration::units().collect()));
    let pattern = format!("^ *{name} +- +{name} *, {rate} *, {delay} *$");
    json!({
        "description": "A link in one line: its two nodes, its rate and its delay.",
        "type": "string",
        "pattern": pattern,
    })
}

pub(crate) fn limit() -> Value {
    let units = Size::units().chain(Duration::units());
    let product = json!({ "type": "string", "pattern": "^ *[0-9.eE+-]+ *BDP$" });
    json!({ "anyOf": [{ "enum": Own::Limit.words() }, product, quantity(units)] })
}

/// Returns the schemas of all ways to write one of several families.
fn family(kind: Kind, families: &[&Family]) -> Vec<Value> {
    let names: Vec<_> = families.iter().map(|f| f.name).collect();
    let mut all = vec![json!({ "enum": names })];
    for family in families {
        let mut keys = vec![(kind.tag, json!({ "const": family.name }))];
        // The limit of a queue is the only key that is not a parameter.
        keys.extend(kind.others.iter().map(|key| (*key, limit())));
        keys.extend(family.params.iter().map(|p| (p.name, parameter(p))));
        let mut table = required(object(&keys), &[kind.tag]);
        table["description"] = json!(family.doc);
        all.push(table);
    }
    all
}

fn parameter(param: &Param) -> Value {
    let mut value = match param.kind {
        ParamKind::Number { min, max } if max >= f64::MAX => {
            json!({ "type": "number", "minimum": min })
        }
        ParamKind::Number { min, max } => {
            json!({ "type": "number", "minimum": min, "maximum": max })
        }
        ParamKind::Integer { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        ParamKind::Flag => json!({ "type": "boolean" }),
        ParamKind::Size => quantity(Size::units()),
        ParamKind::Duration => quantity(Duration::units()),
        ParamKind::Rate => quantity(Rate::units()),
        ParamKind::Choice(words) => json!({ "enum": words }),
        ParamKind::Aggregates(params) => {
            let keys: Vec<_> = params.iter().map(|p| (p.name, parameter(p))).collect();
            json!({ "type": "object", "additionalProperties": object(&keys) })
        }
    };
    value["description"] = json!(param.doc);
    match param.default_value() {
        ParamValue::Absent => {}
        ParamValue::Number(x) => value["default"] = json!(x),
        ParamValue::Integer(n) => value["default"] = json!(n),
        ParamValue::Flag(flag) => value["default"] = json!(flag),
        other => value["default"] = json!(other.to_string()),
    }
    value
}

fn object(keys: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> =
        keys.iter().map(|(key, value)| ((*key).to_string(), value.clone())).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn required(mut object: Value, keys: &[&str]) -> Value {
    object["required"] = json!(keys);
    object
}
