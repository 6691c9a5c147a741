//! Events: changes during the run.

use super::network::Network;
use super::route;
use crate::read::{self, Reader};
use crate::{keys, limits};
use accord_form::Value;
use accord_form::{Problem, Problems, fail, quote};
use accord_scenario::{Change, Direction, Event, Link, LinkId, NodeId, Scenario};
use accord_units::Time;
use std::ops::Range;

pub(super) fn resolve(
    events: &[Value],
    network: &Network,
    scenario: &mut Scenario,
    problems: &mut Problems,
) {
    let mut hops = 0;
    for value in events {
        if problems.is_full() {
            return;
        }
        let Some(table) = value.table() else {
            continue;
        };
        let reader = Reader::new(&keys::EVENT, table, value.span);
        problems.keep(event(&reader, network, scenario, &mut hops));
    }
    let end = scenario.end();
    let steps = network.steps.iter().filter(|step| step.at <= end);
    scenario.events.extend(steps.cloned());
    scenario.events.sort_by_key(|e| e.at);
}

fn event(
    reader: &Reader<'_>,
    network: &Network,
    scenario: &mut Scenario,
    hops: &mut usize,
) -> Result<(), Problem> {
    let at = reader.get("at", |value| {
        let at = read::instant(value)?;
        if at > scenario.end() {
            let end = scenario.end();
            return fail(value.span, format!("the event is at {at}, but the run ends at {end}"));
        }
        Ok(at)
    })?;
    let refuse =
        |unfit: &[&str], what: &str| match unfit.iter().find_map(|k| Some((k, reader.given(k)?))) {
            Some((key, value)) => {
                fail(value.span, format!("`{key}` does not go with an event of a {what}"))
            }
            None => Ok(()),
        };
    match (reader.given("link"), reader.given("flow")) {
        (Some(link), None) => {
            refuse(&["path", "reverse_path", "demand_rate"], "link")?;
            change_link(reader, link, at, network, scenario)
        }
        (None, Some(flow)) => {
            refuse(&["delay", "rate", "direction"], "flow")?;
            let flows = flows(flow, network, scenario)?;
            if let Some(value) = reader.given("demand_rate") {
                refuse(&["path", "reverse_path"], "demand")?;
                let rate = read::rate(value)?;
                if !scenario.flows[flows.clone()].iter().all(|f| f.demand.is_rated()) {
                    let message = "a demand without a rate cannot get another";
                    return Err(Problem::new(value.span, message).hint(
                        "the flow's demand is constant, poisson, media, or on_off with a rate",
                    ));
                }
                let change = |flow| Change::Demand { flow, rate };
                let events = flows.map(|i| Event { at, change: change(i) });
                scenario.events.extend(events);
                return Ok(());
            }
            for i in flows {
                if scenario.flows[i].through.is_some() {
                    let message = "the flow rides in a tunnel and follows its path";
                    return Err(
                        Problem::new(flow.span, message).hint("change the path of the tunnel")
                    );
                }
                let change = reroute(reader, i, network, scenario)?;
                let mut follow = Vec::new();
                if let Change::Route { path, .. } = &change {
                    *hops += path.len();
                    for rider in scenario.riders(i) {
                        let (path, reverse_path) = follow_path(scenario, rider, i, path);
                        *hops += path.len();
                        follow.push(Change::Route { flow: rider, path, reverse_path });
                    }
                }
                if *hops > limits::HOPS {
                    let most = limits::HOPS;
                    let message = format!("the new paths of all flows have more than {most} links");
                    return Err(Problem::new(flow.span, message));
                }
                let changes = std::iter::once(change).chain(follow);
                let events = changes.map(|change| Event { at, change });
                scenario.events.extend(events);
            }
            Ok(())
        }
        _ => Err(Problem::new(reader.span, "an event is of one link or of one flow").hint(
            "link = \"bottleneck\" with delay or rate; or flow = \"long\" with path or demand_rate",
        )),
    }
}

fn change_link(
    reader: &Reader<'_>,
    link: &Value,
    at: Time,
    network: &Network,
    scenario: &mut Scenario,
) -> Result<(), Problem> {
    let id = network.find_link(link)?;
    let (forward, reverse) = (id & !1, id | 1);
    let links = match (reader.get("direction", read::word)?, id % 2) {
        (Direction::Forward, 0) => vec![forward],
        (Direction::Reverse, _) | (Direction::Both, 1) => vec![reverse],
        (Direction::Both, _) => vec![forward, reverse],
        (Direction::Forward, _) => {
            return fail(link.span, format!("{} is the reverse direction", link.describe()));
        }
    };
    let delay = reader.opt("delay", read::delay)?;
    let rate = reader.opt("rate", read::any_rate)?;
    if let Some(name) =
        links.iter().find_map(|id| fixed(&network.links[*id])).filter(|_| rate.is_some())
    {
        return Err(Problem::new(reader.span, name));
    }
    if delay.is_none() && rate.is_none() {
        return Err(Problem::new(reader.span, "the event changes nothing")
            .hint("give a `delay` or a `rate`"));
    }
    for link in links {
        let delay = delay.map(|d| Change::Delay(link, d));
        let rate = rate.map(|r| Change::Rate(link, r));
        let changes = delay.into_iter().chain(rate);
        scenario.events.extend(changes.map(|change| Event { at, change }));
    }
    Ok(())
}

