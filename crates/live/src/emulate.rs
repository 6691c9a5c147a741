//! Emulation: a program of others behind the links and queues of a scenario.
//!
//! Two network namespaces have a TUN device each, and the only way out of one leads into the other. All
//! links between them stand in one machine of the packet engine, with the scenario's own flows. A packet
//! crosses the kernel twice, whatever the number of links. The packets of a program are data of the flows
//! that lead its way; a connection has one flow each way. Packets of IPv4 and IPv6
//! pass unchanged, except for marks of ECN.

mod ends;
pub mod guard;
mod out;
mod program;

use self::ends::{Connection, Ends};
use self::out::Door;
use self::program::Program;
use crate::achieved::Achieved;
use crate::collect::{Collector, Sample, digest};
use crate::driver::Counters;
use crate::namespace::Namespace;
use crate::quality::quality;
use crate::quic;
use crate::thread::{LONGEST_WAIT, sharpen, used};
use crate::tun::Tun;
use crate::{Emulated, LiveError, Programs};
use accord_host::Clock;
use accord_record::{Manifest, Observer, Run, Statistics, Transfers};
use accord_scenario::{Carrier, Engine, LinkId, Scenario, Window};
use accord_sim::{Machine, Order, Parcel, Whole};
use accord_transport::{View, ip as header};
use accord_units::{Duration, Time};
use nix::poll::{PollFd, PollFlags};
use std::collections::BTreeMap;
use std::io::Result as IoResult;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration as Wait;

/// The time from the end of the set-up to the start.
const NOTICE: Duration = Duration::from_ms(50);
/// The maximum number of packets read from a device before due events are handled.
const BATCH: usize = 64;
/// The longest packet of IP, in bytes.
const LONGEST: usize = 1 << 16;
/// The maximum number of connections that have a flow of their own choice. Later ones are spread.
const MOST_CONNECTIONS: usize = 1 << 16;
/// The time between two looks at a program.
const LOOK: Wait = Wait::from_millis(20);
/// Looks at a server that does not listen yet: two seconds.
const LOOKS: usize = 100;
/// Looks at a server after its command, before it is asked to end: half a second.
const GRACE: usize = 25;
/// Looks at a program that was asked to end, before it is killed: a second, within which its guard
/// kills all that it has started.
const PATIENCE: usize = 50;

/// The ends of the path, with the machine between them.
struct Emulator<'a> {
    scenario: &'a Scenario,
    machine: Machine<'a>,
    /// The namespaces and devices of the client and of the server.
    ends: &'a Ends,
    /// The way out at the server's end, if there is one.
    door: Option<Door>,
    /// The flows from the client to the server, and those back.
    ways: &'a [Vec<usize>; 2],
    /// The places in `ways` of the connections that were seen.
    places: BTreeMap<Connection, usize>,
    /// The last links of both ways, by their places in the counters.
    last: [usize; 2],
    clock: Clock,
    stop: &'a AtomicBool,
    samples: mpsc::Sender<Sample>,
    counters: Counters,
}

