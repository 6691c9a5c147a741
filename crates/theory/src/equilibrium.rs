//! From a scenario to its equilibrium, phase by phase, and back to a run.
//!
//! In each phase (between starts, stops and changes) every controlled flow keeps its target
//! accumulation a on its path; with x the rates and p the queuing delays this is the problem
//! `max Σ a ln x` within the capacities [Xia05 propositions 1 and 2, Low02 theorem 1]. Rates
//! are in bytes per second here and prices in seconds, so weights are accumulations in bytes.
//!
//! Flows that measure their base round-trip time take the queue that they find for a part of it
//! [Low02 theorem 3]: each phase begins with the queues of the one before, if that was long
//! enough for them to form. So flows that start one after the other give the recursion of
//! [Low02 eqs. 27-29]. A REM link has a price and no queue [Low02 §5].
//!
//! Departures: control packets and acknowledgements are not counted as load; a flow of finite
//! size counts as if it had no end.

use crate::{Demand, Problem, ProblemError, Routes, Settings, Solution, Status, solve};
use accord_scenario::{
    Certificate, Change, Engine, Entity, Interrupted, Limit, LinkId, Manifest, Metric, Observer,
    Phase, Run, Scenario, Series, Statistics,
};
use accord_units::param::Role;
use accord_units::{Bytes, Duration, Objective, Price, Target, Time};

/// Why a scenario has no theory run.
#[derive(Debug, thiserror::Error)]
pub enum EquilibriumError {
    /// The scenario does not make a problem.
    #[error("phase {start}-{end}: {source}")]
    Problem {
        /// Start of the phase.
        start: Time,
        /// End of the phase.
        end: Time,
        /// What is wrong.
        source: ProblemError,
    },
    /// The observer stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl From<Interrupted> for EquilibriumError {
    fn from(_: Interrupted) -> Self {
        EquilibriumError::Interrupted
    }
}

/// The series of a theory run have no more samples than this.
const LONGEST: u64 = 4096;
/// Nor, as long as that leaves [`FEWEST`], more values in all (128 MiB).
const BUDGET: u64 = 1 << 24;
const FEWEST: u64 = 16;

/// Prices below a picosecond are none: no time is counted finer.
const LEAST_PRICE: f64 = 1e-12;

/// Queues form within so many round trips; a shorter phase leaves none behind.
const SETTLED: f64 = 20.0;

/// Computes the equilibrium of each phase of a scenario.
///
/// # Errors
/// When a phase is not a valid problem, or the observer stops it. A phase without an
/// equilibrium is not an error: its values are absent and a note says why.
pub fn run(scenario: &Scenario, observer: &mut dyn Observer) -> Result<Run, EquilibriumError> {
    let (mut notes, mut certificates) = (Vec::new(), Vec::new());
    let mut steps = 0;
    let mut phases: Vec<(Phase, Option<Equilibrium>)> = Vec::new();
    let mut measured = vec![f64::INFINITY; scenario.flows.len()];
    for phase in scenario.phases() {
        observer.progress(phase.start)?;
        let mut state = State::at(scenario, phase.start);
        state.measure(&phase, phases.last(), &mut measured);
        let equilibrium = state
            .equilibrium(&phase, &mut certificates, &mut notes)
            .map_err(|source| EquilibriumError::Problem {
                start: phase.start,
                end: phase.end,
                source,
            })?;
        steps += equilibrium.as_ref().map_or(0, |e| e.steps);
        phases.push((phase, equilibrium));
    }
    notes.dedup();
    let (time, series) = series(scenario, &phases);
    Ok(Run {
        manifest: Manifest {
            engine: Engine::Theory,
            version: env!("CARGO_PKG_VERSION"),
            scenario_hash: scenario.hash(),
            seed: scenario.seed,
            digest: digest(&series),
        },
        time,
        series,
        statistics: Statistics {
            packet_hops: 0,
            steps,
        },
        certificates,
        notes,
    })
}

/// The network as it is at some time.
struct State<'a> {
    scenario: &'a Scenario,
    rate: Vec<f64>,
    delay: Vec<Duration>,
    path: Vec<&'a [LinkId]>,
    reverse_path: Vec<&'a [LinkId]>,
    /// By how much each flow takes its base round-trip time for longer than it is, in seconds.
    bias: Vec<f64>,
}

