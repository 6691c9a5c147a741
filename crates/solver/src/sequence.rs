//! Sequences of problems that differ from the previous one by some flows.
//!
//! A flow that comes or goes changes the price of every link, if only in the seventh digit, so that
//! no part of the network can be skipped: a certificate of 1e-12 needs that digit. But little else
//! is recomputed. The rows of the merged problem stay, and change by a weight or by a row at their
//! end. Newton's method starts at the prices of the previous problem, and needs two or three steps.
//! The certificate is made from the rows, in which flows of the same path are one.
//!
//! Flows with a rate needed at any price (contracts without limit, fixed rates) change the
//! capacities left for the others, or make the problem infeasible. Problems with such flows are
//! merged again after each change, and only the prices are kept.

use crate::merge::Merged;
use crate::newton::{Solver, WARM_UP_AGAIN, oversubscribed, solve_merged};
use crate::sum::Sum;
use crate::system::System;
use crate::{Certificate, Demand, Problem, ProblemError, Progress, Routes, Settings, Status};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A problem whose flows come and go, with its solution.
///
/// Flows are numbered from 0 in the first problem, and new flows continue. No number is reused.
///
/// ```
/// use accord_solver::{Demand, Problem, Routes, Sequence, Settings, Status};
///
/// // Two flows share a link of 10. One of them crosses a second link of 3.
/// let log = Demand::Log { weight: 1.0 };
/// let routes = Routes::new(2, [vec![0], vec![0, 1]])?;
/// let problem = Problem::new(routes, vec![10.0, 3.0], vec![log; 2])?;
/// let mut shares = Sequence::new(&problem, Settings::default());
/// assert_eq!(shares.solve(), Status::Solved);
/// assert!((shares.rate(0).unwrap() - 7.0).abs() < 1e-9);
///
/// // What if a third flow came to the second link?
/// let third = shares.arrive(&[1], log)?;
/// assert_eq!(shares.solve(), Status::Solved);
/// assert!(shares.rate(third).unwrap() > 1.5); // It pays for one link, and the other flow for two.
/// assert!(shares.certificate().relative_gap <= 1e-12);
///
/// shares.depart(third);
/// assert_eq!(shares.solve(), Status::Solved);
/// assert!((shares.rate(0).unwrap() - 7.0).abs() < 1e-9);
/// # Ok::<(), accord_solver::ProblemError>(())
/// ```
#[derive(Debug)]
pub struct Sequence {
    settings: Settings,
    capacities: Vec<f64>,
    price_limits: Vec<f64>,
    /// The flows by number; `None` for those that have left.
    flows: Vec<Option<Flow>>,
    /// The number of present flows, and of those with a rate needed at any price.
    present: usize,
    insisting: usize,
    /// The merged rows, while they follow the flows.
    kept: Option<Kept>,
    /// The flows that arrived since the last solution.
    newcomers: Vec<usize>,
    prices: Vec<f64>,
    status: Option<Status>,
    certificate: Certificate,
    /// The numbers of Newton steps and of conjugate gradient steps of the last solution.
    steps: (usize, usize),
}

#[derive(Clone, Debug)]
struct Flow {
    path: Box<[u32]>,
    demand: Demand,
    /// The row of the flow among the kept rows.
    row: u32,
}

/// The merged problem of flows without a rate needed at any price.
#[derive(Debug)]
struct Kept {
    merged: Merged,
    /// The number of sorted rows, and the others by path.
    sorted: usize,
    added: BTreeMap<Vec<u32>, u32>,
    /// The sum of the weights of the `Log` flows of each row, and their number.
    log: Vec<(Sum, u32)>,
    /// The typical prices, for links without informative curvature.
    usual: Vec<f64>,
    /// The system of Newton steps, with the rows of the latest free links.
    system: System,
}

/// The fraction of the rows that may be added before all rows are sorted again.
const ADDED: f64 = 0.25;
/// The number of rows that may be added in any case.
const ADDED_ALWAYS: usize = 64;

impl Sequence {
    /// Begins with a problem, which [`solve`](Self::solve) solves from scratch.
    pub fn new(problem: &Problem, settings: Settings) -> Self {
        let flows = problem.routes().iter().zip(problem.demands());
        let flows = flows.map(|(path, &demand)| Some(Flow { path: path.into(), demand, row: 0 }));
        let links = problem.routes().links();
        Self {
            settings,
            capacities: problem.capacities().to_vec(),
            price_limits: problem.price_limits().to_vec(),
            flows: flows.collect(),
            present: problem.routes().flows(),
            insisting: problem.demands().iter().filter(|d| insists(d)).count(),
            kept: None,
            newcomers: Vec::new(),
            prices: vec![0.0; links],
            status: None,
            certificate: Certificate::of_nothing(),
            steps: (0, 0),
        }
    }

