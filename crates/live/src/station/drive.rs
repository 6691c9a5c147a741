//! A station at work: when it wakes, what it takes in and hands over.
//!
//! A wake costs more than anything that is done in it, so a station sleeps through whatever
//! concerns nobody else yet. What arrives or is done at a port of delay `d` is of no consequence
//! outside for `d` (in simulation it is called lookahead): the kernel has stamped what arrived,
//! and all is done as of its time at the next wake. While packets keep coming, a station wakes for
//! those that it has to hand over, and finds the others then.

use super::{Books, Due, Packet, Station};
use crate::clock::{sharpen, used};
use crate::socket::{BATCH, Exchange};
use accord_scenario::NodeId;
use accord_transport::pcapng::Envelope;
use accord_transport::wire;
use accord_units::{Duration, Time};
use nix::poll::{PollFd, PollFlags};
use std::io::Result;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;

/// So many batches are taken from a socket before time is looked at again.
const BATCHES: usize = 4;
/// A station does not look at its sockets for so long at most: less than what fits into one.
const PATIENCE: Duration = Duration::from_ms(1);

/// A packet that came, before it is looked at.
struct Arrival {
    at: Time,
    node: NodeId,
    packet: Packet,
}

/// A packet that is due outside.
pub struct Departure {
    /// The link that it comes out of, as the station counts them.
    pub link: usize,
    /// The socket that it goes to, likewise.
    pub socket: usize,
    /// When it was to.
    pub nominal: Time,
    /// It.
    pub packet: Packet,
}

impl Station<'_> {
    /// Works until the run ends or is stopped.
    pub fn run(mut self) -> Result<Books> {
        self.books.first = sharpen();
        let nodes = self.nodes.clone();
        let mut polls: Vec<PollFd> = nodes
            .iter()
            .map(|(_, socket)| PollFd::new(socket.as_fd(), PollFlags::POLLIN))
            .collect();
        let mut exchange = Exchange::new();
        let clock = self.plan.clock;
        let end = self.plan.scenario.end();
        let mut heard = Time::ZERO;
        clock.wait_for_start(|| self.stopped());
        while self.now < end && !self.stopped() {
            let deadline = self.agenda.first_effect(|due| self.ahead(due));
            let (now, ahead) = (clock.now(), self.lookahead.min(PATIENCE));
            if now < heard + ahead {
                // The sockets are looked at by then.
                clock.wait(deadline.min(now + ahead), &mut []);
                clock.wait(Time::ZERO, &mut polls);
            } else {
                clock.wait(deadline, &mut polls);
            }
            let ready: Vec<bool> = polls.iter().map(|p| p.any() != Some(false)).collect();
            let now = clock.now().min(end);
            let arrivals = self.take_in(&ready, &mut exchange)?;
            if !arrivals.is_empty() {
                heard = now;
            }
            for arrival in arrivals {
                let at = arrival.at.max(self.now);
                if at >= end {
                    break;
                }
                #[cfg(test)]
                (self.books.tape.inputs).push((at, arrival.node, arrival.packet.clone()));
                self.advance(at, &mut exchange)?;
                self.arrive(arrival.node, arrival.packet);
            }
            self.advance(now, &mut exchange)?;
            self.hand_over(&mut exchange)?;
        }
        self.books.cpu = used();
        Ok(self.close())
    }

    /// For how long a thing that is due is of no consequence outside.
    fn ahead(&self, due: Due) -> Duration {
        match due {
            Due::Sent(i) | Due::Discipline(i) => self.links[i].delay,
            Due::Start(_) | Due::Stop(_) | Due::Application(_) | Due::Wake(_) => self.lookahead,
            Due::Change | Due::Sample | Due::Release(_) => Duration::ZERO,
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.plan.stop.load(Ordering::Relaxed)
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
                let taken = socket.receive(exchange, &plan.clock, |received| {
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

    /// Hands over to the kernel what is due outside.
    pub(super) fn hand_over(&mut self, exchange: &mut Exchange) -> Result<()> {
        let departures = std::mem::take(&mut self.departures);
        let alike =
            |a: &Departure, b: &Departure| (a.socket, a.packet.tos) == (b.socket, b.packet.tos);
        for run in departures.chunk_by(alike).flat_map(|run| run.chunks(BATCH)) {
            let next = |d: &Departure| self.plan.next[self.links[d.link].id];
            let datagrams: Vec<_> = (run.iter())
                .map(|d| (next(d), &d.packet.datagram[..]))
                .collect();
            let (_, socket) = &self.nodes[run[0].socket];
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
            let real = self.plan.clock.now();
            run.iter().for_each(|d| self.handed_over(d, real));
        }
        self.departures = departures;
        self.departures.clear();
        Ok(())
    }

    /// The kernel has it.
    fn handed_over(&mut self, departure: &Departure, real: Time) {
        let Departure {
            link,
            nominal,
            packet,
            ..
        } = departure;
        let link = &mut self.links[*link];
        if self.plan.capture {
            let ends = self.plan.scenario.ends(packet.header.flow as usize);
            let envelope = Envelope::new(ends, packet.header.kind, packet.tos);
            (self.capture).datagram(link.id, real, envelope, &packet.datagram);
        }
        let (size, rate) = (packet.header.size, link.port.rate());
        link.achieved.released(*nominal, real, size, rate);
    }
}
