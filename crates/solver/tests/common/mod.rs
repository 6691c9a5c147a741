//! Random problems, the same for tests, benchmarks and examples.

#![allow(dead_code, reason = "each of its users needs another part")]

use accord_solver::{Demand, Problem, Routes};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers that only its seed decides.
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [from, to).
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.unit()
    }

    /// Uniform in 0..count.
    pub fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    /// Poisson with a small mean.
    pub fn poisson(&mut self, mean: f64) -> usize {
        let (mut count, mut product, limit) = (0, self.unit(), (-mean).exp());
        while product > limit {
            count += 1;
            product *= self.unit();
        }
        count
    }

    /// A path over `hops` different links out of `links`.
    pub fn path(&mut self, links: usize, hops: usize) -> Vec<u32> {
        let mut path = Vec::with_capacity(hops);
        while path.len() < hops.min(links) {
            let link = self.below(links) as u32;
            if !path.contains(&link) {
                path.push(link);
            }
        }
        path
    }
}

/// `flows` flows with weights 0.5 to 2 over 3 to 8 of `links` links of capacity 1 to 10.
pub fn random_problem(seed: u64, flows: usize, links: usize) -> Problem {
    random_network(seed, flows, links, |random| 3 + random.below(6))
}

/// Like [`random_problem`], with demands of all kinds, feasible.
pub fn mixed_problem(seed: u64, flows: usize, links: usize) -> Problem {
    let problem = random_problem(seed, flows, links);
    let mut random = Random::new(seed + 1);
    let demands = (0..flows).map(|_| any_demand(&mut random, 0.1 / flows as f64));
    Problem::new(problem.routes().clone(), problem.capacities().to_vec(), demands.collect())
        .expect("the parameters are in range")
}

/// A demand of any kind that insists on `part` at most.
pub fn any_demand(random: &mut Random, part: f64) -> Demand {
    let weight = random.between(0.5, 2.0);
    let size = random.between(0.05, 0.5);
    match random.below(8) {
        0 => Demand::Capped { weight, cap: size },
        1 => Demand::Contract {
            weight,
            floor: part * random.unit(),
            limit: f64::INFINITY,
            cap: f64::INFINITY,
        },
        2 => Demand::Contract {
            weight,
            floor: size,
            limit: random.between(0.5, 3.0),
            cap: f64::INFINITY,
        },
        3 => Demand::AlphaFair { weight, alpha: random.between(0.5, 4.0) },
        4 => Demand::vegas(weight, 1.0, random.between(-0.5, 1.0)),
        5 => Demand::Reno { round_trip: random.between(1.0, 30.0) },
        6 => Demand::Fixed { rate: part * random.unit() },
        _ => Demand::Log { weight },
    }
}

/// Twice as many links as flows, and Poisson(10) of them on each path, one at least.
pub fn sparse_problem(seed: u64, flows: usize) -> Problem {
    random_network(seed, flows, 2 * flows, |random| random.poisson(10.0).max(1))
}

/// `flows` flows with weights 0.5 to 2 between random nodes of a backbone: a ring of `nodes` nodes with as
/// many random chords, all in both directions, with capacities 1 to 10 and shortest paths.
pub fn backbone_problem(seed: u64, flows: usize, nodes: usize) -> Problem {
    let mut random = Random::new(seed);
    let mut links: Vec<(usize, usize)> = Vec::new();
    for node in 0..nodes {
        let ends = [(node + 1) % nodes, (node + 2 + random.below(nodes - 3)) % nodes];
        links.extend(ends.into_iter().flat_map(|end| [(node, end), (end, node)]));
    }
    // The link by which each node is reached first, from each source.
    let trees: Vec<Vec<Option<usize>>> = (0..nodes)
        .map(|source| {
            let mut by = vec![None; nodes];
            let mut reached = vec![source];
            let mut next = 0;
            while let Some(&node) = reached.get(next) {
                next += 1;
                for (link, &(from, to)) in links.iter().enumerate() {
                    if from == node && to != source && by[to].is_none() {
                        by[to] = Some(link);
                        reached.push(to);
                    }
                }
            }
            by
        })
        .collect();
    let paths: Vec<Vec<u32>> = (0..flows)
        .map(|_| {
            let source = random.below(nodes);
            let mut at = (source + 1 + random.below(nodes - 1)) % nodes;
            let mut path = Vec::new();
            while let Some(link) = trees[source][at] {
                path.insert(0, link as u32);
                at = links[link].0;
            }
            path
        })
        .collect();
    let capacities = links.iter().map(|_| 10f64.powf(random.unit())).collect();
    let demands = (0..flows).map(|_| Demand::Log { weight: random.between(0.5, 2.0) }).collect();
    let routes = Routes::new(links.len(), paths).expect("the paths are sound");
    Problem::new(routes, capacities, demands).expect("the parameters are in range")
}

fn random_network(
    seed: u64,
    flows: usize,
    links: usize,
    hops: impl Fn(&mut Random) -> usize,
) -> Problem {
    let mut random = Random::new(seed);
    let paths: Vec<_> = (0..flows)
        .map(|_| {
            let hops = hops(&mut random);
            random.path(links, hops)
        })
        .collect();
    let capacities = (0..links).map(|_| 10f64.powf(random.unit())).collect();
    let demands = (0..flows).map(|_| Demand::Log { weight: random.between(0.5, 2.0) }).collect();
    let routes = Routes::new(links, paths).expect("the paths are sound");
    Problem::new(routes, capacities, demands).expect("the parameters are in range")
}
