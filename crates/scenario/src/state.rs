//! The network between two events.

use crate::network::{Change, LinkId, Scenario};
use accord_family::Role;
use accord_traffic::Demand;
use accord_units::{Bytes, Duration, Rate, Time};

/// The links and routes of a scenario as they are at some time; see [`Scenario::at`].
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// What it is a state of.
    pub scenario: &'a Scenario,
    /// Rates, by link; zero in an outage.
    pub rate: Vec<Rate>,
    /// The same, but in an outage the last rate that was not zero: what a packet takes over an
    /// empty queue is that of a line that works.
    pub nominal_rate: Vec<Rate>,
    /// Propagation delays, by link.
    pub delay: Vec<Duration>,
    /// Ways of data, by flow.
    pub path: Vec<&'a [LinkId]>,
    /// Ways of acknowledgements and reports, by flow.
    pub reverse_path: Vec<&'a [LinkId]>,
    /// What applications want to send, by flow.
    pub demand: Vec<Demand>,
}

impl Scenario {
    /// The network at `time`, the events of that instant included.
    pub fn at(&self, time: Time) -> State<'_> {
        let rates: Vec<Rate> = self.links.iter().map(|l| l.rate).collect();
        let mut state = State {
            scenario: self,
            nominal_rate: rates.clone(),
            rate: rates,
            delay: self.links.iter().map(|l| l.delay).collect(),
            path: self.flows.iter().map(|f| &f.path[..]).collect(),
            reverse_path: self.flows.iter().map(|f| &f.reverse_path[..]).collect(),
            demand: self.flows.iter().map(|f| f.demand).collect(),
        };
        for event in self.events.iter().filter(|e| e.at <= time) {
            state.apply(&event.change);
        }
        state
    }
}

impl<'a> State<'a> {
    /// The network after a change, an event of its scenario.
    pub fn apply(&mut self, change: &'a Change) {
        match change {
            Change::Delay(link, delay) => self.delay[*link] = *delay,
            Change::Rate(link, rate) => {
                self.rate[*link] = *rate;
                if *rate > Rate::ZERO {
                    self.nominal_rate[*link] = *rate;
                }
            }
            Change::Demand { flow, rate } => {
                let demand = &mut self.demand[*flow];
                *demand = demand.at_rate(*rate);
            }
            Change::Route {
                flow,
                path,
                reverse_path,
            } => {
                self.path[*flow] = path;
                self.reverse_path[*flow] = reverse_path;
            }
        }
    }

    /// Propagation and transmission over a link; in an outage, at the last rate
    /// that was not zero.
    pub fn crossing(&self, link: LinkId, size: Bytes) -> Duration {
        self.delay[link] + self.nominal_rate[link].transmission(size)
    }

    /// Propagation and transmission over a path.
    pub fn one_way(&self, path: &[LinkId], size: Bytes) -> Duration {
        let crossings = path.iter().map(|&l| self.crossing(l, size));
        crossings.fold(Duration::ZERO, |sum, d| sum + d)
    }

    /// The sizes of the packets, there and back, by which a flow measures its round trip: a
    /// data packet and its acknowledgement, or the control packet and report of a tunnel.
    pub fn probe(&self, flow: usize) -> (Bytes, Bytes) {
        let f = &self.scenario.flows[flow];
        match f.controller.family().role {
            Role::Tunnel(_) => (f.control, f.control),
            _ => (f.packet, f.ack),
        }
    }

    /// Time that a packet of a flow takes over its path with empty queues, its host's included.
    pub fn one_way_of(&self, flow: usize, size: Bytes) -> Duration {
        let processing = self.scenario.flows[flow].mean_processing();
        processing + self.one_way(self.path[flow], size)
    }

    /// The round trip that a flow measures over empty queues.
    pub fn base_rtt(&self, flow: usize) -> Duration {
        let (there, back) = self.probe(flow);
        self.one_way_of(flow, there) + self.one_way(self.reverse_path[flow], back)
    }
}
