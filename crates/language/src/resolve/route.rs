//! Paths through the network.

use super::network::Network;
use crate::limits;
use accord_form::Value;
use accord_form::{Problem, Span, fail, quote};
use accord_scenario::{LinkId, NodeId};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The total propagation delay in picoseconds, and then the number of links.
type Cost = (u64, u32);

/// Finds shortest paths: those with the least propagation delay, then with the fewest links, then
/// with the alphabetically first nodes.
#[derive(Debug)]
pub(super) struct Routes {
    out: Vec<Vec<LinkId>>,
    into: Vec<Vec<LinkId>>,
    /// The costs to the last destination requested. Groups often share a destination.
    last: Option<(NodeId, Vec<Option<Cost>>)>,
    /// The number of links examined so far.
    searched: usize,
}

impl Routes {
    pub fn new(network: &Network) -> Routes {
        let mut out = vec![Vec::new(); network.nodes.len()];
        let mut into = out.clone();
        for (id, link) in network.links.iter().enumerate() {
            out[link.from].push(id);
            into[link.to].push(id);
        }
        Routes { out, into, last: None, searched: 0 }
    }

    /// Returns the nodes of the shortest path.
    pub fn shortest(
        &mut self,
        network: &Network,
        from: NodeId,
        to: NodeId,
        span: Span,
    ) -> Result<Vec<NodeId>, Problem> {
        let name = |n: NodeId| quote(&network.nodes[n].name);
        if self.searched > limits::SEARCH {
            let most = limits::SEARCH;
            let message =
                format!("shortest paths are looked for over {most} links at most, flow by flow");
            return Err(Problem::new(span, message).hint("give the `path`"));
        }
        if self.last.as_ref().is_none_or(|(node, _)| *node != to) {
            self.last = Some((to, self.costs(network, to)));
        }
        let costs = &self.last.as_ref().expect("set above").1;
        let mut path = vec![from];
        let mut node = from;
        while node != to {
            let next = self.out[node]
                .iter()
                .map(|&l| &network.links[l])
                .filter(|l| {
                    let Some((delay, hops)) = costs[l.to] else {
                        return false;
                    };
                    costs[node] == Some((delay.saturating_add(l.delay.as_ps()), hops + 1))
                })
                .map(|l| l.to)
                .min_by_key(|&n| &network.nodes[n].name);
            let Some(next) = next else {
                let message = format!("there is no way from {} to {}", name(from), name(to));
                return Err(Problem::new(span, message).hint("add a link that joins them"));
            };
            path.push(next);
            node = next;
        }
        Ok(path)
    }

    /// Returns the cost from every node to `to`, by Dijkstra's algorithm.
    fn costs(&mut self, network: &Network, to: NodeId) -> Vec<Option<Cost>> {
        let mut costs = vec![None; network.nodes.len()];
        let mut open = BinaryHeap::from([(Reverse((0u64, 0u32)), to)]);
        costs[to] = Some((0, 0));
        while let Some((Reverse(cost), node)) = open.pop() {
            if costs[node] != Some(cost) {
                continue;
            }
            self.searched += self.into[node].len();
            for &id in &self.into[node] {
                let link = &network.links[id];
                let next = (cost.0.saturating_add(link.delay.as_ps()), cost.1 + 1);
                if costs[link.from].is_none_or(|known| next < known) {
                    costs[link.from] = Some(next);
                    open.push((Reverse(next), link.from));
                }
            }
        }
        costs
    }
}

/// Returns the nodes that a file lists as a path.
pub(super) fn listed(value: &Value, network: &Network) -> Result<Vec<NodeId>, Problem> {
    let list = value.list().unwrap_or_default();
    if list.is_empty() {
        return Err(Problem::new(value.span, "the path is empty"));
    }
    let mut seen = BTreeSet::new();
    let mut nodes = Vec::with_capacity(list.len());
    for value in list {
        let node = network.find_node(value)?;
        if !seen.insert(node) {
            return fail(value.span, format!("the path comes back to {}", value.describe()));
        }
        nodes.push(node);
    }
    for (pair, value) in nodes.windows(2).zip(&list[1..]) {
        if network.between(pair[0], pair[1]).is_none() {
            return Err(unlinked(network, pair[0], pair[1], value.span));
        }
    }
    Ok(nodes)
}

/// Returns the links between consecutive nodes, which must be neighbours.
pub(super) fn links(
    network: &Network,
    nodes: &[NodeId],
    span: Span,
) -> Result<Vec<LinkId>, Problem> {
    // Each flow keeps its links, so the vector has no spare capacity.
    let mut links = Vec::with_capacity(nodes.len().saturating_sub(1));
    for pair in nodes.windows(2) {
        let link = network.between(pair[0], pair[1]);
        links.push(link.ok_or_else(|| unlinked(network, pair[0], pair[1], span))?);
    }
    Ok(links)
}

fn unlinked(network: &Network, a: NodeId, b: NodeId, span: Span) -> Problem {
    let name = |n: NodeId| quote(&network.nodes[n].name);
    let message = format!("no link joins {} and {}", name(a), name(b));
    Problem::new(span, message)
}
