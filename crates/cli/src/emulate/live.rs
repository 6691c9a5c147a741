//! `--live`: a line per second while an emulation runs.

use crate::output::note;
use crate::progress::Observing;
use accord::live::Way;
use accord::record::{Interrupted, Observer, Series};
use accord::report::show::quantity;
use accord::scenario::{Entity, Metric, Scenario};
use accord::units::{Duration, Time};
use std::collections::BTreeSet;

/// The width of a bar, in characters.
const WIDTH: f64 = 10.0;
/// The parts of a character that a bar fills.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// An observer that prints the rates and the queues of the last second.
pub struct Live<'a> {
    inner: Observing<'a>,
    scenario: &'a Scenario,
    ways: &'a [Way],
    reached: Time,
    shown: Time,
    asked: bool,
}

impl<'a> Live<'a> {
    /// Creates an observer that shows lines if they are `asked` for.
    pub fn new(
        inner: Observing<'a>,
        scenario: &'a Scenario,
        ways: &'a [Way],
        asked: bool,
    ) -> Live<'a> {
        Live { inner, scenario, ways, reached: Time::ZERO, shown: Time::ZERO, asked }
    }

    /// Returns the text of the ways from the first end, or back to it, over the last samples.
    fn text(&self, back: bool, series: &[Series], samples: usize) -> String {
        let mean = |entity: Entity, metric: Metric| {
            let found = series.iter().find(|s| s.entity == entity && s.metric == metric);
            let values =
                found.map_or(&[][..], |s| &s.values[s.values.len().saturating_sub(samples)..]);
            let sum: f64 = values.iter().filter(|v| v.is_finite()).sum();
            sum / values.len().max(1) as f64
        };
        let ways = self.ways.iter().filter(|way| if back { way.to == 0 } else { way.from == 0 });
        let flows: Vec<usize> = ways.flat_map(|way| way.flows.iter().copied()).collect();
        let rate: f64 = flows.iter().map(|f| mean(Entity::Flow(*f), Metric::Throughput)).sum();
        let path: BTreeSet<_> =
            flows.iter().flat_map(|f| self.scenario.flows[*f].path.iter()).collect();
        let backlog: f64 = path.iter().map(|l| mean(Entity::Link(**l), Metric::Backlog)).sum();
        let line = path.iter().map(|l| self.scenario.links[**l].rate.as_bps()).min().unwrap_or(1);
        format!(
            "{} {:>10} {} {:>8} queued",
            if back { "back" } else { "there" },
            quantity(rate, Metric::Throughput.unit()),
            bar(rate / line as f64),
            quantity(backlog, Metric::Backlog.unit())
        )
    }
}

/// Returns a bar that fills a share of its width.
fn bar(share: f64) -> String {
    let eighths = (share.clamp(0.0, 1.0) * WIDTH * 8.0).round() as usize;
    let filled = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    format!("{filled:<width$}", width = WIDTH as usize)
}

impl Observer for Live<'_> {
    fn progress(&mut self, now: Time) -> Result<(), Interrupted> {
        self.reached = now;
        self.inner.progress(now)
    }

    fn wants_record(&mut self) -> bool {
        self.asked && self.reached.since(self.shown) >= Duration::from_secs(1)
    }

    fn recorded(&mut self, time: Vec<f64>, series: Vec<Series>) {
        let since = self.shown.as_secs_f64();
        let samples = time.iter().filter(|t| **t > since).count();
        self.shown = self.reached;
        let [there, back] = [false, true].map(|back| self.text(back, &series, samples));
        note(format_args!("{:>6.0} s  {there}  {back}", self.reached.as_secs_f64()));
    }

    fn wants_packets(&self) -> bool {
        self.inner.wants_packets()
    }

    fn packets(&mut self, bytes: &[u8]) {
        self.inner.packets(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(bar(0.0), "          ");
        assert_eq!(bar(0.55), "█████▌    ");
        assert_eq!(bar(7.0), "██████████");
    }
}
