//! Skipping the time in which nothing changes.
//!
//! **Two clocks.** A jump does not touch the state of the network. The engine goes on in its own time, in
//! which the jump takes none, and [`Core::ahead`](crate::core::Core::ahead) is by how much the time that is reported is ahead of
//! it. So packets on their way, timers, controllers, estimators and random streams are as they were, and
//! none can be forgotten. What comes from outside is in reported time: starts, stops and changes
//! ([`Calendar::bring_forward`](crate::calendar::Calendar::bring_forward)), the end of the run, the samples,
//! and the times of transfers.
//!
//! **When.** From each start, stop, change or edge of a measured window on, and from the end of each jump,
//! the deliveries of each flow (or group, where groups are recorded) and the backlog of each link are
//! watched once per round trip. `steady.rs` judges the later half of what was watched since then. If all
//! have settled, and the rates are within 5 % of those that theory has for this phase, if it has any,
//! there is a jump at the next sample. It ends some round trips before the next such time, in packets.
//!
//! **What stands there.** A sample within a jump has the mean of each metric over the samples of that later
//! half. It repeats what was observed and knows no more. What a flow sent counts there as what it delivered
//! and lost, so that nothing is lost or counted twice over the run.
//!
//! **Where not.** Nothing is skipped while an application other than a greedy, constant or Poisson one is at
//! work, nor while a flow that has data delivers none: its timers go by the clock. Nor while more comes to
//! a link from sources that hear nothing than it can send, and it drops none yet: its queue grows for as
//! long as there is room. Nor before as much was watched as the controllers remember
//! (`Controller::memory`), and as token buckets take to fill. Nor
//! in a run with flows that are a fluid, with a link whose rate follows a trace, or whose packets or logs somebody wants.

use crate::steady::Readings;
use accord_record::{Observer, Run};
use accord_scenario::{Entity, Scenario, Window};
use accord_units::{Duration, Time};
use std::ops::Range;

/// What decides on jumps.
pub struct Skip<'a> {
    /// The run of theory, which says where not to skip.
    pub theory: Option<&'a Run>,
    /// The times, as reported, at which something may change or a measurement begins or ends. The
    /// latest is first.
    pub edges: Vec<Time>,
    pub watched: Vec<Watched>,
    /// The size of the largest data packet, in bytes.
    pub packet: f64,
    /// The first period of readings, and the present one.
    pub shortest: Duration,
    pub period: Duration,
    /// The time of the next reading.
    pub next: Time,
    /// The time from which on all have settled, as far as the last judgement says.
    pub settled: Option<Time>,
    /// The jumps, as reported.
    pub jumps: Vec<Window>,
    /// The reason why the last judgement let nothing be skipped.
    pub why: String,
}

/// A flow, a group or a link that is watched.
pub struct Watched {
    pub entity: Entity,
    /// The flows of a flow or a group.
    pub flows: Range<usize>,
    /// The bytes delivered so far, or the backlog integrated so far in bytes times seconds.
    pub readings: Readings,
    /// The packets that a link has dropped so far.
    pub drops: Readings,
}

impl Watched {
    /// The name of what is watched.
    pub fn name<'a>(&self, scenario: &'a Scenario) -> &'a str {
        match self.entity {
            Entity::Flow(i) => &scenario.flows[i].name,
            Entity::Group(i) | Entity::Quantile { group: i, .. } => &scenario.groups[i].name,
            Entity::Link(i) | Entity::Aggregate { link: i, .. } => &scenario.links[i].name,
        }
    }
}

impl<'a> Skip<'a> {
    /// Creates what decides on the jumps of a run, if there can be any. The error says why not.
    pub fn new(
        scenario: &'a Scenario,
        theory: Option<&'a Run>,
        observer: &dyn Observer,
    ) -> Result<Skip<'a>, String> {
        if observer.wants_packets() || observer.wants_logs() {
            return Err("its packets or its logs are wanted".into());
        }
        if scenario.has_fluid() {
            return Err("some of its flows are a fluid".into());
        }
        let traced = |parts: &accord_scenario::Parts| parts.trace.is_some();
        let mut links = scenario.links.iter();
        if let Some(link) = links.find(|l| l.parts.as_deref().is_some_and(traced)) {
            return Err(format!("the rate of {} follows a trace", link.name));
        }
        let mut edges = scenario.cuts();
        let measured = scenario.expectations.iter().map(|e| e.during);
        for window in measured.chain([scenario.steady]) {
            edges.extend([window.start, window.end].map(|t| t.min(scenario.end())));
        }
        edges.sort_unstable_by(|a, b| b.cmp(a));
        edges.dedup();
        let flows = scenario
            .recorded_flows()
            .map(|id| (Entity::Flow(id), id..id + 1));
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
            why: "it ended before enough was observed".into(),
        })
    }

    /// The time of the next reading.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Returns whether an edge has been passed by `now`, as reported, since the last call.
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
                    "{skipped} of {} were skipped in {n} jumps; the means of what was observed before \
                     each stand there, and say no more than that",
                    scenario.duration
                )
            }
        };
        (self.jumps, note)
    }
}

/// Returns the note on a run that skipped nothing.
pub fn nothing(why: &str) -> String {
    format!("nothing was skipped: {why}")
}
