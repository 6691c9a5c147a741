//! Tunnels between gateways, and the flows that they carry.

use super::super::event;
use super::super::network::Network;
use super::{Flows, Spec};
use crate::keys;
use crate::read::{self, Reader};
use accord_family::{Role, Values};
use accord_form::Value;
use accord_form::{Problem, Span, quote};
use accord_scenario::{LinkId, NodeId, Tunnel};

/// Reads the settings of the gateways at the ends of a flow, if it is a tunnel.
pub(super) fn tunnel(reader: &Reader<'_>, controller: &Values) -> Result<Option<Tunnel>, Problem> {
    let Some(table) = reader.table("tunnel", &keys::TUNNELS) else {
        return Ok(None);
    };
    let family = controller.family();
    if !matches!(family.role, Role::Tunnel(_)) {
        let message = format!("{} does not steer a tunnel", family.name);
        return Err(Problem::new(table.span, message).hint("controller = \"monaco\""));
    }
    let unfit = [
        ("demand", "a tunnel sends the packets of the flows in it"),
        ("through", "a tunnel rides in no other"),
        ("stop", "a tunnel is there until the end of the run"),
        ("kernel", "a tunnel is of gateways, not of the kernel's TCP"),
        ("quic", "a tunnel is of gateways, not of QUIC"),
    ];
    for (key, message) in unfit {
        if let Some(value) = reader.given(key) {
            let hint = format!("leave out `{key}`");
            return Err(Problem::new(value.span, message).hint(hint));
        }
    }
    Ok(Some(Tunnel {
        overhead: table.get("overhead", read::packet)?,
        queue: table.get("queue", read::amount)?,
        signal: table.get("signal", read::word)?,
    }))
}

impl Flows<'_> {
    /// Returns the tunnel that carries the flows, if any.
    pub(super) fn through(&self, reader: &Reader<'_>) -> Result<Option<usize>, Problem> {
        let Some(value) = reader.given("through") else {
            return Ok(None);
        };
        let found =
            event::flows(value, self.network, self.scenario).map_err(|p| self.below(value, p))?;
        let tunnel = found.start;
        let flow = self.scenario.flows.get(tunnel).filter(|_| !found.is_empty());
        let name = value.describe();
        match flow {
            None => Err(Problem::new(value.span, "flows do not ride in themselves")),
            Some(_) if found.len() > 1 => {
                let message = format!("{name} is several flows");
                Err(Problem::new(value.span, message).hint("name one of them, such as \"site.1\""))
            }
            Some(flow) if flow.tunnel.is_none() => {
                let message = format!("{name} is not a tunnel");
                Err(Problem::new(value.span, message)
                    .hint("give it gateways: tunnel = { overhead = \"60 B\" }"))
            }
            Some(_) => Ok(Some(tunnel)),
        }
    }

    /// Returns a problem if a tunnel comes further down in the file.
    fn below(&self, value: &Value, unknown: Problem) -> Problem {
        let name = read::name(value, true).unwrap_or_default();
        let group = name.split('.').next().unwrap_or_default();
        let known = self.network.groups.contains_key(group);
        if !known && self.groups.iter().any(|entry| entry.key == group) {
            Problem::new(value.span, format!("{} stands further down in the file", quote(name)))
                .hint("put the tunnel above the flows that ride in it")
        } else {
            unknown
        }
    }

    /// Returns the nodes from `from` through a tunnel to `to`. The ends default to those of the
    /// tunnel.
    pub(super) fn way_through(
        &mut self,
        tunnel: usize,
        from: Option<(NodeId, Span)>,
        to: Option<(NodeId, Span)>,
    ) -> Result<Vec<NodeId>, Problem> {
        let inside = nodes(self.network, &self.scenario.flows[tunnel].path);
        let (first, last) = (inside[0], inside[inside.len() - 1]);
        let mut way = match from {
            Some((from, span)) => self.routes.shortest(self.network, from, first, span)?,
            None => vec![first],
        };
        way.extend(&inside[1..]);
        if let Some((to, span)) = to {
            let after = self.routes.shortest(self.network, last, to, span)?;
            way.extend(&after[1..]);
        }
        Ok(way)
    }

    /// Rejects flows that do not fit into their tunnel: `path` must lead through all of it.
    pub(super) fn fits(
        &self,
        spec: &Spec,
        nodes: &[NodeId],
        path: &[LinkId],
    ) -> Result<(), Problem> {
        let Some(tunnel) = spec.flow.through else {
            return Ok(());
        };
        let flow = &self.scenario.flows[tunnel];
        let name = quote(&flow.name);
        let mut seen = nodes.to_vec();
        seen.sort_unstable();
        if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
            let node = quote(&self.network.nodes[twice[0]].name);
            let message = format!("the way through {name} comes to {node} twice");
            return Err(Problem::new(spec.span, message).hint("give other ends, or the `path`"));
        }
        if !path.windows(flow.path.len()).any(|part| part == flow.path) {
            let message = format!("the path does not lead through {name} from end to end");
            let hint = "leave out `path`, or list the nodes of the tunnel in it";
            return Err(Problem::new(spec.span, message).hint(hint));
        }
        let overhead = flow.tunnel.expect("it is a tunnel").overhead;
        let size = spec.flow.packet + overhead;
        if size > flow.packet {
            let message =
                format!("a packet has {size} in {name}, where {} is the most", flow.packet);
            let hint =
                format!("give the tunnel `packet = \"{size}\"`, or this flow smaller packets");
            return Err(Problem::new(spec.span, message).hint(hint));
        }
        Ok(())
    }
}

/// Returns the nodes of a path.
fn nodes(network: &Network, path: &[LinkId]) -> Vec<NodeId> {
    let first = network.links[path[0]].from;
    let rest = path.iter().map(|&link| network.links[link].to);
    std::iter::once(first).chain(rest).collect()
}