    /// Adds a flow over the links of `path`, and returns its number.
    ///
    /// # Errors
    ///
    /// Fails as [`Routes::new`] and [`Problem::new`] do, with the number that the flow would have
    /// had.
    pub fn arrive(&mut self, path: &[u32], demand: Demand) -> Result<usize, ProblemError> {
        let flow = self.flows.len();
        Routes::check_path(flow, path, self.capacities.len())?;
        demand.check(flow)?;
        self.present += 1;
        let mut row = 0;
        if insists(&demand) {
            self.insisting += 1;
            self.kept = None;
        } else if let Some(kept) = &mut self.kept {
            row = kept.add(path, demand);
            if kept.added.len() > ADDED_ALWAYS + (ADDED * kept.sorted as f64) as usize {
                self.kept = None;
            }
        }
        self.flows.push(Some(Flow { path: path.into(), demand, row }));
        self.newcomers.push(flow);
        Ok(flow)
    }

    /// Removes a flow. Returns its demand, or `None` if there is no such flow.
    pub fn depart(&mut self, flow: usize) -> Option<Demand> {
        let Flow { demand, row, .. } = self.flows.get_mut(flow)?.take()?;
        self.present -= 1;
        if insists(&demand) {
            self.insisting -= 1;
            self.kept = None;
        } else if let Some(kept) = &mut self.kept {
            kept.remove(row, demand);
        }
        Some(demand)
    }

    /// Solves the present problem, from the previous prices if that was solved.
    pub fn solve(&mut self) -> Status {
        self.solve_watched(&mut |_| ControlFlow::Continue(()))
    }

