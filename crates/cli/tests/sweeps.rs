//! Sweeps of many runs, of which the means are kept and the samples only where they are wanted.

use crate::common::*;
use std::fs;

/// A sweep of 210 runs of the packet engine, with flows that start and stop in the steady part.
fn sweep() -> String {
    let rates: Vec<String> = (0..210).map(|i| format!("\"{} Kbps\"", 1000 + 5 * i)).collect();
    format!(
        "id = \"many\"\nduration = \"0.6 s\"\nsample = \"5 ms\"\nsteady = [\"0.2 s\", \"0.6 s\"]\n\
         [topology.dumbbell]\nrate = \"1 Mbps\"\ndelay = \"5 ms\"\n\
         [flow.a]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"newreno\"\n\
         count = 4\nstart = {{ uniform = [\"0 s\", \"0.5 s\"] }}\n\
         [flow.b]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"monaco\"\n\
         start = \"0.1 s\"\nstop = \"0.4 s\"\n\
         [sweep.rate]\nset = \"topology.dumbbell.rate\"\nvalues = [{}]\n",
        rates.join(", ")
    )
}

#[test]
fn means_of_a_sweep_are_those_of_its_samples() {
    let dir = folder(&[("many.toml", &sweep())]);
    let at = dir.path();
    let run = ["run", "many.toml", "-e", "packet", "-o"];
    let ended = accord(at, &[&run[..], &["means"]].concat()).with(0);
    let note = "many: of 146 of 210 runs only the means are kept; --series keeps all samples";
    assert!(ended.stderr.lines().any(|line| line.ends_with(note)), "{}", ended.stderr);
    let whole = accord(at, &[&run[..], &["whole", "--series"]].concat()).with(0);
    assert!(!whole.stderr.contains("only the means"), "{}", whole.stderr);
    assert_eq!(ended.stdout, whole.stdout);
    let read = |file: &str| fs::read_to_string(at.join(file)).expect(file);
    assert_eq!(read("means/summary.csv"), read("whole/summary.csv"));
    let size = |file: &str| fs::metadata(at.join(file)).expect(file).len();
    assert_eq!(size("means/064/series.parquet"), size("whole/064/series.parquet"));
    assert!(size("means/065/series.parquet") < size("whole/065/series.parquet") / 2);
    assert!(read("means/page.html").contains("of the others only the means are kept"));
    // Read again, the means are the same.
    let compared = accord(at, &["compare", "means", "whole", "--json"]).with(0).json();
    let text = compared.to_string();
    assert!(!text.contains("\"differs\":true"), "{text}");
    accord(at, &["plot", "means", "--metric", "throughput", "-o", "sweep.svg"]).with(0);
    let refused =
        accord(at, &["plot", "means/210", "--metric", "throughput", "-o", "time.svg"]).with(2);
    let told = "of 1 of these 1 runs only the means over 0.2–0.6 s are kept";
    assert!(refused.stderr.contains(told), "{refused:#?}");
    assert!(refused.stderr.contains("--series"), "{refused:#?}");
    // Another part of the time is in the samples only.
    let part = ["plot", "means", "--metric", "throughput", "--time", "0.3..0.5", "-o", "part.svg"];
    let refused = accord(at, &part).with(2);
    assert!(refused.stderr.contains("of 146 of these 210 runs"), "{refused:#?}");
    let refused = accord(at, &["export", "flent", "means/210"]).with(2);
    assert!(refused.stderr.contains("means only"), "{refused:#?}");
    accord(at, &["export", "flent", "means/001"]).with(0);
}
