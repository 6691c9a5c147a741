//! Weighted max-min fairness: a rate can increase only at the expense of a flow with an equal or
//! smaller one.
//!
//! The result is exact, by progressive filling (Bertsekas and Gallager, *Data Networks*, §6.5). All flows
//! grow together, each in proportion to its weight. A flow stops at its cap, or when a link of its path is
//! full. Links wait in a heap by the level x/w at which they will be full. That level only rises when flows
//! stop elsewhere, so a link is evaluated again only when its turn comes, and not each time one of its flows
//! stops. The time is that of sorting the links and passing over the hops once.
//!
//! There are no prices, so only two parts of the certificate remain: feasibility, and a bottleneck per flow.
//! Together they prove that the rates are max-min fair. α-fair rates tend to them as α → ∞ (with weights
//! w^α).

use crate::sum::Sum;
use crate::{Demand, Problem, ProblemError, Status};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The reason why a flow's rate is not larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// This link is full, and no other flow on it has a larger rate per weight.
    Link(u32),
    /// The flow is at its own cap, or is unresponsive.
    Own,
}

/// Max-min fair rates.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxMin {
    /// The rate x of each flow.
    pub rates: Vec<f64>,
    /// The reason why each flow's rate is not larger.
    pub bottlenecks: Vec<Bottleneck>,
    /// The outcome: [`Solved`](Status::Solved), or [`Infeasible`](Status::Infeasible) if the
    /// `Fixed` flows exceed a capacity. Then the other flows get nothing.
    pub status: Status,
    /// The distance of the rates from max-min fairness, computed from the problem alone.
    pub certificate: MaxMinCertificate,
}

/// The residuals of rates with respect to max-min fairness. They are zero for max-min fair rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaxMinCertificate {
    /// Primal feasibility: the largest (y − c)⁺ / c.
    pub primal: f64,
    /// The largest shortfall of a flow's best bottleneck. The shortfall is the free fraction of the
    /// link, or the fraction by which another flow there has more per weight, whichever is larger.
    pub bottleneck: f64,
}

impl MaxMinCertificate {
    /// Checks `rates` (one per flow) against the problem.
    ///
    /// # Errors
    ///
    /// Fails for a demand that has no meaning in max-min fairness, as [`max_min`] does.
    ///
    /// # Panics
    ///
    /// Panics if the number of rates is not the number of flows.
    pub fn new(problem: &Problem, rates: &[f64]) -> Result<Self, ProblemError> {
        let shares = shares(problem)?;
        assert_eq!(rates.len(), shares.len(), "one rate for each flow");
        let routes = problem.routes();
        let loads = routes.loads(rates);
        let mut highest = vec![0.0; loads.len()];
        for ((path, share), rate) in routes.iter().zip(&shares).zip(rates) {
            for &link in path {
                highest[link as usize] = f64::max(highest[link as usize], rate / share.weight);
            }
        }
        let mut certificate = Self { primal: 0.0, bottleneck: 0.0 };
        for (load, capacity) in loads.iter().zip(problem.capacities()) {
            certificate.primal = worse(certificate.primal, (load - capacity) / capacity);
        }
        for ((path, share), rate) in routes.iter().zip(&shares).zip(rates) {
            let own = ((share.cap - rate) / share.cap).abs();
            let lacks = |&link: &u32| {
                let l = link as usize;
                let free = (problem.capacities()[l] - loads[l]) / problem.capacities()[l];
                worse(free.max(0.0), 1.0 - rate / share.weight / highest[l])
            };
            let best = path.iter().map(lacks).fold(f64::INFINITY, f64::min);
            let own = if own.is_nan() { f64::INFINITY } else { own };
            certificate.bottleneck = worse(certificate.bottleneck, best.min(own));
        }
        Ok(certificate)
    }

    /// The larger residual.
    pub fn worst(&self) -> f64 {
        self.primal.max(self.bottleneck)
    }
}

/// Returns the larger residual, or infinity if the second is NaN.
fn worse(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

/// The weight and the cap of a flow. A `Fixed` flow is at its cap from the start.
#[derive(Clone, Copy)]
struct Share {
    weight: f64,
    cap: f64,
    fixed: bool,
}

fn shares(problem: &Problem) -> Result<Vec<Share>, ProblemError> {
    let share = |(flow, demand): (usize, &Demand)| {
        let (weight, cap, fixed) = match *demand {
            Demand::Log { weight } => (weight, f64::INFINITY, false),
            Demand::Capped { weight, cap } => (weight, cap, false),
            // A fixed rate does not count as a level.
            Demand::Fixed { rate } => (f64::INFINITY, rate, true),
            _ => {
                let expected = "max-min fairness is for flows with a weight, a cap or a fixed rate";
                return Err(ProblemError::WrongDemand { flow, expected });
            }
        };
        Ok(Share { weight, cap, fixed })
    };
    problem.demands().iter().enumerate().map(share).collect()
}

/// Finds the max-min fair rates of `Log` (by weight), `Capped` and `Fixed` flows.
///
/// ```
/// use accord_solver::{Demand, Problem, Routes, max_min};
///
/// // One flow over two links, and one on each: the narrow link halves, the wide one is used up.
/// let routes = Routes::new(2, [vec![0, 1], vec![0], vec![1]])?;
/// let problem = Problem::new(routes, vec![2.0, 5.0], vec![Demand::Log { weight: 1.0 }; 3])?;
/// assert_eq!(max_min(&problem)?.rates, [1.0, 1.0, 4.0]);
/// # Ok::<(), accord_solver::ProblemError>(())
/// ```
///
/// # Errors
///
/// Fails for other demands, since their response to prices has no meaning here.
pub fn max_min(problem: &Problem) -> Result<MaxMin, ProblemError> {
    let shares = shares(problem)?;
    let mut filling = Filling::new(problem, &shares);
    let status = match problem.oversubscribed() {
        Some(status) => status,
        None => {
            filling.run();
            Status::Solved
        }
    };
    let certificate = MaxMinCertificate::new(problem, &filling.rates)?;
    Ok(MaxMin { rates: filling.rates, bottlenecks: filling.bottlenecks, status, certificate })
}

/// A link (or the cap of a flow) and the level at which it stops flows.
#[derive(PartialEq)]
struct Stop {
    level: f64,
    at: At,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Cap(u32),
    Link(u32),
}

impl Eq for Stop {}

impl Ord for Stop {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_level = self.level.total_cmp(&other.level);
        by_level.then(self.at.cmp(&other.at))
    }
}

