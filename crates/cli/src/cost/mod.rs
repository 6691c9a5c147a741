//! The cost of `accord run` for a scenario: time, memory and disk, estimated before it starts.
//!
//! Packets are counted by max-min fair rates (`load.rs`), and the speed of this machine is measured
//! (`speed.rs`). `docs/src/cost.md` compares estimates with runs.

mod load;
mod memory;
mod same;
mod say;
mod speed;

use crate::choice::{at_point, engines};
use crate::execute::{AT_ONCE, MOST_SAMPLED};
use accord::Catalogue;
use accord::scenario::{Engine, Metric, QUANTILES, Recorded, Scenario};
use accord::units::Time;
use load::{Load, load};
use serde::Serialize;
use std::collections::BTreeSet;

pub use same::twins;
pub use speed::cpu_seconds;

/// The cost of a command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Runs: points times seeds times engines.
    pub runs: usize,
    pub engines: Vec<&'static str>,
    /// Packets that cross a link, over all runs of the packet engine.
    pub packet_hops: f64,
    /// Packet-hops per second and core in the reference run.
    pub speed: f64,
    /// Time of one core.
    pub core_seconds: f64,
    /// Time from start to end on this machine, with live runs in real time.
    pub seconds: f64,
    /// The peak memory.
    pub memory_bytes: f64,
    /// The size of the run directory.
    pub file_bytes: f64,
}

/// Estimates the cost of all points with `reps` seeds. All samples are kept if `series` is true. If the cost is
/// large, the speed of the machine is measured for a few milliseconds.
pub fn estimate(
    points: &[Scenario],
    asked: &[Engine],
    reps: u64,
    series: bool,
    catalogue: &Catalogue,
) -> Cost {
    let engines = engines(asked, points);
    let (reps, cores) = (reps as f64, rayon::current_num_threads() as f64);
    let (mut hops, mut work, mut longest, mut live) = (0.0, 0.0, 0.0, 0.0);
    let (mut memory, mut files, mut state, mut phases) = (0.0, 0.0, 0.0, 0.0);
    let mut runs = 0;
    let at_points = points.iter().map(|scenario| at_point(&engines, asked, scenario).len());
    let sampled = series || at_points.sum::<usize>() * reps as usize <= MOST_SAMPLED;
    let mut largest = 0.0;
    for scenario in points {
        let here = at_point(&engines, asked, scenario);
        let means = !sampled && runs >= AT_ONCE;
        runs += here.len() * reps as usize;
        let has = |engine| here.contains(&engine);
        let mut each = Vec::new();
        if has(Engine::Packet) {
            let load = load(scenario);
            hops += reps * load.hops;
            each.push(packet(scenario, &load));
        }
        if has(Engine::Theory) {
            each.push(theory(scenario));
        }
        if has(Engine::Fluid) {
            each.push(fluid(scenario));
        }
        if has(Engine::Live) {
            live += reps * scenario.duration.as_secs_f64();
        }
        work += reps * each.iter().sum::<f64>();
        longest = each.iter().copied().fold(longest, f64::max);
        let samples = here.len() as f64 * values_of(scenario);
        // The runs of a point are there together.
        let together = f64::max(AT_ONCE as f64, reps * here.len() as f64);
        largest = f64::max(largest, together * values_of(scenario));
        let (values, point) = match means {
            true => (here.len() as f64 * columns(scenario), MEANS_BYTES),
            false => (samples, POINT_BYTES),
        };
        memory += reps * (size(scenario) + VALUE_BYTES * values);
        if means {
            memory += reps * here.len() as f64 * RUN_BYTES;
        }
        let theory = if has(Engine::Theory) && !means { values_of(scenario) } else { 0.0 };
        files += point;
        files += reps * LINE_BYTES * (scenario.flows.len() + scenario.links.len()) as f64;
        files += reps * (FILE_BYTES * (values - theory) + THEORY_FILE_BYTES * theory);
        if has(Engine::Packet) || has(Engine::Live) {
            state = f64::max(state, working(scenario));
        }
        if has(Engine::Theory) {
            phases = f64::max(phases, equilibria(scenario));
        }
    }
    if !sampled {
        memory += VALUE_BYTES * largest;
    }
    let at_once = cores.min(runs as f64);
    // Runs of one engine are parallel, limited by their number.
    let alike = cores.min(points.len() as f64 * reps);
    let speed = if reps * work > MOMENT { speed::hops_per_second(catalogue) } else { speed::USUAL };
    Cost {
        runs,
        engines: engines.iter().map(|e| e.name()).collect(),
        packet_hops: hops,
        speed,
        core_seconds: work / speed,
        // Runs are distributed to all cores, and the last one has to end.
        seconds: live + (work / at_once).max(longest) / speed,
        memory_bytes: PROGRAM + memory + (state + phases) * alike,
        file_bytes: files,
    }
}

/// The work, in packet-hops of the reference run, from which measuring is worthwhile.
const MOMENT: f64 = 2e7;
/// The memory of the program with a small scenario, in bytes.
const PROGRAM: f64 = 28e6;
/// Bytes of a value of a series in memory, including its writer.
const VALUE_BYTES: f64 = 11.0;
/// Bytes of a value in the files of a run directory, including the page; values of theory hardly
/// change from sample to sample.
const FILE_BYTES: f64 = 4.5;
/// Bytes of the files of a point without its values: the page, manifests, table headers.
const POINT_BYTES: f64 = 80e3;
/// Bytes of the same files if only the means are kept: the page has no plots of the point.
const MEANS_BYTES: f64 = 27e3;
/// Bytes of such a run in memory, without its values: its series, manifest and table.
const RUN_BYTES: f64 = 40e3;
/// Bytes of a flow or a link in the printed scenario and the page.
const LINE_BYTES: f64 = 20.0;
const THEORY_FILE_BYTES: f64 = 0.5;

