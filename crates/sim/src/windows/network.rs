//! The parts of a network that is run in windows.

use super::arrivals::Coming;
use super::fused::{Fused, Line, Place};
use super::hop::{Came, Hop};
use super::lines::{Calm, Express};
use super::stretch::Stretch;
use crate::core::Limits;
use crate::gauge::{Gauge, Links};
use crate::packet::Packet;
use crate::pipe::Pipe;
use crate::pool::Place as PacketPlace;
use crate::ticket::Ticket;
use accord_aqm::{AnyAqm, Aqm};
use accord_elements::Loss;
use accord_port::{Area, Count, Counters, DropReason, Port, Timeline};
use accord_scenario::LinkId;
use accord_traffic::Dice;
use accord_units::{Duration, Time};

/// The links of a network, and the paths over them.
pub struct Network {
    /// The place of each link.
    pub places: Vec<Place>,
    pub stations: Vec<Station>,
    pub fused: Vec<Fused>,
    pub calms: Vec<Calm>,
    /// The ports that no flow uses and that have no timer.
    pub idle: Vec<Queue>,
    pub paths: Paths,
}

/// A link that several feed, or whose queue matters.
pub struct Station {
    /// The link.
    pub link: LinkId,
    /// Its port.
    pub queue: Queue,
    /// Its propagation delay.
    pub delay: Duration,
    /// The parts that feed it.
    pub feeds: Vec<Feed>,
    /// The time before which all arrivals have been handled.
    pub clock: Time,
    /// The packets that will arrive.
    pub coming: Coming,
    /// The lanes that it feeds.
    pub lanes: Vec<Onward>,
    /// The time at which the queue discipline wants its timer.
    pub timer: Time,
}

impl Station {
    /// Returns where a packet comes out that is on the wire at `sent`.
    #[inline(always)]
    pub fn leaves(&self, sent: Time) -> Came {
        Came {
            link: self.link,
            at: sent + self.delay,
        }
    }
}

/// The port of a station.
pub enum Queue {
    /// Holds the packets that wait. The end of a service is known when it begins.
    Held(Box<Held>),
    /// A droptail port with two priorities that leaves its packets in the pool.
    Express(Box<Express>),
    /// Has one FIFO queue at a fixed rate, with the random stream of its discipline. A departure is known
    /// at arrival.
    Timeline(Box<(Timeline, Dice)>),
    /// Has one FIFO queue at a fixed rate, without a limit, whose length is never read.
    Pipe(Pipe),
}

/// A port that holds packets.
pub struct Held {
    pub port: Port<Ticket>,
    /// The random stream of the discipline.
    pub dice: Dice,
    /// The losses on the wire, if there are any. A packet leaves such a port when its service ends, since
    /// it is lost then.
    pub lossy: Option<Box<Lossy>>,
}

/// The end of a service at a port whose wire loses packets.
pub struct Lossy {
    pub loss: Loss,
    /// The packet in service.
    pub serving: Option<Ticket>,
}

/// A lane that a part feeds.
#[derive(Clone, Copy)]
pub struct Onward {
    /// The index of the fused link.
    pub fused: usize,
    /// The least time from the part to it.
    pub delay: Duration,
}

/// The packets that a part gets from another one.
pub struct Feed {
    /// The station that they leave, or none if senders do.
    pub from: Option<usize>,
    /// The least time that they take.
    pub delay: Duration,
}

/// The paths of all flows.
pub struct Paths {
    /// The lists of hops, each closed by an end. Packets carry their place in it.
    pub hops: Vec<Hop>,
    pub stretches: Vec<Stretch>,
}

impl Paths {
    /// Moves a packet that came out of the link of its hop to the next hop, as [`Paths::reach`] does.
    #[inline(always)]
    pub fn step(&mut self, packet: &mut Packet, came: &mut Came, limits: Limits) -> (Hop, bool) {
        packet.hop += 1;
        self.reach(&mut packet.hop, came, limits)
    }

