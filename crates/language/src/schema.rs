//! The JSON Schema of the language, for editors, made from the key tables.

use super::family::{CONTROLLER, DISCIPLINE, Kind};
use super::keys;
use super::limits;
use super::shape::{Default, Section, Shape};
use accord_family::Catalogue;
use accord_family::{Family, Kind as ParamKind, Param, Value as ParamValue};
use accord_units::{Bytes, Duration, Rate, Size};
use serde_json::{Map, Value, json};

/// Returns the JSON Schema (2020-12) of scenario files that use `catalogue`.
///
/// The schema knows form only. Checks that need the whole file (names that must exist, flows that
/// must reach their sink) are those of [`File::points`](super::File::points). The schema also
/// cannot see that a sweep fills in a key that is otherwise missing. Its patterns keep to the
/// common part of regular expressions [JSON Schema 2020-12 §6.4], which has no classes of letters:
/// in names it takes each character beyond ASCII for a letter.
pub fn schema(catalogue: &Catalogue) -> Value {
    catalogue.declare();
    let mut definitions = Map::new();
    define(&keys::FILE, &mut definitions);
    let queue = json!({ "$ref": "#/$defs/queue" });
    let random = object(&[
        ("random", json!({ "type": "array", "minItems": 1, "items": queue })),
        ("seed", shape(&keys::SEED)),
    ]);
    let mut queues = family(DISCIPLINE, catalogue.disciplines);
    queues.push(required(random, &["random"]));
    definitions.insert("queue".into(), json!({ "anyOf": queues }));
    let controllers = family(CONTROLLER, catalogue.controllers);
    definitions.insert("controller".into(), json!({ "anyOf": controllers }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Accord scenario",
        "$ref": reference(&keys::FILE),
        "$defs": definitions,
    })
}

/// The inside of a class of the characters of names, without `-`.
const NAME: &str = "0-9A-Za-z_\u{80}-\u{10ffff}";

fn reference(section: &Section) -> String {
    format!("#/$defs/{}", section.slug())
}

/// Adds the definition of a section and of those inside it.
fn define(section: &'static Section, definitions: &mut Map<String, Value>) {
    if definitions.contains_key(&section.slug()) {
        return;
    }
    let mut properties = Map::new();
    let mut needed = Vec::new();
    for key in section.keys {
        let mut value = shape(&key.shape);
        value["description"] = json!(key.doc);
        match key.default {
            Default::Required => needed.push(key.name),
            Default::Value(text) => value["default"] = literal(text),
            Default::Nothing | Default::Words(_) => {}
        }
        properties.insert(key.name.into(), value);
    }
    let mut definition = json!({
        "description": section.doc,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !needed.is_empty() {
        definition["required"] = json!(needed);
    }
    if section.one_of {
        definition["minProperties"] = json!(1);
        definition["maxProperties"] = json!(1);
    }
    definitions.insert(section.slug(), definition);
    for inner in section.keys.iter().flat_map(|key| key.shape.sections()) {
        define(inner, definitions);
    }
}

fn literal(text: &str) -> Value {
    let number = text.parse::<i64>().map(|n| json!(n));
    let flag = text.parse::<bool>().map(|flag| json!(flag));
    number.or(flag).unwrap_or_else(|_| json!(text))
}

fn shape(of: &Shape) -> Value {
    let name = |dot: &str| {
        let pattern = format!("^[{NAME}{dot}-]{{1,{}}}$", limits::NAME);
        json!({ "type": "string", "pattern": pattern })
    };
    let share = |most: f64| {
        let percent = json!({ "type": "string", "pattern": "^[0-9.eE+-]+ *%$" });
        json!({ "anyOf": [{ "type": "number", "minimum": 0, "maximum": most }, percent] })
    };
    match of {
        Shape::Text => json!({ "type": "string" }),
        Shape::Name => name(""),
        Shape::Dotted => name("."),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Whole(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Number(min, max) => json!({ "type": "number", "minimum": min, "maximum": max }),
        Shape::Probability => share(1.0),
        Shape::Tolerance => share(10.0),
        Shape::Span => quantity_with(ABOVE_ZERO, Duration::units()),
        Shape::Instant | Shape::Delay | Shape::Timeout => quantity(Duration::units()),
        Shape::Rate => quantity_with(ABOVE_ZERO, Rate::units()),
        Shape::AnyRate => quantity(Rate::units()),
        Shape::Trace => json!({ "anyOf": [
            { "type": "string" },
            { "type": "array", "items": shape(&Shape::Whole(0, limits::TRACE_LENGTH.into())), "minItems": 1 },
        ] }),
        Shape::Period | Shape::Processing => {
            json!({ "anyOf": [{ "enum": of.words() }, quantity(Duration::units())] })
        }
        Shape::Steps | Shape::Delays => json!({ "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "type": "string" }, "minItems": 1 },
        ] }),
        Shape::Amount | Shape::Packet => quantity_with(ABOVE_ZERO, Bytes::units()),
        Shape::Limit => limit(),
        Shape::Metric => json!({ "anyOf": [
            { "enum": of.words() },
            { "type": "string", "pattern": "^[a-z0-9-]+[.][a-z0-9_]+$" },
        ] }),
        Shape::Choice(_) => json!({ "enum": of.words() }),
        Shape::Over => json!({
            "type": "string",
            "pattern": format!("^({}|p[0-9.]+)$", of.words().join("|")),
        }),
        Shape::Figure => json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }),
        Shape::Any => json!({}),
        Shape::Controller => json!({ "$ref": "#/$defs/controller" }),
        Shape::Queue => json!({ "$ref": "#/$defs/queue" }),
        Shape::List(of) => json!({ "type": "array", "items": shape(of) }),
        Shape::Pair(of) => {
            json!({ "type": "array", "items": shape(of), "minItems": 2, "maxItems": 2 })
        }
        Shape::Table(section) => json!({ "$ref": reference(section) }),
        Shape::Named(section) => json!({
            "type": "object",
            "propertyNames": name("."),
            "additionalProperties": { "$ref": reference(section) },
        }),
        Shape::Links(section) => json!({
            "type": "object",
            "propertyNames": name("."),
            "additionalProperties": { "anyOf": [line(), { "$ref": reference(section) }] },
        }),
        Shape::Map(of) => json!({ "type": "object", "additionalProperties": shape(of) }),
        Shape::Either(shapes) => {
            let shapes: Vec<_> = shapes.iter().map(shape).collect();
            json!({ "anyOf": shapes })
        }
    }
}

/// The pattern of a number of at least zero.
const NUMBER: &str = "[0-9][0-9_.eE+-]*";
/// The pattern of a number that has a digit above zero before its exponent.
const ABOVE_ZERO: &str = "([1-9]|[0-9][0-9_.]*[1-9])[0-9_.eE+-]*";

/// Returns the schema of a number with one of these units.
fn quantity(units: impl Iterator<Item = &'static str>) -> Value {
    quantity_with(NUMBER, units)
}

fn quantity_with(number: &str, units: impl Iterator<Item = &'static str>) -> Value {
    let units: Vec<_> = units.collect();
    let pattern = format!("^ *{number} *({}) *$", units.join("|"));
    json!({ "type": "string", "pattern": pattern })
}

/// Returns the schema of a link in one line.
fn line() -> Value {
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

fn limit() -> Value {
    let units = Size::units().chain(Duration::units());
    let product = json!({ "type": "string", "pattern": "^ *[0-9.eE+-]+ *BDP$" });
    json!({ "anyOf": [{ "enum": Shape::Limit.words() }, product, quantity(units)] })
}

/// Returns the schemas of the ways to write one of several families.
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
