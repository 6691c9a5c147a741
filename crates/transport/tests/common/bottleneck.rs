//! One stream over one link with a finite queue, stepped from acknowledgement to acknowledgement, so
//! a test can look into the controller at each.
#![allow(dead_code, reason = "each test file uses its own part")]

use crate::common::Dice;
use accord_control::Controller;
use accord_transport::Segment;
use accord_transport::stream::{Settings, StreamReceiver, StreamSender};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::BTreeMap;

pub const PACKET: Bytes = Bytes::new(1500);

/// A link, and its effects on packets.
pub struct Link {
    pub rate: Rate,
    /// Both ways.
    pub propagation: Duration,
    /// Packets that wait at most.
    pub buffer: u64,
    /// The probability that a packet is lost.
    pub loss: f64,
    /// Acknowledgements come back in batches, at multiples of this time.
    pub batches: Option<Duration>,
    /// A token bucket with a rate and a depth in bytes in place of the queue.
    pub policer: Option<(Rate, f64)>,
    /// The queue length in packets from which on an arriving packet is marked.
    pub mark_at: u64,
    /// Packets of others that arrive with each packet.
    pub free: Time,
    tokens: (f64, Time),
}

impl Link {
    pub fn new(mbps: f64, rtt_ms: f64, buffer: u64) -> Link {
        Link {
            rate: Rate::from_bps_f64(mbps * 1e6),
            propagation: Duration::from_secs_f64(rtt_ms / 1e3),
            buffer,
            loss: 0.0,
            batches: None,
            policer: None,
            mark_at: u64::MAX,
            free: Time::ZERO,
            tokens: (0.0, Time::ZERO),
        }
    }

    /// The bandwidth-delay product in packets.
    pub fn bdp(&self) -> f64 {
        self.rate.as_bps_f64() * self.propagation.as_secs_f64() / 8.0 / PACKET.as_f64()
    }

    /// The packets that wait or are in service.
    pub fn queued(&self, now: Time) -> u64 {
        let left = self.free.since(now).as_secs_f64();
        (left * self.rate.as_bps_f64() / 8.0 / PACKET.as_f64()).ceil() as u64
    }

    /// Returns the time at which a packet has passed, and whether it is marked, or `None` if it is
    /// dropped.
    fn pass(&mut self, now: Time, dice: &mut Dice) -> Option<(Time, bool)> {
        if self.loss > 0.0 && dice.chance(self.loss) {
            return None;
        }
        if let Some((rate, depth)) = self.policer {
            let (tokens, since) = self.tokens;
            let gained = rate.as_bps_f64() / 8.0 * now.since(since).as_secs_f64();
            let tokens = if since == Time::ZERO { depth } else { (tokens + gained).min(depth) };
            let enough = tokens >= PACKET.as_f64();
            let spent = if enough { PACKET.as_f64() } else { 0.0 };
            self.tokens = (tokens - spent, now);
            if !enough {
                return None;
            }
        }
        let queued = self.queued(now);
        if queued > self.buffer {
            return None;
        }
        self.free = self.free.max(now) + self.rate.transmission(PACKET);
        Some((self.free, queued >= self.mark_at))
    }
}

#[derive(Clone, Copy)]
enum Event {
    Arrive { number: u64, sent: Time, marked: bool },
    Ack(Segment),
    Application,
}

/// A sender, its link and its receiver.
pub struct Path<C: Controller> {
    pub sender: StreamSender<C>,
    receiver: StreamReceiver,
    pub link: Link,
    pub now: Time,
    /// The rate at which the application has data; as much as fits without one.
    application: Option<Rate>,
    events: BTreeMap<(Time, u64), Event>,
    sequence: u64,
    wake: Time,
    pub dice: Dice,
    /// Packets that arrived, were sent and were dropped.
    pub arrived: u64,
    pub sent: u64,
    pub dropped: u64,
}

impl<C: Controller> Path<C> {
    pub fn new(controller: C, link: Link) -> Path<C> {
        let mut path = Path::idle(controller, link);
        path.sender.supply(u64::MAX);
        path
    }

    /// One whose application makes data at a rate.
    pub fn limited(controller: C, link: Link, rate: Rate) -> Path<C> {
        let mut path = Path::idle(controller, link);
        path.application = Some(rate);
        path.push(Time::ZERO, Event::Application);
        path
    }

