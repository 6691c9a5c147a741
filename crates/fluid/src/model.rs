//! The reduction of a scenario to the integrated model: classes of flows, queues, delays.
//!
//! - Flows with equal properties (path, delays, controller, times, host links) have the same
//!   trajectory and form one [`Class`] with a multiplicity.
//! - A link that attaches a host for one flow, and is wider than another link of the flow's path,
//!   has no queue in equilibrium. It is omitted, and only bounds the flow's rate.
//! - Delays are the propagation and transmission times that make up a flow's round-trip time: see
//!   `accord_scenario::State::probe`.
//! - Acknowledgements and counts take a part of the rate of the queues that they cross. A
//!   link that only they cross has no queue.

mod left_out;

use crate::discipline::Discipline;
use crate::error::FluidError;
use crate::law::Control;
use crate::path::{Hop, Network, Path};
use accord_family::{QueueDynamics, QueueFacts, Values, WindowLaw};
use accord_record::Notes;
use accord_scenario::{Change, Flow, Limit, LinkId, Scenario, State};
use accord_traffic::{Demand, Web};
use accord_units::{Bytes, Time};
use std::collections::BTreeMap;

/// A class of equal flows.
#[derive(Clone, Debug)]
pub struct Class {
    /// The indices of its flows in the scenario. The list is never empty.
    pub members: Vec<usize>,
    /// The constant parameters of each flow.
    pub control: Control,
    /// The start time.
    pub(crate) start: Time,
    /// The application's rate in bytes/s. It is infinite for unlimited data.
    pub offered: f64,
    /// The total data of the application, in bytes.
    pub(crate) size: f64,
}

/// The reduced scenario.
#[derive(Debug)]
pub struct Model<'a> {
    /// The whole scenario.
    pub scenario: &'a Scenario,
    /// The control of each flow.
    controls: Vec<Control>,
    /// The classes of flows.
    pub classes: Vec<Class>,
    /// The links that can have a queue.
    pub queues: Vec<LinkId>,
    /// The index of each link in `queues`.
    queue_of: Vec<Option<u32>>,
    /// True for links that attach a host for one flow.
    private: Vec<bool>,
    /// The packet size at each queue, which is that of the first flow to use it.
    pub packets: Vec<f64>,
    pub(crate) notes: Notes,
}

