//! `--set` of `accord new`: settings in the new file.

use crate::fail::Failure;
use accord::Error;
use toml_edit::{DocumentMut, InlineTable, Item, Value};

/// Applies settings of the form PATH=VALUE to the text of a scenario.
pub fn apply(text: &str, settings: &[String]) -> Result<String, Failure> {
    if settings.is_empty() {
        return Ok(text.to_string());
    }
    let mut document: DocumentMut = text.parse().expect("the program writes TOML");
    for setting in settings {
        let Some((path, value)) = setting.split_once('=') else {
            return Err(Error::Setting(setting.clone()).into());
        };
        let keys: Vec<&str> = path.trim().split('.').collect();
        if keys.iter().any(|key| key.is_empty()) {
            return Err(Failure::new(format!("\"{path}\" is not a path"))
                .hint("expected keys with dots between them, such as flow.all.controller"));
        }
        // As on any command line, a text needs no quotes.
        let value = value.trim();
        let value: Value = value.parse().unwrap_or_else(|_| value.into());
        put(document.as_item_mut(), "", &keys, value)
            .map_err(|why| Failure::new(format!("{}: {why}", path.trim())))?;
    }
    Ok(document.to_string())
}

/// Sets a value at the path `keys` below `item`, which is the value of `name`.
fn put(item: &mut Item, name: &str, keys: &[&str], value: Value) -> Result<(), String> {
    let (first, rest) = keys.split_first().expect("a path has a key");
    // A bare name of a controller or a queue stands for a table.
    let tag = match name {
        "controller" => Some("name"),
        "queue" => Some("discipline"),
        _ => None,
    };
    if let (Some(tag), Some(bare)) = (tag, item.as_str().map(str::to_string)) {
        let mut table = InlineTable::new();
        table.insert(tag, bare.into());
        *item = Item::Value(table.into());
    }
    let Some(table) = item.as_table_like_mut() else {
        return Err(format!("no table has the key \"{first}\""));
    };
    if rest.is_empty() {
        match table.get_mut(first) {
            // Keeps the comment after the value.
            Some(Item::Value(old)) => {
                let decor = old.decor().clone();
                *old = value;
                *old.decor_mut() = decor;
            }
            _ => {
                table.insert(first, Item::Value(value));
            }
        }
        return Ok(());
    }
    if !table.contains_key(first) {
        table.insert(first, Item::Value(InlineTable::new().into()));
    }
    let inner = table.get_mut(first).expect("it is there");
    put(inner, first, rest, value)
}
