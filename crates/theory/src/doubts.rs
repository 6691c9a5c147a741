//! Reasons to doubt an equilibrium: queue disciplines that disturb its queues, prices that are not unique,
//! and assumptions about flows that a run does not meet.

use crate::equilibrium::{Equilibrium, Found, SETTLED, State};
use crate::signals::{LEAST_PRICE, objective};
use accord_family::{FlowFacts, Objective, Price, QueueFacts, QueueLaw, WindowDynamics, WindowLaw};
use accord_scenario::{Flow, Limit, LinkId, Phase, Scenario};
use accord_solver::{Problem, Solution};
use accord_units::{Bytes, Rate, Time};
use std::collections::{BTreeMap, BTreeSet};

/// The free fraction of a capacity up to which a link counts as full.
const FULL: f64 = 1e-9;
/// The largest number of full links whose prices are examined together.
const MOST: usize = 200;
/// The size below which an element counts as zero in elimination.
const NOTHING: f64 = 1e-9;
/// The number of links that a note names.
const NAMED: usize = 4;

impl State<'_> {
    /// Returns a link whose discipline would drop or mark packets of the equilibrium queue, and the reason.
    /// Flows that keep an accumulation do not treat its signals as a price.
    pub(crate) fn meddles(
        &self,
        phase: &Phase,
        problem: &Problem,
        solution: &Solution,
    ) -> Option<(LinkId, String)> {
        // The problem excludes the capacity taken by acknowledgements and counts.
        let answers = |(l, left): (LinkId, &f64)| self.capacity(l) - left;
        let mut load: Vec<f64> = problem.capacities().iter().enumerate().map(answers).collect();
        let mut packet = vec![0.0f64; self.rate.len()];
        let mut responds = vec![false; self.rate.len()];
        for (&flow, &rate) in phase.active.iter().zip(&solution.rates) {
            let f = &self.scenario.flows[flow];
            let elastic = objective(&f.controller) != Some(Objective::Unresponsive);
            for &l in self.network.path(flow) {
                load[l] += rate;
                packet[l] = packet[l].max(f.packet.as_f64());
                responds[l] |= elastic;
            }
        }
        (0..load.len()).find_map(|l| {
            if self.price_of(l) != Price::Loss || !responds[l] || self.rate[l] <= 0.0 {
                return None;
            }
            let delay = solution.prices[l];
            let backlog = delay * self.rate[l];
            let link = &self.scenario.links[l];
            let discipline = &link.queue.discipline;
            let name = discipline.family().name;
            let facts = QueueFacts {
                packet: Bytes::from_f64(packet[l]),
                buffer: match link.queue.limit {
                    Limit::Packets(n) => n as f64 * packet[l],
                    Limit::Bytes(b) => b.as_f64(),
                    Limit::Unlimited => f64::INFINITY,
                },
            };
            let packets = backlog / packet[l];
            let law = discipline.family().queue_dynamics();
            let why = match law.map(|of| of(discipline, &facts).law) {
                Ok(QueueLaw::Red { min, unit, .. }) if backlog / unit >= min => {
                    format!("{packets:.1} pkt would wait there, and {name} drops or marks some from {:.1} pkt on", min * unit / packet[l])
                }
                Ok(QueueLaw::Codel { target, packet, .. })
                    if delay >= target && backlog > packet =>
                {
                    format!("packets would wait for {:.1} ms there, and {name} drops or marks some from {:.1} ms on", 1e3 * delay, 1e3 * target)
                }
                Ok(QueueLaw::Avq { utilisation, .. })
                    if load[l] > utilisation * self.rate[l] * (1.0 + FULL) =>
                {
                    format!("{name} drops or marks traffic above {:.0} % of its rate", 100.0 * utilisation)
                }
                Err(_) if delay > LEAST_PRICE => {
                    format!("{packets:.1} pkt would wait there, and theory has no price for the signals of {name}")
                }
                _ => return None,
            };
            Some((l, why))
        })
    }

    /// If the same flows fill consecutive links, moves the price to the first of them, where packets queue.
    /// Returns notes if prices are not unique. Rates are always unique.
    pub(crate) fn place_prices(
        &self,
        phase: &Phase,
        problem: &Problem,
        solution: &mut Solution,
    ) -> Vec<String> {
        let loads = problem.routes().loads(&solution.rates);
        let full = |l: &LinkId| loads[*l] >= problem.capacities()[*l] * (1.0 - FULL);
        let full: Vec<LinkId> = (0..loads.len()).filter(full).collect();
        if full.len() < 2 || full.len() > MOST {
            return Vec::new();
        }
        let place: BTreeMap<LinkId, usize> = full.iter().copied().zip(0..).collect();
        // The flows with rates that follow the price, by the full links for which they pay.
        let paid = problem.routes().path_prices(&solution.prices);
        let mut columns: BTreeSet<Vec<u8>> = BTreeSet::new();
        // The flows of each link, and whether it is on their reverse path.
        let mut rows: Vec<Vec<(usize, bool)>> = vec![Vec::new(); full.len()];
        let mut order: Vec<(usize, usize)> = vec![(usize::MAX, 0); full.len()];
        for (i, &flow) in phase.active.iter().enumerate() {
            let mut column = vec![0u8; full.len()];
            for (hop, &l) in problem.routes().path(i).iter().enumerate() {
                if let Some(&row) = place.get(&(l as usize)) {
                    column[row] += 1;
                    rows[row].push((flow, hop >= self.network.path(flow).len()));
                    order[row] = order[row].min((flow, hop));
                }
            }
            if problem.demands()[i].slope(paid[i].max(f64::MIN_POSITIVE)) <= 0.0 {
                continue;
            }
            columns.insert(column);
        }
        let mut alike: BTreeMap<&[(usize, bool)], Vec<usize>> = BTreeMap::new();
        for (row, flows) in rows.iter().enumerate() {
            alike.entry(flows).or_default().push(row);
        }
        let mut texts = Vec::new();
        for rows in alike.values_mut().filter(|rows| rows.len() > 1) {
            rows.sort_by_key(|&row| order[row]);
            let links: Vec<LinkId> = rows.iter().map(|&row| full[row]).collect();
            let sum: f64 = links.iter().map(|&l| solution.prices[l]).sum();
            if sum <= LEAST_PRICE {
                continue;
            }
            links.iter().for_each(|&l| solution.prices[l] = 0.0);
            solution.prices[links[0]] = sum;
            texts.push((links[0], format!(
                "the same flows fill {}, one after the other: any split of their delay is optimal, and the queue is shown at the first",
                self.names(&links)
            )));
        }
        if !texts.is_empty() {
            texts.sort_unstable();
            return texts.into_iter().map(|(_, text)| text).collect();
        }
        self.loose(columns, &full, solution).into_iter().collect()
    }

    /// Returns a note if the prices of `full` links are not unique: flows pay sums of them, each a column.
    fn loose(
        &self,
        columns: BTreeSet<Vec<u8>>,
        full: &[LinkId],
        solution: &Solution,
    ) -> Option<String> {
        let columns: Vec<Vec<f64>> =
            columns.into_iter().map(|column| column.into_iter().map(f64::from).collect()).collect();
        let free = dependent(columns, full.len());
        let priced = free.iter().any(|&row| solution.prices[full[row]] > LEAST_PRICE);
        let free: Vec<LinkId> = free.into_iter().map(|row| full[row]).collect();
        priced.then(|| {
            format!(
                "the delays of {} are not unique: flows answer to sums of them only, and any that add up alike are an equilibrium",
                self.names(&free)
            )
        })
    }

    fn names(&self, links: &[LinkId]) -> String {
        let name = |&l: &LinkId| self.scenario.links[l].name.as_str();
        let mut text = links.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", ");
        if links.len() > NAMED {
            text += &format!(" and {} more", links.len() - NAMED);
        }
        text
    }
}