impl<'a> Model<'a> {
    /// Reduces a whole scenario.
    ///
    /// # Errors
    /// Fails if there is no law for a controller, or for the discipline of a queue.
    pub fn new(scenario: &'a Scenario) -> Result<Model<'a>, FluidError> {
        tunnels(scenario)?;
        let (queued, private) = queued(scenario);
        for (link, _) in scenario.links.iter().zip(&queued).filter(|(_, q)| **q) {
            let discipline = &link.queue.discipline;
            if let Err(why) = discipline.family().queue_dynamics() {
                return Err(FluidError::NoDiscipline {
                    link: link.name.clone(),
                    discipline: discipline.family().name,
                    why,
                });
            }
        }
        let controls = scenario.flows.iter().map(|f| {
            // A flow in a tunnel is omitted, so it needs no law.
            let f = f.through.map_or(f, |tunnel| &scenario.flows[tunnel]);
            Control::of(f).map_err(|why| FluidError::NoLaw {
                group: scenario.groups[f.group].name.clone(),
                controller: f.controller.family().name,
                why,
            })
        });
        let mut model = Model {
            scenario,
            controls: controls.collect::<Result<_, _>>()?,
            classes: Vec::new(),
            queues: Vec::new(),
            queue_of: Vec::new(),
            private,
            packets: Vec::new(),
            notes: Notes::default(),
        };
        model.number(&queued);
        model.gather();
        // Of equal private queues, those of one flow per class are kept.
        let mut used = vec![false; scenario.links.len()];
        for class in &model.classes {
            let flow = class.members[0];
            let mut uses = |path: &[LinkId]| path.iter().for_each(|&l| used[l] = true);
            uses(&scenario.flows[flow].path);
            for event in &scenario.events {
                if let Change::Route { flow: f, path, .. } = &event.change
                    && *f == flow
                {
                    uses(path);
                }
            }
        }
        let queued: Vec<bool> = queued.iter().zip(used).map(|(&q, u)| q && u).collect();
        model.number(&queued);
        model.leave_out();
        Ok(model)
    }

    fn number(&mut self, queued: &[bool]) {
        self.queues = (0..queued.len()).filter(|&l| queued[l]).collect();
        self.queue_of = vec![None; queued.len()];
        for (q, &l) in self.queues.iter().enumerate() {
            self.queue_of[l] = Some(q as u32);
        }
        let mut packets = vec![1000.0; queued.len()];
        for f in self.scenario.flows.iter().rev() {
            f.path.iter().for_each(|&l| packets[l] = f.packet.as_f64());
        }
        self.packets = self.queues.iter().map(|&l| packets[l]).collect();
    }

    /// Groups equal flows into classes.
    fn gather(&mut self) {
        let s = self.scenario;
        let networks: Vec<Vec<Path>> = cuts(s)
            .into_iter()
            .map(|t| {
                let state = s.at(t);
                (0..s.flows.len()).map(|f| self.path(&state, f)).collect()
            })
            .collect();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        // Equal flows are in one group of the scenario.
        for g in &s.groups {
            // Classes by the numbers that their flows have in common.
            let mut known: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
            let seen = |&flow: &usize| !is_left_out(&s.flows[flow]);
            for flow in g.flows.clone().filter(seen) {
                let same = |&other: &usize| {
                    let (a, b) = (&s.flows[flow], &s.flows[other]);
                    (a.controller == b.controller && a.service == b.service)
                        && a.demand == b.demand
                        && (a.start, a.stop, a.packet) == (b.start, b.stop, b.packet)
                        && networks.iter().all(|n| self.same(&n[flow], &n[other]))
                };
                let numbers = networks.iter().flat_map(|n| {
                    let path = &n[flow];
                    let after = path.hops.iter().map(|hop| hop.after);
                    let times = [path.base_rtt, path.one_way, path.peak];
                    times.into_iter().chain(after).map(f64::to_bits)
                });
                let key = std::iter::once(s.flows[flow].start.as_ps()).chain(numbers);
                let alike = known.entry(key.collect()).or_default();
                match alike.iter().find(|&&g| same(&groups[g][0])) {
                    Some(&g) => groups[g].push(flow),
                    None => {
                        alike.push(groups.len());
                        groups.push(vec![flow]);
                    }
                }
            }
        }
        self.classes = groups
            .into_iter()
            .map(|members| {
                let f = &s.flows[members[0]];
                // The highest rate ever offered. The path bounds the current rate.
                let changes = s.events.iter().filter_map(|e| match e.change {
                    Change::Demand { flow, rate } if flow == members[0] => {
                        Some(offered(f.demand.at_rate(rate)))
                    }
                    _ => None,
                });
                Class {
                    offered: changes.fold(offered(f.demand), f64::max),
                    size: match f.demand {
                        Demand::Size(size) => size.as_f64(),
                        _ => f64::INFINITY,
                    },
                    control: self.controls[members[0]],
                    start: f.start,
                    members,
                }
            })
            .collect();
    }

    /// Returns the times at which classes start (`true`) and stop, in order.
    pub(crate) fn switches(&self) -> Vec<(Time, usize, bool)> {
        let mut switches = Vec::new();
        for (k, class) in self.classes.iter().enumerate() {
            switches.push((class.start, k, true));
            let stop = self.scenario.flows[class.members[0]].stop;
            switches.extend(stop.map(|stop| (stop, k, false)));
        }
        switches.sort_unstable();
        switches
    }

    /// Returns for each class whether it is active at `time`.
    pub(crate) fn running(&self, time: Time) -> Vec<(usize, bool)> {
        let runs = |class: &Class| {
            let stop = self.scenario.flows[class.members[0]].stop;
            class.start <= time && stop.is_none_or(|stop| stop > time)
        };
        self.classes.iter().map(runs).enumerate().collect()
    }

    /// Returns the network from `time` on.
    pub fn network(&self, time: Time) -> Network {
        let state = self.scenario.at(time);
        let classes = self.classes.iter();
        let paths = classes.map(|class| self.path(&state, class.members[0]));
        Network {
            paths: paths.collect(),
            rate: state.rate.iter().map(|r| r.as_bps_f64() / 8.0).collect(),
        }
    }

    fn path(&self, state: &State<'_>, flow: usize) -> Path {
        let f = &self.scenario.flows[flow];
        let (there, back) = state.probe(flow);
        let rate = |l: LinkId| state.rate[l].as_bps_f64() / 8.0;
        let mut path = Path {
            base_rtt: 0.0,
            one_way: f.mean_processing().as_secs_f64(),
            propagation: 0.0,
            hops: Vec::new(),
            forward: 0,
            back: Vec::new(),
            peak: offered(state.demand(flow)),
            passes: 1.0,
        };
        let mut from = None;
        for &l in state.path(flow) {
            match self.queue_of[l] {
                Some(queue) => path.hops.push(Hop {
                    queue: queue as usize,
                    after: path.one_way,
                    propagation: path.propagation,
                    private: self.private[l],
                    passes: path.passes,
                    from,
                }),
                None => path.peak = path.peak.min(rate(l)),
            }
            from = Some(l);
            path.passes *= 1.0 - self.scenario.links[l].loss;
            path.one_way += state.crossing(l, there).as_secs_f64();
            path.propagation += state.delay[l].as_secs_f64();
        }
        let endless =
            matches!(f.demand, Demand::Greedy | Demand::Size(_) | Demand::OnOff { rate: None, .. });
        if endless && self.controls[flow].dynamics.law == WindowLaw::Unresponsive {
            // The peak rate is that of the first link.
            path.peak = path.peak.min(rate(state.path(flow)[0]));
        }
        path.forward = path.hops.len();
        path.base_rtt = path.one_way;
        let feels = self.controls[flow].dynamics.window_clocked;
        for &l in state.reverse_path(flow) {
            path.back.extend(self.queue_of[l].map(|queue| (queue as usize, self.private[l])));
            if let (Some(queue), true) = (self.queue_of[l], feels) {
                path.hops.push(Hop {
                    queue: queue as usize,
                    after: path.base_rtt,
                    propagation: path.propagation,
                    private: self.private[l],
                    passes: 0.0,
                    from: None,
                });
            }
            path.base_rtt += state.crossing(l, back).as_secs_f64();
        }
        path
    }

    /// Returns the name of the group of a class.
    pub fn group(&self, class: usize) -> &str {
        let flow = self.classes[class].members[0];
        &self.scenario.groups[self.scenario.flows[flow].group].name
    }

    /// Returns the number of parallel links that `link` stands for, for `many` flows.
    pub(crate) fn lines(&self, link: LinkId, many: f64) -> f64 {
        if self.private[link] { many } else { 1.0 }
    }

    /// Returns the discipline of a queue.
    pub fn discipline(&self, queue: usize) -> &'a Values {
        &self.scenario.links[self.queues[queue]].queue.discipline
    }

