//! 1000 different flows for 50 s of simulated time: prints the CPU time, the minimum of five runs.
//! First Monaco over an unlimited queue with each link model, then 10 s of other laws and of a
//! buffer. With the name of a case as argument, runs that case once and prints nothing, for a
//! profiler.

#![expect(clippy::print_stdout, reason = "an example prints")]

use accord_family::Catalogue;
use accord_fluid::{run_with_step, step};
use accord_language::File;
use accord_record::Quiet;

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };

fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let first = text.split(' ').next().unwrap_or("0");
    first.parse::<f64>().unwrap_or(0.0) / 1e9
}

/// Name, link model, limit of the queue, controller, and duration in seconds.
const CASES: [(&str, &str, &str, &str, u32); 6] = [
    ("integrator", "integrator", "unlimited", MONACO, 50),
    ("ack-clocked", "ack-clocked", "unlimited", MONACO, 50),
    ("buffer", "integrator", "5 MB", MONACO, 10),
    ("newreno", "integrator", "5 MB", "\"newreno\"", 10),
    ("vegas", "integrator", "5 MB", "\"vegas\"", 10),
    ("cubic", "integrator", "5 MB", "\"cubic\"", 10),
];
const MONACO: &str = "{ name = \"monaco\", gain = 0.3 }";

fn main() {
    let once = std::env::args().nth(1);
    for (name, model, limit, controller, seconds) in CASES {
        if once.as_deref().is_some_and(|once| once != name) {
            continue;
        }
        let text = format!(
            "duration = \"{seconds} s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"1 Gbps\"\ndelay = \"5 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"{limit}\" }}\n\
             [flow.f]\ncount = 1000\nfrom = \"left\"\nto = \"right\"\ncontroller = {controller}\naccess = {{ rate = \"10 Gbps\", delay = {{ spread = [\"2.5 ms\", \"50 ms\"] }} }}\n"
        );
        let file = File::parse("speed.toml", &text).expect("it parses");
        let scenario = file.points(&CATALOGUE, None).expect("valid").swap_remove(0);
        let h = step(&scenario).expect("it has one");
        if once.is_some() {
            run_with_step(&scenario, h, &mut Quiet).expect("it runs");
            continue;
        }
        let (mut single, mut whole, mut steps) = (f64::INFINITY, f64::INFINITY, 0);
        for _ in 0..5 {
            let before = cpu();
            let run = run_with_step(&scenario, h, &mut Quiet).expect("it runs");
            single = single.min(cpu() - before);
            steps = run.statistics.steps;
            drop(run);
            let before = cpu();
            accord_fluid::run(&scenario, &mut Quiet).expect("it runs");
            whole = whole.min(cpu() - before);
        }
        println!(
            "{name:12} {steps} steps of {:.2} us: {single:.2} s of CPU, {:.1} ns per flow and step; {whole:.2} s with the error estimate",
            1e6 * h,
            single * 1e9 / steps as f64 / 1000.0
        );
    }
}
