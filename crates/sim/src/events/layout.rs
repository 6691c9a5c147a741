//! The network of the events engine, and the events that it can leave out.
//!
//! - The end of a service is known when the service begins, so the packet can move on at once
//!   ([`Form::Port`]). The link must not lose packets on its wire, and its rate and delay must not
//!   change. Then a departure needs an event only while another packet waits for it.
//! - A port with one FIFO queue, a discipline that judges arrivals only, and a fixed rate knows a
//!   packet's departure at its arrival ([`Form::Timeline`], [`Form::Pipe`]). So a hop takes one
//!   event instead of two.
//! - A pipe that only one other link feeds is *cut-through* and needs no event
//!   ([`Hop::is_cut_through`]). Its packets arrive in the order in which the other link sends them,
//!   and its state is not read before the end. The same holds for a pipe that only the host of one
//!   sender feeds, because the host knows its completion times.
//! - A receiver behind a pipe that answers into a pipe of its own also takes packets ahead of the
//!   clock, because only the sender sees the effect. The counters of a packet are read at the next
//!   sample after its arrival.
//!
//! All of these shortcuts are exact: `tests/shortcuts.rs` runs scenarios with and without them.
//!
//! In the events engine `newreno-10` takes 1.7 times the instructions without cut-through hops,
//! `newreno-250` and `vegas-250` 1.6 times. If departures are not known at arrival either,
//! `newreno-10` takes another 2.1 times.

use crate::carrier::stack;
use crate::flow::Flow;
use crate::hop::Hop;
use crate::survey::{Form, PacketSource, Ports, around};
use accord_scenario::{Change, LinkId, Scenario};
use accord_transport::Receiver;
use accord_units::Time;

/// The third pass: the cut-through links.
struct CutThroughLinks {
    ports: Ports,
    /// True for each cut-through link.
    cut_through: Vec<bool>,
}

/// The fourth pass: the receivers that take packets ahead of the clock.
struct CutThroughReceivers {
    cut_through: CutThroughLinks,
    /// The last hop of each flow's path.
    ends: Vec<Hop>,
}

/// The last pass: the paths of all flows.
pub struct EventsLayout {
    /// The form of each link's port.
    pub forms: Vec<Form>,
    /// The lists of hops.
    pub paths: Paths,
    /// The changes of routes, in the order of the scenario.
    pub routes: Vec<Reroute>,
}

/// The paths of all flows.
pub struct Paths {
    /// The lists of hops, each closed by an endpoint. A packet carries its index.
    hops: Vec<Hop>,
    /// True for each cut-through link.
    cut_through: Vec<bool>,
}

/// A later route of a flow: the flow, and the first hops of its forward and reverse paths.
pub type Reroute = (usize, [u32; 2]);

impl CutThroughLinks {
    fn new(mut ports: Ports) -> CutThroughLinks {
        for (form, control_first) in ports.forms.iter_mut().zip(&ports.survey.control_first) {
            // A port with two priorities does not know a departure before the service begins.
            if *control_first {
                *form = Form::Port.min(*form);
            }
        }
        let links = ports.survey.sources.iter().zip(&ports.forms);
        let cut_through =
            links.map(|(feed, form)| *form == Form::Pipe && *feed != PacketSource::Several);
        CutThroughLinks { cut_through: cut_through.collect(), ports }
    }

    fn ends(self, scenario: &Scenario, flows: &[Flow]) -> CutThroughReceivers {
        let ports = &self.ports;
        let pipe = |link: LinkId| ports.forms[link] == Form::Pipe;
        let ahead = |id: usize| {
            let f = &scenario.flows[id];
            let (last, back) = (f.path[f.path.len() - 1], f.reverse_path[0]);
            !ports.survey.rerouted[id]
                && f.through.is_none()
                // Its receiver sends at independent times.
                && stack(f).is_none()
                && pipe(last)
                && match flows[id].receiver {
                    Receiver::Stream(_) => {
                        pipe(back) && ports.survey.sources[back] == PacketSource::Receiver(id)
                    }
                    Receiver::Datagrams => true,
                    Receiver::Tunnel(_) => false,
                }
        };
        let end = |id| {
            if ahead(id) { Hop::END_CUT_THROUGH } else { Hop::END }
        };
        CutThroughReceivers { ends: (0..flows.len()).map(end).collect(), cut_through: self }
    }
}

