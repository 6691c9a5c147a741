//! The answer as text, and as JSON.

use super::answer::{Answer, Proof};
use super::network::Network;
use super::write::{prices, rates};
use accord::columns::{Cells, Table};
use accord::report::show::{clean, count, quantity};
use accord::scenario::MetricUnit;
use accord::solver::Bottleneck;
use serde_json::{Map, Value, json};

/// The maximum number of characters of a name.
const NAME: usize = 24;
/// The maximum number of flows named in a sentence.
const NAMED: usize = 5;

/// Returns a page of text: status, certificate, the `top` flows and links.
pub fn text(network: &Network, answer: &Answer, top: usize) -> String {
    let routes = network.problem.routes();
    let mut out = format!(
        "{}, {}, {}: {}",
        count(routes.flows(), "flow"),
        count(routes.links(), "link"),
        count(routes.hops(), "hop"),
        answer.status_word()
    );
    if let Proof::Utility { iterations, .. } = answer.proof {
        out += &format!(" in {}", count(iterations, "step"));
    }
    out += &format!(", {}\n", quantity(answer.seconds, MetricUnit::Seconds));
    if let Some(problem) = answer.problem(network) {
        out += &format!("{problem}\n");
    }
    let parts = answer.certificate().into_iter();
    let parts: Vec<String> =
        parts.map(|(name, value)| format!("{} {}", name.replace('_', " "), order(value))).collect();
    out += &format!("certificate: {}\n", parts.join(", "));
    out += &proven(network, answer);
    out += &flows(network, answer, top);
    out += &links(network, answer, top);
    let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

/// Returns the proven distance of the rates from the optimal ones, and the flows without a proof.
/// If a utility is almost linear, distant rates have almost the same utility.
fn proven(network: &Network, answer: &Answer) -> String {
    let every = (0..answer.rates.len()).filter_map(|f| Some((f, answer.uncertainty(f)?)));
    // A bound as large as the rate proves nothing.
    let (sure, loose): (Vec<_>, Vec<_>) = every.partition(|(_, off)| *off < 1.0);
    let worst = sure.iter().map(|(_, off)| *off).reduce(f64::max);
    let within = |which: &str, worst: f64| {
        let worst = order(worst);
        format!("proven: {which} rate is the optimal one to within {worst} of it\n")
    };
    let mut out = match worst {
        Some(worst) if loose.is_empty() => return within("every", worst),
        Some(worst) => within("every other", worst),
        None => String::new(),
    };
    let names: Vec<&str> = (loose.iter().take(NAMED)).map(|(f, _)| &*network.flows[*f]).collect();
    if !names.is_empty() {
        let more = match loose.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = names.join(", ");
        out = format!(
            "not proven: the rate of {names}{more}: the certificate does not bound it\n{out}"
        );
    }
    out
}

/// Returns the table of the flows with the highest rates.
fn flows(network: &Network, answer: &Answer, top: usize) -> String {
    let largest = largest(&answer.rates, top);
    let mut out = heading("flows", largest.len(), answer.rates.len(), "highest rates");
    let path_prices = if answer.prices.is_empty() {
        Vec::new()
    } else {
        network.problem.routes().path_prices(&answer.prices)
    };
    let last = match answer.proof {
        Proof::Utility { .. } => format!("{:>10}  {:>11}", "within", "path price"),
        Proof::MaxMin { .. } => format!("  {:<NAME$}", "bottleneck"),
    };
    out += &format!("{:<NAME$} {:>12} {last}\n", "flow", "rate");
    for flow in largest {
        let last = match &answer.proof {
            Proof::Utility { .. } => format!(
                "{:>10}  {:>11}",
                match answer.uncertainty(flow) {
                    Some(off) if off.is_finite() => format!("± {}", order(off)),
                    Some(_) => "unknown".into(),
                    None => String::new(),
                },
                price(path_prices[flow])
            ),
            Proof::MaxMin { bottlenecks, .. } => match bottlenecks[flow] {
                Bottleneck::Link(link) => {
                    format!("  {}", clean(&network.links[link as usize], NAME))
                }
                Bottleneck::Own => "  its own limit".into(),
            },
        };
        let name = clean(&network.flows[flow], NAME);
        let rate = quantity(answer.rates[flow], MetricUnit::BitPerSecond);
        out += &format!("{name:<NAME$} {rate:>12} {last}\n");
    }
    out
}

/// Returns a price with as many digits as quantities have: three, or four if the first is a 1.
fn price(price: f64) -> String {
    match format!("{price:.3e}") {
        text if text.starts_with('1') => text,
        _ => format!("{price:.2e}"),
    }
}

/// Returns the table of the links with the highest prices, or the highest loads.
fn links(network: &Network, answer: &Answer, top: usize) -> String {
    let capacities = network.problem.capacities();
    let utilisation: Vec<f64> = answer.loads.iter().zip(capacities).map(|(y, c)| y / c).collect();
    let (by, which) = if answer.prices.is_empty() {
        (&utilisation, "fullest")
    } else {
        (&answer.prices, "highest prices")
    };
    let largest = largest(by, top);
    let mut out = heading("links", largest.len(), by.len(), which);
    let heading = if answer.prices.is_empty() { "" } else { "price" };
    out += &format!("{:<NAME$} {:>12} {:>10}  {heading:>11}\n", "link", "capacity", "full");
    for link in largest {
        let name = clean(&network.links[link], NAME);
        let capacity = quantity(capacities[link], MetricUnit::BitPerSecond);
        let full = quantity(utilisation[link], MetricUnit::Ratio);
        let price = answer.prices.get(link).map(|p| format!("{:>11}", price(*p)));
        out += &format!("{name:<NAME$} {capacity:>12} {full:>10}  {}\n", price.unwrap_or_default());
    }
    out
}

fn heading(what: &str, shown: usize, all: usize, which: &str) -> String {
    if shown < all {
        format!("\nthe {shown} of {all} {what} with the {which}\n")
            .replace("with the fullest", "that are fullest")
    } else {
        "\n".into()
    }
}

/// Returns the order of magnitude.
fn order(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value => format!("{value:.0e}"),
    }
}

