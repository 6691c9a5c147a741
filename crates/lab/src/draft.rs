//! The page's view of a scenario that is being written: its errors and its network.

use accord::language::TextError;
use accord::report::label;
use accord::scenario::Scenario;
use accord::{Catalogue, Error, File};
use serde_json::{Value, json};

/// The maximum number of nodes and links drawn.
const MOST_DRAWN: usize = 400;

/// The maximum number of flows of a group whose paths are drawn.
const MOST_WAYS: usize = 64;

/// Reads a scenario text under the name of its file, with its own seed or another one.
pub fn read(
    name: &str,
    text: &str,
    catalogue: &Catalogue,
    seed: Option<u64>,
) -> Result<(File, Vec<Scenario>), Error> {
    let file = File::parse(name, text)?;
    let points = file.points(catalogue, seed)?;
    Ok((file, points))
}

/// Returns the view of a text: its errors with their places in UTF-16 units, as in browsers; the labels
/// of the points of its sweep, or one empty label; and the network of the first point.
pub fn draft(name: &str, text: &str, catalogue: &Catalogue) -> Value {
    let errors = match read(name, text, catalogue, None) {
        Ok((_, points)) => {
            let labels: Vec<String> = points.iter().map(|s| label(&s.point)).collect();
            let network = points.first().map(network);
            return json!({ "errors": [], "points": labels, "network": network });
        }
        Err(Error::Scenario(errors)) => errors.iter().map(|e| mark(e, text)).collect(),
        Err(e) => vec![
            json!({ "message": e.to_string(), "hint": e.hint(), "from": 0, "to": 0, "line": 1 }),
        ],
    };
    json!({ "errors": errors, "points": [], "network": null })
}

fn mark(e: &TextError, text: &str) -> Value {
    let units = |byte: usize| text.get(..byte).unwrap_or(text).encode_utf16().count();
    json!({
        "message": e.message,
        "hint": e.hint,
        "from": units(e.span.start),
        "to": units(e.span.end),
        "line": e.line,
    })
}

/// Returns the network for drawing. "cut" is true if only a part of it is included; the paths of a
/// group are the indices of the nodes of its flows' paths, without duplicates.
fn network(scenario: &Scenario) -> Value {
    // The reverse direction of a link is drawn with it; hosts added for flows are not drawn.
    let shown = |link: &&accord::scenario::Link| {
        !link.attachment && !link.name.ends_with(".reverse") && link.from.max(link.to) < MOST_DRAWN
    };
    let links: Vec<_> = scenario.links.iter().filter(shown).take(MOST_DRAWN).collect();
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
        Some(json!({
            "name": group.name,
            "count": group.flows.len(),
            "controller": flow.controller.family().name,
            "paths": paths,
        }))
    });
    let links = links.iter().map(|link| {
        json!({
            "name": link.name,
            "from": place(link.from),
            "to": place(link.to),
            "rate": link.rate.to_string(),
            "delay": link.delay.to_string(),
            "discipline": link.queue.discipline.family().name,
        })
    });
    json!({
        "id": scenario.id,
        "title": scenario.title,
        "nodes": used.iter().map(|&n| &scenario.nodes[n].name).collect::<Vec<_>>(),
        "links": links.collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
        "cut": scenario.links.iter().filter(|l| !l.attachment).count() > 2 * MOST_DRAWN,
    })
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
        let groups = &draft["network"]["groups"];
        assert_eq!(groups[0]["paths"], json!([[0, 1, 2, 3]]));
        assert_eq!(groups[1]["paths"], json!([[0, 1], [1, 2], [2, 3]]));
    }
}
