//! Live runs of a busy machine are judged where its lateness does not matter.

use accord::record::{Interrupted, Observer, Quiet, Run, Stalls};
use accord::units::{Duration, Time};
use accord::{Engine, File, Scenario, settle};

const TEXT: &str = r#"
duration = "20 s"
[topology.dumbbell]
rate = "5 Mbps"
delay = "10 ms"
[flow.a]
count = 2
from = "left"
to = "right"
access = { rate = "100 Mbps", delay = "2 ms" }
controller = { name = "vegas", alpha = "3 pkt", beta = "3 pkt", base_rtt = "known" }
[[expect]]
name = "the link is used"
metric = "utilisation"
of = "bottleneck"
engine = "live"
equals = "98 %"
within = "5 %"
[[expect]]
name = "the round trip"
metric = "rtt"
of = "a"
engine = "live"
equals = "40 ms"
within = "10 %"
"#;

fn scenario() -> Scenario {
    let file = File::parse("late.toml", TEXT).expect("TOML");
    let points = file.points(&accord::catalogue(), None);
    points.expect("sound").remove(0)
}

/// The result of a machine that stalls for `late` once every half second.
fn live(scenario: &Scenario, late: Duration) -> Run {
    let spans = (1..40).map(|i| {
        let start = Time::ZERO + Duration::from_ms(500 * i);
        (start, start + late)
    });
    let stalls =
        vec![Stalls { links: (0..scenario.links.len()).collect(), spans: spans.collect() }];
    let mut run = accord::sim::run_stalled(scenario, &stalls, &mut Quiet).expect("it runs");
    run.manifest.engine = Engine::Live;
    run.unfit = Some("this machine was too busy".into());
    run.stalls = stalls;
    run
}

/// Time does not go back for an observer.
struct Forward(Time);

impl Observer for Forward {
    fn progress(&mut self, now: Time) -> Result<(), Interrupted> {
        assert!(now >= self.0);
        self.0 = now;
        Ok(())
    }
}

#[test]
fn lateness_that_moves_no_figure_is_no_reason() {
    let scenario = scenario();
    let run = live(&scenario, Duration::from_ms(2));
    let settled = settle(&scenario, run, &mut Forward(Time::ZERO)).expect("it runs");
    assert_eq!(settled.unfit, None);
    let note = settled.notes.last().expect("a note");
    assert!(note.contains("of its tolerance at most"), "{note}");
}

#[test]
fn lateness_that_moves_a_figure_is_a_reason_with_its_number() {
    let scenario = scenario();
    let run = live(&scenario, Duration::from_ms(80));
    let settled = settle(&scenario, run, &mut Quiet).expect("it runs");
    let why = settled.unfit.expect("refused");
    assert!(why.contains(", which moves \"the "), "{why}");
}

#[test]
fn packets_lost_by_the_kernel_stay_a_reason() {
    let scenario = scenario();
    let mut run = live(&scenario, Duration::from_ms(2));
    run.stalls.clear();
    let settled = settle(&scenario, run, &mut Quiet).expect("it runs");
    assert!(settled.unfit.is_some());
}

#[test]
fn without_stalls_the_run_is_the_run() {
    let scenario = scenario();
    let plain = accord::sim::run(&scenario, &mut Quiet).expect("it runs");
    let none = accord::sim::run_stalled(&scenario, &[], &mut Quiet).expect("it runs");
    assert_eq!(plain.manifest.digest, none.manifest.digest);
    let second = |s| Time::ZERO + Duration::from_secs(s);
    let stalls = Stalls { links: vec![0], spans: vec![(second(1), second(2))] };
    for (at, out) in [(500, 500), (1000, 2000), (1999, 2000), (2000, 2000)] {
        let at = Time::ZERO + Duration::from_ms(at);
        let out = Time::ZERO + Duration::from_ms(out);
        assert_eq!(stalls.handed_over(at), out);
    }
}