/// Returns the rows in a linear combination that vanishes in all of `columns`. Each column has one element
/// per row of `rows`.
fn dependent(mut columns: Vec<Vec<f64>>, rows: usize) -> Vec<usize> {
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    let mut free = Vec::new();
    for row in 0..rows {
        let used = |c: usize| pivots.iter().any(|&(_, column)| column == c);
        let best = (0..columns.len())
            .filter(|&c| !used(c))
            .max_by(|&a, &b| columns[a][row].abs().total_cmp(&columns[b][row].abs()));
        match best.filter(|&c| columns[c][row].abs() > NOTHING) {
            None => free.push(row),
            Some(pivot) => {
                let lead = columns[pivot][row];
                columns[pivot].iter_mut().for_each(|v| *v /= lead);
                let values = columns[pivot].clone();
                for (c, column) in columns.iter_mut().enumerate() {
                    let factor = column[row];
                    if c != pivot && factor != 0.0 {
                        column.iter_mut().zip(&values).for_each(|(v, p)| *v -= factor * p);
                    }
                }
                pivots.push((row, pivot));
            }
        }
    }
    let bound =
        pivots.iter().filter(|&&(_, c)| free.iter().any(|&f| columns[c][f].abs() > NOTHING));
    let mut rows: Vec<usize> = bound.map(|&(row, _)| row).chain(free.iter().copied()).collect();
    rows.sort_unstable();
    rows
}

