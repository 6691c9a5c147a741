//! `accord bench live`: the cost of a packet in live runs, and the highest rate of this machine.
//!
//! One scenario at a sequence of rates: doubled until the machine cannot keep up, then bisected. A
//! rate is sustained if the run is fit for a verdict (lateness, losses) and the bottleneck is used;
//! a failing rate is tried twice.

use super::Trial;
use crate::fail::Failure;
use crate::output::{self, note};
use crate::progress::Progress;
use accord::Catalogue;
use accord::language::File;
use accord::live::{Effort, Mode, announcement};
use accord::live_mode;
use accord::scenario::{Entity, Metric, NodeId, Window};
use accord::units::Time;

const SCENARIO: &str = include_str!("../../benches/live.toml");
/// The first and the highest rate, in Mbps.
const FIRST: f64 = 50.0;
const LAST: f64 = 6_400.0;
/// The number of bisections of the interval between a sustained rate and one that is not.
const HALVINGS: usize = 3;
/// The utilisation of the bottleneck at a sustained rate.
const USED: f64 = 0.95;

/// Searches, and prints the result.
pub fn run(mode: Option<Mode>, catalogue: &Catalogue, json: bool) -> Result<bool, Failure> {
    let mode = live_mode(mode);
    let mut trials: Vec<Trial> = Vec::new();
    let mut sustained = |mbps: f64| -> Result<bool, Failure> {
        for _ in 0..2 {
            let trial = trial(mode, catalogue, mbps, trials.is_empty() && !json)?;
            note(format_args!(
                "{:>7.0} Mbps: {}",
                trial.asked_bps / 1e6,
                trial.problem.as_deref().unwrap_or("sustained")
            ));
            let good = trial.problem.is_none();
            trials.push(trial);
            if good {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let (mut low, mut high) = (0.0, FIRST);
    while high <= LAST && sustained(high)? {
        (low, high) = (high, 2.0 * high);
    }
    if low > 0.0 && high <= LAST {
        for _ in 0..HALVINGS {
            let between: f64 = (low * high).sqrt().round();
            if sustained(between)? { low = between } else { high = between }
        }
    }
    trials.sort_by(|a, b| a.asked_bps.total_cmp(&b.asked_bps));
    if json {
        output::json(&trials)?
    } else {
        table(mode, &trials, low)?
    }
    Ok(true)
}

/// Runs the scenario at one rate.
fn trial(mode: Mode, catalogue: &Catalogue, mbps: f64, announced: bool) -> Result<Trial, Failure> {
    let mut file = File::parse("live", SCENARIO)?;
    file.set("topology.dumbbell.rate", &format!("\"{mbps} Mbps\""))?;
    let scenario = file.points(catalogue, None)?.swap_remove(0);
    if announced {
        note(format_args!("live: {}", announcement(&scenario, mode)));
    }
    let progress = Progress::new(scenario.duration, true);
    let done = accord::live::measure(&scenario, mode, &mut progress.observe(None, None));
    let (run, cost) = done.map_err(accord::Error::from)?;
    let id = scenario.links.iter().position(|l| l.name == "bottleneck");
    let id = id.ok_or_else(|| Failure::new("the scenario has no bottleneck"))?;
    let link = &scenario.links[id];
    let used = |window| {
        let mean = run.mean(Metric::Utilisation, Entity::Link(id), window);
        mean.unwrap_or(0.0)
    };
    let asked_bps = link.rate.as_bps_f64();
    let whole = Window { start: Time::ZERO, end: scenario.end() };
    let bits = scenario.flows[0].packet.get() as f64 * 8.0;
    let packets = asked_bps * used(whole) * scenario.duration.as_secs_f64() / bits;
    let steady = used(scenario.steady);
    let idle = format!("the utilisation of the bottleneck was only {:.0} %", steady * 100.0);
    let carried_bps = asked_bps * steady;
    let sum = |of: fn(&Effort) -> f64| cost.threads.iter().map(of).sum::<f64>();
    let cpu = cost.threads.iter().map(|t| t.cpu.as_secs_f64());
    // The thread of a router has only that node.
    let of = |mine: &dyn Fn(&[NodeId]) -> bool| {
        let threads = cost.threads.iter().filter(|t| mine(&t.nodes));
        let cpu: f64 = threads.map(|t| t.cpu.as_secs_f64()).sum();
        cpu / packets.max(1.0) * 1e6
    };
    let is_end = |nodes: &[NodeId]| nodes != [link.from] && nodes != [link.to];
    Ok(Trial {
        asked_bps,
        carried_bps,
        packets_per_second: carried_bps / bits,
        router_cpu_us: of(&|nodes| nodes == [link.from]),
        far_router_cpu_us: of(&|nodes| nodes == [link.to]),
        ends_cpu_us: of(&is_end),
        system: sum(|t| t.system.as_secs_f64()) / sum(|t| t.cpu.as_secs_f64()).max(1e-9),
        busiest_core: cpu.fold(0.0, f64::max) / scenario.duration.as_secs_f64(),
        late_p99_us: cost.late_p99.as_secs_f64() * 1e6,
        late: cost.late,
        problem: run.unfit.clone().or_else(|| (steady < USED).then_some(idle)),
    })
}

fn table(mode: Mode, trials: &[Trial], highest: f64) -> Result<(), Failure> {
    output::data(format_args!(
        "{:>8} {:>8} {:>10} {:>9} {:>24} {:>7} {:>8}  {mode}",
        "asked", "carried", "packets/s", "late 99 %", "CPU us/packet, two", "in the", "busiest",
    ))?;
    output::data(format_args!(
        "{:>8} {:>8} {:>10} {:>9} {:>24} {:>7} {:>8}",
        "Mbps", "Mbps", "", "us", "routers and the ends", "kernel", "thread",
    ))?;
    for t in trials {
        output::data(format_args!(
            "{:>8.0} {:>8.1} {:>10.0} {:>9.0} {:>8.1}{:>8.1}{:>8.1} {:>5.0} % {:>6.0} %  {}",
            t.asked_bps / 1e6,
            t.carried_bps / 1e6,
            t.packets_per_second,
            t.late_p99_us,
            t.router_cpu_us,
            t.far_router_cpu_us,
            t.ends_cpu_us,
            t.system * 100.0,
            t.busiest_core * 100.0,
            t.problem.as_deref().unwrap_or(""),
        ))?;
    }
    if highest > 0.0 {
        output::data(format_args!("highest rate sustained: {highest:.0} Mbps"))?
    } else {
        output::data("no rate was sustained")?
    }
    Ok(())
}
