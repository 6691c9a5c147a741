//! The conditions that every scenario must meet. The language produces only such scenarios, but a
//! program that makes or changes a scenario may violate them.

use crate::{Change, Limit, Link, LinkId, Scenario};
use accord_family::Role;
use accord_traffic::PacketSizes;
use accord_units::{Bytes, Duration, Rate};

/// The size of the largest packet that IP allows.
pub const LARGEST_PACKET: Bytes = Bytes::new(65_535);

impl Scenario {
    /// Checks that the scenario is sound: indices exist, paths lead through the network without a
    /// loop, and quantities that must be positive are positive.
    ///
    /// # Errors
    /// Fails with the fault and its place.
    pub fn check(&self) -> Result<(), String> {
        let zero = |d: Duration| d == Duration::ZERO;
        ensure(!zero(self.duration), || "its duration is zero".into())?;
        ensure(!zero(self.sample), || "its sampling period is zero".into())?;
        ensure(self.steady.start < self.steady.end, || {
            "its steady part ends before it begins".into()
        })?;
        for link in &self.links {
            self.check_link(link).map_err(|why| format!("link {}: {why}", link.name))?;
        }
        self.check_groups()?;
        for i in 0..self.flows.len() {
            self.check_flow(i).map_err(|why| format!("flow {}: {why}", self.flows[i].name))?;
        }
        for (link, largest) in self.links.iter().zip(self.largest_packets()) {
            let blocked = link.blocks(largest);
            ensure(blocked.is_none(), || blocked.unwrap_or_default())?;
        }
        for event in &self.events {
            self.check_change(&event.change)
                .map_err(|why| format!("the event at {}: {why}", event.at))?;
        }
        let ordered = self.events.is_sorted_by_key(|e| e.at);
        ensure(ordered, || "its events are not in order of time".into())
    }

    fn check_link(&self, link: &Link) -> Result<(), String> {
        for node in [link.from, link.to] {
            within(node, self.nodes.len(), "node")?;
        }
        ensure(link.rate > Rate::ZERO, || "its rate is zero".into())?;
        for loss in [link.loss, link.control_loss] {
            ensure((0.0..=1.0).contains(&loss), || {
                format!("a probability of loss is {loss}, and goes from 0 to 1")
            })?;
        }
        Ok(())
    }

    /// Checks that the groups cover all flows, one group after the other.
    fn check_groups(&self) -> Result<(), String> {
        let mut next = 0;
        for (g, group) in self.groups.iter().enumerate() {
            let flows = self.flows.get(group.flows.clone());
            let own = flows.is_some_and(|flows| flows.iter().all(|f| f.group == g));
            ensure(own && group.flows.start == next, || {
                format!("group {}: its flows are not its own", group.name)
            })?;
            next = group.flows.end;
        }
        ensure(next == self.flows.len(), || "there are flows of no group".into())
    }

    fn check_flow(&self, flow: usize) -> Result<(), String> {
        let f = &self.flows[flow];
        self.check_paths(&f.path, &f.reverse_path)?;
        within(f.aggregate, self.aggregates.len(), "aggregate")?;
        if let Some(tunnel) = f.through {
            within(tunnel, self.flows.len(), "flow")?;
        }
        ensure(f.stop.is_none_or(|stop| stop > f.start), || {
            "it does not stop after its start".into()
        })?;
        for (size, what) in [(f.packet, "packet"), (f.ack, "ack"), (f.control, "control")] {
            ensure(size > Bytes::ZERO && size <= LARGEST_PACKET, || {
                format!("{what} is {size}; expected 1 B to {LARGEST_PACKET}")
            })?;
        }
        Ok(())
    }

    fn check_change(&self, change: &Change) -> Result<(), String> {
        match change {
            Change::Delay(link, _) | Change::Rate(link, _) => {
                within(*link, self.links.len(), "link")
            }
            Change::Demand { flow, .. } => within(*flow, self.flows.len(), "flow"),
            Change::Route { flow, path, reverse_path } => {
                within(*flow, self.flows.len(), "flow")?;
                self.check_paths(path, reverse_path)
            }
        }
    }

    fn check_paths(&self, path: &[LinkId], reverse: &[LinkId]) -> Result<(), String> {
        let there = self.ends_of(path)?;
        let back = self.ends_of(reverse)?;
        ensure(there == (back.1, back.0), || {
            "its reverse path does not lead from its sink to its source".into()
        })
    }

    /// Returns the nodes at which a path begins and ends.
    fn ends_of(&self, path: &[LinkId]) -> Result<(usize, usize), String> {
        for &link in path {
            within(link, self.links.len(), "link")?;
        }
        let (Some(&first), Some(&last)) = (path.first(), path.last()) else {
            return Err("a path of it is empty".into());
        };
        let (first, last) = (&self.links[first], &self.links[last]);
        for pair in path.windows(2) {
            let (one, next) = (&self.links[pair[0]], &self.links[pair[1]]);
            ensure(one.to == next.from, || {
                format!("{} does not begin where {} ends", next.name, one.name)
            })?;
        }
        let mut nodes: Vec<usize> = path.iter().map(|&l| self.links[l].to).collect();
        nodes.push(first.from);
        nodes.sort_unstable();
        ensure(nodes.windows(2).all(|n| n[0] != n[1]), || {
            "a path of it comes to a node twice".into()
        })?;
        Ok((first.from, last.to))
    }
}

impl Scenario {
    /// Returns the size of the largest packet that crosses each link during the run: data (for a mix, its
    /// largest size), acknowledgements and control packets. It is zero for a link without flows.
    pub fn largest_packets(&self) -> Vec<Bytes> {
        let mut largest = vec![Bytes::ZERO; self.links.len()];
        let mut crosses = |flow: usize, path: &[LinkId], reverse: &[LinkId]| {
            let Some(f) = self.flows.get(flow) else {
                return;
            };
            let tunnel = matches!(f.controller.family().role, Role::Tunnel(_));
            let answer = if tunnel { f.control } else { f.ack };
            let data = f.sizes.as_ref().map_or(f.packet, PacketSizes::largest);
            for (links, size) in [(path, data), (reverse, answer)] {
                for &link in links {
                    largest.get_mut(link).into_iter().for_each(|most| *most = size.max(*most));
                }
            }
        };
        for (i, f) in self.flows.iter().enumerate() {
            crosses(i, &f.path, &f.reverse_path);
        }
        for event in &self.events {
            if let Change::Route { flow, path, reverse_path } = &event.change {
                crosses(*flow, path, reverse_path);
            }
        }
        largest
    }
}

impl Link {
    /// Returns the reason, if any, why no packet of this size ever passes the link: an empty buffer or the
    /// full bucket of a policer is too small for it.
    pub fn blocks(&self, size: Bytes) -> Option<String> {
        let name = &self.name;
        let policer = self.parts.as_ref().and_then(|parts| parts.policer);
        match (policer, self.queue.limit) {
            (Some(policer), _) if policer.burst < size => {
                let burst = policer.burst;
                Some(format!(
                    "no packet of {size} passes the policer of {name:?}: its burst is {burst}"
                ))
            }
            (_, Limit::Bytes(room)) if room < size => Some(format!(
                "no packet of {size} fits into the buffer of {name:?}: its limit is {room}"
            )),
            (_, Limit::Packets(0)) => {
                Some(format!("no packet fits into the buffer of {name:?}: its limit is 0 pkt"))
            }
            _ => None,
        }
    }
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

fn within(index: usize, count: usize, what: &str) -> Result<(), String> {
    ensure(index < count, || format!("there is no {what} {index}, of {count} from 0"))
}
