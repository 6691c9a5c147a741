//! The announcement of a cost.

use super::Cost;
use super::memory::{available, left_by_limit};
use crate::fail::Failure;
use crate::output::note;
use crate::results::listed;
use accord::units::Bytes;

/// The duration from which `accord run` announces its cost, in seconds.
const LONG: f64 = 60.0;
const LARGE: f64 = 2e9;

impl Cost {
    /// Returns the cost as text.
    pub fn text(&self) -> String {
        let runs = match self.runs {
            1 => "1 run".into(),
            n => format!("{n} runs"),
        };
        let mut text = format!(
            "{runs} in {}: about {}, {} of memory and {} of files",
            listed(&self.engines),
            time(self.seconds),
            bytes(self.memory_bytes),
            bytes(self.file_bytes),
        );
        if self.packet_hops >= 1e6 {
            text += &format!("; {:.0} million packet-hops", self.packet_hops / 1e6);
        }
        text
    }

    /// Returns the time of one core as text, for `runs` runs if this is the cost of [`Cost::runs`].
    pub fn core_time(&self, runs: usize) -> String {
        time(self.core_seconds * runs as f64 / self.runs.max(1) as f64)
    }

    /// Announces a large cost before a run. Fails if the estimate exceeds the budget, which is the
    /// available memory by default.
    pub fn announce(&self, budget: Option<Bytes>, quiet: bool) -> Result<(), Failure> {
        let (most, whose) = match budget {
            Some(budget) => (Some(budget.get() as f64), "--memory allows"),
            None => match (available(), left_by_limit()) {
                (machine, Some(limit)) if machine.is_none_or(|machine| limit < machine) => {
                    (Some(limit), "ulimit -v leaves")
                }
                (machine, _) => (machine, "this machine has"),
            },
        };
        if let Some(most) = most.filter(|most| self.memory_bytes > *most) {
            let left = if whose == "this machine has" { " left" } else { "" };
            return Err(Failure::Unable(format!(
                "{whose} {} of memory{left}, and the run takes about {}: {}; fewer flows, points or \
                 --reps take less, and --memory sets another budget",
                bytes(most),
                bytes(self.memory_bytes),
                self.text(),
            )));
        }
        if !quiet && (self.seconds > LONG || self.memory_bytes > LARGE) {
            note(format_args!("{}; Ctrl-C ends it", self.text()));
        }
        Ok(())
    }
}

/// Formats a time with one or two digits, the accuracy of an estimate.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".into(),
        s if s < 100.0 => format!("{} s", two(s)),
        s if s < 6000.0 => format!("{} min", two(s / 60.0)),
        s if s < 360_000.0 => format!("{} h", two(s / 3600.0)),
        s => format!("{} days", two(s / 86_400.0)),
    }
}

fn bytes(bytes: f64) -> String {
    match bytes {
        b if b < 1e6 => "less than 1 MB".into(),
        b if b < 1e9 => format!("{} MB", two(b / 1e6)),
        b if b < 1e12 => format!("{} GB", two(b / 1e9)),
        b => format!("{} TB", two(b / 1e12)),
    }
}

/// Formats a number with two digits.
fn two(x: f64) -> String {
    match x {
        x if x < 9.95 => format!("{x:.1}"),
        x if x < 99.5 => format!("{x:.0}"),
        x => {
            let step = 10f64.powf(x.log10().floor() - 1.0);
            format!("{:.0}", (x / step).round() * step)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_have_two_digits() {
        let times = [0.1, 1.234, 59.9, 150.0, 7200.0, 1e6];
        let expected = ["a second", "1.2 s", "60 s", "2.5 min", "2.0 h", "12 days"];
        assert_eq!(times.map(time), expected);
        let sizes = [1.0, 12.34e6, 345.6e6, 11e9, 2.2e13];
        let expected = ["less than 1 MB", "12 MB", "350 MB", "11 GB", "22 TB"];
        assert_eq!(sizes.map(bytes), expected);
    }
}
