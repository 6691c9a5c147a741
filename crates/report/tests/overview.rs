//! A sweep at a glance, and the table of its means.

mod support;

use accord_record::Run;
use accord_report::{Check, Point, RunDir, Style, checks, overview, page, write_sweep_dir};
use accord_scenario::{Engine, Entity, Metric, Scenario, Target};
use support::{expectation, run, scenario};

/// Points with a rate each, at which packets are `off` as far from theory.
fn points(labels: &[(&str, f64)]) -> Vec<(Scenario, Vec<Run>, Vec<Check>)> {
    let point = |(label, off): &(&str, f64)| {
        let mut s = scenario(&[("a", 1)], &["b1"], 4);
        s.point = vec![("rate".into(), label.to_string())];
        s.expectations = vec![expectation(Target::Value {
            value: 2e6,
            tolerance: 0.1,
        })];
        let rate = |v: f64| vec![(Metric::Throughput, Entity::Flow(0), vec![v; 4])];
        let runs = vec![
            run(Engine::Theory, 1, rate(2e6)),
            run(Engine::Packet, 1, rate(2e6 * off)),
        ];
        let checks = checks(&s, &runs.iter().collect::<Vec<_>>());
        (s, runs, checks)
    };
    labels.iter().map(point).collect()
}

fn of(all: &[(Scenario, Vec<Run>, Vec<Check>)]) -> Vec<Point<'_>> {
    let point = |(scenario, runs, checks)| Point {
        scenario,
        runs,
        checks,
    };
    all.iter()
        .map(|(s, r, c)| point((s, &r[..], &c[..])))
        .collect()
}

#[test]
fn each_point_has_a_line_and_what_fails_another() {
    let all = points(&[("5 Mbps", 1.0), ("10 Mbps", 0.5), ("20 Mbps", 1.01)]);
    let text = overview(&of(&all), Style::default());
    let line = |start: &str| {
        text.lines()
            .find(|l| l.starts_with(start))
            .unwrap_or_else(|| panic!("{text}"))
    };
    let five = line("5 Mbps");
    assert!(
        five.contains("2.00 Mbps") && five.ends_with("✓ 1/1"),
        "{text}"
    );
    assert!(line("10 Mbps").ends_with("! 0/1"), "{text}");
    assert_eq!(
        text.matches("rate = ").count(),
        1,
        "only what fails: {text}"
    );
    assert!(
        line("! rate = 10 Mbps").contains("1.000 Mbps against 2.00 Mbps"),
        "{text}"
    );
    assert!(
        text.ends_with("! 2 of 3 expectations met, 1 unknown\n"),
        "{text}"
    );
    let page = page(&of(&all));
    let first = page.find("id=\"overview\"").expect("an overview");
    let means = page.find("id=\"means\"").expect("details");
    assert!(first < means && page.find("id=\"plots\"").is_some_and(|plots| plots < means));
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
    assert!(
        text.contains("the same as a number, in bit/s"),
        "columns are documented"
    );
}
