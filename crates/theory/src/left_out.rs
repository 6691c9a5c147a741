//! Notes on effects of packets that an equilibrium leaves out.

use crate::doubts::{law, window_dynamics};
use crate::equilibrium::State;
use crate::signals::{LEAST_PRICE, objective};
use accord_family::{BaseRtt, Objective, QueueFacts, QueueLaw, WindowLaw};
use accord_record::Notes;
use accord_scenario::{Flow, LinkId, Phase};
use accord_solver::{Problem, Solution};
use accord_units::{Bytes, Time};
use std::collections::BTreeMap;

/// The fraction of a link above which an omission is worth a note.
const MATERIAL: f64 = 0.02;
/// The window in packets below which the effect of whole packets is worth a note.
const FEW: f64 = 20.0;
/// The fraction of a queue or of a round trip above which a packet in service is worth a note.
const COARSE: f64 = 0.05;
/// The ratio of round-trip times above which flows that measure differently get different shares.
const UNLIKE: f64 = 1.5;

/// The ratio of a packet to the queued data above which the effect of whole packets is worth a
/// note.
const COARSE_TARGET: f64 = 0.4;
/// The fraction of an offered rate below which a flow follows the price.
const FOLLOWS: f64 = 1.0 - 1e-9;
/// The mean of √p·w for windows w of independent losses of probability p [Ott, Kemperman, Mathis, "The
/// stationary behavior of ideal TCP congestion avoidance", 1996].
const MEAN_WINDOW: f64 = 1.31;

/// The traffic over a link.
#[derive(Clone, Copy)]
struct Traffic {
    /// The rates of data and of acknowledgements, in bytes per second.
    data: f64,
    acks: f64,
    /// The sizes of the smallest and the largest data packet.
    smallest: f64,
    largest: f64,
    /// True if acknowledgements of windows sent in bursts cross the link.
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
    /// Adds notes on effects of packets in a phase that its equilibrium leaves out.
    pub(crate) fn leave_out_of(
        &self,
        phase: &Phase,
        problem: &Problem,
        solution: &Solution,
        notes: &mut Notes,
    ) {
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
        for group in groups.values() {
            self.of_group(group, &senders, solution, notes);
        }
        let mut lossy: BTreeMap<usize, &Sender<'_>> = BTreeMap::new();
        for sender in &senders {
            lossy.entry(sender.of.group).or_insert(sender);
        }
        lossy.into_values().for_each(|sender| self.of_wires(sender, notes));
        let traffic = self.traffic(&senders, solution);
        let counted = problem.routes().loads(&vec![1.0; senders.len()]);
        for l in 0..traffic.len() {
            self.of_link(l, &traffic[l], counted[l] > 0.0, solution, notes);
        }
    }

    /// Returns the part of a flow's packets that is lost on the wires of its path.
    fn lost_on_wires(&self, flow: usize) -> f64 {
        let links = self.network.path(flow).iter().map(|&l| &self.scenario.links[l]);
        1.0 - links.map(|link| 1.0 - link.loss).product::<f64>()
    }

    /// Adds notes on flows without control that lose packets on the wires of their paths.
    pub(crate) fn leave_out_losses_of(&self, phase: &Phase, notes: &mut Notes) {
        for &flow in &phase.active {
            let lost = self.lost_on_wires(flow);
            if lost > 0.0 && self.is_unresponsive(flow) {
                let name = self.group(flow);
                notes.add_of("losses of constant rates", name, lost, format!(
                    "losses on the wire are left out: {:.2} % of the packets of {name} are lost there; here all of them arrive, and load the links behind",
                    100.0 * lost
                ));
            }
        }
    }

    fn is_unresponsive(&self, flow: usize) -> bool {
        objective(&self.scenario.flows[flow].controller) == Some(Objective::Unresponsive)
    }

    /// Adds a note on a flow that loses packets on the wires of its path.
    fn of_wires(&self, sender: &Sender<'_>, notes: &mut Notes) {
        let lost = self.lost_on_wires(sender.flow);
        if lost <= 0.0 || self.is_unresponsive(sender.flow) {
            return;
        }
        // The mean of a window that grows by a packet per round trip and is halved at independent
        // losses.
        let (most, window) = (MEAN_WINDOW / lost.sqrt(), sender.window());
        if window > MATERIAL * most {
            let name = self.group(sender.flow);
            notes.add_of("wires", name, window / most, format!(
                "losses on the wire are left out: {:.2} % of the packets of {name} are lost there, and a window that halves at each loss has {most:.0} pkt on average; here it has {window:.0} pkt",
                100.0 * lost
            ));
        }
    }

