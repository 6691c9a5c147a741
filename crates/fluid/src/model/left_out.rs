//! The omissions of a model, as notes of a run.

use super::{Class, Model, is_left_out};
use crate::discipline::Discipline;
use crate::law::Control;
use crate::path::Path;
use accord_family::{BaseRtt, GivesUp, QueueLaw, Reads, WindowLaw};
use accord_record::Notes;
use accord_scenario::{Flow, Limit, Link};
use accord_traffic::Demand;
use accord_units::Time;
use std::collections::BTreeSet;

/// The number of loss-based flows above which their losses are practically evenly spread.
const MANY: f64 = 10.0;
/// The relative difference up to which rates count as equal.
const EQUAL: f64 = 1e-6;

impl Model<'_> {
    /// Records the omissions of the model.
    pub(super) fn leave_out(&mut self) {
        let s = self.scenario;
        let mut notes = Notes::default();
        let mut note = |size: f64, text: &str| notes.add(text, size, text);
        if s.flows.iter().any(|f| matches!(f.demand, Demand::OnOff { rate: None, .. })) {
            note(
                0.3,
                "bursts without a rate are taken at a mean rate, as if they were instantaneous",
            );
        }
        if s.has_tunnels() {
            note(
                0.1,
                "a tunnel always sends as much as it can; the flows in tunnels, which share its rate, are left out",
            );
        }
        let unloaded = |f: &Flow| f.through.is_none() && is_left_out(f);
        if s.flows.iter().any(unloaded) {
            note(0.5, "web users without a `load` are left out");
        }
        if s.flows.iter().any(|f| {
            matches!(
                f.demand,
                Demand::OnOff { rate: Some(_), .. } | Demand::Poisson(_) | Demand::Web(_)
            )
        }) {
            note(0.02, "random demands are taken at their mean rates");
        }
        if s.flows.iter().any(|f| matches!(f.demand, Demand::Media(_))) {
            note(0.1, "live video is taken at its highest rate, or at its share if that is less");
        }
        if s.links.iter().any(|l| l.control_loss > 0.0) {
            note(0.02, "losses of control packets on the wire are left out");
        }
        if s.flows.iter().any(|f| f.reverse_path.iter().any(|&l| s.links[l].loss > 0.0)) {
            note(0.02, "losses of acknowledgements on the wire are left out");
        }
        for text in s.links.iter().filter_map(Link::left_out) {
            note(0.2, &text);
        }
        let disciplines = s.links.iter().map(|l| l.queue.discipline.family());
        let unknown = disciplines.filter(|f| f.queue_dynamics().is_err());
        for name in unknown.map(|f| f.name).collect::<BTreeSet<_>>() {
            note(0.5, &format!("{name} is taken as droptail"));
        }
        let finite = |&l: &usize| s.links[l].queue.limit != Limit::Unlimited;
        let refuses = |q| Discipline::refuses(&self.dynamics(q).law);
        if self.queues.iter().any(finite) || (0..self.queues.len()).any(refuses) {
            note(
                0.02,
                "a full buffer drops the excess; a flow with losses, or with marks that count as losses, halves its window at most once per round trip, as if losses were spread evenly over flows",
            );
            let keeps = |c: &Control| c.dynamics.gives_up != GivesUp::Window;
            if self.controls.iter().any(keeps) {
                note(
                    0.02,
                    "of flows with loss = \"accumulation\", a loss halves their backlog, as estimated from the queues of the forward path",
                );
            }
        }
        self.few_flows(&mut notes);
        let empties = |q: &usize| {
            matches!(self.dynamics(*q).law, QueueLaw::Avd { .. } | QueueLaw::Rem { .. })
        };
        for q in (0..self.queues.len()).filter(empties) {
            let name = &s.links[self.queues[q]].name;
            notes.add_of("queue", name, 0.02, format!(
                "{name} keeps a queue that is empty in equilibrium; packets come in bursts and wait there"
            ));
        }
        self.of_groups(&mut notes);
        self.demands_alone(&mut notes);
        self.notes = notes;
    }

    /// Adds notes on groups with a range of equilibria, and on groups that forget their base round-trip times.
    fn of_groups(&self, notes: &mut Notes) {
        let s = self.scenario;
        let between = |k: &&Class| matches!(k.control.dynamics.law, WindowLaw::Vegas { low, high, .. } if low < high);
        let groups = self.classes.iter().filter(between);
        let groups = groups.map(|k| s.flows[k.members[0]].group);
        for group in groups.collect::<BTreeSet<_>>() {
            let name = &s.groups[group].name;
            notes.add_of("band", name, 0.3, format!(
                "{name} has an equilibrium anywhere between its two thresholds; which one it reaches depends on the trajectory"
            ));
        }
        let last = |k: &&Class| matches!(k.control.dynamics.base, BaseRtt::Last { .. });
        let groups = self.classes.iter().filter(last);
        let groups = groups.map(|k| s.flows[k.members[0]].group);
        for group in groups.collect::<BTreeSet<_>>() {
            let name = &s.groups[group].name;
            notes.add_of("memory", name, 0.2, format!(
                "{name} takes the smallest of its latest round-trip times for its base, which in packets depends on bursts and losses: queues and shares differ"
            ));
        }
    }

    /// Adds notes on queues too short for the number of their loss-based flows: the buffer, or the threshold
    /// of RED, is below the product of rate and round-trip time over the root of that number [Appenzeller,
    /// Keslassy, McKeown, "Sizing Router Buffers", SIGCOMM 2004]. A few flows lose packets together and then
    /// leave the link idle. Flows that keep an accumulation lose packets where it does not fit.
    fn few_flows(&self, notes: &mut Notes) {
        let network = self.network(Time::ZERO);
        let of = |q: usize| {
            let link = self.queues[q];
            if self.private[link] {
                return None;
            }
            let (room, kept) = self.room(q);
            let there = || {
                let all = self.classes.iter().zip(&network.paths);
                all.filter(|(_, path)| path.hops[..path.forward].iter().any(|h| h.queue == q))
            };
            let wanted = |(class, path): (&Class, &Path)| {
                class.members.len() as f64 * class.control.accumulation(path.base_rtt)
            };
            let fits = there().map(wanted).sum::<f64>() <= kept;
            let (mut flows, mut round_trips) = (0.0, 0.0);
            for (class, path) in there() {
                // Marks that are a price are not losses.
                let priced = matches!(class.control.dynamics.reads, Reads::Marks { .. })
                    && self.rule(q, network.rate[link]).marks;
                let reacts = match class.control.dynamics.law {
                    WindowLaw::Reno | WindowLaw::Cubic { .. } => true,
                    WindowLaw::Unresponsive => false,
                    _ => !fits && !priced,
                };
                if reacts {
                    let many = class.members.len() as f64;
                    flows += many;
                    round_trips += many * path.base_rtt;
                }
            }
            let needs = network.rate[link] * round_trips / flows / f64::sqrt(flows);
            if flows == 0.0 {
                return None;
            }
            if room >= needs {
                let size = 0.3 / flows;
                return (flows < MANY).then(|| {
                    (size, format!(
                        "{} has {flows:.0} loss-based flow{}, of which packets lose some and not all at a time; the fluid spreads losses evenly, so queues and shares of few flows differ",
                        self.scenario.links[link].name,
                        if flows < 1.5 { "" } else { "s" }
                    ))
                });
            }
            Some({
                (
                    0.3 * (1.0 - room / needs),
                    format!(
                        "{} has too few flows for its buffer ({flows:.0} loss-based flow{}, {:.2} of the buffer that they need): packets leave the link idle after losses, and the fluid does not",
                        self.scenario.links[link].name,
                        if flows < 1.5 { "" } else { "s" },
                        room / needs
                    ),
                )
            })
        };
        for q in 0..self.queues.len() {
            if let Some((size, text)) = of(q) {
                notes.add(text.clone(), size, text);
            }
        }
    }

    /// Adds notes on links whose demands equal their rate, so no queue is better than another.
    fn demands_alone(&self, notes: &mut Notes) {
        let network = self.network(Time::ZERO);
        let of = |q: usize| {
            let link = self.queues[q];
            let mut offered = 0.0;
            for (class, path) in self.classes.iter().zip(&network.paths) {
                if path.hops[..path.forward].iter().any(|h| h.queue == q) {
                    offered += class.offered * class.members.len() as f64;
                }
            }
            let rate = network.rate[link];
            ((offered - rate).abs() < EQUAL * rate && !self.private[link]).then(|| {
                format!(
                    "the demands of {} are as large as its rate: any queue up to that of its flows' targets is in equilibrium",
                    self.scenario.links[link].name
                )
            })
        };
        for text in (0..self.queues.len()).filter_map(of) {
            notes.add(text.clone(), 0.05, text);
        }
    }

    /// Returns the bytes that a queue takes before it loses or marks many, and before it loses or marks any.
    fn room(&self, queue: usize) -> (f64, f64) {
        let buffer = self.buffer(queue);
        match self.dynamics(queue).law {
            QueueLaw::Red { min, max, unit, .. } => {
                (buffer.min(max * unit), buffer.min(min * unit))
            }
            QueueLaw::Rem { .. } | QueueLaw::Avq { .. } => (0.0, 0.0),
            QueueLaw::DropTail | QueueLaw::Avd { .. } | QueueLaw::Codel { .. } => (buffer, buffer),
        }
    }
}
