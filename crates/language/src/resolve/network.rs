//! Nodes and links.

use super::port::{Duplex, LINK_LIMIT, Ports};
use super::{entries, list};
use crate::read::{self, RawLimit, Reader};
use crate::{keys, limits};
use accord_family::{Catalogue, Values};
use accord_form::{Entry, Table, Value};
use accord_form::{Problem, Problems, Span, fail, quote};
use accord_scenario::{Change, Event, Limit, Link, LinkId, Node, NodeId, Scenario};
use accord_units::{Bytes, Duration, Size, Time};
use std::collections::BTreeMap;

/// The network under construction. Each duplex link becomes two directed links: forward at an even
/// index, and reverse at the next.
#[derive(Debug, Default)]
pub(super) struct Network {
    pub nodes: Vec<Node>,
    pub links: Vec<Link>,
    /// The limits of the links' queues, with the places of the queues. They are resolved when the
    /// flows are known.
    limits: Vec<(RawLimit, Span)>,
    /// The steps of links' rates and delays, after the first, as events.
    pub steps: Vec<Event>,
    /// The number of aggregates that all queues together distinguish.
    aggregates: usize,
    node_index: BTreeMap<String, NodeId>,
    link_index: BTreeMap<String, LinkId>,
    pairs: BTreeMap<(NodeId, NodeId), LinkId>,
    /// The forward links of the parking lot, in order.
    pub hops: Vec<LinkId>,
    /// The indices of groups of flows, by name.
    pub groups: BTreeMap<String, usize>,
}

impl Network {
    /// Builds the network that the file declares: nodes, then templates, then links.
    pub fn declare(
        &mut self,
        file: &Reader<'_>,
        catalogue: &Catalogue,
        seed: u64,
        problems: &mut Problems,
    ) {
        let declared = entries(file.given("link"));
        let by_name: BTreeMap<&str, &Entry> =
            declared.iter().map(|e| (e.key.as_str(), e)).collect();
        for value in list(file.given("nodes")) {
            if problems.is_full() {
                return;
            }
            let added = read::name(value, true).and_then(|name| self.node(name, value.span));
            problems.keep(added);
        }
        if file.given("nodes").is_none() && file.given("topology").is_none() {
            self.ends_of(declared, problems);
        }
        let topology = file.given("topology").and_then(Value::table);
        let mut made = 0;
        let mut complete = true;
        for entry in topology.map_or(&[][..], |t| &t.entries) {
            let Some(table) = entry.value.table() else {
                continue;
            };
            let result = self.template(entry, table, &by_name, catalogue, seed);
            made = self.links.len();
            complete &= problems.keep(result).is_some();
        }
        // A link without ends may be one that a template with a fault has not made.
        let has_ends = |entry: &Entry| {
            let table = entry.value.table();
            table.is_some_and(|t| t.get("from").is_some() || t.get("to").is_some())
        };
        for entry in declared {
            if problems.is_full() {
                return;
            }
            if !complete && !has_ends(entry) {
                continue;
            }
            let link = self.link_index.get(&entry.key);
            let result = if link.is_some_and(|l| *l < made && l.is_multiple_of(2)) {
                keeps_its_ends(entry)
            } else {
                self.declared(entry, catalogue, seed)
            };
            problems.keep(result);
        }
    }

    /// Adds the nodes that links name, for a file without a list of nodes.
    fn ends_of(&mut self, links: &[Entry], problems: &mut Problems) {
        let tables = links.iter().filter_map(|e| e.value.table());
        for value in tables.flat_map(|t| ["from", "to"].map(|key| t.get(key))) {
            let Some(value) = value else {
                continue; // the link says so when it is read
            };
            if problems.is_full() {
                return;
            }
            let added = read::name(value, true).and_then(|name| match self.node_index.get(name) {
                Some(&id) => Ok(id),
                None => self.node(name, value.span),
            });
            problems.keep(added);
        }
    }

    fn template(
        &mut self,
        entry: &Entry,
        table: &Table,
        overrides: &BTreeMap<&str, &Entry>,
        catalogue: &Catalogue,
        seed: u64,
    ) -> Result<(), Problem> {
        let parking = entry.key == "parking_lot";
        let hops = match table.get("bottlenecks") {
            Some(value) => read::whole(value, 1, limits::LINKS as u64 / 2)? as usize,
            None => 1,
        };
        let node = |i: usize| match (parking, i) {
            (true, _) => format!("r{i}"),
            (false, 0) => "left".to_string(),
            (false, _) => "right".to_string(),
        };
        let base = Reader::new(&keys::LINK, table, entry.span);
        let common = Duplex::read(&base, LINK_LIMIT, 1, catalogue)?;
        let mut from = self.node(&node(0), entry.span)?;
        for i in 1..=hops {
            let to = self.node(&node(i), entry.span)?;
            let name = if parking { format!("hop{i}") } else { "bottleneck".to_string() };
            let over = overrides.get(name.as_str());
            let own = over.and_then(|e| Some(Reader::new(&keys::LINK, e.value.table()?, e.span)));
            let own = own.map(|own| Duplex::read(&own.or(&base), LINK_LIMIT, 1, catalogue));
            let own = own.transpose()?;
            let duplex = own.as_ref().unwrap_or(&common);
            let link = self.duplex(&name, entry.span, (from, to), (duplex, 0), seed)?;
            if parking {
                self.hops.push(link);
            }
            from = to;
        }
        Ok(())
    }