impl PartialOrd for Stop {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The capacity of a link that is left for flows that still grow.
#[derive(Clone, Copy, Default)]
struct Room {
    /// The rates of the flows that stopped.
    taken: Sum,
    /// The weights of the flows that grow, and their number.
    weight: Sum,
    growing: u32,
}

struct Filling<'a> {
    problem: &'a Problem,
    shares: &'a [Share],
    rooms: Vec<Room>,
    /// The flows of each link, compressed.
    offsets: Vec<u32>,
    flows: Vec<u32>,
    rates: Vec<f64>,
    stopped: Vec<bool>,
    bottlenecks: Vec<Bottleneck>,
}

impl<'a> Filling<'a> {
    fn new(problem: &'a Problem, shares: &'a [Share]) -> Self {
        let routes = problem.routes();
        let mut rooms = vec![Room::default(); routes.links()];
        let mut offsets = vec![0; routes.links() + 1];
        for (path, share) in routes.iter().zip(shares) {
            for &link in path {
                let room = &mut rooms[link as usize];
                if share.fixed {
                    room.taken.add(share.cap);
                } else {
                    room.weight.add(share.weight);
                    room.growing += 1;
                    offsets[link as usize + 1] += 1;
                }
            }
        }
        for l in 0..routes.links() {
            offsets[l + 1] += offsets[l];
        }
        let mut next = offsets.clone();
        let mut flows = vec![0; offsets[routes.links()] as usize];
        for (flow, (path, share)) in routes.iter().zip(shares).enumerate() {
            for &link in path.iter().filter(|_| !share.fixed) {
                let place = &mut next[link as usize];
                flows[*place as usize] = flow as u32;
                *place += 1;
            }
        }
        let fixed = |share: &Share| if share.fixed { share.cap } else { 0.0 };
        Self {
            problem,
            shares,
            rooms,
            offsets,
            flows,
            rates: shares.iter().map(fixed).collect(),
            stopped: shares.iter().map(|share| share.fixed).collect(),
            bottlenecks: vec![Bottleneck::Own; shares.len()],
        }
    }

    /// Returns the level at which a link is full if all its growing flows continue to grow.
    fn level(&self, link: u32) -> f64 {
        let room = &self.rooms[link as usize];
        let capacity = self.problem.capacities()[link as usize];
        room.taken.taken_from(capacity).max(0.0) / room.weight.value()
    }

    fn run(&mut self) {
        let mut heap = BinaryHeap::new();
        for link in 0..self.rooms.len() as u32 {
            if self.rooms[link as usize].growing > 0 {
                let level = self.level(link);
                let at = At::Link(link);
                heap.push(Reverse(Stop { level, at }));
            }
        }
        for (flow, share) in self.shares.iter().enumerate() {
            if !share.fixed && share.cap.is_finite() {
                let level = share.cap / share.weight;
                let at = At::Cap(flow as u32);
                heap.push(Reverse(Stop { level, at }));
            }
        }
        while let Some(Reverse(Stop { level, at })) = heap.pop() {
            match at {
                At::Cap(flow) if !self.stopped[flow as usize] => {
                    self.stop(flow, self.shares[flow as usize].cap, Bottleneck::Own);
                }
                At::Link(link) if self.rooms[link as usize].growing > 0 => {
                    let now = self.level(link);
                    if now > level {
                        heap.push(Reverse(Stop { level: now, at }));
                        continue;
                    }
                    let range = self.offsets[link as usize]..self.offsets[link as usize + 1];
                    for place in range {
                        let flow = self.flows[place as usize];
                        if !self.stopped[flow as usize] {
                            let share = self.shares[flow as usize];
                            let rate = (share.weight * now).min(share.cap);
                            self.stop(flow, rate, Bottleneck::Link(link));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn stop(&mut self, flow: u32, rate: f64, bottleneck: Bottleneck) {
        let weight = self.shares[flow as usize].weight;
        self.stopped[flow as usize] = true;
        self.rates[flow as usize] = rate;
        self.bottlenecks[flow as usize] = bottleneck;
        for &link in self.problem.routes().path(flow as usize) {
            let room = &mut self.rooms[link as usize];
            room.taken.add(rate);
            room.weight.add(-weight);
            room.growing -= 1;
        }
    }
}
