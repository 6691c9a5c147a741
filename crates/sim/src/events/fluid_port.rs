//! Fluid ports: ports whose queue packets share with a fluid.
//!
//! A link with fluid flows has one FIFO queue. The fluid engine moves it at the end of each step,
//! by the arrivals of fluid and of packets. Within a step the queue grows by the fluid's inflow of
//! the previous step and by each packet, and is served at the link's rate. A packet therefore
//! leaves q(t)/c after its arrival.
//!
//! The drops and marks of the discipline are known as a share of the arrivals of the previous step.
//! They apply to a packet with that probability.
//!
//! Overflow is shared in proportion to arrivals. With inflow f of the fluid and time t since the
//! previous packet, f·t bytes of the fluid and a packet of b bytes arrive, of which o bytes
//! overflow. The packet is lost with probability o/(f·t + b), and the fluid loses the rest of o. So
//! the packets of a burst lose the bytes by which the burst overflows, whichever flows they belong
//! to, and evenly spaced packets lose the same share as the fluid. The share is averaged over half
//! of a round trip. Without the average, the few packets that a flow sends back to back would pay
//! for their own overflow, as no flow of the fluid does, since its packets are spread.

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

/// A port whose queue packets share with a fluid.
pub struct FluidPort {
    /// The service rate, in bytes per second.
    rate: f64,
    control_priority: bool,
    /// The state of the fluid in this step, with the backlog in bytes as of `since`.
    fluid: fluid::Shared,
    since: Time,
    /// The bytes of the fluid that arrived since the previous packet, and those of them that
    /// overflowed.
    inflow: f64,
    over: f64,
    /// The estimated overflow of fluid and packets since the start of the step, in bytes.
    guessed: f64,
    /// The share of arrivals that overflow, averaged over the fluid's memory.
    full: f64,
    /// The bytes of packets that arrived in this step, and of those that did not fit.
    brought: f64,
    missed: f64,
    /// The packets that wait or are in service, with their departures.
    pub waiting: VecDeque<(Time, Handle, Bytes)>,
    /// The departure of the latest packet.
    last: Time,
    /// The latest time at which a packet entered the wire.
    sent: Time,
    held: Count,
    counters: Counters,
}

/// The outcome of an offer.
pub enum Admission {
    /// The packet waits, and leaves at this time.
    Queued(Time),
    /// The packet is served ahead of the waiting ones, and leaves at this time.
    Expedited(Time),
    /// The packet is dropped.
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
        // The overflow within a step was an estimate.
        self.over += fluid.over - self.guessed;
        self.guessed = 0.0;
        self.fluid = fluid;
    }

    /// Ends a step of the fluid. Returns the bytes of packets that arrived in it, and of those that
    /// did not fit.
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

    /// Adds `bytes` to the overflow of this step.
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
        // A packet waits no longer than in a full queue and the share that the fluid leaves to
        // packets.
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

    /// Removes the packet that leaves at `now`. Also returns the departure of the next one.
    pub fn leave(&mut self, now: Time) -> Option<(Handle, Option<Time>)> {
        let &(at, handle, size) = self.waiting.front()?;
        debug_assert_eq!(at, now, "an event is for the first packet");
        self.waiting.pop_front();
        self.held.remove(size);
        self.counters.served.add(size);
        Some((handle, self.waiting.front().map(|next| next.0)))
    }

    /// Returns the time at which a packet enters the wire after a service that ends at `at`.
    /// Packets that were served out of order enter before it.
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
    /// The links with fluid ports.
    pub links: &'a [LinkId],
    /// The index in `links` of each link, if it is there.
    queue_of: Vec<Option<u32>>,
}

impl<'a> SharedFluid<'a> {
    /// Creates the fluid at the start of a run over a network of `links` links.
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

    /// Returns the limits of the model and the number of classes, as notes of the run.
    pub fn notes(&self) -> Vec<String> {
        self.fluid.notes()
    }

    /// Returns the bytes that a flow of each class has sent.
    pub fn sent(&self) -> &[f64] {
        self.fluid.sent()
    }

    /// Returns the reading of a link, if it has a fluid port.
    pub fn link(&self, link: LinkId) -> Option<LinkReading> {
        self.queue_of[link].map(|queue| self.fluid.link(queue as usize))
    }
}
