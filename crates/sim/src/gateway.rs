//! Gateways in the simulation: the edge queue of a tunnel, and the packets of other flows in it.
//!
//! A packet that arrives at a gateway leaves the calendar and waits in the edge queue. A datagram of the
//! tunnel's flow then travels in its place, and the packet continues at the far gateway. Lost packets of a
//! tunnel with a contract are sent again, and later packets of their flow wait for them there.

use crate::packet::Packet;
use accord_aqm::PacketMeta;
use accord_family::Service;
use accord_port::{Count, Edge, PortPacket as _};
use accord_scenario::Scenario;
use accord_traffic::{Purpose, secret};
use accord_transport::tunnel::repair::{self, Missing, Place, Repairs};
use accord_transport::tunnel::{Gaps, Order, Part};
use accord_transport::{Segment, Sender};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// A packet that waits at the edge.
#[derive(Clone, Copy)]
struct EdgePacket {
    packet: Packet,
    overhead: u16,
}

impl accord_port::PortPacket for EdgePacket {
    fn meta(&self) -> PacketMeta {
        let meta = self.packet.meta();
        PacketMeta { size: meta.size + Bytes::new(u64::from(self.overhead)), ..meta }
    }

    fn mark(&mut self) {
        self.packet.mark();
    }

    fn add_virtual_delay(&mut self, delay: Duration) {
        self.packet.add_virtual_delay(delay);
    }
}

/// A packet that may be sent again, with the number of its latest datagram.
#[derive(Clone, Copy)]
struct Carried {
    number: u64,
    packet: Packet,
}

/// A packet in the network.
struct Inside {
    number: u64,
    packet: Packet,
    /// True if the packet may be sent again.
    kept: bool,
}

/// The time after which a lost packet is no longer sent again.
const GONE: Duration = Duration::from_secs(4);
const _: () = assert!(GONE.as_ps() > repair::LONGEST.as_ps());

/// Returns the place of a datagram. A tunnel has one session.
fn place(number: u64) -> Place {
    Place { session: 0, counter: number }
}

/// The gateways of a tunnel, at its entry and its exit.
pub struct Gateway {
    edge: Edge<EdgePacket>,
    overhead: u16,
    /// True once the tunnel may send.
    open: bool,
    /// The packets in the network, by the numbers of their datagrams.
    inside: VecDeque<Inside>,
    /// True if lost packets are sent again.
    repairs_losses: bool,
    repairs: Repairs<Carried>,
    /// The lost packets that may be sent again, with the time of their loss.
    lost: VecDeque<(Time, Carried)>,
    /// The round-trip time known to the sender.
    round_trip: Duration,
    /// The far gateway: the missing datagrams, the packets that wait for them, and those that continue now.
    gaps: Gaps,
    order: Order<Packet>,
    out: Vec<Packet>,
    /// The time of the event that passes on packets that have waited long enough.
    awaited: Time,
    /// The packets that the edge queue dropped since they were last counted.
    dropped: Vec<Packet>,
    /// The numbers of packets that arrived, were sent and were dropped.
    counts: [Count; 3],
}

impl Gateway {
    /// Creates the gateways of flow `id`, if it is a tunnel.
    pub fn new(scenario: &Scenario, id: usize) -> Option<Gateway> {
        let flow = &scenario.flows[id];
        let tunnel = flow.tunnel.as_ref()?;
        let secret = secret(scenario.seed, id, Purpose::Edge);
        Some(Gateway {
            edge: Edge::new(&[Service::default()], tunnel.queue, flow.packet, secret),
            overhead: tunnel.overhead.get() as u16,
            open: false,
            inside: VecDeque::new(),
            repairs_losses: flow.service.contract > Rate::ZERO,
            repairs: Repairs::default(),
            lost: VecDeque::new(),
            round_trip: Duration::ZERO,
            gaps: Gaps::default(),
            order: Order::default(),
            out: Vec::new(),
            awaited: Time::MAX,
            dropped: Vec::new(),
            counts: [Count::default(); 3],
        })
    }

    /// Takes a packet that arrives at the edge.
    pub fn push(&mut self, packet: Packet, now: Time) {
        let waiting = EdgePacket { packet, overhead: self.overhead };
        self.counts[0].add(waiting.meta().size);
        let (dropped, counts) = (&mut self.dropped, &mut self.counts);
        self.edge.push(waiting, 0, now, &mut |waiting, _| {
            counts[2].add(waiting.meta().size);
            dropped.push(waiting.packet);
        });
    }

    /// Passes the size of the first packet and the length of the queue to the sender.
    pub fn offer(&mut self, sender: &mut Sender, now: Time) {
        if !self.open {
            return;
        }
        self.edge.set_round_trip(sender.view().rtt.unwrap_or_default());
        let (dropped, counts) = (&mut self.dropped, &mut self.counts);
        let head = self.edge.head(now, &mut |waiting, _| {
            counts[2].add(waiting.meta().size);
            dropped.push(waiting.packet);
        });
        let again = self
            .repairs
            .head(now)
            .map(|c| EdgePacket { packet: c.packet, overhead: self.overhead });
        let size = again.or(head.map(|head| head.packet)).map(|packet| packet.meta().size);
        sender.set_head(size, self.edge.len() + self.repairs.len());
    }

