//! `--like`: the packet engine next to an emulation, with the programs' data as flows of a controller.

use accord::draft::quote;
use accord::files::read_text;
use accord::live::{Emulated, Way};
use accord::record::{Observer, Run};
use accord::scenario::{Engine, Entity, Metric, Scenario};
use accord::traffic::Demand;
use accord::{Error, Options};
use std::path::Path;

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

/// The congestion control of connections that choose none.
pub struct Default {
    pub name: String,
    /// True if [`controller`] has a controller of that name as in Linux.
    pub is_known: bool,
}

/// Returns the congestion control that this host's kernel gives by default.
pub fn default_congestion() -> Default {
    let path = Path::new("/proc/sys/net/ipv4/tcp_congestion_control");
    let name = read_text(path, 64).map_or("cubic".into(), |text| text.trim().to_string());
    let is_known = ["cubic", "reno", "bbr"].contains(&name.as_str());
    Default { name, is_known }
}

/// Returns the run of the packet engine.
pub fn run(emulated: &Emulated, ways: &[Way], observer: &mut dyn Observer) -> Result<Run, Error> {
    let scenario = scenario(emulated, ways);
    let mut run = accord::run(&scenario, Engine::Packet, &Options::default(), observer)?;
    fill(&mut run, &scenario, ways);
    // It stands for the same scenario.
    run.manifest.scenario_hash.clone_from(&emulated.run.manifest.scenario_hash);
    Ok(run)
}

/// Sets the rates and queues of the flows of programs to zero while they send no data, as the emulation records
/// them. Otherwise the means would cover times and flows other than those of the emulation. A group without data
/// has no values.
fn fill(run: &mut Run, scenario: &Scenario, ways: &[Way]) {
    let sends = |flow: usize| scenario.flows[flow].start < scenario.end();
    let counts = |flow: usize| {
        let group = &scenario.groups[scenario.flows[flow].group];
        ways.iter().any(|way| way.flows.contains(&flow)) && group.flows.clone().any(sends)
    };
    for series in &mut run.series {
        let Entity::Flow(flow) = series.entity else { continue };
        if matches!(series.metric, Metric::Throughput | Metric::Accumulation) && counts(flow) {
            series.values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = 0.0);
        }
    }
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
