//! The connections under control.

use crate::connection::Connection;
use crate::report::{CLOSED, Decision, Report};
use accord_family::Values;
use hdrhistogram::Histogram;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The longest age of a decision that is told from longer ones, in nanoseconds.
const LONGEST_AGE: u64 = 60_000_000_000;

/// A connection of the book.
#[derive(Debug)]
pub struct Entry {
    /// The number of the connection.
    pub generation: u32,
    /// The latest report.
    pub last: Report,
    /// The connection with its controller, which is as it was left if it failed. There is none if it could
    /// not be made.
    pub connection: Option<Connection>,
    /// The reason why the controller is not asked any more, if there is one.
    pub failed: Option<String>,
    /// The ages of the connection's decisions when they were written, the latest and the greatest, in
    /// nanoseconds.
    pub age_ns: (u64, u64),
}

/// The connections by their slots, and counts of their reports.
#[derive(Debug)]
pub struct Book {
    values: Values,
    entries: Vec<Option<Entry>>,
    /// The connections since the start.
    pub connections: u64,
    /// The connections whose controller failed.
    pub failed: u64,
    /// The reports that were heard.
    pub reports: u64,
    /// The ages of decisions when they were written, in nanoseconds.
    pub ages: Histogram<u64>,
}

impl Book {
    /// Creates a book whose connections have the controller that `values` describes.
    pub fn new(values: Values) -> Book {
        let ages = Histogram::new_with_bounds(1, LONGEST_AGE, 2);
        Book {
            values,
            entries: Vec::new(),
            connections: 0,
            failed: 0,
            reports: 0,
            ages: ages.expect("the bounds are sound"),
        }
    }

    /// The connections, by slot.
    pub fn entries(&self) -> impl Iterator<Item = (u32, &Entry)> {
        let entries = (0..).zip(&self.entries);
        entries.filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)))
    }

    /// Tells the controller of the report's connection, and returns its decision. There is none
    /// for a connection that is closed, or whose controller failed.
    pub fn hear(&mut self, report: &Report) -> Option<Decision> {
        self.reports += 1;
        let place = report.slot as usize;
        if self.entries.len() <= place {
            self.entries.resize_with(place + 1, || None);
        }
        let slot = &mut self.entries[place];
        if report.is(CLOSED) {
            // The slot may have another connection already.
            slot.take_if(|entry| entry.generation == report.generation);
            return None;
        }
        if (slot.as_ref()).is_none_or(|entry| entry.generation != report.generation) {
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
        // A controller that panics is never used again, whatever state it is in.
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
                self.failed += 1;
                None
            }
        }
    }

    /// Notes that the decision on the connection in a slot was written at an age.
    pub fn written(&mut self, slot: u32, age_ns: u64) {
        self.ages.saturating_record(age_ns);
        if let Some(Some(entry)) = self.entries.get_mut(slot as usize) {
            entry.age_ns = (age_ns, entry.age_ns.1.max(age_ns));
        }
    }
}
