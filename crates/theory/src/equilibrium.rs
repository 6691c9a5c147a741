//! The equilibrium of a scenario, phase by phase.
//!
//! In each phase (between starts, stops and changes) every controlled flow keeps its target
//! accumulation a on its path. With the rates x and the queuing delays p this is the problem `max Σ
//! a ln x` within the capacities [Xia05 propositions 1 and 2, Low02 theorem 1]. Rates are in bytes
//! per second here and prices in seconds, so weights are accumulations in bytes.
//!
//! Flows that measure their base round-trip time mistake an existing queue for part of it [Low02 theorem 3].
//! Each phase begins with the queues of the previous one, if it was long enough for them to form. Flows that
//! start one after the other therefore follow the recursion of [Low02 eqs. 27-29]. A REM link has a price but
//! no queue [Low02 §5].
//!
//! A flow over a stopped link has the rate 0, and the others share the other links. A delay over
//! such a link has no value. While no flow is active all loads, queues and prices are 0.
//!
//! Acknowledgements, counts, control pairs and reports are a load that follows from rates and round-trip
//! times (`way_back`).
//!
//! Departures. A flow of finite size sends at the rate of the equilibrium until its end (`transfers`). Web
//! users are left out of the equilibrium, or are a fixed load if the scenario gives one. A note says which.

use crate::shortfall::{Outcome, Shortfall};
use crate::transfers::Transfers;
use crate::warm::{Settled, Unsettled, Warm};
use accord_family::{Objective, Price};
use accord_record::{Certificate, Interrupted, Notes, Observer};
use accord_scenario::{Limit, LinkId, Phase, Scenario};
use accord_solver::{ProblemError, Solution, Status};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::BTreeMap;

/// The reason why a scenario has no theory run.
#[derive(Debug, thiserror::Error)]
pub enum EquilibriumError {
    /// A phase of the scenario is not a valid problem.
    #[error("phase {start}-{end}: {source}")]
    Problem {
        /// The start of the phase.
        start: Time,
        /// The end of the phase.
        end: Time,
        /// The error of the problem.
        source: ProblemError,
    },
    /// The observer stopped the run.
    #[error("interrupted")]
    Interrupted,
}

impl EquilibriumError {
    /// Returns a function that turns the error of a problem into that of this phase.
    pub(crate) fn of(phase: &Phase) -> impl Fn(ProblemError) -> EquilibriumError + use<> {
        let (start, end) = (phase.start, phase.end);
        move |source| EquilibriumError::Problem { start, end, source }
    }
}

impl From<Interrupted> for EquilibriumError {
    fn from(_: Interrupted) -> Self {
        EquilibriumError::Interrupted
    }
}

/// Results on the phases of a scenario in addition to their values.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) certificates: Vec<Certificate>,
    pub(crate) notes: Notes,
    pub(crate) shortfalls: Vec<Shortfall>,
}

/// The size of a note on prices that are not unique, although rates are.
const NOT_UNIQUE: f64 = 0.01;

/// The number of round trips in which queues form. A shorter phase leaves no queues behind.
pub(crate) const SETTLED: f64 = 20.0;

/// Returns whether a phase of `length` leaves behind the queues of the equilibrium for a flow with
/// this base round-trip time. Both are in seconds.
pub(crate) fn leaves_queues(length: f64, base_rtt: f64) -> bool {
    length > SETTLED * base_rtt
}

/// The queues at the end of a phase.
pub(crate) struct Left {
    /// The length of the phase, in seconds.
    pub(crate) length: f64,
    /// The queuing delay of each link, in seconds.
    pub(crate) queuing_delay: Vec<f64>,
}

