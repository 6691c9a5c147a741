//! The ports that packets share with a fluid.
//!
//! A link with fluid flows has one FIFO queue. The fluid engine moves it at the end of each step, by
//! what came of both kinds. In between it fills by the fluid's inflow of the step before and by each
//! packet, and is served at the link's rate. So a packet waits for what is before it, and leaves when
//! that has been served: q(t)/c after it came.
//!
//! What the discipline drops or marks is known as a part of what arrived in the step before. A packet draws
//! its fate from it.
//!
//! What does not fit is shared in proportion to what comes. With f the inflow of the fluid and t the time
//! since the packet before, f·t bytes of the fluid and a packet of b come, and o of all these find no room.
//! The packet is lost with probability o/(f·t + b), and the rest of o is the fluid's. So packets that come
//! in a burst lose what the burst costs, whichever flows they are of, and packets that come evenly lose the
//! part that the fluid does. The part is a mean over half of a round trip. The few packets that a flow has
//! one after the other in any case would otherwise pay for what they make overflow themselves, as no flow of
//! the crowd does, whose packets are spread.

use crate::gauge::Gauge;
use crate::packet::Packet;
use crate::pool::Handle;
use accord_aqm::{Class, Ecn};
use accord_fluid::{self as fluid, Background, Crowd, FluidError};
use accord_port::{Count, Counters, PortPacket as _};
use accord_record::{FlowReading, LinkReading};
use accord_scenario::{Link, LinkId};
use accord_traffic::Dice;
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

/// The port of a link whose queue is a fluid's.
pub struct FluidPort {
    /// Bytes per second.
    rate: f64,
    control_priority: bool,
    /// What the fluid does in this step, with the bytes queued as of `since`.
    fluid: fluid::Shared,
    since: Time,
    /// What came of the fluid since the packet before, and what of it found no room, in bytes.
    inflow: f64,
    over: f64,
    /// What was taken to find no room since the start of the step, of both kinds.
    guessed: f64,
    /// The part of what comes that finds no room, in the mean of the fluid's memory.
    full: f64,
    /// The bytes of packets that came in this step, and of those that did not fit.
    brought: f64,
    missed: f64,
    /// The packets that wait or are served, with the times of their departures.
    pub waiting: VecDeque<(Time, Handle, Bytes)>,
    /// The departure of the packet that came last.
    last: Time,
    /// The time at which a packet was put on the wire last.
    sent: Time,
    held: Count,
    counters: Counters,
}

/// Where a packet goes that was offered.
pub enum Admission {
    /// It leaves at this time, after those that wait.
    Queued(Time),
    /// It is served before those that wait, and leaves at this time.
    Expedited(Time),
    /// It is gone.
    Dropped,
}

impl FluidPort {
    /// Creates an empty port.
    pub fn new(link: &Link) -> FluidPort {
        FluidPort {
            rate: link.rate.as_bps_f64() / 8.0,
            control_priority: link.control_priority,
            fluid: fluid::Shared::default(),
            since: Time::ZERO,
            inflow: 0.0,
            over: 0.0,
            guessed: 0.0,
            full: 0.0,
            brought: 0.0,
            missed: 0.0,
            waiting: VecDeque::new(),
            last: Time::ZERO,
            sent: Time::ZERO,
            held: Count::default(),
            counters: Counters::default(),
        }
    }

    /// Begins a step of the fluid at `now`.
    pub fn begin(&mut self, now: Time, fluid: fluid::Shared) {
        self.fill(now);
        // Within a step the queue was a guess.
        self.over += fluid.over - self.guessed;
        self.guessed = 0.0;
        self.fluid = fluid;
    }

    /// Ends a step of the fluid. Returns the bytes of packets that came in it, and those that did not fit.
    pub fn end(&mut self) -> (f64, f64) {
        let packets = (self.brought, self.missed);
        (self.brought, self.missed) = (0.0, 0.0);
        packets
    }

    /// Moves the queue on to `now`. The fluid fills it up to its limit.
    fn fill(&mut self, now: Time) {
        let seconds = now.since(self.since).as_secs_f64();
        self.since = now;
        let fluid = &mut self.fluid;
        self.inflow += seconds * fluid.inflow;
        let moved = (fluid.backlog + seconds * (fluid.inflow - self.rate)).max(0.0);
        fluid.backlog = moved.min(fluid.limit);
        let over = moved - fluid.backlog;
        self.overflow(over);
    }

