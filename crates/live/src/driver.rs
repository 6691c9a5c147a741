//! The driver of a station: the clock, the sockets of its nodes, and the kernel's connections.
//!
//! A wake costs more than anything that is done in it. The time of a wake matters only for what is
//! due outside. An arrival or an event at a port of delay `d` has no effect outside for `d`, which
//! simulators call lookahead. So while packets keep coming, a station wakes to hand over the
//! packets that come out of its wires. Only now and then does it look at what has arrived. The
//! kernel has stamped each arrival, and the station then does all that happened since, as of its
//! time.
//!
//! Only two things depend on the machine. One is when a packet that comes out of a wire is handed
//! to the kernel, which is measured. The other is how long the kernel takes.

mod kernel;

use self::kernel::Kernel;
use crate::clock::{Clock, sharpen, used};
use crate::collect::Part;
use crate::connection::Ends;
use crate::packet::Packet;
use crate::plan::Plan;
use crate::socket::{BATCH, Exchange, LONGEST, Socket};
use crate::station::{Departure, Station, Tally};
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

/// The most batches that are taken from a socket before the clock is read again.
const BATCHES: usize = 4;
/// The longest time for which a station does not look at its sockets. Less than fits into a socket
/// arrives in it.
const PATIENCE: Duration = Duration::from_ms(1);

/// The shortest lateness that is noted.
const NOTICED: Duration = Duration::from_us(100);
/// The most spans of lateness that are noted (16 MB).
const MOST_SPANS: usize = 1 << 20;