    /// Returns the initial discipline of a queue, at a capacity in bytes/s.
    pub fn rule(&self, queue: usize, capacity: f64) -> Discipline {
        Discipline::new(self.dynamics(queue), self.capable(queue), capacity)
    }

    /// Returns the dynamics of a queue's discipline.
    fn dynamics(&self, queue: usize) -> QueueDynamics {
        let values = self.discipline(queue);
        let of = values.family().queue_dynamics();
        let of = of.expect("a model has queues with laws only");
        let facts =
            QueueFacts { packet: Bytes::from_f64(self.packets[queue]), buffer: self.buffer(queue) };
        of(values, &facts)
    }

    /// Returns true if two paths are the same for the fluid.
    pub fn same(&self, a: &Path, b: &Path) -> bool {
        let link = |h: &Hop| &self.scenario.links[self.queues[h.queue]];
        let alike = |(a, b): (&Hop, &Hop)| {
            let twins = || {
                let (x, y) = (link(a), link(b));
                (a.private && b.private) && (x.rate == y.rate && x.queue == y.queue)
            };
            (a.after, a.passes) == (b.after, b.passes) && (a.queue == b.queue || twins())
        };
        let numbers = |p: &Path| {
            let delays = (p.base_rtt, p.one_way);
            (delays, p.peak, p.passes, p.forward, p.hops.len())
        };
        numbers(a) == numbers(b) && a.back == b.back && a.hops.iter().zip(&b.hops).all(alike)
    }

    /// Returns true if a class measures a queue with control packets in both directions, all of which wait in it.
    pub(crate) fn hidden(&self, class: usize, queue: usize) -> bool {
        let flow = &self.scenario.flows[self.classes[class].members[0]];
        flow.goes_by_pairs() && !self.scenario.links[self.queues[queue]].control_priority
    }

    /// Returns true if control packets of a class overtake a queue.
    pub(crate) fn overtakes(&self, class: usize, queue: usize) -> bool {
        let flow = &self.scenario.flows[self.classes[class].members[0]];
        flow.goes_by_pairs() && self.scenario.links[self.queues[queue]].control_priority
    }

    /// Returns true if all flows that use a queue are ECN-capable.
    pub(crate) fn capable(&self, queue: usize) -> bool {
        let link = self.queues[queue];
        let s = self.scenario;
        let uses = (s.flows.iter().enumerate()).map(|(f, flow)| (f, &flow.path));
        let routes = s.events.iter().filter_map(|e| match &e.change {
            Change::Route { flow, path, .. } => Some((*flow, path)),
            _ => None,
        });
        let mut users = uses.chain(routes).filter(|(_, path)| path.contains(&link));
        users.all(|(flow, _)| self.controls[flow].dynamics.ecn)
    }