impl Emulator<'_> {
    /// Moves packets until it is stopped. Returns the time at which it was, and the rest of the capture.
    fn run(mut self) -> IoResult<(Counters, Time, Vec<u8>)> {
        self.counters.first = sharpen();
        if self.door.is_some() {
            // The sockets of the way out are opened there.
            self.ends.places[1].enter()?;
        }
        let mut buffer = vec![0; LONGEST];
        self.clock.wait_for_start(|| self.stop.load(Ordering::Relaxed));
        let end = self.scenario.end();
        while self.machine.now() < end && !self.stop.load(Ordering::Relaxed) {
            let due = self.machine.next_effect().min(end);
            let ready = {
                let poll = |tun| PollFd::new(Tun::as_fd(tun), PollFlags::POLLIN);
                let mut polls = [poll(&self.ends.devices[0]), poll(&self.ends.devices[1])];
                self.clock.wait(due, LONGEST_WAIT, &mut polls);
                [0, 1].map(|end| polls[end].any() != Some(false))
            };
            self.advance(self.clock.now().min(end));
            for way in [0, 1] {
                if ready[way] {
                    self.take_in(way, &mut buffer)?;
                }
            }
            for mut part in self.machine.parts() {
                // The windows of a program are not known.
                let of_programs = |flow: &usize| self.ways.iter().flatten().any(|f| f == flow);
                let sources = part.sources.iter_mut().filter(|(flow, _)| of_programs(flow));
                sources.for_each(|(_, reading)| reading.view = View::default());
                // The collector is gone after an interruption.
                let _ = self.samples.send((part, self.machine.captured()));
            }
        }
        let at = self.machine.now();
        (self.counters.cpu, self.counters.system) = used();
        let captured = self.machine.captured();
        let tally = self.machine.finish();
        self.counters.broken_off = tally.broken;
        self.counters.transfers = tally.transfers;
        self.counters.hops = tally.hops;
        self.counters.steps = tally.steps;
        // The kernel loses none that it takes.
        self.counters.taken = self.counters.handed + self.counters.refused;
        Ok((self.counters, at, captured))
    }

    /// Handles all events up to `to`, and hands over what arrives at an end, each at its time.
    fn advance(&mut self, to: Time) {
        loop {
            let due = self.machine.next_effect().min(to);
            self.machine.advance(due);
            for order in self.machine.orders() {
                // The applications of these flows are the programs.
                if let Order::Deliver(parcel) = order {
                    self.deliver(&parcel, due);
                }
            }
            if due == to && self.machine.next_effect() > to {
                break;
            }
        }
    }

    /// Hands a packet over to the program at its end.
    fn deliver(&mut self, parcel: &Parcel, due: Time) {
        let flow = parcel.packet.flow as usize;
        let Some(way) = self.ways.iter().position(|flows| flows.contains(&flow)) else {
            return;
        };
        let mut bytes = parcel.bytes.clone().unwrap_or_default();
        let mut whole = header::exit(&mut bytes, parcel.packet.tos_of_whole());
        if way == 0
            && let Some(door) = &mut self.door
        {
            whole &= read(&bytes, way).is_some_and(|(_, c)| door.admits(&bytes, &c));
        }
        let taken = whole && self.ends.devices[1 - way].send(&bytes).unwrap_or(false);
        if taken {
            self.counters.handed += 1;
        } else {
            self.counters.refused += 1;
        }
        self.machine.taken(flow, parcel.packet.bytes(), true);
        let (link, achieved) = &mut self.counters.links[self.last[way]];
        let rate = self.machine.rate(*link);
        achieved.released(due, self.clock.now(), parcel.packet.bytes(), rate);
    }

    /// Puts the packets of a program into the first port of its way.
    fn take_in(&mut self, way: usize, buffer: &mut [u8]) -> IoResult<()> {
        for _ in 0..BATCH {
            let Some(length) = self.ends.devices[way].receive(buffer)? else {
                break;
            };
            let bytes = &buffer[..length];
            let Some((tos, connection)) = read(bytes, way) else {
                continue;
            };
            let (tos, flow) = (header::entry(tos), self.flow(way, connection));
            self.advance(self.clock.now());
            self.machine.send(flow, 0, &Whole { tos, is_data: true, bytes });
        }
        Ok(())
    }

    /// Returns the flow of a connection. They take turns.
    fn flow(&mut self, way: usize, connection: Connection) -> usize {
        let flows = &self.ways[way];
        if flows.len() == 1 {
            return flows[0];
        }
        let next = self.places.len();
        if next >= MOST_CONNECTIONS {
            self.places.clear();
        }
        flows[*self.places.entry(connection).or_insert(next) % flows.len()]
    }
}