    /// Puts the next packet into a datagram. The datagram takes the packet's codepoint [RFC 6040
    /// §4.1].
    pub fn load(&mut self, datagram: &mut Packet, sender: &mut Sender, now: Time) {
        let Segment::Data { number, .. } = datagram.segment else {
            return debug_assert!(false, "the sender knows what waits");
        };
        let (packet, first) = match self.repairs.take() {
            Some((first, again)) => {
                self.lost.retain(|(_, lost)| lost.number != again.number);
                (again.packet, first)
            }
            None => {
                let Some(head) = self.edge.take() else {
                    return debug_assert!(false, "the sender knows what waits");
                };
                self.counts[1].add(head.packet.meta().size);
                (head.packet.packet, now)
            }
        };
        let waiting = EdgePacket { packet, overhead: self.overhead };
        datagram.size = waiting.meta().size.get() as u16;
        datagram.ecn = packet.ecn;
        let kept = self.repairs_losses && self.repairs.keeps(now);
        if kept {
            let carried = (Carried { number, packet }, usize::from(packet.size));
            self.repairs.keep(place(number), carried, first, now);
        }
        self.inside.push_back(Inside { number, packet, kept });
        self.offer(sender, now);
    }

    fn find(&mut self, number: u64) -> Option<Inside> {
        // Datagrams seldom overtake each other.
        let at = self.inside.partition_point(|inside| inside.number < number);
        let found = self.inside.get(at).is_some_and(|inside| inside.number == number);
        found.then(|| self.inside.remove(at))?
    }

    /// Takes the packet out of the datagram of this number.
    pub fn unload(&mut self, number: u64) -> Option<Packet> {
        self.find(number).map(|inside| inside.packet)
    }

    /// Takes the packet out of the datagram of this number, which was lost at `now`, unless it may be sent
    /// again.
    pub fn lose(&mut self, number: u64, now: Time) -> Option<Packet> {
        let Inside { packet, kept, .. } = self.find(number)?;
        while self.lost.front().is_some_and(|(then, _)| now.since(*then) > GONE) {
            self.dropped.extend(self.lost.pop_front().map(|(_, lost)| lost.packet));
        }
        if kept {
            self.lost.push_back((now, Carried { number, packet }));
        }
        (!kept).then_some(packet)
    }

    /// Takes a list of missing datagrams that came back. A packet whose datagram is only late is not sent
    /// again.
    pub fn on_missing(&mut self, missing: Missing, round_trip: Option<Duration>, now: Time) {
        self.round_trip = round_trip.unwrap_or(self.round_trip);
        self.repairs.set_round_trip(self.round_trip);
        let first = missing.first;
        self.repairs.begin(now);
        for counter in missing.counters() {
            if self.lost.iter().any(|(_, lost)| lost.number == counter) {
                let first = Place { counter, ..first };
                self.repairs.on_missing(&Missing { first, behind: 0 }, now);
            }
        }
    }

    /// Takes a packet that has come out of the datagram of this number at the far gateway. `is_ordered` says
    /// whether its flow counts its packets.
    pub fn arrive(&mut self, number: u64, packet: Option<Packet>, is_ordered: bool, now: Time) {
        if self.repairs_losses {
            self.gaps.on_arrival(place(number), false);
        }
        let Some(packet) = packet else { return };
        let wait = repair::longest_wait(self.round_trip);
        let part = match packet.segment {
            Segment::Data { number, .. }
                if is_ordered && !wait.is_zero() && self.gaps.is_open(now) =>
            {
                Part {
                    flow: u64::from(packet.flow),
                    first: number as u32,
                    length: 1,
                    begins: false,
                }
            }
            _ => return self.out.push(packet),
        };
        let since = Time::from_ps(now.as_ps().saturating_sub(wait.as_ps()));
        let (gaps, out) = (&self.gaps, &mut self.out);
        self.order.push(
            packet,
            (part, number, usize::from(packet.size)),
            |after, before| gaps.is_between(0, after, before, since),
            now + wait,
            &mut |packet| out.push(packet),
        );
        self.expire(now);
    }

    /// Passes on the packets that have waited long enough for others.
    pub fn expire(&mut self, now: Time) {
        let out = &mut self.out;
        self.order.expire(now, &mut |packet| out.push(packet));
        if self.awaited <= now {
            self.awaited = Time::MAX;
        }
    }

    /// Returns the time at which to call [`Gateway::expire`], unless that time was already
    /// returned.
    pub fn await_order(&mut self) -> Option<Time> {
        let next = self.order.next();
        let is_new = next < self.awaited;
        is_new.then(|| self.awaited = next)?;
        Some(next)
    }

    /// Takes the packets that continue at the far gateway.
    pub fn take_out(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.out)
    }

    /// Takes the next list of missing datagrams.
    pub fn take_missing(&mut self, now: Time) -> Option<Missing> {
        self.gaps.take(now)
    }

    /// Lets the tunnel send from now on.
    pub fn open(&mut self) {
        self.open = true;
    }

    /// Returns the packets that the edge queue has dropped since the last call.
    pub fn take_dropped(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.dropped)
    }

    /// The packets at the edge and in the network.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let waiting = self.edge.packets().map(|waiting| &waiting.packet);
        let inside = self.inside.iter().map(|inside| &inside.packet);
        let lost = self.lost.iter().map(|(_, lost)| &lost.packet);
        waiting.chain(inside).chain(lost).chain(self.order.held()).chain(&self.out)
    }

    /// The packets that arrived, were sent and were dropped at the edge. Bytes include the
    /// overhead.
    pub fn counts(&self) -> [Count; 3] {
        self.counts
    }

    /// The packets that wait at the edge.
    pub fn held(&self) -> Count {
        let mut held = Count::default();
        for waiting in self.edge.packets() {
            held.add(waiting.meta().size);
        }
        held
    }

    /// The number of packets that the edge queue has dropped.
    pub fn drops(&self) -> u64 {
        self.counts[2].packets
    }
}
