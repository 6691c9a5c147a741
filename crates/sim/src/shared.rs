//! The ports that packets share with a fluid.
//!
//! A link with fluid flows has one FIFO queue. The fluid engine moves it at the end of each step, by
//! what came of both kinds. In between it fills by the fluid's inflow of the step before and by each
//! packet, and is served at the link's rate. So a packet waits for what is before it, and leaves when
//! that has been served: q(t)/c after it came.
//!
//! What the discipline drops or marks, and what does not fit, is known as a part of what arrived in the
//! step before. A packet draws its fate from these parts. In a full queue it takes the room of bytes of
//! the fluid that come in the same step. Without such bytes it does not fit.

use crate::packet::Packet;
use crate::pool::Place;
use accord_aqm::{Class, Ecn};
use accord_fluid::{self as fluid, Background, Crowd, FluidError};
use accord_port::{Count, Counters, Packet as _};
use accord_record::{FlowReading, LinkReading};
use accord_scenario::{Link, LinkId};
use accord_traffic::Dice;
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

/// The port of a link whose queue is a fluid's.
pub struct Shared {
    /// Bytes per second.
    rate: f64,
    control_priority: bool,
    /// What the fluid does in this step, with the bytes queued as of `since`.
    fluid: fluid::Shared,
    since: Time,
    /// The bytes of packets that came in this step.
    pub brought: f64,
    /// The packets that wait or are served, with the times of their departures.
    pub waiting: VecDeque<(Time, Place, Bytes)>,
    /// The departure of the packet that came last.
    last: Time,
    /// The time at which a packet was put on the wire last.
    sent: Time,
    held: Count,
    counters: Counters,
}

/// Where a packet goes that was offered.
pub enum Fate {
    /// It leaves at this time, after those that wait.
    Waits(Time),
    /// It is served before those that wait, and leaves at this time.
    Passes(Time),
    /// It is gone.
    Dropped,
}

impl Shared {
    /// Creates an empty port.
    pub fn new(link: &Link) -> Shared {
        Shared {
            rate: link.rate.as_bps_f64() / 8.0,
            control_priority: link.control_priority,
            fluid: fluid::Shared::default(),
            since: Time::ZERO,
            brought: 0.0,
            waiting: VecDeque::new(),
            last: Time::ZERO,
            sent: Time::ZERO,
            held: Count::default(),
            counters: Counters::default(),
        }
    }

    /// Begins a step of the fluid at `now`.
    pub fn begin(&mut self, now: Time, fluid: fluid::Shared) {
        (self.fluid, self.since) = (fluid, now);
    }

    /// Moves the queue on to `now`. The fluid fills it up to its limit. Above that it only falls.
    fn fill(&mut self, now: Time) {
        let seconds = now.since(self.since).as_secs_f64();
        self.since = now;
        let fluid = &mut self.fluid;
        let above = (fluid.backlog - fluid.limit).max(0.0);
        let falls = seconds.min(above / self.rate);
        let backlog = fluid.backlog - falls * self.rate;
        let moved = backlog + (seconds - falls) * (fluid.inflow - self.rate);
        fluid.backlog = moved.clamp(0.0, backlog.max(fluid.limit));
    }

    /// Takes a packet that arrives at `now`, or drops it.
    pub fn offer(&mut self, now: Time, packet: &mut Packet, dice: &mut Dice) -> Fate {
        self.fill(now);
        let (size, class) = (packet.bytes(), packet.meta().class);
        let bytes = size.as_f64();
        self.counters.offered.add(size);
        self.brought += bytes;
        let service = Duration::from_secs_f64(bytes / self.rate);
        if class == Class::OutOfBand && self.control_priority {
            self.counters.served.add(size);
            return Fate::Passes(now + service);
        }
        let fluid = &mut self.fluid;
        if fluid.judged > 0.0 && dice.uniform() < fluid.judged {
            if !fluid.ecn || packet.ecn == Ecn::NotCapable {
                self.counters.refused.add(size);
                return Fate::Dropped;
            }
            packet.mark();
            self.counters.marked.add(size);
        }
        let over = fluid.backlog + bytes - fluid.limit;
        if over > fluid.came || fluid.overflow > 0.0 && dice.uniform() < fluid.overflow {
            self.counters.overflowed.add(size);
            return Fate::Dropped;
        }
        if class == Class::InBand {
            packet.add_virtual_delay(Duration::from_secs_f64(fluid.virtual_delay));
        }
        let wait = Duration::from_secs_f64(fluid.backlog / self.rate);
        fluid.backlog += bytes;
        self.last = (now + wait).max(self.last) + service;
        self.held.add(size);
        Fate::Waits(self.last)
    }

    /// Takes out the packet that leaves at `now`. Also returns when the next one leaves.
    pub fn leave(&mut self, now: Time) -> Option<(Place, Option<Time>)> {
        let &(at, place, size) = self.waiting.front()?;
        debug_assert_eq!(at, now, "an event is for the first packet");
        self.waiting.pop_front();
        self.held.remove(size);
        self.counters.served.add(size);
        Some((place, self.waiting.front().map(|next| next.0)))
    }

    /// Returns when a packet is on the wire whose service ends at `at`: not before one that was served
    /// out of turn.
    pub fn in_order(&mut self, at: Time) -> Time {
        self.sent = self.sent.max(at);
        self.sent
    }

    /// The counters of packets.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The packets that wait or are served.
    pub fn held(&self) -> Count {
        self.held
    }
}

/// The fluid of a run with packets.
pub struct Crowded<'a> {
    /// The classes of flows and their queues.
    pub fluid: Background<'a>,
    /// The links whose queues are the fluid's.
    pub links: &'a [LinkId],
    /// The places of links in `links`.
    place: Vec<Option<u32>>,
}

impl<'a> Crowded<'a> {
    /// Creates the fluid at the start of a run over a network of so many links.
    pub fn new(crowd: &'a Crowd<'a>, links: usize) -> Result<Crowded<'a>, FluidError> {
        let mut place = vec![None; links];
        for (queue, &link) in crowd.links().iter().enumerate() {
            place[link] = Some(queue as u32);
        }
        Ok(Crowded {
            fluid: Background::new(crowd)?,
            links: crowd.links(),
            place,
        })
    }

    /// Takes a sample.
    pub fn sample(&mut self, now: Time) {
        self.fluid.sample(now);
    }

    /// Returns the flows of each class with the reading of one of them.
    pub fn classes(&self) -> impl Iterator<Item = (&[usize], FlowReading)> {
        self.fluid.classes()
    }

    /// Returns what the model leaves out, and how many classes it has, as notes of the run.
    pub fn notes(&self) -> Vec<String> {
        self.fluid.notes()
    }

    /// Returns the bytes that a flow of each class has sent.
    pub fn sent(&self) -> &[f64] {
        self.fluid.sent()
    }

    /// Returns the reading of a link, if its queue is the fluid's.
    pub fn link(&self, link: LinkId) -> Option<LinkReading> {
        self.place[link].map(|queue| self.fluid.link(queue as usize))
    }
}