    /// Returns the hop of a packet that is at this place, and whether it takes the packet before its time.
    /// A stretch is passed at once. A packet that would come out of it after the end stays there: its
    /// time is `Time::MAX`.
    #[inline(always)]
    pub fn reach(&mut self, place: &mut u32, came: &mut Came, limits: Limits) -> (Hop, bool) {
        let mut hop = self.hops[*place as usize];
        if hop.is_stretch() {
            let stretch = &mut self.stretches[hop.index()];
            let Some(there) = stretch.pass(came.at, limits) else {
                came.at = Time::MAX;
                return (hop, false);
            };
            *place += 1;
            *came = Came {
                link: stretch.last,
                at: there,
            };
            hop = self.hops[*place as usize];
        }
        (hop, hop.is_early() && came.at <= limits.end)
    }
}

/// Returns the time up to which a part with these feeds can be computed, if the senders and the stations
/// have been up to these times. It is at most `end`.
pub fn horizon(feeds: &[Feed], senders: Time, station: impl Fn(usize) -> Time, end: Time) -> Time {
    let known = feeds
        .iter()
        .map(|feed| feed.from.map_or(senders, &station) + feed.delay);
    known.fold(end, Time::min)
}

impl Queue {
    /// The port, to be read.
    fn gauge(&mut self) -> &mut dyn Gauge {
        match self {
            Queue::Held(held) => &mut **held,
            Queue::Express(express) => &mut **express,
            Queue::Timeline(timeline) => &mut timeline.0,
            Queue::Pipe(pipe) => pipe,
        }
    }

    /// Returns the time at which the queue discipline wants its timer, or `Time::MAX`.
    pub fn next_timer(&self) -> Time {
        let at = match self {
            Queue::Held(held) => held.port.aqm().next_timer(),
            Queue::Timeline(timeline) => timeline.0.aqm().next_timer(),
            Queue::Express(_) | Queue::Pipe(_) => None,
        };
        at.unwrap_or(Time::MAX)
    }
}

impl Held {
    /// Passes a packet that arrives at `now` through an idle port, as [`Port::pass`] does.
    #[inline]
    pub fn pass(
        &mut self,
        now: Time,
        place: PacketPlace,
        packet: &mut Packet,
    ) -> Option<Result<Time, DropReason>> {
        if self.lossy.is_some() {
            return None;
        }
        self.port.advance(now);
        if self.port.held().packets > 0 {
            return None;
        }
        let (dice, mut ticket) = (&mut self.dice, Ticket::new(place, packet));
        let passed = (self.port).pass(now, &mut ticket, &mut || dice.uniform());
        ticket.settle(packet);
        passed
    }

    /// Returns the time at which a service ends, if that matters to the port.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        match self.lossy {
            Some(_) => self.port.busy_until(),
            None => self.port.next(),
        }
    }
}

impl Gauge for Held {
    fn advance(&mut self, now: Time) {
        if self.lossy.is_none() {
            self.port.advance(now);
        }
    }

    fn counters(&self) -> Counters {
        *self.port.counters()
    }

    fn held(&self) -> Count {
        self.port.held()
    }

    fn sent(&self, now: Time) -> f64 {
        self.port.sent(now)
    }

    fn area(&self, now: Time) -> Area {
        self.port.area(now)
    }

    fn take_longest(&mut self) -> Count {
        self.port.take_longest()
    }

    fn aqm(&self) -> Option<&AnyAqm> {
        Some(self.port.aqm())
    }
}

impl Links for Network {
    fn settle(&mut self, until: Time) {
        for stretch in &mut self.paths.stretches {
            stretch.settle(&mut self.calms, until);
        }
    }

    fn port(&mut self, link: LinkId) -> &mut dyn Gauge {
        match self.places[link] {
            Place::Station(i) => self.stations[i].queue.gauge(),
            Place::Fused(i) => match &mut self.fused[i].line {
                Line::Pipe(pipe) => pipe,
                Line::Lane(lane) => &mut **lane,
            },
            Place::Calm(i) => &mut self.calms[i],
            Place::Idle(i) => self.idle[i].gauge(),
        }
    }
}
