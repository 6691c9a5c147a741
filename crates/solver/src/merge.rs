//! The problem in the solver's form: one row per route, in a cache-friendly order.
//!
//! Flows with the same route see the same price, so their demands add exactly. Weights of `Log`
//! demands add up to one number `[Har02 §V]`. Rows are ordered by length, then by links. Loops over
//! rows of equal length have no branch to mispredict, and neighbouring rows touch neighbouring
//! links. Flows that do not follow the price are removed, and their rates are subtracted from the
//! capacities.

use crate::{Demand, Problem};
use std::ops::Range;

/// The multiple of the narrowest link of a route (of the largest possible rate, if links have
/// highest prices) above which its rates are cut off. No solution has such rates, and they spoil
/// the quadratic model. At 1 the cut would coincide with the solution for a single flow on its
/// link.
const HEADROOM: f64 = 2.0;

/// The highest initial price. It keeps sums over a path finite.
const DEAREST: f64 = 1e300;

#[derive(Debug)]
pub(crate) struct Merged {
    pub rows: Rows,
    /// The capacity left over by the flows that do not follow the price, per link.
    pub capacities: Vec<f64>,
    /// The sum Σ w of the `Log` flows, per row.
    pub weights: Vec<f64>,
    /// The price below which the `Log` flows of a row are cut off.
    pub knees: Vec<f64>,
    /// The demands of the other flows with their row, in order of rows.
    pub others: Vec<(u32, Bounded)>,
    /// The highest price of each link.
    pub price_limits: Vec<f64>,
    /// The exponent of y/c in the update of a single link's price: the smallest α of its elastic
    /// flows, with 1 for flows that are not α-fair.
    pub stiffness: Vec<f64>,
}

impl Merged {
    /// Merges a feasible problem.
    pub fn new(problem: &Problem) -> Self {
        let routes = problem.routes();
        let demands = problem.demands();
        let fixed = |demand: &Demand| {
            if demand.is_elastic() { 0.0 } else { demand.least() }
        };
        let fixed: Vec<f64> = demands.iter().map(fixed).collect();
        let left = routes.loads(&fixed).into_iter().zip(problem.capacities());
        let capacities = left
            .map(|(fixed, &capacity)| match capacity - fixed {
                // No elastic flow crosses a full link, because the problem would then be
                // infeasible.
                left if left <= 0.0 => capacity,
                left => left,
            })
            .collect();

        let order = order(problem);
        let mut merged = Self {
            rows: Rows::default(),
            capacities,
            weights: Vec::with_capacity(order.len()),
            knees: Vec::new(),
            others: Vec::new(),
            price_limits: problem.price_limits().to_vec(),
            stiffness: stiffness(problem),
        };
        merged.rows.hops.reserve_exact(routes.hops());
        let mut last: &[u32] = &[];
        let mut sorted = Vec::new();
        for flow in order {
            let path = routes.path(flow as usize);
            if path != last {
                // The same links in another order form another row, which is correct, although not merged.
                merged.rows.push(path);
                merged.weights.push(0.0);
                last = path;
            }
            let row = merged.weights.len() as u32 - 1;
            match demands[flow as usize].log_weight() {
                Some(weight) => merged.weights[row as usize] += weight,
                None => sorted.push((row, flow)),
            }
        }
        merged.knees = merged.knees_of_rows();
        merged.others = sorted
            .into_iter()
            .map(|(row, flow)| {
                let demand = demands[flow as usize];
                (row, merged.most(routes.path(flow as usize)).bounded(demand))
            })
            .collect();
        merged
    }

    fn knees_of_rows(&self) -> Vec<f64> {
        let mut knees = Vec::with_capacity(self.weights.len());
        self.rows.visit(&mut |row: usize, links: &[u32]| {
            knees.push(self.most(links).knee(self.weights[row]));
        });
        knees
    }

    /// Returns initial prices: the spending of each row on its rate above its least rate, spread
    /// evenly over its links, if it had half of its narrowest link. The rows share the capacity
    /// that the least rates leave. If all demands are `Log`, this satisfies c·p = Σ w.
    pub fn starting_prices(&self) -> Vec<f64> {
        let mut spending = self.weights.clone();
        for (row, other) in &self.others {
            spending[*row as usize] += other.usual_spending();
        }
        let mut least = vec![0.0; self.weights.len()];
        for (row, other) in &self.others {
            least[*row as usize] += other.demand.least();
        }
        let (mut spent, mut left) = (vec![0.0; self.links()], self.capacities.clone());
        self.rows.visit(&mut |row: usize, links: &[u32]| {
            for &link in links {
                spent[link as usize] += spending[row] / links.len() as f64;
                left[link as usize] -= least[row];
            }
        });
        // A link that drops data may have less than the least rates.
        let left =
            left.iter().zip(&self.capacities).map(|(left, c)| if *left > 0.0 { left } else { c });
        spent.iter().zip(left).map(|(w, c)| (w / c).min(DEAREST)).collect()
    }

