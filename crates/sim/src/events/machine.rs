//! The events engine over some of the nodes, with an outside.
//!
//! A machine has no clock and no sockets. Its driver passes the packets that enter and the time up to which
//! the machine should run. The machine handles each event as of its due time, so a port that is served late
//! loses none of its rate. The driver then takes the results: packets that leave, samples, and orders to ends
//! outside. There are no other inputs, so the same packets give the same run.
//!
//! Each departure and each arrival has an event. For the packet engine's shortcuts, a machine would have to know
//! all packets that enter a link, and the changes of its rate.

use super::engine::EventsEngine;
use super::other::{CarriedEnd, Order, Others};
use super::outside::Outside;
use super::parcel::{Parcel, Whole, codepoint};
use super::part::Part;
use super::wire::EventPort;
use crate::calendar::EventKind;
use crate::core::Core;
use crate::digest::Digest;
use crate::flow::Flow;
use crate::packet::{Packet, UNREAD};
use crate::survey::{Form, Survey};
use accord_record::{Broken, Transfers};
use accord_scenario::{Carrier, LinkId, NodeId, Scenario};
use accord_transport::Segment;
use accord_units::{Bytes, Duration, Rate, Time};
use std::convert::Infallible;

/// A packet that leaves a machine.
#[derive(Clone, Debug)]
pub struct Departure {
    /// The link from which it comes.
    pub link: LinkId,
    /// The time at which it leaves.
    pub at: Time,
    /// The packet.
    pub parcel: Parcel,
}

/// The final counters of a machine.
#[derive(Debug)]
pub struct Tally {
    /// The transfers of the flows that the machine sent.
    pub transfers: Transfers,
    /// The digest of the packets that ended in the machine.
    pub digest: Digest,
    /// The number of packets that its ports have served.
    pub hops: u64,
    /// The number of events handled.
    pub steps: u64,
    /// The connections of third-party stacks that broke.
    pub broken: Vec<Broken>,
}

/// The events engine over some of the nodes.
pub struct Machine<'a> {
    engine: EventsEngine<'a>,
    /// The links that its nodes feed.
    links: Vec<LinkId>,
    /// The time for which an event has no effect outside.
    lookahead: Duration,
}

