//! The fairness of rates, from sample to sample: of the flows of a group, and of the aggregates on
//! a link [Ple03 eq. 2].

use accord_scenario::{Change, LinkId, Scenario};
use accord_units::Time;
use std::ops::Range;

/// Returns the weighted fairness index [Ple03 eq. 2] of rates with their shares. With n rates x and shares w
/// it is (Σ x/w)² / (n·Σ (x/w)²). It is 1 if all x/w are equal, and 1/n if all but one are zero. It is NaN if
/// there are no rates or all are zero.
pub fn fairness_index(rates: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (rate, share) in rates {
        let x = rate / share;
        n += 1.0;
        sum += x;
        squares += x * x;
    }
    sum * sum / (n * squares)
}

/// The product of links and aggregates beyond which links have no index.
const MOST: usize = 1 << 20;

/// The groups and links for which an index is recorded.
#[derive(Clone, Debug)]
pub(crate) struct Fairness {
    /// The groups of two flows or more.
    groups: Vec<(usize, Range<usize>)>,
    shares: Vec<f64>,
    aggregate_of: Vec<usize>,
    aggregates: usize,
    /// The places of recorded links by their number in the scenario, if links have an index.
    places: Vec<Option<usize>>,
    /// The paths of the flows, and their coming changes.
    paths: Vec<Vec<LinkId>>,
    changes: Vec<(Time, usize, Vec<LinkId>)>,
    /// The rate and the share of each aggregate on each recorded link.
    loads: Vec<(f64, f64)>,
}

impl Fairness {
    /// Creates the indices for the recorded links.
    pub fn new(scenario: &Scenario, recorded: &[LinkId]) -> Fairness {
        let aggregates = scenario.aggregates.len();
        let looks = aggregates > 1 && recorded.len() * aggregates <= MOST;
        let mut places = vec![None; scenario.links.len()];
        let mut paths = Vec::new();
        let mut changes = Vec::new();
        if looks {
            for (place, &link) in recorded.iter().enumerate() {
                places[link] = Some(place);
            }
            paths = scenario.flows.iter().map(|f| f.path.clone()).collect();
            // The latest change comes first, so the next one is at the end.
            let routes = scenario.events.iter().rev();
            changes.extend(routes.filter_map(|e| match &e.change {
                Change::Route { flow, path, .. } => Some((e.at, *flow, path.clone())),
                _ => None,
            }));
        }
        let groups = scenario.groups.iter().enumerate();
        Fairness {
            groups: groups
                .filter(|(_, g)| g.flows.len() > 1)
                .map(|(i, g)| (i, g.flows.clone()))
                .collect(),
            shares: scenario.flows.iter().map(|f| f.share).collect(),
            aggregate_of: scenario.flows.iter().map(|f| f.aggregate).collect(),
            aggregates,
            places,
            paths,
            changes,
            loads: if looks { vec![(0.0, 0.0); recorded.len() * aggregates] } else { Vec::new() },
        }
    }

    /// Returns the groups that have an index.
    pub fn groups(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().map(|(group, _)| *group)
    }

    /// Returns whether links have an index.
    pub fn is_of_links(&self) -> bool {
        !self.loads.is_empty()
    }

    /// Takes the flows' rates since the last sample, which are NaN for inactive flows. Returns the
    /// indices of the groups.
    pub fn sample(&mut self, now: Time, rates: &[f64]) -> impl Iterator<Item = f64> {
        while self.changes.last().is_some_and(|(at, ..)| *at < now)
            && let Some((_, flow, path)) = self.changes.pop()
        {
            self.paths[flow] = path;
        }
        self.loads.fill((0.0, 0.0));
        for (flow, path) in self.paths.iter().enumerate() {
            if rates[flow].is_nan() {
                continue;
            }
            for place in path.iter().filter_map(|&link| self.places[link]) {
                let load = &mut self.loads[place * self.aggregates + self.aggregate_of[flow]];
                load.0 += rates[flow];
                load.1 += self.shares[flow];
            }
        }
        self.groups.iter().map(|(_, flows)| {
            let all = flows.clone().map(|f| (rates[f], self.shares[f]));
            fairness_index(all.filter(|(rate, _)| !rate.is_nan()))
        })
    }

    /// Returns the index of the aggregates that have flows on the recorded link at this place.
    pub fn of_link(&self, place: usize) -> f64 {
        let loads = &self.loads[place * self.aggregates..][..self.aggregates];
        let there = loads.iter().copied().filter(|(_, share)| *share > 0.0);
        match there.clone().count() {
            0 | 1 => f64::NAN,
            _ => fairness_index(there),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fairness_index;

    #[test]
    fn the_index_is_jain_s_where_shares_are_equal() {
        let of = |rates: &[f64]| fairness_index(rates.iter().map(|&x| (x, 3.0)));
        assert_eq!(of(&[5.0, 5.0, 5.0]), 1.0);
        assert!((of(&[1.0, 0.0, 0.0, 0.0]) - 0.25).abs() < 1e-12);
        // The rates 1 : 2 : 3 : 4 are Jain's example.
        assert!((of(&[1.0, 2.0, 3.0, 4.0]) - 100.0 / 120.0).abs() < 1e-12);
        assert!(of(&[0.0, 0.0]).is_nan() && of(&[]).is_nan());
    }

    #[test]
    fn shares_say_what_is_fair() {
        let index = fairness_index([(30.0, 0.3), (70.0, 0.7)]);
        assert!((index - 1.0).abs() < 1e-12);
        // The x/w are 3 and 1, so the index is 16/20.
        let index = fairness_index([(90.0, 30.0), (70.0, 70.0)]);
        assert!((index - 0.8).abs() < 1e-12, "{index}");
    }
}