/// Returns the octet of DSCP and ECN of a packet, and its connection. Packets of neither IPv4 nor IPv6 have
/// none, nor have those to groups, by which kernels look for routers.
fn read(bytes: &[u8], way: usize) -> Option<(u8, Connection)> {
    let (tos, [from, to], (protocol, ports)) = match header::Ipv4Packet::new(bytes) {
        Some(packet) => {
            let (from, to) = packet.ends();
            (packet.tos(), [IpAddr::from(from), to.into()], packet.connection())
        }
        None => {
            let packet = header::Ipv6Packet::new(bytes)?;
            (packet.tos(), packet.ends().map(IpAddr::from), packet.connection())
        }
    };
    let mut ends = [(from, ports[0]), (to, ports[1])];
    if way == 1 {
        ends.swap(0, 1);
    }
    (!to.is_multicast()).then_some((tos, (protocol, ends)))
}

/// Runs programs over a scenario for [`crate::emulate`].
pub fn emulate(
    scenario: &Scenario,
    ways: &[Vec<usize>; 2],
    programs: &Programs,
    observer: &mut dyn Observer,
) -> Result<Emulated, LiveError> {
    check(scenario, ways)?;
    let mtu = scenario.flows[ways[0][0]].packet.get();
    let leads_out = programs.server.is_none() && programs.join[1].is_none();
    let versions = if leads_out { ends::reached() } else { [false; 2] };
    let ends = Ends::new(programs, mtu, versions)?;
    let places = &ends.places;
    let (opened, out) = mpsc::channel();
    // A name server that only this host reaches is at the address of the far end.
    let local = ends::resolver().filter(|address| leads_out && address.is_loopback());
    let resolver = local.map(|_| ends.addresses.server().0);
    let door = match leads_out {
        true => Some(Door::new(&ends, versions, local, opened)?),
        false => None,
    };
    let program = |end: usize, line: &Vec<_>| {
        let (server, lasts) = (ends.addresses.server(), end == 1);
        Program::new(&places[end], &programs.guard, line, server, lasts, resolver)
    };
    let command = programs.command.as_ref().map(|line| program(0, line));
    let server = programs.server.as_ref().map(|line| program(1, line));
    let mut machine = machine(scenario)?;
    if observer.wants_packets() {
        machine.keep_packets();
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let leading = door.is_some().then(|| scope.spawn(|| out::serve(out, &stop)));
        let serving = server.as_ref().map(|server| {
            let serving = scope.spawn(|| server.run());
            await_listener(&places[1], || server.has_ended());
            serving
        });
        let clock = Clock::starting_in(NOTICE);
        let (samples, collected) = mpsc::channel();
        let mut emulator = Emulator {
            scenario,
            machine,
            ends: &ends,
            door,
            ways,
            places: BTreeMap::new(),
            last: [0, 1],
            clock,
            stop: &stop,
            samples,
            counters: Counters::default(),
        };
        let last = |way: usize| *scenario.flows[ways[way][0]].path.last().expect("never empty");
        emulator.counters.links =
            [last(0), last(1)].map(|link: LinkId| (link, Achieved::default())).into();
        let moving = scope.spawn(|| {
            let moved = emulator.run();
            stop.store(true, Ordering::Relaxed);
            moved
        });
        let (stop, server) = (&stop, server.as_ref());
        let serves = move || server.is_some_and(|server| !server.has_ended());
        let running = scope.spawn({
            let command = command.as_ref();
            move || {
                clock.wait_for_start(|| stop.load(Ordering::Relaxed));
                let status = match command {
                    Some(command) => command.run(),
                    None => {
                        while !stop.load(Ordering::Relaxed) {
                            pause();
                        }
                        Ok(ExitStatus::from_raw(0))
                    }
                };
                let ended = clock.now();
                // The server ends by itself, if it is of that kind, and connections are closed.
                for _ in 0..GRACE {
                    if stop.load(Ordering::Relaxed) || !serves() {
                        break;
                    }
                    pause();
                }
                stop.store(true, Ordering::Relaxed);
                status.map(|status| (status, ended))
            }
        });
        let mut collector = Collector::new(scenario, 1);
        let interrupted = collector.listen(&collected, observer).is_err();
        stop.store(true, Ordering::Relaxed);
        let moved = moving.join();
        // The server, and on an interruption the command, are left.
        for look in 0.. {
            if running.is_finished() && !serves() {
                break;
            }
            command.iter().chain(server).for_each(|program| program.end(look >= PATIENCE));
            pause();
        }
        let status = running.join();
        let served = serving.map(|serving| serving.join());
        drop(leading.map(|leading| leading.join()));
        let (counters, at, captured) = match moved {
            Ok(moved) => moved.map_err(|e| LiveError::system("move packets", e))?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        observer.packets(&captured);
        let (status, ended) = match status {
            Ok(status) => status?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        if let Some(Ok(Err(why))) = served {
            return Err(why);
        }
        let (scenario, run) = record(scenario, collector, &counters, [ended.min(at), at]);
        Ok(Emulated { scenario, run, status, interrupted })
    })
}

/// Rejects flows that do not fit into the one machine.
fn check(scenario: &Scenario, ways: &[Vec<usize>; 2]) -> Result<(), LiveError> {
    for (id, flow) in scenario.flows.iter().enumerate() {
        let is_program = ways.iter().flatten().any(|f| *f == id);
        let what = match &flow.carrier {
            Carrier::Kernel(_) if !is_program => "a connection of the kernel",
            _ if flow.tunnel.is_some() || flow.through.is_some() => "a tunnel, or in one",
            _ => continue,
        };
        let why = format!(
            "flow {} is {what}, which an emulation does not run; start it as a part of the command",
            flow.name
        );
        return Err(LiveError::Scenario(why));
    }
    Ok(())
}

/// Returns the machine with all nodes, and the QUIC stacks in it.
fn machine(scenario: &Scenario) -> Result<Machine<'_>, LiveError> {
    let nodes: Vec<_> = (0..scenario.nodes.len()).collect();
    let mut machine = Machine::new(scenario, &nodes);
    for (flow, ends) in quic::ends(scenario)?.into_iter().enumerate() {
        for (end, carried) in ends.into_iter().flatten().enumerate() {
            machine.connect(flow, end, carried);
        }
    }
    Ok(machine)
}

