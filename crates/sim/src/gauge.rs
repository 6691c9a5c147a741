//! The readings of ports of any form.

use crate::pipe::Pipe;
use accord_aqm::AnyAqm;
use accord_elements as elements;
use accord_port::{Area, Count, Counters, Timeline};
use accord_record::LinkReading;
use accord_scenario::LinkId;
use accord_units::Time;

/// The readings of a port.
pub trait Gauge {
    /// Updates the counters and the backlog to `now`.
    fn advance(&mut self, _now: Time) {}

    /// The counters so far. A pipe counts up to the end of the run.
    fn counters(&self) -> Counters;

    /// The packets and bytes in the port, including control packets. For a pipe they are as of the
    /// end of the run.
    fn held(&self) -> Count;

    /// The bytes sent by `now`, the time of the last [`Gauge::advance`]. For a pipe they are as of
    /// the end of the run.
    fn sent(&self, now: Time) -> f64;

    /// The integral, up to `now`, of the backlog that the discipline governs. `now` is the time of
    /// the last [`Gauge::advance`]. The integral is zero for a pipe.
    fn area(&self, _now: Time) -> Area {
        Area::default()
    }

    /// Returns the largest backlog in packets and in bytes since the last call. It is zero for a
    /// pipe.
    fn take_longest(&mut self) -> Count {
        Count::default()
    }

    /// The queue discipline, unless the form of the port implies droptail.
    fn aqm(&self) -> Option<&AnyAqm> {
        None
    }
}

/// The links of an engine, for readings.
pub trait Links {
    /// Counts the arrivals before `until` at ports that count packets in batches.
    fn settle(&mut self, _until: Time) {}

    /// The port of a link.
    fn port(&mut self, link: LinkId) -> &mut dyn Gauge;

    /// Reads a link at `now`.
    fn read(&mut self, link: LinkId, now: Time) -> LinkReading {
        let port = self.port(link);
        port.advance(now);
        debug_assert!(balances(port), "link {link} at {now}: the counters do not balance");
        let longest = port.take_longest();
        elements::read_link(
            &port.counters(),
            port.sent(now),
            port.area(now),
            longest,
            port.aqm(),
            now,
        )
    }
}

/// Returns true if all offered packets were served, were dropped or are held.
fn balances(port: &dyn Gauge) -> bool {
    let counters = port.counters();
    counters.offered == counters.served + counters.dropped() + port.held()
}

/// Returns the counters of a port without a limit.
pub fn passed(served: Count, held: Count) -> Counters {
    Counters { offered: served + held, served, ..Counters::default() }
}

impl Gauge for Timeline {
    fn advance(&mut self, now: Time) {
        self.advance(now);
    }

    fn counters(&self) -> Counters {
        self.counters()
    }

    fn held(&self) -> Count {
        let (packets, bytes) = self.backlog();
        let bytes = bytes.get();
        Count { packets, bytes }
    }

    fn sent(&self, now: Time) -> f64 {
        self.sent(now)
    }

    fn area(&self, now: Time) -> Area {
        self.area(now)
    }

    fn take_longest(&mut self) -> Count {
        self.take_longest()
    }

    fn aqm(&self) -> Option<&AnyAqm> {
        Some(self.aqm())
    }
}

impl Gauge for Pipe {
    fn counters(&self) -> Counters {
        passed(self.served, self.held())
    }

    fn held(&self) -> Count {
        self.held()
    }

    fn sent(&self, _now: Time) -> f64 {
        self.served.bytes as f64
    }
}