    fn declared(&mut self, entry: &Entry, catalogue: &Catalogue, seed: u64) -> Result<(), Problem> {
        let name = &entry.key;
        read::check_name(name, entry.span, true)?;
        if name.ends_with(".reverse") {
            let hint = "put the keys that differ into `reverse` of the link";
            let message = format!("{} is the name of a reverse direction", quote(name));
            return Err(Problem::new(entry.span, message).hint(hint));
        }
        let Some(table) = entry.value.table() else {
            return Ok(());
        };
        let reader = Reader::new(&keys::LINK, table, entry.span);
        let end = |key: &str| match reader.given(key) {
            Some(value) => self.find_node(value),
            None => {
                let message = format!("link {} has no `{key}`", quote(name));
                let known = self.link_index.keys().map(String::as_str);
                Err(Problem::new(entry.span, message).known(name, known))
            }
        };
        let ends = (end("from")?, end("to")?);
        let duplex = Duplex::read(&reader, LINK_LIMIT, 1, catalogue)?;
        let link = self.duplex(name, entry.span, ends, (&duplex, 0), seed)?;
        let attachment = reader.get("attachment", read::flag)?;
        self.links[link].attachment = attachment;
        self.links[link + 1].attachment = attachment;
        Ok(())
    }

    /// Adds a node.
    pub fn node(&mut self, name: &str, span: Span) -> Result<NodeId, Problem> {
        let id = self.nodes.len();
        if self.node_index.insert(name.to_string(), id).is_some() {
            return fail(span, format!("there is a node {} already", quote(name)));
        }
        self.nodes.push(Node { name: name.to_string() });
        Ok(id)
    }

    /// Adds both directions of the `i`-th link that `ports` describes.
    pub fn duplex(
        &mut self,
        name: &str,
        span: Span,
        (from, to): (NodeId, NodeId),
        (ports, i): (&Duplex, usize),
        seed: u64,
    ) -> Result<LinkId, Problem> {
        let id = self.links.len();
        if id + 2 > limits::LINKS {
            return fail(span, format!("more than {} directed links", limits::LINKS));
        }
        if from == to {
            let node = quote(&self.nodes[from].name);
            return fail(span, format!("link {} joins {node} to itself", quote(name)));
        }
        if let Some(&other) = self.pairs.get(&(from, to)) {
            let other = self.links[other].name.trim_end_matches(".reverse");
            let (a, b) = (&self.nodes[from].name, &self.nodes[to].name);
            let message = format!("link {} joins {a} and {b} already", quote(other));
            let hint = "put a node into one of them; paths are given by their nodes";
            return Err(Problem::new(span, message).hint(hint));
        }
        if self.link_index.insert(name.to_string(), id).is_some() {
            return fail(span, format!("there is a link {} already", quote(name)));
        }
        let reverse = format!("{name}.reverse");
        self.link_index.insert(reverse.clone(), id + 1);
        self.pairs.insert((from, to), id);
        self.pairs.insert((to, from), id + 1);
        self.directed((name.to_string(), from, to), (&ports.forward, i), seed)?;
        self.directed((reverse, to, from), (&ports.reverse, i), seed)?;
        Ok(id)
    }

    fn directed(
        &mut self,
        link: (String, NodeId, NodeId),
        (ports, i): (&Ports, usize),
        seed: u64,
    ) -> Result<(), Problem> {
        let id = self.links.len();
        let (link, queue) = ports.link(i, link, (id, seed));
        self.count_aggregates(queue.discipline.aggregates().len(), queue.span)?;
        self.limits.push((queue.limit, queue.span));
        let steps = ports.steps.iter().flat_map(|steps| &steps[1..]);
        self.steps.extend(steps.map(|&(at, rate)| Event { at, change: Change::Rate(id, rate) }));
        let delays = ports.delays.iter().flat_map(|steps| &steps[1..]);
        self.steps.extend(delays.map(|&(at, d)| Event { at, change: Change::Delay(id, d) }));
        self.links.push(link);
        Ok(())
    }

    /// Rejects more aggregates in queues than the memory can hold.
    fn count_aggregates(&mut self, more: usize, span: Span) -> Result<(), Problem> {
        self.aggregates += more;
        if self.aggregates <= limits::PORT_AGGREGATES {
            return Ok(());
        }
        let most = limits::PORT_AGGREGATES;
        fail(span, format!("all queues together distinguish more than {most} aggregates"))
    }

