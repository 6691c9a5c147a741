//! Measurements during reading: flows by name, and damaged records.

use super::{Flow, Measured, Quantity, Sample};
use crate::error::ImportError;
use crate::limits;
use serde_json::Error;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of samples.
const SAMPLES: usize = 20_000_000;
/// The maximum number of flows.
const FLOWS: usize = 10_000;

/// The content read so far.
#[derive(Default)]
pub(super) struct Draft {
    pub measured: Measured,
    /// The flows by their names in the file.
    flows: BTreeMap<String, usize>,
    names: BTreeSet<String>,
    /// True if there are more flows than the maximum.
    too_many: bool,
    /// The number of damaged records, and the first error.
    damaged: usize,
    first: Option<ImportError>,
    /// A hint for a file without samples.
    pub hint: Option<&'static str>,
}

impl Draft {
    /// Returns the index of the flow of this name, which is created if necessary.
    pub fn flow(&mut self, name: &str) -> usize {
        match self.flows.get(name) {
            Some(&at) => at,
            None => self.new_flow(name),
        }
    }

    /// Creates a flow, to which the name refers from now on. A number distinguishes equal names.
    pub fn new_flow(&mut self, name: &str) -> usize {
        let at = self.measured.flows.len();
        if at == FLOWS {
            self.too_many = true;
            return at - 1;
        }
        let short = limits::cut(name, limits::FLOW_NAME);
        let numbered = (2..).map(|i| {
            let number = format!(" ({i})");
            limits::cut(name, limits::FLOW_NAME - number.len()).to_owned() + &number
        });
        let mut names = std::iter::once(short.to_owned()).chain(numbered);
        let unique = names.find(|n| self.names.insert(n.clone()));
        self.flows.insert(name.to_owned(), at);
        let name = unique.unwrap_or_default();
        self.measured.flows.push(Flow { name, samples: Vec::new(), payload: None });
        at
    }

    /// Returns true if a flow has samples of a quantity.
    pub fn has(&self, flow: usize, quantity: Quantity) -> bool {
        let samples = &self.measured.flows[flow].samples;
        samples.iter().any(|s| s.quantity == quantity)
    }

    /// Adds a sample.
    pub fn add(&mut self, flow: usize, time: f64, quantity: Quantity, value: f64) {
        self.measured.flows[flow].samples.push(Sample { time, quantity, value });
    }

    /// Notes the payload of a full packet of a flow, if it is known.
    pub fn payload(&mut self, flow: usize, payload: Option<f64>) {
        let known = &mut self.measured.flows[flow].payload;
        *known = payload.or(*known);
    }

    /// Notes that sizes of packets are those of payloads.
    pub fn bare(&mut self) {
        self.measured.bare = true;
        self.remark("Sizes are those of payloads: the log has no others.");
    }

    /// Adds a remark unless it already exists.
    pub fn remark(&mut self, text: impl Into<String>) {
        let (text, remarks) = (text.into(), &mut self.measured.remarks);
        if remarks.len() < limits::REMARKS && !remarks.contains(&text) {
            remarks.push(text);
        }
    }

    /// Counts a damaged record, which is skipped.
    pub fn damage(&mut self, error: impl FnOnce() -> ImportError) {
        self.damaged += 1;
        self.first.get_or_insert_with(error);
    }

    /// Counts a damaged record of JSON at an offset of a text.
    pub fn damaged_json(&mut self, text: &str, at: usize, error: &Error) {
        self.damage(|| {
            // The error counts lines from the record.
            let line = text[..at].matches('\n').count() + error.line().max(1);
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or(&why);
            ImportError::at(line, format!("invalid JSON: {why}"))
        });
    }

    /// Counts times from the first sample, removes flows without samples, and adds remarks on
    /// missing quantities.
    pub fn finish(mut self, promised: &[Quantity]) -> Result<Measured, ImportError> {
        if self.too_many {
            return Err(ImportError::whole(format!("there are more than {FLOWS} flows")));
        }
        let flows = &mut self.measured.flows;
        let count: usize = flows.iter().map(|f| f.samples.len()).sum();
        if count > SAMPLES {
            let message = format!("there are {count} samples; at most {SAMPLES} are read");
            return Err(ImportError::whole(message));
        }
        flows.retain(|f| !f.samples.is_empty());
        let all = flows.iter().flat_map(|f| &f.samples);
        let first = all.map(|s| s.time).fold(f64::INFINITY, f64::min);
        if !first.is_finite() {
            let none = || {
                let none = ImportError::whole("there is no sample of any flow");
                self.hint.into_iter().fold(none, ImportError::hint)
            };
            return Err(self.first.unwrap_or_else(none));
        }
        for flow in flows.iter_mut() {
            for sample in &mut flow.samples {
                sample.time -= first;
            }
            flow.samples.sort_by(|a, b| a.time.total_cmp(&b.time));
        }
        if let Some(first) = self.first.take() {
            let (count, place) = (self.damaged, first.to_string());
            self.remark(format!("Damaged records, left out: {count}. The first: {place}."));
        }
        self.remark_missing(promised);
        Ok(self.measured)
    }

    /// Adds remarks on quantities that no flow has, or that some flows lack.
    fn remark_missing(&mut self, promised: &[Quantity]) {
        let flows = &self.measured.flows;
        let (mut nowhere, mut somewhere) = (Vec::new(), Vec::new());
        for &quantity in promised {
            let has = |flow: &&Flow| flow.samples.iter().any(|s| s.quantity == quantity);
            match flows.iter().filter(has).count() {
                0 => nowhere.push(quantity.name().to_owned()),
                n if n < flows.len() => {
                    let missing = flows.len() - n;
                    somewhere.push(format!("{} ({missing})", quantity.name()));
                }
                _ => {}
            }
        }
        for (what, list) in [
            ("without data in the file", nowhere),
            ("missing for some flows, with their number", somewhere),
        ] {
            if !list.is_empty() {
                self.remark(format!("Series {what}: {}.", list.join(", ")));
            }
        }
    }
}
