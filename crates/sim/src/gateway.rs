//! Gateways in the simulation: the edge queue of a tunnel, and the packets of other flows in it.
//!
//! A packet that comes to a gateway leaves the calendar. It waits in the edge queue, and then a
//! datagram of the tunnel's flow is on its way in its place. At the far gateway the packet goes on.

use crate::audit::Audit;
use crate::engine::{Simulation, lose, wake_up};
use crate::flow::Flow;
use crate::packet::Packet;
use crate::pool::Place;
use crate::wire::Line;
use accord_aqm::{Ecn, PacketMeta};
use accord_family::Service;
use accord_port::{Count, Edge, Packet as _};
use accord_scenario::Scenario;
use accord_traffic::{Purpose, secret};
use accord_transport::{Segment, Sender};
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

/// A packet that waits at the edge.
#[derive(Clone, Copy)]
struct Waiting {
    packet: Packet,
    overhead: u16,
}

impl accord_port::Packet for Waiting {
    fn meta(&self) -> PacketMeta {
        let meta = self.packet.meta();
        PacketMeta {
            size: meta.size + Bytes::new(u64::from(self.overhead)),
            ..meta
        }
    }

    fn mark(&mut self) {
        self.packet.mark();
    }

    fn add_virtual_delay(&mut self, delay: Duration) {
        self.packet.add_virtual_delay(delay);
    }
}

/// The gateways of a tunnel: where packets enter it, and where they leave it.
pub struct Gateway {
    edge: Edge<Waiting>,
    overhead: u16,
    /// Whether the tunnel sends.
    open: bool,
    /// The packets in the network, by the numbers of their datagrams.
    inside: VecDeque<(u64, Packet)>,
    /// The packets that the edge queue dropped since they were last counted.
    dropped: Vec<Packet>,
    /// The packets that came, that were sent and that were dropped.
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
            dropped: Vec::new(),
            counts: [Count::default(); 3],
        })
    }

    /// Takes a packet that came to the edge.
    fn push(&mut self, packet: Packet, now: Time) {
        let waiting = Waiting {
            packet,
            overhead: self.overhead,
        };
        self.counts[0].add(waiting.meta().size);
        let (dropped, counts) = (&mut self.dropped, &mut self.counts);
        self.edge.push(waiting, 0, now, &mut |waiting, _| {
            counts[2].add(waiting.meta().size);
            dropped.push(waiting.packet);
        });
    }

    /// Tells the sender what waits.
    fn offer(&mut self, sender: &mut Sender, now: Time) {
        if !self.open {
            return;
        }
        let (dropped, counts) = (&mut self.dropped, &mut self.counts);
        let head = self.edge.head(now, &mut |waiting, _| {
            counts[2].add(waiting.meta().size);
            dropped.push(waiting.packet);
        });
        let size = head.map(|head| head.packet.meta().size);
        sender.set_head(size, self.edge.len());
    }

    /// Puts the packet whose turn it is into a datagram. The codepoint of the packet is that of the
    /// datagram [RFC 6040 §4.1].
    pub fn load(&mut self, datagram: &mut Packet, sender: &mut Sender, now: Time) {
        let (Some(head), Segment::Data { number, .. }) = (self.edge.take(), datagram.segment)
        else {
            return debug_assert!(false, "the sender knows what waits");
        };
        let waiting = head.packet;
        let size = waiting.meta().size;
        self.counts[1].add(size);
        datagram.size = size.get() as u16;
        datagram.ecn = waiting.packet.ecn;
        self.inside.push_back((number, waiting.packet));
        self.offer(sender, now);
    }

    /// Takes the packet out of the datagram of this number.
    pub fn unload(&mut self, number: u64) -> Option<Packet> {
        // Datagrams seldom overtake each other.
        let at = self.inside.partition_point(|(n, _)| *n < number);
        let found = self.inside.get(at).is_some_and(|(n, _)| *n == number);
        found
            .then(|| self.inside.remove(at))?
            .map(|(_, packet)| packet)
    }

    /// The packets at the edge and in the network.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let waiting = self.edge.packets().map(|waiting| &waiting.packet);
        waiting.chain(self.inside.iter().map(|(_, packet)| packet))
    }

    /// The audit of the edge queue, in bytes with the overhead.
    pub fn audit(&self) -> Audit {
        let [entered, left, dropped] = self.counts;
        Audit {
            entered,
            left,
            dropped,
            held: self.held(),
        }
    }

    /// The packets that wait at the edge.
    pub fn held(&self) -> Count {
        let mut held = Count::default();
        for waiting in self.edge.packets() {
            held.add(waiting.meta().size);
        }
        held
    }

    /// The packets that the edge queue has dropped.
    pub fn drops(&self) -> u64 {
        self.counts[2].packets
    }
}

