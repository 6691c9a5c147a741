//! A station: the links and the ends of flows at the nodes of one thread, as a state machine
//! without a clock and without sockets.
//!
//! A station is a small simulator. Its driver notifies it of arrivals ([`Station::arrive`]) and of
//! the time ([`Station::advance`]). The station processes each event as of the time when it was
//! due, so that a port that is served late loses none of its rate. The driver then takes the
//! results: packets that come out of its wires ([`Station::release`]), samples ([`Station::parts`])
//! and orders to connections of the kernel ([`Station::orders`]). `driver.rs` has the clock and the
//! sockets, and `station/tests.rs` shows that there are no other influences.

mod kernel;
mod quic;
#[cfg(test)]
mod tests;

use crate::agenda::{Agenda, Due};
use crate::collect::Part;
use crate::ends::{Order, Sink, Source, base_rtt, is_foreign, packet};
use crate::link::{Achieved, Link};
use crate::packet::Packet;
use crate::plan::Plan;
use accord_aqm::Aqm;
use accord_port::Count;
use accord_scenario::{Change, LinkId, NodeId, State};
use accord_traffic::Sizer;
use accord_transport::Segment;
use accord_transport::pcapng::{Capture, Envelope};
use accord_transport::wire;
use accord_units::{Bytes, Duration, Time};

/// A packet that has come out of a wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// The link.
    pub link: LinkId,
    /// The exit time from the wire.
    pub nominal: Time,
    /// The packet.
    pub packet: Packet,
}

/// A station that is being set up or at work.
pub struct Station<'a> {
    plan: &'a Plan<'a>,
    links: Vec<Link>,
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    /// The index in `links`, by the scenario's index.
    link_of: Vec<Option<usize>>,
    source_of: Vec<Option<usize>>,
    sink_of: Vec<Option<usize>>,
    now: Time,
    agenda: Agenda,
    /// The time for which an action has no effect outside the station: the shortest delay of its
    /// links. Zero if the station has connections of the kernel, which has its own clock.
    lookahead: Duration,
    /// The present state of the network, the past events, and the current routes by flow.
    state: State<'a>,
    events: usize,
    route: Vec<u16>,
    samples: u64,
    capture: Capture,
    /// The samples that have not been taken yet.
    parts: Vec<Part>,
    /// The orders that have not been taken yet.
    orders: Vec<Order>,
    tally: Tally,
}

/// The final counters of a station.
#[derive(Debug, Default)]
pub struct Tally {
    /// The results of its links.
    pub links: Vec<(LinkId, Achieved)>,
    /// The packets dropped or lost, by flow: packets of any kind, and bytes of data.
    pub lost: Vec<Count>,
    /// The transfers: flow, start time, size, and duration if they are complete.
    pub transfers: Vec<(usize, Time, Bytes, Option<Duration>)>,
    /// The packets that do not belong to this run or station.
    pub foreign: u64,
    /// The packets that its ports have served.
    pub hops: u64,
    /// The number of events processed.
    pub steps: u64,
    /// The broken connections of QUIC stacks: the flow, and the reason.
    pub broken: Vec<(usize, String)>,
}

