//! `accord bench --against ns2`: the workloads here and in another simulator, in turn, so both
//! run under the same conditions. Each workload has several pairs; the result is the median of
//! their ratios. Neither records series: both read their counters at the end.

use super::{Work, measure};
use crate::args::Bench;
use crate::fail::Failure;
use crate::output::{self, note};
use accord::Catalogue;
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// The number of pairs per workload.
const PAIRS: usize = 5;

/// The workloads in ns-2.
const SCRIPT: &str = include_str!("../../benches/ns2.tcl");

/// A workload, here and in the other simulator.
#[derive(Serialize)]
struct Compared {
    name: String,
    pairs: Vec<Pair>,
    /// The median of the pairs' ratios.
    ratio: f64,
}

/// Packet-hops per CPU-second, here and in the other simulator.
#[derive(Clone, Copy, Serialize)]
struct Pair {
    hops_per_cpu_second: f64,
    rival_hops_per_cpu_second: f64,
    ratio: f64,
}

/// The workloads of the script.
const THERE: [&str; 3] = ["newreno-10", "newreno-250", "vegas-250"];

/// Runs the workloads in pairs, and prints the table.
pub fn run(works: &[Work], args: &Bench, catalogue: &Catalogue) -> Result<bool, Failure> {
    let works: Vec<&Work> = works.iter().filter(|w| THERE.contains(&&*w.name)).collect();
    if works.is_empty() {
        let e = Failure::new("ns-2 does not have this workload");
        return Err(e.hint(format!("it has: {}", THERE.join(", "))));
    }
    let mut all = Vec::new();
    for work in works {
        let mut pairs = Vec::new();
        for _ in 0..PAIRS {
            let here = measure(work, args, catalogue, false)?.hops_per_cpu_second;
            let there = ns2(&work.name)?;
            pairs.push(Pair {
                hops_per_cpu_second: here,
                rival_hops_per_cpu_second: there,
                ratio: here / there,
            });
        }
        let ratio = median(pairs.iter().map(|p| p.ratio));
        note(format_args!("{}: {ratio:.1} times as fast as ns-2", work.name));
        all.push(Compared { name: work.name.clone(), pairs, ratio });
    }
    if args.json {
        output::json(&all)?;
        return Ok(true);
    }
    output::data(format_args!(
        "{:12} {:>15} {:>15} {:>7}  ratio of each pair",
        "workload", "million hops/s", "in ns-2", "median"
    ))?;
    for work in all {
        let here = median(work.pairs.iter().map(|p| p.hops_per_cpu_second)) / 1e6;
        let there = median(work.pairs.iter().map(|p| p.rival_hops_per_cpu_second)) / 1e6;
        let ratios: Vec<_> = work.pairs.iter().map(|p| format!("{:.1}", p.ratio)).collect();
        output::data(format_args!(
            "{:12} {here:>15.1} {there:>15.2} {:>7.1}  {}",
            work.name,
            work.ratio,
            ratios.join(" ")
        ))?;
    }
    Ok(true)
}

/// Returns the packet-hops per CPU-second of a workload in ns-2.
fn ns2(work: &str) -> Result<f64, Failure> {
    let started = Command::new("ns")
        .args(["/dev/stdin", work])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut ns = started.map_err(|e| match e.kind() {
        ErrorKind::NotFound => Failure::Unable(
            "ns-2 is not installed: there is no program `ns`; on Debian and Ubuntu, apt-get install ns2"
                .into(),
        ),
        _ => Failure::io(format!("ns: {e}"), &e),
    })?;
    if let Some(mut script) = ns.stdin.take() {
        // A program that does not read it reports its error below.
        let _ = script.write_all(SCRIPT.as_bytes());
    }
    let done = (ns.wait_with_output()).map_err(|e| Failure::io(format!("ns: {e}"), &e))?;
    let text = String::from_utf8_lossy(&done.stdout);
    speed(&text).filter(|_| done.status.success()).ok_or_else(|| {
        let said = String::from_utf8_lossy(&done.stderr);
        let said = said.lines().chain(text.lines()).next().unwrap_or("nothing");
        Failure::new(format!("ns did not run the workload {work}: {said}"))
            .hint("the program `ns` has to be that of ns-2.35")
    })
}

/// Parses the packet-hops and the CPU seconds that the script prints.
fn speed(text: &str) -> Option<f64> {
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    let (hops, cpu) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (cpu > 0.0).then_some(hops / cpu)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