impl Flow {
    /// The gateways of the flow, if it is a tunnel.
    pub fn gateway(&self) -> Option<&Gateway> {
        self.host.as_deref()?.gateway()
    }

    /// The gateways of the flow, to be changed.
    pub fn gateway_mut(&mut self) -> Option<&mut Gateway> {
        self.host.as_deref_mut()?.gateway_mut()
    }

    /// Tells the sender of a tunnel what waits at the edge.
    fn offer(&mut self, now: Time) {
        let gateway = self.host.as_deref_mut().and_then(|h| h.gateway_mut());
        if let Some(gateway) = gateway {
            gateway.offer(&mut self.sender, now);
        }
    }
}

impl Simulation<'_> {
    /// Puts a packet that came to a gateway into the edge queue.
    #[cold]
    pub fn board(&mut self, link: usize, place: Place) {
        let Line::Edge(tunnel) = self.wires[link].line else {
            return;
        };
        let packet = self.pool.remove(place);
        if let Some(gateway) = self.flows[tunnel].gateway_mut() {
            gateway.push(packet, self.now);
        }
        self.flows[tunnel].offer(self.now);
        self.count_edge(tunnel);
        self.pump(tunnel);
    }

    /// Lets the packet go on that was in a datagram. It has the mark of the datagram, if it can have
    /// one [RFC 6040 §4.2].
    #[cold]
    pub fn unload(&mut self, datagram: &Packet) {
        let (id, Segment::Data { number, .. }) = (datagram.flow as usize, datagram.segment) else {
            return;
        };
        let inside = self.flows[id].gateway_mut();
        let Some(mut packet) = inside.and_then(|gateway| gateway.unload(number)) else {
            return;
        };
        if datagram.ecn == Ecn::Marked && packet.ecn != Ecn::NotCapable {
            packet.ecn = Ecn::Marked;
        }
        self.count_edge(id);
        packet.hop += 1;
        let hop = self.wiring.hops[packet.hop as usize];
        let place = self.pool.insert(packet);
        match hop.is_end() {
            true => self.deliver(place),
            false => self.go(place, hop, self.now),
        }
    }

    /// Lets a tunnel send from now on. What it has to send waits at its edge.
    pub fn open(&mut self, id: usize) {
        wake_up(&mut self.flows, &mut self.awake, id);
        if let Some(gateway) = self.flows[id].gateway_mut() {
            gateway.open = true;
        }
        self.flows[id].offer(self.now);
        self.count_edge(id);
        self.pump(id);
    }

    /// Counts the packets that the edge queue of a tunnel has dropped.
    fn count_edge(&mut self, tunnel: usize) {
        let gateway = self.flows[tunnel].gateway_mut();
        let dropped = gateway.map(|gateway| std::mem::take(&mut gateway.dropped));
        let (flows, awake, digest) = (&mut self.flows, &mut self.awake, &mut self.digest);
        for packet in dropped.into_iter().flatten() {
            lose(flows, awake, digest, self.now, &packet);
        }
    }

    /// Counts the packets that edge queues have dropped. A queue drops some when a datagram leaves,
    /// and these are counted at the next event of the tunnel or at the next sample.
    pub fn count_edges(&mut self) {
        for i in 0..self.wiring.tunnels.len() {
            self.count_edge(self.wiring.tunnels[i]);
        }
    }
}
