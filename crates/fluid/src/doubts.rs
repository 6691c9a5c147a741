//! Notes on effects of packets that the fluid omits, from the means of the steady part of a run.

use crate::law::Control;
use crate::model::Model;
use accord_family::{BaseRtt, WindowLaw};
use accord_record::{Notes, Run};
use accord_scenario::{Change, Entity, Flow, Metric, Scenario};
use accord_units::Bytes;
use std::collections::BTreeSet;

/// The fraction of a queue or a round trip above which an omission is worth a note.
const COARSE: f64 = 0.05;
/// The fraction of a queue's arrivals above which those that it drops are worth a note.
const DROPPED: f64 = 0.01;
/// The window in packets below which half of it is too few for a fast retransmit.
const SMALL: f64 = 8.0;
/// The round-trip time above which a measured base is worth a note, in seconds.
const LONG: f64 = 0.25;
/// The ratio of a packet to a target above which whole packets are worth a note.
const COARSE_TARGET: f64 = 0.4;
/// The window in packets below which whole packets are worth a note.
const FEW: f64 = 20.0;

impl Model<'_> {
    /// Adds notes on a run.
    pub(crate) fn doubt(&self, run: &Run, notes: &mut Notes) {
        let s = self.scenario;
        let mean = |metric, entity| run.mean(metric, entity, s.steady);
        let of_flow = |metric, f: usize| mean(metric, Entity::Flow(f));
        self.behind_drops(&mean, notes);
        let mut groups = BTreeSet::new();
        let (mut acks, mut data) = (vec![0.0; s.links.len()], vec![0.0; s.links.len()]);
        let mut sizes = vec![(f64::INFINITY, 0.0f64); s.links.len()];
        for class in &self.classes {
            let (k, control) = (class.members[0], &class.control);
            let f = &s.flows[k];
            for &l in &f.path {
                sizes[l] = (sizes[l].0.min(control.packet), sizes[l].1.max(control.packet));
            }
            let Some(rate) = of_flow(Metric::Throughput, k) else {
                continue;
            };
            let rate = rate * class.members.len() as f64;
            f.path.iter().for_each(|&l| data[l] += rate);
            if control.dynamics.law == WindowLaw::Unresponsive {
                continue;
            }
            let rtt = of_flow(Metric::Rtt, k).unwrap_or(f64::INFINITY);
            let back = class.members.len() as f64
                * 8.0
                * f.answers().rate(rate / 8.0 / class.members.len() as f64, rtt);
            f.reverse_path.iter().for_each(|&l| acks[l] += back);
            if groups.insert(f.group)
                && let (Some(window), Some(rtt)) =
                    (of_flow(Metric::Cwnd, k), of_flow(Metric::Rtt, k))
            {
                let losses = of_flow(Metric::Losses, k).unwrap_or(0.0);
                self.of_flow(f, control, (window / control.packet, rtt, losses), notes);
            }
        }
        for (l, link) in s.links.iter().enumerate().filter(|(_, link)| !link.attachment) {
            let rate = link.rate.as_bps_f64();
            // At a queue, the numbers include them.
            if !self.queues.contains(&l) && acks[l] > rate {
                notes.add_of("way back", &link.name, acks[l] / rate, format!(
                    "acknowledgements would take {:.1} % of {}: they are lost or wait there, and their flows do not see it here",
                    100.0 * acks[l] / rate,
                    link.name
                ));
            }
            let (smallest, largest) = sizes[l];
            let backlog = mean(Metric::Backlog, Entity::Link(l)).unwrap_or(0.0);
            if backlog > 0.0 && data[l] > 0.0 && largest - smallest > COARSE * backlog {
                notes.add_of("sizes", &link.name, largest / backlog, format!(
                    "packets from {smallest:.0} B to {largest:.0} B share {}: the one in service, which is left out, is up to {:.0} % of its queue",
                    link.name,
                    100.0 * largest / backlog
                ));
            }
        }
    }

    /// Adds notes on queues that count bytes which a queue before them drops.
    fn behind_drops(&self, mean: &impl Fn(Metric, Entity) -> Option<f64>, notes: &mut Notes) {
        let links = &self.scenario.links;
        let dropped = |l: usize| {
            let of = |metric| mean(metric, Entity::Link(l)).unwrap_or(0.0);
            of(Metric::Drops) / of(Metric::Arrivals).max(f64::MIN_POSITIVE)
        };
        let mut seen = BTreeSet::new();
        for class in &self.classes {
            let path = &self.scenario.flows[class.members[0]].path;
            let queues: Vec<usize> =
                path.iter().copied().filter(|l| self.queues.contains(l)).collect();
            for pair in queues.windows(2) {
                let (l, next) = (pair[0], pair[1]);
                let share = dropped(l);
                if share > DROPPED && seen.insert((l, next)) {
                    notes.add_of("behind drops", &links[next].name, share, format!(
                        "{} drops {:.1} % of its arrivals, which load {} all the same here, and are served there in place of others",
                        links[l].name,
                        100.0 * share,
                        links[next].name
                    ));
                }
            }
        }
    }

    /// Adds notes on a flow with a window of `packets`, a round-trip time, and a number of packets lost
    /// per sample.
    fn of_flow(
        &self,
        f: &Flow,
        control: &Control,
        (window, rtt, losses): (f64, f64, f64),
        notes: &mut Notes,
    ) {
        let s = self.scenario;
        let name = &s.groups[f.group].name;
        if losses > 0.0 && window < SMALL {
            notes.add_of("time-outs", name, 1.0 - window / SMALL, format!(
                "windows of {name} are {window:.1} pkt, and half of that after a loss: packets then often wait for time-outs, which are left out"
            ));
        }
        if let WindowLaw::Vegas { .. } = control.dynamics.law
            && window * rtt > settles(s, f)
        {
            let part = 1.0 - settles(s, f) / (window * rtt);
            notes.add_of("growth", name, part, format!(
                "{name} grows by a packet per round trip after a slow start that may end early in packets: up to {:.0} s to windows of {window:.0} pkt, in a steady part that begins before",
                window * rtt
            ));
        }
        if let WindowLaw::Vegas { .. } = control.dynamics.law
            && window < FEW
        {
            notes.add_of("windows", name, 1.0 / window, format!(
                "windows of {name} are {window:.1} pkt here, but whole packets in a run: one packet is {:.0} % of a rate",
                100.0 / window
            ));
        }
        if (f.goes_by_pairs() || control.dynamics.base != BaseRtt::Known)
            && let Some(text) = fallen(s, f)
        {
            notes.add(text.clone(), 0.1, text);
        }
        if control.dynamics.base == BaseRtt::Smallest
            && matches!(control.dynamics.law, WindowLaw::Vegas { .. })
            && rtt > LONG
        {
            notes.add_of("base", name, 0.2, format!(
                "{name} measures its base round-trip time of {:.0} ms while queues form: in packets it may take a part of a queue for it, and here less",
                1e3 * rtt
            ));
        }
        if !f.goes_by_pairs() {
            return;
        }
        if let WindowLaw::Proportional { target, .. } = control.dynamics.law
            && target * COARSE_TARGET < control.packet
        {
            let (packets, kept) = (target / control.packet, Bytes::from_f64(target));
            let size = if packets < 1.0 { 1.0 / packets } else { 0.2 / packets };
            notes.add_of("packets", name, size, if packets < 1.0 {
                format!(
                    "{name} keeps {kept} queued, less than a packet of {}: whole packets wait in a run, or none",
                    f.packet
                )
            } else {
                format!(
                    "{name} keeps {kept} queued, which is {packets:.1} packets of {}: its rate follows whole packets, and is off by a few percent over several queues",
                    f.packet
                )
            });
        }
        let slowest = f.path.iter().map(|&l| s.links[l].rate.as_bps_f64());
        let waits = 0.5 * f.packet.bits_f64() / slowest.fold(f64::INFINITY, f64::min);
        if waits > COARSE * rtt {
            notes.add_of("waits", name, waits / rtt, format!(
                "control packets of {name} wait for the packet in service, {:.1} ms on average, which is left out of round-trip times",
                1e3 * waits
            ));
        }
    }
}

/// Returns the time that a flow has before the steady part, plus a tenth of its time in it.
fn settles(s: &Scenario, flow: &Flow) -> f64 {
    let end = flow.stop.map_or(s.steady.end, |stop| stop.min(s.steady.end));
    let begins = s.steady.start.max(flow.start);
    let within = if end > begins { end.since(begins).as_secs_f64() } else { 0.0 };
    begins.since(flow.start).as_secs_f64() + 0.1 * within
}

/// Returns a note if the delay of a link on a flow's path falls.
fn fallen(s: &Scenario, flow: &Flow) -> Option<String> {
    let falls = |change: &Change| match change {
        Change::Delay(l, delay) => {
            (flow.path.contains(l) && *delay < s.links[*l].delay).then_some(*l)
        }
        _ => None,
    };
    let link = s.events.iter().find_map(|event| falls(&event.change))?;
    Some(format!(
        "the delay of {} falls: packets do not overtake those on its wire, so round trips over a full link stay as long as they were; here they become shorter",
        s.links[link].name
    ))
}