    fn traffic(&self, senders: &[Sender<'_>], solution: &Solution) -> Vec<Traffic> {
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
            let back = of.answers().rate(rate, self.data_rtt(flow, &solution.prices));
            let bursts = matches!(law(of), Some(WindowLaw::Vegas { .. })) && !of.pacing;
            for &l in self.network.reverse_path(flow) {
                traffic[l].acks += back;
                traffic[l].bursts |= bursts;
            }
        }
        traffic
    }

    /// Adds notes on a group, given those of its flows that pay a price.
    fn of_group(
        &self,
        group: &[&Sender<'_>],
        senders: &[Sender<'_>],
        solution: &Solution,
        notes: &mut Notes,
    ) {
        let sender = group[0];
        let Sender { of, there, rtt, .. } = *sender;
        let name = self.group(sender.flow);
        self.of_vegas(group, notes);
        if let Some(BaseRtt::Last { .. }) = window_dynamics(of).map(|d| d.base) {
            notes.add_of("memory", name, 0.2, format!(
                "{name} takes the smallest of its latest round-trip times for its base, and so a queue that lasts for a part of it: it then queues more, which is left out"
            ));
        }
        let queued = sender.rate * there;
        let (packet, kept) = (of.packet.as_f64(), Bytes::from_f64(queued));
        // An application that sends less than its share keeps its rate.
        let follows =
            self.offered(sender.flow).is_none_or(|offered| sender.rate < offered * FOLLOWS);
        if of.goes_by_pairs() && follows && queued < packet {
            notes.add_of("packets", name, packet / queued, format!(
                "{name} keeps {kept} queued, less than a packet of {}: whole packets wait in a run, or none",
                of.packet
            ));
        } else if of.goes_by_pairs() && follows && packet > COARSE_TARGET * queued {
            notes.add_of("packets", name, 0.2 * packet / queued, format!(
                "{name} keeps {kept} queued, which is {:.1} packets of {}: its rate follows whole packets, and is off by a few percent over several queues",
                queued / packet,
                of.packet
            ));
        }
        if of.goes_by_pairs() {
            let path = self.network.path(sender.flow);
            let full = path.iter().filter(|&&l| solution.prices[l] > LEAST_PRICE);
            let waits: f64 = full.clone().map(|&l| 0.5 * of.packet.as_f64() / self.rate[l]).sum();
            if waits > COARSE * rtt {
                notes.add_of("waits", name, waits / rtt, format!(
                    "control packets of {name} wait for the packet in service, {:.1} ms on average, which is left out of round-trip times",
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
            if let Some(l) = fallen {
                let link = &self.scenario.links[l].name;
                let part =
                    (before.delay[l].as_secs_f64() - self.network.delay[l].as_secs_f64()) / rtt;
                notes.add_of("fall", link, part, format!(
                    "the delay of {link} has fallen: packets do not overtake those on its wire, so round trips over a full link stay as long as they were; here they are shorter"
                ));
            }
        }
        self.unlike_swings(sender, senders, solution, notes);
    }

    /// Adds notes on a group with the law of Vegas, given those of its flows that pay a price.
    fn of_vegas(&self, group: &[&Sender<'_>], notes: &mut Notes) {
        let alike = || group.iter().copied();
        let of = group[0].of;
        let name = self.group(group[0].flow);
        if !matches!(law(of), Some(WindowLaw::Vegas { .. })) {
            return;
        }
        let window = alike().map(Sender::window).fold(f64::INFINITY, f64::min);
        if window < FEW {
            notes.add_of("windows", name, 1.0 / window, format!(
                "windows of {name} are {window:.1} pkt here, but whole packets in a run: one packet is {:.0} % of a rate",
                100.0 / window
            ));
        }
        let needs = |s: &Sender<'_>| s.window() * s.rtt;
        let slowest = alike().max_by(|a, b| needs(a).total_cmp(&needs(b)));
        if let Some(s) = slowest.filter(|s| needs(s) > self.settles(s.of)) {
            let part = (1.0 - self.settles(s.of) / needs(s)).max(0.0);
            notes.add_of("growth", name, part, format!(
                "{name} grows by a packet per round trip after a slow start that may end early: up to {:.0} s to windows of {:.0} pkt, in a steady part that begins before",
                needs(s),
                s.window()
            ));
        }
    }

    /// Adds a note if a flow oscillates together with others of longer or shorter round trips at a
    /// full link.
    fn unlike_swings(
        &self,
        sender: &Sender<'_>,
        senders: &[Sender<'_>],
        solution: &Solution,
        notes: &mut Notes,
    ) {
        let swings = |s: &Sender<'_>| {
            let goal = objective(&s.of.controller);
            matches!(goal, Some(Objective::AccumulationUnlessOthers { .. }))
        };
        if !swings(sender) {
            return;
        }
        let others = senders.iter().filter(|s| swings(s) && self.meet(sender, s, solution));
        let bases: Vec<f64> = others.map(|s| self.base_rtt(s.flow)).collect();
        let least = bases.iter().copied().fold(f64::INFINITY, f64::min);
        let most = bases.into_iter().fold(0.0, f64::max);
        if most > UNLIKE * least {
            let name = self.group(sender.flow);
            notes.add_of("half round trips", name, 0.1 * most / least, format!(
                "{} looks at the smallest delay of half a round trip, and meets flows with other round trips ({:.1} to {:.1} ms): in a run, those with longer ones see less of a queue that swings, and get more; here they do not",
                name,
                1e3 * least,
                1e3 * most
            ));
        }
    }

    /// Returns true if two flows share a full link.
    fn meet(&self, a: &Sender<'_>, b: &Sender<'_>, solution: &Solution) -> bool {
        let other = self.network.path(b.flow);
        let path = self.network.path(a.flow).iter();
        path.into_iter().any(|l| solution.prices[*l] > LEAST_PRICE && other.contains(l))
    }

    /// Returns the time that a flow has before the steady part, plus a tenth of its time in it.
    fn settles(&self, flow: &Flow) -> f64 {
        let steady = self.scenario.steady;
        let end = flow.stop.map_or(steady.end, |stop| stop.min(steady.end));
        let begins = steady.start.max(flow.start);
        let within = if end > begins { end.since(begins).as_secs_f64() } else { 0.0 };
        begins.since(flow.start).as_secs_f64() + 0.1 * within
    }

    /// Adds notes on a link. `paid` says whether flows pay for it.
    fn of_link(
        &self,
        l: LinkId,
        traffic: &Traffic,
        paid: bool,
        solution: &Solution,
        notes: &mut Notes,
    ) {
        let rate = self.rate[l];
        if rate <= 0.0 {
            return;
        }
        let link = &self.scenario.links[l];
        let name = &link.name;
        let (acks, data) = (traffic.acks / rate, traffic.data / rate);
        if !paid && acks + data > 1.0 {
            notes.add_of("way back", name, acks, format!(
                "acknowledgements would take {:.1} % of {name}: they are lost or wait there, and their flows do not see it here",
                100.0 * acks
            ));
        }
        if solution.prices[l] <= LEAST_PRICE {
            return;
        }
        let backlog = solution.prices[l] * rate;
        if traffic.bursts {
            notes.add_of("bursts", name, 0.1, format!(
                "acknowledgements come in bunches from the queue of {name}, and windows that are not paced leave in bursts, which queue on their way; here they do not"
            ));
        }
        let differ = traffic.largest - traffic.smallest;
        if differ > COARSE * backlog {
            notes.add_of("sizes", name, traffic.largest / backlog, format!(
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
                    notes.add_of("queue", name, held, format!(
                        "no packet waits at {name} here; each that does on average, as in bursts, has rem leave {:.0} % of it unused",
                        100.0 * held
                    ));
                }
                if traffic.acks > 0.0 {
                    notes.add_of("marks", name, acks, format!(
                        "acknowledgements cannot be marked: rem drops them at {name} where it would mark data"
                    ));
                }
            }
            Ok(QueueLaw::Avd { .. }) => {
                notes.add_of("queue", name, MATERIAL, format!(
                    "no packet waits at {name} here; in a run some do, as packets come in bursts"
                ));
            }
            _ => {}
        }
    }
}