/// Returns the indices of the `top` largest values, largest first.
fn largest(values: &[f64], top: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    places.truncate(top);
    places
}

/// Returns the whole answer as JSON. Numbers that are not finite are null.
pub fn json(network: &Network, answer: &Answer) -> Value {
    let certificate = answer.certificate().into_iter();
    let certificate: Map<String, Value> =
        certificate.map(|(name, value)| (name.to_string(), json!(value))).collect();
    json!({
        "status": answer.status_word(),
        "problem": answer.problem(network),
        "seconds": answer.seconds,
        "certificate": certificate,
        "flows": records(&rates(network, answer)),
        "links": records(&prices(network, answer)),
    })
}

fn records(table: &Table) -> Value {
    let mut records: Vec<Map<String, Value>> = Vec::new();
    for (field, cells) in table.columns() {
        let repeated = |value: Value, n: &usize| std::iter::repeat_n(value, *n);
        let values: Vec<Value> = match cells {
            Cells::Text(runs) => runs.iter().flat_map(|(x, n)| repeated(json!(x), n)).collect(),
            Cells::Count(runs) => runs.iter().flat_map(|(x, n)| repeated(json!(x), n)).collect(),
            Cells::Long(numbers) => numbers.iter().map(|number| json!(number)).collect(),
            Cells::Number(numbers) => numbers.iter().map(|number| json!(number)).collect(),
            Cells::Stretches(all) => (all.iter().copied().flatten()).map(|n| json!(n)).collect(),
        };
        records.resize(values.len(), Map::new());
        for (record, value) in records.iter_mut().zip(values) {
            record.insert(field.name.clone(), value);
        }
    }
    json!(records)
}
