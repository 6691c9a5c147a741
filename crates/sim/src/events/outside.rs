//! The outside of a machine: nodes and ends that are elsewhere.
//!
//! A packet that comes out of a link to a foreign node leaves the machine. A packet from a foreign node
//! enters it as if it came out of its link. So both have their places in the order of events.

use super::layout::Paths;
use super::other::Order;
use super::part::Part;
use crate::packet::Packet;
use crate::pool::Handle;
use accord_scenario::{LinkId, NodeId, Scenario};
use accord_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet on the wire of a link that leaves the machine. Simultaneous packets are ordered by
/// link, and then by their entry into the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Leaving {
    at: Time,
    link: LinkId,
    count: u64,
    handle: Handle,
}

/// The outside of a machine.
pub struct Outside {
    /// True for each node of the machine.
    here: Vec<bool>,
    /// True for each link from the machine to a foreign node.
    leaves: Vec<bool>,
    leaving: BinaryHeap<Reverse<Leaving>>,
    /// The number of packets so far on wires that leave the machine.
    count: u64,
    /// The routes of each flow in the order of their use: the first hops of the forward and the
    /// reverse path.
    routes: Vec<Vec<[u32; 2]>>,
    /// The orders to ends outside that have not yet been taken.
    pub orders: Vec<Order>,
    /// The number of samples so far.
    pub samples: u64,
    /// The samples that have not yet been taken.
    pub parts: Vec<Part>,
}

impl Outside {
    /// Creates the outside of a machine with these nodes.
    pub fn new(scenario: &Scenario, nodes: &[NodeId], routes: Vec<Vec<[u32; 2]>>) -> Outside {
        let mut here = vec![false; scenario.nodes.len()];
        nodes.iter().for_each(|&node| here[node] = true);
        let links = scenario.links.iter();
        Outside {
            leaves: links.map(|l| here[l.from] && !here[l.to]).collect(),
            here,
            leaving: BinaryHeap::new(),
            count: 0,
            routes,
            orders: Vec::new(),
            samples: 0,
            parts: Vec::new(),
        }
    }

    /// Returns true if a node belongs to the machine.
    pub fn is_here(&self, node: NodeId) -> bool {
        self.here[node]
    }

    /// Returns the link by which a packet of a flow reaches `node` on the route of this number, and the next hop.
    /// Returns `None` if the route does not lead there.
    pub fn place(
        &self,
        scenario: &Scenario,
        paths: &Paths,
        (flow, route, is_answer): (usize, usize, bool),
        node: NodeId,
    ) -> Option<(LinkId, u32)> {
        let first = self.routes.get(flow)?.get(route)?[usize::from(is_answer)];
        let hops = (first..).zip(paths.ahead(first));
        let links = hops.map(|(place, hop)| (hop.index(), place + 1));
        // The edge of a tunnel is a hop but not a link.
        let mut links = links.filter(|(link, _)| *link < scenario.links.len());
        links.find(|(link, _)| scenario.links[*link].to == node)
    }

    /// Returns the number of a packet's route.
    pub fn route(&self, packet: &Packet) -> usize {
        let way = usize::from(packet.is_answer());
        let routes = &self.routes[packet.flow as usize];
        routes.iter().rposition(|first| first[way] <= packet.hop).unwrap_or(0)
    }

    /// Returns true if packets from a link leave the machine.
    pub fn leaves(&self, link: LinkId) -> bool {
        self.leaves[link]
    }

    /// Adds a packet that leaves by a link at `at`.
    pub fn push(&mut self, link: LinkId, handle: Handle, at: Time) {
        self.count += 1;
        let count = self.count;
        self.leaving.push(Reverse(Leaving { at, link, count, handle }));
    }

    /// Takes the next packet that leaves by `to`, with its link and its time.
    pub fn pop(&mut self, to: Time) -> Option<(LinkId, Time, Handle)> {
        let &Reverse(first) = self.leaving.peek().filter(|Reverse(first)| first.at <= to)?;
        self.leaving.pop();
        Some((first.link, first.at, first.handle))
    }

    /// The time at which the first packet leaves, or `Time::MAX`.
    pub fn next_leave(&self) -> Time {
        self.leaving.peek().map_or(Time::MAX, |Reverse(first)| first.at)
    }
}