impl<'a> Machine<'a> {
    /// Creates a machine with these nodes before the start of a run.
    pub fn new(scenario: &'a Scenario, nodes: &[NodeId]) -> Machine<'a> {
        let state = scenario.at(Time::ZERO);
        let ids = 0..scenario.flows.len();
        let flows: Vec<Flow> = ids.map(|id| Flow::new(id, &state)).collect();
        let ports = Survey::new(scenario, &flows).ports(scenario, Form::Stepped);
        let sent_here = |flow: usize| nodes.contains(&scenario.ends(flow).0);
        let core = Core::new(scenario, state, flows, String::new(), sent_here);
        let fed_here = |link: LinkId| nodes.contains(&scenario.links[link].from);
        let mut engine = EventsEngine::new(core, ports, fed_here);
        let flows = engine.core.flows.iter_mut();
        let mut routes: Vec<_> = flows.map(|flow| vec![[flow.path, flow.reverse_path]]).collect();
        for (flow, route) in engine.reroutes.as_slice() {
            routes[*flow].push(*route);
        }
        for flow in (0..scenario.flows.len()).filter(|flow| sent_here(*flow)) {
            engine.core.flows[flow].keep_outgoing();
        }
        let is_other = |f: &accord_scenario::Flow| f.carrier != Carrier::Ours || f.tunnel.is_some();
        engine.others = Others::of(scenario, is_other);
        engine.outside = Some(Box::new(Outside::new(scenario, nodes, routes)));
        let links = (0..scenario.links.len()).filter(|&link| fed_here(link));
        let mut machine = Machine { links: links.collect(), engine, lookahead: Duration::ZERO };
        machine.look_ahead();
        machine
    }

    /// Makes the senders of the machine keep logs, which samples contain.
    pub fn keep_logs(&mut self) {
        let core = &mut self.engine.core;
        let flows = core.scenario.flows.iter().zip(&mut core.flows);
        for (f, flow) in flows.filter(|(f, _)| f.carrier == Carrier::Ours) {
            flow.keep_log(f.controller.family().inner);
        }
    }

    /// Makes the machine record the packets that leave its ports, for [`Machine::captured`].
    pub fn keep_packets(&mut self) {
        // The file has begun elsewhere.
        self.engine.tap = Some(Box::default());
    }

    /// Takes the packets that have left the ports since the last call, in the form of a capture.
    pub fn captured(&mut self) -> Vec<u8> {
        self.engine.tap.as_mut().map_or_else(Vec::new, |tap| tap.take())
    }

    /// Takes an end of a third-party connection that carries a flow: 0 is the end at its source, and 1 that
    /// at its sink.
    ///
    /// # Panics
    /// Panics if no third-party stack carries the flow.
    pub fn connect(&mut self, flow: usize, end: usize, carried: CarriedEnd) {
        let other = self.engine.others.as_mut().and_then(|others| others.get_mut(flow));
        let other = other.expect("another stack carries the flow");
        other.ends[end] = Some(carried);
    }

    fn outside(&self) -> &Outside {
        self.engine.outside.as_ref().expect("a machine has an outside")
    }

    fn outside_mut(&mut self) -> &mut Outside {
        self.engine.outside.as_mut().expect("a machine has an outside")
    }

    /// The time for which an event has no effect outside, except for packets already on their wires: the
    /// shortest delay of a link. It is zero if the machine has an end in the kernel or in a program, which
    /// has its own clock.
    fn look_ahead(&mut self) {
        let core = &self.engine.core;
        let ends = |flow: usize| {
            let (source, sink) = core.scenario.ends(flow);
            self.outside().is_here(source) || self.outside().is_here(sink)
        };
        let is_outside = |flow: usize| {
            let f = &core.scenario.flows[flow];
            (matches!(f.carrier, Carrier::Kernel(_)) || f.tunnel.is_some()) && ends(flow)
        };
        let delays = self.links.iter().map(|&link| self.engine.wires[link].delay);
        self.lookahead = match (0..core.flows.len()).any(is_outside) {
            true => Duration::ZERO,
            false => delays.min().unwrap_or(Duration::MAX),
        };
    }

    /// The time up to which all events are handled.
    pub fn now(&self) -> Time {
        self.engine.core.now
    }

    /// The time for which an event has no effect outside.
    pub fn lookahead(&self) -> Duration {
        self.lookahead
    }

    /// Returns the link by which a packet of a flow reaches `node` on the route of this number, and its next hop.
    /// Returns `None` if the route does not lead there. `is_answer` is true for the reverse path.
    pub fn place(
        &self,
        flow: usize,
        route: u16,
        is_answer: bool,
        node: NodeId,
    ) -> Option<(LinkId, u32)> {
        let way = (flow, usize::from(route), is_answer);
        self.outside().place(self.engine.core.scenario, &self.engine.paths, way, node)
    }

    /// Returns the number of a packet's route among the routes of its flow.
    pub fn route(&self, packet: &Packet) -> u16 {
        self.outside().route(packet) as u16
    }

    /// Returns true if a third-party stack carries a flow.
    pub fn is_other(&self, flow: usize) -> bool {
        self.engine.is_other(flow)
    }

    /// Returns an entering packet of our endpoints, with its next hop. `tos` is its octet of DSCP
    /// and ECN, and `delay` the virtual delay that it has collected.
    pub fn segment(
        &self,
        (flow, hop): (usize, u32),
        segment: Segment,
        size: Bytes,
        tos: u8,
        delay: Duration,
    ) -> Parcel {
        let f = &self.engine.core.flows[flow];
        let packet = Packet {
            segment,
            flow: flow as u32,
            hop,
            virtual_s: if f.virtual_s.is_nan() { UNREAD } else { delay.as_secs_f64() as f32 },
            size: size.get() as u16,
            ecn: codepoint(tos),
            aggregate: f.aggregate,
        };
        Parcel { packet, bytes: None }
    }

    /// Returns an entering IP packet of a third-party stack, with its next hop. `way` is 0 if the
    /// source sent it and 1 if the sink did.
    pub fn whole(&self, (flow, hop): (usize, u32), way: usize, whole: &Whole) -> Parcel {
        let aggregate = self.engine.core.flows[flow].aggregate;
        let packet = Packet::whole(flow, way, hop, aggregate, whole, self.now());
        Parcel { packet, bytes: Some(whole.bytes.into()) }
    }

    /// The current rate of a link of the machine.
    pub fn rate(&self, link: LinkId) -> Rate {
        match &self.engine.wires[link].port {
            EventPort::Buffered(held) => held.port.port.rate(),
            _ => self.engine.core.state.nominal_rate[link],
        }
    }

    /// Takes a packet from outside, which leaves the wire of `link` at `at`. `at` is not before
    /// [`Machine::now`], nor before an earlier packet from that link.
    pub fn enter(&mut self, link: LinkId, parcel: Parcel, at: Time) {
        debug_assert!(at >= self.now());
        self.engine.enter_machine(link, parcel, at);
    }

    /// Sends an IP packet now for an outside end of a third-party stack at a node of the machine. `way` is 0 from
    /// the source and 1 from the sink.
    pub fn send(&mut self, flow: usize, way: usize, whole: &Whole) {
        self.engine.send_whole(flow, way, whole);
    }

    /// Takes an IP packet of a flow that now comes out of its tunnel, at a node of the machine.
    pub fn leave_tunnel(&mut self, flow: usize, whole: &Whole) {
        self.engine.leave_other_tunnel(flow, whole);
    }

    /// Notifies the machine that an end outside has taken a data packet of a flow. A packet that is
    /// not fresh is a copy.
    pub fn taken(&mut self, flow: usize, size: Bytes, fresh: bool) {
        self.engine.count_whole(flow, size, fresh);
    }

    /// Returns true if a flow waits for its transfer to be delivered.
    pub fn is_transferring(&self, flow: usize) -> bool {
        self.engine.core.flows[flow].session.is_transferring()
    }

    /// Notifies the machine that an end outside has delivered the transfer of its flow.
    pub fn transferred(&mut self, flow: usize) {
        self.engine.core.transferred(flow);
    }

    /// Handles all events up to `to`, each as of its due time.
    pub fn advance(&mut self, to: Time) {
        let changes = self.engine.changes.len();
        while let Some((time, kind, index)) = self.engine.core.calendar.pop_by(to) {
            self.engine.core.event(time);
            let handled = self.engine.handle(kind, index, |engine| {
                engine.take_part();
                Ok::<(), Infallible>(())
            });
            let Ok(()) = handled;
        }
        self.engine.core.now = to.max(self.engine.core.now);
        if self.engine.changes.len() < changes {
            self.look_ahead();
        }
    }

    /// The time before which no event has an effect outside, except for packets already on their
    /// wires.
    pub fn next_effect(&self) -> Time {
        let core = &self.engine.core;
        let effects = core.calendar.pending().map(|(at, kind, index)| match kind {
            EventKind::Sample | EventKind::Watch | EventKind::Change => at,
            EventKind::Sent | EventKind::Discipline => at + self.engine.wires[index].delay,
            // The timer was set again, so this event does nothing.
            EventKind::Wake if core.wakes[index] != at => Time::MAX,
            _ => at + self.lookahead,
        });
        effects.min().unwrap_or(Time::MAX)
    }

    /// The time at which the first packet leaves, or `Time::MAX`. Later events may add an earlier one.
    pub fn next_leave(&self) -> Time {
        self.outside().next_leave()
    }

    /// Takes the next packet that leaves by `to`. Packets leave in the order of their times, up to the
    /// time of [`Machine::advance`].
    pub fn leave(&mut self, to: Time) -> Option<Departure> {
        let (link, at, parcel) = self.engine.next_left(to)?;
        Some(Departure { link, at, parcel })
    }

    /// Takes the orders to ends outside since the last call, in order.
    pub fn orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.outside_mut().orders)
    }

    /// Takes the parts of samples since the last call.
    pub fn parts(&mut self) -> Vec<Part> {
        std::mem::take(&mut self.outside_mut().parts)
    }

    /// Returns the final tally.
    pub fn finish(mut self) -> Tally {
        self.engine.end_others();
        let hops = self.links.iter().map(|&link| {
            let port = self.engine.wires[link].gauge();
            port.counters().served.packets
        });
        let hops = hops.sum();
        let broken = self.engine.others.map_or_else(Vec::new, |others| others.broken);
        let core = self.engine.core;
        let mut transfers = core.transfers;
        for (id, mut flow) in core.flows.into_iter().enumerate() {
            if let Some(left) = flow.session.end() {
                transfers.add(core.scenario, id, left.start, left.size, None);
            }
        }
        Tally { transfers, digest: core.digest, hops, steps: core.events, broken }
    }
}