impl CutThroughReceivers {
    fn lay(self, scenario: &Scenario, tunnels: &[usize], flows: &mut [Flow]) -> EventsLayout {
        let CutThroughLinks { ports, cut_through } = self.cut_through;
        // Delays distinguish queued packets from packets on the wire.
        let parts = |id: LinkId| scenario.links[id].parts.as_deref();
        let changing =
            |id: LinkId| ports.survey.changed[id] || parts(id).is_some_and(|p| p.delays());
        let mut paths = Paths { hops: Vec::new(), cut_through };
        for (id, (flow, end)) in flows.iter_mut().zip(self.ends).enumerate() {
            let f = &scenario.flows[id];
            let changes = ports.survey.rerouted[id] || f.path.iter().any(|&link| changing(link));
            flow.outgoing = (changes || flow.receiver.wants_truth()).then(Box::default);
            let inside = f.through.map(|t| (t, &scenario.flows[t].path[..]));
            flow.path = paths.add_with(&f.path, inside, tunnels, end);
            flow.reverse_path = paths.add(&f.reverse_path, None, tunnels);
        }
        let mut routes = Vec::new();
        let mut state = scenario.at(Time::ZERO);
        for event in &scenario.events {
            state.apply(&event.change);
            if let Change::Route { flow, path, reverse_path } = &event.change {
                let through = scenario.flows[*flow].through;
                let inside = through.map(|tunnel| (tunnel, state.path(tunnel)));
                let there = paths.add(path, inside, tunnels);
                let back = paths.add(reverse_path, None, tunnels);
                routes.push((*flow, [there, back]));
            }
        }
        EventsLayout { forms: ports.forms, paths, routes }
    }
}

impl EventsLayout {
    /// Lays out the network, and sets the paths of flows. The edges of `tunnels` follow the links.
    pub fn new(
        ports: Ports,
        scenario: &Scenario,
        tunnels: &[usize],
        flows: &mut [Flow],
    ) -> EventsLayout {
        let ends = CutThroughLinks::new(ports).ends(scenario, flows);
        ends.lay(scenario, tunnels, flows)
    }
}

impl Paths {
    /// Returns the hop at an index.
    #[inline(always)]
    pub fn hop(&self, place: u32) -> Hop {
        self.hops[place as usize]
    }

    /// Returns the hops from an index to the end of its path.
    pub fn ahead(&self, place: u32) -> impl Iterator<Item = Hop> {
        let hops = self.hops[place as usize..].iter().copied();
        hops.take_while(|hop| !hop.is_end())
    }

    /// Adds a path of a flow. `inside` is the tunnel that carries the flow, with its path. Returns the first
    /// hop.
    fn add(
        &mut self,
        path: &[LinkId],
        inside: Option<(usize, &[LinkId])>,
        tunnels: &[usize],
    ) -> u32 {
        self.add_with(path, inside, tunnels, Hop::END)
    }

    fn add_with(
        &mut self,
        path: &[LinkId],
        inside: Option<(usize, &[LinkId])>,
        tunnels: &[usize],
        end: Hop,
    ) -> u32 {
        let first = self.hops.len() as u32;
        let hop = |&link: &LinkId| {
            if self.cut_through[link] { Hop::cut_through(link) } else { Hop::link(link) }
        };
        let (before, after) = around(path, inside.map(|(_, path)| path));
        self.hops.extend(before.iter().map(hop));
        if let Some((tunnel, _)) = inside {
            // The edge of the tunnel replaces the tunnel's path.
            let edge = tunnels.iter().position(|&id| id == tunnel);
            let edge = self.cut_through.len() + edge.expect("flows ride in tunnels");
            self.hops.push(Hop::link(edge));
        }
        self.hops.extend(after.iter().map(hop));
        self.hops.push(end);
        first
    }
}
