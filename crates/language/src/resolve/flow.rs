//! Groups of flows, with the hosts that they attach.

mod path;
mod stream;
mod tunnel;

use super::network::Network;
use super::port::{ATTACHMENT_LIMIT, Duplex};
use super::processing::Wanted;
use super::route::Routes;
use super::{carrier, list, traffic};
use crate::family::CONTROLLER;
use crate::read::{self, Reader};
use crate::shape::Processing;
use crate::{keys, limits};
use accord_family::{Catalogue, Objective, Service};
use accord_form::{Entry, Table};
use accord_form::{Problem, Problems, Span, fail};
use accord_scenario::{Carrier, Flow, FlowSettings, Group, NodeId, Recorded, Scenario};
use accord_traffic::Demand;
use accord_units::{Bytes, Rate, Time};
use std::sync::Arc;

/// The number of flows above which a group is recorded as a whole, unless the file asks for its flows. A
/// thousand flows fill a recorder's memory, and a thousand curves are illegible.
const MANY: usize = 1000;

/// The properties that flows of a group share.
struct Spec {
    span: Span,
    flow: Arc<FlowSettings>,
    /// The earliest and the latest start.
    start: (Time, Time),
    processing: Wanted,
    access: Option<Attachment>,
    egress: Option<Attachment>,
}

/// The hosts for a group's flows.
struct Attachment {
    ports: Duplex,
    /// The number of hosts that the flows share. It is `None` if each flow has its own.
    hosts: Option<usize>,
}

/// The end of a path at which a host is attached.
#[derive(Clone, Copy)]
enum End {
    Source,
    Sink,
}

/// The nodes of a flow's path, without the hosts that it attaches.
struct Way {
    forward: Vec<NodeId>,
    reverse: Option<Vec<NodeId>>,
}

struct Flows<'a> {
    catalogue: &'a Catalogue,
    /// All groups of the file, including those further down.
    groups: &'a [Entry],
    network: &'a mut Network,
    scenario: &'a mut Scenario,
    routes: Routes,
    /// The hosts that the flows of the latest group share, by [`End`].
    shared: [Vec<NodeId>; 2],
    /// The number of links on all paths so far.
    hops: usize,
    /// The processing time of each flow's host.
    processing: Vec<Wanted>,
}

/// Adds the flows of all groups. Returns their processing times, which are resolved after the
/// events.
pub(super) fn resolve(
    groups: &[Entry],
    catalogue: &Catalogue,
    network: &mut Network,
    scenario: &mut Scenario,
    problems: &mut Problems,
) -> Vec<Wanted> {
    let mut flows = Flows {
        catalogue,
        groups,
        routes: Routes::new(network),
        network,
        scenario,
        shared: Default::default(),
        hops: 0,
        processing: Vec::new(),
    };
    for entry in groups {
        if problems.is_full() {
            break;
        }
        let result = flows.group(entry);
        problems.keep(result);
    }
    flows.processing
}