    /// So many bytes found no room, by what is known of this step.
    fn overflow(&mut self, bytes: f64) {
        self.over += bytes;
        self.guessed += bytes;
    }

    /// Takes a packet that arrives at `now`, or drops it.
    pub fn offer(&mut self, now: Time, packet: &mut Packet, dice: &mut Dice) -> Admission {
        self.fill(now);
        let (size, class) = (packet.bytes(), packet.meta().class);
        let bytes = size.as_f64();
        self.counters.offered.add(size);
        self.brought += bytes;
        let service = Duration::from_secs_f64(bytes / self.rate);
        if class == Class::OutOfBand && self.control_priority {
            self.counters.served.add(size);
            return Admission::Expedited(now + service);
        }
        let fluid = &mut self.fluid;
        if fluid.judged > 0.0 && dice.uniform() < fluid.judged {
            if !fluid.ecn || packet.ecn == Ecn::NotCapable {
                self.counters.refused.add(size);
                return Admission::Dropped;
            }
            packet.mark();
            self.counters.marked.add(size);
        }
        let arrived = std::mem::take(&mut self.inflow) + bytes;
        let room = fluid.limit - fluid.backlog;
        self.overflow((bytes - room).max(0.0));
        let over = std::mem::take(&mut self.over);
        let fluid = &mut self.fluid;
        self.full +=
            -(-arrived / (self.rate * fluid.memory)).exp_m1() * (over / arrived - self.full);
        // Packets cannot wait longer than in a full queue, but for the room that the fluid leaves to them.
        let ahead = self.last.max(now).since(now).as_secs_f64() * self.rate;
        let crowded = ahead + bytes > fluid.limit + fluid.inflow * fluid.memory;
        if crowded || self.full > 0.0 && dice.uniform() < self.full {
            self.counters.overflowed.add(size);
            self.missed += bytes;
            return Admission::Dropped;
        }
        if fluid.virtual_delay > 0.0 && class != Class::OutOfBand {
            packet.add_virtual_delay(Duration::from_secs_f64(fluid.virtual_delay));
        }
        let wait = Duration::from_secs_f64(fluid.backlog / self.rate);
        fluid.backlog = (fluid.backlog + bytes).min(fluid.limit);
        self.last = (now + wait).max(self.last) + service;
        self.held.add(size);
        Admission::Queued(self.last)
    }

    /// Takes out the packet that leaves at `now`. Also returns when the next one leaves.
    pub fn leave(&mut self, now: Time) -> Option<(Handle, Option<Time>)> {
        let &(at, handle, size) = self.waiting.front()?;
        debug_assert_eq!(at, now, "an event is for the first packet");
        self.waiting.pop_front();
        self.held.remove(size);
        self.counters.served.add(size);
        Some((handle, self.waiting.front().map(|next| next.0)))
    }

    /// Returns when a packet is on the wire whose service ends at `at`: not before one that was served
    /// out of turn.
    pub fn in_order(&mut self, at: Time) -> Time {
        self.sent = self.sent.max(at);
        self.sent
    }
}

impl Gauge for FluidPort {
    fn counters(&self) -> Counters {
        self.counters
    }

    fn held(&self) -> Count {
        self.held
    }

    fn sent(&self, _now: Time) -> f64 {
        0.0
    }
}

/// The fluid of a run with packets.
pub struct SharedFluid<'a> {
    /// The classes of flows and their queues.
    pub fluid: Background<'a>,
    /// The links whose queues are the fluid's.
    pub links: &'a [LinkId],
    /// The places of links in `links`.
    queue_of: Vec<Option<u32>>,
}

impl<'a> SharedFluid<'a> {
    /// Creates the fluid at the start of a run over a network of so many links.
    pub fn new(crowd: &'a Crowd<'a>, links: usize) -> Result<SharedFluid<'a>, FluidError> {
        let mut queue_of = vec![None; links];
        for (queue, &link) in crowd.links().iter().enumerate() {
            queue_of[link] = Some(queue as u32);
        }
        Ok(SharedFluid {
            fluid: Background::new(crowd)?,
            links: crowd.links(),
            queue_of,
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
        self.queue_of[link].map(|queue| self.fluid.link(queue as usize))
    }
}
