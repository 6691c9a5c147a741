//! Emulation: any program behind the links and queues of a scenario.
//!
//! Each network namespace has a TUN device, and its only way out leads to the others. One machine of the packet
//! engine has all links between them, and the scenario's own flows. A packet crosses the kernel twice, whatever the
//! number of links. The packets of a program are data of the flows that lead its way. A connection has one flow
//! each way. IPv4 and IPv6 packets pass unchanged, except for ECN marks.

mod connections;
mod ends;
pub mod guard;
mod listeners;
mod out;
mod program;

use self::connections::Connections;
use self::ends::{Connection, Place};
use self::listeners::Before;
use self::out::Door;
use self::program::{Program, pause};
use crate::achieved::Achieved;
use crate::collect::{Collector, Sample, digest};
use crate::connection;
use crate::deciders::{self, Deciders};
use crate::driver::Counters;
use crate::driver::kernel::Kernel;
use crate::fabric::make_room;
use crate::namespace::Namespace;
use crate::quality::quality;
use crate::quic::{self, Logs};
use crate::riders;
use crate::run::kernels;
use crate::thread::{LONGEST_WAIT, sharpen, used};
use crate::tun::Room;
use crate::{Carried, Emulated, LiveError, Programs, Way};
use accord_host::Clock;
use accord_host::offload::Coalescer;
use accord_record::{Manifest, Observer, Run, Statistics, Transfers};
use accord_scenario::{Engine, Entity, Flow, LinkId, Metric, Scenario, Window};
use accord_sim::{Machine, Order, Packet, Parcel, Whole};
use accord_transport::{View, ip as header};
use accord_units::{Duration, Time};
use nix::poll::{PollFd, PollFlags};
use std::collections::BTreeMap;
use std::io::Result as IoResult;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

/// The time from the end of the set-up to the start.
const NOTICE: Duration = Duration::from_ms(50);
/// The maximum number of packets read from a device before due events are handled.
const BATCH: usize = 64;
/// The longest wait for which a loop is cheaper than a wake-up.
const SHORT: Duration = Duration::from_us(8);
/// The least MTU of a device with IPv6, in bytes [RFC 8200 §5].
const LEAST_V6: u64 = 1280;
/// The maximum number of connections that have a flow of their own choice. Later ones are spread.
const MOST_CONNECTIONS: usize = 1 << 16;
/// The looks at a server after its command, before it is asked to end: half a second in all.
const GRACE: usize = 25;
/// The longest sample that an emulation awaits after its command.
const LONG: Duration = Duration::from_secs(1);
/// The time from the end of a sample until it is surely read.
const SETTLES: Duration = Duration::from_ms(20);
/// The looks at a program that was asked to end, before it is killed: a second in all, within which
/// its guard kills all that it has started.
const PATIENCE: usize = 50;

/// The connections between two ends, with their places among the flows.
type Places = BTreeMap<Connection, usize>;

/// The ends of the path, with the machine between them.
struct Emulator<'a> {
    scenario: &'a Scenario,
    machine: Machine<'a>,
    ends: &'a [Place],
    /// The way out at the second end, if there is one.
    door: Option<Door>,
    /// The writes of packets that are due, by end, and these packets.
    joined: Vec<Coalescer>,
    handed: Vec<Handed>,
    ways: &'a [Way],
    /// The places in `ways` of the ways from each end to each other one.
    way: Vec<Vec<usize>>,
    /// The ways of the flows of programs, by flow, and the places of their last links in the counters.
    of_flow: Vec<Option<(usize, usize)>>,
    /// The connections that were seen between two ends, the smaller first.
    places: BTreeMap<(usize, usize), Places>,
    /// The scenario's own connections of the kernel, if there are any.
    kernel: Option<Kernel<'a>>,
    clock: Clock,
    stop: &'a AtomicBool,
    samples: mpsc::Sender<Sample>,
    counters: Counters,
    carried: Vec<Carried>,
    connections: Connections,
}

/// A packet that is due at the end of a program.
struct Handed {
    /// The write of the end's device that it is part of.
    write: usize,
    end: usize,
    /// The place of its last link in the counters, and the time at which it was due.
    link: usize,
    due: Time,
    packet: Packet,
    connection: Option<Connection>,
    length: usize,
}

