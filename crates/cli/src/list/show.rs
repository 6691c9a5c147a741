//! The text of `accord list`.

use super::family::Family;
use super::{Experiment, Quantity};
use crate::new::Template;
use crate::output::style;
use accord::report::show::{TITLE, clean, visible};

/// Something that can be listed.
pub trait Entry {
    /// The name by which it is asked for.
    fn name(&self) -> &str;
    /// What it is, one sentence.
    fn doc(&self) -> String;
    /// What stands under that in a list: a heading and its text.
    fn facts(&self) -> Vec<(&'static str, String)>;
    /// What stands under that where one is shown in full.
    fn more(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// Its parameters: how to write each, and what it is.
    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

impl Entry for Family {
    fn name(&self) -> &str {
        self.name
    }

    fn doc(&self) -> String {
        self.doc.into()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let parameters = self.parameters.iter().map(|p| match p.default {
            Some(default) => format!("{} = {default}", p.name),
            None => p.name.clone(),
        });
        let parameters: Vec<_> = parameters.collect();
        let mut facts = vec![("engines", self.engines.join(", "))];
        if !parameters.is_empty() {
            facts.push(("parameters", parameters.join(", ")));
        }
        facts
    }

    fn more(&self) -> Vec<(&'static str, String)> {
        let mut more = vec![("engines", self.engines.join(", "))];
        more.extend(self.no_fluid.map(|why| ("no fluid", why.to_string())));
        more.extend((self.kernel).map(|name| ("kernel", format!("a model of Linux's {name}"))));
        if !self.source.is_empty() {
            more.push(("source", self.source.into()));
        }
        if !self.page.is_empty() {
            more.push(("page", format!("docs/src/{}", self.page)));
        }
        more
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let parameter = |p: &super::family::Parameter| {
            let default = match p.default {
                Some(default) => format!("; {default} by default"),
                None => "; absent by default".into(),
            };
            let of = [p.symbol, p.source].into_iter().filter(|s| !s.is_empty());
            let of: Vec<_> = of.collect();
            let of = match of.is_empty() {
                true => String::new(),
                false => format!(" ({})", of.join(", ")),
            };
            let doc = format!("{}{of}\n{}{default}", p.doc, p.value);
            (p.name.clone(), doc)
        };
        self.parameters.iter().map(parameter).collect()
    }
}

impl Entry for Quantity {
    fn name(&self) -> &str {
        self.name
    }

    fn doc(&self) -> String {
        self.doc.into()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let engines = match self.engines[..] {
            [] => "those that record what it is made of".into(),
            _ => self.engines.join(", "),
        };
        vec![
            ("unit", format!("{}, of a {}", self.unit, self.of)),
            ("engines", engines),
        ]
    }

    fn more(&self) -> Vec<(&'static str, String)> {
        let mut more = self.facts();
        more.push(("over time", self.over_time.clone()));
        more
    }
}

impl Entry for Experiment {
    fn name(&self) -> &str {
        &self.id
    }

    fn doc(&self) -> String {
        clean(&self.title, TITLE)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn more(&self) -> Vec<(&'static str, String)> {
        let mut more = vec![
            ("source", visible(&self.source)),
            ("notes", visible(&self.notes)),
            ("engines", self.engines.join(", ")),
            ("points", self.points.to_string()),
            ("duration", format!("{} s", self.duration_s)),
            ("flows", self.flows.to_string()),
            ("expected", self.expectations.to_string()),
            ("run", format!("accord reproduce {}", self.id)),
        ];
        more.retain(|(_, text)| !text.is_empty());
        more
    }
}

impl Entry for Template {
    fn name(&self) -> &str {
        self.name
    }

    fn doc(&self) -> String {
        self.doc.into()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let sizes = self.sizes.iter();
        let sizes: Vec<_> = sizes
            .map(|s| format!("--{} {}", s.name, s.default))
            .collect();
        vec![("sizes", sizes.join(", "))]
    }

    fn more(&self) -> Vec<(&'static str, String)> {
        vec![("file", format!("accord new {} -o FILE", self.name))]
    }

    fn parameters(&self) -> Vec<(String, String)> {
        let size = |s: &crate::new::Size| {
            let [least, most] = s.range;
            let doc = format!(
                "{}\na whole number from {least} to {most}; {} by default",
                s.doc, s.default
            );
            (format!("--{}", s.name), doc)
        };
        self.sizes.iter().map(size).collect()
    }
}

/// All entries, in short.
pub fn brief<T: Entry>(all: &[T]) -> String {
    let width = all.iter().map(|e| e.name().chars().count()).max();
    let width = width.unwrap_or_default() + 2;
    let mut out = String::new();
    for entry in all {
        out += &hang(&format!("{:width$}", entry.name()), &entry.doc());
        out.push('\n');
        for (heading, text) in entry.facts() {
            out += &hang(&format!("{:width$}{heading}: ", ""), &text);
            out.push('\n');
        }
    }
    out
}

/// One entry in full.
pub fn full(entry: &impl Entry) -> String {
    let mut out = hang("", &format!("{}: {}", entry.name(), entry.doc())) + "\n\n";
    for (heading, text) in entry.more() {
        out += &hang(&format!("{:11}", format!("{heading}:")), &text);
        out.push('\n');
    }
    let parameters = entry.parameters();
    if parameters.is_empty() {
        return out;
    }
    out.push('\n');
    let width = parameters.iter().map(|(name, _)| name.chars().count());
    let width = width.max().unwrap_or_default() + 2;
    for (name, doc) in parameters {
        for (i, line) in doc.lines().enumerate() {
            let head = if i == 0 { name.as_str() } else { "" };
            out += &hang(&format!("{head:width$}"), line);
            out.push('\n');
        }
    }
    out
}

/// A text behind a heading, wrapped to the terminal and indented under itself.
pub fn hang(heading: &str, text: &str) -> String {
    let indent = heading.chars().count();
    let width = usize::from(style().width).max(indent + 20);
    let mut out = heading.to_string();
    let mut column = indent;
    for (i, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if i > 0 && column + 1 + length > width {
            out += &format!("\n{:indent$}", "");
            column = indent;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += length;
    }
    out
}
