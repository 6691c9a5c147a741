//! Notes on what packets do and an equilibrium leaves out.

use crate::doubts::{law, window_dynamics};
use crate::equilibrium::State;
use crate::signals::{LEAST_PRICE, objective};
use accord_family::{BaseRtt, Objective, QueueFacts, QueueLaw, WindowLaw};
use accord_scenario::{Flow, LinkId, Phase};
use accord_solver::Solution;
use accord_units::{Bytes, Time};
use std::collections::BTreeMap;

/// The part of a link from which on an omission is worth a note.
const MATERIAL: f64 = 0.02;
/// The packets of a window below which whole packets are worth a note.
const FEW: f64 = 20.0;
/// The part of a queue, or of a round trip, from which on a packet in service is worth a note.
const COARSE: f64 = 0.05;
/// The ratio of round-trip times from which on flows that read them differently get other shares.
const UNLIKE: f64 = 1.5;

/// The traffic over a link.
#[derive(Clone, Copy)]
struct Traffic {
    /// The bytes per second of data and of acknowledgements.
    data: f64,
    acks: f64,
    /// The sizes of the smallest and the largest data packet.
    smallest: f64,
    largest: f64,
    /// Acknowledgements of windows that are sent in bursts cross the link.
    bursts: bool,
}

/// A flow of a phase in equilibrium.
#[derive(Clone, Copy)]
struct Sender<'a> {
    flow: usize,
    of: &'a Flow,
    rate: f64,
    /// The queuing delay or price of its forward path, in seconds.
    there: f64,
    rtt: f64,
}

impl Sender<'_> {
    /// Returns the window in packets.
    fn window(&self) -> f64 {
        self.rate * self.rtt / self.of.packet.as_f64()
    }
}

