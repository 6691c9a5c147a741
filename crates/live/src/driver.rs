//! The driver of a station: a machine of the packet engine with its clock, the sockets of its nodes,
//! and the kernel's connections.
//!
//! A wake-up costs more than the work done in it, and its time matters only for effects outside the
//! machine. An arrival or an event has no effect outside for the shortest delay of its links, the
//! lookahead of simulators. So while packets keep coming, a station wakes to hand over the packets
//! that come out of its wires, and only occasionally reads arrivals. The kernel has stamped each
//! arrival, and the machine then handles all events since, as of their times. `driver/tests.rs`
//! shows that there are no other influences.
//!
//! Only two things depend on the computer: the time at which a packet that comes out of a wire is
//! handed to the kernel (measured), and the processing time of the kernel.

pub mod kernel;
#[cfg(test)]
mod tests;

use self::kernel::Kernel;
use crate::achieved::Achieved;
use crate::collect::Sample;
use crate::connection::Ends;
use crate::packet::Packet;
use crate::plan::Plan;
use crate::socket::{BATCH, Exchange, Socket};
use crate::thread::{LONGEST_WAIT, sharpen, used};
use crate::tun::Room;
use accord_host::Clock;
use accord_record::{Broken, Transfers};
use accord_scenario::{LinkId, NodeId};
use accord_sim::{Machine, Order};
use accord_transport::pcapng::{Capture, Envelope};
use accord_transport::wire;
use accord_units::{Duration, Time};
use nix::poll::{PollFd, PollFlags};
use std::io::Result;
use std::net::SocketAddrV4;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use tracing::debug;

/// The maximum number of batches read from a socket before the clock is read again.
const BATCHES: usize = 4;
/// The maximum time between reads of the sockets. Arrivals in this time fit into a socket's buffer.
const PATIENCE: Duration = Duration::from_ms(1);

/// The smallest recorded lateness.
const NOTICED: Duration = Duration::from_us(100);
/// The maximum number of recorded spans of lateness (16 MB).
const MOST_SPANS: usize = 1 << 20;

/// The state shared by all drivers.
#[derive(Debug)]
pub struct Medium {
    /// The clock.
    pub clock: Clock,
    /// The addresses to which the packets that come out of each link are sent.
    pub next: Vec<SocketAddrV4>,
    /// True if the run must end at once.
    pub stop: AtomicBool,
}

impl Medium {
    /// Creates the shared state, with the addresses of the links' far ends.
    pub fn new(clock: Clock, next: Vec<SocketAddrV4>) -> Medium {
        Medium { clock, next, stop: AtomicBool::new(false) }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A machine with its clock and its sockets.
pub struct Driver<'a> {
    plan: &'a Plan<'a>,
    medium: &'a Medium,
    machine: Machine<'a>,
    nodes: Arc<[(NodeId, Socket)]>,
    /// The index in `nodes`, by the scenario's index.
    socket_of: Vec<Option<usize>>,
    /// The connections of the kernel, if the station has any.
    kernel: Option<Kernel<'a>>,
    /// The latest time at which a packet has entered the machine.
    entered: Time,
    capture: Capture,
    samples: Sender<Sample>,
    counters: Counters,
}

/// The packets that arrived at a station and those that it sent, with the times of both.
#[cfg(test)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    /// The packets that arrived, each with its node.
    pub inputs: Vec<(Time, NodeId, Packet)>,
    /// The packets that came out of the station's links.
    pub outputs: Vec<Departed>,
}

/// A packet that comes out of a link to another station.
#[derive(Clone, Debug, PartialEq)]
pub struct Departed {
    /// The link.
    pub link: LinkId,
    /// The time at which it was due.
    pub nominal: Time,
    /// The packet.
    pub packet: Packet,
}