/// Computes the phases between the [cuts](Scenario::cuts) of a scenario in order, and passes the
/// equilibrium and the end of each to `take`. A phase is cut further at the ends of transfers, but
/// no finer than by `period`.
///
/// A phase that is not `wanted` is skipped if nothing depends on it: it is too short to leave queues behind,
/// and no event changes the network at its end. Its flows then measure the same in the next phase. A hundred
/// thousand flows that start within a second cause as many phases, of which samples show few.
pub(crate) fn phases(
    scenario: &Scenario,
    period: Duration,
    observer: &mut dyn Observer,
    wanted: impl Fn(Time, Time) -> bool,
    mut take: impl FnMut(Time, Option<&Equilibrium>),
) -> Result<Found, EquilibriumError> {
    let mut found = Found::default();
    let mut measured = vec![f64::INFINITY; scenario.flows.len()];
    let mut left: Option<Left> = None;
    let mut shortest = Shortest::new(scenario);
    let mut warm = Warm::default();
    let mut transfers = Transfers::new(scenario, period);
    let mut queued = vec![false; scenario.links.len()];
    for span in scenario.cuts().windows(2) {
        observer.progress(span[0])?;
        if !wanted(span[0], span[1]) && shortest.leaves_nothing(span[0], span[1]) {
            left = None;
            transfers.go_on(span[1].since(span[0]));
            continue;
        }
        let mut start = span[0];
        while start < span[1] {
            let mut phase = scenario.phase(start, span[1]);
            phase.active.retain(|&flow| !transfers.is_done(flow));
            let mut state = State::at(scenario, start);
            let idle = phase.active.is_empty();
            state.leave_out(&mut phase, &mut found.notes);
            let there = phase.active.clone();
            let riders = state.take_riders(&mut phase);
            state.measure(&phase, left.as_ref(), &mut measured);
            let mut equilibrium = if idle {
                Some(state.idle())
            } else {
                state.equilibrium(&phase, &mut found, &mut warm, observer)?
            };
            if let Some(e) = &mut equilibrium
                && let Some(why) = state.share_out(&riders, &phase, e)?
            {
                let (start, end) = (phase.start, phase.end);
                found.notes.add("none", f64::INFINITY, format!("{start}-{end}: {why}"));
                equilibrium = None;
            }
            transfers.set_rates(&there, equilibrium.as_ref().map(|e| &e.rate[..]));
            let length = transfers.until_done(phase.end.since(start));
            transfers.go_on(length);
            start += length;
            take(start, equilibrium.as_ref());
            if let Some(e) = &equilibrium {
                e.mark_queued(&mut queued);
            }
            left = equilibrium
                .map(|e| Left { length: length.as_secs_f64(), queuing_delay: e.queuing_delay });
        }
    }
    found.assume(scenario, &queued);
    Ok(found)
}

/// The shortest base round-trip time of the flows, which events change.
struct Shortest<'a> {
    scenario: &'a Scenario,
    /// The number of events when it was computed, and the time in seconds.
    known: Option<(usize, f64)>,
}

impl Shortest<'_> {
    fn new(scenario: &Scenario) -> Shortest<'_> {
        Shortest { scenario, known: None }
    }

    /// Returns whether a phase is too short to leave queues behind and the network is the same
    /// after it.
    fn leaves_nothing(&mut self, start: Time, end: Time) -> bool {
        let events = &self.scenario.events;
        let happened = events.partition_point(|e| e.at <= start);
        if events.get(happened).is_some_and(|e| e.at <= end) {
            return false;
        }
        let shortest = match self.known {
            Some((at, shortest)) if at == happened => shortest,
            _ => {
                let state = self.scenario.at(start);
                let flows = 0..self.scenario.flows.len();
                let times = flows.map(|flow| state.base_rtt(flow).as_secs_f64());
                let shortest = times.fold(f64::INFINITY, f64::min);
                self.known = Some((happened, shortest));
                shortest
            }
        };
        !leaves_queues(end.since(start).as_secs_f64(), shortest)
    }
}

/// The network at some time.
pub(crate) struct State<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) network: accord_scenario::State<'a>,
    /// The rates of links, in bytes per second.
    pub(crate) rate: Vec<f64>,
    /// The excess of each flow's estimate of its base round-trip time over the true one, in
    /// seconds.
    pub(crate) bias: Vec<f64>,
    /// The offered rates of tunnels, in bytes per second, or `None` for greedy ones.
    pub(crate) carried: BTreeMap<usize, Option<f64>>,
}

