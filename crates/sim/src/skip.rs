//! Skips time in which nothing changes.
//!
//! **Two clocks.** A jump does not touch the state of the network. The engine continues in engine
//! time, in which a jump takes no time. [`Core::ahead`](crate::core::Core::ahead) is reported time
//! minus engine time. So packets in flight, timers, controllers, estimators and random streams stay
//! unchanged, and none can be overlooked. External times are in reported time: starts, stops and
//! changes ([`Calendar::bring_forward`](crate::calendar::Calendar::bring_forward)), the end of the
//! run, the samples, and the times of transfers.
//!
//! **When.** Each start, stop, change, edge of a measured window and end of a jump restarts the
//! observation. From then on the deliveries of each flow (or group, where groups are recorded) and
//! the backlog of each link are read once per round trip. `steady.rs` judges the later half of the
//! readings. The run jumps at the next sample if all quantities are steady and, where theory is
//! given, the rates are within 5 % of theory's for this phase. The jump ends a few round trips
//! before the next external time.
//!
//! **Samples in a jump.** A sample within a jump has the mean of each metric over the samples of
//! the judged half. It repeats the observed means and adds no information. Sent data counts there
//! as delivered and lost data, so data is conserved over the run.
//!
//! **Exceptions.** No time is skipped while an application other than a greedy, constant or Poisson one is
//! active; while a flow with data delivers none, because its timers follow the clock; while open-loop sources
//! offer a link more than it can send and it does not drop yet, because its queue grows; before the readings
//! span the controllers' memory (`Controller::memory`) and the time in which token buckets fill; or in a run
//! with fluid flows, with flows of third-party stacks, with a link whose rate follows a trace, or with an
//! observer that wants packets or logs.

use crate::carrier::stack;
use crate::steady::Readings;
use accord_record::{Observer, Run};
use accord_scenario::{Entity, Scenario, Window};
use accord_units::{Duration, Time};
use std::ops::Range;

/// The observation that decides on jumps.
pub struct Skip<'a> {
    /// The run of theory. No time is skipped while rates differ from it.
    pub theory: Option<&'a Run>,
    /// The reported times, latest first, at which something may change or a measurement begins or
    /// ends.
    pub edges: Vec<Time>,
    pub watched: Vec<Watched>,
    /// The size of the largest data packet, in bytes.
    pub packet: f64,
    /// The initial and the current period of readings.
    pub shortest: Duration,
    pub period: Duration,
    /// The time of the next reading.
    pub next: Time,
    /// The start of the steady window, if the last judgement found all quantities steady.
    pub settled: Option<Time>,
    /// The jumps, in reported time.
    pub jumps: Vec<Window>,
    /// The reason why the last judgement ruled out a jump.
    pub why: String,
}

/// An observed flow, group or link.
pub struct Watched {
    pub entity: Entity,
    /// The observed flow, or the flows of the group.
    pub flows: Range<usize>,
    /// The bytes delivered so far, or the integral of the backlog so far, in byte-seconds.
    pub readings: Readings,
    /// The number of packets that a link has dropped so far.
    pub drops: Readings,
}

impl Watched {
    /// The name of the flow, group or link.
    pub fn name<'a>(&self, scenario: &'a Scenario) -> &'a str {
        match self.entity {
            Entity::Flow(i) => &scenario.flows[i].name,
            Entity::Group(i) | Entity::Quantile { group: i, .. } => &scenario.groups[i].name,
            Entity::Link(i) | Entity::Aggregate { link: i, .. } => &scenario.links[i].name,
        }
    }
}

impl<'a> Skip<'a> {
    /// Creates the observation of a run. The error gives the reason why no time can be skipped.
    pub fn new(
        scenario: &'a Scenario,
        theory: Option<&'a Run>,
        observer: &dyn Observer,
    ) -> Result<Skip<'a>, String> {
        if observer.wants_packets() || observer.wants_logs() {
            return Err("the observer wants packets or logs".into());
        }
        let traced = |parts: &accord_scenario::Parts| parts.trace.is_some();
        let mut links = scenario.links.iter();
        if let Some(link) = links.find(|l| l.parts.as_deref().is_some_and(traced)) {
            return Err(format!("link {} follows a trace", link.name));
        }
        if let Some(flow) = scenario.flows.iter().find(|f| stack(f).is_some()) {
            return Err(format!("flow {} is a connection of another stack", flow.name));
        }
        let mut edges = scenario.cuts();
        let measured = scenario.expectations.iter().map(|e| e.during);
        for window in measured.chain([scenario.steady]) {
            edges.extend([window.start, window.end].map(|t| t.min(scenario.end())));
        }
        edges.sort_unstable_by(|a, b| b.cmp(a));
        edges.dedup();
        let flows = scenario.recorded_flows().map(|id| (Entity::Flow(id), id..id + 1));
        let groups = scenario.recorded_groups();
        let groups = groups.map(|id| (Entity::Group(id), scenario.groups[id].flows.clone()));
        let links = (0..scenario.links.len()).filter(|&id| !scenario.links[id].attachment);
        let links = links.map(|id| (Entity::Link(id), 0..0));
        let network = scenario.at(Time::ZERO);
        let round_trips = (0..scenario.flows.len()).map(|id| network.base_rtt(id));
        let shortest = round_trips.max().unwrap_or_default();
        let sizes = scenario.flows.iter().map(|f| f.packet.get());
        Ok(Skip {
            theory,
            edges,
            watched: (flows.chain(groups).chain(links))
                .map(|(entity, flows)| Watched {
                    entity,
                    flows,
                    readings: Readings::default(),
                    drops: Readings::default(),
                })
                .collect(),
            packet: sizes.max().unwrap_or(1) as f64,
            shortest: shortest.max(Duration::from_ms(1)),
            period: Duration::ZERO,
            next: Time::MAX,
            settled: None,
            jumps: Vec::new(),
            why: "the run ended before the observation was long enough".into(),
        })
    }

    /// The time of the next reading.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Returns true if the run has passed an edge since the last call. `now` is in reported time.
    pub fn passes_edge(&mut self, now: Time) -> bool {
        let before = self.edges.len();
        while self.edges.pop_if(|edge| *edge <= now).is_some() {}
        self.edges.len() < before
    }

    /// Returns the jumps, and the note on them for readers.
    pub fn finish(self, scenario: &Scenario) -> (Vec<Window>, String) {
        let note = match self.jumps.len() {
            0 => nothing(&self.why),
            n => {
                let skipped = self.jumps.iter().map(|jump| jump.end.since(jump.start));
                let skipped = skipped.fold(Duration::ZERO, |sum, span| sum + span);
                format!(
                    "{skipped} of {} were skipped in {n} jumps; the samples there are the means \
                     observed before each jump",
                    scenario.duration
                )
            }
        };
        (self.jumps, note)
    }
}

/// Returns the note on a run without jumps.
pub fn nothing(why: &str) -> String {
    format!("nothing was skipped: {why}")
}
