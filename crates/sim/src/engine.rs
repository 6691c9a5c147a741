//! The engine: it takes the next event from the calendar and carries it out.
//!
//! Three things keep a packet-hop cheap:
//! - There are few events: `wiring.rs` says which ones a run can do without.
//! - A link has one event pending, for the first packet on it. The other packets wait in a ring
//!   behind, as values. Nothing is allocated for a packet.
//! - A flow has one timer, moved lazily: it is set again only when it runs out early.
//!
//! Runs of greedy streams need no events of packets at all: see `windows.rs`.

use crate::SimError;
use crate::arrivals::Cause;
use crate::calendar::{Calendar, Kind};
use crate::digest::Digest;
use crate::flow::Flow;
use crate::hop::{Came, Hop, Limits};
use crate::packet::Packet;
use crate::pool::{Place, Pool};
use crate::shared::Crowded;
use crate::skip::Skip;
use crate::windows::Windows;
use crate::wire::{Line, Wire};
use crate::wiring::{Shortcuts, Wiring};
use accord_aqm::Ecn;
use accord_fluid::{Crowd, FluidError};
use accord_record::{Observer, Recorder, Stalls, Transfers};
use accord_scenario::{Event, Scenario, State};
use accord_transport::pcapng::Capture;
use accord_transport::{Datagrams, Receiver, Segment, Sender};
use accord_units::{Duration, Time};
use std::cmp::Reverse;

/// A run in progress.
pub(crate) struct Simulation<'a> {
    pub scenario: &'a Scenario,
    /// The present state of the network.
    pub state: State<'a>,
    pub now: Time,
    /// The end of the run, and the time at which counts are read next.
    pub limits: Limits,
    /// The time of the next sample.
    pub next_sample: Time,
    pub calendar: Calendar,
    pub wires: Vec<Wire>,
    pub pool: Pool,
    pub flows: Vec<Flow>,
    /// The time for which a `Wake` event of each flow is pending. They are apart from the flows, because
    /// all of them are looked at in every window.
    pub wakes: Vec<Time>,
    pub wiring: Wiring,
    /// What there is instead of the events of packets, in a run that needs none.
    pub windows: Option<Box<Windows>>,
    /// The present event of a sender, by which what it sends is ordered in a run with windows.
    pub cause: Cause,
    /// The time before which all replies to senders are known while they are handled in a window, or
    /// zero.
    pub known: Time,
    pub recorder: Recorder,
    pub transfers: Transfers,
    /// The bytes of each flow that are queued on its path. They are those sent by the time beside
    /// them. The vector is kept to be filled again.
    pub queued: Vec<(u64, Option<Time>)>,
    /// The flows that samples read, in any order.
    pub awake: Vec<u32>,
    pub digest: Digest,
    pub events: u64,
    /// The events of the scenario that are to come. At one time they happen in their order, which those of the
    /// calendar do not: a flow in a tunnel goes another way after its tunnel does.
    pub changes: std::slice::Iter<'a, Event>,
    /// When links hand packets over late, by link. Empty if none does.
    pub stalls: Vec<Option<&'a Stalls>>,
    /// What writes the packets down, if somebody wants them.
    pub tap: Option<Box<Capture>>,
    /// The flows that are a fluid.
    pub background: Option<Box<Crowded<'a>>>,
    /// What decides which time is skipped, if any may be.
    pub skip: Option<Box<Skip<'a>>>,
    /// The time that was skipped, by which the reported time is ahead of the engine's.
    pub ahead: Duration,
}

/// The number of events after which the observer is asked again.
const PROGRESS: u64 = 1 << 18;

