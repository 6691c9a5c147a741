//! `accord bench`: the speed of the packet engine on workloads also measured on other simulators,
//! and the cost of live runs. The workloads are scenario files in `crates/cli/benches`.

mod against;
mod live;

use crate::args::Bench;
use crate::cost::cpu_seconds;
use crate::fail::Failure;
use crate::output;
use crate::progress::Progress;
use accord::{Catalogue, Engine, File};
use serde::Serialize;

/// A simulated workload.
struct Work {
    name: String,
    /// The scenario file.
    text: &'static str,
    /// The queue discipline, if it is not that of the file.
    discipline: Option<&'static str>,
}

/// The workload relative to which costs are expressed.
const FIRST: &str = "newreno-10";

/// The scenario files, beginning with those of ns-2.
const FILES: [(&str, &str); 9] = [
    (FIRST, include_str!("../benches/newreno-10.toml")),
    ("newreno-250", include_str!("../benches/newreno-250.toml")),
    ("vegas-250", include_str!("../benches/vegas-250.toml")),
    ("monaco-20", include_str!("../benches/monaco-20.toml")),
    ("cubic-rack-10", include_str!("../benches/cubic-rack-10.toml")),
    ("bbr3-10", include_str!("../benches/bbr3-10.toml")),
    ("cubic-bbr3-10", include_str!("../benches/cubic-bbr3-10.toml")),
    ("on-off-100", include_str!("../benches/on-off-100.toml")),
    ("web-500", include_str!("../benches/web-500.toml")),
];

/// The queue disciplines of further workloads, which otherwise equal the first.
const DISCIPLINES: [&str; 8] = ["red", "pie", "codel", "fq-codel", "avq", "avd", "rem", "bat"];

fn works() -> impl Iterator<Item = Work> {
    let files = FILES.map(|(name, text)| Work { name: name.into(), text, discipline: None });
    let others = DISCIPLINES.map(|discipline| Work {
        name: format!("{FIRST}-{discipline}"),
        text: FILES[0].1,
        discipline: Some(discipline),
    });
    files.into_iter().chain(others)
}

/// A measurement.
#[derive(Serialize)]
struct Measured {
    name: String,
    packet_hops: u64,
    cpu_seconds: f64,
    hops_per_cpu_second: f64,
    peak_rss_bytes: u64,
}

/// A rate tried live. CPU times are per data packet that crosses the bottleneck, including the
/// packets that return for it.
#[derive(Serialize)]
struct Trial {
    asked_bps: f64,
    carried_bps: f64,
    packets_per_second: f64,
    router_cpu_us: f64,
    far_router_cpu_us: f64,
    ends_cpu_us: f64,
    system: f64,
    busiest_core: f64,
    late_p99_us: f64,
    late: f64,
    problem: Option<String>,
}

/// The workload that runs only by name, since it takes a minute and the whole machine.
const LIVE: &str = "live";

/// Runs one workload, or all simulated ones.
pub fn run(args: &Bench, catalogue: &Catalogue) -> Result<bool, Failure> {
    let (name, json) = (args.name.as_deref(), args.json);
    if name == Some(LIVE) {
        return live::run(args.live, catalogue, json);
    }
    let works: Vec<Work> =
        works().filter(|work| name.is_none_or(|name| name == work.name)).collect();
    if works.is_empty() {
        let known: Vec<_> = self::works().map(|work| work.name).chain([LIVE.into()]).collect();
        let e = Failure::new(format!("unknown workload \"{}\"", name.unwrap_or_default()));
        return Err(e.hint(format!("there are: {}", known.join(", "))));
    }
    if args.against.is_some() {
        return against::run(&works, args, catalogue);
    }
    let measured = works.iter().map(|work| measure(work, args, catalogue, true));
    let results: Vec<Measured> = measured.collect::<Result<_, _>>()?;
    if json {
        output::json(&results)?;
    } else {
        output::data(format_args!(
            "{:19} {:>14} {:>8} {:>14} {:>10} {:>8}",
            "workload", "packet-hops", "CPU s", "million hops/s", "peak MB", "cost"
        ))?;
        let first = results.iter().find(|r| r.name == FIRST).map(|r| r.hops_per_cpu_second);
        for r in results {
            let (hops, cpu) = (r.packet_hops, r.cpu_seconds);
            let (speed, rss) = (r.hops_per_cpu_second / 1e6, r.peak_rss_bytes as f64 / 1e6);
            let cost = first.map_or(String::new(), |f| format!("{:.2}", f / r.hops_per_cpu_second));
            output::data(format_args!(
                "{:19} {hops:>14} {cpu:>8.2} {speed:>14.1} {rss:>10.1} {cost:>8}",
                r.name
            ))?;
        }
    }
    Ok(true)
}

/// Runs a workload. Without `series` there is one sample, at the end.
fn measure(
    work: &Work,
    args: &Bench,
    catalogue: &Catalogue,
    series: bool,
) -> Result<Measured, Failure> {
    let mut file = File::parse(&work.name, work.text)?;
    if let Some(discipline) = work.discipline {
        file.set("topology.dumbbell.queue.discipline", discipline)?;
    }
    accord::set(&mut file, &args.set)?;
    let mut scenario = file.points(catalogue, None)?.swap_remove(0);
    if !series {
        scenario.sample = scenario.duration;
    }
    let before = cpu_seconds();
    let progress = Progress::new(scenario.duration, true);
    let options = accord::Options::default();
    let run = accord::run(&scenario, Engine::Packet, &options, &mut progress.observe(None, None))?;
    let cpu_seconds = cpu_seconds() - before;
    let packet_hops = run.statistics.packet_hops;
    Ok(Measured {
        name: work.name.clone(),
        packet_hops,
        cpu_seconds,
        hops_per_cpu_second: packet_hops as f64 / cpu_seconds,
        peak_rss_bytes: peak_rss_bytes(),
    })
}

/// Returns the peak resident memory of this process: the maximum over all workloads so far.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|l| l.trim().split(' ').next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
