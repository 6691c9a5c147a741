//! Merging of similar flows of a crowd into classes.
//!
//! A class per start time and per round-trip time would cost as much as simulating the packets of
//! each flow. So flows of a group with similar starts and round-trip times form one class, at their
//! means.

use accord_scenario::Scenario;
use accord_units::{Duration, Time};

/// The maximum number of classes of a group on one path.
pub(crate) const CLASSES: usize = 64;

/// The number of distinct start times of a group whose flows start at different times.
const COHORTS: u64 = 16;

/// Returns a start time for each flow. In a group with many start times, flows that start close
/// together start at their mean time, since each distinct time needs a class.
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

/// The largest ratio of round-trip times that count as equal.
const ALIKE: f64 = 1.0 + 1e-9;

/// Partitions sorted round-trip times into at most `most` intervals.
///
/// The interval with the largest ratio is halved until there are `most`. So no interval is much
/// wider than necessary for any distribution of round-trip times, and a few distinct values keep an
/// interval each.
///
/// A class has the harmonic mean of its flows' round-trip times. If rates are proportional to 1/rtt
/// (NewReno), this gives the flows their mean rate. If rates follow a smaller power of 1/rtt
/// (CUBIC) or are independent of it (Monaco, Vegas), any mean suffices: over an interval of
/// relative width δ the means differ by δ²/12.
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

    /// Round-trip times from 0.05 to 0.8 s in 16 intervals: 4 octaves, so that each interval is a
    /// quarter of an octave.
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
