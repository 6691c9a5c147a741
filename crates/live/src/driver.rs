//! The driver of a station: the clock, the sockets of its nodes, and the kernel's connections.
//!
//! A wake-up costs more than the work done in it, and its time matters only for effects outside the
//! station. An arrival or an event at a port of delay `d` has no effect outside for `d`, the
//! lookahead of simulators. So while packets keep coming, a station wakes to hand over the packets
//! that come out of its wires, and only occasionally reads arrivals. The kernel has stamped each
//! arrival, and the station then processes all events since, as of their times.
//!
//! Only two things depend on the machine: the time at which a packet that comes out of a wire is
//! handed to the kernel (measured), and the processing time of the kernel.

mod kernel;

use self::kernel::Kernel;
use crate::collect::Part;
use crate::connection::Ends;
use crate::packet::Packet;
use crate::plan::Plan;
use crate::socket::{BATCH, Exchange, LONGEST, Socket};
use crate::station::{Departure, Station, Tally};
use crate::thread::{LONGEST_WAIT, sharpen, used};
use accord_host::Clock;
use accord_scenario::NodeId;
use accord_transport::wire;
use accord_units::{Duration, Time};
use nix::poll::{PollFd, PollFlags};
use std::io::Result;
use std::net::SocketAddrV4;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

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
    /// True if the run is to end at once.
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

/// A station with its clock and its sockets.
pub struct Driver<'a> {
    plan: &'a Plan<'a>,
    medium: &'a Medium,
    station: Station<'a>,
    nodes: Arc<[(NodeId, Socket)]>,
    /// The index in `nodes`, by the scenario's index.
    socket_of: Vec<Option<usize>>,
    /// The connections of the kernel, if the station has any.
    kernel: Option<Kernel>,
    parts: Sender<Part>,
    counters: Counters,
}

/// The packets that arrived at a station and those that it sent, with the times of both.
#[cfg(test)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    /// The packets that arrived, with the nodes at which they did.
    pub inputs: Vec<(Time, NodeId, Packet)>,
    /// The packets that came out of the station's links, with the times at which they were due.
    pub outputs: Vec<Departure>,
}

/// The counters of a driver at the end.
#[derive(Debug, Default)]
pub struct Counters {
    /// The counters of the station.
    pub tally: Tally,
    /// The broken connections of other stacks: the flow, and the reason.
    pub broken: Vec<(usize, String)>,
    /// The spans of lateness: packets due at the first time were handed over at the second.
    pub spans: Vec<(Time, Time)>,
    /// The packets handed to the kernel.
    pub handed: u64,
    /// The packets taken from the kernel.
    pub taken: u64,
    /// The packets that the kernel refused.
    pub refused: u64,
    /// The datagrams that do not belong to this run.
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
        parts: Sender<Part>,
    ) -> Result<Driver<'a>> {
        let mut socket_of = vec![None; plan.scenario.nodes.len()];
        for (place, (node, _)) in nodes.iter().enumerate() {
            socket_of[*node] = Some(place);
        }
        let own: Vec<NodeId> = nodes.iter().map(|(node, _)| *node).collect();
        let mut station = Station::new(plan, &own);
        station.connect(ends);
        Ok(Driver {
            plan,
            medium,
            station,
            nodes: nodes.into(),
            socket_of,
            kernel: Kernel::of(plan.scenario, &own, ends)?,
            parts,
            counters: Counters::default(),
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
        let mut packet = vec![0; LONGEST];
        let clock = self.medium.clock;
        let end = self.plan.scenario.end();
        // The times of the latest read of the sockets, and of the latest one with arrivals.
        let (mut looked, mut heard) = (Time::ZERO, Time::ZERO);
        clock.wait_for_start(|| self.medium.is_stopped());
        while self.station.now() < end && !self.medium.is_stopped() {
            let ahead = self.station.lookahead().min(PATIENCE);
            // From this time on, arrivals since the latest read have an effect outside.
            let horizon = looked + ahead;
            let due = self.station.next_effect();
            let deadline = due.min(self.station.next_release()).min(end);
            let listens = clock.now() >= heard + ahead;
            // Events of the kernel's connections have no time stamp, so that they are handled at
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
                let at = arrival.at.max(self.station.now());
                if at >= end {
                    break;
                }
                #[cfg(test)]
                (self.counters.tape.inputs).push((at, arrival.node, arrival.packet.clone()));
                self.station.advance(at);
                self.station.arrive(arrival.node, arrival.packet);
            }
            self.station.advance(looked);
            self.serve_kernel(&mut packet)?;
            self.send_samples();
            self.release(looked, &mut exchange)?;
        }
        (self.counters.cpu, self.counters.system) = used();
        Ok(self.close())
    }

    /// Returns the counters at the end.
    fn close(mut self) -> Counters {
        if let Some(kernel) = &mut self.kernel {
            self.counters.broken = kernel.broken();
        }
        self.counters.tally = self.station.close();
        (self.counters.broken).append(&mut self.counters.tally.broken);
        self.counters.nodes = self.nodes;
        self.counters
    }

    /// Sends the samples of the station to the collector.
    fn send_samples(&mut self) {
        for mut part in self.station.parts() {
            if let Some(kernel) = &mut self.kernel {
                kernel.fill_in(&mut part);
            }
            // The collector is gone after the run was stopped.
            let _ = self.parts.send(part);
        }
    }

    /// Processes the connections of the kernel.
    fn serve_kernel(&mut self, buffer: &mut [u8]) -> Result<()> {
        if let Some(kernel) = &mut self.kernel {
            self.counters.refused += kernel.obey(&mut self.station);
            kernel.serve(&mut self.station, buffer)?;
            // A packet out of one device may be for another one at the same node.
            self.counters.refused += kernel.obey(&mut self.station);
        }
        Ok(())
    }

    /// Reads the arrivals from the ready sockets, in the order of their arrival.
    fn take_in(&mut self, ready: &[bool], exchange: &mut Exchange) -> Result<Vec<Arrival>> {
        let mut arrivals = Vec::new();
        let (plan, counters) = (self.plan, &mut self.counters);
        let flows = &plan.scenario.flows;
        let aggregate = |flow| flows.get(flow as usize).map_or(0, |f| f.aggregate as u8);
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
                                aggregate: aggregate(header.flow),
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
        let departures: Vec<_> = std::iter::from_fn(|| self.station.release(to)).collect();
        #[cfg(test)]
        (self.counters.tape.outputs).extend(departures.iter().cloned());
        let links = &self.plan.scenario.links;
        let alike = |a: &Departure, b: &Departure| {
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
                self.station.handed_over(departure, real);
            }
        }
        Ok(())
    }
}
