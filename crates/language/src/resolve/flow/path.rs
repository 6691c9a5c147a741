//! The path of a flow, with the hosts that the flow adds at its ends.

use super::super::{route, traffic};
use super::{Attachment, End, Flows, Spec, Way};
use crate::read::Reader;
use accord_form::{Problem, Span};
use accord_scenario::{Flow, NodeId};
use accord_units::Duration;
use std::sync::Arc;

impl Flows<'_> {
    /// Returns the path that a file gives to a flow.
    pub(super) fn way(
        &mut self,
        reader: &Reader<'_>,
        through: Option<usize>,
    ) -> Result<Way, Problem> {
        let ends = ["from", "to"];
        // The flow's own `path` or ends take precedence over those of its group.
        let forward = if reader.prefers("path", &ends) {
            if let Some(end) = reader.beside("path", &ends) {
                let message = "`path` says where the flow begins and ends";
                return Err(Problem::new(end.span, message).hint("leave out `from` and `to`"));
            }
            let path = reader.given("path").expect("it prefers the path");
            route::listed(path, self.network)?
        } else if let Some(tunnel) = through {
            let end = |key| match reader.given(key) {
                Some(value) => self.network.find_node(value).map(|n| Some((n, value.span))),
                None => Ok(None),
            };
            let (from, to) = (end("from")?, end("to")?);
            self.way_through(tunnel, from, to)?
        } else {
            let end = |key| match reader.given(key) {
                Some(value) => self.network.find_node(value).map(|node| (node, value.span)),
                None => Err(reader.missing(key)),
            };
            let ((from, _), (to, span)) = (end("from")?, end("to")?);
            self.routes.shortest(self.network, from, to, span)?
        };
        let reverse = match reader.given("reverse_path") {
            Some(value) => {
                let reverse = route::listed(value, self.network)?;
                let ends = (forward.last(), forward.first());
                if (reverse.first(), reverse.last()) != ends {
                    let message = "it does not lead from the end of the path to its start";
                    return Err(Problem::new(value.span, message));
                }
                Some(reverse)
            }
            None => None,
        };
        Ok(Way { forward, reverse })
    }

    /// Adds the `i`-th flow of a group.
    pub(super) fn flow(
        &mut self,
        name: String,
        i: usize,
        spec: &Spec,
        way: &Way,
    ) -> Result<(), Problem> {
        let index = self.scenario.flows.len();
        let mut nodes = Vec::with_capacity(way.forward.len() + 2);
        if let Some(access) = &spec.access {
            let first = way.forward[0];
            nodes.push(self.host(&name, End::Source, first, (access, i), spec.span)?);
        }
        nodes.extend(&way.forward);
        if let Some(egress) = &spec.egress {
            let last = way.forward[way.forward.len() - 1];
            nodes.push(self.host(&name, End::Sink, last, (egress, i), spec.span)?);
        }
        let mut backwards = Vec::with_capacity(nodes.len());
        match &way.reverse {
            Some(reverse) => {
                backwards.extend(spec.egress.as_ref().map(|_| nodes[nodes.len() - 1]));
                backwards.extend(reverse);
                backwards.extend(spec.access.as_ref().map(|_| nodes[0]));
            }
            None => backwards.extend(nodes.iter().rev()),
        }
        self.hops += nodes.len() + backwards.len();
        if nodes.len() < 2 {
            let message = "the flow begins and ends at the same node";
            let hint = "give another `to`, or attach hosts by `access` and `egress`";
            return Err(Problem::new(spec.span, message).hint(hint));
        }
        let path = route::links(self.network, &nodes, spec.span)?;
        self.fits(spec, &nodes, &path)?;
        self.processing.push(spec.processing);
        self.scenario.flows.push(Flow {
            name,
            path,
            reverse_path: route::links(self.network, &backwards, spec.span)?,
            start: traffic::draw(spec.start, self.scenario.seed, index),
            processing: Duration::ZERO,
            settings: Arc::clone(&spec.flow),
        });
        Ok(())
    }

    /// Returns the host of the `i`-th flow of the latest group, at `router`. The host is created
    /// with its link unless an earlier flow shares it.
    fn host(
        &mut self,
        flow: &str,
        end: End,
        router: NodeId,
        (attachment, i): (&Attachment, usize),
        span: Span,
    ) -> Result<NodeId, Problem> {
        let (host, link) = match end {
            End::Source => ("source", "access"),
            End::Sink => ("sink", "egress"),
        };
        let (host, link, i) = match attachment.hosts {
            None => (format!("{flow}.{host}"), format!("{flow}.{link}"), i),
            Some(hosts) => {
                let i = i % hosts;
                if let Some(&host) = self.shared[end as usize].get(i) {
                    return Ok(host);
                }
                let group = &self.scenario.groups[self.scenario.groups.len() - 1].name;
                let named = |what| format!("{group}.{what}.{}", i + 1);
                (named(host), named(link), i)
            }
        };
        let host = self.network.node(&host, span)?;
        let ends = match end {
            End::Source => (host, router),
            End::Sink => (router, host),
        };
        let seed = self.scenario.seed;
        let ports = (&attachment.ports, i);
        let link = self.network.duplex(&link, span, ends, ports, seed)?;
        self.network.links[link].attachment = true;
        self.network.links[link + 1].attachment = true;
        if attachment.hosts.is_some() {
            self.shared[end as usize].push(host);
        }
        Ok(host)
    }
}
