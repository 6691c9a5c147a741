//! The text of scenario files.

use accord_units::{Duration, Rate};
use std::fmt::{Display, Write as _};

/// The text of a scenario file under construction.
#[derive(Default)]
pub struct Draft {
    /// The text so far.
    pub out: String,
}

/// A link of a draft.
pub struct Line {
    /// The name.
    pub name: String,
    /// The nodes at its ends.
    pub ends: [String; 2],
    /// The rate.
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

    /// Adds the key for start times, drawn per flow within the first tenth of the run, or within the first
    /// second if that is shorter.
    pub fn start(&mut self, duration: Duration) {
        let latest = Duration::from_secs(1).min(Duration::from_ps(duration.as_ps() / 10));
        self.line(format_args!("start = {{ uniform = [\"0 s\", \"{latest}\"] }}"));
    }

    /// Adds the table of links, one line each, with the queue discipline, if any, and the
    /// differences in the reverse direction.
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
    toml::Value::from(text).to_string()
}

/// Returns a name as a TOML key.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(bare) { name.to_string() } else { quote(name) }
}