impl<'a> Station<'a> {
    /// Creates a station with these nodes.
    pub fn new(plan: &'a Plan<'a>, nodes: &[NodeId]) -> Station<'a> {
        let s = plan.scenario;
        let mine = |node: NodeId| nodes.contains(&node);
        let links: Vec<Link> = (0..s.links.len())
            .filter(|&l| mine(s.links[l].from))
            .map(|l| Link::new(s, l))
            .collect();
        let flows = 0..s.flows.len();
        let source = |f: &usize| mine(s.links[s.flows[*f].path[0]].from);
        let sink = |f: &usize| mine(s.links[s.flows[*f].reverse_path[0]].from);
        let sources: Vec<Source> =
            (flows.clone().filter(source)).map(|f| Source::new(s, f, plan.log)).collect();
        let sinks: Vec<Sink> = flows.filter(sink).map(|f| Sink::new(s, f)).collect();
        let place = |n: usize, ids: Vec<usize>| {
            let mut places = vec![None; n];
            for (place, id) in ids.into_iter().enumerate() {
                places[id] = Some(place);
            }
            places
        };
        let mut station = Station {
            plan,
            link_of: place(s.links.len(), links.iter().map(|l| l.id).collect()),
            source_of: place(s.flows.len(), sources.iter().map(|x| x.flow).collect()),
            sink_of: place(s.flows.len(), sinks.iter().map(|x| x.flow).collect()),
            now: Time::ZERO,
            agenda: Agenda::new(links.len(), sources.len(), sinks.len()),
            lookahead: Duration::ZERO,
            links,
            sources,
            sinks,
            state: s.at(Time::ZERO),
            events: 0,
            route: vec![0; s.flows.len()],
            samples: 0,
            capture: Capture::default(),
            parts: Vec::new(),
            orders: Vec::new(),
            tally: Tally { lost: vec![Count::default(); s.flows.len()], ..Tally::default() },
        };
        station.look_ahead();
        station.schedule_all();
        station
    }

    /// Schedules the starts, stops and changes of the scenario.
    fn schedule_all(&mut self) {
        let s = self.plan.scenario;
        let first = s.events.first().map_or(Time::MAX, |e| e.at);
        self.agenda.set(Due::Change, first);
        for (i, source) in self.sources.iter().enumerate() {
            let f = &s.flows[source.flow];
            self.agenda.set(Due::Start(i), f.start);
            self.agenda.set(Due::Stop(i), f.stop.unwrap_or(Time::MAX));
        }
        for (i, link) in self.links.iter().enumerate() {
            let at = link.port.aqm().next_timer();
            self.agenda.set(Due::Discipline(i), at.unwrap_or(Time::MAX));
        }
        self.agenda.set(Due::Sample, Time::ZERO + s.sample);
    }

    /// Returns the tally at the end.
    pub fn close(mut self) -> Tally {
        for source in &mut self.sources {
            let left = source.session.end();
            let left = left.map(|left| (source.flow, left.start, left.size, None));
            self.tally.transfers.extend(left);
            let broken = source.quic.as_ref().and_then(|quic| quic.end.broken());
            let broken = broken.map(|why| (source.flow, why));
            self.tally.broken.extend(broken);
        }
        for sink in &self.sinks {
            let broken = sink.quic.as_ref().and_then(|quic| quic.end.broken());
            let broken = broken.map(|why| (sink.flow, why));
            self.tally.broken.extend(broken);
        }
        for link in self.links {
            self.tally.hops += link.port.counters().served.packets;
            self.tally.links.push((link.id, link.achieved));
        }
        self.tally
    }

    /// Processes all events up to `to`.
    pub fn advance(&mut self, to: Time) {
        loop {
            let (at, due) = self.agenda.first();
            if at > to {
                break;
            }
            self.now = self.now.max(at);
            self.tally.steps += 1;
            self.agenda.set(due, Time::MAX);
            match due {
                Due::Change => self.change(),
                Due::Sent(i) => self.sent(i),
                Due::Discipline(i) => {
                    let link = &mut self.links[i];
                    link.port.on_timer(self.now);
                    let next = link.port.aqm().next_timer();
                    self.agenda.set(due, next.unwrap_or(Time::MAX));
                }
                Due::Start(i) => {
                    let application = self.state.application(self.sources[i].flow);
                    self.sources[i].session.start(application);
                    self.application(i);
                }
                Due::Stop(i) => {
                    self.sources[i].stop(self.now, &mut self.orders);
                    self.pump_client(i);
                }
                Due::Application(i) => self.application(i),
                Due::Wake(i) => {
                    match &mut self.sources[i].quic {
                        Some(quic) => quic.end.on_wake(self.now),
                        None => self.sources[i].sender.on_wake(self.now),
                    }
                    self.pump(i);
                }
                Due::Answer(i) => self.answer(i),
                Due::Sample => self.sample(),
            }
        }
        self.now = self.now.max(to);
    }

    fn change(&mut self) {
        let s = self.plan.scenario;
        let Some(event) = s.events.get(self.events) else {
            return;
        };
        self.events += 1;
        let next = s.events.get(self.events).map_or(Time::MAX, |e| e.at);
        self.agenda.set(Due::Change, next);
        self.state.apply(&event.change);
        match &event.change {
            Change::Delay(link, delay) => {
                if let Some(i) = self.link_of[*link] {
                    self.links[i].delay = *delay;
                    self.look_ahead();
                }
            }
            Change::Rate(link, rate) => {
                if let Some(i) = self.link_of[*link] {
                    let end = self.links[i].port.set_rate(self.now, *rate);
                    self.agenda.set(Due::Sent(i), end.unwrap_or(Time::MAX));
                }
            }
            Change::Route { flow, .. } => self.route[*flow] += 1,
            Change::Demand { flow, rate } => {
                if let Some(i) = self.source_of[*flow] {
                    self.sources[i].session.set_rate(*rate);
                }
            }
        }
        for source in &mut self.sources {
            let base_rtt = base_rtt(&self.state, source.flow);
            source.sender.set_base_rtt(base_rtt);
        }
    }

    fn look_ahead(&mut self) {
        let flows = &self.plan.scenario.flows;
        let sources = self.sources.iter().map(|s| s.flow);
        let mut ends = sources.chain(self.sinks.iter().map(|s| s.flow));
        self.lookahead = if ends.any(|flow| is_foreign(&flows[flow])) {
            Duration::ZERO
        } else {
            lookahead(&self.links)
        };
    }

    fn application(&mut self, i: usize) {
        let next = self.sources[i].act(self.now, &self.state, &mut self.orders);
        self.agenda.set(Due::Application(i), next);
        self.pump(i);
    }

    /// Sends the packets that a sender may send, and sets its timer.
    fn pump(&mut self, i: usize) {
        if self.sources[i].quic.is_some() {
            return self.pump_client(i);
        }
        loop {
            let source = &mut self.sources[i];
            // The kernel sends the packets of its connections itself.
            let next = if source.is_kernel { Err(Time::MAX) } else { source.sender.poll(self.now) };
            match next {
                Ok(segment) => {
                    let ecn = source.sender.codepoint();
                    let flow = source.flow;
                    let is_data = matches!(segment, Segment::Data { .. });
                    let sizes = source.sizes.as_mut().filter(|_| is_data);
                    let size = sizes.map(Sizer::draw);
                    let size = self.send(flow, 0, &segment, size, ecn);
                    if is_data {
                        self.sources[i].count(self.now, size);
                    }
                }
                Err(again) => {
                    let at = again.min(source.sender.next_wake());
                    self.agenda.set(Due::Wake(i), at);
                    if !source.is_kernel && source.sender.is_done() {
                        self.transferred(i);
                    }
                    return;
                }
            }
        }
    }

    /// Ends a transfer: all data supplied by the application of a source is delivered.
    fn transferred(&mut self, i: usize) {
        let source = &mut self.sources[i];
        if !source.session.is_transferring() {
            return;
        }
        if let Some(done) = source.session.end() {
            let took = Some(self.now.since(done.start));
            let transfer = (source.flow, done.start, done.size, took);
            self.tally.transfers.push(transfer);
            let next = done.pause.map_or(Time::MAX, |pause| self.now + pause);
            self.agenda.set(Due::Application(i), next);
        }
    }

    /// Puts a new packet of a flow into its first port. `way` is 0 for the forward and 1 for the
    /// reverse path.
    fn send(
        &mut self,
        flow: usize,
        way: usize,
        segment: &Segment,
        size: Option<Bytes>,
        ecn: u8,
    ) -> Bytes {
        let plan = self.plan;
        let route = self.route[flow];
        let packet = packet(plan.scenario, flow, segment, size, ecn, route, plan.run);
        let size = packet.header.size;
        self.offer(plan.routes[flow][usize::from(route)][way][0], packet);
        size
    }

    /// Takes a packet that has arrived at a node, and forwards or delivers it.
    pub fn arrive(&mut self, node: NodeId, packet: Packet) {
        let (links, header) = (&self.plan.scenario.links, packet.header);
        let flow = header.flow as usize;
        let routes = self.plan.routes.get(flow);
        let Some(route) = routes.and_then(|r| r.get(usize::from(header.route))) else {
            self.tally.foreign += 1;
            return;
        };
        let path = route[usize::from(header.kind.is_reply())];
        if let Some(tunnel) = self.enters(flow, node, header.kind) {
            return self.orders.push(Order::Enter(tunnel, packet));
        }
        match path.iter().find(|&&l| links[l].from == node) {
            Some(&link) => self.offer(link, packet),
            None if header.kind.is_ip() && self.is_quic(flow) => self.deliver_quic(flow, &packet),
            None if header.kind.is_ip() => self.orders.push(Order::Deliver(packet)),
            None => self.deliver(flow, packet),
        }
    }

    /// Offers a packet to a port.
    fn offer(&mut self, link: LinkId, packet: Packet) {
        let Some(i) = self.link_of[link] else {
            self.tally.foreign += 1;
            return;
        };
        let Link { port, dice, .. } = &mut self.links[i];
        let lost = &mut self.tally.lost;
        port.offer(self.now, packet, &mut || dice.uniform(), &mut |packet, _| {
            lose(lost, &packet);
        });
        self.begin(i);
    }

    /// Starts service at a port, if it is free and a packet waits.
    fn begin(&mut self, i: usize) {
        let link = &mut self.links[i];
        let lost = &mut self.tally.lost;
        let begun = (link.port).begin(self.now, &mut |packet, _| lose(lost, &packet));
        if let Some((packet, end)) = begun {
            link.serving = Some((packet, self.now));
            self.agenda.set(Due::Sent(i), end);
        }
    }

    /// Ends a service: a port has sent its packet.
    fn sent(&mut self, i: usize) {
        let link = &mut self.links[i];
        if let Some((packet, begun)) = link.serving.take() {
            link.port.complete();
            let lost = link.propagate(packet, begun, self.now);
            if let Err(packet) = lost {
                lose(&mut self.tally.lost, &packet);
            }
        }
        self.begin(i);
    }

    /// Delivers a packet to its endpoint.
    fn deliver(&mut self, flow: usize, packet: Packet) {
        let Ok((header, segment)) = wire::decode(&packet.datagram) else {
            self.tally.foreign += 1;
            return;
        };
        if header.kind.is_reply() {
            if let Some(i) = self.source_of[flow] {
                self.sources[i].sender.on_reply(&segment, self.now);
                self.pump(i);
            }
        } else if let Some(i) = self.sink_of[flow] {
            let one_way = (self.state).one_way(self.state.path(flow), header.size);
            let reply = self.sinks[i].receive(&packet, &segment, one_way, self.now);
            if let Some(reply) = reply {
                self.send(flow, 1, &reply, None, 0);
            }
        }
    }

    /// Takes a sample of everything recorded.
    fn sample(&mut self) {
        let (now, scenario) = (self.now, self.plan.scenario);
        self.samples += 1;
        let next = Time::ZERO + scenario.sample * (self.samples + 1);
        self.agenda.set(Due::Sample, next);
        let state = &self.state;
        let one_way = |f: usize| state.one_way(state.path(f), scenario.flows[f].packet);
        let sources = self.sources.iter_mut();
        let recorded = (self.links.iter_mut()).filter(|l| !scenario.links[l.id].attachment);
        let part = Part {
            number: self.samples,
            sources: sources.map(|s| (s.flow, s.read(now, one_way(s.flow)))).collect(),
            sinks: self.sinks.iter().map(|s| (s.flow, s.reading)).collect(),
            links: recorded.map(|l| (l.id, l.read(now))).collect(),
            lost: self.tally.lost.clone(),
            packets: self.capture.take(),
            logs: logs(&mut self.sources),
        };
        self.parts.push(part);
    }

    /// The time up to which all events are processed.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The time for which an action has no effect outside the station.
    pub fn lookahead(&self) -> Duration {
        self.lookahead
    }

    /// The time before which no due event has an effect outside, except for packets already on the
    /// wires.
    pub fn next_effect(&self) -> Time {
        let ahead = |due| match due {
            Due::Sent(i) | Due::Discipline(i) => self.links[i].delay,
            Due::Start(_) | Due::Stop(_) | Due::Application(_) | Due::Wake(_) | Due::Answer(_) => {
                self.lookahead
            }
            Due::Change | Due::Sample => Duration::ZERO,
        };
        self.agenda.first_effect(ahead)
    }

    /// The time at which the first packet comes out of a wire.
    pub fn next_release(&self) -> Time {
        let all = self.links.iter().map(|l| l.release_at());
        all.min().unwrap_or(Time::MAX)
    }

    /// Takes the next packet that comes out of a wire by `to`.
    pub fn release(&mut self, to: Time) -> Option<Departure> {
        let first = self.links.iter_mut().min_by_key(|link| link.release_at())?;
        if first.release_at() > to {
            return None;
        }
        let (nominal, packet) = first.release()?;
        Some(Departure { link: first.id, nominal, packet })
    }

    /// Records that a packet out of a wire was handed over at `real`.
    pub fn handed_over(&mut self, departure: &Departure, real: Time) {
        let Departure { link, nominal, packet } = departure;
        let Some(i) = self.link_of[*link] else { return };
        let link = &mut self.links[i];
        if self.plan.capture {
            let ends = self.plan.scenario.ends(packet.header.flow as usize);
            let envelope = Envelope::new(ends, packet.header.kind, packet.tos);
            (self.capture).datagram(link.id, real, envelope, &packet.datagram);
        }
        let (size, rate) = (packet.header.size, link.port.rate());
        link.achieved.released(*nominal, real, size, rate);
    }

    /// Takes the samples since the last call.
    pub fn parts(&mut self) -> std::vec::Drain<'_, Part> {
        self.parts.drain(..)
    }

    /// Takes the orders to connections of the kernel since the last call, in order.
    pub fn orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }
}

/// Takes the logs of the senders since the last sample.
fn logs(sources: &mut [Source]) -> Vec<(usize, String)> {
    let logged = sources.iter_mut();
    logged.filter_map(|s| Some((s.flow, s.sender.take_log()?))).collect()
}

/// Returns the shortest delay of a link.
fn lookahead(links: &[Link]) -> Duration {
    let delays = links.iter().map(|l| l.delay);
    delays.min().unwrap_or(Duration::MAX)
}

/// Counts a packet that is lost.
fn lose(lost: &mut [Count], packet: &Packet) {
    if let Some(lost) = lost.get_mut(packet.header.flow as usize) {
        lost.packets += 1;
        if packet.header.kind.is_data() {
            lost.bytes += packet.header.size.get();
        }
    }
}
