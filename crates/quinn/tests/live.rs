//! Flows of the live engine that quinn carries. What is asserted of all runs holds on a busy
//! machine, too; what is asserted of rates holds where the machine kept up, and a test says where
//! it did not.
#![cfg(target_os = "linux")]

use accord::live::{Mode, obstacle};
use accord::record::{Quiet, Run};
use accord::scenario::{Carrier, Engine, Entity, Metric, Scenario};
use accord::{Options, run};
use std::io::Write;

const ALONE: &str = r#"
    duration = "6 s"
    sample = "50 ms"
    [topology.dumbbell]
    rate = "10 Mbps"
    delay = "20 ms"
    queue = { discipline = "droptail", limit = "1 BDP" }
    [flow.a]
    from = "left"
    to = "right"
    packet = "1500 B"
    quic = "quinn"
    controller = "quinn-cubic"
"#;

fn read(text: &str) -> Result<Vec<Scenario>, String> {
    let catalogue = accord::catalogue_with(accord_quinn::FAMILIES, &[]);
    let file = accord::language::File::parse("quic.toml", text).map_err(|e| e.to_string())?;
    file.points(&catalogue, None).map_err(|e| e.to_string())
}

fn one(text: &str) -> Scenario {
    read(text).unwrap_or_else(|e| panic!("{e}")).remove(0)
}

#[test]
fn smoke() {
    let s = one(ALONE);
    let options = Options { live: Some(Mode::Loopback) };
    let r = run(&s, Engine::Live, &options, &mut Quiet).expect("it runs");
    for m in Metric::ALL {
        if let Some(series) = r.series(*m, Entity::Flow(0)) {
            let v = &series.values;
            let _ = writeln!(std::io::stderr(), "{m}: {:?}", v.iter().step_by(8).collect::<Vec<_>>());
        }
    }
    let _ = writeln!(std::io::stderr(), "{:#?} {:?}", r.notes, r.unfit);
}