    fn idle(controller: C, link: Link) -> Path<C> {
        Path {
            sender: StreamSender::new(controller, PACKET, Settings::LINUX),
            receiver: StreamReceiver::new(),
            link,
            now: Time::ZERO,
            application: None,
            events: BTreeMap::new(),
            sequence: 0,
            wake: Time::ZERO,
            dice: Dice(1),
            arrived: 0,
            sent: 0,
            dropped: 0,
        }
    }

    pub fn controller(&self) -> &C {
        self.sender.controller()
    }

    /// From now on the application has data at this rate; as much as fits without one. Nothing if
    /// the rate is zero.
    pub fn limit(&mut self, rate: Option<Rate>) {
        self.sender.stop();
        match rate {
            None => self.sender.supply(u64::MAX),
            Some(Rate::ZERO) => {}
            Some(_) if self.application.is_none() => self.push(self.now, Event::Application),
            Some(_) => {}
        }
        self.application = rate.filter(|rate| *rate > Rate::ZERO);
        self.wake = self.now;
    }

    fn push(&mut self, at: Time, event: Event) {
        self.sequence += 1;
        self.events.insert((at, self.sequence), event);
    }

    fn send(&mut self) {
        loop {
            match self.sender.poll(self.now) {
                Ok(Segment::Data { number, sent }) => {
                    self.sent += 1;
                    match self.link.pass(self.now, &mut self.dice) {
                        Some((at, marked)) => {
                            let half = self.link.propagation.mul_f64(0.5);
                            self.push(at + half, Event::Arrive { number, sent, marked });
                        }
                        None => self.dropped += 1,
                    }
                }
                Ok(other) => panic!("{other:?}"),
                Err(again) => {
                    self.wake = again.min(self.sender.next_wake());
                    return;
                }
            }
        }
    }

    /// Handles the next event. Returns true if there was one.
    pub fn step(&mut self) -> bool {
        self.send();
        let next = self.events.first_key_value().map(|(&(at, _), _)| at);
        if next.is_none_or(|next| self.wake < next) {
            if self.wake == Time::MAX {
                return false;
            }
            self.now = self.now.max(self.wake);
            self.sender.on_wake(self.now);
            return true;
        }
        let ((at, _), event) = self.events.pop_first().expect("there is one");
        self.now = at;
        match event {
            Event::Arrive { number, sent, marked } => {
                let (fresh, ack) = self.receiver.on_data(number, sent, marked);
                self.arrived += u64::from(fresh);
                let mut back = at + self.link.propagation.mul_f64(0.5);
                if let Some(period) = self.link.batches {
                    back = Time::from_ps(back.as_ps().next_multiple_of(period.as_ps()));
                }
                self.push(back, Event::Ack(ack));
            }
            Event::Ack(Segment::Ack { next, block, block_len, echo, marked }) => {
                self.sender.on_ack(next, block, block_len, echo, marked, at);
            }
            Event::Ack(other) => panic!("{other:?}"),
            Event::Application => {
                if let Some(rate) = self.application {
                    self.sender.supply(1);
                    self.push(at + rate.transmission(PACKET), Event::Application);
                }
            }
        }
        true
    }

    /// Runs until a condition holds. Panics if it does not within `limit` seconds.
    pub fn until(&mut self, limit: f64, what: &str, mut holds: impl FnMut(&Path<C>) -> bool) {
        let end = self.now + Duration::from_secs_f64(limit);
        while !holds(self) {
            assert!(self.now < end && self.step(), "never {what}");
        }
    }

    /// Runs for `seconds`, and calls `look` after each event.
    pub fn run(&mut self, seconds: f64, mut look: impl FnMut(&Path<C>)) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            if !self.step() {
                self.now = end;
            }
            look(self);
        }
    }

    /// The goodput of the next seconds, over the rate of the link.
    pub fn utilisation(&mut self, seconds: f64) -> f64 {
        let (arrived, from) = (self.arrived, self.now);
        self.run(seconds, |_| ());
        let bits = (self.arrived - arrived) as f64 * PACKET.bits_f64();
        bits / self.now.since(from).as_secs_f64() / self.link.rate.as_bps_f64()
    }
}