/// Returns the reason, if any, why the rate of a link cannot change.
fn fixed(link: &Link) -> Option<String> {
    let parts = link.parts.as_ref()?;
    let name = quote(&link.name);
    let trace = parts.trace.as_ref().map(|_| "a trace, so it has no rate to change");
    let shaper = parts.shaper.map(|_| "a shaper, so its rate does not change");
    trace.or(shaper).map(|why| format!("{name} has {why}"))
}

/// Returns the flows that `value` names: those of a group, or one flow.
pub(super) fn flows(
    value: &Value,
    network: &Network,
    scenario: &Scenario,
) -> Result<Range<usize>, Problem> {
    let name = read::name(value, true)?;
    let group = |name: &str| Some(&scenario.groups[*network.groups.get(name)?]);
    if let Some(group) = group(name) {
        return Ok(group.flows.clone());
    }
    let member = name.rsplit_once('.').and_then(|(name, number)| {
        let flows = &group(name)?.flows;
        let i = number.parse::<usize>().ok()?.checked_sub(1)?;
        (i < flows.len()).then(|| flows.start + i..flows.start + i + 1)
    });
    member.ok_or_else(|| {
        let known = scenario.groups.iter().map(|g| g.name.as_str());
        Problem::new(value.span, format!("there is no flow {}", quote(name))).known(name, known)
    })
}

fn reroute(
    reader: &Reader<'_>,
    flow: usize,
    network: &Network,
    scenario: &Scenario,
) -> Result<Change, Problem> {
    let path = reader.given("path").ok_or_else(|| reader.missing("path"))?;
    let links = &scenario.flows[flow].path;
    let (first, last) = (&network.links[links[0]], &network.links[links[links.len() - 1]]);
    // The ends of the path: whether a host is attached, the router, and the node of the end.
    let source = (first.attachment, first.to, first.from);
    let sink = (last.attachment, last.from, last.to);
    let resolve = |value: &Value, source: (bool, NodeId, NodeId), sink: (bool, NodeId, NodeId)| {
        let mut nodes = route::listed(value, network)?;
        if source.0 && nodes[0] == source.1 {
            nodes.insert(0, source.2);
        }
        if sink.0 && nodes[nodes.len() - 1] == sink.1 {
            nodes.push(sink.2);
        }
        if (nodes[0], nodes[nodes.len() - 1]) != (source.2, sink.2) {
            let name = |n: NodeId| quote(&network.nodes[n].name);
            let message = format!("it does not lead from {} to {}", name(source.2), name(sink.2));
            return Err(Problem::new(value.span, message)
                .hint("a new path begins and ends where the old one did"));
        }
        Ok(nodes)
    };
    let nodes = resolve(path, source, sink)?;
    let backwards = match reader.given("reverse_path") {
        Some(value) => resolve(value, sink, source)?,
        None => nodes.iter().rev().copied().collect(),
    };
    Ok(Change::Route {
        flow,
        path: route::links(network, &nodes, path.span)?,
        reverse_path: route::links(network, &backwards, path.span)?,
    })
}

/// Returns the paths of a flow in a tunnel whose path has changed. The flow's own ways to and from the tunnel
/// stay.
fn follow_path(
    scenario: &Scenario,
    rider: usize,
    tunnel: usize,
    new: &[LinkId],
) -> (Vec<LinkId>, Vec<LinkId>) {
    let (flow, old) = (&scenario.flows[rider], &scenario.flows[tunnel].path);
    let at = flow.path.windows(old.len()).position(|part| part == old);
    let at = at.expect("its path leads through the tunnel");
    let mut path = flow.path[..at].to_vec();
    path.extend(new);
    path.extend(&flow.path[at + old.len()..]);
    // The directions of a duplex link are neighbours.
    let back = |path: &[LinkId]| -> Vec<LinkId> { path.iter().rev().map(|l| l ^ 1).collect() };
    let reverse =
        if flow.reverse_path == back(&flow.path) { back(&path) } else { flow.reverse_path.clone() };
    (path, reverse)
}
