//! The changes of a scenario during the run.

use super::engine::EventsEngine;
use super::wire::EventPort;
use crate::calendar::EventKind;
use accord_scenario::{Change, Event, LinkId};
use accord_transport::Segment;
use accord_units::{Bytes, Time};
use tracing::debug;

impl EventsEngine<'_> {
    /// Applies the next change of the scenario.
    pub fn change(&mut self) {
        let Some(Event { change, .. }) = self.changes.next() else {
            return debug_assert!(false, "each is in the calendar once");
        };
        self.note(change);
        self.core.state.apply(change);
        match change {
            Change::Delay(link, delay) => {
                self.wires[*link].delay = *delay;
                self.path_changed(Some(*link));
            }
            Change::Rate(link, rate) => {
                if let EventPort::Buffered(held) = &mut self.wires[*link].port
                    && let Some(end) = held.port.port.set_rate(self.core.now, *rate)
                {
                    self.core.calendar.push(end, EventKind::Sent, *link);
                }
                self.path_changed(Some(*link));
            }
            Change::Demand { flow, rate } => self.core.flows[*flow].session.set_rate(*rate),
            Change::Route { flow, .. } => {
                if let Some((_, [there, back])) = self.reroutes.next() {
                    let f = &mut self.core.flows[*flow];
                    (f.path, f.reverse_path) = (there, back);
                }
                self.path_changed(None);
            }
        }
    }

    /// Logs a change.
    fn note(&self, change: &Change) {
        let scenario = self.core.scenario;
        let t = self.core.now.as_secs_f64();
        match change {
            Change::Delay(link, delay) => {
                debug!(event = "change", t, link = scenario.links[*link].name, delay = %delay);
            }
            Change::Rate(link, rate) => {
                debug!(event = "change", t, link = scenario.links[*link].name, rate = %rate);
            }
            Change::Demand { flow, rate } => {
                debug!(event = "change", t, flow = scenario.flows[*flow].name, demand = %rate);
            }
            Change::Route { flow, .. } => {
                debug!(event = "change", t, flow = scenario.flows[*flow].name, because = "route");
            }
        }
    }

    /// Updates base round-trip times. They apply to new packets, and to packets in flight that have
    /// not yet passed `link`.
    fn path_changed(&mut self, link: Option<LinkId>) {
        let mut changed = false;
        for id in 0..self.core.flows.len() {
            self.core.wake_up(id);
            let there = (self.core.state).one_way_of(id, self.core.scenario.flows[id].packet);
            let flow = &mut self.core.flows[id];
            changed |= flow.one_way != there;
            flow.one_way = there;
            flow.propagation = self.core.state.one_way_of(id, Bytes::ZERO);
            flow.sender.set_base_rtt(self.core.state.base_rtt(id));
        }
        let Some(link) = link.filter(|_| changed) else {
            return;
        };
        // A machine does not know the packets that are elsewhere. They count as not yet passed.
        let here = if self.outside.is_some() { Time::ZERO } else { Time::MAX };
        let mut first = vec![here; self.core.flows.len()];
        for packet in self.core.packets() {
            let mut ahead = self.paths.ahead(packet.hop);
            if let Segment::Data { sent, .. } = packet.segment
                && ahead.any(|hop| hop.index() == link)
            {
                let first = &mut first[packet.flow as usize];
                *first = sent.min(*first);
            }
        }
        for (flow, first) in self.core.flows.iter_mut().zip(first) {
            flow.path_changed(first);
        }
    }
}