    /// Returns the node that `value` names.
    pub fn find_node(&self, value: &Value) -> Result<NodeId, Problem> {
        let name = read::name(value, true)?;
        self.node_index.get(name).copied().ok_or_else(|| {
            let problem = Problem::new(value.span, format!("there is no node {}", quote(name)));
            let problem = problem.unknown(name);
            match self.nodes.is_empty() {
                true => problem.hint("the scenario has no nodes: add a topology or a [link.NAME]"),
                false => problem.known(name, self.nodes.iter().map(|n| n.name.as_str())),
            }
        })
    }

    /// Returns the directed link that `value` names.
    pub fn find_link(&self, value: &Value) -> Result<LinkId, Problem> {
        let name = read::name(value, true)?;
        self.link_index.get(name).copied().ok_or_else(|| {
            let links = self.links.iter().filter(|l| !l.attachment);
            Problem::new(value.span, format!("there is no link {}", quote(name)))
                .known(name, links.map(|l| l.name.as_str()))
        })
    }

    /// Returns the directed link between two nodes, if they are neighbours.
    pub fn between(&self, from: NodeId, to: NodeId) -> Option<LinkId> {
        self.pairs.get(&(from, to)).copied()
    }

    /// Moves nodes and links to the scenario, which already has its flows. Resolves the limits of
    /// the queues and the aggregates that their disciplines distinguish.
    pub fn finish(&mut self, scenario: &mut Scenario, problems: &mut Problems) {
        scenario.nodes = std::mem::take(&mut self.nodes);
        scenario.links = std::mem::take(&mut self.links);
        let mut longest = vec![Duration::ZERO; scenario.links.len()];
        let state = scenario.at(Time::ZERO);
        for (i, flow) in scenario.flows.iter().enumerate() {
            let rtt = state.base_rtt(i);
            for &link in flow.path.iter().chain(&flow.reverse_path) {
                longest[link] = rtt.max(longest[link]);
            }
        }
        let largest = scenario.largest_packets();
        let mut told = None;
        for (i, (limit, span)) in std::mem::take(&mut self.limits).iter().enumerate() {
            let discipline = &mut scenario.links[i].queue.discipline;
            if !discipline.family().aggregate_params().is_empty() && !problems.is_full() {
                let counted = self.count_aggregates(scenario.aggregates.len(), *span);
                let arranged = counted
                    .and_then(|()| arrange_aggregates(discipline, &scenario.aggregates, *span));
                problems.keep(arranged);
            }
            let link = &scenario.links[i];
            let (rtt, packet) = match longest[i] {
                Duration::ZERO => (link.delay + link.delay, Bytes::new(1000)),
                rtt => (rtt, largest[i]),
            };
            let least = Bytes::new(2 * packet.get());
            let rate = link.served_rate(link.rate);
            scenario.links[i].queue.limit = match *limit {
                RawLimit::Size(Size::Packets(n)) => Limit::Packets(n as u64),
                RawLimit::Size(Size::Bytes(bytes)) => Limit::Bytes(bytes),
                RawLimit::Time(time) => Limit::Bytes(rate.bytes_in(time).max(least)),
                RawLimit::Product(x) => {
                    let bytes = rate.bytes_in(rtt).as_f64() * x;
                    Limit::Bytes(Bytes::from_f64(bytes.min(limits::AMOUNT.as_f64())).max(least))
                }
                RawLimit::Unlimited => Limit::Unlimited,
            };
            // The problem is reported once for the access links of a group, which have a single place in the file.
            let blocked = scenario.links[i].blocks(largest[i]).filter(|_| told != Some(*span));
            if let Some(message) = blocked {
                told = Some(*span);
                problems.push(Problem::new(*span, message));
            }
        }
    }
}

/// Gives a discipline the aggregates of the scenario.
fn arrange_aggregates(
    discipline: &mut Values,
    names: &[String],
    span: Span,
) -> Result<(), Problem> {
    if let Err(name) = discipline.arrange_aggregates(names) {
        let message = format!("no flow belongs to the aggregate {}", quote(&name));
        let hint = format!("[flow.NAME] has aggregate = {}", quote(&name));
        let known = names.iter().map(String::as_str);
        return Err(Problem::new(span, message).hint(hint).known(&name, known));
    }
    // Relations between aggregates can be checked only now.
    (discipline.family().check)(discipline).map_err(|e| Problem::new(span, e.to_string()))
}

/// Rejects an entry that moves a link of a template.
fn keeps_its_ends(entry: &Entry) -> Result<(), Problem> {
    let entries = entry.value.table().map_or(&[][..], |t| &t.entries);
    let mut ends = entries.iter().filter(|e| matches!(e.key.as_str(), "from" | "to"));
    match ends.next() {
        Some(end) => fail(end.span, "this link was made by a template, which gives its ends"),
        None => Ok(()),
    }
}
