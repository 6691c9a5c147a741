//! A sweep at a glance, and the table of its means.

use crate::support;

use crate::support::{expectation, run, scenario};
use accord_record::Run;
use accord_report::{Check, Point, RunDir, Style, checks, overview, page, write_sweep_dir};
use accord_scenario::{Across, Engine, Entity, Metric, Scenario, Target};

/// Points with a rate each, at which packets are `off` as far from theory.
fn points(labels: &[(&str, f64)]) -> Vec<(Scenario, Vec<Run>, Vec<Check>)> {
    let point = |(label, off): &(&str, f64)| {
        let mut s = scenario(&[("a", 1)], &["b1"], 4);
        s.point = vec![("rate".into(), label.to_string())];
        s.expectations = vec![expectation(Target::Value { value: 2e6, tolerance: 0.1 })];
        let rate = |v: f64| vec![(Metric::Throughput, Entity::Flow(0), vec![v; 4])];
        let runs = vec![run(Engine::Theory, 1, rate(2e6)), run(Engine::Packet, 1, rate(2e6 * off))];
        let checks = checks(&s, &runs.iter().collect::<Vec<_>>());
        (s, runs, checks)
    };
    labels.iter().map(point).collect()
}

fn of(all: &[(Scenario, Vec<Run>, Vec<Check>)]) -> Vec<Point<'_>> {
    let point = |(scenario, runs, checks)| Point { scenario, runs, checks };
    all.iter().map(|(s, r, c)| point((s, &r[..], &c[..]))).collect()
}

#[test]
fn each_point_has_a_line_and_what_fails_another() {
    let all = points(&[("5 Mbps", 1.0), ("10 Mbps", 0.5), ("20 Mbps", 1.01)]);
    let text = overview(&of(&all), &[], Style::default());
    let line = |start: &str| {
        text.lines().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("{text}"))
    };
    let five = line("5 Mbps");
    assert!(five.contains("2.00 Mbps") && five.ends_with(" 1/1"), "{text}");
    assert!(line("10 Mbps").ends_with("0/1 FAILED"), "{text}");
    assert_eq!(text.matches("rate = ").count(), 1, "only what fails: {text}");
    assert!(line("FAILED: rate = 10 Mbps").contains("1.000 Mbps against 2.00 Mbps"), "{text}");
    assert!(text.ends_with("2 of 3 checks met; not met: 1 FAILED\n"), "{text}");
    let page = page(&of(&all));
    let first = page.find("id=\"overview\"").expect("an overview");
    let means = page.find("id=\"means\"").expect("details");
    assert!(first < means && page.find("id=\"plots\"").is_some_and(|plots| plots < means));
}

/// Theory may have an equilibrium at a later point only, and is the reference all the same.
#[test]
fn the_engines_do_not_depend_on_the_first_point() {
    let mut all = points(&[("5 Mbps", 1.0), ("10 Mbps", 0.5)]);
    all[0].1.remove(0);
    let text = overview(&of(&all), &[], Style::default());
    let words = |start: &str| -> Vec<&str> {
        let mut lines = text.lines().map(str::trim_start);
        let line = lines.find(|l| l.starts_with(start)).expect("there");
        line.split_whitespace().collect()
    };
    assert_eq!(words("theory"), ["theory", "packet"], "{text}");
    assert_eq!(words("5 Mbps")[2..6], ["–", "2.00", "Mbps", "1/1"], "{text}");
    assert_eq!(words("10 Mbps")[2..4], ["2.00", "Mbps"], "{text}");
    // Without any value of theory it has no column.
    all[1].1.remove(0);
    let text = overview(&of(&all), &[], Style::default());
    assert!(!text.contains("theory"), "{text}");
    assert!(!page(&of(&all)).contains("<br>theory</th>"));
}

/// Points of which two variables make a grid have a table per engine, too.
#[test]
fn a_grid_has_a_table_for_each_engine() {
    let labels: Vec<String> = (1..=9).map(|rate| format!("{rate} Mbps")).collect();
    let labels: Vec<(&str, f64)> = labels.iter().map(|l| (l.as_str(), 0.5)).collect();
    let mut all = points(&labels);
    for (i, (scenario, ..)) in all.iter_mut().enumerate() {
        let value = |n: usize| format!("{} ms", 10 * (n + 1));
        scenario.point = vec![("rtt".into(), value(i / 3)), ("delay".into(), value(i % 3))];
    }
    let text = overview(&of(&all), &[], Style::default());
    for (engine, rate) in [("theory", "2.00 Mbps"), ("packet", "1.000 Mbps")] {
        let (_, table) = text.split_once(&format!("throughput of a, {engine}\n")).expect(&text);
        let rows = table.lines().skip(3).take(3);
        rows.for_each(|row| assert_eq!(row.matches(rate).count(), 3, "{text}"));
    }
}

/// Fairness is shown by the spread of the means, which does not depend on the samples.
#[test]
fn an_expected_spread_has_its_column() {
    let mut all = points(&[("5 Mbps", 1.0), ("10 Mbps", 1.0)]);
    let (first, second) = (vec![1e6; 4], vec![3e6; 4]);
    for (scenario, runs, _) in &mut all {
        let mut two = support::scenario(&[("a", 2)], &["b1"], 4);
        two.point = scenario.point.clone();
        two.expectations = std::mem::take(&mut scenario.expectations);
        two.expectations[0].across = Across::Variation;
        *scenario = two;
        let rate =
            |i: usize, values: &Vec<f64>| (Metric::Throughput, Entity::Flow(i), values.clone());
        *runs = vec![run(Engine::Packet, 1, vec![rate(0, &first), rate(1, &second)])];
    }
    let text = overview(&of(&all), &[], Style::default());
    assert!(text.contains("throughput spread"), "{text}");
    assert!(text.contains("50.0 %"), "{text}");
}

/// Points may be of different lengths.
#[test]
fn all_windows_of_the_means_are_named() {
    let mut all = points(&[("5 Mbps", 1.0), ("10 Mbps", 1.0)]);
    all[1].0.steady = support::window(1, 3);
    let windows = "eans over 2–4 s, 1–3 s";
    assert!(overview(&of(&all), &[], Style::default()).contains(windows));
    assert!(page(&of(&all)).contains(windows));
}

#[test]
fn the_table_of_means_has_a_row_for_each_figure() {
    let all = points(&[("5 Mbps", 1.0), ("500 Kbps", 0.5)]);
    let dir = std::env::temp_dir().join(format!("accord-summary-{}", std::process::id()));
    let points = of(&all);
    let contents = points.iter().map(|point| RunDir {
        scenario_toml: "",
        point: *point,
        page: None,
        csv: false,
    });
    write_sweep_dir(&dir, &contents.collect::<Vec<_>>(), "").unwrap();
    let csv = std::fs::read_to_string(dir.join("summary.csv")).unwrap();
    let parquet = std::fs::read(dir.join("summary.parquet")).unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    let header =
        "point,rate,rate_number,entity_kind,entity,metric,unit,engine,mean,half_width,runs\n";
    assert!(csv.starts_with(header), "{csv}");
    assert!(
        csv.contains("\n2,500 Kbps,500000,group,a,throughput,bit/s,packet,1000000,,1\n"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 1 + 2 * 2, "{csv}");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let text = String::from_utf8_lossy(&parquet);
    assert!(text.contains("the same as a number, in bit/s"), "columns are documented");
}
