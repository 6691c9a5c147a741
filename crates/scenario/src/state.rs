//! The state of the network between two events.

use crate::network::{Change, LinkId, Scenario};
use accord_family::Role;
use accord_traffic::{Application, Demand};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::BTreeMap;

/// The links and routes of a scenario at some time, from [`Scenario::at`].
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// The scenario to which this state belongs.
    pub scenario: &'a Scenario,
    /// The rates, by link. A rate is zero in an outage. Token buckets bound it.
    pub rate: Vec<Rate>,
    /// The rates of the lines, by link. In an outage it is the last rate above zero, because times over empty
    /// queues refer to a working line.
    pub nominal_rate: Vec<Rate>,
    /// The propagation delays, by link.
    pub delay: Vec<Duration>,
    /// The changed paths of data, and of acknowledgements and reports, by flow.
    paths: BTreeMap<usize, (&'a [LinkId], &'a [LinkId])>,
    /// The changed demands of applications, by flow.
    demands: BTreeMap<usize, Demand>,
}

impl Scenario {
    /// Returns the state at `time`, after the events of that instant.
    pub fn at(&self, time: Time) -> State<'_> {
        let rates: Vec<Rate> = self.links.iter().map(|l| l.rate).collect();
        let capacities = self.links.iter().map(|l| l.capacity(l.rate));
        let mut state = State {
            scenario: self,
            rate: capacities.collect(),
            nominal_rate: rates,
            delay: self.links.iter().map(|l| l.delay).collect(),
            paths: BTreeMap::new(),
            demands: BTreeMap::new(),
        };
        for event in self.events.iter().filter(|e| e.at <= time) {
            state.apply(&event.change);
        }
        state
    }
}

impl<'a> State<'a> {
    /// Applies a change, which is an event of the scenario.
    pub fn apply(&mut self, change: &'a Change) {
        match change {
            Change::Delay(link, delay) => self.delay[*link] = *delay,
            Change::Rate(link, rate) => {
                self.rate[*link] = self.scenario.links[*link].capacity(*rate);
                if *rate > Rate::ZERO {
                    self.nominal_rate[*link] = *rate;
                }
            }
            Change::Demand { flow, rate } => {
                let demand = self.demand(*flow).at_rate(*rate);
                self.demands.insert(*flow, demand);
            }
            Change::Route { flow, path, reverse_path } => {
                self.paths.insert(*flow, (path, reverse_path));
            }
        }
    }

    /// The path of the data of a flow.
    pub fn path(&self, flow: usize) -> &'a [LinkId] {
        let changed = self.paths.get(&flow);
        changed.map_or(&self.scenario.flows[flow].path, |(there, _)| there)
    }

    /// The path of the acknowledgements and reports of a flow.
    pub fn reverse_path(&self, flow: usize) -> &'a [LinkId] {
        let changed = self.paths.get(&flow);
        changed.map_or(&self.scenario.flows[flow].reverse_path, |(_, back)| back)
    }

    /// The demand of the application of a flow.
    pub fn demand(&self, flow: usize) -> Demand {
        let changed = self.demands.get(&flow);
        *changed.unwrap_or(&self.scenario.flows[flow].demand)
    }

    /// Creates the application of a flow, with its present demand.
    pub fn application(&self, flow: usize) -> Application {
        let f = &self.scenario.flows[flow];
        let (demand, seed) = (self.demand(flow), self.scenario.seed);
        Application::new(demand, f.packet, f.sizes.as_ref(), flow, seed)
    }

    /// Returns the propagation and transmission time over a link. In an outage, the last rate above zero counts.
    pub fn crossing(&self, link: LinkId, size: Bytes) -> Duration {
        self.delay[link] + self.nominal_rate[link].transmission(size)
    }

    /// Returns the propagation and transmission time over a path.
    pub fn one_way(&self, path: &[LinkId], size: Bytes) -> Duration {
        let crossings = path.iter().map(|&l| self.crossing(l, size));
        crossings.fold(Duration::ZERO, |sum, d| sum + d)
    }

    /// Returns the sizes of the packets, there and back, with which a flow measures its round trip:
    /// a data packet and its acknowledgement, or the control packet and the report of a tunnel.
    pub fn probe(&self, flow: usize) -> (Bytes, Bytes) {
        let f = &self.scenario.flows[flow];
        match f.controller.family().role {
            Role::Tunnel(_) => (f.control, f.control),
            _ => (f.packet, f.ack),
        }
    }

    /// Returns the time that a packet of a flow takes over its path with empty queues, including
    /// the mean processing time of its host.
    pub fn one_way_of(&self, flow: usize, size: Bytes) -> Duration {
        let f = &self.scenario.flows[flow];
        let time = f.mean_processing() + self.one_way(self.path(flow), size);
        f.through.map_or(time, |tunnel| time + self.overhead(tunnel))
    }

    /// Returns the time that the links of a tunnel need for the bytes that it adds to a packet.
    fn overhead(&self, tunnel: usize) -> Duration {
        let more = self.scenario.flows[tunnel].tunnel.map(|t| t.overhead);
        let links = self.path(tunnel).iter();
        let times = links.map(|&l| self.nominal_rate[l].transmission(more.unwrap_or(Bytes::ZERO)));
        times.fold(Duration::ZERO, |sum, d| sum + d)
    }

    /// Returns the round-trip time that a flow measures over empty queues.
    pub fn base_rtt(&self, flow: usize) -> Duration {
        let (there, back) = self.probe(flow);
        self.one_way_of(flow, there) + self.one_way(self.reverse_path(flow), back)
    }
}