/// The parts that all drivers share.
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
    /// Creates a medium of links with these far ends.
    pub fn new(clock: Clock, next: Vec<SocketAddrV4>) -> Medium {
        Medium {
            clock,
            next,
            stop: AtomicBool::new(false),
        }
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
    /// The places in `nodes`, by the scenario's index.
    socket_of: Vec<Option<usize>>,
    /// The connections of the kernel, if the station has any.
    kernel: Option<Kernel>,
    parts: Sender<Part>,
    books: Books,
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

/// The counts of a driver at the end.
#[derive(Debug, Default)]
pub struct Books {
    /// The counts of the station.
    pub tally: Tally,
    /// The connections of others that broke: the flow, and the reason.
    pub broken: Vec<(usize, String)>,
    /// When packets were handed over late: those that came out of a wire from the first time on, at
    /// the second.
    pub spans: Vec<(Time, Time)>,
    /// The packets given to the kernel.
    pub handed: u64,
    /// The packets taken from the kernel.
    pub taken: u64,
    /// The packets that the kernel refused.
    pub refused: u64,
    /// The datagrams that are not of this run.
    pub foreign: u64,
    /// True if the thread ran before all ordinary ones.
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

impl Books {
    /// Notes that what came out of a wire at `due` was handed over at `real`.
    fn was_late(&mut self, due: Time, real: Time) {
        let from = self.spans.last().map_or(due, |(_, end)| due.max(*end));
        if real > from && real.since(from) >= NOTICED && self.spans.len() < MOST_SPANS {
            self.spans.push((from, real));
        }
    }
}

/// A packet that arrived, before it is examined.
struct Arrival {
    at: Time,
    node: NodeId,
    packet: Packet,
}

impl<'a> Driver<'a> {
    /// Creates a driver of the station with these nodes, and with the ends of connections that are
    /// at them. It takes those out of `ends`, which are by flow.
    ///
    /// # Errors
    /// Fails if the system does not let it listen to the connections.
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
            books: Books::default(),
        })
    }

    /// Works until the run ends or is stopped.
    ///
    /// # Errors
    /// Fails if the system does not move packets.
    pub fn run(mut self) -> Result<Books> {
        self.books.first = sharpen();
        let nodes = self.nodes.clone();
        let mut polls: Vec<PollFd> = nodes
            .iter()
            .map(|(_, socket)| PollFd::new(socket.as_fd(), PollFlags::POLLIN))
            .collect();
        let ear = self.kernel.as_ref().map(Kernel::ear);
        polls.extend(
            ear.iter()
                .map(|ear| PollFd::new(ear.as_fd(), PollFlags::POLLIN)),
        );
        let mut exchange = Exchange::new();
        let mut packet = vec![0; LONGEST];
        let clock = self.medium.clock;
        let end = self.plan.scenario.end();
        // The times at which the sockets were last examined, and at which there was last something
        // in them.
        let (mut looked, mut heard) = (Time::ZERO, Time::ZERO);
        clock.wait_for_start(|| self.medium.is_stopped());
        while self.station.now() < end && !self.medium.is_stopped() {
            let ahead = self.station.lookahead().min(PATIENCE);
            // From this time on, arrivals since the last look have an effect outside.
            let horizon = looked + ahead;
            let due = self.station.next_effect();
            let deadline = due.min(self.station.next_release()).min(end);
            let listens = clock.now() >= heard + ahead;
            // Events of the kernel's connections have no stamp, so they are handled at once.
            let something = match listens {
                true => clock.wait(deadline, &mut polls),
                false => clock.wait(deadline.min(horizon), &mut polls[nodes.len()..]),
            };
            let now = clock.now().min(end);
            self.release(now.min(horizon), &mut exchange)?;
            if !listens && !something && now < due.min(end) && now < looked + ahead.mul_f64(0.5) {
                continue;
            }
            if !listens {
                clock.wait(Time::ZERO, &mut polls);
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
                (self.books.tape.inputs).push((at, arrival.node, arrival.packet.clone()));
                self.station.advance(at);
                self.station.arrive(arrival.node, arrival.packet);
            }
            self.station.advance(looked);
            self.serve_kernel(&mut packet)?;
            self.tell();
            self.release(looked, &mut exchange)?;
        }
        (self.books.cpu, self.books.system) = used();
        Ok(self.close())
    }

    /// Returns the counts at the end.
    fn close(mut self) -> Books {
        if let Some(kernel) = &mut self.kernel {
            self.books.broken = kernel.broken();
        }
        self.books.tally = self.station.close();
        (self.books.broken).append(&mut self.books.tally.broken);
        self.books.nodes = self.nodes;
        self.books
    }

    /// Sends on the samples that the station has taken.
    fn tell(&mut self) {
        for mut part in self.station.parts() {
            if let Some(kernel) = &mut self.kernel {
                kernel.fill_in(&mut part);
            }
            // The receiver is gone after the run was stopped.
            let _ = self.parts.send(part);
        }
    }

    /// Lets connections of the kernel do what is due.
    fn serve_kernel(&mut self, buffer: &mut [u8]) -> Result<()> {
        if let Some(kernel) = &mut self.kernel {
            self.books.refused += kernel.obey(&mut self.station);
            kernel.serve(&mut self.station, buffer)?;
            // What came out of one device may be for another one at the same node.
            self.books.refused += kernel.obey(&mut self.station);
        }
        Ok(())
    }

    /// Takes the arrivals from the sockets that are ready, in the order in which they arrived.
    fn take_in(&mut self, ready: &[bool], exchange: &mut Exchange) -> Result<Vec<Arrival>> {
        let mut arrivals = Vec::new();
        let (plan, books) = (self.plan, &mut self.books);
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
                        _ => books.foreign += 1,
                    }
                })?;
                if taken < BATCH {
                    break;
                }
            }
        }
        books.taken += arrivals.len() as u64;
        arrivals.sort_by_key(|a| a.at);
        Ok(arrivals)
    }

    /// Gives the packets that come out of the wires up to `to` to the kernel.
    fn release(&mut self, to: Time, exchange: &mut Exchange) -> Result<()> {
        let departures: Vec<_> = std::iter::from_fn(|| self.station.release(to)).collect();
        #[cfg(test)]
        (self.books.tape.outputs).extend(departures.iter().cloned());
        let links = &self.plan.scenario.links;
        let alike = |a: &Departure, b: &Departure| {
            (links[a.link].from, a.packet.tos) == (links[b.link].from, b.packet.tos)
        };
        for run in departures.chunk_by(alike).flat_map(|run| run.chunks(BATCH)) {
            let Some(place) = self.socket_of[links[run[0].link].from] else {
                continue;
            };
            let (_, socket) = &self.nodes[place];
            let datagrams: Vec<_> = (run.iter())
                .map(|d| (self.medium.next[d.link], &d.packet.datagram[..]))
                .collect();
            let mut left = &datagrams[..];
            while !left.is_empty() {
                let taken = socket.send(exchange, run[0].packet.tos, left)?;
                self.books.handed += taken as u64;
                left = &left[taken..];
                // The kernel has no room for the next packet.
                if let [_, rest @ ..] = left {
                    self.books.refused += 1;
                    left = rest;
                }
            }
            let real = self.medium.clock.now();
            self.books.was_late(run[0].nominal, real);
            for departure in run {
                self.station.handed_over(departure, real);
            }
        }
        Ok(())
    }
}
