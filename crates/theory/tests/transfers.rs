//! Transfers in theory against the closed forms of processor sharing.

use accord_family::Catalogue;
use accord_language::File;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};

fn scenario(text: &str) -> Scenario {
    let catalogue =
        Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };
    let file = File::parse("transfers.toml", text).expect("a scenario");
    let mut s = file.points(&catalogue, None).expect("a scenario").remove(0);
    // Values by hand have no control packets.
    s.flows.iter_mut().for_each(|f| f.control = accord_units::Bytes::ZERO);
    s
}

fn run(text: &str) -> Run {
    accord_theory::run(&scenario(text), &mut Quiet).expect("a run")
}

/// The rate of a flow in Mbps in the sample that ends at `second`, NaN if it does not send.
fn rate(run: &Run, flow: usize, second: f64) -> f64 {
    let sample = run.time.iter().position(|t| (t - second).abs() < 1e-9);
    let series = run.series(Metric::Throughput, Entity::Flow(flow));
    series.expect("a series").values[sample.expect("a sample")] / 1e6
}

/// A link of 20 Mbps for a minute, and the flows in `flows`.
fn link(flows: &str) -> String {
    format!(
        r#"
        duration = "60 s"
        [topology.dumbbell]
        rate = "20 Mbps"
        delay = "5 ms"
        {flows}
        "#
    )
}

fn group(name: &str, keys: &str) -> String {
    format!(
        r#"
        [flow.{name}]
        from = "left"
        to = "right"
        controller = "monaco"
        {keys}
        "#
    )
}

/// With b₁ < b₂ bytes on a link of c from the same time, the first is done at 2·b₁/c and the second
/// at (b₁ + b₂)/c.
#[test]
fn two_transfers_share_until_the_first_is_done() {
    let small = group("small", r#"demand = { size = "10 MB" }"#);
    let large = group("large", r#"demand = { size = "30 MB" }"#);
    let run = run(&link(&(small + &large)));
    for (second, first, other) in [
        (1.0, 10.0, 10.0),
        (8.0, 10.0, 10.0),
        (8.1, f64::NAN, 20.0),
        (16.0, f64::NAN, 20.0),
        (16.1, f64::NAN, f64::NAN),
        (60.0, f64::NAN, f64::NAN),
    ] {
        for (flow, expected) in [(0, first), (1, other)] {
            let got = rate(&run, flow, second);
            let same = (got - expected).abs() < 1e-6 || (got.is_nan() && expected.is_nan());
            assert!(same, "flow {flow} at {second} s: {got}, not {expected}");
        }
    }
    // The link is idle at the end, which is not a phase without an equilibrium.
    assert_eq!(run.certificates.len(), 2);
    assert!(run.notes.is_empty(), "{:?}", run.notes);
}

/// A file of 20 MB comes after 5 s and gets half of 20 Mbps for 16 s.
#[test]
fn a_long_flow_has_the_link_again_when_a_file_is_there() {
    let file = group("file", "demand = { size = \"20 MB\" }\nstart = \"5 s\"");
    let run = run(&link(&(group("long", "") + &file)));
    for (second, expected) in [(5.0, 20.0), (5.1, 10.0), (21.0, 10.0), (21.1, 20.0)] {
        let got = rate(&run, 0, second);
        assert!((got - expected).abs() < 1e-6, "{second} s: {got}");
    }
}

/// Twice the weight is twice the rate, so it is done first although it has more to send.
#[test]
fn weights_decide_which_transfer_is_done_first() {
    let heavy = group("heavy", "demand = { size = \"18 MB\" }\nservice = { weight = 2 }");
    let light = group("light", r#"demand = { size = "10 MB" }"#);
    let run = run(&link(&(heavy + &light)));
    // 18 MB at 2/3 of 20 Mbps take 10.8 s, of which the other has sent 9 MB.
    assert!((rate(&run, 0, 10.8) - 40.0 / 3.0).abs() < 1e-6);
    assert!(rate(&run, 0, 10.9).is_nan());
    assert!((rate(&run, 1, 11.2) - 20.0).abs() < 1e-6);
    assert!(rate(&run, 1, 11.3).is_nan());
}

/// In a phase without an equilibrium nothing is known of when a transfer is done.
#[test]
fn a_transfer_waits_while_there_is_no_equilibrium() {
    let reno = r#"
        [flow.reno]
        from = "left"
        to = "right"
        controller = "newreno"
        stop = "10 s"
    "#;
    let file = group("file", r#"demand = { size = "25 MB" }"#);
    let run = run(&link(&(reno.to_owned() + &file)));
    assert!(rate(&run, 1, 10.0).is_nan());
    assert!((rate(&run, 1, 10.1) - 20.0).abs() < 1e-6);
    assert!((rate(&run, 1, 20.0) - 20.0).abs() < 1e-6);
    assert!(rate(&run, 1, 20.1).is_nan());
}

/// A kilobyte is sent before anything comes back: it is not a part of an equilibrium.
#[test]
fn a_transfer_of_less_than_a_round_trip_is_left_out() {
    let short = group(
        "short",
        "count = 500\ndemand = { size = \"1 KB\" }\nstart = { uniform = [\"0 s\", \"50 s\"] }",
    );
    let run = run(&link(&(group("long", "") + &short)));
    assert!(run.time.iter().all(|&t| (rate(&run, 0, t) - 20.0).abs() < 1e-6));
    assert!(rate(&run, 1, 60.0).is_nan());
    let said = run.notes.iter().filter(|n| n.contains("transfers of short"));
    assert_eq!(said.count(), 1, "{:?}", run.notes);
}

/// Transfers that are done within a sample leave together, so phases are as many as samples, not
/// as transfers.
#[test]
fn phases_are_bounded_by_samples() {
    let many = group(
        "many",
        "count = 3000\ndemand = { size = \"60 KB\" }\nstart = { uniform = [\"0 s\", \"30 s\"] }",
    );
    let run = run(&link(&many).replace("60 s", "60 s\"\nsample = \"1 s"));
    assert!(run.certificates.len() <= 120, "{}", run.certificates.len());
    // 180 MB take 72 s: the link is full until the end.
    let together = run.series(Metric::Throughput, Entity::Group(0));
    let sent = together.expect("a sum").values[59] / 1e6;
    assert!((sent - 20.0).abs() < 1e-6, "{sent} Mbps");
}
