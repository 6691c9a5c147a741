//! `accord explain` on scenarios whose gap has a known cause by construction.

use crate::common::{accord, end, folder, program};
use serde_json::Value;

/// Returns a dumbbell with `flows` flows, which `flow` configures.
fn dumbbell(rate: &str, delay: &str, limit: &str, flows: usize, flow: &str) -> String {
    format!(
        r#"
        title = "a gap"
        duration = "40 s"
        steady = ["20 s", "40 s"]
        [topology.dumbbell]
        rate = "{rate}"
        delay = "{delay}"
        queue = {{ discipline = "droptail", limit = "{limit}" }}
        [flow.f]
        count = {flows}
        from = "left"
        to = "right"
        access = {{ rate = "100 Mbps", delay = "1 ms" }}
        egress = {{ rate = "100 Mbps", delay = "1 ms" }}
        {flow}
        "#
    )
}

const VEGAS: &str = r#"controller = { name = "vegas", alpha = "3 pkt", beta = "3 pkt" }"#;

/// Returns the exit code and the attribution for a scenario.
fn explain(text: &str, more: &[&str]) -> (i32, Value) {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("s.toml"), text).expect("a file");
    let mut args = vec!["explain", "s.toml", "--json", "--quiet"];
    args.extend(more);
    let child = program(dir.path(), &args).spawn().expect("it starts");
    let ended = end(child);
    let code = ended.code.expect("an end of its own");
    let all = ended.json();
    (code, all[0].clone())
}

fn finding<'a>(all: &'a Value, name: &str) -> &'a Value {
    let findings = all["findings"].as_array().expect("findings");
    let found = findings.iter().find(|f| f["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {all:#}"))
}

fn verdict(all: &Value, name: &str, verdict: &str, by: &[&str]) {
    let f = finding(all, name);
    assert_eq!(f["verdict"], verdict, "{f:#}");
    assert_eq!(f["by"], serde_json::json!(by), "{f:#}");
}

#[test]
fn flows_at_rest_agree_and_no_effect_is_switched() {
    // Half of the packet in service counts as queued, unlike in theory's fluid: a small part of 40.
    let long = VEGAS.replace("3 pkt", "20 pkt");
    let (code, all) =
        explain(&dumbbell("20 Mbps", "10 ms", "unlimited", 2, &long), &["--reps", "2"]);
    assert_eq!(code, 0);
    for f in all["findings"].as_array().expect("findings") {
        assert_eq!(f["verdict"], "AGREE", "{f:#}");
        assert_eq!(f["effects"], serde_json::json!([]));
    }
    // Two seeds without any randomness are one run.
    assert_eq!(all["seeds"]["differ"], false);
}

/// The report begins with sentences: the gap and its cause, the link, and the notes of theory.
#[test]
fn the_answer_comes_first() {
    let tiny = dumbbell("20 Mbps", "10 ms", "8 pkt", 5, VEGAS);
    let cubic = dumbbell("20 Mbps", "10 ms", "40 pkt", 2, "controller = \"cubic\"");
    let dir = folder(&[("tiny.toml", &tiny), ("cubic.toml", &cubic)]);
    let explain = |file: &str| {
        let ended = accord(dir.path(), &["explain", file, "--reps", "1", "-q"]);
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:#?}");
        ended.stdout
    };
    let text = explain("tiny.toml");
    let first = text.lines().next().unwrap_or_default();
    assert!(first.contains(" off theory") && first.contains("by buffers ("), "{text}");
    assert!(text.contains("bottleneck is used to "), "{text}");
    assert!(text.contains("theory: the equilibrium queue of bottleneck is "), "{text}");
    // Theory has no equilibrium for CUBIC, and the packets have figures.
    let text = explain("cubic.toml");
    assert!(text.starts_with("theory has no values here, so this is packet alone.\n"), "{text}");
    assert!(text.contains("its buffer holds 40 packets") && text.contains("throughput"), "{text}");
}

#[test]
fn a_tiny_buffer_is_found() {
    let text = dumbbell("20 Mbps", "10 ms", "8 pkt", 5, VEGAS);
    let (_, all) = explain(&text, &["--reps", "1"]);
    for name in ["f: throughput", "f: accumulation", "bottleneck: utilisation"] {
        verdict(&all, name, "EXPLAINED", &["buffers"]);
    }
}

#[test]
fn a_base_round_trip_time_that_late_starters_never_see_is_found() {
    let flow = format!("{VEGAS}\nstart = {{ uniform = [\"0 s\", \"1 s\"] }}");
    let text = dumbbell("20 Mbps", "10 ms", "unlimited", 6, &flow);
    // With four seeds the interval is wider than the tolerance.
    let (code, all) = explain(&text, &["--reps", "6"]);
    assert_eq!(code, 0);
    verdict(&all, "f: rtt", "EXPLAINED", &["base_rtt"]);
    verdict(&all, "f: throughput", "AGREE", &[]);
    assert_eq!(all["seeds"]["differ"], true);
}

