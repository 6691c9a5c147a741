//! The faults of a run, each with its time and packet.

use accord::record::{Broken, Run};
use accord::report::Check;
use accord::scenario::{Across, Entity, Fold, Over, Scenario, Subject, Target};
use accord::units::Time;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// A fault of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The name of the expectation, or "" for a connection that broke.
    pub expectation: String,
    /// A sentence about the fault with its value, after the values of sweeps.
    pub text: String,
    /// The time at which it went wrong: the end of a connection, or the start of the first sample in the
    /// expectation's window that is outside of its bounds. `None` if no single sample is, or if samples
    /// cannot be compared with the bounds: those of sums, shares, quantiles and several flows as one.
    pub at: Option<Time>,
    /// The number of the first packet at or after that time in the capture, from 1, as Wireshark counts.
    pub packet: Option<u64>,
}

/// The failure of a test: its faults, the capture and the logs of stacks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Failed {
    /// The scenario.
    pub scenario: String,
    /// The faults, by run.
    pub faults: Vec<Fault>,
    /// The path of the capture of the first run with a fault, or why there is none.
    pub capture: Result<PathBuf, String>,
    /// The paths of the logs that the stacks wrote in the run of the capture, or why they could not be
    /// written.
    pub logs: Result<Vec<PathBuf>, String>,
    /// The time of the last packet in a capture that is full, at 256 MiB. `None` if it has all packets.
    pub capture_ends: Option<Time>,
    /// True if a second run was the same. Otherwise the stack is not repeatable, and the capture is of another run.
    pub is_repeatable: bool,
}

impl Fault {
    pub(crate) fn broken(scenario: &Scenario, broken: &Broken) -> Fault {
        Fault {
            expectation: String::new(),
            text: at_point(scenario) + &broken.text(scenario),
            at: Some(broken.at),
            packet: None,
        }
    }

    pub(crate) fn unmet(scenario: &Scenario, run: &Run, check: &Check) -> Fault {
        Fault {
            expectation: check.name.clone(),
            text: format!(
                "{}\"{}\", {}: {}",
                at_point(scenario),
                check.name,
                check.of,
                check.reason
            ),
            at: first_outside(scenario, run, check),
            packet: None,
        }
    }
}

/// Returns the values of sweeps as the beginning of a sentence, such as "at rate 10 Mbps: ".
fn at_point(scenario: &Scenario) -> String {
    let values: Vec<_> =
        scenario.point.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if values.is_empty() { String::new() } else { format!("at {}: ", values.join(", ")) }
}

/// Returns the start of the first sample outside of the bounds of a check.
fn first_outside(scenario: &Scenario, run: &Run, check: &Check) -> Option<Time> {
    let (least, most) = match check.target {
        Target::Value { value, tolerance } => {
            let part = tolerance * value.abs();
            (value - part, value + part)
        }
        Target::Range { min, max } => (min, max),
        Target::Beyond { .. } | Target::Engine { .. } => return None,
    };
    let expectation = &check.expectation;
    let is_of_samples = match expectation.over {
        Over::Mean => check.metric.fold() != Fold::Sum,
        Over::Min | Over::Max => true,
        Over::Variation | Over::Quantile(_) | Over::State(_) => false,
    };
    if !is_of_samples || expectation.across != Across::Each {
        return None;
    }
    let entity = match expectation.of {
        Subject::Flow(flow) => Entity::Flow(flow),
        Subject::Group(group) => {
            // The one that the check shows.
            let mut flows = scenario.groups.get(group)?.flows.clone();
            let is_shown =
                |flow: &usize| check.of.strip_prefix("flow ") == Some(&scenario.flows[*flow].name);
            Entity::Flow(flows.find(is_shown)?)
        }
        Subject::Link(link) => Entity::Link(link),
        Subject::Aggregate { .. } => return None,
    };
    let window = run.within(check.during);
    let values = run.series(check.metric, entity)?.values.get(window.clone())?;
    let outside = |v: &f64| v.is_finite() && !(least..=most).contains(v);
    let first = values.iter().position(outside)?;
    let sample = window.start + first;
    let before = sample.checked_sub(1).map_or(0.0, |before| run.time[before]);
    Some(Time::ZERO + accord::units::Duration::from_secs_f64(before))
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if let Some(at) = self.at
            && !self.expectation.is_empty()
        {
            write!(f, "; first outside of it from {:.6} s on", at.as_secs_f64())?;
        }
        match self.packet {
            Some(packet) => write!(f, " (packet {packet})"),
            None => Ok(()),
        }
    }
}

impl Display for Failed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "scenario {} failed", self.scenario)?;
        for fault in &self.faults {
            write!(f, "\n  {fault}")?;
        }
        match &self.capture {
            Ok(path) => write!(f, "\n  packets: {}", path.display())?,
            Err(why) => write!(f, "\n  no capture could be written: {why}")?,
        }
        if let Some(end) = self.capture_ends {
            write!(f, ": the capture ends at {:.6} s", end.as_secs_f64())?;
        }
        match &self.logs {
            Ok(paths) => {
                paths.iter().try_for_each(|path| write!(f, "\n  log: {}", path.display()))?
            }
            Err(why) => write!(f, "\n  the logs could not be written: {why}")?,
        }
        if !self.is_repeatable {
            f.write_str("\n  a second run differs, so the capture is of another run: the stack has state or random numbers that no seed reaches")?;
        }
        Ok(())
    }
}
