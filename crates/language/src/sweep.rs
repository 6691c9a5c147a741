//! Sweeps: values that vary from point to point.

use super::limits;
use super::read;
use accord_form::{Data, Table, Value, split};
use accord_form::{Problem, Problems, Span, fail, quote};
use std::collections::{BTreeMap, BTreeSet};

/// The key of the sweeps in a file.
pub(crate) const KEY: &str = "sweep";

/// One sweep.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub name: String,
    pub span: Span,
    /// The paths at which the sweep puts its value.
    paths: Vec<(String, Span)>,
    /// The values with their labels.
    pub values: Vec<(String, Value)>,
    /// True if a setting on the command line has replaced them.
    replaced: bool,
}

impl Axis {
    /// Rejects a label that no value has. If a setting replaces the values of the file, its
    /// expectations may still refer to the original values.
    pub fn check(&self, label: &str, span: Span) -> Result<(), Problem> {
        if self.replaced || self.values.iter().any(|(known, _)| known == label) {
            return Ok(());
        }
        let message = format!("the sweep {} has no value {}", self.name, quote(label));
        Err(Problem::new(span, message).known(label, self.values.iter().map(|(l, _)| l.as_str())))
    }

    /// Returns the maximum number of values that a point reads at all paths of this sweep together.
    fn heaviest(&self) -> usize {
        let heaviest = self.values.iter().map(|(_, value)| value.weight()).max();
        self.paths.len().max(1).saturating_mul(heaviest.unwrap_or(0))
    }

    /// Returns whether the sweep replaces a value that is set at `path`.
    pub fn overrides(&self, path: &str) -> bool {
        let Some(path) = split(path) else {
            return false;
        };
        let over = |own: &str| split(own).is_some_and(|own| path.starts_with(&own));
        let parts = self.values.iter().filter_map(|(_, value)| value.table());
        match self.paths.is_empty() {
            true => { parts }.any(|parts| parts.entries.iter().any(|e| over(&e.key))),
            false => self.paths.iter().any(|(own, _)| over(own)),
        }
    }

    /// Returns whether the sweep sets the value of a key of the file, or a part of it.
    pub fn touches(&self, key: &str) -> bool {
        let first =
            |path: &str| split(path).is_some_and(|keys| keys.first().is_some_and(|k| k == key));
        let parts = self.values.iter().filter_map(|(_, value)| value.table());
        match self.paths.is_empty() {
            true => { parts }.any(|parts| parts.entries.iter().any(|e| first(&e.key))),
            false => self.paths.iter().any(|(own, _)| first(own)),
        }
    }

    /// Puts the `i`-th value into a file's tree at the sweep's paths. If the sweep has no paths,
    /// the value is a table, and each part of it is put at the path given by its key.
    pub fn apply(&self, i: usize, tree: &mut Table) -> Result<(), Problem> {
        let value = &self.values[i].1;
        for (path, span) in &self.paths {
            crate::path::knows(tree, path, *span)?;
            crate::path::set(tree, path, *span, value.clone())?;
        }
        if let (true, Some(parts)) = (self.paths.is_empty(), value.table()) {
            for part in &parts.entries {
                crate::path::set(tree, &part.key, part.span, part.value.clone())?;
            }
        }
        Ok(())
    }
}

/// Returns the sweeps of a file whose form has been checked, and the number of their points.
pub(crate) fn axes(tree: &Table, problems: &mut Problems) -> Option<(Vec<Axis>, usize)> {
    let mut axes = Vec::new();
    let table = tree.get(KEY).and_then(Value::table);
    let entries = table.map_or(&[][..], |t| &t.entries);
    if let Some(entry) = entries.get(limits::SWEEPS) {
        let message = format!("more than {} sweeps", limits::SWEEPS);
        problems.push(Problem::new(entry.span, message));
        return None;
    }
    let mut points = 1usize;
    for entry in entries {
        let axis = entry.value.table().map(|table| axis(&entry.key, entry.span, table));
        axes.extend(axis.and_then(|axis| problems.keep(axis)));
        points = points.saturating_mul(axes.last().map_or(1, |a: &Axis| a.values.len()));
        if points > limits::POINTS {
            let message = format!("the sweeps have more than {} points", limits::POINTS);
            problems.push(Problem::new(entry.span, message));
            return None;
        }
    }
    // The value of the last sweep would replace those of the others.
    let mut setting: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (i, axis) in axes.iter().enumerate() {
        for (path, span) in &axis.paths {
            let Some(keys) = split(path) else {
                continue; // a point says so when it is read
            };
            let first = *setting.entry(keys).or_insert(i);
            if first != i {
                let earlier = &axes[first].name;
                let message = format!("the sweep {earlier} sets {} already", quote(path));
                let hint = "give one of the two another path, or make them one sweep";
                problems.push(Problem::new(*span, message).hint(hint));
            }
        }
    }
    // A point is read without the sweeps, but with one value of each.
    let rest: usize =
        (tree.entries.iter().filter(|e| e.key != KEY)).map(|e| e.value.weight()).sum();
    let values = axes.iter().map(Axis::heaviest).sum();
    let weight = rest.saturating_add(values).max(1);
    if points > 1 && weight.saturating_mul(points) > limits::READS {
        let most = limits::READS / weight;
        let message =
            format!("the sweeps have {points} points; a file of this size may have {most}");
        problems.push(Problem::new(axes[0].span, message));
    }
    problems.is_empty().then_some((axes, points))
}

fn axis(name: &str, span: Span, table: &Table) -> Result<Axis, Problem> {
    read::check_name(name, span, false)?;
    let paths = match table.get("set") {
        Some(set) => set.list().unwrap_or(std::slice::from_ref(set)),
        None => &[],
    };
    let paths: Vec<(String, Span)> =
        paths.iter().filter_map(|v| Some((v.text()?.to_string(), v.span))).collect();
    let of_sweeps = |path: &str| split(path).is_some_and(|keys| keys[0] == KEY);
    if let Some((_, span)) = paths.iter().find(|(path, _)| of_sweeps(path)) {
        let hint = "the points are all combinations of the values of the sweeps";
        return Err(Problem::new(*span, "a sweep cannot set another sweep").hint(hint));
    }
    let values: Vec<(String, Value)> = match table.get("values").map(|v| &v.data) {
        Some(Data::List(list)) => list.iter().map(|v| (v.label(), v.clone())).collect(),
        Some(Data::Table(table)) => {
            let labelled = table.entries.iter();
            labelled.map(|e| (e.key.clone(), e.value.clone())).collect()
        }
        _ => Vec::new(),
    };
    if values.is_empty() {
        return Err(Problem::new(span, format!("the sweep {} has no values", quote(name))));
    }
    let mut labels = BTreeSet::new();
    for (label, value) in &values {
        // A single value is the label of a point in a printed scenario.
        if paths.is_empty() && values.len() > 1 && value.table().is_none() {
            let message = format!("{} is put nowhere, as the sweep has no `set`", quote(label));
            let hint = "name in `set` the paths that take the values, such as \"flow.a.controller\", or make each value a table from paths to values";
            return Err(Problem::new(value.span, message).hint(hint));
        }
        if !labels.insert(label) {
            return fail(value.span, format!("{} is among the values already", quote(label)));
        }
    }
    // The file itself is source 0.
    let replaced = table.get("values").is_some_and(|v| v.span.source != 0);
    Ok(Axis { name: name.to_string(), span, paths, values, replaced })
}