impl Flows<'_> {
    fn group(&mut self, entry: &Entry) -> Result<(), Problem> {
        read::check_name(&entry.key, entry.span, false)?;
        let Some(table) = entry.value.table() else {
            return Ok(());
        };
        let reader = Reader::new(&keys::FLOW, table, entry.span);
        self.shared = Default::default();
        let hops = self.hops_of(&reader)?;
        let count = self.size(&reader, hops)?;
        let first = self.scenario.flows.len();
        let group = self.scenario.groups.len();
        self.network.groups.insert(entry.key.clone(), group);
        self.scenario.groups.push(Group {
            name: entry.key.clone(),
            flows: first..first + count,
            recorded: Recorded::default(),
        });
        self.scenario.flows.reserve(count.min(limits::FLOWS));
        self.members(entry, table, &reader, (count, hops))?;
        let of_the_web = |f: &Flow| matches!(f.demand, Demand::Web(_));
        let usual = if count > MANY || self.scenario.flows[first..].iter().all(of_the_web) {
            Recorded::Group
        } else {
            Recorded::Flows
        };
        let given = reader.opt("record", read::word)?;
        self.scenario.groups[group].recorded = given.unwrap_or(usual);
        Ok(())
    }

    /// Adds the flows of a group.
    fn members(
        &mut self,
        entry: &Entry,
        table: &Table,
        reader: &Reader<'_>,
        (count, hops): (usize, Option<usize>),
    ) -> Result<(), Problem> {
        let name = |i: usize| match count {
            1 => entry.key.clone(),
            _ => format!("{}.{}", entry.key, i + 1),
        };
        if let Some(each) = reader.given("each") {
            // The keys of the group are read again for each flow.
            let shared = table.entries.iter().filter(|e| e.key != "each");
            let weight: usize = shared.map(|e| e.value.weight()).sum();
            if count.saturating_mul(weight) > limits::READS {
                let most = limits::READS / weight.max(1);
                let message = format!(
                    "`each` has {count} flows, and a group with this number of values can have {most}"
                );
                return Err(Problem::new(each.span, message)
                    .hint("put keys that all flows share into groups without `each`"));
            }
            for (i, member) in list(Some(each)).iter().enumerate() {
                let Some(table) = member.table() else {
                    continue;
                };
                let reader = Reader::new(&keys::FLOW, table, member.span).or(reader);
                let spec = self.spec(&reader, count)?;
                let way = self.way(&reader, spec.flow.through)?;
                self.room(&spec, 1, way.forward.len())?;
                self.flow(name(i), i, &spec, &way)?;
            }
            return Ok(());
        }
        let spec = self.spec(reader, count)?;
        match hops {
            Some(hops) => {
                self.room(&spec, count, 2)?;
                (0..count).try_for_each(|i| {
                    let way = self.hop(i * hops / count);
                    self.flow(name(i), i, &spec, &way)
                })
            }
            None => {
                let way = self.way(reader, spec.flow.through)?;
                self.room(&spec, count, way.forward.len())?;
                (0..count).try_for_each(|i| self.flow(name(i), i, &spec, &way))
            }
        }
    }

    /// Returns the number of flows in a group.
    fn size(&self, reader: &Reader<'_>, hops: Option<usize>) -> Result<usize, Problem> {
        let count = reader.opt("count", |v| read::whole(v, 1, limits::FLOWS as u64))?;
        let size = match (count, reader.given("each")) {
            (Some(count), None) => count as usize * hops.unwrap_or(1),
            (None, None) => hops.unwrap_or(1),
            (count, Some(each)) => {
                let members = list(Some(each)).len();
                if members == 0 || count.is_some_and(|n| n != members as u64) || hops.is_some() {
                    let hint = "leave out `count` and `each_hop`; `each` has a table for each flow";
                    let message = "this list does not have one table for each flow";
                    return Err(Problem::new(each.span, message).hint(hint));
                }
                members
            }
        };
        if self.scenario.flows.len() + size > limits::FLOWS {
            return fail(reader.at("count"), format!("more than {} flows", limits::FLOWS));
        }
        Ok(size)
    }

    /// Rejects too many flows before they are created: `count` flows over `nodes` nodes each.
    fn room(&self, spec: &Spec, count: usize, nodes: usize) -> Result<(), Problem> {
        let both = || spec.access.iter().chain(&spec.egress);
        let hosts = both().count();
        let new: usize = both().map(|a| a.hosts.map_or(count, |n| n.min(count))).sum();
        if self.network.links.len() + 2 * new > limits::LINKS {
            return fail(spec.span, format!("more than {} directed links", limits::LINKS));
        }
        if self.hops + 2 * (nodes + hosts) * count > limits::HOPS {
            let message = format!("the paths of all flows have more than {} links", limits::HOPS);
            return Err(Problem::new(spec.span, message));
        }
        Ok(())
    }

    /// Returns the number of links that `each_hop` means, if it is set.
    fn hops_of(&self, reader: &Reader<'_>) -> Result<Option<usize>, Problem> {
        if !reader.get("each_hop", read::flag)? {
            return Ok(None);
        }
        let given = |key| reader.given(key);
        if self.network.hops.is_empty() {
            let message = "`each_hop` needs the hops of a parking lot";
            return Err(Problem::new(reader.at("each_hop"), message)
                .hint("add [topology.parking_lot], or give `from` and `to`"));
        }
        let way = ["from", "to", "path", "reverse_path"];
        if let Some(value) = way.into_iter().find_map(given) {
            return fail(value.span, "`each_hop` gives the path; it needs no other");
        }
        Ok(Some(self.network.hops.len()))
    }

    fn hop(&self, i: usize) -> Way {
        let link = &self.network.links[self.network.hops[i]];
        Way { forward: vec![link.from, link.to], reverse: None }
    }

    /// Returns the index of the aggregate that `value` names.
    fn aggregate(&mut self, reader: &Reader<'_>) -> Result<usize, Problem> {
        let name = reader.get("aggregate", |v| read::name(v, false).map(str::to_string))?;
        let names = &mut self.scenario.aggregates;
        if let Some(i) = names.iter().position(|n| *n == name) {
            return Ok(i);
        }
        if names.len() == limits::AGGREGATES {
            let message = format!("more than {} aggregates", limits::AGGREGATES);
            return Err(Problem::new(reader.at("aggregate"), message));
        }
        names.push(name);
        Ok(names.len() - 1)
    }

    fn spec(&mut self, reader: &Reader<'_>, count: usize) -> Result<Spec, Problem> {
        let catalogue = self.catalogue;
        let attachment = |key| match reader.table(key, &keys::ATTACHMENT) {
            Some(port) => {
                let hosts = port.opt("hosts", |v| read::whole(v, 1, limits::LINKS as u64 / 2))?;
                let hosts = hosts.map(|n| n as usize);
                let differ = reader.given("each").or(reader.given("each_hop"));
                if let (Some(value), Some(_)) = (port.given("hosts"), differ) {
                    let message = "hosts are shared by flows of one path and kind, without `each` and `each_hop`";
                    return Err(Problem::new(value.span, message));
                }
                let links = hosts.unwrap_or(count);
                let ports = Duplex::read(&port, ATTACHMENT_LIMIT, links, catalogue)?;
                Ok(Some(Attachment { ports, hosts }))
            }
            None => Ok(None),
        };
        let carrier = carrier::read(reader, catalogue)?;
        let controller = match (&carrier, reader.given("controller")) {
            (Carrier::Kernel(of), None) => carrier::model(of, reader, catalogue)?,
            _ => reader.get("controller", |value| {
                let mut problems = Problems::default();
                CONTROLLER
                    .read(value, catalogue.controllers, &mut problems)
                    .ok_or_else(|| problems.first(value.span))
            })?,
        };
        let (packet, sizes) = reader.get("packet", traffic::packet)?;
        let tunnel = tunnel::tunnel(reader, &controller)?;
        let through = self.through(reader)?;
        let service = service(reader)?;
        let spec = Spec {
            span: reader.span,
            flow: Arc::new(FlowSettings {
                group: self.scenario.groups.len() - 1,
                tunnel,
                through,
                controller: Arc::new(controller),
                carrier,
                service,
                demand: reader.get("demand", traffic::demand)?,
                stop: reader.opt("stop", read::instant)?,
                aggregate: self.aggregate(reader)?,
                share: reader
                    .opt("share", |v| read::number(v, 1e-6, 1e9))?
                    .unwrap_or(service.weight),
                packet,
                sizes,
                ack: reader.get("ack", read::packet)?,
                control: reader.get("control", read::packet)?,
                min_rto: reader.get("min_rto", read::timeout)?,
                pacing: reader.get("pacing", read::flag)?,
            }),
            start: reader.get("start", traffic::start)?,
            processing: (reader.get("processing", read::processing)?, reader.at("processing")),
            access: attachment("access")?,
            egress: attachment("egress")?,
        };
        self.check(&spec, reader)?;
        Ok(spec)
    }

    fn check(&self, spec: &Spec, reader: &Reader<'_>) -> Result<(), Problem> {
        let (flow, at) = (&spec.flow, |key| reader.at(key));
        let end = self.scenario.end();
        if spec.start.1 >= end {
            let message = format!("it starts at {}, but the run ends at {end}", spec.start.1);
            return Err(Problem::new(at("start"), message));
        }
        if let Some(stop) = flow.stop
            && stop <= spec.start.1
        {
            let message = format!("it stops at {stop}, but may start at {}", spec.start.1);
            return Err(Problem::new(at("stop"), message));
        }
        let family = flow.controller.family();
        let objective = family.role.objective(&flow.controller);
        if objective == Some(Objective::Unresponsive) && !flow.demand.is_rated() {
            let span = reader.given("demand").map_or(at("controller"), |v| v.span);
            let message = format!(
                "{} does not respond to congestion, so the demand has to give a rate",
                family.name
            );
            let hint = "demand = { constant = \"5 Mbps\" }";
            return Err(Problem::new(span, message).hint(hint));
        }
        if flow.sizes.is_some() && objective != Some(Objective::Unresponsive) {
            let message = format!("{} needs packets of one size", family.name);
            let hint = "packet = \"1000 B\", or controller = \"none\"";
            return Err(Problem::new(at("packet"), message).hint(hint));
        }
        let takes_time = matches!(spec.processing.0, Processing::Time(time) if !time.is_zero());
        if takes_time && !flow.controller.is_stream() {
            let message = format!("{} is not a stream, so its host takes no time", family.name);
            let hint = "leave out `processing`";
            return Err(Problem::new(spec.processing.1, message).hint(hint));
        }
        stream::check(flow, reader)?;
        if flow.carrier != Carrier::Ours {
            return carrier::check(flow, reader, self.catalogue);
        }
        let Some(service) = reader.table("service", &keys::SERVICES) else {
            return Ok(());
        };
        let name = family.name;
        if objective == Some(Objective::WeightedLoss) {
            let held = [
                ("contract", flow.service.contract > Rate::ZERO),
                ("limit", flow.service.limit.is_some()),
            ];
            for (key, _) in held.into_iter().filter(|(_, asked)| *asked) {
                if let Some(value) = service.given(key) {
                    let message = format!("{name} holds a weight only, no {key}");
                    return Err(Problem::new(value.span, message).hint("controller = \"monaco\""));
                }
            }
            return match service.given("weight") {
                Some(value) if flow.service.weight < 1.0 => {
                    fail(value.span, format!("{name} stands for one flow at least"))
                }
                _ => Ok(()),
            };
        }
        let Some(Objective::Accumulation { target }) = objective else {
            let why = match objective {
                Some(Objective::AccumulationUnlessOthers { .. }) => {
                    "leaves its target next to others"
                }
                _ => "does not steer an accumulation",
            };
            let message = format!("{name} {why}, so can hold no service");
            return Err(Problem::new(service.span, message).hint("controller = \"monaco\""));
        };
        let target = flow.service.weight * target.bytes_f64(flow.packet);
        match (flow.service.limit, service.given("limit")) {
            (Some(limit), Some(value)) if limit.as_f64() < target => {
                let message = format!(
                    "the flow is to keep {} queued, and this is less",
                    Bytes::from_f64(target)
                );
                let hint = "the limit must be at least weight × the controller's target";
                Err(Problem::new(value.span, message).hint(hint))
            }
            _ => Ok(()),
        }
    }
}

/// Reads the service of a flow. Parts of it may be given by the group and parts by the flow.
fn service(reader: &Reader<'_>) -> Result<Service, Problem> {
    let Some(reader) = reader.table("service", &keys::SERVICES) else {
        return Ok(Service::default());
    };
    Ok(Service {
        contract: reader.get("contract", read::any_rate)?,
        weight: reader.get("weight", |v| read::number(v, 1e-6, 1e6))?,
        limit: reader.opt("limit", read::amount)?,
    })
}
