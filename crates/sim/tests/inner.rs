//! The inner state of senders is recorded on request, without an effect on packets.

use crate::common::CATALOGUE;
use accord_language::File;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};

fn scenario(inner: bool, controller: &str) -> Scenario {
    let text = format!(
        "duration = \"4 s\"\nsample = \"10 ms\"\ninner = {inner}\n\
         [topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"20 ms\"\n\
         queue = {{ discipline = \"droptail\", limit = \"4 BDP\" }}\n\
         [flow.f]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{controller}\"\npacket = \"1500 B\"\n"
    );
    let file = File::parse("inner.toml", &text).expect("it is TOML");
    file.points(&CATALOGUE, None).expect("it is good").remove(0)
}

fn run(scenario: &Scenario) -> Run {
    accord_sim::run(scenario, &mut Quiet).expect("it is not interrupted")
}

fn values(run: &Run, name: &str) -> Vec<f64> {
    let metric: Metric = name.parse().expect("it is a metric");
    let series = run.series(metric, Entity::Flow(0)).expect("it is recorded");
    series.values.clone()
}

/// For every controller, the packets are the same, and there is one more series per variable.
#[test]
fn it_changes_no_packet() {
    for family in accord_control::FAMILIES.iter().filter(|family| family.name != "none") {
        let (plain, asked) =
            (run(&scenario(false, family.name)), run(&scenario(true, family.name)));
        assert_eq!(plain.manifest.digest, asked.manifest.digest, "{}", family.name);
        let more = asked.series.len() - plain.series.len();
        assert_eq!(more, 3 + family.inner.len(), "{}", family.name);
        let common = |series: &accord_record::Series| !series.metric.is_inner();
        let same = asked.series.iter().filter(|s| common(s)).zip(&plain.series);
        for (asked, plain) in same {
            let bits = |s: &accord_record::Series| -> Vec<u64> {
                s.values.iter().map(|v| v.to_bits()).collect()
            };
            assert_eq!(bits(asked), bits(plain), "{}: {}", family.name, asked.metric);
        }
    }
}

#[test]
fn bbr_goes_through_its_states() {
    let run = run(&scenario(true, "bbr3"));
    let states = values(&run, "bbr3.state");
    let metric: Metric = "bbr3.state".parse().expect("it is a metric");
    let names: Vec<&str> =
        states.iter().filter(|v| v.is_finite()).map(|v| metric.states()[*v as usize]).collect();
    let mut seen = names.clone();
    seen.dedup();
    // It leaves the first probe_bw_down within a sample, as the queue is empty by then.
    assert_eq!(&seen[..3], ["startup", "drain", "probe_bw_cruise"], "{seen:?}");
    let steady = 200..400;
    let near = |name: &str, low: f64, high: f64| {
        let all = &values(&run, name)[steady.clone()];
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((low..high).contains(&mean), "{name}: {mean}");
    };
    // The link has 10 Mbps, and the path 40 ms plus a little for the packet.
    near("bbr3.max_bw", 9.8e6, 10.2e6);
    near("delivery_rate", 9.0e6, 10.1e6);
    near("pacing_rate", 8.5e6, 11e6);
    near("inflight", 40e3, 110e3);
    near("bbr3.min_rtt", 0.040, 0.044);
}

#[test]
fn cubic_has_its_plateau_after_a_loss() {
    let run = run(&scenario(true, "cubic"));
    let w_max = values(&run, "cubic.w_max");
    assert!(w_max[5].is_nan(), "there is no loss yet");
    let last = w_max.last().copied().expect("there are samples");
    // The path and the buffer hold 250 KB.
    assert!((150e3..400e3).contains(&last), "{last}");
}
