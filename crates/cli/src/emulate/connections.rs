//! The connections of an emulation as a table, next to its series.

use crate::fail::Failure;
use accord::columns::{Cells, Format, Kind, Table};
use accord::files;
use accord::live::{Conversation, Delays};
use accord::scenario::Scenario;
use accord::units::Duration;
use std::path::Path;

/// Writes `connections.csv` and `connections.parquet` into a run directory.
pub fn write(dir: &Path, all: &[Conversation], scenario: &Scenario) -> Result<(), Failure> {
    let table = table(all, scenario);
    for (name, format) in
        [("connections.csv", Format::Csv), ("connections.parquet", Format::Parquet)]
    {
        let path = dir.join(name);
        let mut bytes = Vec::new();
        let written = table.write(&mut bytes, format, "connections");
        let written = written.and_then(|()| files::write(&path, &bytes));
        written.map_err(|e| Failure::Unable(format!("cannot write {}: {e}", path.display())))?;
    }
    Ok(())
}

fn table<'a>(all: &'a [Conversation], scenario: &'a Scenario) -> Table<'a> {
    let mut table = Table::default();
    let mut text = |name: &str, doc: &str, of: &dyn Fn(&Conversation) -> String| {
        table.add(name, doc, Kind::Text, Cells::text(all.iter().map(of)));
    };
    let known = "tcp, udp, icmp, icmpv6, or the number; empty for connections beyond a thousand";
    text("protocol", known, &|c| match c.connection.map(|(protocol, ..)| protocol) {
        None => String::new(),
        Some(1) => "icmp".into(),
        Some(58) => "icmpv6".into(),
        Some(6) => "tcp".into(),
        Some(17) => "udp".into(),
        Some(other) => other.to_string(),
    });
    let end = |end: Option<std::net::SocketAddr>| end.map_or(String::new(), |end| end.to_string());
    text("from", "address and port of the sender", &|c| end(c.connection.map(|(_, from, _)| from)));
    text("to", "address and port of the receiver", &|c| end(c.connection.map(|(_, _, to)| to)));
    text("flow", "the flow of its packets", &|c| scenario.flows[c.flow].name.clone());
    let mut count = |name: &str, doc: &str, of: &dyn Fn(&Conversation) -> u64| {
        let values = all.iter().map(|c| i64::try_from(of(c)).unwrap_or(i64::MAX));
        table.add(name, doc, Kind::Long, Cells::Long(values.collect()));
    };
    count("packets", "packets that the program sent", &|c| c.sent.0);
    count("bytes", "their bytes", &|c| c.sent.1);
    count(
        "delivered",
        "packets that arrived; others were dropped, refused, or on the way at the end",
        &|c| c.delivered.0,
    );
    count("delivered_bytes", "their bytes", &|c| c.delivered.1);
    count("marked", "packets that arrived with a mark of congestion", &|c| c.marked);
    let mut delay = |name: &str, doc: &str, of: &dyn Fn(Delays) -> Duration| {
        let seconds = |c: &Conversation| c.delays.map_or(f64::NAN, |d| of(d).as_secs_f64());
        table.add(name, doc, Kind::Optional, Cells::Number(all.iter().map(seconds).collect()));
    };
    delay("delay_mean_s", "mean delay from the entry to the arrival, in s", &|d| d.mean);
    delay("delay_p99_s", "99 % quantile of the delay, in s", &|d| d.p99);
    delay("delay_max_s", "longest delay, in s", &|d| d.max);
    table
}