    /// Returns the size of the buffer of a queue, in bytes.
    pub fn buffer(&self, queue: usize) -> f64 {
        match self.scenario.links[self.queues[queue]].queue.limit {
            Limit::Packets(n) => n as f64 * self.packets[queue],
            Limit::Bytes(b) => b.as_f64(),
            Limit::Unlimited => f64::INFINITY,
        }
    }
}

/// Rejects tunnels that do not always send as much as they can.
fn tunnels(scenario: &Scenario) -> Result<(), FluidError> {
    for (id, tunnel) in scenario.flows.iter().enumerate() {
        let greedy = |rider: usize| scenario.flows[rider].demand.mean_rate().is_none();
        if tunnel.tunnel.is_some() && !scenario.riders(id).any(greedy) {
            let why = match scenario.riders(id).next() {
                None => "it carries no flow",
                Some(_) => "all flows in it have limited rates",
            };
            let tunnel = tunnel.name.clone();
            return Err(FluidError::Tunnel { tunnel, why });
        }
    }
    Ok(())
}

/// Returns true for web users, who are a constant load or omitted, and for flows in a tunnel, which
/// the tunnel's traffic contains.
fn is_left_out(flow: &Flow) -> bool {
    flow.through.is_some() || matches!(flow.demand, Demand::Web(Web { load: None, .. }))
}

/// Returns the times at which the network changes.
fn cuts(s: &Scenario) -> Vec<Time> {
    let mut cuts = vec![Time::ZERO];
    cuts.extend(s.events.iter().map(|e| e.at));
    cuts.dedup();
    cuts
}

/// Returns the links that can have a queue, and the links that attach a host for one flow.
fn queued(s: &Scenario) -> (Vec<bool>, Vec<bool>) {
    let n = s.links.len();
    let mut users = vec![0u32; n];
    let mut slower = vec![true; n];
    let mut varies = vec![false; n];
    let mut visit = |path: &[LinkId]| {
        for &l in path {
            users[l] += 1;
            slower[l] &= path.iter().any(|&m| s.links[m].rate < s.links[l].rate);
        }
    };
    for f in &s.flows {
        visit(&f.path);
    }
    for e in &s.events {
        match &e.change {
            Change::Route { path, .. } => visit(path),
            Change::Rate(l, _) => varies[*l] = true,
            Change::Delay(..) | Change::Demand { .. } => {}
        }
    }
    let steady = !varies.contains(&true);
    // A route change that keeps a flow on its host link counts the flow twice, so the link is not recognised
    // as private.
    let private: Vec<bool> =
        (0..n).map(|l| s.links[l].attachment && users[l] == 1 && !varies[l]).collect();
    let queued = (0..n).map(|l| users[l] > 0 && !(private[l] && slower[l] && steady)).collect();
    (queued, private)
}

/// Returns the mean rate of a demand, in bytes per second. It is infinite if the demand has none.
fn offered(demand: Demand) -> f64 {
    demand.mean_rate().map_or(f64::INFINITY, |bps| bps / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_family::Catalogue;
    use accord_language::File;
    use accord_units::Duration;

    /// Flows take turns at a hundred host delays, so equal flows are far apart in the
    /// scenario.
    #[test]
    fn flows_that_are_alike_are_one_class() {
        let text = "duration = \"5 s\"\n[topology.dumbbell]\nrate = \"1 Gbps\"\ndelay = \"5 ms\"\n\
             [flow.f]\ncount = 1000\nfrom = \"left\"\nto = \"right\"\ncontroller = \"monaco\"\n\
             access = { rate = \"10 Gbps\", delay = \"1 ms\" }\n";
        let catalogue =
            Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };
        let file = File::parse("alike.toml", text).expect("it parses");
        let mut scenario = file.points(&catalogue, None).expect("valid").swap_remove(0);
        for flow in 0..1000 {
            let access = scenario.flows[flow].path[0];
            assert!(scenario.links[access].attachment);
            scenario.links[access].delay = Duration::from_ms(1 + flow as u64 % 100);
        }
        let model = Model::new(&scenario).expect("there are laws");
        assert_eq!(model.classes.len(), 100);
        for (k, class) in model.classes.iter().enumerate() {
            let members: Vec<usize> = (k..1000).step_by(100).collect();
            assert_eq!(class.members, members);
        }
    }
}
