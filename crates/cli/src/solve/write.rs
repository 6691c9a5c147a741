//! The answer as two tables, `rates` and `prices`, in CSV or Parquet.

use super::answer::{Answer, Proof};
use super::network::Network;
use crate::fail::Failure;
use accord::columns::{Cells, Kind, Table};
use accord::files::{Whole, create_dirs};
use accord::solver::Bottleneck;
use std::io::BufWriter;
use std::path::Path;

/// Returns the table of the flows.
pub fn rates<'a>(network: &'a Network, answer: &Answer) -> Table<'a> {
    let mut table = Table::default();
    let flows = Cells::text(network.flows.iter().map(String::as_str));
    table.add("flow", "name of the flow", Kind::Text, flows);
    let rates = Cells::Number(answer.rates.clone());
    table.add("rate_bps", "its rate, in bit/s", Kind::Number, rates);
    match &answer.proof {
        Proof::Utility { bounds, .. } => {
            if !bounds.is_empty() {
                let (low, high) = bounds.iter().copied().unzip();
                let about = "the optimal rate is not below this";
                table.add("low_bps", about, Kind::Number, Cells::Number(low));
                table.add("high_bps", "nor above this", Kind::Number, Cells::Number(high));
            }
            let prices = network.problem.routes().path_prices(&answer.prices);
            let about = "sum of the prices of its links";
            table.add("path_price", about, Kind::Number, Cells::Number(prices));
        }
        Proof::MaxMin { bottlenecks, .. } => {
            let name = |bottleneck: &Bottleneck| match bottleneck {
                Bottleneck::Link(link) => network.links[*link as usize].as_str(),
                Bottleneck::Own => "",
            };
            let links = Cells::text(bottlenecks.iter().map(name));
            let about = "the full link that keeps it from more; empty if its own limit does";
            table.add("bottleneck", about, Kind::Text, links);
        }
    }
    table
}

/// Returns the table of the links.
pub fn prices<'a>(network: &'a Network, answer: &Answer) -> Table<'a> {
    let mut table = Table::default();
    let links = Cells::text(network.links.iter().map(String::as_str));
    table.add("link", "name of the link", Kind::Text, links);
    let capacities = Cells::Number(network.problem.capacities().to_vec());
    table.add("capacity_bps", "its capacity, in bit/s", Kind::Number, capacities);
    let loads = Cells::Number(answer.loads.clone());
    table.add("load_bps", "sum of the rates, in bit/s", Kind::Number, loads);
    if !answer.prices.is_empty() {
        let about = "queuing delay in seconds, if weights are bits";
        let prices = Cells::Number(answer.prices.clone());
        table.add("price", about, Kind::Number, prices);
    }
    table
}

/// Writes both tables into a directory.
pub fn write(dir: &Path, network: &Network, answer: &Answer) -> Result<(), Failure> {
    create_dirs(dir).map_err(|e| Failure::new(format!("cannot create {}: {e}", dir.display())))?;
    let tables = [("rates", rates(network, answer)), ("prices", prices(network, answer))];
    for (stem, table) in tables {
        let format = network.format;
        let path = dir.join(format!("{stem}.{}", format.extension()));
        Whole::replace(&path)
            .and_then(|whole| {
                table.write(&mut BufWriter::new(whole.open()?), format, stem)?;
                whole.finish()
            })
            .map_err(|e| Failure::new(format!("cannot write {}: {e}", path.display())))?;
    }
    Ok(())
}
