//! A station: the nodes that one thread looks after.
//!
//! Inside, it is a small simulator that follows the real clock: whatever is due is done as of
//! the time when it was due, however late the thread woke up. So a port that is looked at late
//! loses nothing of its rate, and only two things depend on the machine: when a packet comes out
//! of a wire and is handed to the kernel, which is measured ([`Achieved`]), and how long the
//! kernel takes. When a packet arrived is what the kernel stamped on it. `station/drive.rs` is
//! where the clock and the sockets are, `station/kernel.rs` what is done for flows that are the
//! kernel's.

mod drive;
mod kernel;

use self::kernel::Ear;
use crate::agenda::{Agenda, Due};
use crate::clock::Clock;
use crate::collect::Part;
use crate::ends::{Sink, Source, base_rtt, packet};
use crate::link::{Achieved, Link};
use crate::packet::Packet;
#[cfg(test)]
use crate::socket::Exchange;
use crate::socket::Socket;
use accord_aqm::Aqm;
use accord_port::Count;
use accord_scenario::{Change, LinkId, NodeId, Scenario, State};
use accord_traffic::Sizer;
use accord_transport::Segment;
use accord_transport::pcapng::Capture;
use accord_transport::wire;
use accord_units::{Bytes, Duration, Time};
#[cfg(test)]
use std::io::Result;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

/// What all stations know.
#[derive(Debug)]
pub struct Plan<'a> {
    /// What is run.
    pub scenario: &'a Scenario,
    /// The clock.
    pub clock: Clock,
    /// Tells this run's packets from others.
    pub run: u32,
    /// Where packets go that come out of a link.
    pub next: Vec<SocketAddrV4>,
    /// The run is to end at once.
    pub stop: AtomicBool,
    /// All packets are to be told of.
    pub capture: bool,
    routes: Vec<Vec<Route<'a>>>,
}

/// The ways of a flow, there and back.
type Route<'a> = [&'a [LinkId]; 2];

impl<'a> Plan<'a> {
    /// A plan to run `scenario`.
    pub fn new(
        scenario: &'a Scenario,
        clock: Clock,
        run: u32,
        next: Vec<SocketAddrV4>,
    ) -> Plan<'a> {
        let flows = scenario.flows.iter();
        let mut routes: Vec<Vec<Route>> = flows
            .map(|f| vec![[&f.path[..], &f.reverse_path[..]]])
            .collect();
        for event in &scenario.events {
            if let Change::Route {
                flow,
                path,
                reverse_path,
            } = &event.change
            {
                routes[*flow].push([path, reverse_path]);
            }
        }
        Plan {
            scenario,
            clock,
            run,
            next,
            stop: AtomicBool::new(false),
            capture: false,
            routes,
        }
    }
}

/// A station in the making or at work.
pub struct Station<'a> {
    plan: &'a Plan<'a>,
    nodes: Arc<[(NodeId, Socket)]>,
    links: Vec<Link>,
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    /// Listens to connections of the kernel, where it has any.
    ear: Option<Ear>,
    /// Places in the above, by the scenario's index.
    socket_of: Vec<Option<usize>>,
    link_of: Vec<Option<usize>>,
    source_of: Vec<Option<usize>>,
    sink_of: Vec<Option<usize>>,
    now: Time,
    agenda: Agenda,
    /// What is done now is of no consequence outside for so long: the shortest delay of its links;
    /// none where it has connections of the kernel, which has its own clock.
    lookahead: Duration,
    /// The network as it is, the events that are over, and the current routes by flow.
    state: State<'a>,
    events: usize,
    route: Vec<u16>,
    samples: u64,
    parts: Sender<Part>,
    capture: Capture,
    books: Books,
}

/// What a station counts, for the end.
#[derive(Debug, Default)]
pub struct Books {
    /// What its links achieved.
    pub links: Vec<(LinkId, Achieved)>,
    /// Dropped or lost by flow: packets of any kind, and bytes of data.
    pub lost: Vec<Count>,
    /// Transfers: the flow, when they began, how much they were, and how long they took if they
    /// are done.
    pub transfers: Vec<(usize, Time, Bytes, Option<Duration>)>,
    /// Connections of the kernel that broke: the flow, and why.
    pub broken: Vec<(usize, String)>,
    /// Packets given to the kernel, taken from it, and refused by it.
    pub handed: u64,
    /// See `handed`.
    pub taken: u64,
    /// See `handed`.
    pub refused: u64,
    /// Datagrams that are not of this run.
    pub foreign: u64,
    /// The thread ran before all ordinary ones.
    pub first: bool,
    /// CPU time of the thread, and the part of it that it spent in the kernel.
    pub cpu: Duration,
    /// See `cpu`.
    pub system: Duration,
    /// Packets that its ports have served.
    pub hops: u64,
    /// Things done.
    pub steps: u64,
    /// Its sockets, with what came too late.
    pub nodes: Arc<[(NodeId, Socket)]>,
    /// What came and went.
    #[cfg(test)]
    pub tape: crate::parity::Tape,
}