/// The result of moving packets.
struct Moved {
    counters: Counters,
    /// The time.
    at: Time,
    /// The rest of the capture.
    captured: Vec<u8>,
    carried: Vec<Carried>,
    connections: Connections,
}

impl<'a> Emulator<'a> {
    /// Moves packets until it is stopped.
    fn run(mut self) -> IoResult<Moved> {
        self.counters.first = sharpen();
        if self.door.is_some() {
            // The sockets of the way out are opened there.
            self.ends[1].namespace.enter()?;
        }
        let mut room = Room::new();
        self.clock.wait_for_start(|| self.stop.load(Ordering::Relaxed));
        let end = self.scenario.end();
        let poll = |end: &'a Place| PollFd::new(end.device.as_fd(), PollFlags::POLLIN);
        let mut polls: Vec<_> = self.ends.iter().map(poll).collect();
        let poller = self.kernel.as_ref().map(Kernel::poller);
        polls.extend(poller.iter().map(|poller| PollFd::new(poller.0.as_fd(), PollFlags::POLLIN)));
        while self.machine.now() < end && !self.stop.load(Ordering::Relaxed) {
            let due = self.machine.next_effect().min(end);
            if due.since(self.clock.now()) <= SHORT {
                while self.clock.now() < due {
                    std::hint::spin_loop();
                }
            }
            self.clock.wait(due, LONGEST_WAIT, &mut polls);
            self.advance(self.clock.now().min(end));
            self.hand_over();
            for (end, poll) in polls.iter().enumerate() {
                match &mut self.kernel {
                    _ if poll.any() == Some(false) => {}
                    Some(kernel) if end == self.ends.len() => {
                        kernel.serve(&mut self.machine, &mut room)?;
                    }
                    _ => self.take_in(end, &mut room)?,
                }
                self.hand_over();
            }
            for mut part in self.machine.parts() {
                // The windows of a program are not known.
                let sources =
                    part.sources.iter_mut().filter(|(flow, _)| self.of_flow[*flow].is_some());
                sources.for_each(|(_, reading)| reading.view = View::default());
                if let Some(kernel) = &mut self.kernel {
                    kernel.fill_in(&mut part);
                }
                // The collector is gone after an interruption.
                let _ = self.samples.send((part, self.machine.captured()));
            }
        }
        let at = self.machine.now();
        if let Some(kernel) = &mut self.kernel {
            self.counters.broken = kernel.broken();
        }
        (self.counters.cpu, self.counters.system) = used();
        let captured = self.machine.captured();
        let tally = self.machine.finish();
        self.counters.broken_off = tally.broken;
        self.counters.transfers = tally.transfers;
        self.counters.hops = tally.hops;
        self.counters.steps = tally.steps;
        // The kernel loses none that it takes.
        self.counters.taken = self.counters.handed + self.counters.refused;
        let Emulator { counters, carried, connections, .. } = self;
        Ok(Moved { counters, at, captured, carried, connections })
    }

    /// Handles all events up to `to`, and hands over what arrives at an end, each at its time.
    fn advance(&mut self, to: Time) {
        loop {
            let next = self.machine.next_effect();
            let due = next.min(to);
            self.machine.advance(due);
            for order in self.machine.orders() {
                match order {
                    Order::Deliver(parcel) if self.is_of_program(&parcel) => {
                        self.deliver(parcel, due);
                    }
                    // Other orders for the flows of programs have no effect.
                    order => {
                        if let Some(kernel) = &mut self.kernel {
                            self.counters.refused += kernel.carry_out(order, &mut self.machine);
                        }
                    }
                }
            }
            if let Some(kernel) = &self.kernel {
                kernel.look_at_transfers(&mut self.machine);
            }
            if next > to {
                break;
            }
        }
    }

    fn is_of_program(&self, parcel: &Parcel) -> bool {
        self.of_flow[parcel.packet.flow as usize].is_some()
    }

