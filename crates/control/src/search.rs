//! SEARCH: slow start that ends when the data that arrives no longer doubles per round trip
//! [draft-chung-ccwg-search, version 3.1 of the authors' program `tcp_cubic_search3.1.c`].
//!
//! Time is divided into bins. With A(i) the bytes acknowledged up to the end of bin i, W the bins of a window and
//! n the latest bin:
//!
//! ```text
//! bin      search_window · (the first round-trip time) / W
//! curr     A(n) − A(n − W)
//! prev     the same one round-trip time earlier, between the ends of bins by linear interpolation
//! ends     (2·prev − curr) / (2·prev) ≥ search_threshold
//! ```
//!
//! Twice `prev` was sent, because slow start sends two bytes for each one that is acknowledged. Nothing is judged
//! before a window and a round trip have passed, or if the round-trip time is longer than the extra bins.

use crate::prelude::*;

/// The parts of a bin by which counts are interpolated, as in the authors' program.
const PARTS: f64 = 100.0;

/// The parameters of SEARCH.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// The length of a window, in first round-trip times.
    window: f64,
    /// W, the bins of a window.
    bins: u64,
    /// The bins that are kept beyond those of a window.
    extra: u64,
    threshold: f64,
    /// True if the end takes the data of the last two round trips off the window.
    rollback: bool,
}

impl Rule {
    pub fn new(values: &Values) -> Rule {
        Rule {
            window: values.number("search_window"),
            bins: values.integer("search_bins"),
            extra: values.integer("search_extra"),
            threshold: values.number("search_threshold"),
            rollback: values.flag("search_rollback"),
        }
    }
}

/// The state of a slow start.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    rule: Rule,
    /// The length of a bin. It is zero before the first sample.
    bin: Duration,
    /// The end of the bin after `last`.
    end: Time,
    /// The number of the latest complete bin.
    last: u64,
    /// A(i) of the latest bins, at i modulo their number.
    counts: Box<[u64]>,
    /// The bytes acknowledged.
    delivered: u64,
    /// The latest part of the expected data that is missing.
    missing: Option<f64>,
}

impl Search {
    pub fn new(rule: Rule) -> Search {
        Search {
            rule,
            bin: Duration::ZERO,
            end: Time::ZERO,
            last: 0,
            counts: vec![0; (rule.bins + rule.extra) as usize].into(),
            delivered: 0,
            missing: None,
        }
    }

    /// Counts acknowledged bytes.
    pub fn count(&mut self, bytes: Bytes) {
        self.delivered = self.delivered.saturating_add(bytes.get());
    }

    /// Takes an acknowledgement. Returns the bytes to take off the window if slow start is over.
    pub fn ends(&mut self, ack: &Acked, now: Time) -> Option<u64> {
        self.count(ack.bytes);
        let rtt = ack.rtt?;
        if self.bin.is_zero() {
            let bin = rtt.mul_f64(self.rule.window / self.rule.bins as f64);
            self.bin = bin.max(Duration::from_ps(1));
            self.begin(now);
            return None;
        }
        if now < self.end {
            return None;
        }
        if !ack.window_limited {
            // The application limits the data, so the path is not measured.
            self.delivered = ack.bytes.get();
            self.begin(now);
            return None;
        }
        self.fill(now);
        let missing = self.judge(rtt)?;
        self.missing = Some(missing);
        (missing >= self.rule.threshold).then(|| self.overshoot())
    }

    /// Begins again with the next acknowledgement.
    pub fn reset(&mut self) {
        *self = Search::new(self.rule);
    }

    /// The latest part of the expected data that is missing, or `None` before a first verdict.
    pub fn missing(&self) -> Option<f64> {
        self.missing
    }

    /// Makes the first bin end now.
    fn begin(&mut self, now: Time) {
        (self.last, self.end) = (0, now + self.bin);
        self.counts[0] = self.delivered;
    }

    /// Completes the bins up to now. Those without an acknowledgement have the count of the one before them.
    fn fill(&mut self, now: Time) {
        let passed = now.since(self.end).as_ps() / self.bin.as_ps() + 1;
        let (before, kept) = (self.at(self.last), self.counts.len() as u64);
        let next = self.last.saturating_add(passed);
        for i in next.saturating_sub(kept).max(self.last.saturating_add(1))..next {
            self.counts[(i % kept) as usize] = before;
        }
        self.counts[(next % kept) as usize] = self.delivered;
        self.last = next;
        self.end += self.bin * passed;
    }

    /// Returns the part of the expected data that is missing.
    fn judge(&self, rtt: Duration) -> Option<f64> {
        let (whole, rest) = (rtt.as_ps() / self.bin.as_ps(), rtt.as_ps() % self.bin.as_ps());
        let earlier = self.last.checked_sub(whole)?;
        if earlier < self.rule.bins || whole + 1 >= self.rule.extra {
            return None;
        }
        let curr = self.window(self.last, 0.0);
        let part = PARTS * rest as f64 / self.bin.as_ps() as f64;
        let prev = self.window(earlier, part.floor() / PARTS);
        (prev > 0.0).then(|| (2.0 * prev - curr) / (2.0 * prev))
    }

    /// Returns the bytes of the window that ends the part `before` of a bin before the end of bin i.
    fn window(&self, i: u64, before: f64) -> f64 {
        self.between(i, before) - self.between(i - self.rule.bins, before)
    }

    /// Returns the count at the part `before` of a bin before the end of bin i.
    fn between(&self, i: u64, before: f64) -> f64 {
        let count = self.at(i) as f64;
        let earlier = i.checked_sub(1).map_or(0, |i| self.at(i)) as f64;
        count - before * (count - earlier)
    }

    fn at(&self, i: u64) -> u64 {
        self.counts[(i % self.counts.len() as u64) as usize]
    }

    /// Returns the bytes to take off the window at the end: those of the last two of the first round-trip times.
    fn overshoot(&self) -> u64 {
        if !self.rule.rollback {
            return 0;
        }
        let trips = (2.0 * self.rule.bins as f64 / self.rule.window) as u64;
        let back = trips.min(self.last).min(self.counts.len() as u64 - 1);
        self.delivered.saturating_sub(self.at(self.last - back))
    }
}
