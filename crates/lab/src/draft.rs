//! The page's view of a scenario that is being written: its errors and its network.

use accord::language::ScenarioError;
use accord::scenario::Scenario;
use accord::{Catalogue, Error, File};
use serde::Serialize;

/// The maximum number of nodes and links drawn.
const MOST_DRAWN: usize = 400;

/// The maximum number of flows of a group whose paths are drawn.
const MOST_WAYS: usize = 64;

/// A parsed scenario text.
#[derive(Debug, Default, Serialize)]
pub struct Draft {
    /// The errors. Empty if the scenario can run.
    pub errors: Vec<Mark>,
    /// The labels of the points of its sweep, or one empty label.
    pub points: Vec<String>,
    /// The network of the first point.
    pub network: Option<Network>,
}

/// An error, with its place in the text.
#[derive(Debug, Serialize)]
pub struct Mark {
    message: String,
    hint: Option<String>,
    /// The place, in UTF-16 units, as in browsers.
    from: usize,
    to: usize,
    line: usize,
}

/// A network for drawing.
#[derive(Debug, Serialize)]
pub struct Network {
    id: String,
    title: String,
    nodes: Vec<String>,
    links: Vec<Link>,
    groups: Vec<Group>,
    /// True if only a part of the network is included.
    cut: bool,
}

#[derive(Debug, Serialize)]
struct Link {
    name: String,
    from: usize,
    to: usize,
    rate: String,
    delay: String,
    discipline: &'static str,
}

#[derive(Debug, Serialize)]
struct Group {
    name: String,
    count: usize,
    controller: &'static str,
    /// The indices of the nodes on the paths of the flows, without duplicates.
    paths: Vec<Vec<usize>>,
}

/// Reads a scenario text under the name of its file.
pub fn read(name: &str, text: &str, catalogue: &Catalogue) -> Result<(File, Vec<Scenario>), Error> {
    let file = File::parse(name, text)?;
    let points = file.points(catalogue, None)?;
    Ok((file, points))
}

/// Returns the view of a text.
pub fn draft(name: &str, text: &str, catalogue: &Catalogue) -> Draft {
    match read(name, text, catalogue) {
        Ok((_, points)) => Draft {
            errors: vec![],
            points: points.iter().map(label).collect(),
            network: points.first().map(network),
        },
        Err(Error::Scenario(errors)) => {
            Draft { errors: errors.iter().map(|e| mark(e, text)).collect(), ..Draft::default() }
        }
        Err(e) => Draft {
            errors: vec![Mark { message: e.to_string(), hint: e.hint(), from: 0, to: 0, line: 1 }],
            ..Draft::default()
        },
    }
}

fn label(point: &Scenario) -> String {
    let settings: Vec<String> =
        (point.point.iter()).map(|(key, value)| format!("{key} = {value}")).collect();
    settings.join(", ")
}

fn mark(e: &ScenarioError, text: &str) -> Mark {
    let units = |byte: usize| {
        let before = text.get(..byte).unwrap_or(text);
        before.encode_utf16().count()
    };
    Mark {
        message: e.message.clone(),
        hint: e.hint.clone(),
        from: units(e.span.start),
        to: units(e.span.end),
        line: e.line,
    }
}

fn network(scenario: &Scenario) -> Network {
    // The reverse direction of a link is drawn with it; hosts added for flows are not drawn.
    let shown = |link: &&accord::scenario::Link| {
        !link.attachment && !link.name.ends_with(".reverse") && link.from.max(link.to) < MOST_DRAWN
    };
    let links: Vec<Link> = (scenario.links.iter().filter(shown).take(MOST_DRAWN))
        .map(|link| Link {
            name: link.name.clone(),
            from: link.from,
            to: link.to,
            rate: link.rate.to_string(),
            delay: link.delay.to_string(),
            discipline: link.queue.discipline.family().name,
        })
        .collect();
    let mut used: Vec<usize> = links.iter().flat_map(|l| [l.from, l.to]).collect();
    used.sort_unstable();
    used.dedup();
    let place = |node: usize| used.binary_search(&node).ok();
    let groups = scenario.groups.iter().filter_map(|group| {
        let flow = scenario.flows.get(group.flows.start)?;
        let mut paths: Vec<Vec<usize>> = Vec::new();
        for flow in scenario.flows[group.flows.clone()].iter().take(MOST_WAYS) {
            let links = flow.path.iter().map(|&l| &scenario.links[l]);
            let mut path: Vec<usize> = Vec::new();
            for node in links.flat_map(|l| [l.from, l.to]).filter_map(place) {
                if path.last() != Some(&node) {
                    path.push(node);
                }
            }
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        Some(Group {
            name: group.name.clone(),
            count: group.flows.len(),
            controller: flow.controller.family().name,
            paths,
        })
    });
    Network {
        id: scenario.id.clone(),
        title: scenario.title.clone(),
        nodes: (used.iter().map(|&n| scenario.nodes[n].name.clone())).collect(),
        cut: scenario.links.iter().filter(|l| !l.attachment).count() > 2 * MOST_DRAWN,
        groups: groups.collect(),
        links: (links.into_iter())
            .filter_map(|l| Some(Link { from: place(l.from)?, to: place(l.to)?, ..l }))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_of_a_group_is_drawn_once() {
        let text = "duration = \"1 s\"
[topology.parking_lot]
bottlenecks = 3
rate = \"10 Mbps\"
delay = \"1 ms\"
[flow.long]
count = 2
from = \"r0\"
to = \"r3\"
controller = \"vegas\"
[flow.short]
each_hop = true
controller = \"vegas\"
";
        let draft = draft("x.toml", text, &accord::catalogue());
        let network = draft.network.expect("it is valid");
        let ways = network.groups.iter().map(|g| &g.paths);
        let ways: Vec<_> = ways.collect();
        assert_eq!(ways[0], &[vec![0, 1, 2, 3]]);
        assert_eq!(ways[1], &[vec![0, 1], vec![1, 2], vec![2, 3]]);
    }
}