/// The assumptions of theory on a group of flows.
#[derive(Clone, Copy, Default)]
struct Doubts {
    /// True if the group rests between two thresholds.
    between: bool,
    /// True if flows that measure their base round-trip time start while queues form.
    close: bool,
    /// True if the group may compete with flows that fill the buffer.
    competes: bool,
}

/// Returns the dynamics of a flow's window, if its family has them.
pub(crate) fn window_dynamics(flow: &Flow) -> Option<WindowDynamics> {
    let facts = FlowFacts {
        packet: flow.packet,
        weight: flow.service.weight,
        has_contract: flow.service.contract > Rate::ZERO,
    };
    let dynamics = flow.controller.family().window_dynamics();
    dynamics.ok().map(|of| of(&flow.controller, &facts))
}

/// Returns the law of a flow's window, if its family has one.
pub(crate) fn law(flow: &Flow) -> Option<WindowLaw> {
    window_dynamics(flow).map(|d| d.law)
}

impl Equilibrium {
    /// Sets the links at which the equilibrium has a queue.
    pub(crate) fn mark_queued(&self, queued: &mut [bool]) {
        let links = queued.iter_mut().zip(&self.queuing_delay);
        links.for_each(|(queued, delay)| *queued |= *delay > LEAST_PRICE);
    }
}

impl Found {
    /// Adds notes on the assumptions that a scenario's equilibria make about its flows. `queued` marks the
    /// links that have a queue in one of them.
    pub(crate) fn assume(&mut self, scenario: &Scenario, queued: &[bool]) {
        let state = scenario.at(Time::ZERO);
        let mut groups: BTreeMap<usize, Doubts> = BTreeMap::new();
        let mut last: Vec<Option<Time>> = vec![None; scenario.links.len()];
        let mut starts: Vec<usize> = (0..scenario.flows.len()).collect();
        starts.sort_by_key(|&flow| scenario.flows[flow].start);
        for together in starts.chunk_by(|&a, &b| scenario.flows[a].start == scenario.flows[b].start)
        {
            for &flow in together {
                let f = &scenario.flows[flow];
                let path = || state.path(flow).iter().filter(|&&l| queued[l]);
                if path().next().is_none() {
                    continue;
                }
                let doubts = groups.entry(f.group).or_default();
                let goal = objective(&f.controller);
                doubts.competes |= matches!(goal, Some(Objective::AccumulationUnlessOthers { .. }));
                if let Some(WindowLaw::Vegas { low, high, .. }) = law(f) {
                    doubts.between |= low < high;
                }
                let measures = matches!(goal, Some(Objective::MeasuredAccumulation { .. }));
                if measures && f.demand.mean_rate().is_none() {
                    let within = SETTLED * state.base_rtt(flow).as_secs_f64();
                    let near = |at: Time| f.start.since(at).as_secs_f64() <= within;
                    doubts.close |= path().any(|&l| last[l].is_some_and(near));
                }
            }
            for &flow in together {
                let start = scenario.flows[flow].start;
                state.path(flow).iter().for_each(|&l| last[l] = Some(start));
            }
        }
        for (group, doubts) in groups {
            let name = &scenario.groups[group].name;
            if doubts.competes {
                self.notes.add_of("swings", name, 0.1, format!(
                    "{name} meets its target only on average; the link may go idle, and it queues more alongside flows that fill the buffer"
                ));
            }
            if doubts.between {
                self.notes.add_of("band", name, 0.3, format!(
                    "{name} rests anywhere between its two thresholds: each point between them is an equilibrium, and the one in the middle is shown"
                ));
            }
            if doubts.close {
                self.notes.add_of("base", name, 0.2, format!(
                    "base round-trip times of {name} are not known: flows start within {SETTLED} round trips of each other, while queues form, and take a queue for a part of the base; here they see none"
                ));
            }
        }
    }
}