/// A pair of 500 B per round trip and flow takes a sixth of this link: theory has it in the loads.
#[test]
fn large_control_packets_on_a_short_path_leave_no_gap() {
    let flow = "controller = \"monaco\"\ncontrol = \"500 B\"";
    let text = dumbbell("10 Mbps", "1 ms", "unlimited", 4, flow);
    let (_, all) = explain(&text, &["--reps", "1"]);
    let f = finding(&all, "f: throughput");
    let reference = f["reference"].as_f64().expect("a rate");
    assert!((1.9e6..2.2e6).contains(&reference), "{f}");
    let gap = f["gap"]["mean"].as_f64().expect("a gap");
    assert!(gap.abs() < 0.01, "{f}");
}

#[test]
fn coarse_packets_on_a_slow_link_are_found() {
    let flow = "controller = { name = \"vegas\", alpha = \"2000 B\", beta = \"2000 B\", \
                base_rtt = \"known\" }\npacket = \"1500 B\"";
    let text = dumbbell("400 Kbps", "5 ms", "unlimited", 3, flow);
    let (_, all) = explain(&text, &["--reps", "1"]);
    verdict(&all, "f: rtt", "EXPLAINED", &["packets"]);
}

/// Returns the part of a figure's gap that an effect explains, if any is claimed.
fn part(all: &Value, name: &str, effect: &str) -> Option<f64> {
    let f = finding(all, name);
    let effects = f["effects"].as_array().expect("effects");
    let of = effects.iter().find(|e| e["effect"] == effect)?;
    let gap = f["gap"]["mean"].as_f64().expect("a gap");
    let part = of["part"]["mean"].as_f64().expect("a part");
    (of["claimed"] == true).then_some(part / gap)
}

#[test]
fn waits_for_a_long_timer_are_found() {
    // Without loss there would be no timeouts, so loss alone explains everything. Most of it
    // is the wait of 2 s per timeout, where the path is 50 ms long.
    let flow = VEGAS.replace(" }", ", base_rtt = \"known\" }");
    let lossy = |flow: &str| {
        let text = dumbbell("10 Mbps", "5 ms", "40 pkt", 4, flow);
        text.replace("delay = \"5 ms\"", "delay = \"5 ms\"\nloss = 0.05")
    };
    let (_, all) = explain(&lossy(&format!("{flow}\nmin_rto = \"2 s\"")), &["--reps", "5"]);
    verdict(&all, "f: throughput", "EXPLAINED", &["loss"]);
    let timers = part(&all, "f: throughput", "timers").expect("claimed");
    assert!(timers > 0.5, "{timers}");
    let (_, all) = explain(&lossy(&format!("{flow}\nmin_rto = \"20 ms\"")), &["--reps", "2"]);
    let skipped = all["skipped"].as_array().expect("a list");
    let timers = skipped.iter().find(|s| s["effect"] == "timers");
    assert!(timers.is_some(), "{skipped:?}");
}

#[test]
fn bursts_of_a_window_before_a_queue_that_has_to_be_short_are_found() {
    // REM targets an empty queue; a window of 80 packets on an access link 33 times as fast does
    // not leave it empty, and its own packets receive the marks of the burst.
    let hosts = |name: &str, count: usize, delay: &str| {
        format!(
            r#"
            [flow.{name}]
            count = {count}
            from = "left"
            to = "right"
            access = {{ rate = "1600 Mbps", delay = "{delay}" }}
            egress = {{ rate = "1600 Mbps", delay = "1 ms" }}
            controller = {{ name = "vegas-rem", alpha_rate = "2 MB/s", base_rtt = "known" }}
            "#
        )
    };
    let text = format!(
        r#"
        title = "bursts"
        duration = "40 s"
        steady = ["20 s", "40 s"]
        [topology.dumbbell]
        rate = "48 Mbps"
        delay = "1 ms"
        queue = {{ discipline = "rem", limit = "unlimited" }}
        {}{}
        "#,
        hosts("long", 1, "13 ms"),
        hosts("short", 8, "3 ms")
    );
    let (_, all) = explain(&text, &["--reps", "3", "--standard"]);
    let bursts = part(&all, "long: throughput", "bursts").expect("claimed");
    assert!(bursts > 0.2, "{bursts}");
}

#[test]
fn a_load_that_theory_leaves_out_is_explained_by_nothing() {
    let web = r#"
        [flow.web]
        count = 40
        from = "left"
        to = "right"
        access = { rate = "100 Mbps", delay = "1 ms" }
        egress = { rate = "100 Mbps", delay = "1 ms" }
        controller = "reno"
        demand = { web = {} }
        "#;
    let text = dumbbell("20 Mbps", "10 ms", "200 pkt", 2, VEGAS) + web;
    let (code, all) = explain(&text, &["--reps", "2"]);
    assert_eq!(code, 1);
    verdict(&all, "f: throughput", "DIVERGENT", &[]);
}

#[test]
fn the_answer_is_the_same_each_time() {
    let text = dumbbell("20 Mbps", "10 ms", "8 pkt", 5, VEGAS);
    let args = ["--reps", "1", "--finer", "2"];
    assert_eq!(explain(&text, &args), explain(&text, &args));
}

#[test]
fn theory_is_not_explained_by_itself() {
    let dir = tempfile::tempdir().expect("a directory");
    let args = ["explain", "xia05-fig8", "--engine", "theory"];
    let child = program(dir.path(), &args).spawn().expect("it starts");
    let ended = end(child).with(2);
    assert!(ended.stderr.contains("name packet, fluid or live"), "{ended:#?}");
}
