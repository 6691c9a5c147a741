//! What the events of a scenario change in a simulation.

use crate::calendar::Kind;
use crate::engine::{Simulation, wake_up};
use crate::wire::Line;
use accord_scenario::{Change, Event, LinkId};
use accord_transport::Segment;
use accord_units::{Bytes, Time};

impl Simulation<'_> {
    /// Carries out the next event of the scenario.
    pub fn change(&mut self) {
        let Some(Event { change, .. }) = self.changes.next() else {
            return debug_assert!(false, "each is in the calendar once");
        };
        self.state.apply(change);
        match change {
            Change::Delay(link, delay) => {
                self.wires[*link].delay = *delay;
                self.path_changed(Some(*link));
            }
            Change::Rate(link, rate) => {
                if let Line::Port(held) = &mut self.wires[*link].line
                    && let Some(end) = held.port.set_rate(self.now, *rate)
                {
                    self.calendar.push(end, Kind::Sent, *link);
                }
                self.path_changed(Some(*link));
            }
            Change::Demand { flow, rate } => self.flows[*flow].session.set_rate(*rate),
            Change::Route {
                flow,
                path,
                reverse_path,
            } => {
                let f = &mut self.flows[*flow];
                let through = self.scenario.flows[*flow].through;
                let inside = through.map(|tunnel| (tunnel, self.state.path(tunnel)));
                f.path = self.wiring.add_path(path, inside);
                f.reverse_path = self.wiring.add_path(reverse_path, None);
                self.path_changed(None);
            }
        }
    }

    /// Updates base round-trip times. New packets have the new ones, and so do packets on the way
    /// that have not passed `link` yet.
    fn path_changed(&mut self, link: Option<LinkId>) {
        let mut changed = false;
        let packets = |&id: &usize| !self.scenario.flows[id].is_fluid;
        for id in (0..self.flows.len()).filter(packets) {
            wake_up(&mut self.flows, &mut self.awake, id);
            let there = (self.state).one_way_of(id, self.scenario.flows[id].packet);
            let flow = &mut self.flows[id];
            changed |= flow.one_way != there;
            flow.one_way = there;
            flow.propagation = self.state.one_way_of(id, Bytes::ZERO);
            flow.sender.set_base_rtt(self.state.base_rtt(id));
        }
        let Some(link) = link.filter(|_| changed) else {
            return;
        };
        let mut first = vec![Time::MAX; self.flows.len()];
        for packet in self.packets() {
            let hops = self.wiring.hops[packet.hop as usize..].iter();
            let mut ahead = hops.take_while(|hop| !hop.is_end());
            if let Segment::Data { sent, .. } = packet.segment
                && ahead.any(|hop| hop.link() == link)
            {
                let first = &mut first[packet.flow as usize];
                *first = sent.min(*first);
            }
        }
        for (flow, first) in self.flows.iter_mut().zip(first) {
            flow.path_changed(first);
        }
    }
}
