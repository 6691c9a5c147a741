//! JSON Schemas of files, for editors, generated from the key tables.

use crate::{Default, Own, Section, Shape, limits};
use accord_units::{Bytes, Duration, Rate};
use serde_json::{Map, Value, json};

/// Returns the JSON Schema (2020-12) of files of this form.
///
/// The schema covers only form. The reader makes the checks that need the whole file (names that must exist).
/// Patterns keep to the common subset of regular expressions [JSON Schema 2020-12 §6.4], which has no classes
/// of letters, so any character beyond ASCII counts as a letter in names.
pub fn schema<X: Own>(title: &str, file: &'static Section<X>) -> Value {
    let mut definitions = Map::new();
    define(file, &mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "$ref": reference(file),
        "$defs": definitions,
    })
}

/// The content of the character class for names, without `-`.
pub const NAME: &str = "0-9A-Za-z_\u{80}-\u{10ffff}";

/// Returns the reference to the definition of a section.
pub fn reference<X: Own>(section: &Section<X>) -> String {
    format!("#/$defs/{}", section.slug())
}

/// Adds the definition of a section and of those inside it.
fn define<X: Own>(section: &'static Section<X>, definitions: &mut Map<String, Value>) {
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

/// Returns the schema of the values of a form.
pub fn shape<X: Own>(of: &Shape<X>) -> Value {
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
        Shape::Span => above_zero(Duration::units()),
        Shape::Instant | Shape::Delay => quantity(Duration::units()),
        Shape::Rate => above_zero(Rate::units()),
        Shape::AnyRate => quantity(Rate::units()),
        Shape::Amount => above_zero(Bytes::units()),
        Shape::Choice(_) => json!({ "enum": of.words() }),
        Shape::Any => json!({}),
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
        Shape::Map(of) => json!({ "type": "object", "additionalProperties": shape(of) }),
        Shape::Either(shapes) => {
            let shapes: Vec<_> = shapes.iter().map(shape).collect();
            json!({ "anyOf": shapes })
        }
        Shape::Own(own) => own.schema(),
    }
}

/// Returns the schema of a name. `dot` is a dot if the name may contain dots.
pub fn name(dot: &str) -> Value {
    let pattern = format!("^[{NAME}{dot}-]{{1,{}}}$", limits::NAME);
    json!({ "type": "string", "pattern": pattern })
}

/// The pattern of a number of at least zero.
pub const NUMBER: &str = "[0-9][0-9_.eE+-]*";
/// The pattern of a number that has a digit above zero before its exponent.
pub const ABOVE_ZERO: &str = "([1-9]|[0-9][0-9_.]*[1-9])[0-9_.eE+-]*";

/// Returns the schema of a number with one of these units.
pub fn quantity(units: impl Iterator<Item = &'static str>) -> Value {
    quantity_with(NUMBER, units)
}

/// Returns the schema of a number above zero with one of these units.
pub fn above_zero(units: impl Iterator<Item = &'static str>) -> Value {
    quantity_with(ABOVE_ZERO, units)
}

fn quantity_with(number: &str, units: impl Iterator<Item = &'static str>) -> Value {
    let units: Vec<_> = units.collect();
    let pattern = format!("^ *{number} *({}) *$", units.join("|"));
    json!({ "type": "string", "pattern": pattern })
}
