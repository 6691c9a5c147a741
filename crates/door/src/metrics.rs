//! The text format of Prometheus.

use std::fmt::Write;

/// A text of metrics whose names have a common prefix.
#[derive(Clone, Debug)]
pub struct Metrics {
    prefix: &'static str,
    text: String,
}

impl Metrics {
    /// Creates an empty text.
    pub fn new(prefix: &'static str) -> Metrics {
        let text = String::new();
        Metrics { prefix, text }
    }

    /// Adds a metric: its name after the prefix, its type, its description, and its samples with
    /// their labels.
    pub fn family(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) {
        let (prefix, text) = (self.prefix, &mut self.text);
        let _ = writeln!(text, "# HELP {prefix}_{name} {help}");
        let _ = writeln!(text, "# TYPE {prefix}_{name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(text, "{prefix}_{name}{labels} {value}");
        }
    }

    /// Returns the text.
    pub fn text(self) -> String {
        self.text
    }
}
