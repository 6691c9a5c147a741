//! The tables of parameters at the heads of the families' files match the parameters themselves.

use accord_family::{Family, Kind, Param, Raw};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A row of a table: a parameter and its default as text.
struct Row {
    name: String,
    default: String,
}

/// Returns the rows of the table `| symbol | field | unit | default | range | source |` of a file. A
/// cell may name several parameters.
fn table(text: &str) -> Vec<Row> {
    let heads = text.lines().take_while(|line| line.starts_with("//!"));
    let mut rows = Vec::new();
    for line in heads.filter_map(|line| line.strip_prefix("//! |")) {
        // An escaped bar is part of a cell.
        let line = line.replace("\\|", "");
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, names, _, default, _, _, ..] = cells[..] else {
            continue;
        };
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let defaults: Vec<&str> = default.split(',').map(str::trim).collect();
        for (i, name) in names.iter().enumerate() {
            let own = match defaults.len() == names.len() {
                true => defaults[i],
                false => default,
            };
            if let Some(name) = name.strip_prefix('`').and_then(|n| n.strip_suffix('`')) {
                rows.push(Row {
                    name: name.into(),
                    default: own.replace('µ', "u"),
                });
            }
        }
    }
    rows
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// Returns the parameters of a family, those of its aggregates included.
fn parameters(family: &Family) -> Vec<Param> {
    let inner = family.params.iter().flat_map(|p| match p.kind {
        Kind::Aggregates(params) => params.to_vec(),
        _ => Vec::new(),
    });
    let own = family.params.iter().copied();
    let own = own.filter(|p| !matches!(p.kind, Kind::Aggregates(_)));
    own.chain(inner).collect()
}

/// Returns whether a cell has the default of a parameter. A cell in words is not compared.
fn is_default(param: &Param, cell: &str) -> bool {
    let raw = match (
        cell.parse::<i64>(),
        cell.parse::<f64>(),
        cell.parse::<bool>(),
    ) {
        (Ok(n), _, _) if matches!(param.kind, Kind::Integer { .. }) => Raw::Integer(n),
        (_, Ok(x), _) => Raw::Number(x),
        (_, _, Ok(flag)) => Raw::Flag(flag),
        _ => Raw::Text(cell.into()),
    };
    match param.kind.read(&raw) {
        Ok(value) => param.default.is_empty() || value == param.default_value(),
        Err(_) => true,
    }
}

/// A parameter that several families share may stand in the file of one of them.
#[test]
fn tables_at_the_heads_of_files_match_the_parameters() {
    let (mut compared, mut wrong) = (0, Vec::new());
    let crates = [
        ("control", accord_control::FAMILIES),
        ("aqm", accord_aqm::FAMILIES),
    ];
    for (name, families) in crates {
        let mut files = Vec::new();
        let folder = format!("{}/../{name}/src", env!("CARGO_MANIFEST_DIR"));
        sources(Path::new(&folder), &mut files);
        let mut described = BTreeSet::new();
        let mut known = BTreeSet::new();
        for file in files {
            let text = fs::read_to_string(&file).expect("a source");
            let rows = table(&text);
            let place = file.strip_prefix(&folder).expect("a file of the folder");
            described.extend(rows.iter().map(|row| row.name.clone()));
            let declares = |family: &&&Family| {
                let line = format!("name: \"{}\",", family.name);
                text.contains("Family {") && text.lines().any(|l| l.trim() == line)
            };
            let own = families.iter().filter(declares).flat_map(|f| parameters(f));
            for param in own {
                known.insert(param.name);
                for row in rows.iter().filter(|row| row.name == param.name) {
                    compared += 1;
                    if !is_default(&param, &row.default) {
                        let (place, name) = (place.display(), param.name);
                        let (is, other) = (param.default, &row.default);
                        wrong.push(format!("{place}: {name} is {is}, and its row has {other}"));
                    }
                }
            }
        }
        let all: BTreeSet<_> = (families.iter().flat_map(|f| parameters(f)))
            .map(|param| param.name)
            .collect();
        assert!(known.len() > 15, "{name}: {known:?} are declared");
        let missing = all.iter().filter(|name| !described.contains(**name));
        wrong.extend(missing.map(|param| format!("{name}: {param} has no row")));
        let strange = described.iter().filter(|row| !all.contains(row.as_str()));
        wrong.extend(strange.map(|row| format!("{name}: the row {row} is no parameter")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 80, "{compared} rows were compared");
}