    /// Solves as [`solve`](Self::solve) does, and notifies `watch` of the progress before each
    /// Newton step. On `Break` it keeps the present prices, as
    /// [`solve_watched`](crate::solve_watched) does.
    pub fn solve_watched(&mut self, watch: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Status {
        let mut start = self.start();
        self.newcomers.clear();
        if self.present == 0 {
            self.prices.fill(0.0);
            self.certificate = Certificate::of_nothing();
            return self.ends(Status::Solved);
        }
        let stopped = Cell::new(false);
        let mut watch = |progress| {
            let flow = watch(progress);
            stopped.set(flow.is_break());
            flow
        };
        if let (Some(kept), Some(prices)) = (&mut self.kept, &start) {
            let Kept { merged, usual, system, .. } = kept;
            let merged = &*merged;
            let mut solver = Solver::new(&self.settings, merged, system, usual, prices);
            solver.warm_up(WARM_UP_AGAIN);
            let (certificate, found) = (&mut self.certificate, &mut self.prices);
            solver.run(&mut watch, &mut |prices, _| {
                *certificate = Certificate::of_rows(merged, prices);
                found.copy_from_slice(prices);
                certificate.worst()
            });
            self.steps = solver.steps;
            if self.certificate.worst() <= self.settings.tolerance {
                return self.ends(Status::Solved);
            }
            start = None;
        }
        if start.is_some() && !stopped.get() {
            let status = self.solve_again(start.as_deref(), &mut watch);
            if status != Status::NotConverged {
                return status;
            }
        }
        if stopped.get() {
            self.ends(Status::NotConverged)
        } else {
            self.solve_again(None, &mut watch)
        }
    }

    /// Returns the initial prices, if there are any.
    fn start(&self) -> Option<Vec<f64>> {
        if self.status != Some(Status::Solved) {
            return None;
        }
        let mut prices = self.prices.clone();
        for flow in self.newcomers.iter().filter_map(|&f| self.flows[f].as_ref()) {
            // Without a price, a flow alone would overload its narrowest link.
            let width = |link: &&u32| self.capacities[**link as usize];
            let narrowest = flow.path.iter().min_by(|a, b| width(a).total_cmp(&width(b)));
            let narrowest = *narrowest.expect("a path has a link") as usize;
            let q: f64 = flow.path.iter().map(|&l| prices[l as usize]).sum();
            let least = flow.demand.price(self.capacities[narrowest]);
            if least.is_finite() && q < least {
                prices[narrowest] += least - q;
            }
        }
        Some(prices)
    }

    /// Merges the flows again, and solves from prices or from scratch.
    fn solve_again(
        &mut self,
        start: Option<&[f64]>,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Status {
        let problem = self.problem().expect("there are flows");
        let mut merged = None;
        let solution = match problem.oversubscribed() {
            Some(status) => oversubscribed(&problem, status),
            None => {
                let merged = merged.insert(Merged::new(&problem));
                solve_merged(&problem, merged, &self.settings, start, watch)
            }
        };
        self.prices = solution.prices;
        self.certificate = solution.certificate;
        self.steps = (solution.iterations, solution.inner_iterations);
        self.kept = match (merged, self.insisting) {
            (Some(merged), 0) => {
                let flows = self.flows.iter_mut().flatten();
                for (flow, &row) in flows.zip(&merged.row_of) {
                    flow.row = row;
                }
                Some(Kept::new(merged, self.flows.iter().flatten()))
            }
            _ => None,
        };
        self.ends(solution.status)
    }

    fn ends(&mut self, status: Status) -> Status {
        self.status = Some(status);
        status
    }

    /// Returns the path and the demand of a flow, or `None` if there is no such flow.
    pub fn flow(&self, flow: usize) -> Option<(&[u32], Demand)> {
        let flow = self.flows.get(flow)?.as_ref()?;
        Some((&flow.path, flow.demand))
    }

    /// The price of each link, as of the latest [`solve`](Self::solve).
    pub fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// Returns the rate of a flow at the [`prices`](Self::prices), or its least rate if the problem
    /// is infeasible, or `None` if there is no such flow.
    pub fn rate(&self, flow: usize) -> Option<f64> {
        let flow = self.flows.get(flow)?.as_ref()?;
        let price = flow.path.iter().map(|&l| self.prices[l as usize]).sum();
        Some(match self.status {
            Some(Status::Infeasible { .. }) => flow.demand.least(),
            _ => flow.demand.rate(price),
        })
    }

    /// The certificate of the [`prices`](Self::prices), with the demands at them as rates.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The numbers of Newton steps and of conjugate gradient steps within them of the latest
    /// [`solve`](Self::solve).
    pub fn steps(&self) -> (usize, usize) {
        self.steps
    }

    /// Returns the present problem, with the flows in the order of their numbers, or `None` if
    /// there is no flow.
    pub fn problem(&self) -> Option<Problem> {
        let flows = || self.flows.iter().flatten();
        if self.present == 0 {
            return None;
        }
        let paths = flows().map(|flow| &flow.path);
        let routes = Routes::new(self.capacities.len(), paths);
        let demands = flows().map(|flow| flow.demand).collect();
        let problem =
            Problem::new(routes.expect("paths were checked"), self.capacities.clone(), demands);
        let limited = problem.map(|problem| problem.with_price_limits(self.price_limits.clone()));
        Some(limited.and_then(|problem| problem).expect("all was checked"))
    }
}

/// Returns true if a flow needs a rate at any price.
fn insists(demand: &Demand) -> bool {
    demand.least() > 0.0 || !demand.is_elastic()
}

impl Kept {
    fn new<'a>(merged: Merged, flows: impl Iterator<Item = &'a Flow>) -> Self {
        let rows = merged.weights.len();
        let mut log = vec![(Sum::default(), 0); rows];
        for flow in flows {
            if let Some(weight) = flow.demand.log_weight() {
                let (sum, count) = &mut log[flow.row as usize];
                sum.add(weight);
                *count += 1;
            }
        }
        Self {
            sorted: rows,
            added: BTreeMap::new(),
            log,
            usual: merged.starting_prices(),
            system: System::default(),
            merged,
        }
    }

    /// Adds a flow, and returns its row.
    fn add(&mut self, path: &[u32], demand: Demand) -> u32 {
        let known = self.merged.rows.find(path, self.sorted);
        let row = match known.or_else(|| self.added.get(path).copied()) {
            Some(row) => row,
            None => {
                self.log.push((Sum::default(), 0));
                let row = self.merged.add_row(path);
                self.added.insert(path.to_vec(), row);
                row
            }
        };
        let spending = match demand.log_weight() {
            Some(weight) => {
                let (sum, count) = &mut self.log[row as usize];
                sum.add(weight);
                *count += 1;
                self.merged.set_weight(row, sum.value());
                weight
            }
            None => self.merged.add_other(row, demand),
        };
        for &link in path {
            let link = link as usize;
            self.usual[link] += spending / path.len() as f64 / self.merged.capacities[link];
        }
        row
    }

    fn remove(&mut self, row: u32, demand: Demand) {
        let Some(weight) = demand.log_weight() else {
            return self.merged.remove_other(row, &demand);
        };
        let (sum, count) = &mut self.log[row as usize];
        sum.add(-weight);
        *count -= 1;
        if *count == 0 {
            *sum = Sum::default();
        }
        self.merged.set_weight(row, sum.value());
    }
}
