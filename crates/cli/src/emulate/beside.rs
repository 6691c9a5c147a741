//! `--like`: the packet engine next to an emulation, with the programs' data as flows of a controller.

use accord::draft::quote;
use accord::live::{Emulated, Way};
use accord::record::{Observer, Run};
use accord::scenario::{Engine, Scenario};
use accord::traffic::Demand;
use accord::{Error, Options};

/// The least mean packet size of a flow with data, as a share of the largest packet.
const DATA: f64 = 0.5;

/// Returns the value of the key `controller` for a name, with the settings of Linux where it has one of that
/// name.
pub fn controller(name: &str) -> String {
    match name {
        "cubic" => {
            "{ name = \"cubic\", rack = true, alpha_one = false, slow_start = \"hystart\" }".into()
        }
        "reno" => "{ name = \"newreno\", rack = true }".into(),
        "bbr" => quote("bbr1"),
        name => quote(name),
    }
}

/// Returns the run of the packet engine.
pub fn run(emulated: &Emulated, ways: &[Way], observer: &mut dyn Observer) -> Result<Run, Error> {
    let scenario = scenario(emulated, ways);
    let mut run = accord::run(&scenario, Engine::Packet, &Options::default(), observer)?;
    // It stands for the same scenario.
    run.manifest.scenario_hash.clone_from(&emulated.run.manifest.scenario_hash);
    Ok(run)
}

/// Returns the scenario with endless data in each flow that carried data, from its first packet to its last.
/// Others, which carried acknowledgements, stay silent.
fn scenario(emulated: &Emulated, ways: &[Way]) -> Scenario {
    let mut scenario = emulated.scenario.clone();
    let end = scenario.end();
    for &flow in ways.iter().flat_map(|way| &way.flows) {
        let (flow, carried) = (&mut scenario.flows[flow], &emulated.carried[flow]);
        let mean = carried.bytes as f64 / carried.packets.max(1) as f64;
        let sends = mean >= DATA * flow.packet.get() as f64 && carried.last > carried.first;
        flow.demand = Demand::Greedy;
        (flow.start, flow.stop) = match sends {
            true => (carried.first, Some(carried.last)),
            false => (end, None),
        };
    }
    scenario
}
