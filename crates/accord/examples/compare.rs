//! Runs a scenario in theory and in packets, and compares the rates of its flows.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use accord::record::Quiet;
use accord::scenario::{Entity, Metric};
use accord::{Engine, Error, File, Options, run};

const SCENARIO: &str = r#"
duration = "20 s"
topology.dumbbell = { rate = "10 Mbps", delay = "10 ms" }
[flow.vegas]
count = 2
from = "left"
to = "right"
controller = "vegas"
"#;

fn main() -> Result<(), Error> {
    let mut file = File::parse("two-flows.toml", SCENARIO)?;
    // As --set on the command line.
    file.set("flow.vegas.controller.beta", "\"3 pkt\"")?;
    for scenario in file.points(&accord::catalogue(), None)? {
        let options = Options::default();
        let theory = run(&scenario, Engine::Theory, &options, &mut Quiet)?;
        let packets = run(&scenario, Engine::Packet, &options, &mut Quiet)?;
        for flow in 0..scenario.flows.len() {
            let mbps = |run: &accord::Run| {
                let mean = run.mean(Metric::Throughput, Entity::Flow(flow), scenario.steady);
                mean.unwrap_or(f64::NAN) / 1e6
            };
            let name = &scenario.flows[flow].name;
            println!(
                "{name}: {:.2} Mbps in theory, {:.2} in packets",
                mbps(&theory),
                mbps(&packets)
            );
        }
    }
    Ok(())
}
