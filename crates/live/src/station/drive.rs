//! A station at work: when it wakes, what it takes in and hands over.
//!
//! A wake costs more than anything that is done in it, and only for what is due outside does it
//! matter when it is. What arrives or happens at a port of delay `d` is of no consequence outside
//! for `d` (simulators call it lookahead). So while packets keep coming a station wakes for those
//! that come out of its wires, hands them over, and only now and then looks at what has arrived,
//! which the kernel has stamped: then it does all that happened since, as of its time.

use super::kernel::Ear;
use super::{Books, Due, Packet, Station};
use crate::clock::{sharpen, used};
use crate::socket::{BATCH, Exchange, LONGEST};
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

/// A packet that has come out of a wire.
struct Departure {
    /// The link and the socket that it goes to, as the station counts them.
    link: usize,
    socket: usize,
    /// When it was to come out.
    nominal: Time,
    packet: Packet,
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
        let ear = self.ear.clone();
        let heard_by = |ear| PollFd::new(Ear::as_fd(ear), PollFlags::POLLIN);
        polls.extend(ear.iter().map(heard_by));
        let mut exchange = Exchange::new();
        let mut packet = vec![0; LONGEST];
        let clock = self.plan.clock;
        let end = self.plan.scenario.end();
        // When the sockets were looked at, and when there was something in them.
        let (mut looked, mut heard) = (Time::ZERO, Time::ZERO);
        clock.wait_for_start(|| self.stopped());
        while self.now < end && !self.stopped() {
            let ahead = self.lookahead.min(PATIENCE);
            // From then on it matters outside what has arrived since.
            let horizon = looked + ahead;
            let due = self.agenda.first_effect(|due| self.ahead(due));
            let deadline = due.min(self.first_release()).min(end);
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
                let at = arrival.at.max(self.now);
                if at >= end {
                    break;
                }
                #[cfg(test)]
                (self.books.tape.inputs).push((at, arrival.node, arrival.packet.clone()));
                self.advance(at);
                self.arrive(arrival.node, arrival.packet);
            }
            self.advance(looked);
            self.serve_kernel(&mut packet)?;
            self.release(looked, &mut exchange)?;
        }
        (self.books.cpu, self.books.system) = used();
        Ok(self.close())
    }

    /// For how long a thing that is due is of no consequence outside.
    fn ahead(&self, due: Due) -> Duration {
        match due {
            Due::Sent(i) | Due::Discipline(i) => self.links[i].delay,
            Due::Start(_) | Due::Stop(_) | Due::Application(_) | Due::Wake(_) => self.lookahead,
            Due::Change | Due::Sample => Duration::ZERO,
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

    /// When the first packet comes out of a wire.
    fn first_release(&self) -> Time {
        let all = self.links.iter().map(|l| l.release_at());
        all.min().unwrap_or(Time::MAX)
    }

    /// What comes out of the wires up to `to` goes to the kernel.
    pub(super) fn release(&mut self, to: Time, exchange: &mut Exchange) -> Result<()> {
        let mut departures = Vec::new();
        loop {
            let links = self.links.iter_mut().enumerate();
            let first = links.min_by_key(|(_, link)| link.release_at());
            let Some((link, first)) = first.filter(|(_, link)| link.release_at() <= to) else {
                break;
            };
            let from = self.plan.scenario.links[first.id].from;
            let (Some((nominal, packet)), Some(socket)) = (first.release(), self.socket_of[from])
            else {
                break;
            };
            #[cfg(test)]
            (self.books.tape.outputs).push((nominal, first.id, packet.clone()));
            departures.push(Departure {
                link,
                socket,
                nominal,
                packet,
            });
        }
        self.hand_over(&departures, exchange)
    }

    fn hand_over(&mut self, departures: &[Departure], exchange: &mut Exchange) -> Result<()> {
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
