//! The links and the flows of a scenario, as rows of text for a table.

use accord::Scenario;
use accord::report::Outline;
use accord::scenario::Limit;

/// Rows of a table.
pub type Rows = Vec<Vec<String>>;

/// Returns a row per link that tables show (name, rate, delay, discipline, buffer), and a row per
/// group of flows (name, number of flows, links of the first one, controller).
pub fn contents(scenario: &Scenario) -> (Rows, Rows) {
    let shown = Outline::of(scenario).links;
    let links = scenario.links.iter().zip(shown).filter(|(_, o)| o.shown);
    let links = links.map(|(link, _)| {
        vec![
            link.name.clone(),
            link.rate.to_string(),
            link.delay.to_string(),
            link.queue.discipline.family().name.to_string(),
            match link.queue.limit {
                Limit::Packets(n) => format!("{n} pkt"),
                Limit::Bytes(bytes) => bytes.to_string(),
                Limit::Unlimited => "unlimited".into(),
            },
        ]
    });
    let groups = scenario.groups.iter().map(|group| {
        let first = scenario.flows.get(group.flows.start);
        let path = first.map_or(Vec::new(), |f| f.path.clone());
        let named = path.into_iter().map(|l| &scenario.links[l]);
        let named = named.filter(|l| !l.attachment).map(|l| &l.name[..]);
        vec![
            group.name.clone(),
            group.flows.len().to_string(),
            named.collect::<Vec<_>>().join(", "),
            first.map_or(String::new(), |f| f.controller.family().name.to_string()),
        ]
    });
    (links.collect(), groups.collect())
}
