//! From a scenario to what is integrated: kinds of flows, queues, delays.
//!
//! - Flows that are alike in everything (path, delays, controller, times, host links) have the
//!   same trajectory; they are one [`Kind`] with a multiplicity. Of a crowd beside packets, those that
//!   are nearly alike are one, too, see `cohorts.rs`.
//! - A link that attaches a host for one flow, and is wider than another link of the flow's
//!   path, has no queue at rest; it is left out, and only bounds the flow's rate.
//! - Delays are propagation and transmission of what a flow measures its round trip by, see
//!   `accord_scenario::State::probe`. Acknowledgements and control packets load no link.

mod left_out;

use crate::cohorts::{CLASSES, near, starts};
use crate::discipline::Discipline;
use crate::error::FluidError;
use crate::law::Control;
use crate::path::{Hop, Network, Path};
use accord_family::{QueueDynamics, QueueFacts, Values, WindowLaw};
use accord_scenario::{Change, Flow, Limit, LinkId, Scenario, State};
use accord_traffic::{Demand, Web};
use accord_units::{Bytes, Time};
use std::collections::BTreeMap;

/// Flows that are alike.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Indices in the scenario; never empty.
    pub members: Vec<usize>,
    /// Their delays differ, and the kind has the means of them.
    pub(crate) merged: bool,
    /// The part of each of them that does not change.
    pub control: Control,
    /// When it starts.
    pub(crate) start: Time,
    /// The application's rate in bytes/s; infinite where it always has more.
    pub offered: f64,
    /// All that the application sends, in bytes.
    pub(crate) size: f64,
}

/// The scenario, reduced.
#[derive(Debug)]
pub struct Model<'a> {
    /// The whole scenario.
    pub scenario: &'a Scenario,
    /// Whether a flow is in it at all.
    takes: fn(&Flow) -> bool,
    /// The start of each flow.
    starts: Vec<Time>,
    /// The control of each flow.
    controls: Vec<Control>,
    /// The kinds of flows.
    pub kinds: Vec<Kind>,
    /// The links that can have a queue.
    pub queues: Vec<LinkId>,
    /// For each link its place in `queues`.
    queue_of: Vec<Option<u32>>,
    /// Links that attach a host for one flow.
    private: Vec<bool>,
    /// Sizes of the packets in each queue: that of the first flow that uses it.
    pub packets: Vec<f64>,
    /// The largest ratio of round trips of flows that are one kind.
    pub(crate) widest: f64,
    /// Nothing but the fluid comes to its queues.
    pub(crate) whole: bool,
    pub(crate) notes: Vec<String>,
}

impl<'a> Model<'a> {
    /// Reduces all of a scenario.
    ///
    /// # Errors
    /// If there is no law for a controller, or for the discipline of a queue.
    pub fn new(scenario: &'a Scenario) -> Result<Model<'a>, FluidError> {
        tunnels(scenario)?;
        let starts = scenario.flows.iter().map(|f| f.start).collect();
        Model::of(scenario, |_| true, starts, usize::MAX)
    }

    /// Reduces the flows of a scenario that are a fluid to packets, with the links on their paths.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub(crate) fn of_fluid(scenario: &'a Scenario) -> Result<Model<'a>, FluidError> {
        let mut model = Model::of(scenario, |f| f.is_fluid, starts(scenario), CLASSES)?;
        model.whole = false;
        // Packets of the other flows meet the same losses, and their senders do so.
        for kind in &mut model.kinds {
            kind.control.spares = true;
            let path = &scenario.flows[kind.members[0]].path;
            let rates = path
                .iter()
                .map(|&l| scenario.links[l].rate.as_bps_f64() / 8.0);
            kind.control.slot = kind.control.packet / rates.fold(f64::INFINITY, f64::min);
        }
        Ok(model)
    }

