//! What drives a station: the clock, the sockets of its nodes, and the kernel's connections.
//!
//! A wake costs more than anything that is done in it, and only for what is due outside does it
//! matter when it is. What arrives or happens at a port of delay `d` is of no consequence outside
//! for `d` (simulators call it lookahead). So while packets keep coming a station wakes for those
//! that come out of its wires, hands them over, and only now and then looks at what has arrived,
//! which the kernel has stamped: then it does all that happened since, as of its time. Only two
//! things depend on the machine: when a packet that comes out of a wire is handed to the kernel,
//! which is measured, and how long the kernel takes.

mod kernel;

use self::kernel::Kernel;
use crate::clock::{Clock, sharpen, used};
use crate::collect::Part;
use crate::connection::Ends;
use crate::packet::Packet;
use crate::socket::{BATCH, Exchange, LONGEST, Socket};
use crate::station::{Departure, Plan, Station, Tally};
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

/// So many batches are taken from a socket before time is looked at again.
const BATCHES: usize = 4;
/// A station does not look at its sockets for so long at most: less than what fits into one.
const PATIENCE: Duration = Duration::from_ms(1);

/// What all drivers share.
#[derive(Debug)]
pub struct Medium {
    /// The clock.
    pub clock: Clock,
    /// Where packets go that come out of a link.
    pub next: Vec<SocketAddrV4>,
    /// The run is to end at once.
    pub stop: AtomicBool,
}

impl Medium {
    /// A medium of links with these far ends.
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
    /// Places in the above, by the scenario's index.
    socket_of: Vec<Option<usize>>,
    /// Its connections of the kernel, where it has any.
    kernel: Option<Kernel>,
    parts: Sender<Part>,
    books: Books,
}

/// What came to a station, and what it sent, with the times of both.
#[cfg(test)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    /// What came, at which node.
    pub inputs: Vec<(Time, NodeId, Packet)>,
    /// What came out of its links, and when it was to.
    pub outputs: Vec<Departure>,
}

/// The books of a driver at the end.
#[derive(Debug, Default)]
pub struct Books {
    /// What its station counted.
    pub tally: Tally,
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
    /// Its sockets, with what came too late.
    pub nodes: Arc<[(NodeId, Socket)]>,
    /// What came and went.
    #[cfg(test)]
    pub tape: Tape,
}

/// A packet that came, before it is looked at.
struct Arrival {
    at: Time,
    node: NodeId,
    packet: Packet,
}

impl<'a> Driver<'a> {
    /// A driver of the station with these nodes, and with the ends of connections that are at
    /// them; it takes these out of `ends`, which are by flow.
    ///
    /// # Errors
    /// When the system does not let it listen to the connections.
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
        Ok(Driver {
            plan,
            medium,
            station: Station::new(plan, &own),
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
    /// When the system does not move packets.
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
        // When the sockets were looked at, and when there was something in them.
        let (mut looked, mut heard) = (Time::ZERO, Time::ZERO);
        clock.wait_for_start(|| self.medium.is_stopped());
        while self.station.now() < end && !self.medium.is_stopped() {
            let ahead = self.station.lookahead().min(PATIENCE);
            // From then on it matters outside what has arrived since.
            let horizon = looked + ahead;
            let due = self.station.next_effect();
            let deadline = due.min(self.station.next_release()).min(end);
            let listens = clock.now() >= heard + ahead;
            // What connections of the kernel do has no stamp: it is heard at once.
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

    /// The books at the end.
    fn close(mut self) -> Books {
        if let Some(kernel) = &mut self.kernel {
            self.books.broken = kernel.broken();
        }
        self.books.tally = self.station.close();
        self.books.nodes = self.nodes;
        self.books
    }

    /// Sends on the samples that the station has taken.
    fn tell(&mut self) {
        for mut part in self.station.parts() {
            if let Some(kernel) = &mut self.kernel {
                kernel.fill_in(&mut part);
            }
            // Nobody listens any more when the run was stopped.
            let _ = self.parts.send(part);
        }
    }

    /// Lets connections of the kernel do what they have to.
    fn serve_kernel(&mut self, buffer: &mut [u8]) -> Result<()> {
        if let Some(kernel) = &mut self.kernel {
            self.books.refused += kernel.obey(&mut self.station);
            kernel.serve(&mut self.station, buffer)?;
        }
        Ok(())
    }

    /// Takes what has come from the sockets that are ready, in the order in which it came.
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
                        // Anybody may send to our sockets, on loopback.
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

    /// What comes out of the wires up to `to` goes to the kernel.
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
                // There is no room for the next.
                if let [_, rest @ ..] = left {
                    self.books.refused += 1;
                    left = rest;
                }
            }
            let real = self.medium.clock.now();
            for departure in run {
                self.station.handed_over(departure, real);
            }
        }
        Ok(())
    }
}