// The work of engines is in packet-hops of the reference run. The constants are fitted to runs of
// the experiments (docs/src/cost.md).

/// A value of a series, recorded, written and drawn.
const VALUE: f64 = 5.0;
/// A reading of a flow at a sample.
const READING: f64 = 20.0;
/// A value of theory.
const THEORY_VALUE: f64 = 3.5;
/// A flow in a phase of theory.
const THEORY_FLOW: f64 = 10.0;
/// An update of a flow or a queue by the fluid engine.
const FLUID_UPDATE: f64 = 2.3;
/// A flow of a run: read, printed, hashed, created, compared.
const FLOW: f64 = 450.0;

/// Returns the work of the packet engine.
fn packet(scenario: &Scenario, load: &Load) -> f64 {
    // With more flows than fit into the caches, each packet waits for memory.
    let readings = scenario.flows.len() as f64 * samples(scenario);
    let caches = 1.0 + 0.3 * (scenario.flows.len() as f64 / 10.0).max(1.0).log10();
    caches * load.work
        + FLOW * scenario.flows.len() as f64
        + READING * readings
        + VALUE * values_of(scenario)
}

fn samples(scenario: &Scenario) -> f64 {
    scenario.duration.as_ps() as f64 / scenario.sample.as_ps().max(1) as f64
}

/// Returns the work of theory, which solves phase by phase, and skips most phases without a sample.
fn theory(scenario: &Scenario) -> f64 {
    let phases = (scenario.cuts().len() as f64 - 1.0).min(samples(scenario));
    let flows = scenario.flows.len() as f64;
    (phases * THEORY_FLOW + FLOW) * flows + THEORY_VALUE * values_of(scenario)
}

/// Returns the work of the fluid engine, which integrates once with its step and once with twice
/// that.
fn fluid(scenario: &Scenario) -> f64 {
    let Ok(step) = accord::fluid::step(scenario) else {
        return 0.0; // the run says why it has none
    };
    let steps = 1.5 * scenario.duration.as_secs_f64() / step;
    // Flows with equal properties are one.
    let (mut classes, mut queues) = (BTreeSet::new(), BTreeSet::new());
    let (mut active, seconds) = (0.0, scenario.duration.as_secs_f64());
    for f in &scenario.flows {
        let links = || f.path.iter().map(|&l| &scenario.links[l]);
        let delay: u64 = links().map(|l| l.delay.as_ps()).sum();
        let rate = links().map(|l| l.rate.as_bps()).min();
        if classes.insert((f.group, f.start, f.stop, delay, rate, f.path.len())) {
            let stop = f.stop.map_or(seconds, Time::as_secs_f64).min(seconds);
            active += ((stop - f.start.as_secs_f64()) / seconds).max(0.0);
        }
        queues.extend(f.path.iter().copied().filter(|&l| !scenario.links[l].attachment));
    }
    steps * FLUID_UPDATE * (active + queues.len() as f64)
        + FLOW * scenario.flows.len() as f64
        + VALUE * values_of(scenario)
}

/// Returns the number of series of a run.
fn columns(scenario: &Scenario) -> f64 {
    let flows = scenario.recorded_flows().count() as f64;
    let groups = (scenario.groups.iter()).filter(|g| g.recorded == Recorded::Group);
    let links = scenario.links.iter().filter(|l| !l.attachment).count() as f64;
    FLOW_COLUMNS * flows
        + (FLOW_COLUMNS + QUANTILE_COLUMNS) * groups.count() as f64
        + LINK_COLUMNS * links
}

/// Returns the number of values of all series of a run.
fn values_of(scenario: &Scenario) -> f64 {
    const BUDGET: f64 = (1u64 << 24) as f64;
    let columns = columns(scenario);
    let capacity = (BUDGET / columns.max(1.0)).clamp(64.0, 65536.0);
    // If there are too many samples, neighbours are merged until half of them are left.
    let mut kept = samples(scenario);
    while kept > capacity {
        kept /= 2.0;
    }
    columns * kept
}

/// The number of series per flow and per link.
const FLOW_COLUMNS: f64 = 14.0;
const LINK_COLUMNS: f64 = 12.0;
/// The number of quantiles of a group that is recorded as one.
const QUANTILE_COLUMNS: f64 = (QUANTILES.len() * Metric::WITH_QUANTILES.len()) as f64;

/// Returns the memory of a resolved scenario, in bytes.
fn size(scenario: &Scenario) -> f64 {
    let hops: usize = (scenario.flows.iter()).map(|f| f.path.len() + f.reverse_path.len()).sum();
    size_of::<accord::scenario::Flow>() as f64 * scenario.flows.len() as f64
        + 8.0 * hops as f64
        + 100.0 * scenario.flows.len() as f64
        + (size_of::<accord::scenario::Link>() + 100) as f64 * scenario.links.len() as f64
}

/// Returns the memory of an engine that moves packets during a scenario, in bytes.
fn working(scenario: &Scenario) -> f64 {
    2000.0 * scenario.flows.len() as f64 + 3000.0 * scenario.links.len() as f64
}

/// Returns the memory of theory during a scenario: the problem and the figures of one phase, in
/// bytes.
fn equilibria(scenario: &Scenario) -> f64 {
    500.0 * scenario.flows.len() as f64
}
