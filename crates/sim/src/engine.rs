//! The engine: takes the next event from the calendar and does what it says.
//!
//! What keeps a packet-hop cheap:
//! - A port with one FIFO queue and a fixed rate knows a packet's departure the moment it
//!   arrives ([`accord_port::Timeline`]): one event a hop, not two.
//! - A link that is fed by one other link only needs no event at all: its arrivals come in
//!   the order in which the other link sends, so they are worked out at once ([`Wire::inline`]).
//!   This is exact. It is done for links that attach hosts, of which no series is recorded.
//! - Packets are values in the calendar's slab; nothing is allocated for one.
//! - A flow has one timer, moved lazily: it is set again only when it runs out early.

use crate::SimError;
use crate::application::{Application, Then};
use crate::calendar::{Calendar, Kind};
use crate::endpoint::{Receiver, Sender, endpoints};
use crate::packet::Packet;
use crate::recorder::Recorder;
use crate::wire::{Line, Wire};
use accord_aqm::Aqm;
use accord_port::Count;
use accord_scenario::{
    Change, Engine, Entity, LinkId, Manifest, Metric, Observer, Run, Scenario, Statistics,
};
use accord_transport::Segment;
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// The end of a list of hops.
const END: u32 = u32::MAX;

/// One flow in the simulation.
struct Flow {
    sender: Sender,
    receiver: Receiver,
    application: Application,
    /// First hops of the paths there and back.
    path: u32,
    reverse_path: u32,
    packet: u16,
    ack: u16,
    control: u16,
    started: bool,
    stopped: bool,
    /// A `Wake` event is pending for this time.
    wake: Time,
    /// The application acts this long after all is delivered.
    after_delivery: Option<Duration>,
    /// Time over the path with empty queues, for a data packet.
    one_way: Duration,
    sent: Count,
    delivered: Count,
    fresh_bytes: u64,
    /// Packets of any kind that were dropped or lost on the way.
    losses: u64,
    data_lost_bytes: u64,
    /// Sums at the last sample, for the differences.
    sampled: Sampled,
    /// (time, bytes sent by then), for the ideal estimator only.
    history: VecDeque<(Time, u64)>,
    /// When the latest packet would have arrived over empty queues, and bytes sent up to it.
    due: (Time, u64),
}

#[derive(Clone, Copy, Default)]
struct Sampled {
    sent: u64,
    delivered: u64,
    fresh: u64,
    retransmissions: u64,
    losses: u64,
}

#[derive(Clone, Copy, Default)]
struct LinkSampled {
    served: u64,
    drops: u64,
    marks: u64,
}

/// What came in, went out, was dropped and is there, of one flow's data or one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audit {
    /// What came in.
    pub entered: Count,
    /// What went out.
    pub left: Count,
    /// What was dropped.
    pub dropped: Count,
    /// What is there.
    pub held: Count,
}

struct Simulation<'a> {
    scenario: &'a Scenario,
    now: Time,
    calendar: Calendar,
    wires: Vec<Wire>,
    flows: Vec<Flow>,
    /// Lists of links, each closed by `END`; packets carry their place in it.
    hops: Vec<u32>,
    recorder: Recorder,
    link_sampled: Vec<LinkSampled>,
    last_sample: Time,
    digest: u64,
    events: u64,
}

/// Runs a scenario, packet by packet.
///
/// # Errors
/// When the observer stops it.
pub fn run(scenario: &Scenario, observer: &mut dyn Observer) -> Result<Run, SimError> {
    run_audited(scenario, observer).map(|(run, _, _)| run)
}

/// Like [`run`]; gives the books of all ports (by link) and of all flows' data as well.
///
/// # Errors
/// When the observer stops it.
pub fn run_audited(
    scenario: &Scenario,
    observer: &mut dyn Observer,
) -> Result<(Run, Vec<Audit>, Vec<Audit>), SimError> {
    let mut simulation = Simulation::new(scenario);
    simulation.run(observer)?;
    Ok(simulation.finish())
}