impl<'a> Simulation<'a> {
    /// Creates a simulation before its start. `crowd` has the flows that are a fluid.
    pub fn new(
        scenario: &'a Scenario,
        crowd: Option<&'a Crowd<'a>>,
        shortcuts: Shortcuts,
    ) -> Result<Simulation<'a>, FluidError> {
        let end = scenario.end();
        let state = scenario.at(Time::ZERO);
        let mut flows: Vec<Flow> = (0..scenario.flows.len())
            .map(|id| Flow::new(id, &state))
            .collect();
        let shared = crowd.map_or(&[][..], Crowd::links);
        let mut wiring = Wiring::new(scenario, &mut flows, shared, shortcuts);
        let edges = wiring.tunnels.iter().map(|&flow| Wire::edge(flow));
        let windows = wiring.windows.take();
        let wires = (0..scenario.links.len())
            .map(|id| Wire::new(scenario, id, wiring.forms[id]))
            .chain(edges)
            .collect();
        let background = crowd.map(|crowd| Crowded::new(crowd, scenario.links.len()));
        let background = background.transpose()?;
        let mut simulation = Simulation {
            scenario,
            state,
            now: Time::ZERO,
            limits: Limits::new(end, Time::ZERO + scenario.sample),
            next_sample: Time::ZERO + scenario.sample,
            calendar: Calendar::new(end),
            wires,
            pool: Pool::new(),
            wakes: vec![Time::MAX; flows.len()],
            flows,
            wiring,
            windows,
            cause: Cause::new(Kind::Sample, 0),
            known: Time::ZERO,
            recorder: Recorder::new(scenario),
            transfers: Transfers::default(),
            queued: vec![(0, None); scenario.flows.len()],
            awake: Vec::new(),
            digest: Digest::new(scenario.seed),
            events: 0,
            changes: scenario.events.iter(),
            stalls: Vec::new(),
            tap: None,
            background: background.map(Box::new),
            skip: None,
            ahead: Duration::ZERO,
        };
        simulation.schedule_all();
        Ok(simulation)
    }

    /// Schedules the starts, stops and changes of the scenario.
    fn schedule_all(&mut self) {
        for (id, e) in self.scenario.events.iter().enumerate() {
            self.calendar.push(e.at, Kind::Change, id);
        }
        let packets = |(_, f): &(usize, &accord_scenario::Flow)| !f.is_fluid;
        for (id, f) in self.scenario.flows.iter().enumerate().filter(packets) {
            self.calendar.push(f.start, Kind::Start, id);
            if let Some(stop) = f.stop {
                self.calendar.push(stop, Kind::Stop, id);
            }
        }
        for (id, wire) in self.wires.iter().enumerate() {
            if let Some(at) = wire.next_timer() {
                match &mut self.windows {
                    Some(windows) => windows.set_timer(id, at),
                    None => self.calendar.push(at, Kind::Discipline, id),
                }
            }
        }
        self.calendar.push(self.next_sample, Kind::Sample, 0);
        self.show_fluid();
        self.await_fluid();
    }

    pub fn run(&mut self, observer: &mut dyn Observer) -> Result<(), SimError> {
        self.begin_to_watch();
        if observer.wants_packets() {
            let names = self.scenario.links.iter().map(|l| l.name.as_str());
            self.tap = Some(Box::new(Capture::new(names)));
        }
        if observer.wants_logs() {
            for flow in &mut self.flows {
                let idle = Sender::Datagrams(Datagrams::default());
                flow.sender = std::mem::replace(&mut flow.sender, idle).logged();
            }
        }
        while let Some((time, kind, index)) = self.calendar.pop() {
            // A flow that starts has no events before, and others meet its packets at links only. In a
            // run with windows all flows would be looked at for each that starts.
            let is_ahead = kind == Kind::Start && self.windows.is_some();
            if !is_ahead {
                self.advance(time, observer)?;
            }
            let before = self.now;
            debug_assert!(time >= before, "time never goes back");
            (self.now, self.cause) = (time, Cause::new(kind, index));
            self.events += 1;
            // The packet of the next event was touched milliseconds ago. It is fetched during this
            // event.
            if self.pool.is_large()
                && let Some((Kind::Arrive, link)) = self.calendar.peek()
            {
                self.pool.prepare(&self.wires[link].flying);
            }
            match kind {
                Kind::Arrive => self.arrive(index),
                Kind::Overtake => self.overtake(index),
                Kind::Wake => self.wake(index),
                Kind::Processed => self.processed(index),
                Kind::Sent => self.sent(index),
                Kind::Application => self.application(index),
                Kind::Start if self.scenario.flows[index].tunnel.is_some() => {
                    let application = self.state.application(index);
                    self.flows[index].session.start(application);
                    self.open(index);
                }
                Kind::Start => {
                    let application = self.state.application(index);
                    self.flows[index].session.start(application);
                    self.application(index);
                }
                Kind::Stop => {
                    wake_up(&mut self.flows, &mut self.awake, index);
                    let flow = &mut self.flows[index];
                    flow.session.stop();
                    flow.sender.stop();
                }
                Kind::Discipline => self.discipline(index),
                Kind::Change => self.change(),
                Kind::Fluid => self.step_fluid(),
                Kind::Watch => self.watch(),
                Kind::Sample => {
                    self.sample();
                    self.show_packets(observer);
                    observer.progress(self.reported(time))?;
                    if observer.wants_record() {
                        let (time, series) = self.recorder.clone().finish(self.scenario);
                        observer.recorded(time, series);
                    }
                    self.skip_steady();
                    self.next_sample = time + self.recorder.period();
                    self.calendar.push(self.next_sample, Kind::Sample, 0);
                    let reading = self.skip.as_ref().map_or(Time::MAX, |skip| skip.next());
                    self.limits = Limits::new(self.limits.end, self.next_sample.min(reading));
                    self.await_fluid();
                }
            }
            if is_ahead {
                self.now = before;
            } else if self.events.is_multiple_of(PROGRESS) {
                observer.progress(self.reported(time))?;
            }
        }
        // The end itself is a part of the run.
        self.advance(self.limits.end + Duration::from_ps(1), observer)?;
        self.now = self.limits.end;
        self.show_packets(observer);
        Ok(())
    }

    fn show_packets(&mut self, observer: &mut dyn Observer) {
        if let Some(tap) = &mut self.tap {
            observer.packets(&tap.take());
        }
        if observer.wants_logs() {
            for (id, flow) in self.flows.iter_mut().enumerate() {
                let records = flow.sender.take_log().unwrap_or_default();
                observer.log(id, &records);
            }
        }
    }

    /// Takes the first packet on a wire out of it.
    #[inline]
    fn arrive(&mut self, link: usize) {
        let flying = &mut self.wires[link].flying;
        let Some(place) = self.pool.pop(flying) else {
            return debug_assert!(false, "an event means a packet");
        };
        self.calendar.push(flying.time(), Kind::Arrive, link);
        let hop = self.wiring.hops[self.pool.packet(place).hop as usize];
        if hop.is_end() {
            self.deliver(place);
        } else {
            self.go(place, hop, self.now);
        }
    }

    /// Moves a packet that comes out now to those that come out in order. So it arrives as others do.
    #[cold]
    fn overtake(&mut self, link: usize) {
        let wire = &mut self.wires[link];
        let Line::Port(held) = &mut wire.line else {
            return;
        };
        if let Some(Reverse((at, _, place))) = held.loose.pop() {
            let hop = self.wiring.hops[self.pool.packet(place).hop as usize];
            self.fly(place, hop, Came { link, at });
        }
    }

    /// Puts a new packet at the first port of its path.
    #[inline(always)]
    fn send(&mut self, packet: Packet) {
        let hop = self.wiring.hops[packet.hop as usize];
        let place = self.pool.insert(packet);
        match &mut self.windows {
            Some(windows) if !hop.is_shortcut() => {
                windows.put(&mut self.pool, place, hop, self.now, self.cause);
            }
            _ => self.glide(place, hop, self.now),
        }
    }

    /// Moves a packet from the port of `hop` as far as it can go without an event.
    pub fn go(&mut self, mut place: Place, mut hop: Hop, mut at: Time) {
        'on: loop {
            let packet = self.pool.packet(place);
            let mut came;
            let mut early;
            loop {
                let link = hop.link();
                let wire = &mut self.wires[link];
                let sent = match &mut wire.line {
                    Line::Pipe(pipe) => pipe.offer(at, packet.bytes(), self.limits.end),
                    Line::Timeline(line) => {
                        let (line, dice) = &mut **line;
                        match line.offer(at, packet, &mut || dice.uniform()) {
                            Ok(departure) => departure,
                            Err(_) => return self.lost(place),
                        }
                    }
                    Line::Lane(lane) if lane.next().is_some_and(|next| next <= at) => {
                        self.clear(link, at);
                        continue 'on;
                    }
                    Line::Lane(lane) => match lane.offer(at, packet.bytes(), self.limits.end) {
                        Some(departure) => departure,
                        None => return lane.keep(place, packet),
                    },
                    Line::Port(held) => match held.pass(at, place, packet) {
                        Some(Ok(departure)) => match &mut self.windows {
                            Some(windows) if windows.gathers => {
                                return windows.gather(packet.flow, place, departure);
                            }
                            _ => departure,
                        },
                        Some(Err(_)) => return self.lost(place),
                        None => return self.enter(link, place),
                    },
                    Line::Calm(_) => unreachable!("it is in stretches only"),
                    Line::Express(_) => unreachable!("its arrivals are handled in windows"),
                    Line::Shared(_) => return self.share(link, place),
                    Line::Edge(_) => return self.board(link, place),
                };
                // The wires of these lose no packets. They hold none up: a run with stalls takes
                // no shortcuts, so that all its packets pass `leave`.
                at = sent + wire.delay;
                came = Came { link, at };
                (hop, early) = self.wiring.step(packet, &mut came, self.limits);
                at = came.at;
                if !early || hop.is_end() {
                    break;
                }
            }
            if early {
                let Some(answer) = self.deliver_ahead(place, at) else {
                    return;
                };
                place = answer;
                let packet = self.pool.packet(place);
                (hop, early) = (self.wiring).reach(&mut packet.hop, &mut came, self.limits);
                at = came.at;
            }
            if !early {
                return self.fly(place, hop, came);
            }
        }
    }

    /// Has a packet come out of a wire, where `hop` is next.
    #[inline(always)]
    fn fly(&mut self, place: Place, hop: Hop, came: Came) {
        let Came { link, at } = came;
        if let Some(windows) = &mut self.windows {
            // Nothing happens after the end of the run.
            if at <= self.limits.end {
                let cause = Cause::new(Kind::Arrive, link);
                windows.put(&mut self.pool, place, hop, at, cause);
            }
            return;
        }
        if (self.pool).push(&mut self.wires[link].flying, place, at) {
            self.calendar.push(at, Kind::Arrive, link);
        }
    }

    /// Has a packet go on that will be on the wire of `link` at `sent`, a wire that loses none and
    /// holds none up.
    #[inline(always)]
    pub fn depart(&mut self, link: usize, place: Place, sent: Time) {
        let came = self.leaves(link, sent);
        self.go_on(place, came);
    }

    /// Returns when a packet that is on a wire at `sent` comes out of it.
    #[inline(always)]
    pub fn leaves(&self, link: usize, sent: Time) -> Came {
        let at = sent + self.wires[link].delay;
        Came { link, at }
    }

    /// Moves a packet on that came out of a wire.
    #[inline(always)]
    fn go_on(&mut self, place: Place, mut came: Came) {
        let packet = self.pool.packet(place);
        match (self.wiring).step(packet, &mut came, self.limits) {
            (hop, false) => self.fly(place, hop, came),
            (hop, true) if hop.is_end() => self.turn_round(place, came),
            (hop, true) => self.go(place, hop, came.at),
        }
    }

    /// Moves a packet as `go` does, from the fused link of `hop`.
    #[inline(always)]
    fn glide(&mut self, place: Place, hop: Hop, at: Time) {
        match self.pass(place, hop, at) {
            Some(came) => self.glide_on(place, came),
            None => self.go(place, hop, at),
        }
    }

    /// Moves a packet on as `go_on` does, but through pipes and idle lanes without `go`, for which there
    /// are more forms of ports.
    #[inline(always)]
    pub fn glide_on(&mut self, place: Place, mut came: Came) {
        loop {
            let packet = self.pool.packet(place);
            match (self.wiring).step(packet, &mut came, self.limits) {
                (hop, false) => return self.fly(place, hop, came),
                (hop, true) if hop.is_end() => return self.turn_round(place, came),
                (hop, true) => match self.pass(place, hop, came.at) {
                    Some(next) => came = next,
                    None => return self.go(place, hop, came.at),
                },
            }
        }
    }

    /// Passes a packet through a pipe or a lane on which it does not wait.
    #[inline(always)]
    fn pass(&mut self, place: Place, hop: Hop, at: Time) -> Option<Came> {
        let link = hop.link();
        let (wire, size) = (&mut self.wires[link], self.pool.packet(place).bytes());
        let sent = match &mut wire.line {
            Line::Pipe(pipe) => pipe.offer(at, size, self.limits.end),
            Line::Lane(lane) if lane.next().is_none() => lane.offer(at, size, self.limits.end)?,
            _ => return None,
        };
        let at = sent + wire.delay;
        Some(Came { link, at })
    }

    /// Schedules the arrival of a packet that its port held. The packet will be on the wire of
    /// `link` at `sent`, and comes out of it not before `earliest`.
    pub fn leave(&mut self, link: usize, place: Place, sent: Time, earliest: Time) {
        let wire = &mut self.wires[link];
        let packet = self.pool.packet(place);
        if !wire.takes(packet) {
            return self.lost(place);
        }
        let at = (sent + wire.delay).max(earliest);
        let at = match self.stalls.get(link) {
            Some(Some(stalls)) => stalls.handed_over(at),
            _ => at,
        };
        self.go_on(place, Came { link, at });
    }

    #[cold]
    pub fn lost(&mut self, place: Place) {
        let packet = self.pool.remove(place);
        let (flows, awake) = (&mut self.flows, &mut self.awake);
        lose(flows, awake, &mut self.digest, self.now, &packet);
    }

    /// Delivers a packet ahead of time: the receiver is told now that it arrives at `at`.
    /// Returns the receiver's answer, which is at its first hop.
    #[inline]
    fn deliver_ahead(&mut self, place: Place, at: Time) -> Option<Place> {
        let packet = self.pool.packet(place);
        let id = packet.flow;
        let Segment::Data { number, sent } = packet.segment else {
            return self.deliver_control_ahead(place, at);
        };
        let flow = &mut self.flows[id as usize];
        let Receiver::Stream(r) = &mut flow.receiver else {
            self.take_in_apart(place, at);
            return None;
        };
        self.digest.data(at, id, number);
        let (fresh, ack) = r.on_data(number, sent, packet.ecn == Ecn::Marked);
        flow.deliver_later(self.limits.unread, at, sent, packet.size, fresh);
        *packet = flow.answer(id, ack);
        Some(place)
    }

    /// Delivers the data of a tunnel, or a datagram, ahead of time. There is no answer. Returns whether it
    /// was that.
    #[inline(always)]
    fn take_in(&mut self, place: Place, at: Time) -> bool {
        let packet = self.pool.packet(place);
        let Segment::Data { number, sent } = packet.segment else {
            return false;
        };
        let flow = &mut self.flows[packet.flow as usize];
        match &mut flow.receiver {
            Receiver::Stream(_) => return false,
            Receiver::Tunnel(r) => r.on_data(packet.bytes(), at),
            Receiver::Datagrams => {}
        }
        self.digest.data(at, packet.flow, number);
        flow.deliver_later(self.limits.unread, at, sent, packet.size, true);
        self.pool.remove(place);
        true
    }

    /// Does what `take_in` does, for those to whom it would be too much.
    #[inline(never)]
    fn take_in_apart(&mut self, place: Place, at: Time) {
        self.take_in(place, at);
    }

    /// Delivers a control packet of a tunnel ahead of time.
    #[inline(never)]
    fn deliver_control_ahead(&mut self, place: Place, at: Time) -> Option<Place> {
        let packet = self.pool.packet(place);
        self.digest.delivered(at, packet);
        let id = packet.flow;
        let flow = &mut self.flows[id as usize];
        match flow.receive(packet, at).reply {
            Some(reply) => {
                *packet = flow.answer(id, reply);
                Some(place)
            }
            None => {
                self.pool.remove(place);
                None
            }
        }
    }

    /// Delivers a packet to its endpoint.
    #[inline]
    pub fn deliver(&mut self, place: Place) {
        let packet = self.pool.remove(place);
        let id = packet.flow as usize;
        let now = self.now;
        let flow = &mut self.flows[id];
        match packet.segment {
            Segment::Ack { next, block, .. } => self.digest.ack(now, packet.flow, next, block),
            _ => self.digest.delivered(now, &packet),
        }
        if let Segment::Ack { .. } | Segment::Report { .. } = packet.segment {
            if flow.wake_up() {
                self.awake.push(packet.flow);
            }
            flow.sender.on_reply(&packet.segment, now);
            return self.pump(id);
        }
        let receipt = flow.receive(&packet, now);
        if let (Some(fresh), Segment::Data { sent, .. }) = (receipt.data, &packet.segment) {
            flow.deliver(fresh, packet.size, now.since(*sent));
        }
        let Some(reply) = receipt.reply else {
            return self.unload(&packet);
        };
        let reply = flow.answer(packet.flow, reply);
        self.send(reply);
    }

    /// Lets a sender send what it may, and sets its timer.
    #[inline]
    pub fn pump(&mut self, id: usize) {
        let sent = self.now;
        let again = match self.flows[id].sender.burst(sent) {
            Some(numbers) => {
                for number in numbers {
                    self.emit(id, Segment::Data { number, sent });
                }
                Time::MAX
            }
            None => self.pump_one_by_one(id),
        };
        let flow = &mut self.flows[id];
        let at = again.min(flow.sender.next_wake());
        if at < self.wakes[id] {
            self.wakes[id] = at;
            if self.windows.is_none() {
                self.calendar.push(at, Kind::Wake, id);
            }
        }
        if flow.session.is_transferring() && flow.sender.is_done() {
            self.transferred(id);
        }
    }

    /// Lets a sender send what it may. Returns the time at which to ask it again.
    #[inline(never)]
    fn pump_one_by_one(&mut self, id: usize) -> Time {
        let windows = self.windows.as_ref();
        let reply = windows.map_or(Time::ZERO, |windows| windows.replies[id].time());
        loop {
            let sent = self.now;
            let sender = &mut self.flows[id].sender;
            // What a gateway sends decides what it sends next. There is none in a run with windows.
            let paced = match sent < self.known {
                true => sender.paced(sent),
                false => None,
            };
            let again = if let Some((number, again)) = paced {
                self.emit(id, Segment::Data { number, sent });
                if again == sent {
                    continue;
                }
                again
            } else {
                match sender.poll(sent) {
                    Ok(segment) => {
                        self.emit_any(id, segment);
                        continue;
                    }
                    Err(again) if again >= sender.next_wake() => return again,
                    Err(again) => again,
                }
            };
            // Its wake-up at that time may be the next event of the sender, which only has to send.
            if again >= self.known || again > reply.min(self.wakes[id]) {
                return again;
            }
            (self.now, self.cause) = (again, Cause::new(Kind::Wake, id));
            self.wakes[id] = Time::MAX;
            self.events += 1;
        }
    }

    /// Sends a packet that is not known to be data.
    #[inline(never)]
    fn emit_any(&mut self, id: usize, segment: Segment) {
        self.emit(id, segment);
    }

    /// Sends a packet of a sender.
    #[inline(always)]
    fn emit(&mut self, id: usize, segment: Segment) {
        let flow = &mut self.flows[id];
        let data = matches!(segment, Segment::Data { .. });
        let (size, ecn) = match data {
            true => (flow.packet, flow.ecn),
            false => (flow.control, Ecn::NotCapable),
        };
        let mut packet = Packet {
            segment,
            flow: id as u32,
            hop: flow.path,
            size,
            ecn,
            aggregate: flow.aggregate,
        };
        let mut at = None;
        if data {
            if let Some(host) = &mut flow.host {
                host.load(&mut packet, &mut flow.sender, self.now);
                at = host.take(self.now);
            }
            flow.sent.add(packet.bytes());
            flow.remember(self.now);
        }
        match at {
            None => self.send(packet),
            Some(at) => self.process(packet, at),
        }
    }

    /// Moves a new packet as `go` does. Most hosts are at a pipe, for which all of `go` is too much.
    #[inline]
    fn set_out(&mut self, place: Place, hop: Hop, at: Time) {
        let link = hop.link();
        let Line::Pipe(pipe) = &mut self.wires[link].line else {
            return self.go(place, hop, at);
        };
        let sent = pipe.offer(at, self.pool.packet(place).bytes(), self.limits.end);
        self.depart(link, place, sent);
    }

    /// Delivers a packet ahead of time, and moves the answer as `go` does.
    #[inline(never)]
    fn turn_round(&mut self, place: Place, mut came: Came) {
        if self.take_in(place, came.at) {
            return;
        }
        let Some(place) = self.deliver_ahead(place, came.at) else {
            return;
        };
        let packet = self.pool.packet(place);
        match (self.wiring).reach(&mut packet.hop, &mut came, self.limits) {
            (hop, true) => self.go(place, hop, came.at),
            (hop, false) => self.fly(place, hop, came),
        }
    }

    /// Gives a new data packet to its host, which will be done with it at `at`.
    #[inline]
    fn process(&mut self, packet: Packet, at: Time) {
        let hop = self.wiring.hops[packet.hop as usize];
        let place = self.pool.insert(packet);
        // Nothing happens after the end of the run.
        if hop.is_shortcut() && at <= self.limits.end {
            return self.set_out(place, hop, at);
        }
        let id = packet.flow as usize;
        if let Some(windows) = &mut self.windows {
            if at <= self.limits.end {
                let cause = Cause::new(Kind::Processed, id);
                windows.put(&mut self.pool, place, hop, at, cause);
            }
            return;
        }
        if let Some(host) = &mut self.flows[id].host
            && host.hold(&mut self.pool, place, at)
        {
            self.calendar.push(at, Kind::Processed, id);
        }
    }

    /// Puts a packet that its host is done with at the first port of its path.
    fn processed(&mut self, id: usize) {
        let host = self.flows[id].host.as_deref_mut();
        let Some((place, next)) = host.and_then(|host| host.done(&mut self.pool)) else {
            return debug_assert!(false, "an event means a packet");
        };
        self.calendar.push(next, Kind::Processed, id);
        let hop = self.wiring.hops[self.pool.packet(place).hop as usize];
        self.go(place, hop, self.now);
    }

    pub fn wake(&mut self, id: usize) {
        // An earlier deadline was set after this one was scheduled, and has been handled.
        if self.wakes[id] != self.now {
            return;
        }
        self.wakes[id] = Time::MAX;
        self.flows[id].sender.on_wake(self.now);
        self.pump(id);
    }

    fn application(&mut self, id: usize) {
        wake_up(&mut self.flows, &mut self.awake, id);
        let flow = &mut self.flows[id];
        flow.session.heed(&flow.sender, self.now);
        let Some(step) = flow.session.act(self.now) else {
            return;
        };
        if step.new_connection {
            let f = &self.scenario.flows[id];
            let base_rtt = self.state.base_rtt(id);
            (flow.sender).reconnect(&f.controller, &f.service, base_rtt, self.now);
        }
        flow.sender.supply(step.supply);
        if let Some(span) = step.again {
            self.calendar.push(self.now + span, Kind::Application, id);
        }
        self.pump(id);
    }

    /// Ends a transfer: all that the application supplied is delivered.
    fn transferred(&mut self, id: usize) {
        let Some(done) = self.flows[id].session.end() else {
            return;
        };
        let took = self.now.since(done.start);
        let start = self.reported(done.start);
        (self.transfers).add(self.scenario, id, start, done.size, Some(took));
        if let Some(pause) = done.pause {
            self.calendar.push(self.now + pause, Kind::Application, id);
        }
    }
}

/// Has samples read a flow, to which something happens.
pub(crate) fn wake_up(flows: &mut [Flow], awake: &mut Vec<u32>, id: usize) {
    if flows[id].wake_up() {
        awake.push(id as u32);
    }
}

/// Counts a packet that is lost.
pub(crate) fn lose(
    flows: &mut [Flow],
    awake: &mut Vec<u32>,
    digest: &mut Digest,
    now: Time,
    packet: &Packet,
) {
    digest.lost(now, packet);
    wake_up(flows, awake, packet.flow as usize);
    let flow = &mut flows[packet.flow as usize];
    flow.losses += 1;
    if let Segment::Data { number, .. } = packet.segment {
        flow.data_lost.add(packet.bytes());
        // What was in a datagram is lost with it.
        if let Some(inner) = flow.gateway_mut().and_then(|g| g.unload(number)) {
            lose(flows, awake, digest, now, &inner);
        }
    }
}
