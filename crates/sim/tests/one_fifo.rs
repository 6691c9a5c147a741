//! Every controller beside CUBIC and beside NewReno over one FIFO queue without priorities, where only
//! delay and losses tell of others. `--nocapture` prints the table.

use crate::common::*;
use accord_control::{FAMILIES, Maker, Transport};
use accord_record::Quiet;
use accord_scenario::{Entity, Metric};
use accord_sim::run;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

/// The rates of a flow and of its rival in Mbps, in the mean of three seeds: 20 Mbps and 40 ms with a
/// product of buffer.
fn beside(controller: &str, rival: &str) -> (f64, f64) {
    let (mut own, mut other) = (0.0, 0.0);
    for seed in SEEDS {
        let s = scenario(&format!(
            "seed = {seed}\nduration = \"80 s\"\nsteady = [\"20 s\", \"80 s\"]\n\
             [topology.dumbbell]\nrate = \"20 Mbps\"\ndelay = \"18 ms\"\ncontrol_priority = false\n\
             queue = {{ discipline = \"droptail\", limit = \"100 pkt\" }}\n\
             [flow.rival]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{rival}\"\n\
             start = {{ uniform = [\"0 s\", \"2 s\"] }}\naccess = {{ rate = \"1 Gbps\", delay = \"1 ms\" }}\n\
             [flow.own]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{controller}\"\n\
             start = {{ uniform = [\"0 s\", \"2 s\"] }}\naccess = {{ rate = \"1 Gbps\", delay = \"1 ms\" }}\n"
        ));
        let run = run(&s, &mut Quiet).expect("runs");
        let rate = |f| run.mean(Metric::Throughput, Entity::Flow(f), s.steady).expect("it ran");
        other += rate(0) / 1e6;
        own += rate(1) / 1e6;
    }
    let n = SEEDS.count() as f64;
    (own / n, other / n)
}

#[test]
fn table() {
    for family in FAMILIES {
        if !matches!(Maker::of(family).transport, Transport::Stream | Transport::Tunnel { .. }) {
            continue;
        }
        for rival in ["newreno", "cubic"] {
            let (own, other) = beside(family.name, rival);
            println!("{} {rival}: {own:.2} {other:.2} {:.2}", family.name, own / other);
        }
    }
}
