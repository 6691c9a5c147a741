//! The network as the events engine runs it, and the events that a run can do without.
//!
//! - The end of a service is known when it begins, and the packet can be sent on at once
//!   ([`Form::Port`]). This needs a link that cannot lose the packet on its wire and whose rate and
//!   delay do not change. A departure then needs an event only while another packet waits for it.
//! - A port with one FIFO queue, a discipline that judges arrivals only, and a fixed rate knows a
//!   packet's departure at the moment when the packet arrives ([`Form::Timeline`], [`Form::Pipe`]).
//!   There is one event per hop, not two.
//! - A pipe that is fed by one other link only needs no event at all. Its packets arrive in the
//!   order in which the other link sends them, and its state is not read before the end. So they
//!   are sent through it at once ([`Hop::is_early`]). The same holds for a pipe that is fed by
//!   one sender's host only, which knows when it will be done with a packet.
//! - A receiver behind a pipe, which answers into a pipe that only it feeds, can also take a packet
//!   ahead of time ([`Hop::is_early`]), because only the sender sees the effect. The counts of the
//!   packet are read at the next sample after its time.
//!
//! All of this is exact. `tests/shortcuts.rs` runs scenarios with and without it.

use super::hop::Hop;
use crate::flow::Flow;
use crate::survey::{Feed, Form, Ports, around};
use accord_scenario::{LinkId, Scenario};
use accord_transport::Receiver;

/// The third pass: the links that take packets before their time.
struct Fused {
    ports: Ports,
    /// The links.
    fused: Vec<bool>,
}

/// The fourth pass: the receivers that take packets before their time.
struct Ends {
    fused: Fused,
    /// The last hop of each flow's path.
    ends: Vec<Hop>,
}

/// The last pass: the paths of all flows.
pub struct Layout {
    /// The form of each link's port.
    pub forms: Vec<Form>,
    /// The lists of hops.
    pub paths: Paths,
}

/// The paths of all flows.
pub struct Paths {
    /// The lists of hops, each closed by an end. Packets carry their place in it.
    hops: Vec<Hop>,
    /// The links that take packets before their time.
    fused: Vec<bool>,
}

impl Fused {
    fn new(mut ports: Ports) -> Fused {
        for (form, control_first) in ports.forms.iter_mut().zip(&ports.survey.control_first) {
            // A port with two priorities knows no departure before the service begins.
            if *control_first {
                *form = Form::Port.min(*form);
            }
        }
        let links = ports.survey.feeds.iter().zip(&ports.forms);
        let fused = links.map(|(feed, form)| *form == Form::Pipe && *feed != Feed::Several);
        Fused {
            fused: fused.collect(),
            ports,
        }
    }

    fn ends(self, scenario: &Scenario, flows: &[Flow]) -> Ends {
        let ports = &self.ports;
        let pipe = |link: LinkId| ports.forms[link] == Form::Pipe;
        let ahead = |id: usize| {
            let f = &scenario.flows[id];
            let (last, back) = (f.path[f.path.len() - 1], f.reverse_path[0]);
            !ports.survey.rerouted[id]
                && f.through.is_none()
                && pipe(last)
                && match flows[id].receiver {
                    Receiver::Stream(_) => {
                        pipe(back) && ports.survey.feeds[back] == Feed::Receiver(id)
                    }
                    Receiver::Datagrams => true,
                    Receiver::Tunnel(_) => false,
                }
        };
        let end = |id| if ahead(id) { Hop::END_EARLY } else { Hop::END };
        Ends {
            ends: (0..flows.len()).map(end).collect(),
            fused: self,
        }
    }
}

impl Ends {
    fn lay(self, scenario: &Scenario, tunnels: &[usize], flows: &mut [Flow]) -> Layout {
        let Fused { ports, fused } = self.fused;
        // The delays of packets tell those that are queued from those on the wire.
        let parts = |id: LinkId| scenario.links[id].parts.as_deref();
        let changing =
            |id: LinkId| ports.survey.changed[id] || parts(id).is_some_and(|p| p.delays());
        let mut paths = Paths {
            hops: Vec::new(),
            fused,
        };
        for (id, (flow, end)) in flows.iter_mut().zip(self.ends).enumerate() {
            let f = &scenario.flows[id];
            let changes = ports.survey.rerouted[id] || f.path.iter().any(|&link| changing(link));
            flow.outgoing = (changes || flow.receiver.wants_truth()).then(Box::default);
            let inside = f.through.map(|t| (t, &scenario.flows[t].path[..]));
            flow.path = paths.add_with(&f.path, inside, tunnels, end);
            flow.reverse_path = paths.add(&f.reverse_path, None, tunnels);
        }
        Layout {
            forms: ports.forms,
            paths,
        }
    }
}

impl Layout {
    /// Lays the network out, and sets the paths of flows. The edges of `tunnels` are behind the links.
    pub fn new(ports: Ports, scenario: &Scenario, tunnels: &[usize], flows: &mut [Flow]) -> Layout {
        let ends = Fused::new(ports).ends(scenario, flows);
        ends.lay(scenario, tunnels, flows)
    }
}

impl Paths {
    /// Returns the hop at a place.
    #[inline(always)]
    pub fn hop(&self, place: u32) -> Hop {
        self.hops[place as usize]
    }

    /// Returns the hops from a place to the end of its path.
    pub fn ahead(&self, place: u32) -> impl Iterator<Item = Hop> {
        let hops = self.hops[place as usize..].iter().copied();
        hops.take_while(|hop| !hop.is_end())
    }

    /// Adds a path of a flow. `inside` is the tunnel that the flow rides in, with its path. Returns the
    /// first hop.
    pub fn add(
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
        let hop = |&link: &LinkId| Hop::over(link, self.fused[link]);
        let (before, after) = around(path, inside.map(|(_, path)| path));
        self.hops.extend(before.iter().map(hop));
        if let Some((tunnel, _)) = inside {
            // The edge of the tunnel is in the place of its path.
            let edge = tunnels.iter().position(|&id| id == tunnel);
            let edge = self.fused.len() + edge.expect("flows ride in tunnels");
            self.hops.push(Hop::over(edge, false));
        }
        self.hops.extend(after.iter().map(hop));
        self.hops.push(end);
        first
    }
}