    fn of(
        scenario: &'a Scenario,
        takes: fn(&Flow) -> bool,
        starts: Vec<Time>,
        most: usize,
    ) -> Result<Model<'a>, FluidError> {
        let (queued, private) = queued(scenario, takes);
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
            if !takes(f) {
                return Ok(Control::packets(f));
            }
            // A flow in a tunnel is left out, so that it needs no law.
            let f = f.through.map_or(f, |tunnel| &scenario.flows[tunnel]);
            Control::of(f).map_err(|why| FluidError::NoLaw {
                group: scenario.groups[f.group].name.clone(),
                controller: f.controller.family().name,
                why,
            })
        });
        let mut model = Model {
            scenario,
            takes,
            starts,
            controls: controls.collect::<Result<_, _>>()?,
            kinds: Vec::new(),
            queues: Vec::new(),
            queue_of: Vec::new(),
            private,
            packets: Vec::new(),
            widest: 1.0,
            whole: true,
            notes: Vec::new(),
        };
        model.number(&queued);
        model.gather(most);
        // Of private queues that are alike, those of one flow of a kind remain.
        let mut used = vec![false; scenario.links.len()];
        for kind in &model.kinds {
            let flow = kind.members[0];
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

    /// Finds flows that are alike, and merges those that are nearly so where a group has more than `most`
    /// kinds over a path.
    fn gather(&mut self, most: usize) {
        let s = self.scenario;
        let networks: Vec<Vec<Path>> = cuts(s)
            .into_iter()
            .map(|t| {
                let state = s.at(t);
                (0..s.flows.len()).map(|f| self.path(&state, f)).collect()
            })
            .collect();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        // Flows that are alike lie in one group of the scenario.
        for g in &s.groups {
            // The classes by numbers in which flows that are alike agree.
            let mut known: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
            let seen = |&flow: &usize| {
                let flow = &s.flows[flow];
                (self.takes)(flow) && !is_left_out(flow)
            };
            for flow in g.flows.clone().filter(seen) {
                let same = |&other: &usize| {
                    let (a, b) = (&s.flows[flow], &s.flows[other]);
                    (a.controller == b.controller && a.service == b.service)
                        && a.demand == b.demand
                        && self.starts[flow] == self.starts[other]
                        && (a.stop, a.packet) == (b.stop, b.packet)
                        && networks.iter().all(|n| self.same(&n[flow], &n[other]))
                };
                let numbers = networks.iter().flat_map(|n| {
                    let path = &n[flow];
                    let after = path.hops.iter().map(|hop| hop.after);
                    let times = [path.base_rtt, path.one_way, path.peak];
                    times.into_iter().chain(after).map(f64::to_bits)
                });
                let key = std::iter::once(self.starts[flow].as_ps()).chain(numbers);
                let alike = known.entry(key.collect()).or_default();
                match alike.iter().find(|&&class| same(&groups[class][0])) {
                    Some(&class) => groups[class].push(flow),
                    None => {
                        alike.push(groups.len());
                        groups.push(vec![flow]);
                    }
                }
            }
        }
        let merged = match most {
            usize::MAX => groups.into_iter().map(|members| (members, false)).collect(),
            most => self.merge(groups, &networks, most),
        };
        self.kinds = merged
            .into_iter()
            .map(|(members, merged)| {
                let f = &s.flows[members[0]];
                // The most that it ever offers; what it offers meanwhile bounds its path.
                let changes = s.events.iter().filter_map(|e| match e.change {
                    Change::Demand { flow, rate } if flow == members[0] => {
                        Some(offered(f.demand.at_rate(rate)))
                    }
                    _ => None,
                });
                Kind {
                    offered: changes.fold(offered(f.demand), f64::max),
                    size: match f.demand {
                        Demand::Size(size) => size.as_f64(),
                        _ => f64::INFINITY,
                    },
                    control: self.controls[members[0]],
                    start: self.starts[members[0]],
                    members,
                    merged,
                }
            })
            .collect();
    }

    /// Merges kinds of a group that differ in their delays only, so that about `most` are left for each
    /// path. Returns them in the order of their first flows, and which of them are of several.
    fn merge(
        &mut self,
        groups: Vec<Vec<usize>>,
        networks: &[Vec<Path>],
        most: usize,
    ) -> Vec<(Vec<usize>, bool)> {
        let s = self.scenario;
        let rtt = |members: &[usize]| networks[0][members[0]].base_rtt;
        let mut paths: Vec<Vec<Vec<usize>>> = Vec::new();
        for members in groups {
            let joins = |other: &Vec<Vec<usize>>| {
                let (a, b) = (members[0], other[0][0]);
                let (f, g) = (&s.flows[a], &s.flows[b]);
                (f.group, f.stop, f.packet, f.demand) == (g.group, g.stop, g.packet, g.demand)
                    && (&f.controller, f.service) == (&g.controller, g.service)
                    && networks.iter().all(|n| self.parallel(&n[a], &n[b]))
            };
            match paths.iter().position(joins) {
                Some(path) => paths[path].push(members),
                None => paths.push(vec![members]),
            }
        }
        let (starts, mut kinds) = (self.starts.clone(), Vec::new());
        for mut path in paths {
            let start = |members: &Vec<usize>| starts[members[0]];
            path.sort_by(|a, b| (start(a).cmp(&start(b))).then(rtt(a).total_cmp(&rtt(b))));
            let cohorts = path.chunk_by(|a, b| start(a) == start(b));
            let each = most / cohorts.clone().count();
            for together in cohorts {
                let delays: Vec<f64> = together.iter().map(|members| rtt(members)).collect();
                let mut left = together;
                for part in near(&delays, each.max(1)) {
                    self.widest = self.widest.max(part[part.len() - 1] / part[0]);
                    let (merged, rest) = left.split_at(part.len());
                    let mut members = merged.concat();
                    members.sort_unstable();
                    kinds.push((members, part.len() > 1));
                    left = rest;
                }
            }
        }
        kinds.sort_by_key(|(members, _)| members[0]);
        kinds
    }

    /// Returns when which kinds start, `true`, and stop, in order.
    pub(crate) fn switches(&self) -> Vec<(Time, usize, bool)> {
        let mut switches = Vec::new();
        for (k, kind) in self.kinds.iter().enumerate() {
            switches.push((kind.start, k, true));
            let stop = self.scenario.flows[kind.members[0]].stop;
            switches.extend(stop.map(|stop| (stop, k, false)));
        }
        switches.sort_unstable();
        switches
    }

    /// Returns whether each kind has started and not stopped at `time`.
    pub(crate) fn running(&self, time: Time) -> Vec<(usize, bool)> {
        let runs = |kind: &Kind| {
            let stop = self.scenario.flows[kind.members[0]].stop;
            kind.start <= time && stop.is_none_or(|stop| stop > time)
        };
        self.kinds.iter().map(runs).enumerate().collect()
    }

    /// The network from `time` on.
    pub fn network(&self, time: Time) -> Network {
        let state = self.scenario.at(time);
        let paths = self.kinds.iter().map(|k| match k.merged {
            true => Path::mean(k.members.iter().map(|&flow| self.path(&state, flow))),
            false => self.path(&state, k.members[0]),
        });
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
        let endless = matches!(
            f.demand,
            Demand::Greedy | Demand::Size(_) | Demand::OnOff { rate: None, .. }
        );
        if endless && self.controls[flow].dynamics.law == WindowLaw::Unresponsive {
            // It sends as fast as its first link takes it.
            path.peak = path.peak.min(rate(state.path(flow)[0]));
        }
        path.forward = path.hops.len();
        path.base_rtt = path.one_way;
        let feels = self.controls[flow].dynamics.window_clocked;
        for &l in state.reverse_path(flow) {
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

    /// Returns the number of links like this one, for `many` flows.
    pub(crate) fn lines(&self, link: LinkId, many: f64) -> f64 {
        match self.private[link] {
            true => many,
            false => 1.0,
        }
    }

    /// A queue's capacity, longest delay, and discipline.
    pub fn discipline(&self, queue: usize) -> &'a Values {
        &self.scenario.links[self.queues[queue]].queue.discipline
    }

    /// The discipline of a queue as it begins, at a capacity in bytes/s.
    pub fn rule(&self, queue: usize, capacity: f64) -> Discipline {
        Discipline::new(self.dynamics(queue), self.capable(queue), capacity)
    }

    /// Whether the discipline of a queue marks what can be marked.
    pub(crate) fn marks(&self, queue: usize) -> bool {
        self.dynamics(queue).ecn
    }

    /// The dynamics of a queue's discipline.
    fn dynamics(&self, queue: usize) -> QueueDynamics {
        let values = self.discipline(queue);
        let of = values.family().queue_dynamics();
        let of = of.expect("a model has queues with laws only");
        let facts = QueueFacts {
            packet: Bytes::from_f64(self.packets[queue]),
            buffer: self.buffer(queue),
        };
        of(values, &facts)
    }

    /// Whether two paths make no difference to the fluid.
    pub fn same(&self, a: &Path, b: &Path) -> bool {
        let after = |(a, b): (&Hop, &Hop)| a.after == b.after;
        (a.base_rtt, a.one_way) == (b.base_rtt, b.one_way)
            && self.parallel(a, b)
            && a.hops.iter().zip(&b.hops).all(after)
    }

    /// Whether two paths differ by delays only.
    fn parallel(&self, a: &Path, b: &Path) -> bool {
        let link = |h: &Hop| &self.scenario.links[self.queues[h.queue]];
        let alike = |(a, b): (&Hop, &Hop)| {
            let twins = || {
                let (x, y) = (link(a), link(b));
                (a.private && b.private) && (x.rate == y.rate && x.queue == y.queue)
            };
            a.passes == b.passes && (a.queue == b.queue || twins())
        };
        let numbers = |p: &Path| (p.peak, p.passes, p.forward, p.hops.len());
        numbers(a) == numbers(b) && a.hops.iter().zip(&b.hops).all(alike)
    }

    /// Whether a kind measures a queue by pairs of control packets that both wait in it.
    pub(crate) fn hidden(&self, kind: usize, queue: usize) -> bool {
        let flow = &self.scenario.flows[self.kinds[kind].members[0]];
        flow.goes_by_pairs() && !self.scenario.links[self.queues[queue]].control_priority
    }

    /// Whether the packets of all flows that use a queue can be marked.
    pub(crate) fn capable(&self, queue: usize) -> bool {
        let link = self.queues[queue];
        let s = self.scenario;
        let uses = (s.flows.iter().enumerate()).map(|(f, flow)| (f, &flow.path));
        let routes = s.events.iter().filter_map(|e| match &e.change {
            Change::Route { flow, path, .. } => Some((*flow, path)),
            _ => None,
        });
        let users = uses.chain(routes).filter(|(_, path)| path.contains(&link));
        let mut users = users.filter(|(flow, _)| (self.takes)(&s.flows[*flow]));
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

/// Refuses tunnels that do not send all they can.
fn tunnels(scenario: &Scenario) -> Result<(), FluidError> {
    for (id, tunnel) in scenario.flows.iter().enumerate() {
        let greedy = |rider: usize| scenario.flows[rider].demand.mean_rate().is_none();
        if tunnel.tunnel.is_some() && !scenario.riders(id).any(greedy) {
            let why = match scenario.riders(id).next() {
                None => "nothing rides in it",
                Some(_) => "all that rides in it has a rate of its own",
            };
            let tunnel = tunnel.name.clone();
            return Err(FluidError::Tunnel { tunnel, why });
        }
    }
    Ok(())
}

/// Web users are a steady load, or not there. What rides in a tunnel is in what the tunnel sends.
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

/// Links that can have a queue, and links that attach a host for one flow.
fn queued(s: &Scenario, takes: fn(&Flow) -> bool) -> (Vec<bool>, Vec<bool>) {
    let n = s.links.len();
    let mut users = vec![0u32; n];
    let mut taken = vec![false; n];
    let mut slower = vec![true; n];
    let mut varies = vec![false; n];
    let mut visit = |flow: usize, path: &[LinkId]| {
        for &l in path {
            users[l] += 1;
            taken[l] |= takes(&s.flows[flow]);
            slower[l] &= path.iter().any(|&m| s.links[m].rate < s.links[l].rate);
        }
    };
    for (id, f) in s.flows.iter().enumerate() {
        visit(id, &f.path);
    }
    for e in &s.events {
        match &e.change {
            Change::Route { flow, path, .. } => visit(*flow, path),
            Change::Rate(l, _) => varies[*l] = true,
            Change::Delay(..) | Change::Demand { .. } => {}
        }
    }
    let steady = !varies.contains(&true);
    // A route change that keeps a flow on its host link counts it twice; it is then merely
    // not found to be private.
    let private: Vec<bool> = (0..n)
        .map(|l| s.links[l].attachment && users[l] == 1 && !varies[l])
        .collect();
    let queued = (0..n)
        .map(|l| taken[l] && !(private[l] && slower[l] && steady))
        .collect();
    (queued, private)
}

/// The mean rate of a demand, in bytes per second; infinite where it has none.
fn offered(demand: Demand) -> f64 {
    demand.mean_rate().map_or(f64::INFINITY, |bps| bps / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_family::Catalogue;
    use accord_language::File;
    use accord_units::Duration;

    /// A thousand flows on a dumbbell with host links of 1 + i·`step` for flow i.
    fn thousand(form: &str, step: Duration) -> Scenario {
        let text = format!(
            "duration = \"5 s\"\n[topology.dumbbell]\nrate = \"1 Gbps\"\ndelay = \"5 ms\"\n\
             [flow.f]\ncount = 1000\nfrom = \"left\"\nto = \"right\"\ncontroller = \"monaco\"\n\
             access = {{ rate = \"10 Gbps\", delay = \"1 ms\" }}\n{form}"
        );
        let catalogue = Catalogue {
            controllers: accord_control::FAMILIES,
            disciplines: accord_aqm::FAMILIES,
        };
        let file = File::parse("alike.toml", &text).expect("it parses");
        let mut scenario = file.points(&catalogue, None).expect("valid").swap_remove(0);
        for flow in 0..1000 {
            let access = scenario.flows[flow].path[0];
            assert!(scenario.links[access].attachment);
            let more = Duration::from_ps(flow as u64 * step.as_ps());
            scenario.links[access].delay = Duration::from_ms(1) + more;
        }
        scenario
    }

    /// Flows take turns at a hundred delays of their hosts, so that those that are alike are far apart.
    #[test]
    fn flows_that_are_alike_are_one_kind_wherever_they_are() {
        let mut scenario = thousand("", Duration::ZERO);
        for flow in 0..1000 {
            let access = scenario.flows[flow].path[0];
            scenario.links[access].delay = Duration::from_ms(1 + flow as u64 % 100);
        }
        let model = Model::new(&scenario).expect("there are laws");
        assert_eq!(model.kinds.len(), 100);
        for (k, kind) in model.kinds.iter().enumerate() {
            let members: Vec<usize> = (k..1000).step_by(100).collect();
            assert_eq!(kind.members, members);
        }
    }

    /// However many round trips and starts a crowd has, it has so many classes. Each is at the harmonic mean
    /// round trip of its flows, so that all together have that of all.
    #[test]
    fn the_classes_of_a_crowd_are_bounded() {
        let starts = "start = { uniform = [\"0 s\", \"2 s\"] }\n";
        for (start, classes) in [("", CLASSES..=CLASSES), (starts, 48..=CLASSES)] {
            let scenario = thousand(&format!("as = \"fluid\"\n{start}"), Duration::from_us(20));
            let model = Model::of_fluid(&scenario).expect("there are laws");
            assert!(
                classes.contains(&model.kinds.len()),
                "{}",
                model.kinds.len()
            );
            let mut members: Vec<usize> =
                model.kinds.iter().flat_map(|k| k.members.clone()).collect();
            members.sort_unstable();
            assert_eq!(members, (0..1000).collect::<Vec<_>>());
            let network = model.network(Time::ZERO);
            let parts = model.kinds.iter().zip(&network.paths);
            let found: f64 = parts
                .map(|(k, path)| k.members.len() as f64 / path.base_rtt)
                .sum();
            let state = scenario.at(Time::ZERO);
            let expected: f64 = (0..1000)
                .map(|f| 1.0 / model.path(&state, f).base_rtt)
                .sum();
            assert!((found / expected - 1.0).abs() < 1e-9);
        }
    }

    /// As many round trips as a crowd may have classes are not merged.
    #[test]
    fn few_round_trips_are_exact() {
        let mut scenario = thousand("as = \"fluid\"\n", Duration::ZERO);
        for flow in 0..1000 {
            let access = scenario.flows[flow].path[0];
            scenario.links[access].delay = Duration::from_us(1000 + flow as u64 % 64);
        }
        let model = Model::of_fluid(&scenario).expect("there are laws");
        assert_eq!((model.kinds.len(), model.widest), (64, 1.0));
        assert!(model.kinds.iter().all(|k| !k.merged));
    }
}