/// The counters of a driver at the end.
#[derive(Debug, Default)]
pub struct Counters {
    /// The rates and delays of its links.
    pub links: Vec<(LinkId, Achieved)>,
    /// The transfers of the flows that it sent.
    pub transfers: Transfers,
    /// The packets that its ports have served.
    pub hops: u64,
    /// The number of events handled.
    pub steps: u64,
    /// The broken connections of the kernel: the flow, and the reason.
    pub broken: Vec<(usize, String)>,
    /// The broken connections of other stacks.
    pub broken_off: Vec<Broken>,
    /// The spans of lateness: packets due at the first time were handed over at the second.
    pub spans: Vec<(Time, Time)>,
    /// The packets handed to the kernel.
    pub handed: u64,
    /// The packets taken from the kernel.
    pub taken: u64,
    /// The packets that the kernel refused.
    pub refused: u64,
    /// The datagrams that do not belong to this run or station.
    pub foreign: u64,
    /// True if the thread had a priority above ordinary ones.
    pub first: bool,
    /// The CPU time of the thread.
    pub cpu: Duration,
    /// The part of the CPU time that was spent in the kernel.
    pub system: Duration,
    /// The sockets, with the packets that arrived too late.
    pub nodes: Arc<[(NodeId, Socket)]>,
    /// The packets that arrived and those that were sent.
    #[cfg(test)]
    pub tape: Tape,
}

impl Counters {
    /// Records that packets due out of a wire at `due` were handed over at `real`.
    fn was_late(&mut self, due: Time, real: Time) {
        if real > due && real.since(due) >= NOTICED {
            debug!(event = "late", t = due.as_secs_f64(), by = %real.since(due));
        }
        let from = self.spans.last().map_or(due, |(_, end)| due.max(*end));
        if real > from && real.since(from) >= NOTICED && self.spans.len() < MOST_SPANS {
            self.spans.push((from, real));
        }
    }
}

/// A packet that arrived, not yet parsed.
struct Arrival {
    at: Time,
    node: NodeId,
    packet: Packet,
}