impl<'a> Station<'a> {
    /// A station with these nodes.
    pub fn new(
        plan: &'a Plan<'a>,
        nodes: Vec<(NodeId, Socket)>,
        parts: Sender<Part>,
    ) -> Station<'a> {
        let s = plan.scenario;
        let mut socket_of = vec![None; s.nodes.len()];
        for (place, (node, _)) in nodes.iter().enumerate() {
            socket_of[*node] = Some(place);
        }
        let mine = |node: NodeId| socket_of[node].is_some();
        let links: Vec<Link> = (0..s.links.len())
            .filter(|&l| mine(s.links[l].from))
            .map(|l| Link::new(s, l))
            .collect();
        let flows = 0..s.flows.len();
        let source = |f: &usize| mine(s.links[s.flows[*f].path[0]].from);
        let sink = |f: &usize| mine(s.links[s.flows[*f].reverse_path[0]].from);
        let sources: Vec<Source> = (flows.clone().filter(source))
            .map(|f| Source::new(s, f))
            .collect();
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
            nodes: nodes.into(),
            link_of: place(s.links.len(), links.iter().map(|l| l.id).collect()),
            source_of: place(s.flows.len(), sources.iter().map(|x| x.flow).collect()),
            sink_of: place(s.flows.len(), sinks.iter().map(|x| x.flow).collect()),
            socket_of,
            now: Time::ZERO,
            agenda: Agenda::new(links.len(), sources.len()),
            lookahead: lookahead(&links),
            links,
            sources,
            sinks,
            ear: None,
            state: s.at(Time::ZERO),
            events: 0,
            route: vec![0; s.flows.len()],
            samples: 0,
            parts,
            capture: Capture::default(),
            books: Books {
                lost: vec![Count::default(); s.flows.len()],
                ..Books::default()
            },
        };
        station.schedule_all();
        station
    }

    /// What the scenario itself makes happen.
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

    /// The books at the end.
    fn close(mut self) -> Books {
        for source in &mut self.sources {
            let broken = source.connection.as_mut().and_then(|c| c.broken.take());
            let broken = broken.map(|why| (source.flow, why));
            self.books.broken.extend(broken);
            let left = source.session.end();
            let left = left.map(|left| (source.flow, left.start, left.size, None));
            self.books.transfers.extend(left);
        }
        for link in self.links {
            self.books.hops += link.port.counters().served.packets;
            self.books.links.push((link.id, link.achieved));
        }
        self.books.nodes = self.nodes;
        self.books
    }

    /// Does what it did when this came, up to the end of the run.
    #[cfg(test)]
    pub fn replay(mut self, inputs: &[(Time, NodeId, Packet)]) -> Result<crate::parity::Tape> {
        for (at, node, packet) in inputs {
            self.advance(*at);
            self.arrive(*node, packet.clone());
        }
        let end = self.plan.scenario.end();
        self.advance(end);
        self.release(end, &mut Exchange::new())?;
        Ok(self.books.tape)
    }

    /// Does what is due up to `to`.
    fn advance(&mut self, to: Time) {
        loop {
            let (at, due) = self.agenda.first();
            if at > to || self.stopped() {
                break;
            }
            self.now = self.now.max(at);
            self.books.steps += 1;
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
                    self.sources[i].session.start();
                    self.application(i);
                }
                Due::Stop(i) => {
                    self.sources[i].stop();
                }
                Due::Application(i) => self.application(i),
                Due::Wake(i) => {
                    self.sources[i].sender.on_wake(self.now);
                    self.pump(i);
                }
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
        self.lookahead = match self.ear {
            None => lookahead(&self.links),
            Some(_) => Duration::ZERO,
        };
    }

    fn application(&mut self, i: usize) {
        let next = self.sources[i].act(self.now, &self.state);
        self.agenda.set(Due::Application(i), next);
        self.pump(i);
    }

    /// Lets a sender send what it may, and sets its timer.
    fn pump(&mut self, i: usize) {
        loop {
            let source = &mut self.sources[i];
            // The kernel sends what is its own by itself.
            let next = match &source.connection {
                None => source.sender.poll(self.now),
                Some(_) => Err(Time::MAX),
            };
            match next {
                Ok(segment) => {
                    let ecn = source.sender.is_ecn_capable();
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
                    if let Some(done) = source.transferred() {
                        let took = Some(self.now.since(done.start));
                        let transfer = (source.flow, done.start, done.size, took);
                        self.books.transfers.push(transfer);
                        let next = done.pause.map_or(Time::MAX, |pause| self.now + pause);
                        self.agenda.set(Due::Application(i), next);
                    }
                    return;
                }
            }
        }
    }

    /// Puts a new packet of a flow into its first port; `way` 0 is there, 1 back.
    fn send(
        &mut self,
        flow: usize,
        way: usize,
        segment: &Segment,
        size: Option<Bytes>,
        ecn: bool,
    ) -> Bytes {
        let plan = self.plan;
        let route = self.route[flow];
        let packet = packet(plan.scenario, flow, segment, size, ecn, route, plan.run);
        let size = packet.header.size;
        self.offer(plan.routes[flow][usize::from(route)][way][0], packet);
        size
    }

    /// A packet has come to a node: it goes on, or is at its end.
    fn arrive(&mut self, node: NodeId, packet: Packet) {
        let (links, header) = (&self.plan.scenario.links, packet.header);
        let flow = header.flow as usize;
        let routes = self.plan.routes.get(flow);
        let Some(route) = routes.and_then(|r| r.get(usize::from(header.route))) else {
            self.books.foreign += 1;
            return;
        };
        let path = route[usize::from(header.kind.is_reply())];
        match path.iter().find(|&&l| links[l].from == node) {
            Some(&link) => self.offer(link, packet),
            None if header.kind.is_ip() => self.give_kernel(flow, &packet),
            None => self.deliver(flow, packet),
        }
    }

    /// A packet is at a port.
    fn offer(&mut self, link: LinkId, packet: Packet) {
        let Some(i) = self.link_of[link] else {
            self.books.foreign += 1;
            return;
        };
        let Link { port, dice, .. } = &mut self.links[i];
        let lost = &mut self.books.lost;
        port.offer(
            self.now,
            packet,
            &mut || dice.uniform(),
            &mut |packet, _| {
                lose(lost, &packet);
            },
        );
        self.begin(i);
    }

    /// Starts service at a port, if it is free and something waits.
    fn begin(&mut self, i: usize) {
        let link = &mut self.links[i];
        let lost = &mut self.books.lost;
        let begun = (link.port).begin(self.now, &mut |packet, _| lose(lost, &packet));
        if let Some((packet, end)) = begun {
            link.serving = Some((packet, self.now));
            self.agenda.set(Due::Sent(i), end);
        }
    }

    /// A port has sent its packet.
    fn sent(&mut self, i: usize) {
        let link = &mut self.links[i];
        if let Some((packet, begun)) = link.serving.take() {
            link.port.complete();
            let lost = link.propagate(packet, begun, self.now);
            if let Err(packet) = lost {
                lose(&mut self.books.lost, &packet);
            }
        }
        self.begin(i);
    }

    /// A packet is at its endpoint.
    fn deliver(&mut self, flow: usize, packet: Packet) {
        let Ok((header, segment)) = wire::decode(&packet.datagram) else {
            self.books.foreign += 1;
            return;
        };
        if header.kind.is_reply() {
            if let Some(i) = self.source_of[flow] {
                self.sources[i].sender.on_reply(&segment, self.now);
                self.pump(i);
            }
        } else if let Some(i) = self.sink_of[flow] {
            let one_way = (self.state).one_way(self.state.path[flow], header.size);
            let reply = self.sinks[i].receive(&packet, &segment, one_way, self.now);
            if let Some(reply) = reply {
                self.send(flow, 1, &reply, None, false);
            }
        }
    }

    /// Tells of all that is recorded.
    fn sample(&mut self) {
        let (now, scenario) = (self.now, self.plan.scenario);
        self.samples += 1;
        let next = Time::ZERO + scenario.sample * (self.samples + 1);
        self.agenda.set(Due::Sample, next);
        let state = &self.state;
        let one_way = |f: usize| state.one_way(state.path[f], scenario.flows[f].packet);
        let sources = self.sources.iter_mut();
        let recorded = (self.links.iter_mut()).filter(|l| !scenario.links[l.id].attachment);
        let part = Part {
            number: self.samples,
            sources: sources
                .map(|s| (s.flow, s.read(now, one_way(s.flow))))
                .collect(),
            sinks: self.sinks.iter().map(|s| (s.flow, s.reading)).collect(),
            links: recorded.map(|l| (l.id, l.read(now))).collect(),
            lost: self.books.lost.clone(),
            packets: self.capture.take(),
        };
        // Nobody listens any more when the run was stopped.
        let _ = self.parts.send(part);
    }
}

/// The shortest delay of a link.
fn lookahead(links: &[Link]) -> Duration {
    let delays = links.iter().map(|l| l.delay);
    delays.min().unwrap_or(Duration::MAX)
}

/// A packet of the flow is no more.
fn lose(lost: &mut [Count], packet: &Packet) {
    if let Some(lost) = lost.get_mut(packet.header.flow as usize) {
        lost.packets += 1;
        if packet.header.kind.is_data() {
            lost.bytes += packet.header.size.get();
        }
    }
}