/// The values of a phase, by flow and by link.
pub(crate) struct Equilibrium {
    /// The rates of flows, in bytes per second.
    pub(crate) rate: Vec<f64>,
    pub(crate) rtt: Vec<f64>,
    pub(crate) base_rtt: Vec<f64>,
    pub(crate) accumulation: Vec<f64>,
    pub(crate) estimate: Vec<f64>,
    pub(crate) price: Vec<f64>,
    pub(crate) marking: Vec<f64>,
    pub(crate) queuing_delay: Vec<f64>,
    pub(crate) load: Vec<f64>,
    /// The part of the load that overtakes the queue of each link.
    pub(crate) overtakes: Vec<f64>,
    /// The number of packets per second that arrive at each link.
    pub(crate) arrivals: Vec<f64>,
    pub(crate) backlog_packets: Vec<f64>,
    pub(crate) rate_of_link: Vec<f64>,
    pub(crate) steps: u64,
}

impl Equilibrium {
    /// Returns the bytes that wait at a link. Packets that overtake the queue take part of its rate.
    pub(crate) fn backlog(&self, link: LinkId) -> f64 {
        self.queuing_delay[link] * (self.rate_of_link[link] - self.overtakes[link]).max(0.0)
    }
}

impl<'a> State<'a> {
    fn at(scenario: &'a Scenario, time: Time) -> State<'a> {
        let network = scenario.at(time);
        State {
            scenario,
            rate: network.rate.iter().map(|r| r.as_bps_f64() / 8.0).collect(),
            network,
            bias: vec![0.0; scenario.flows.len()],
            carried: BTreeMap::new(),
        }
    }

    /// Returns the round-trip time that the flow measures over empty queues, in seconds.
    pub(crate) fn base_rtt(&self, flow: usize) -> f64 {
        self.network.base_rtt(flow).as_secs_f64()
    }

    /// Returns the name of a flow's group.
    pub(crate) fn group(&self, flow: usize) -> &str {
        &self.scenario.groups[self.scenario.flows[flow].group].name
    }

    /// Returns the equilibrium of a phase, or adds a note and returns `None`.
    fn equilibrium(
        &self,
        phase: &Phase,
        found: &mut Found,
        warm: &mut Warm,
        observer: &mut dyn Observer,
    ) -> Result<Option<Equilibrium>, EquilibriumError> {
        if phase.active.is_empty() {
            return Ok(None);
        }
        let mut shortfall = Shortfall {
            start: phase.start,
            end: phase.end,
            oversubscribed: self.oversubscribed(phase),
            held: Vec::new(),
            outcome: Outcome::None,
        };
        let (still, moving): (Vec<usize>, Vec<usize>) =
            phase.active.iter().partition(|&&flow| self.is_still(flow));
        let part = Phase { active: moving, ..phase.clone() };
        let mut equilibrium = if part.active.is_empty() {
            Some(self.idle())
        } else {
            self.solved(&part, found, &mut shortfall, warm, observer)?
        };
        if let Some(e) = &mut equilibrium {
            still.into_iter().for_each(|flow| e.rate[flow] = 0.0);
        }
        if !(shortfall.oversubscribed.is_empty() && shortfall.held.is_empty()) {
            found.shortfalls.push(shortfall);
        }
        Ok(equilibrium)
    }

    fn solved(
        &self,
        phase: &Phase,
        found: &mut Found,
        shortfall: &mut Shortfall,
        warm: &mut Warm,
        observer: &mut dyn Observer,
    ) -> Result<Option<Equilibrium>, EquilibriumError> {
        let s = self.scenario;
        let notes = &mut found.notes;
        let mut demands = Vec::new();
        for &flow in &phase.active {
            let Some(demand) = self.demand(flow) else {
                let controller = &s.flows[flow].controller;
                let name = controller.family().name;
                let why = match controller.family().role.objective(controller) {
                    Some(Objective::Loss | Objective::WeightedLoss) => "reacts to loss",
                    _ => "steers no queue of its own",
                };
                let group = self.group(flow);
                let text = format!("{group} ({name}) {why}: theory has no equilibrium for it");
                notes.add("none", f64::INFINITY, text);
                return Ok(None);
            };
            demands.push(demand);
        }
        let span = format!("{}-{}", phase.start, phase.end);
        let none = |text: String| ("none", f64::INFINITY, format!("{span}: {text}"));
        let settled = self.settle(phase, &demands, warm, observer)?;
        let Settled { problem, mut solution } = match settled {
            Ok(settled) => settled,
            Err(Unsettled { apart }) => {
                let (effect, size, text) = none(format!(
                    "no equilibrium of data and acknowledgements was found; the best attempt has a residual of {apart:.0e}"
                ));
                notes.add(effect, size, text);
                return Ok(None);
            }
        };
        self.leave_out_losses_of(phase, notes);
        let c = &solution.certificate;
        match &solution.status {
            Status::Solved => found.certificates.push(Certificate {
                start: phase.start,
                end: phase.end,
                stationarity: c.stationarity,
                feasibility: c.primal.max(c.dual),
                complementarity: c.complementarity,
                gap: c.relative_gap,
            }),
            Status::NotConverged => {
                let worst = c.worst();
                let (effect, size, text) = none(format!(
                    "no equilibrium was found; the best attempt has a residual of {worst:.0e}"
                ));
                notes.add(effect, size, text);
                return Ok(None);
            }
            &Status::Infeasible { link, insisted, capacity } => {
                match self.full_buffers(phase, problem, observer)? {
                    Some((links, held)) => {
                        shortfall.outcome = Outcome::FullBuffers(links);
                        shortfall.held = held;
                    }
                    None => {
                        let (effect, size, text) = none(format!(
                            "no equilibrium: flows insist on {} of {}, which has {}, and neither a queue nor losses slow them",
                            Rate::from_bps_f64(8.0 * insisted),
                            s.links[link].name,
                            Rate::from_bps_f64(8.0 * capacity),
                        ));
                        notes.add(effect, size, text);
                    }
                }
                return Ok(None);
            }
        }
        if let Some((flow, link)) = self.misread(phase, &solution.prices) {
            let (effect, size, text) = none(format!(
                "no equilibrium: {} ({}) does not read the price that {} shows{}",
                self.group(flow),
                s.flows[flow].controller.family().name,
                s.links[link].name,
                if self.hidden(flow, link) {
                    ", where its control packets wait with the rest"
                } else {
                    ""
                }
            ));
            notes.add(effect, size, text);
            return Ok(None);
        }
        if let Some((link, why)) = self.meddles(phase, &problem, &solution) {
            let (effect, size, text) = none(format!(
                "no equilibrium: the flows over {} keep an accumulation, and its queue signals no price to them: {why}",
                s.links[link].name
            ));
            notes.add(effect, size, text);
            return Ok(None);
        }
        self.leave_out_of(phase, &problem, &solution, notes);
        for text in self.place_prices(phase, &problem, &mut solution) {
            notes.add(text.clone(), NOT_UNIQUE, text);
        }
        shortfall.held = self.held_at_limits(phase, &problem, &solution);
        shortfall.outcome = Outcome::Equilibrium;
        let e = self.values(phase, &solution);
        self.check_buffers(&e, notes);
        Ok(Some(e))
    }

    /// Returns the equilibrium while nothing is sent.
    fn idle(&self) -> Equilibrium {
        let s = self.scenario;
        let no_flow = || vec![f64::NAN; s.flows.len()];
        let no_queue = || vec![0.0; s.links.len()];
        let mut e = Equilibrium {
            rate: no_flow(),
            rtt: no_flow(),
            base_rtt: no_flow(),
            accumulation: no_flow(),
            estimate: no_flow(),
            price: no_queue(),
            marking: vec![f64::NAN; s.links.len()],
            queuing_delay: no_queue(),
            load: no_queue(),
            overtakes: no_queue(),
            arrivals: no_queue(),
            backlog_packets: no_queue(),
            rate_of_link: self.rate.clone(),
            steps: 0,
        };
        self.mark(&[], &mut e);
        e
    }

    fn values(&self, phase: &Phase, solution: &Solution) -> Equilibrium {
        let s = self.scenario;
        let queuing_delay: Vec<f64> = (0..s.links.len())
            .map(|l| match self.price_of(l) {
                Price::VirtualDelay { .. } | Price::Marks { .. } => 0.0,
                Price::QueuingDelay | Price::Loss => solution.prices[l],
            })
            .collect();
        let mut e = Equilibrium {
            price: solution.prices.clone(),
            steps: solution.iterations as u64,
            queuing_delay,
            ..self.idle()
        };
        for (&flow, &x) in phase.active.iter().zip(&solution.rates) {
            let sum = |path: &[LinkId], of: &[f64]| path.iter().map(|&l| of[l]).sum::<f64>();
            let forward = sum(self.network.path(flow), &e.queuing_delay);
            // Control packets return ahead of the data, unless a link has one queue for both.
            let pairs = s.flows[flow].goes_by_pairs();
            let waits = |l: &LinkId| !pairs || self.hidden(flow, *l);
            let back = self.network.reverse_path(flow).iter().copied().filter(waits);
            let backward: f64 = back.map(|l| e.queuing_delay[l]).sum();
            e.rate[flow] = x;
            let base_rtt = self.base_rtt(flow);
            e.base_rtt[flow] = base_rtt + self.believed_bias(flow);
            e.rtt[flow] = base_rtt + forward + backward;
            e.accumulation[flow] = x * forward;
            let price = sum(self.network.path(flow), &e.price);
            let behind = self.seen_behind(flow, &e.price);
            e.estimate[flow] = x * (price + behind - self.believed_bias(flow)).max(0.0);
            for &l in self.network.path(flow) {
                e.load[l] += x;
                e.arrivals[l] += x / s.flows[flow].packet.as_f64();
                e.backlog_packets[l] += x * e.queuing_delay[l] / s.flows[flow].packet.as_f64();
            }
            self.add_control(flow, x, &mut e);
        }
        self.mark(&phase.active, &mut e);
        e
    }

    /// Adds the control pairs and answers that come with the data of a flow of rate `x` to the loads.
    fn add_control(&self, flow: usize, x: f64, e: &mut Equilibrium) {
        let answers = self.scenario.flows[flow].answers();
        let rtt = self.data_rtt(flow, &e.price);
        let (half, pairs) = (answers.half(x, rtt), answers.pairs(x, rtt));
        for &l in self.network.path(flow) {
            e.load[l] += 2.0 * half;
            e.arrivals[l] += 2.0 * pairs;
            // Both halves wait at a link without overtaking.
            let ahead = self.overtakes(flow, l);
            e.overtakes[l] += if ahead { half } else { 0.0 };
            e.backlog_packets[l] += if ahead { 1.0 } else { 2.0 } * pairs * e.queuing_delay[l];
        }
        let (load, packets) = (answers.rate(x, rtt), answers.packets(x, rtt));
        for &l in self.network.reverse_path(flow) {
            e.load[l] += load;
            e.arrivals[l] += packets;
            if self.overtakes(flow, l) {
                e.overtakes[l] += load;
            } else {
                e.backlog_packets[l] += packets * e.queuing_delay[l];
            }
        }
    }

    /// Adds a note if the queues of an equilibrium do not fit, because the equilibrium is then not
    /// reached [Har02 eq. 17].
    fn check_buffers(&self, e: &Equilibrium, notes: &mut Notes) {
        for (l, link) in self.scenario.links.iter().enumerate() {
            let backlog = e.backlog(l);
            let (part, needs, has) = match link.queue.limit {
                // The packet in service also takes room.
                Limit::Packets(n) if e.backlog_packets[l] > n as f64 - 1.0 => (
                    (e.backlog_packets[l] + 1.0) / n as f64,
                    format!("{:.1} pkt and one in service", e.backlog_packets[l]),
                    format!("{n} pkt"),
                ),
                Limit::Bytes(b) if backlog > b.as_f64() => {
                    (backlog / b.as_f64(), Bytes::from_f64(backlog).to_string(), b.to_string())
                }
                _ => continue,
            };
            let name = &link.name;
            notes.add_of("buffer", name, part, format!(
                "the equilibrium queue of {name} is {needs}, its buffer {has}: flows will lose packets and not reach it"
            ));
        }
    }
}
