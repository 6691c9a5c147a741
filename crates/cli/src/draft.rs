//! Scenario files that the program writes.

use crate::fail::{Failure, unwritable};
use crate::output::{data, escaped, note};
use accord::report::show::count;
use accord::units::{Duration, Rate};
use accord::{Catalogue, File, files};
use std::fmt::{Display, Write as _};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The text of a scenario file in progress.
#[derive(Default)]
pub struct Draft {
    pub out: String,
}

/// A link of a draft.
pub struct Line {
    pub name: String,
    /// The nodes at its ends.
    pub ends: [String; 2],
    pub rate: Rate,
    /// The propagation delay.
    pub delay: Duration,
    /// The rate and the delay of the reverse direction.
    pub back: (Rate, Duration),
}

impl Draft {
    /// Adds a comment, one line per line of `text`.
    pub fn comment(&mut self, text: &str) {
        for line in text.lines() {
            let line = format!("# {line}");
            self.line(line.trim_end());
        }
    }

    /// Adds a line unchanged.
    pub fn line(&mut self, line: impl Display) {
        writeln!(self.out, "{line}").expect("a string takes all");
    }

    /// Adds an empty line and the heading of a table.
    pub fn table(&mut self, name: &str) {
        self.line(format_args!("\n[{name}]"));
    }

    /// Adds a key with a text, a quantity or a name.
    pub fn text(&mut self, key: &str, value: impl Display) {
        self.line(format_args!("{key} = {}", quote(&value.to_string())));
    }

    /// Adds the key for start times within a tenth of the run and a second, drawn per flow.
    pub fn start(&mut self, duration: Duration) {
        let latest = Duration::from_secs(1).min(Duration::from_ps(duration.as_ps() / 10));
        self.line(format_args!("start = {{ uniform = [\"0 s\", \"{latest}\"] }}"));
    }

    /// Adds the table of links, one line each, with the queue discipline if there is one, and with
    /// what differs in the reverse direction.
    pub fn links(&mut self, links: &[Line], queue: Option<&str>) {
        self.table("link");
        for link in links {
            let [from, to] = &link.ends;
            let (rate, delay) = (link.rate, link.delay);
            let mut more = String::new();
            if let Some(queue) = queue {
                more += &format!(", queue = {}", quote(queue));
            }
            let (back, slow) = link.back;
            let keys = [
                (back != rate, "rate", back.to_string()),
                (slow != delay, "delay", slow.to_string()),
            ];
            let keys: Vec<String> = (keys.iter().filter(|(differs, ..)| *differs))
                .map(|(_, key, value)| format!("{key} = \"{value}\""))
                .collect();
            if !keys.is_empty() {
                more += &format!(", reverse = {{ {} }}", keys.join(", "));
            }
            let name = key(&link.name);
            self.line(match more.is_empty() {
                true => format!("{name} = \"{from} - {to}, {rate}, {delay}\""),
                false => format!(
                    "{name} = {{ from = \"{from}\", to = \"{to}\", rate = \"{rate}\", delay = \"{delay}\"{more} }}",
                ),
            });
        }
    }
}

/// Returns a text as a TOML string.
pub fn quote(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// Returns a name as a TOML key.
fn key(name: &str) -> String {
    toml_edit::Key::new(name).to_string()
}

/// The destination of a draft.
pub struct Place<'a> {
    /// The file, or `None` for standard output.
    pub file: Option<&'a PathBuf>,
    /// True if an existing file may be replaced.
    pub force: bool,
}

impl Place<'_> {
    /// Fails if the file exists and may not be replaced. Call it before the work.
    pub fn check(&self) -> Result<(), Failure> {
        match self.file {
            Some(path) if path.exists() && !self.force => Err(taken(path)),
            _ => Ok(()),
        }
    }

    /// Checks that a draft is a valid scenario, writes it, and suggests commands for it.
    pub fn write(&self, text: &str, name: &str, catalogue: &Catalogue) -> Result<(), Failure> {
        let name = self.file.map_or(name.into(), |f| f.display().to_string());
        let points = File::parse(&name, text)?.points(catalogue, None)?;
        let Some(path) = self.file else {
            return Ok(data(escaped(text.trim_end()))?);
        };
        write_new(path, text.as_bytes(), self.force)?;
        let s = &points[0];
        note(format_args!(
            "{name}: {}, {}, {}\nnext: accord run {name}",
            count(s.nodes.len(), "node"),
            count(s.links.len() / 2, "link"),
            count(s.flows.len(), "flow"),
        ));
        Ok(())
    }
}

/// Writes a file, in place of an existing one only by `force`.
pub fn write_new(path: &Path, bytes: &[u8], force: bool) -> Result<(), Failure> {
    let written = if force { files::write(path, bytes) } else { files::write_new(path, bytes) };
    written.map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => taken(path),
        _ => unwritable(path)(e),
    })
}

fn taken(path: &Path) -> Failure {
    let message = format!("{} already exists", path.display());
    Failure::new(message).hint("choose another name with -o, or replace it with --force")
}