    /// Takes a packet that is due at the end of a program, for [`hand_over`](Self::hand_over).
    fn deliver(&mut self, parcel: Parcel, due: Time) {
        let flow = parcel.packet.flow as usize;
        let Some((way, link)) = self.of_flow[flow] else {
            return;
        };
        let end = self.ways[way].to;
        let packet = parcel.packet;
        let mut bytes = parcel.bytes.unwrap_or_default();
        let mut whole = header::exit(&mut bytes, packet.tos_of_whole());
        let connection = read(&bytes).map(|(_, connection)| connection);
        if end == 1
            && let Some(door) = &mut self.door
        {
            whole &= door.admits(&bytes);
        }
        self.machine.taken(flow, packet.bytes(), true);
        if !whole {
            self.counters.refused += 1;
            return;
        }
        if self.joined[end].is_full() {
            self.hand_over();
        }
        let (write, length) = (self.joined[end].push(&bytes), bytes.len());
        self.handed.push(Handed { write, end, link, due, packet, connection, length });
    }

    /// Writes the packets that are due to the devices of their ends.
    fn hand_over(&mut self) {
        if self.handed.is_empty() {
            return;
        }
        let ends = self.ends.iter().zip(&mut self.joined);
        let taken: Vec<Vec<bool>> = ends
            .map(|(end, joined)| {
                let mut taken = Vec::new();
                end.device.send_joined(joined, |is_taken| taken.push(is_taken));
                taken
            })
            .collect();
        let now = self.clock.now();
        for Handed { write, end, link, due, packet, connection, length } in self.handed.drain(..) {
            let is_taken = taken[end][write];
            *(if is_taken { &mut self.counters.handed } else { &mut self.counters.refused }) += 1;
            if let (true, Some(connection), Some(entered)) = (is_taken, connection, packet.sent()) {
                let (marked, delay) = (packet.is_marked(), now.since(entered));
                self.connections.delivered(connection, length, marked, delay);
            }
            let (link, achieved) = &mut self.counters.links[link];
            achieved.released(due, now, packet.bytes(), self.machine.rate(*link));
        }
    }

    /// Puts the packets of a program into the first port of their way.
    fn take_in(&mut self, end: usize, room: &mut Room) -> IoResult<()> {
        let device = &self.ends[end].device;
        let mut count = 0;
        while count < BATCH {
            let any = device.receive(room, |bytes| {
                count += 1;
                self.enter(end, bytes);
            })?;
            if !any {
                break;
            }
        }
        Ok(())
    }

    /// Puts a packet of a program into the first port of its way.
    fn enter(&mut self, end: usize, bytes: &[u8]) {
        let Some((tos, connection)) = read(bytes) else {
            return;
        };
        let (tos, flow) = (header::entry(tos), self.flow(end, connection));
        self.connections.sent(connection, flow, bytes.len());
        self.advance(self.clock.now());
        self.machine.send(flow, 0, &Whole { tos, is_data: true, bytes });
        let (carried, now) = (&mut self.carried[flow], self.machine.now());
        if carried.packets == 0 {
            carried.first = now;
        }
        carried.last = now;
        carried.packets += 1;
        carried.bytes += bytes.len() as u64;
    }

    /// Returns the flow of a connection. Connections take turns among the flows.
    fn flow(&mut self, from: usize, (protocol, mut hosts): Connection) -> usize {
        let [_, (to, _)] = hosts;
        // Addresses beyond the ends are behind the second end, or seen from there behind the first.
        let beyond = usize::from(from != 1);
        let to = self.ends.iter().position(|end| end.address.is(to)).unwrap_or(beyond);
        let way = if to == from { self.way[from][beyond] } else { self.way[from][to] };
        let flows = &self.ways[way].flows;
        if flows.len() == 1 {
            return flows[0];
        }
        // Both directions of a connection have the same place.
        if from > to {
            hosts.swap(0, 1);
        }
        let places = self.places.entry((from.min(to), from.max(to))).or_default();
        let next = places.len();
        if next >= MOST_CONNECTIONS {
            places.clear();
        }
        flows[*places.entry((protocol, hosts)).or_insert(next) % flows.len()]
    }
}

/// Returns the octet of DSCP and ECN of a packet, and its connection, with the sender first. Returns `None` for
/// packets other than IPv4 and IPv6, and for multicast, by which kernels look for routers. The parts of a
/// datagram have one connection, without ports, since only the first part has them.
fn read(bytes: &[u8]) -> Option<(u8, Connection)> {
    let packet = header::Packet::new(bytes)?;
    let [from, to] = [packet.source, packet.destination];
    let ports = if packet.is_fragment { [0, 0] } else { packet.ports() };
    let ends = [(from, ports[0]), (to, ports[1])];
    (!to.is_multicast()).then_some((packet.tos, (packet.protocol.0, ends)))
}