/// The values of a phase, by flow and by link.
struct Equilibrium {
    /// Bytes per second.
    rate: Vec<f64>,
    rtt: Vec<f64>,
    base_rtt: Vec<f64>,
    accumulation: Vec<f64>,
    estimate: Vec<f64>,
    price: Vec<f64>,
    marking: Vec<f64>,
    queuing_delay: Vec<f64>,
    load: Vec<f64>,
    backlog_packets: Vec<f64>,
    rate_of_link: Vec<f64>,
    steps: u64,
}

impl<'a> State<'a> {
    fn at(scenario: &'a Scenario, time: Time) -> State<'a> {
        let mut state = State {
            scenario,
            rate: scenario
                .links
                .iter()
                .map(|l| l.rate.as_bps_f64() / 8.0)
                .collect(),
            delay: scenario.links.iter().map(|l| l.delay).collect(),
            path: scenario.flows.iter().map(|f| &f.path[..]).collect(),
            reverse_path: scenario.flows.iter().map(|f| &f.reverse_path[..]).collect(),
            bias: vec![0.0; scenario.flows.len()],
        };
        for event in scenario.events.iter().filter(|e| e.at <= time) {
            match &event.change {
                Change::Delay(link, delay) => state.delay[*link] = *delay,
                Change::Rate(link, rate) => state.rate[*link] = rate.as_bps_f64() / 8.0,
                Change::Route {
                    flow,
                    path,
                    reverse_path,
                } => {
                    state.path[*flow] = path;
                    state.reverse_path[*flow] = reverse_path;
                }
            }
        }
        state
    }

    /// Propagation and transmission there and back, in seconds.
    fn base_rtt(&self, flow: usize) -> f64 {
        let f = &self.scenario.flows[flow];
        let way = |path: &[LinkId], size: Bytes| -> f64 {
            path.iter()
                .map(|&l| self.delay[l].as_secs_f64() + size.as_f64() / self.rate[l])
                .sum()
        };
        way(self.path[flow], f.packet) + way(self.reverse_path[flow], f.ack)
    }

    /// The smallest round-trip time that each flow has measured so far, in seconds, in
    /// `measured`: what it finds at the start of `phase`, where the queues are still those of
    /// the phase before. What that is more than the base is its bias.
    fn measure(
        &mut self,
        phase: &Phase,
        before: Option<&(Phase, Option<Equilibrium>)>,
        measured: &mut [f64],
    ) {
        for &flow in &phase.active {
            let base = self.base_rtt(flow);
            let queued = match before {
                Some((p, Some(e))) if p.end.since(p.start).as_secs_f64() > SETTLED * base => {
                    let links = self.path[flow].iter().chain(self.reverse_path[flow]);
                    links.map(|&l| e.queuing_delay[l]).sum()
                }
                _ => 0.0,
            };
            measured[flow] = measured[flow].min(base + queued);
            self.bias[flow] = measured[flow] - base;
        }
    }

    fn price_of(&self, link: LinkId) -> Price {
        let discipline = &self.scenario.links[link].queue.discipline;
        match discipline.family().role {
            Role::Queue(price) => price(discipline),
            Role::Controller(_) => Price::QueuingDelay,
        }
    }

    /// What a flow sends at a price; `None` for a flow that theory says nothing of.
    fn demand(&self, flow: usize) -> Option<Demand> {
        use accord_scenario::Demand as Wants;
        let f = &self.scenario.flows[flow];
        let Role::Controller(objective) = f.controller.family().role else {
            return None;
        };
        let offered = match f.demand {
            Wants::Constant(rate) | Wants::Poisson(rate) => Some(rate.as_bps_f64() / 8.0),
            Wants::OnOff {
                rate: Some(rate),
                burst,
                pause,
            } => {
                let rate = rate.as_bps_f64() / 8.0;
                let on = burst.mean().as_f64() / rate;
                Some(rate * on / (on + pause.mean().as_secs_f64()))
            }
            // As if bursts took no time: the most that such an application comes to.
            Wants::OnOff {
                rate: None,
                burst,
                pause,
            } => Some(burst.mean().as_f64() / pause.mean().as_secs_f64()),
            Wants::Greedy | Wants::Size(_) => None,
        };
        let amount = |target: Target, base_rtt: f64| match target {
            Target::Amount(size) => size.bytes_f64(f.packet),
            Target::PerRoundTrip(rate) => rate.as_bps_f64() / 8.0 * base_rtt,
        };
        let base_rtt = self.base_rtt(flow);
        let bias = self.bias[flow];
        let weight = match objective(&f.controller) {
            // A flow of limited rate counts as one that knows its base.
            Objective::MeasuredAccumulation { target } if bias != 0.0 && offered.is_none() => {
                let weight = amount(target, base_rtt + bias);
                return Some(Demand::Vegas { weight, bias });
            }
            Objective::Accumulation { target } => target.bytes_f64(f.packet),
            Objective::AccumulationPerRoundTrip { rate } => {
                amount(Target::PerRoundTrip(rate), base_rtt)
            }
            Objective::MeasuredAccumulation { target } | Objective::Marks { target, .. } => {
                amount(target, base_rtt)
            }
            Objective::Unresponsive => return offered.map(|rate| Demand::Fixed { rate }),
            Objective::Loss => return None,
        };
        Some(match offered {
            Some(cap) => Demand::Capped { weight, cap },
            None => Demand::Log { weight },
        })
    }

    /// Whether a flow reads the price that a link shows. Loss counts as a queuing delay: what
    /// the flow keeps queued is queued there, too.
    fn reads(&self, flow: usize, link: LinkId) -> bool {
        let controller = &self.scenario.flows[flow].controller;
        let Role::Controller(objective) = controller.family().role else {
            return false;
        };
        match (objective(controller), self.price_of(link)) {
            (Objective::Unresponsive, _) => true,
            (Objective::Marks { phi, .. }, Price::Marks { phi: of_link }) => phi == of_link,
            (Objective::Marks { .. }, _) | (_, Price::Marks { .. }) => false,
            _ => true,
        }
    }

    /// A flow and a link that limits it by a price that the flow does not read.
    fn misread(&self, phase: &Phase, prices: &[f64]) -> Option<(usize, LinkId)> {
        let hops = (phase.active.iter())
            .flat_map(|&flow| self.path[flow].iter().map(move |&link| (flow, link)));
        hops.into_iter()
            .find(|&(flow, link)| prices[link] > LEAST_PRICE && !self.reads(flow, link))
    }

    /// The equilibrium of a phase, or `None` with a note.
    fn equilibrium(
        &self,
        phase: &Phase,
        certificates: &mut Vec<Certificate>,
        notes: &mut Vec<String>,
    ) -> Result<Option<Equilibrium>, ProblemError> {
        let s = self.scenario;
        if phase.active.is_empty() {
            return Ok(None);
        }
        let mut demands = Vec::new();
        for &flow in &phase.active {
            let Some(demand) = self.demand(flow) else {
                let f = &s.flows[flow];
                let name = f.controller.family().name;
                let group = &s.groups[f.group].name;
                notes.push(format!(
                    "theory: {group} ({name}) keeps no accumulation of its own choosing, so phases with it have no equilibrium here"
                ));
                return Ok(None);
            };
            demands.push(demand);
        }
        let capacity: Vec<f64> = (0..s.links.len())
            .map(|l| match self.price_of(l) {
                Price::VirtualDelay { utilisation } => self.rate[l] * utilisation,
                Price::QueuingDelay | Price::Marks { .. } | Price::Loss => self.rate[l],
            })
            .collect();
        let routes = Routes::new(
            s.links.len(),
            phase
                .active
                .iter()
                .map(|&f| -> Vec<u32> { self.path[f].iter().map(|&l| l as u32).collect() }),
        )?;
        let problem = Problem::new(routes, capacity, demands)?;
        let solution = solve(&problem, &Settings::default());
        let span = format!("theory, {}-{}", phase.start, phase.end);
        let c = &solution.certificate;
        match &solution.status {
            Status::Solved => certificates.push(Certificate {
                start: phase.start,
                end: phase.end,
                stationarity: c.stationarity,
                feasibility: c.primal.max(c.dual),
                complementarity: c.complementarity,
                gap: c.relative_gap,
            }),
            Status::NotConverged => {
                let worst = c.worst();
                notes.push(format!("{span}: no equilibrium was found; the best that was has a residual of {worst:.0e}"));
                return Ok(None);
            }
            status => {
                notes.push(format!("{span}: no equilibrium: {status:?}"));
                return Ok(None);
            }
        }
        if let Some((flow, link)) = self.misread(phase, &solution.prices) {
            notes.push(format!(
                "{span}: no equilibrium: {} ({}) does not read the price that {} shows",
                s.groups[s.flows[flow].group].name,
                s.flows[flow].controller.family().name,
                s.links[link].name
            ));
            return Ok(None);
        }
        let e = self.values(phase, &solution);
        self.check_buffers(&e, &span, notes);
        Ok(Some(e))
    }

    fn values(&self, phase: &Phase, solution: &Solution) -> Equilibrium {
        let s = self.scenario;
        let nan = || vec![f64::NAN; s.flows.len()];
        let queuing_delay: Vec<f64> = (0..s.links.len())
            .map(|l| match self.price_of(l) {
                Price::VirtualDelay { .. } | Price::Marks { .. } => 0.0,
                Price::QueuingDelay | Price::Loss => solution.prices[l],
            })
            .collect();
        let mut e = Equilibrium {
            rate: nan(),
            rtt: nan(),
            base_rtt: nan(),
            accumulation: nan(),
            estimate: nan(),
            price: solution.prices.clone(),
            marking: vec![f64::NAN; s.links.len()],
            load: vec![0.0; s.links.len()],
            backlog_packets: vec![0.0; s.links.len()],
            rate_of_link: self.rate.clone(),
            steps: solution.iterations as u64,
            queuing_delay,
        };
        for (&flow, &x) in phase.active.iter().zip(&solution.rates) {
            let sum = |path: &[LinkId], of: &[f64]| path.iter().map(|&l| of[l]).sum::<f64>();
            let forward = sum(self.path[flow], &e.queuing_delay);
            let backward = sum(self.reverse_path[flow], &e.queuing_delay);
            e.rate[flow] = x;
            let base_rtt = self.base_rtt(flow);
            e.base_rtt[flow] = base_rtt + self.believed_bias(flow);
            e.rtt[flow] = base_rtt + forward + backward;
            e.accumulation[flow] = x * forward;
            e.estimate[flow] =
                x * (sum(self.path[flow], &e.price) - self.believed_bias(flow)).max(0.0);
            for &l in self.path[flow] {
                e.load[l] += x;
                e.backlog_packets[l] += x * e.queuing_delay[l] / s.flows[flow].packet.as_f64();
            }
        }
        self.mark(phase, &mut e);
        e
    }

    /// The bias of a flow that measures its base round-trip time; zero for others.
    fn believed_bias(&self, flow: usize) -> f64 {
        let controller = &self.scenario.flows[flow].controller;
        match controller.family().role {
            Role::Controller(objective)
                if matches!(
                    objective(controller),
                    Objective::MeasuredAccumulation { .. }
                ) =>
            {
                self.bias[flow]
            }
            _ => 0.0,
        }
    }

    /// Shares of marked packets [Low02 eq. 31]: each link marks of what no link before it has
    /// marked.
    fn mark(&self, phase: &Phase, e: &mut Equilibrium) {
        let mut marked = vec![0.0; e.load.len()];
        for &flow in &phase.active {
            let mut unmarked = e.rate[flow];
            for &l in self.path[flow] {
                if let Price::Marks { phi } = self.price_of(l) {
                    let share = -(-e.price[l] * 1e3 * phi.ln()).exp_m1();
                    marked[l] += unmarked * share;
                    unmarked *= 1.0 - share;
                }
            }
        }
        for (l, marked) in marked.into_iter().enumerate() {
            if matches!(self.price_of(l), Price::Marks { .. }) && e.load[l] > 0.0 {
                e.marking[l] = marked / e.load[l];
            }
        }
    }

    /// An equilibrium whose queues do not fit is not reached [Har02 eq. 17].
    fn check_buffers(&self, e: &Equilibrium, span: &str, notes: &mut Vec<String>) {
        for (l, link) in self.scenario.links.iter().enumerate() {
            let backlog = e.queuing_delay[l] * self.rate[l];
            let (needs, has) = match link.queue.limit {
                Limit::Packets(n) if e.backlog_packets[l] > n as f64 => (
                    format!("{:.1} pkt", e.backlog_packets[l]),
                    format!("{n} pkt"),
                ),
                Limit::Bytes(b) if backlog > b.as_f64() => {
                    (Bytes::from_f64(backlog).to_string(), b.to_string())
                }
                _ => continue,
            };
            notes.push(format!(
                "{span}: the equilibrium queue of {} is {needs}, its buffer {has}: flows will lose packets and not reach it",
                link.name
            ));
        }
    }
}

/// The series, on the scenario's sampling grid or a coarser one.
fn series(scenario: &Scenario, phases: &[(Phase, Option<Equilibrium>)]) -> (Vec<f64>, Vec<Series>) {
    let mut period = scenario.sample;
    let columns = 8 * scenario.flows.len() as u64 + 5 * scenario.links.len() as u64;
    let most = (BUDGET / columns.max(1)).clamp(FEWEST, LONGEST);
    while scenario.duration.as_ps() / period.as_ps().max(1) > most {
        period = period * 2;
    }
    let samples = scenario.duration.as_ps() / period.as_ps().max(1);
    let time: Vec<f64> = (1..=samples).map(|k| (period * k).as_secs_f64()).collect();
    // The phase that a sampling period lies in, by its middle.
    let phase_of: Vec<usize> = (time.iter())
        .map(|t| {
            let middle = t - period.as_secs_f64() / 2.0;
            phases
                .partition_point(|(p, _)| p.end.as_secs_f64() <= middle)
                .min(phases.len() - 1)
        })
        .collect();
    let mut columns = Vec::new();
    let mut add = |entity, metric, value: &dyn Fn(&Equilibrium) -> f64| {
        let by_phase: Vec<f64> = phases
            .iter()
            .map(|(_, e)| e.as_ref().map_or(f64::NAN, value))
            .collect();
        let values = phase_of.iter().map(|&p| by_phase[p]).collect();
        columns.push(Series {
            metric,
            entity,
            values,
        });
    };
    for f in 0..scenario.flows.len() {
        let id = Entity::Flow(f);
        add(id, Metric::Throughput, &|e| e.rate[f] * 8.0);
        add(id, Metric::Goodput, &|e| e.rate[f] * 8.0);
        add(id, Metric::SendingRate, &|e| e.rate[f] * 8.0);
        add(id, Metric::Cwnd, &|e| e.rate[f] * e.rtt[f]);
        add(id, Metric::Rtt, &|e| e.rtt[f]);
        add(id, Metric::MinRtt, &|e| e.base_rtt[f]);
        add(id, Metric::Accumulation, &|e| e.accumulation[f]);
        add(id, Metric::AccumulationEstimate, &|e| e.estimate[f]);
    }
    for (l, _) in scenario
        .links
        .iter()
        .enumerate()
        .filter(|(_, link)| !link.attachment)
    {
        let id = Entity::Link(l);
        add(id, Metric::Backlog, &|e| {
            e.queuing_delay[l] * e.rate_of_link[l]
        });
        add(id, Metric::BacklogPackets, &|e| e.backlog_packets[l]);
        add(id, Metric::QueuingDelay, &|e| e.queuing_delay[l]);
        add(id, Metric::Utilisation, &|e| e.load[l] / e.rate_of_link[l]);
        add(id, Metric::MarkingProbability, &|e| e.marking[l]);
        add(id, Metric::Price, &|e| e.price[l]);
    }
    (time, columns)
}

/// FNV-1a over all values: equal digests, equal runs.
fn digest(series: &[Series]) -> String {
    let bytes = series
        .iter()
        .flat_map(|s| &s.values)
        .flat_map(|v| v.to_bits().to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}