impl<'a> Simulation<'a> {
    fn new(scenario: &'a Scenario) -> Simulation<'a> {
        let mut hops = Vec::new();
        let flows: Vec<Flow> = (scenario.flows.iter().enumerate())
            .map(|(id, f)| {
                let (sender, receiver) = endpoints(f);
                Flow {
                    sender,
                    receiver,
                    application: Application::new(f, id, scenario.seed),
                    path: add_path(&mut hops, &f.path),
                    reverse_path: add_path(&mut hops, &f.reverse_path),
                    packet: f.packet.get() as u16,
                    ack: f.ack.get() as u16,
                    control: f.control.get() as u16,
                    started: false,
                    stopped: false,
                    wake: Time::MAX,
                    after_delivery: None,
                    one_way: scenario.one_way(&f.path, f.packet),
                    sent: Count::default(),
                    delivered: Count::default(),
                    fresh_bytes: 0,
                    losses: 0,
                    data_lost_bytes: 0,
                    sampled: Sampled::default(),
                    history: VecDeque::new(),
                    due: (Time::ZERO, 0),
                }
            })
            .collect();
        let mut simulation = Simulation {
            scenario,
            now: Time::ZERO,
            calendar: Calendar::new(),
            wires: wires(scenario, &flows),
            flows,
            hops,
            recorder: Recorder::new(scenario),
            link_sampled: vec![LinkSampled::default(); scenario.links.len()],
            last_sample: Time::ZERO,
            digest: scenario.seed,
            events: 0,
        };
        simulation.schedule_all();
        simulation
    }

    /// What the scenario itself makes happen.
    fn schedule_all(&mut self) {
        for (id, e) in self.scenario.events.iter().enumerate() {
            self.schedule(e.at, Kind::Change, id);
        }
        for (id, f) in self.scenario.flows.iter().enumerate() {
            self.schedule(f.start, Kind::Start, id);
            if let Some(stop) = f.stop {
                self.schedule(stop, Kind::Stop, id);
            }
        }
        for id in 0..self.wires.len() {
            if let Some(at) = self.wires[id].aqm().next_timer() {
                self.schedule(at, Kind::Discipline, id);
            }
        }
        self.schedule(Time::ZERO + self.scenario.sample, Kind::Sample, 0);
    }

    fn schedule(&mut self, at: Time, kind: Kind, index: usize) {
        self.calendar.push(at, kind, index as u32, Packet::NONE);
    }

    fn run(&mut self, observer: &mut dyn Observer) -> Result<(), SimError> {
        let end = self.scenario.end();
        while let Some((time, kind, index, packet)) = self.calendar.pop() {
            if time > end {
                // It is still on its way when the books are closed.
                self.calendar.push(time, kind, index, packet);
                break;
            }
            debug_assert!(time >= self.now, "time never goes back");
            self.now = time;
            self.events += 1;
            self.digest = (self.digest ^ time.as_ps() ^ u64::from(index) << 48)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(23);
            match kind {
                Kind::Arrive => self.arrive(packet),
                Kind::Deliver => self.deliver(packet),
                Kind::Sent => self.sent(index as usize, packet),
                Kind::Wake => self.wake(index as usize),
                Kind::Application => self.application(index as usize),
                Kind::Start => {
                    self.flows[index as usize].started = true;
                    self.application(index as usize);
                }
                Kind::Stop => {
                    let flow = &mut self.flows[index as usize];
                    flow.stopped = true;
                    flow.sender.stop();
                }
                Kind::Discipline => self.discipline(index as usize),
                Kind::Change => self.change(index as usize),
                Kind::Sample => {
                    self.sample();
                    observer.progress(time)?;
                    self.schedule(time + self.recorder.period(), Kind::Sample, 0);
                }
                Kind::Free => unreachable!("free slots are not in the calendar"),
            }
            if self.events.is_multiple_of(1 << 18) {
                observer.progress(time)?;
            }
        }
        self.now = end;
        Ok(())
    }

    /// A packet is at the port of the hop that it carries.
    #[inline]
    fn arrive(&mut self, mut packet: Packet) {
        let mut at = self.now;
        loop {
            let link = self.hops[packet.hop as usize] as usize;
            let wire = &mut self.wires[link];
            match &mut wire.line {
                Line::Timeline(line) => match line.offer(at, &mut packet, &mut wire.dice) {
                    Ok(departure) => at = departure,
                    Err(_) => return self.lost(&packet),
                },
                Line::Port(port) => {
                    if port.offer(at, packet, &mut wire.dice).is_err() {
                        return self.lost(&packet);
                    }
                    return self.begin(link);
                }
            }
            match self.propagate(link, packet, at) {
                Some((next, arrival)) => (packet, at) = (next, arrival),
                None => return,
            }
        }
    }

    /// The packet is on the wire of `link` at `at`. Schedules its arrival, or gives it back
    /// if the next port takes it without an event.
    #[inline]
    fn propagate(&mut self, link: usize, mut packet: Packet, at: Time) -> Option<(Packet, Time)> {
        let Some(arrival) = self.wires[link].propagate(&packet, at) else {
            self.lost(&packet);
            return None;
        };
        packet.hop += 1;
        match self.hops[packet.hop as usize] {
            END => self.calendar.push(arrival, Kind::Deliver, 0, packet),
            next if self.wires[next as usize].inline => return Some((packet, arrival)),
            _ => self.calendar.push(arrival, Kind::Arrive, 0, packet),
        }
        None
    }

    /// Starts service at a stepped port, if it is free and something waits.
    fn begin(&mut self, link: usize) {
        if let Line::Port(port) = &mut self.wires[link].line
            && let Some((packet, end)) = port.begin(self.now)
        {
            self.calendar.push(end, Kind::Sent, link as u32, packet);
        }
    }

    /// A stepped port has sent a packet.
    fn sent(&mut self, link: usize, packet: Packet) {
        if let Line::Port(port) = &mut self.wires[link].line {
            port.complete();
        }
        if let Some((packet, arrival)) = self.propagate(link, packet, self.now) {
            debug_assert!(false, "a stepped port does not feed an inline one");
            self.calendar.push(arrival, Kind::Arrive, 0, packet);
        }
        self.begin(link);
    }

    #[cold]
    fn lost(&mut self, packet: &Packet) {
        let flow = &mut self.flows[packet.flow as usize];
        flow.losses += 1;
        if let Segment::Data { .. } = packet.segment {
            flow.data_lost_bytes += u64::from(packet.size);
        }
    }

    /// A packet is at its endpoint.
    #[inline]
    fn deliver(&mut self, packet: Packet) {
        let id = packet.flow as usize;
        let now = self.now;
        let flow = &mut self.flows[id];
        match packet.segment {
            Segment::Data { number, sent } => {
                flow.delivered.add(packet.bytes());
                match &mut flow.receiver {
                    Receiver::Stream(r) => {
                        let (new, ack) = r.on_data(number, sent);
                        if new {
                            flow.fresh_bytes += u64::from(packet.size);
                        }
                        self.answer(id, ack);
                    }
                    Receiver::Tunnel(r) => {
                        flow.fresh_bytes += u64::from(packet.size);
                        r.on_data(packet.bytes(), now);
                    }
                    Receiver::Datagrams => flow.fresh_bytes += u64::from(packet.size),
                }
            }
            Segment::Ack {
                next,
                block,
                block_len,
                echo,
            } => {
                if let Sender::Stream(s) = &mut flow.sender {
                    s.on_ack(next, block, block_len, echo, now);
                    self.pump(id);
                }
            }
            Segment::OutOfBand { pair, .. } => {
                if let Receiver::Tunnel(r) = &mut flow.receiver {
                    r.on_out_of_band(pair, now);
                }
            }
            Segment::InBand {
                pair,
                sent_bytes,
                virtual_delay,
            } => {
                let truth = flow.true_accumulation(now);
                if let Receiver::Tunnel(r) = &mut flow.receiver
                    && let Some(report) = r.on_in_band(pair, sent_bytes, virtual_delay, truth, now)
                {
                    self.answer(id, report);
                }
            }
            Segment::Report {
                pair,
                accumulation,
                lost,
                egress_bps,
                received,
            } => {
                if let Sender::Tunnel(s) = &mut flow.sender {
                    let rate = Rate::from_bps(egress_bps);
                    s.on_report(pair, f64::from(accumulation), rate, lost, received, now);
                    self.pump(id);
                }
            }
        }
    }

    /// The receiver sends something back.
    #[inline]
    fn answer(&mut self, id: usize, segment: Segment) {
        let flow = &self.flows[id];
        let size = match segment {
            Segment::Ack { .. } => flow.ack,
            _ => flow.control,
        };
        let hop = flow.reverse_path;
        self.arrive(Packet {
            segment,
            flow: id as u32,
            hop,
            size,
            marked: false,
        });
    }

    /// Lets a sender send what it may, and sets its timer.
    #[inline]
    fn pump(&mut self, id: usize) {
        loop {
            let flow = &mut self.flows[id];
            match flow.sender.poll(self.now) {
                Ok(segment) => {
                    let data = matches!(segment, Segment::Data { .. });
                    let size = if data { flow.packet } else { flow.control };
                    let packet = Packet {
                        segment,
                        flow: id as u32,
                        hop: flow.path,
                        size,
                        marked: false,
                    };
                    if data {
                        flow.sent.add(packet.bytes());
                        flow.remember(self.now);
                    }
                    self.arrive(packet);
                }
                Err(again) => {
                    let at = again.min(flow.sender.next_wake());
                    if at < flow.wake {
                        flow.wake = at;
                        self.calendar.push(at, Kind::Wake, id as u32, Packet::NONE);
                    }
                    if flow.after_delivery.is_some() && flow.sender.is_done() {
                        self.delivered(id);
                    }
                    return;
                }
            }
        }
    }

    fn wake(&mut self, id: usize) {
        let flow = &mut self.flows[id];
        // An earlier deadline was set after this one was scheduled, and has been handled.
        if flow.wake != self.now {
            return;
        }
        flow.wake = Time::MAX;
        flow.sender.on_wake(self.now);
        self.pump(id);
    }

    fn application(&mut self, id: usize) {
        let flow = &mut self.flows[id];
        if flow.stopped {
            return;
        }
        let step = flow.application.act(self.now);
        flow.sender.supply(step.supply);
        match step.then {
            Then::After(d) => self.schedule(self.now + d, Kind::Application, id),
            Then::AfterDelivery(d) => flow.after_delivery = Some(d),
            Then::Never => {}
        }
        self.pump(id);
    }

    /// All that the application supplied is delivered: it pauses, then acts again.
    fn delivered(&mut self, id: usize) {
        if let Some(pause) = self.flows[id].after_delivery.take() {
            self.schedule(self.now + pause, Kind::Application, id);
        }
    }

    fn discipline(&mut self, link: usize) {
        let now = self.now;
        let wire = &mut self.wires[link];
        match &mut wire.line {
            Line::Timeline(line) => line.on_timer(now),
            Line::Port(port) => port.on_timer(now),
        }
        if let Some(at) = wire.aqm().next_timer() {
            self.schedule(at, Kind::Discipline, link);
        }
    }

    fn change(&mut self, event: usize) {
        match &self.scenario.events[event].change {
            Change::Delay(link, delay) => self.wires[*link].delay = *delay,
            Change::Rate(link, rate) => {
                if let Line::Port(port) = &mut self.wires[*link].line {
                    port.set_rate(*rate);
                }
            }
            Change::Route {
                flow,
                path,
                reverse_path,
            } => {
                let f = &mut self.flows[*flow];
                f.path = add_path(&mut self.hops, path);
                f.reverse_path = add_path(&mut self.hops, reverse_path);
            }
        }
        for id in 0..self.flows.len() {
            let size = self.scenario.flows[id].packet;
            let mut sum = Duration::ZERO;
            let mut hop = self.flows[id].path as usize;
            while self.hops[hop] != END {
                let wire = &self.wires[self.hops[hop] as usize];
                sum += wire.delay + wire.rate().transmission(size);
                hop += 1;
            }
            self.flows[id].one_way = sum;
        }
    }

    /// Records a sample of everything.
    fn sample(&mut self) {
        let now = self.now;
        let period = now.since(self.last_sample).as_secs_f64();
        self.last_sample = now;
        let mut queued = vec![0u64; self.flows.len()];
        let waiting = self.wires.iter().filter_map(|w| match &w.line {
            Line::Port(p) => Some(p.waiting()),
            Line::Timeline(_) => None,
        });
        for p in self.calendar.packets().chain(waiting.flatten()) {
            // Data that would have arrived by now over empty queues is queued [Xia05 eq. 1].
            if let Segment::Data { sent, .. } = p.segment
                && sent + self.flows[p.flow as usize].one_way <= now
            {
                queued[p.flow as usize] += u64::from(p.size);
            }
        }
        for wire in &mut self.wires {
            wire.advance(now);
        }
        let Simulation {
            recorder,
            flows,
            wires,
            link_sampled,
            ..
        } = self;
        let views: Vec<_> = flows.iter().map(|f| f.sender.view()).collect();
        recorder.sample(now, |entity, metric| match entity {
            Entity::Flow(id) => {
                let f = &flows[id];
                if !f.started || f.stopped && queued[id] == 0 {
                    return f64::NAN;
                }
                let v = &views[id];
                let rate = |now: u64, then: u64| (now - then) as f64 * 8.0 / period;
                match metric {
                    Metric::Throughput => rate(f.delivered.bytes, f.sampled.delivered),
                    Metric::Goodput => rate(f.fresh_bytes, f.sampled.fresh),
                    Metric::SendingRate => rate(f.sent.bytes, f.sampled.sent),
                    Metric::Cwnd => v.cwnd.map_or(f64::NAN, Bytes::as_f64),
                    Metric::Ssthresh => v.ssthresh.map_or(f64::NAN, Bytes::as_f64),
                    Metric::Rtt => v.rtt.map_or(f64::NAN, Duration::as_secs_f64),
                    Metric::MinRtt => v.min_rtt.map_or(f64::NAN, Duration::as_secs_f64),
                    Metric::Accumulation => queued[id] as f64,
                    Metric::AccumulationEstimate => v.accumulation.unwrap_or(f64::NAN),
                    Metric::Retransmissions => {
                        (v.retransmissions - f.sampled.retransmissions) as f64
                    }
                    Metric::Losses => (f.losses - f.sampled.losses) as f64,
                    _ => f64::NAN,
                }
            }
            Entity::Link(id) => {
                let w = &wires[id];
                let (packets, bytes) = w.backlog();
                let c = w.counters();
                let delay = bytes.bits_f64() / w.rate().as_bps_f64();
                let s = link_sampled[id];
                match metric {
                    Metric::Backlog => bytes.as_f64(),
                    Metric::BacklogPackets => packets as f64,
                    Metric::QueuingDelay => delay,
                    Metric::Utilisation => {
                        (c.served.bytes - s.served) as f64 * 8.0 / period / w.rate().as_bps_f64()
                    }
                    Metric::Drops => (c.dropped().packets - s.drops) as f64,
                    Metric::Marks => (c.marked.packets - s.marks) as f64,
                    Metric::Price => delay + w.aqm().virtual_delay(now).as_secs_f64(),
                    _ => f64::NAN,
                }
            }
        });
        for (f, v) in flows.iter_mut().zip(views) {
            f.sampled = Sampled {
                sent: f.sent.bytes,
                delivered: f.delivered.bytes,
                fresh: f.fresh_bytes,
                retransmissions: v.retransmissions,
                losses: f.losses,
            };
        }
        for (s, w) in link_sampled.iter_mut().zip(wires) {
            let c = w.counters();
            *s = LinkSampled {
                served: c.served.bytes,
                drops: c.dropped().packets,
                marks: c.marked.packets,
            };
        }
    }

    fn finish(mut self) -> (Run, Vec<Audit>, Vec<Audit>) {
        let mut in_network = vec![Count::default(); self.flows.len()];
        let waiting = self.wires.iter().filter_map(|w| match &w.line {
            Line::Port(p) => Some(p.waiting()),
            Line::Timeline(_) => None,
        });
        for p in self.calendar.packets().chain(waiting.flatten()) {
            if let Segment::Data { .. } = p.segment {
                in_network[p.flow as usize].add(p.bytes());
            }
        }
        for wire in &mut self.wires {
            wire.advance(self.now);
        }
        let ports: Vec<Audit> = (self.wires.iter())
            .map(|w| {
                let c = w.counters();
                Audit {
                    entered: c.offered,
                    left: c.served,
                    dropped: c.dropped(),
                    held: w.held(),
                }
            })
            .collect();
        let flows = (self.flows.iter().zip(in_network))
            .map(|(f, held)| Audit {
                entered: f.sent,
                left: f.delivered,
                dropped: Count {
                    packets: f.data_lost_bytes / u64::from(f.packet),
                    bytes: f.data_lost_bytes,
                },
                held,
            })
            .collect();
        let packet_hops = ports.iter().map(|p| p.left.packets).sum();
        let (time, series) = self.recorder.finish();
        let run = Run {
            manifest: Manifest {
                engine: Engine::Packet,
                version: env!("CARGO_PKG_VERSION"),
                scenario_hash: self.scenario.hash(),
                seed: self.scenario.seed,
                digest: format!("{:016x}", self.digest),
            },
            time,
            series,
            statistics: Statistics {
                packet_hops,
                steps: self.events,
            },
            certificates: Vec::new(),
            notes: Vec::new(),
        };
        (run, ports, flows)
    }
}

impl Flow {
    /// Notes what was sent, for the ideal estimator.
    #[inline]
    fn remember(&mut self, now: Time) {
        if let Receiver::Tunnel(r) = &self.receiver
            && r.wants_truth()
        {
            self.history.push_back((now, self.sent.bytes));
        }
    }