impl<'a> Driver<'a> {
    /// Creates a driver of the station with these nodes, and takes their ends of connections out of
    /// `ends`, which are by flow.
    ///
    /// # Errors
    ///
    /// Fails if the connections cannot be polled.
    pub fn new(
        plan: &'a Plan<'a>,
        medium: &'a Medium,
        nodes: Vec<(NodeId, Socket)>,
        ends: &mut [Ends],
        samples: Sender<Sample>,
    ) -> Result<Driver<'a>> {
        let mut socket_of = vec![None; plan.scenario.nodes.len()];
        for (place, (node, _)) in nodes.iter().enumerate() {
            socket_of[*node] = Some(place);
        }
        let own: Vec<NodeId> = nodes.iter().map(|(node, _)| *node).collect();
        let scenario = plan.scenario;
        let mut machine = Machine::new(scenario, &own);
        if plan.log {
            machine.keep_logs();
        }
        for (flow, ends) in ends.iter_mut().enumerate() {
            let (source, sink) = scenario.ends(flow);
            let client = ends.client.take_if(|_| own.contains(&source));
            let server = ends.server.take_if(|_| own.contains(&sink));
            for (end, carried) in [client, server].into_iter().enumerate() {
                carried.into_iter().for_each(|carried| machine.connect(flow, end, carried));
            }
        }
        let links = scenario.links.iter().enumerate().filter(|(_, l)| own.contains(&l.from));
        let links = links.map(|(id, _)| (id, Achieved::default())).collect();
        Ok(Driver {
            plan,
            medium,
            machine,
            nodes: nodes.into(),
            socket_of,
            kernel: Kernel::of(scenario, &own, ends)?,
            entered: Time::ZERO,
            capture: Capture::default(),
            samples,
            counters: Counters { links, ..Counters::default() },
        })
    }

    /// Works until the run ends or is stopped.
    ///
    /// # Errors
    /// Fails if the system does not move packets.
    pub fn run(mut self) -> Result<Counters> {
        self.counters.first = sharpen();
        let nodes = self.nodes.clone();
        let mut polls: Vec<PollFd> = nodes
            .iter()
            .map(|(_, socket)| PollFd::new(socket.as_fd(), PollFlags::POLLIN))
            .collect();
        let poller = self.kernel.as_ref().map(Kernel::poller);
        polls.extend(poller.iter().map(|poller| PollFd::new(poller.0.as_fd(), PollFlags::POLLIN)));
        let mut exchange = Exchange::new();
        let mut room = Room::new();
        let clock = self.medium.clock;
        let end = self.plan.scenario.end();
        // The times of the latest read of the sockets, and of the latest one with arrivals.
        let (mut looked, mut heard) = (Time::ZERO, Time::ZERO);
        clock.wait_for_start(|| self.medium.is_stopped());
        while self.machine.now() < end && !self.medium.is_stopped() {
            let ahead = self.machine.lookahead().min(PATIENCE);
            // From this time on, arrivals since the latest read have an effect outside.
            let horizon = looked + ahead;
            let due = self.machine.next_effect();
            let deadline = due.min(self.machine.next_leave()).min(end);
            let listens = clock.now() >= heard + ahead;
            // Events of the kernel's connections have no time stamp, so they are handled at
            // once.
            let something = if listens {
                clock.wait(deadline, LONGEST_WAIT, &mut polls)
            } else {
                clock.wait(deadline.min(horizon), LONGEST_WAIT, &mut polls[nodes.len()..])
            };
            let now = clock.now().min(end);
            self.release(now.min(horizon), &mut exchange)?;
            if !listens && !something && now < due.min(end) && now < looked + ahead.mul_f64(0.5) {
                continue;
            }
            if !listens {
                clock.wait(Time::ZERO, LONGEST_WAIT, &mut polls);
            }
            let ready: Vec<bool> = polls.iter().map(|p| p.any() != Some(false)).collect();
            looked = clock.now().min(end);
            let arrivals = self.take_in(&ready, &mut exchange)?;
            if !arrivals.is_empty() {
                heard = looked;
            }
            for arrival in arrivals {
                let at = arrival.at.max(self.machine.now()).max(self.entered);
                if at >= end {
                    break;
                }
                self.entered = at;
                #[cfg(test)]
                (self.counters.tape.inputs).push((at, arrival.node, arrival.packet.clone()));
                let Arrival { node, packet, .. } = arrival;
                match packet.read(self.plan.scenario, &self.machine, node) {
                    Some((link, parcel)) => self.machine.enter(link, parcel, at),
                    None => self.counters.foreign += 1,
                }
            }
            self.advance(looked);
            self.serve_kernel(&mut room)?;
            self.send_samples();
            self.release(looked, &mut exchange)?;
        }
        (self.counters.cpu, self.counters.system) = used();
        Ok(self.close())
    }

    /// Handles all events up to `to`, and hands packets to connections of the kernel, each at its time.
    fn advance(&mut self, to: Time) {
        let Some(kernel) = &mut self.kernel else {
            return self.machine.advance(to);
        };
        loop {
            let next = self.machine.next_effect();
            let due = next.min(to);
            self.machine.advance(due);
            for order in self.machine.orders() {
                let delivered = match &order {
                    Order::Deliver(parcel) => Some(parcel.packet),
                    _ => None,
                };
                self.counters.refused += kernel.carry_out(order, &mut self.machine);
                // Those out of links to other stations are measured there.
                let flow = delivered.map(|packet| &self.plan.scenario.flows[packet.flow as usize]);
                let path = delivered.zip(flow).and_then(|(packet, flow)| {
                    let path = if packet.is_answer() { &flow.reverse_path } else { &flow.path };
                    Some((packet.bytes(), *path.last()?))
                });
                let place = path.and_then(|(size, link)| {
                    let links = &mut self.counters.links;
                    Some((size, links.binary_search_by_key(&link, |(id, _)| *id).ok()?))
                });
                if let Some((size, place)) = place {
                    let real = self.medium.clock.now();
                    self.counters.was_late(due, real);
                    let (link, achieved) = &mut self.counters.links[place];
                    achieved.released(due, real, size, self.machine.rate(*link));
                    // The kernel loses none that it takes.
                    self.counters.handed += 1;
                    self.counters.taken += 1;
                }
            }
            kernel.look_at_transfers(&mut self.machine);
            if next > to {
                break;
            }
        }
    }

    /// Returns the counters at the end.
    fn close(mut self) -> Counters {
        if let Some(kernel) = &mut self.kernel {
            self.counters.broken = kernel.broken();
        }
        let tally = self.machine.finish();
        Counters {
            broken_off: tally.broken,
            transfers: tally.transfers,
            hops: tally.hops,
            steps: tally.steps,
            nodes: self.nodes,
            ..self.counters
        }
    }

    /// Sends the samples of the machine to the collector.
    fn send_samples(&mut self) {
        for mut part in self.machine.parts() {
            if let Some(kernel) = &mut self.kernel {
                kernel.fill_in(&mut part);
            }
            // The collector is gone after the run was stopped.
            let _ = self.samples.send((part, self.capture.take()));
        }
    }

    /// Processes the connections of the kernel.
    fn serve_kernel(&mut self, room: &mut Room) -> Result<()> {
        if let Some(kernel) = &mut self.kernel {
            self.counters.refused += kernel.obey(&mut self.machine);
            kernel.serve(&mut self.machine, room)?;
            // A packet out of one device may be for another one at the same node.
            self.counters.refused += kernel.obey(&mut self.machine);
        }
        Ok(())
    }

    /// Reads the arrivals from the ready sockets, in the order of their arrival.
    fn take_in(&mut self, ready: &[bool], exchange: &mut Exchange) -> Result<Vec<Arrival>> {
        let mut arrivals = Vec::new();
        let (plan, counters) = (self.plan, &mut self.counters);
        let nodes = self.nodes.iter().zip(ready);
        for ((node, socket), _) in nodes.filter(|(_, ready)| **ready) {
            for _ in 0..BATCHES {
                let taken = socket.receive(exchange, &self.medium.clock, |received| {
                    match wire::header(received.datagram) {
                        Ok(header) if header.run == plan.run => arrivals.push(Arrival {
                            at: received.at,
                            node: *node,
                            packet: Packet {
                                datagram: received.datagram.to_vec(),
                                header,
                                tos: received.tos,
                            },
                        }),
                        // On loopback any program may send to our sockets.
                        _ => counters.foreign += 1,
                    }
                })?;
                if taken < BATCH {
                    break;
                }
            }
        }
        counters.taken += arrivals.len() as u64;
        arrivals.sort_by_key(|a| a.at);
        Ok(arrivals)
    }

    /// Hands the packets that come out of the wires up to `to` to the kernel.
    fn release(&mut self, to: Time, exchange: &mut Exchange) -> Result<()> {
        let departures: Vec<Departed> =
            std::iter::from_fn(|| leave(&mut self.machine, to, self.plan.run)).collect();
        #[cfg(test)]
        (self.counters.tape.outputs).extend(departures.iter().cloned());
        let links = &self.plan.scenario.links;
        let alike = |a: &Departed, b: &Departed| {
            (links[a.link].from, a.packet.tos) == (links[b.link].from, b.packet.tos)
        };
        for run in departures.chunk_by(alike).flat_map(|run| run.chunks(BATCH)) {
            let Some(place) = self.socket_of[links[run[0].link].from] else {
                continue;
            };
            let (_, socket) = &self.nodes[place];
            let datagrams: Vec<_> =
                (run.iter()).map(|d| (self.medium.next[d.link], &d.packet.datagram[..])).collect();
            let mut left = &datagrams[..];
            while !left.is_empty() {
                let taken = socket.send(exchange, run[0].packet.tos, left)?;
                self.counters.handed += taken as u64;
                left = &left[taken..];
                // The kernel has no room for the next packet.
                if let [_, rest @ ..] = left {
                    self.counters.refused += 1;
                    left = rest;
                }
            }
            let real = self.medium.clock.now();
            self.counters.was_late(run[0].nominal, real);
            for departure in run {
                self.handed_over(departure, real);
            }
        }
        Ok(())
    }

    /// Records that a packet out of a wire was handed over at `real`.
    fn handed_over(&mut self, departed: &Departed, real: Time) {
        let Departed { link, nominal, packet } = departed;
        if self.plan.capture {
            let ends = self.plan.scenario.ends(packet.header.flow as usize);
            let envelope = Envelope::new(ends, packet.header.kind, packet.tos);
            self.capture.datagram(*link, real, envelope, &packet.datagram);
        }
        let achieved = self.counters.links.binary_search_by_key(link, |(id, _)| *id);
        if let Ok(place) = achieved {
            let (size, rate) = (packet.header.size, self.machine.rate(*link));
            self.counters.links[place].1.released(*nominal, real, size, rate);
        }
    }
}

/// Takes the next packet that comes out of a link to another station by `to`.
fn leave(machine: &mut Machine, to: Time, run: u32) -> Option<Departed> {
    let departure = machine.leave(to)?;
    let packet = Packet::write(&departure.parcel, machine, run);
    Some(Departed { link: departure.link, nominal: departure.at, packet })
}
