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
use crate::hop::Limits;
use crate::packet::Packet;
use crate::pool::Pool;
use crate::shared::Crowded;
use crate::skip::Skip;
use crate::windows::Windows;
use crate::wire::Wire;
use crate::wiring::{Shortcuts, Wiring};
use accord_fluid::{Crowd, FluidError};
use accord_record::{Observer, Recorder, Stalls, Transfers};
use accord_scenario::{Event, Scenario, State};
use accord_transport::pcapng::Capture;
use accord_transport::{Datagrams, Segment, Sender};
use accord_units::{Duration, Time};

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

/// The packets of a flow for which there is room, in a run with windows.
const ROOM: usize = 64;

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
        if simulation.windows.is_some() {
            // All of them send as long as the run lasts.
            let packets = ROOM * simulation.flows.len();
            simulation.pool.reserve(packets);
        }
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