    /// The number of links.
    pub fn links(&self) -> usize {
        self.capacities.len()
    }

    fn most(&self, links: &[u32]) -> Most {
        Most::of(links, &self.capacities, &self.price_limits)
    }

    /// The demands of `rows` that are not `Log`.
    pub fn others_of(&self, rows: Range<usize>) -> &[(u32, Bounded)] {
        let first = |row: usize| self.others.partition_point(|(at, _)| *at < row as u32);
        &self.others[first(rows.start)..first(rows.end)]
    }
}

fn stiffness(problem: &Problem) -> Vec<f64> {
    let routes = problem.routes();
    let mut stiffness = vec![f64::INFINITY; routes.links()];
    let flows = routes.iter().zip(problem.demands());
    for (path, demand) in flows.filter(|(_, demand)| demand.is_elastic()) {
        let alpha = alpha(demand);
        for &link in path {
            let stiffness = &mut stiffness[link as usize];
            *stiffness = stiffness.min(alpha);
        }
    }
    // Links without elastic flows have a constant price.
    stiffness.iter_mut().filter(|s| s.is_infinite()).for_each(|s| *s = 1.0);
    stiffness
}

fn alpha(demand: &Demand) -> f64 {
    match *demand {
        Demand::AlphaFair { alpha, .. } => alpha,
        _ => 1.0,
    }
}

/// Returns the elastic flows by length of route, then by route.
fn order(problem: &Problem) -> Vec<u32> {
    let routes = problem.routes();
    let path = |flow: u32| routes.path(flow as usize);
    let lengths: Vec<u32> = routes.iter().map(|path| path.len() as u32).collect();
    let elastic = problem.demands().iter().enumerate();
    let elastic: Vec<u32> =
        elastic.filter(|(_, demand)| demand.is_elastic()).map(|(flow, _)| flow as u32).collect();
    // Counting settles the order almost completely.
    let by_link = counted(&elastic, routes.links(), |flow| path(flow)[0]);
    let longest = lengths.iter().max().map_or(0, |length| *length as usize);
    let mut order = counted(&by_link, longest + 1, |flow| lengths[flow as usize]);
    order
        .chunk_by_mut(|&a, &b| {
            lengths[a as usize] == lengths[b as usize] && path(a)[0] == path(b)[0]
        })
        .filter(|alike| alike.len() > 1)
        .for_each(|alike| alike.sort_by(|&a, &b| path(a).cmp(path(b))));
    order
}

/// Returns the flows in the order of a key below `keys`, stable for equal keys.
fn counted(flows: &[u32], keys: usize, key: impl Fn(u32) -> u32) -> Vec<u32> {
    let mut first = vec![0; keys + 1];
    for &flow in flows {
        first[key(flow) as usize + 1] += 1;
    }
    for key in 0..keys {
        first[key + 1] += first[key];
    }
    let mut sorted = vec![0; flows.len()];
    for &flow in flows {
        let place: &mut usize = &mut first[key(flow) as usize];
        sorted[*place] = flow;
        *place += 1;
    }
    sorted
}

/// A demand with a ceiling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    demand: Demand,
    ceiling: f64,
    /// The price at which the ceiling is reached.
    knee: f64,
}

impl Bounded {
    pub fn rate(&self, q: f64) -> f64 {
        self.demand.rate(q).min(self.ceiling)
    }

    /// Returns the slope. At the ceiling it would be zero, which would leave Newton's model without
    /// curvature. There it is the slope of the chord to the point at which the flow fills its
    /// narrowest link.
    pub fn slope(&self, q: f64) -> f64 {
        if q >= self.knee {
            return self.demand.slope(q);
        }
        let narrowest = self.ceiling / HEADROOM;
        (self.ceiling - narrowest) / (self.demand.price(narrowest) - q)
    }

    /// Returns q·x for the part of x above the least rate, half way between the least and the largest rate.
    fn usual_spending(&self) -> f64 {
        let least = self.demand.least();
        let rate = 0.5 * (least + self.rate(0.0).min(self.ceiling / HEADROOM));
        (rate - least) * self.demand.price(rate)
    }

    pub fn integral(&self, from: f64, to: f64) -> f64 {
        self.ceiling * (to.min(self.knee) - from.min(self.knee))
            + self.demand.integral(from.max(self.knee), to.max(self.knee))
    }
}

/// The links of each row, with rows of equal length adjacent.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub hops: Vec<u32>,
    /// The blocks of rows in order: the length of the rows, and their number.
    pub blocks: Vec<(usize, usize)>,
}

/// A visitor of rows.
pub(crate) trait Visit {
    /// Visits row `row`, whose links are `links`.
    fn visit(&mut self, row: usize, links: &[u32]);
}

impl<F: FnMut(usize, &[u32])> Visit for F {
    #[inline(always)]
    fn visit(&mut self, row: usize, links: &[u32]) {
        self(row, links);
    }
}