    /// Accumulation by its definition: what would have arrived by now over empty queues,
    /// less what has arrived and what was lost [Xia05 eq. 1, Xia03 eqs. 1-6]. Only kept for
    /// flows whose estimator asks for it.
    fn true_accumulation(&mut self, now: Time) -> Option<f64> {
        match &self.receiver {
            Receiver::Tunnel(r) if r.wants_truth() => {}
            _ => return None,
        }
        while let Some(&(sent, bytes)) = self.history.front() {
            if sent + self.one_way > now {
                break;
            }
            self.due = (sent + self.one_way, bytes);
            self.history.pop_front();
        }
        // The definition is of a fluid: the packet that is due next has come in part.
        let (since, bytes) = self.due;
        let part = self.history.front().map_or(0.0, |&(sent, next)| {
            let gap = (sent + self.one_way).since(since).as_secs_f64();
            (next - bytes) as f64 * (now.since(since).as_secs_f64() / gap.max(1e-12))
        });
        let gone = self.delivered.bytes + self.data_lost_bytes;
        Some((bytes as f64 + part - gone as f64).max(0.0))
    }
}

fn add_path(hops: &mut Vec<u32>, path: &[LinkId]) -> u32 {
    let first = hops.len() as u32;
    hops.extend(path.iter().map(|&l| l as u32));
    hops.push(END);
    first
}

/// The links, each with the form of port that its traffic and its events need.
fn wires(scenario: &Scenario, flows: &[Flow]) -> Vec<Wire> {
    let n = scenario.links.len();
    let mut stepped = vec![false; n];
    /// What feeds a link.
    #[derive(Clone, Copy, PartialEq)]
    enum Feed {
        Nothing,
        Link(LinkId),
        Several,
    }
    let mut feed = vec![Feed::Nothing; n];
    let mut walk = |path: &[LinkId], tunnel: bool, stepped: &mut Vec<bool>| {
        for (i, &link) in path.iter().enumerate() {
            stepped[link] |= tunnel;
            let from = if i == 0 {
                Feed::Several
            } else {
                Feed::Link(path[i - 1])
            };
            feed[link] = match feed[link] {
                Feed::Nothing => from,
                same if same == from => same,
                _ => Feed::Several,
            };
        }
    };
    for (f, flow) in scenario.flows.iter().zip(flows) {
        let tunnel = matches!(flow.sender, Sender::Tunnel(_));
        walk(&f.path, tunnel, &mut stepped);
        walk(&f.reverse_path, tunnel, &mut stepped);
    }
    for e in &scenario.events {
        match &e.change {
            Change::Rate(link, _) => stepped[*link] = true,
            Change::Delay(..) => {}
            Change::Route {
                flow,
                path,
                reverse_path,
            } => {
                let tunnel = matches!(flows[*flow].sender, Sender::Tunnel(_));
                walk(path, tunnel, &mut stepped);
                walk(reverse_path, tunnel, &mut stepped);
            }
        }
    }
    let mut wires: Vec<Wire> = (scenario.links.iter().enumerate())
        .map(|(id, l)| Wire::new(l, id, scenario.seed, stepped[id]))
        .collect();
    let fixed = !scenario
        .events
        .iter()
        .any(|e| matches!(e.change, Change::Delay(..)));
    for id in 0..n {
        if let Feed::Link(from) = feed[id] {
            wires[id].inline = fixed
                && scenario.links[id].attachment
                && matches!(wires[id].line, Line::Timeline(_))
                && matches!(wires[from].line, Line::Timeline(_));
        }
    }
    wires
}
