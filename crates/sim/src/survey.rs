//! The properties of links from which both engines derive their layouts.
//!
//! Each pass takes the result of the previous pass: [`Survey`], [`Ports`], and then the passes of
//! the engine's own layout.

use crate::flow::Flow;
use accord_aqm::{AnyAqm, Aqm, Structure};
use accord_scenario::{Change, Limit, Link, LinkId, Scenario};
use accord_transport::Sender;
use std::collections::BTreeMap;

/// The forms of a port, from the most general to the cheapest. The link and its packets decide
/// which are possible. All possible forms give the same departures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// Holds its packets. The engine ends each service.
    Stepped,
    /// Holds the packets that wait. The end of a service is known when it begins.
    Port,
    /// Has one FIFO queue at a fixed rate. Departures are known at arrival.
    Timeline,
    /// Has one FIFO queue at a fixed rate, without a limit. Its backlog is never read.
    Pipe,
}

/// The source of a link's packets.
#[derive(Clone, Copy, PartialEq)]
pub enum PacketSource {
    /// No flow uses the link.
    Nothing,
    /// The host of this flow's sender.
    Sender(usize),
    /// The host of this flow's receiver.
    Receiver(usize),
    /// One link. Its packets arrive in the order of sending.
    Link(LinkId),
    /// Several of the above.
    Several,
}

/// The first pass: all paths of the scenario.
pub struct Survey {
    /// The source of each link's packets.
    pub sources: Vec<PacketSource>,
    /// The links that carry out-of-band packets and serve them first.
    pub control_first: Vec<bool>,
    /// The links whose rate or delay changes.
    pub changed: Vec<bool>,
    /// The flows whose route changes.
    pub rerouted: Vec<bool>,
}

/// The second pass: the form of each port.
pub struct Ports {
    /// The form of each link's port.
    pub forms: Vec<Form>,
    /// The result of the first pass.
    pub survey: Survey,
}

impl Survey {
    /// Follows all paths.
    pub fn new(scenario: &Scenario, flows: &[Flow]) -> Survey {
        let links = scenario.links.len();
        let mut survey = Survey {
            sources: vec![PacketSource::Nothing; links],
            control_first: vec![false; links],
            changed: vec![false; links],
            rerouted: vec![false; flows.len()],
        };
        let mut paths = |id: usize, path: &[LinkId], back: &[LinkId], inside: Option<&[LinkId]>| {
            let controls = matches!(flows[id].sender, Sender::Tunnel(_));
            let (before, after) = around(path, inside);
            survey.walk(scenario, before, PacketSource::Sender(id), controls);
            survey.walk(scenario, after, PacketSource::Several, controls);
            survey.walk(scenario, back, PacketSource::Receiver(id), controls);
        };
        // The current paths of tunnels.
        let mut tunnelled: BTreeMap<usize, &[LinkId]> = BTreeMap::new();
        for (id, f) in scenario.flows.iter().enumerate() {
            if f.tunnel.is_some() {
                tunnelled.insert(id, &f.path);
            }
            let inside = f.through.map(|t| tunnelled[&t]);
            paths(id, &f.path, &f.reverse_path, inside);
        }
        for e in &scenario.events {
            if let Change::Route { flow, path, reverse_path } = &e.change {
                if let Some(known) = tunnelled.get_mut(flow) {
                    *known = path;
                }
                let inside = scenario.flows[*flow].through.map(|t| tunnelled[&t]);
                paths(*flow, path, reverse_path, inside);
            }
        }
        for e in &scenario.events {
            match &e.change {
                Change::Rate(link, _) | Change::Delay(link, _) => survey.changed[*link] = true,
                Change::Route { flow, .. } => survey.rerouted[*flow] = true,
                Change::Demand { .. } => {}
            }
        }
        survey
    }

    /// Follows a part of a path whose packets come from `from`.
    fn walk(
        &mut self,
        scenario: &Scenario,
        path: &[LinkId],
        mut from: PacketSource,
        controls: bool,
    ) {
        for &id in path {
            let link = &scenario.links[id];
            self.control_first[id] |= controls && link.control_priority;
            self.sources[id] = match self.sources[id] {
                PacketSource::Nothing => from,
                same if same == from => same,
                _ => PacketSource::Several,
            };
            // When a reordering link sends packets, it does not know their order of arrival.
            from = if link.parts.as_deref().is_some_and(|parts| parts.reorders()) {
                PacketSource::Several
            } else {
                PacketSource::Link(id)
            };
        }
    }

    /// Finds the form of each port. No form is cheaper than `most`.
    pub fn ports(self, scenario: &Scenario, most: Form) -> Ports {
        let mut forms: Vec<Form> = scenario.links.iter().map(form).collect();
        for (form, changed) in forms.iter_mut().zip(&self.changed) {
            // A change applies to the packet in service and to later packets.
            if *changed {
                *form = Form::Stepped;
            }
            *form = most.min(*form);
        }
        Ports { forms, survey: self }
    }
}

/// Returns the cheapest form of port that the link itself allows.
fn form(link: &Link) -> Form {
    // `Parts` act on packets at their events. A packet that the wire loses is lost when it leaves
    // the port and not before.
    if link.is_lossy() || link.parts.is_some() {
        return Form::Stepped;
    }
    let aqm = AnyAqm::build(&link.queue.discipline);
    if !matches!(aqm.structure(), Structure::Fifo) {
        return Form::Port;
    }
    let open = is_droptail(link) && link.queue.limit == Limit::Unlimited;
    if link.attachment && open { Form::Pipe } else { Form::Timeline }
}

/// Returns true if the discipline of the link is droptail.
pub fn is_droptail(link: &Link) -> bool {
    let aqm = AnyAqm::build(&link.queue.discipline);
    aqm.passes_all() && matches!(aqm.structure(), Structure::Fifo)
}

/// Returns the parts of a path before and after the path of a tunnel. Without a tunnel the whole
/// path counts as before.
pub fn around<'a>(path: &'a [LinkId], inside: Option<&[LinkId]>) -> (&'a [LinkId], &'a [LinkId]) {
    let Some(inside) = inside else {
        return (path, &[]);
    };
    let at = path.windows(inside.len()).position(|part| part == inside);
    let at = at.expect("the path leads through the tunnel");
    (&path[..at], &path[at + inside.len()..])
}