/// Runs programs over a scenario for [`crate::emulate`].
pub fn emulate(
    written: &Scenario,
    ways: &[Way],
    programs: &Programs,
    observer: &mut dyn Observer,
) -> Result<Emulated, LiveError> {
    let [first, far, ..] = &programs.ends[..] else { panic!("an emulation has two ends") };
    let scenario = &*riders::on_real_hosts(written);
    check(scenario)?;
    let mtu = scenario.flows[ways[0].flows[0]].packet.get();
    let leads_out = far.line.is_none() && far.join.is_none();
    let [v4, v6] = if leads_out { ends::reached() } else { [false; 2] };
    let versions = [v4, v6 && mtu >= LEAST_V6];
    let places = &ends::open(programs, mtu, versions)?[..];
    let (opened, out) = mpsc::channel();
    // A name server that only this host reaches is at the address of the far end.
    let local = ends::resolver().filter(|address| leads_out && address.is_loopback());
    let resolver = local.map(|_| places[1].address.v4.into());
    let door = match leads_out {
        true => Some(Door::new(places, versions, local, opened)?),
        false => None,
    };
    let names = programs.ends.iter().zip(places);
    let names = names.map(|(end, place)| (end.name.clone(), place.address));
    // A node may have this name.
    let names: Vec<_> =
        std::iter::once(("server".to_string(), places[1].address)).chain(names).collect();
    let program = |(end, line): (usize, &Vec<_>)| {
        let place = &places[end].namespace;
        Program::new(place, &programs.guard, line, &names, end > 0, resolver)
    };
    let command = first.line.as_ref().map(|line| program((0, line)));
    let others = programs.ends.iter().enumerate().skip(1);
    let others = others.filter_map(|(end, of)| Some((end, of.line.as_ref()?)));
    let servers: Vec<_> = others.map(|(end, line)| (end, program((end, line)))).collect();
    let mut machine = machine(scenario)?;
    if observer.wants_packets() {
        machine.keep_packets();
    }
    let (links, of_flow) = places_of(scenario, ways);
    // The source and the sink of a connection are in different namespaces.
    let inside = [Namespace::new()?, Namespace::new()?];
    let own = scenario.flows.iter().zip(&of_flow).filter(|(_, way)| way.is_none());
    let own = || own.clone().map(|(flow, _)| flow);
    let mut deciders = Deciders::start(own())?;
    make_room(scenario, 0)?;
    if door.is_some() {
        out::make_room();
    }
    let between_own = |flow: usize| of_flow[flow].is_none().then_some((&inside[0], &inside[1]));
    let mut connections = connection::ends(scenario, between_own, &deciders)?;
    let nodes: Vec<_> = (0..scenario.nodes.len()).collect();
    let kernel = Kernel::of(scenario, &nodes, &mut connections)
        .map_err(|e| LiveError::system("listen to connections", e))?;
    let connected = kernels(own());
    let before = servers.iter().map(|(end, server)| Before::new(&places[*end].namespace, server));
    let before: Vec<_> = before.collect::<Result<_, _>>()?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let leading = door.is_some().then(|| scope.spawn(|| out::serve(out, &stop)));
        let serving: Vec<_> =
            servers.iter().map(|(_, server)| scope.spawn(|| server.run())).collect();
        let is_early = listeners::await_new(before, || observer.progress(Time::ZERO).is_err());
        if is_early {
            stop.store(true, Ordering::Relaxed);
        }
        let clock = Clock::starting_in(NOTICE);
        let (samples, collected) = mpsc::channel();
        let emulator = Emulator {
            scenario,
            machine,
            ends: places,
            door,
            joined: places.iter().map(|place| place.device.coalescer()).collect(),
            handed: Vec::new(),
            ways,
            way: between(ways, places.len()),
            of_flow,
            places: BTreeMap::new(),
            kernel,
            clock,
            stop: &stop,
            samples,
            counters: Counters { links, ..Counters::default() },
            carried: vec![Carried::default(); scenario.flows.len()],
            connections: Connections::default(),
        };
        let moving = scope.spawn(|| {
            let moved = emulator.run();
            stop.store(true, Ordering::Relaxed);
            moved
        });
        let (stop, servers) = (&stop, &servers);
        let serves = move || servers.iter().any(|(_, server)| !server.has_ended());
        let running = scope.spawn({
            let command = command.as_ref();
            move || {
                clock.wait_for_start(|| stop.load(Ordering::Relaxed));
                let status = match command {
                    Some(command) if !stop.load(Ordering::Relaxed) => command.run(),
                    _ => {
                        while !stop.load(Ordering::Relaxed) {
                            pause();
                        }
                        Ok(ExitStatus::from_raw(0))
                    }
                };
                let ended = sample_with(scenario, clock.now());
                let early: Vec<bool> =
                    servers.iter().map(|(_, server)| server.has_ended()).collect();
                // The server ends by itself, if it is of that kind, and connections are closed.
                for look in 0.. {
                    let waits = look < GRACE && serves();
                    let is_over = clock.now() > ended + SETTLES && !waits;
                    if stop.load(Ordering::Relaxed) || is_over {
                        break;
                    }
                    pause();
                }
                stop.store(true, Ordering::Relaxed);
                status.map(|status| (status, ended, early))
            }
        });
        let mut collector = Collector::new(scenario, 1);
        let interrupted = collector.listen(&collected, &Logs::default(), observer).is_err();
        stop.store(true, Ordering::Relaxed);
        let moved = moving.join();
        // The server, and on an interruption the command, are left.
        for look in 0.. {
            if running.is_finished() && !serves() {
                break;
            }
            let others = servers.iter().map(|(_, server)| server);
            command.iter().chain(others).for_each(|program| program.end(look >= PATIENCE));
            pause();
        }
        let status = running.join();
        let served: Vec<_> = serving.into_iter().map(|serving| serving.join()).collect();
        drop(leading.map(|leading| leading.join()));
        if is_early {
            return Err(LiveError::Interrupted);
        }
        let Moved { counters, at, captured, carried, connections } = match moved {
            Ok(moved) => moved.map_err(|e| LiveError::system("move packets", e))?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        observer.packets(&captured);
        let (status, ended, early) = match status {
            Ok(status) => status?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let mut failed = Vec::new();
        for ((served, is_early), (end, _)) in served.into_iter().zip(early).zip(servers) {
            let Ok(status) = served else { continue };
            failed.extend(failed_early(&programs.ends[*end].name, status?, is_early));
        }
        let how = ends::described(&programs.ends);
        let times = [ended.min(at), at];
        let (scenario, mut run) = record(written, ways, collector, &counters, &how, times);
        run.notes.extend(connected);
        let (notes, unfit) = deciders::notes(&deciders.finish()?);
        run.notes.extend(notes);
        run.notes.extend(failed);
        if at >= written.end() {
            let longest = written.duration;
            run.notes.push(format!("the emulation was ended after {longest}, the longest"));
        }
        run.unfit = run.unfit.or(unfit);
        let connections = connections.finish();
        Ok(Emulated { scenario, run, carried, connections, status, interrupted })
    })
}

