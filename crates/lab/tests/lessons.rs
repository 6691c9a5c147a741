//! The lessons run, and show their figures.

use accord::record::Quiet;
use accord::scenario::{Entity, Metric, Scenario};
use accord::{Engine, File, Options, Run, run};
use accord_lab::LESSONS;

fn points(id: &str) -> Vec<Scenario> {
    let (_, text) = LESSONS.iter().find(|(name, _)| *name == id).expect(id);
    let file = File::parse(&format!("{id}.toml"), text).expect("it is TOML");
    file.points(&accord::catalogue(), None).expect(id)
}

fn packets(scenario: &Scenario) -> Run {
    run(scenario, Engine::Packet, &Options::default(), &mut Quiet).expect("packets always run")
}

/// Returns the mean of a metric of a flow or link of that name, over the steady part.
fn mean(scenario: &Scenario, run: &Run, metric: Metric, name: &str) -> f64 {
    let flow = scenario.flows.iter().position(|f| f.name == name);
    let link = scenario.links.iter().position(|l| l.name == name);
    let entity = flow.map(Entity::Flow).or(link.map(Entity::Link));
    let mean = run.mean(metric, entity.expect(name), scenario.steady);
    mean.expect("it was recorded")
}

#[test]
fn each_lesson_asks_looks_and_tries() {
    for (id, text) in LESSONS {
        assert!(text.starts_with("# Question: "), "{id}");
        assert!(
            text.contains("\n# Look: ") && text.contains("\n# Try: "),
            "{id}"
        );
        assert!(text.contains("\ntitle = \"Lesson "), "{id}");
        assert!(!points(id).is_empty());
    }
}

#[test]
fn vegas_loses_nothing_and_queues_what_it_wants() {
    let [scenario] = &points("02-vegas")[..] else {
        panic!("one point")
    };
    let run = packets(scenario);
    for flow in ["a", "b"] {
        assert!(mean(scenario, &run, Metric::LossRatio, "bottleneck") == 0.0);
        let rate = mean(scenario, &run, Metric::Throughput, flow);
        assert!((4.5e6..5.5e6).contains(&rate), "{flow}: {rate}");
    }
}

/// The figures that a lesson names are on its page.
#[test]
fn a_lesson_that_names_the_fairness_index_has_one() {
    for (id, text) in LESSONS {
        let several = points(id)[0].groups.iter().any(|g| g.flows.len() > 1);
        assert!(several || !text.contains("fairness index"), "{id}");
    }
}

/// With five bottlenecks, as the lesson suggests, the long flow gets a sixth.
#[test]
fn the_lesson_of_the_parking_lot_goes_on_with_five() {
    let (_, text) = LESSONS
        .iter()
        .find(|(id, _)| *id == "03-parking-lot")
        .expect("there");
    let mut file = File::parse("lot.toml", text).expect("it is TOML");
    for tried in ["bottlenecks = 5", "to = \"r5\" for `long`"] {
        assert!(text.contains(tried), "{tried}");
    }
    for (path, value) in [
        ("topology.parking_lot.bottlenecks", "5"),
        ("flow.long.to", "r5"),
    ] {
        file.set(path, value).expect("a path");
    }
    let scenario = &file.points(&accord::catalogue(), None).expect("valid")[0];
    let theory = run(scenario, Engine::Theory, &Options::default(), &mut Quiet).expect("theory");
    let rate = mean(scenario, &theory, Metric::Throughput, "long");
    assert!((rate - 2e6).abs() < 1e3, "{rate}");
}

#[test]
fn the_long_flow_of_the_parking_lot_gets_a_quarter() {
    let [scenario] = &points("03-parking-lot")[..] else {
        panic!("one point")
    };
    let rate = mean(scenario, &packets(scenario), Metric::Throughput, "long");
    assert!((2.8e6..3.2e6).contains(&rate), "{rate}");
}

#[test]
fn a_late_flow_takes_a_queue_for_distance() {
    let [scenario] = &points("04-base-rtt")[..] else {
        panic!("one point")
    };
    let run = packets(scenario);
    let of = |metric, flow| mean(scenario, &run, metric, flow);
    assert!(of(Metric::MinRtt, "late") > 1.1 * of(Metric::MinRtt, "early"));
    assert!(of(Metric::Throughput, "late") > 1.2 * of(Metric::Throughput, "early"));
}

#[test]
fn small_buffers_leave_the_link_idle() {
    let points = points("08-buffers");
    let used: Vec<f64> = (points.iter())
        .map(|s| mean(s, &packets(s), Metric::Utilisation, "bottleneck"))
        .collect();
    assert!(used[0] < 0.9 && used[4] > 0.98, "{used:?}");
}

#[test]
fn a_near_flow_of_newreno_gets_more_and_one_of_vegas_does_not() {
    let points = points("09-rtt-fairness");
    let ratio: Vec<f64> = (points.iter())
        .map(|s| {
            let run = packets(s);
            mean(s, &run, Metric::Throughput, "near") / mean(s, &run, Metric::Throughput, "far")
        })
        .collect();
    assert!(
        ratio[0] > 2.0 && (0.6..1.6).contains(&ratio[1]),
        "{ratio:?}"
    );
}

#[test]
fn gold_has_its_contract_and_a_third_of_the_rest() {
    let [scenario] = &points("10-contracts")[..] else {
        panic!("one point")
    };
    let rate = mean(scenario, &packets(scenario), Metric::Throughput, "gold");
    assert!((16.0e6..17.4e6).contains(&rate), "{rate}");
}

#[test]
fn the_blast_is_held_to_its_share() {
    let [scenario] = &points("12-clcc")[..] else {
        panic!("one point")
    };
    let run = packets(scenario);
    let of = |name: &str| mean(scenario, &run, Metric::Throughput, name);
    let bulk: f64 = ["bulk.1", "bulk.2", "bulk.3", "bulk.4"]
        .map(of)
        .iter()
        .sum();
    let share = of("blast") / (bulk + of("blast"));
    assert!((0.27..0.33).contains(&share), "{share}");
}
