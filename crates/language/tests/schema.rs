//! The JSON Schema of the language.

use crate::common::CATALOGUE;
use accord_language::schema;
use serde_json::Value;

/// Adds the patterns in a schema.
fn patterns<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    match schema {
        Value::Object(map) => {
            found.extend(map.get("pattern").and_then(Value::as_str));
            map.values().for_each(|value| patterns(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| patterns(value, found)),
        _ => {}
    }
}

/// Reads alternatives of the expressions that every reader of JSON Schema understands [JSON Schema
/// 2020-12 §6.4]: characters, simple classes, the quantifiers, anchors, groups and `|`. Returns the
/// text behind them.
fn alternatives(mut rest: &str) -> Result<&str, String> {
    loop {
        let Some(c) = rest.chars().next().filter(|c| *c != ')') else {
            return Ok(rest);
        };
        let behind = &rest[c.len_utf8()..];
        rest = match c {
            '(' if behind.starts_with('?') => return Err(format!("a group of a kind: {rest}")),
            '(' => alternatives(behind)?.strip_prefix(')').ok_or("a group has no end")?,
            '[' => class(behind)?,
            '\\' | '.' | ']' | '{' | '}' | '*' | '+' | '?' => return Err(format!("{c} in {rest}")),
            _ => behind,
        };
        rest = match rest.chars().next() {
            Some('*' | '+' | '?') => &rest[1..],
            Some('{') => {
                let (count, behind) = rest[1..].split_once('}').ok_or("a count has no end")?;
                let digits = |n: &str| n.parse::<u16>().is_ok();
                if count.split(',').all(digits) && count.split(',').count() <= 2 {
                    behind
                } else {
                    return Err(format!("the count {count}"));
                }
            }
            _ => rest,
        };
    }
}

/// Reads a class behind its bracket. It has single characters and ranges that grow.
fn class(text: &str) -> Result<&str, String> {
    let (inside, rest) = text.split_once(']').ok_or("a class has no end")?;
    let chars: Vec<char> = inside.trim_start_matches('^').chars().collect();
    if chars.is_empty() || chars.iter().any(|c| matches!(c, '[' | '\\' | '&' | '~')) {
        return Err(format!("the class {inside}"));
    }
    let ranges = chars.windows(3).filter(|w| w[1] == '-');
    if ranges.into_iter().all(|w| w[0] < w[2]) {
        Ok(rest)
    } else {
        Err(format!("the class {inside}"))
    }
}

#[test]
fn patterns_keep_to_what_every_reader_understands() {
    let schema = schema(&CATALOGUE);
    let mut found = Vec::new();
    patterns(&schema, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for pattern in found {
        assert_eq!(alternatives(pattern), Ok(""), "{pattern}");
        assert!(pattern.starts_with('^') && pattern.ends_with('$'));
    }
    for other in ["\\p{L}", "a.b", "(?i)a", "[a-z&&b]", "a{x}", "a)", "(a"] {
        assert_ne!(alternatives(other), Ok(""), "{other}");
    }
}