/// Returns the note on a server that failed before the command ended. A server of one connection may end before
/// it, with success.
fn failed_early(node: &str, status: ExitStatus, is_early: bool) -> Option<String> {
    let code = status.code().unwrap_or(1);
    let note = || {
        format!("the server at {node} ended with exit code {code} before the end of the command")
    };
    (is_early && code != 0).then(note)
}

/// Returns the end of the sample in which the command ended: means are over whole samples. If samples are long,
/// returns the end of the command.
fn sample_with(scenario: &Scenario, ended: Time) -> Time {
    let sample = scenario.sample;
    let count = ended.as_ps().div_ceil(sample.as_ps().max(1));
    if sample > LONG { ended } else { Time::ZERO + sample * count }
}

/// Returns the places of the ways from each end to each other one.
fn between(ways: &[Way], ends: usize) -> Vec<Vec<usize>> {
    let place = |from: usize, to: usize| {
        let place = ways.iter().position(|way| (way.from, way.to) == (from, to));
        // Nothing is sent from an end to itself.
        if from == to { 0 } else { place.expect("there is a way between all ends") }
    };
    (0..ends).map(|from| (0..ends).map(|to| place(from, to)).collect()).collect()
}

/// The last links of all ways with their measurements, and by flow its way and the place of its last link.
type LastLinks = (Vec<(LinkId, Achieved)>, Vec<Option<(usize, usize)>>);

