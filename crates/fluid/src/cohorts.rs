//! Flows of a crowd that go together though they are not quite alike.
//!
//! Each start and each round trip would make a class of its own, and a class costs as much as the packets
//! of a flow. Those of a group that are near in both are one class, at the means of its flows.

use accord_scenario::Scenario;
use accord_units::{Duration, Time};

/// The classes that the flows of a group make over a path at most.
pub(crate) const CLASSES: usize = 64;

/// The starts that flows of a group have together, if theirs differ.
const COHORTS: u64 = 16;

/// Returns a start for each flow. Where the flows of a group start at many times, those that start
/// about together start at the mean of their times: each time would make a class of its own.
pub(crate) fn starts(s: &Scenario) -> Vec<Time> {
    let mut starts: Vec<Time> = s.flows.iter().map(|f| f.start).collect();
    for group in &s.groups {
        let starts = &mut starts[group.flows.clone()];
        let (Some(&first), Some(&last)) = (starts.iter().min(), starts.iter().max()) else {
            continue;
        };
        let span = last.since(first).as_ps() / COHORTS + 1;
        let cohort = |start: Time| (start.since(first).as_ps() / span) as usize;
        let mut sums = [(0u128, 0u128); COHORTS as usize];
        for &start in starts.iter() {
            let sum = &mut sums[cohort(start)];
            *sum = (sum.0 + u128::from(start.since(first).as_ps()), sum.1 + 1);
        }
        for start in starts {
            let (sum, count) = sums[cohort(*start)];
            *start = first + Duration::from_ps((sum / count) as u64);
        }
    }
    starts
}

/// Round trips are alike whose ratio is no larger.
const ALIKE: f64 = 1.0 + 1e-9;

/// Cuts sorted round trips into at most so many parts of near ones.
///
/// The widest part is halved, by its ratio, as long as there may be one more. So no part is much wider than
/// need be, however the round trips are spread, and few that differ have a part each.
///
/// A class has the harmonic mean of its flows' round trips, at which they get what they do in the mean if rates
/// go by 1/rtt (NewReno); if they do by a smaller power of it (CUBIC), or do not (Monaco, Vegas), any mean will
/// do: over a part of the width δ the means differ by δ²/12.
pub(crate) fn near(delays: &[f64], most: usize) -> Vec<&[f64]> {
    let mut parts = vec![delays];
    let width = |part: &[f64]| part[part.len() - 1] / part[0];
    while parts.len() < most {
        let widths = parts.iter().map(|part| width(part)).enumerate();
        let widest = widths.max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((widest, ratio)) = widest.filter(|(_, ratio)| *ratio > ALIKE) else {
            break;
        };
        let part = parts[widest];
        let middle = part[0] * ratio.sqrt();
        let (low, high) = part.split_at(part.partition_point(|&delay| delay < middle));
        parts[widest] = low;
        parts.insert(widest + 1, high);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_round_trips_have_a_part_each() {
        let delays = [0.1, 0.1, 0.1001, 0.5, 7.0, 7.0];
        let parts: Vec<&[f64]> = vec![&[0.1, 0.1], &[0.1001], &[0.5], &[7.0, 7.0]];
        assert_eq!(near(&delays, 4), parts);
        assert_eq!(near(&delays, 64), parts);
        assert_eq!(near(&delays, 1), [&delays]);
    }

    /// Round trips from 0.05 to 0.8 s in 16 parts: 4 octaves, so that each is a quarter of one wide.
    #[test]
    fn parts_are_equally_wide() {
        let delays: Vec<f64> = (0..=1000).map(|i| 0.05 + 0.75e-3 * f64::from(i)).collect();
        let parts = near(&delays, 16);
        assert_eq!(parts.len(), 16);
        assert_eq!(parts.concat(), delays);
        let quarter = f64::powf(2.0, 0.25);
        for part in parts {
            assert!(
                part[part.len() - 1] / part[0] <= quarter * 1.001,
                "{part:?}"
            );
        }
    }
}