impl Rows {
    fn push(&mut self, path: &[u32]) {
        self.hops.extend_from_slice(path);
        match self.blocks.last_mut() {
            Some((length, count)) if *length == path.len() => *count += 1,
            _ => self.blocks.push((path.len(), 1)),
        }
    }

    /// Visits all rows in order.
    pub fn visit(&self, visitor: &mut impl Visit) {
        for part in self.parts(1) {
            part.visit(visitor);
        }
    }

    /// Cuts the rows, in order, into `count` parts with about equal numbers of hops.
    pub fn parts(&self, count: usize) -> Vec<Part<'_>> {
        let share = self.hops.len().div_ceil(count.max(1)).max(1);
        let mut parts: Vec<Part> = Vec::with_capacity(count);
        let mut blocks = self.blocks.iter().copied();
        let mut block = blocks.next();
        let (mut first_row, mut first_hop) = (0, 0);
        while block.is_some() {
            let (mut rows, mut hops, mut taken) = (0, 0, Vec::new());
            while let Some((length, left)) = block
                && hops < share
            {
                let take = (share - hops).div_ceil(length).min(left);
                taken.push((length, take));
                rows += take;
                hops += length * take;
                block = if take < left { Some((length, left - take)) } else { blocks.next() };
            }
            parts.push(Part {
                first_row,
                rows,
                hops: &self.hops[first_hop..first_hop + hops],
                blocks: taken,
            });
            first_row += rows;
            first_hop += hops;
        }
        parts
    }
}

/// The bounds on the rates of a row.
struct Most {
    narrowest: f64,
    /// The capacities and highest prices of the links, the narrowest first, if some may be
    /// overloaded.
    overloadable: Vec<(f64, f64)>,
}

impl Most {
    /// Returns the bounds for a row with these links.
    fn of(links: &[u32], capacities: &[f64], price_limits: &[f64]) -> Self {
        let of = |&link: &u32| (capacities[link as usize], price_limits[link as usize]);
        let links = links.iter().map(of);
        let narrowest = links.clone().map(|(capacity, _)| capacity);
        let mut most =
            Self { narrowest: narrowest.fold(f64::INFINITY, f64::min), overloadable: Vec::new() };
        if links.clone().any(|(_, limit)| limit.is_finite()) {
            most.overloadable.extend(links);
            most.overloadable.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        }
        most
    }

    /// Returns the price below which `Log` flows with this total weight are cut off.
    fn knee(&self, weight: f64) -> f64 {
        if weight > 0.0 { weight / (HEADROOM * self.rate(|price| weight / price)) } else { 1.0 }
    }

    /// Returns a demand with a ceiling.
    fn bounded(&self, demand: Demand) -> Bounded {
        let ceiling = HEADROOM * self.rate(|price| demand.rate(price));
        Bounded { demand, ceiling, knee: demand.price(ceiling).max(0.0) }
    }

    /// Returns the largest rate that a solution can have for a flow with this demand. All links
    /// that are narrower than this rate are overloaded, and so at their highest price.
    fn rate(&self, demand: impl Fn(f64) -> f64) -> f64 {
        let (mut most, mut price) = (self.narrowest, 0.0);
        for (capacity, limit) in &self.overloadable {
            if price > 0.0 && demand(price) <= *capacity {
                return most.max(demand(price));
            }
            most = *capacity;
            if limit.is_infinite() {
                return most;
            }
            price += limit;
        }
        if price > 0.0 {
            most = most.max(demand(price));
        }
        most
    }
}

/// A part of the rows, in order.
pub(crate) struct Part<'a> {
    pub first_row: usize,
    pub rows: usize,
    hops: &'a [u32],
    blocks: Vec<(usize, usize)>,
}

impl Part<'_> {
    /// Visits the rows in order, numbered from 0 in each part. Common lengths are constants to the
    /// compiler.
    #[inline(always)]
    pub fn visit(&self, visitor: &mut impl Visit) {
        let (mut rest, mut row) = (self.hops, 0);
        for &(length, count) in &self.blocks {
            let (block, tail) = rest.split_at(length * count);
            match length {
                1 => visit_fixed::<1>(block, row, visitor),
                2 => visit_fixed::<2>(block, row, visitor),
                3 => visit_fixed::<3>(block, row, visitor),
                4 => visit_fixed::<4>(block, row, visitor),
                5 => visit_fixed::<5>(block, row, visitor),
                6 => visit_fixed::<6>(block, row, visitor),
                7 => visit_fixed::<7>(block, row, visitor),
                8 => visit_fixed::<8>(block, row, visitor),
                _ => {
                    for (i, links) in block.chunks_exact(length).enumerate() {
                        visitor.visit(row + i, links);
                    }
                }
            }
            rest = tail;
            row += count;
        }
    }
}

#[inline(always)]
fn visit_fixed<const N: usize>(block: &[u32], first: usize, visitor: &mut impl Visit) {
    for (i, links) in block.as_chunks::<N>().0.iter().enumerate() {
        visitor.visit(first + i, links);
    }
}