/// Returns the last links of all ways.
fn places_of(scenario: &Scenario, ways: &[Way]) -> LastLinks {
    let mut links: Vec<(LinkId, Achieved)> = Vec::new();
    let mut of_flow = vec![None; scenario.flows.len()];
    for (number, way) in ways.iter().enumerate() {
        for flow in &way.flows {
            let last = *scenario.flows[*flow].path.last().expect("never empty");
            let place = links.iter().position(|(link, _)| *link == last).unwrap_or_else(|| {
                links.push((last, Achieved::default()));
                links.len() - 1
            });
            of_flow[*flow] = Some((number, place));
        }
    }
    (links, of_flow)
}

/// Rejects flows that do not fit into the one machine.
fn check(scenario: &Scenario) -> Result<(), LiveError> {
    let tunnelled = scenario.flows.iter().find(|f| f.tunnel.is_some() || f.through.is_some());
    let why = |flow: &Flow| {
        let name = &flow.name;
        format!("flow {name} is a tunnel, or in one, which an emulation does not run")
    };
    tunnelled.map_or(Ok(()), |flow| Err(LiveError::Scenario(why(flow))))
}

/// Returns the machine with all nodes, and the QUIC stacks in it.
fn machine(scenario: &Scenario) -> Result<Machine<'_>, LiveError> {
    let nodes: Vec<_> = (0..scenario.nodes.len()).collect();
    let mut machine = Machine::new(scenario, &nodes);
    for (flow, ends) in quic::ends(scenario, &Logs::default())?.into_iter().enumerate() {
        for (end, carried) in ends.into_iter().flatten().enumerate() {
            machine.connect(flow, end, carried);
        }
    }
    Ok(machine)
}

/// Returns the scenario at its actual length, and its run. Its steady part is that of the scenario, if it states
/// one, or all until the end of the command. `how` names the ends.
fn record(
    scenario: &Scenario,
    ways: &[Way],
    collector: Collector,
    counters: &Counters,
    how: &str,
    [ended, at]: [Time; 2],
) -> (Scenario, Run) {
    let (time, mut series) = collector.finish();
    // Only a program's kernel counts its retransmissions.
    let of_program = |entity: Entity| {
        let mut flows = ways.iter().flat_map(|way| &way.flows);
        flows.any(|flow| entity == Entity::Flow(*flow))
    };
    let unknown = series.iter_mut().filter(|s| s.metric == Metric::Retransmissions);
    unknown.filter(|s| of_program(s.entity)).for_each(|s| s.values.fill(f64::NAN));
    let mut scenario = scenario.clone();
    let before = scenario.steady;
    // One that the scenario states ends before the longest emulation. Otherwise it is the second half of that.
    let is_stated = before.end < scenario.end() && before.start < ended;
    let steady = match is_stated {
        true => Window { start: before.start, end: before.end.min(ended) },
        false => Window { start: Time::ZERO, end: ended },
    };
    scenario.duration = at.since_start();
    scenario.steady = steady;
    for expectation in &mut scenario.expectations {
        if expectation.during == before {
            expectation.during = steady;
        }
    }
    let mut quality = quality(&scenario, std::slice::from_ref(counters));
    let priority = if counters.first { "real-time" } else { "ordinary" };
    let how = format!("packets between {how}, moved by a thread of {priority} priority");
    quality.notes.insert(0, how);
    let mut transfers = Transfers::default();
    transfers.merge(counters.transfers.clone());
    let (transfers, note) = transfers.finish();
    quality.notes.extend(note);
    let digest = digest(scenario.seed, &time, &series);
    let run = Run {
        transfers,
        statistics: Statistics { packet_hops: counters.hops, steps: counters.steps },
        notes: quality.notes,
        unfit: quality.unfit,
        broken: counters.broken_off.clone(),
        ..Run::new(Manifest::new(Engine::Live, &scenario, digest), time, series)
    };
    (scenario, run)
}