/// Waits until something listens in a namespace, or `gone`, or for two seconds.
fn await_listener(place: &Namespace, gone: impl Fn() -> bool) {
    const LISTENS: &str = "0A";
    let listens = || {
        ["tcp", "tcp6", "udp", "udp6"].iter().any(|table| {
            let text = std::fs::read_to_string(format!("/proc/thread-self/net/{table}"));
            let text = text.unwrap_or_default();
            let mut states = text.lines().skip(1).filter_map(|l| l.split_whitespace().nth(3));
            states.any(|state| table.starts_with("udp") || state == LISTENS)
        })
    };
    for _ in 0..LOOKS {
        if gone() || place.within(listens).unwrap_or(true) {
            return;
        }
        pause();
    }
}

#[allow(clippy::disallowed_methods, reason = "other programs are waited for")]
fn pause() {
    std::thread::sleep(LOOK);
}

/// Returns the scenario as long as it was, and its run. Its steady part ends with the command.
fn record(
    scenario: &Scenario,
    collector: Collector,
    counters: &Counters,
    [ended, at]: [Time; 2],
) -> (Scenario, Run) {
    let (time, series) = collector.finish();
    let mut scenario = scenario.clone();
    let (before, whole) = (scenario.steady, Window { start: Time::ZERO, end: ended });
    scenario.duration = at.since_start();
    scenario.steady = whole;
    for expectation in &mut scenario.expectations {
        if expectation.during == before {
            expectation.during = whole;
        }
    }
    let mut quality = quality(&scenario, std::slice::from_ref(counters));
    let priority = if counters.first { "real-time" } else { "ordinary" };
    let how = format!("packets between two namespaces, moved by a thread of {priority} priority");
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
