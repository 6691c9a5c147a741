//! The connections under control.

use crate::connection::Connection;
use crate::report::{CLOSED, Decision, Report};
use accord_family::Values;
use hdrhistogram::Histogram;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tracing::{debug, warn};

/// The largest age of a decision in the histogram, in nanoseconds.
const LONGEST_AGE: u64 = 60_000_000_000;

/// A connection.
#[derive(Debug)]
pub struct Entry {
    /// The generation of the connection in its slot.
    pub generation: u32,
    /// The latest report.
    pub last: Report,
    /// The connection with its controller, in its last state if that failed. It is `None` if it could not be
    /// created.
    pub connection: Option<Connection>,
    /// The reason why the controller is no longer used, if there is one.
    pub failed: Option<String>,
    /// The latest and the maximum age of the connection's decisions at the time of writing, in nanoseconds.
    pub age_ns: (u64, u64),
}

/// The connections by slot, and counters of their reports.
#[derive(Debug)]
pub struct Registry {
    values: Values,
    entries: Vec<Option<Entry>>,
    /// The number of connections since the start.
    pub connections: u64,
    /// The number of connections whose controller failed.
    pub failed: u64,
    /// The reason of the latest failure.
    pub failure: Option<String>,
    /// The number of reports received.
    pub reports: u64,
    /// The ages of decisions at the time of writing, in nanoseconds.
    pub ages: Histogram<u64>,
}

impl Registry {
    /// Creates an empty registry of connections with the controller that `values` describes.
    pub fn new(values: Values) -> Registry {
        let ages = Histogram::new_with_bounds(1, LONGEST_AGE, 2);
        Registry {
            values,
            entries: Vec::new(),
            connections: 0,
            failed: 0,
            failure: None,
            reports: 0,
            ages: ages.expect("the bounds are sound"),
        }
    }

    /// The connections, by slot.
    pub fn entries(&self) -> impl Iterator<Item = (u32, &Entry)> {
        let entries = (0..).zip(&self.entries);
        entries.filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)))
    }

    /// Passes a report to the controller of its connection, and returns the decision. There is no decision
    /// for a connection that is closed or whose controller failed.
    pub fn hear(&mut self, report: &Report) -> Option<Decision> {
        self.reports += 1;
        let place = report.slot as usize;
        if self.entries.len() <= place {
            self.entries.resize_with(place + 1, || None);
        }
        let slot = &mut self.entries[place];
        if report.is(CLOSED) {
            // The slot may already have another connection.
            if slot.take_if(|entry| entry.generation == report.generation).is_some() {
                debug!(event = "close", slot = report.slot);
            }
            return None;
        }
        if (slot.as_ref()).is_none_or(|entry| entry.generation != report.generation) {
            debug!(event = "open", slot = report.slot);
            self.connections += 1;
            *slot = Some(Entry {
                generation: report.generation,
                last: *report,
                connection: None,
                failed: None,
                age_ns: (0, 0),
            });
        }
        let entry = slot.as_mut().expect("it was made");
        entry.last = *report;
        if entry.failed.is_some() {
            return None;
        }
        // A controller that panicked is never used again.
        let (connection, values) = (&mut entry.connection, &self.values);
        let heard = catch_unwind(AssertUnwindSafe(|| {
            let connection = connection.get_or_insert_with(|| Connection::new(values, report));
            connection.hear(report)
        }));
        match heard {
            Ok(decision) => Some(decision),
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|s| s.to_string());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
                entry.failed = Some(text.unwrap_or("the controller panicked".into()));
                warn!(event = "failed", slot = report.slot, because = entry.failed);
                self.failure.clone_from(&entry.failed);
                self.failed += 1;
                None
            }
        }
    }

    /// Records the age of the decision for the connection in a slot.
    pub fn written(&mut self, slot: u32, age_ns: u64) {
        self.ages.saturating_record(age_ns);
        if let Some(Some(entry)) = self.entries.get_mut(slot as usize) {
            entry.age_ns = (age_ns, entry.age_ns.1.max(age_ns));
        }
    }
}