impl State<'_> {
    /// Returns notes on what packets do in a phase and its equilibrium leaves out.
    pub(crate) fn left_out_of(&self, phase: &Phase, solution: &Solution) -> Vec<String> {
        let senders: Vec<Sender<'_>> = (phase.active.iter().zip(&solution.rates))
            .map(|(&flow, &rate)| {
                let there: f64 = self.network.path(flow).iter().map(|&l| solution.prices[l]).sum();
                let behind = self.seen_behind(flow, &solution.prices);
                Sender {
                    flow,
                    of: &self.scenario.flows[flow],
                    rate,
                    there,
                    rtt: self.base_rtt(flow) + there + behind,
                }
            })
            .collect();
        let mut groups: BTreeMap<usize, Vec<&Sender<'_>>> = BTreeMap::new();
        for sender in senders.iter().filter(|s| s.there > LEAST_PRICE) {
            groups.entry(sender.of.group).or_default().push(sender);
        }
        let groups = groups.into_values();
        let groups = groups.flat_map(|group| self.of_group(&group, &senders, solution));
        let traffic = self.traffic(&senders);
        let links = (0..traffic.len()).flat_map(|l| self.of_link(l, &traffic[l], solution));
        groups.chain(links).collect()
    }

    fn traffic(&self, senders: &[Sender<'_>]) -> Vec<Traffic> {
        let none =
            Traffic { data: 0.0, acks: 0.0, smallest: f64::INFINITY, largest: 0.0, bursts: false };
        let mut traffic = vec![none; self.rate.len()];
        for &Sender { flow, of, rate, .. } in senders {
            let packet = of.packet.as_f64();
            for &l in self.network.path(flow) {
                let t = &mut traffic[l];
                t.data += rate;
                t.smallest = t.smallest.min(packet);
                t.largest = t.largest.max(packet);
            }
            if objective(&of.controller) == Some(Objective::Unresponsive) {
                continue;
            }
            let ack = if of.goes_by_pairs() { of.control } else { of.ack };
            let bursts = matches!(law(of), Some(WindowLaw::Vegas { .. })) && !of.pacing;
            for &l in self.network.reverse_path(flow) {
                traffic[l].acks += rate * ack.as_f64() / packet;
                traffic[l].bursts |= bursts;
            }
        }
        traffic
    }

    /// Returns notes on a group, given its flows that pay a price.
    fn of_group(
        &self,
        group: &[&Sender<'_>],
        senders: &[Sender<'_>],
        solution: &Solution,
    ) -> Vec<String> {
        let sender = group[0];
        let Sender { of, there, rtt, .. } = *sender;
        let name = self.group(sender.flow);
        let mut notes = self.of_vegas(group);
        if let Some(BaseRtt::Last { .. }) = window_dynamics(of).map(|d| d.base) {
            notes.push(format!(
                "{name} takes the smallest of its latest round-trip times for its base, and so a queue that lasts for a part of it: it then queues more, which is left out"
            ));
        }
        let queued = sender.rate * there;
        if of.goes_by_pairs() && queued < of.packet.as_f64() {
            notes.push(format!(
                "{name} keeps {} queued, less than a packet of {}: whole packets wait in a run, or none",
                Bytes::from_f64(queued),
                of.packet
            ));
        }
        if of.goes_by_pairs() {
            let path = self.network.path(sender.flow);
            let full = path.iter().filter(|&&l| solution.prices[l] > LEAST_PRICE);
            let waits: f64 = full.clone().map(|&l| 0.5 * of.packet.as_f64() / self.rate[l]).sum();
            if waits > COARSE * rtt {
                notes.push(format!(
                    "control packets of {name} wait for the packet in service, {:.1} ms in the mean, which is left out of round-trip times",
                    1e3 * waits
                ));
            }
        }
        let measures = window_dynamics(of).is_some_and(|d| d.base != BaseRtt::Known);
        if of.goes_by_pairs() || measures {
            let before = self.scenario.at(Time::ZERO);
            let path = self.network.path(sender.flow).iter();
            let fallen = path.copied().find(|&l| {
                solution.prices[l] > LEAST_PRICE && self.network.delay[l] < before.delay[l]
            });
            notes.extend(fallen.map(|l| {
                format!(
                    "the delay of {} has fallen: packets do not overtake those on its wire, so that round trips over a full link stay as long as they were; here they are shorter",
                    self.scenario.links[l].name
                )
            }));
        }
        notes.extend(self.unlike_swings(sender, senders, solution));
        notes
    }

    /// Returns notes on a group with the law of Vegas, given its flows that pay a price.
    fn of_vegas(&self, group: &[&Sender<'_>]) -> Vec<String> {
        let alike = || group.iter().copied();
        let of = group[0].of;
        let name = self.group(group[0].flow);
        let mut notes = Vec::new();
        if !matches!(law(of), Some(WindowLaw::Vegas { .. })) {
            return notes;
        }
        let window = alike().map(Sender::window).fold(f64::INFINITY, f64::min);
        if window < FEW {
            notes.push(format!(
                "windows of {name} are {window:.1} pkt here, and whole packets in a run, of which one is {:.0} % of a rate",
                100.0 / window
            ));
        }
        let needs = |s: &Sender<'_>| s.window() * s.rtt;
        let slowest = alike().max_by(|a, b| needs(a).total_cmp(&needs(b)));
        notes.extend(slowest.filter(|s| needs(s) > self.settles(s.of)).map(|s| {
            format!(
                "{name} grows by a packet per round trip after a slow start that may end early: up to {:.0} s to windows of {:.0} pkt, in a steady part that begins before",
                needs(s),
                s.window()
            )
        }));
        notes
    }

    /// Returns a note if a flow swings with others of longer or shorter round trips at a full link.
    fn unlike_swings(
        &self,
        sender: &Sender<'_>,
        senders: &[Sender<'_>],
        solution: &Solution,
    ) -> Option<String> {
        let swings = |s: &Sender<'_>| {
            let goal = objective(&s.of.controller);
            matches!(goal, Some(Objective::AccumulationUnlessOthers { .. }))
        };
        if !swings(sender) {
            return None;
        }
        let others = senders.iter().filter(|s| swings(s) && self.meet(sender, s, solution));
        let bases: Vec<f64> = others.map(|s| self.base_rtt(s.flow)).collect();
        let least = bases.iter().copied().fold(f64::INFINITY, f64::min);
        let most = bases.into_iter().fold(0.0, f64::max);
        (most > UNLIKE * least).then(|| {
            format!(
                "{} looks at the smallest delay of half a round trip, and meets flows of longer and shorter ones ({:.1} to {:.1} ms): the longer see less of a queue that swings, and get more; here they do not",
                self.group(sender.flow),
                1e3 * least,
                1e3 * most
            )
        })
    }

    /// Returns true if two flows share a full link.
    fn meet(&self, a: &Sender<'_>, b: &Sender<'_>, solution: &Solution) -> bool {
        let other = self.network.path(b.flow);
        let path = self.network.path(a.flow).iter();
        path.into_iter().any(|l| solution.prices[*l] > LEAST_PRICE && other.contains(l))
    }

    /// Returns the time that a flow has before the steady part, and a tenth of its time in it.
    fn settles(&self, flow: &Flow) -> f64 {
        let steady = self.scenario.steady;
        let end = flow.stop.map_or(steady.end, |stop| stop.min(steady.end));
        let begins = steady.start.max(flow.start);
        let within = if end > begins { end.since(begins).as_secs_f64() } else { 0.0 };
        begins.since(flow.start).as_secs_f64() + 0.1 * within
    }

    /// Returns notes on a link.
    fn of_link(&self, l: LinkId, traffic: &Traffic, solution: &Solution) -> Vec<String> {
        let rate = self.rate[l];
        if rate <= 0.0 {
            return Vec::new();
        }
        let link = &self.scenario.links[l];
        let name = &link.name;
        let (acks, data) = (traffic.acks / rate, traffic.data / rate);
        if solution.prices[l] <= LEAST_PRICE {
            let more = (acks > MATERIAL && acks + data > 1.0).then(|| {
                format!(
                    "acknowledgements would take {:.1} % of {name} in addition to {:.1} % by data: flows wait for them, and are slower than here",
                    100.0 * acks,
                    100.0 * data
                )
            });
            return more.into_iter().collect();
        }
        let mut notes = Vec::new();
        if acks > MATERIAL {
            notes.push(format!(
                "acknowledgements of flows the other way take up to {:.1} % of {name}, and are left out",
                100.0 * acks
            ));
        }
        if traffic.bursts {
            notes.push(format!(
                "acknowledgements come in bunches from the queue of {name}, and windows that are not paced leave in bursts, which queue on their way; here they do not"
            ));
        }
        let backlog = solution.prices[l] * rate;
        let differ = traffic.largest - traffic.smallest;
        if differ > COARSE * backlog {
            notes.push(format!(
                "packets from {} to {} share {name}: the one in service, which is left out, is up to {:.0} % of its queue",
                Bytes::from_f64(traffic.smallest),
                Bytes::from_f64(traffic.largest),
                100.0 * traffic.largest / backlog
            ));
        }
        let discipline = &link.queue.discipline;
        let facts = QueueFacts { packet: Bytes::from_f64(traffic.largest), buffer: f64::INFINITY };
        let law = discipline.family().queue_dynamics();
        match law.map(|of| of(discipline, &facts).law) {
            Ok(QueueLaw::Rem { backlog, .. }) => {
                let held = backlog * traffic.largest / rate;
                if held > MATERIAL {
                    notes.push(format!(
                        "no packet waits at {name} here; each that does in the mean, as in bursts, has rem leave {:.0} % of it unused",
                        100.0 * held
                    ));
                }
                if traffic.acks > 0.0 {
                    notes.push(format!(
                        "acknowledgements cannot be marked: rem drops them at {name} where it would mark data"
                    ));
                }
            }
            Ok(QueueLaw::Avd { .. }) => notes.push(format!(
                "no packet waits at {name} here; in a run some do, as packets come in bursts"
            )),
            _ => {}
        }
        notes
    }
}
