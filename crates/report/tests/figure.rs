//! Figures from run directories: drawings, their data, and figures that cannot be drawn.

use crate::support::{run, scenario, window};
use accord_report::{
    Figure, FigureError, FigureKind, Markup, Point, Request, RunDir, Stored, load_stored,
    write_run_dir, write_sweep_dir,
};
use accord_scenario::{Engine, Entity, Metric, Scenario};
use std::path::PathBuf;

struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("accord-figure-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn request(metric: Metric) -> Request {
    Request::of(metric)
}

/// Two groups over one link for six seconds: rates in theory and in packets, times `scale`.
fn runs(scale: f64) -> Vec<accord_record::Run> {
    let rates = |off: f64| {
        let rate =
            move |i: usize| (0..6).map(move |k| scale * (1e6 * (i + 1) as f64 + off * k as f64));
        let flows = (0..2).map(move |i| (Metric::Throughput, Entity::Flow(i), rate(i).collect()));
        flows.collect::<Vec<_>>()
    };
    vec![run(Engine::Theory, 1, rates(0.0)), run(Engine::Packet, 1, rates(1e5))]
}

/// Writes a run directory, or a sweep of several scales.
fn stored(scratch: &Scratch, scales: &[(&str, f64)]) -> Stored {
    let scenarios: Vec<Scenario> = (scales.iter())
        .map(|(label, _)| {
            let mut s = scenario(&[("a", 1), ("b", 1)], &["b1"], 6);
            s.point =
                if label.is_empty() { vec![] } else { vec![("rate".into(), label.to_string())] };
            s
        })
        .collect();
    let all: Vec<_> = scenarios.iter().zip(scales).map(|(_, (_, scale))| runs(*scale)).collect();
    let dirs: Vec<RunDir> = (scenarios.iter().zip(&all))
        .map(|(scenario, runs)| RunDir {
            scenario_toml: "",
            point: Point { scenario, runs, checks: &[] },
            page: None,
            csv: false,
        })
        .collect();
    let dir = scratch.0.join("run");
    match &dirs[..] {
        [one] => write_run_dir(&dir, one).unwrap(),
        many => write_sweep_dir(&dir, many, "").unwrap(),
    }
    load_stored(&dir).unwrap()
}

fn rows(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().map(|l| l.split(',').collect()).collect()
}

#[test]
fn a_single_sample_is_a_dot() {
    let scratch = Scratch::new("single");
    let stored = [stored(&scratch, &[("", 1.0)])];
    let mut part = request(Metric::Throughput);
    part.engines = vec![Engine::Packet];
    part.time = Some(window(2, 4));
    let dots = |part: &Request| {
        let svg = Figure::of(&stored, part).unwrap().svg();
        svg.matches("<circle").count()
    };
    assert_eq!(dots(&part), 0);
    part.time = Some(window(2, 3));
    assert_eq!(dots(&part), 2);
}

#[test]
fn lines_over_time_have_their_samples_and_units() {
    let scratch = Scratch::new("time");
    let stored = [stored(&scratch, &[("", 1.0)])];
    let figure = Figure::of(&stored, &request(Metric::Throughput)).unwrap();
    let csv = figure.csv();
    let rows = rows(&csv);
    assert_eq!(rows[0], ["of", "engine", "time [s]", "throughput [bit/s]"]);
    assert_eq!(rows.len(), 1 + 2 * 2 * 6);
    assert!(rows.contains(&vec!["b", "packet", "3", "2200000"]), "{csv}");
    let svg = figure.svg();
    assert!(svg.starts_with("<svg width=\"3.500in\""), "{}", &svg[..80]);
    assert!(svg.contains("Throughput (Mbps)") && svg.contains("Time (s)"));
    // Rates stay apart to the end, so names stand at the ends of lines, without a legend of
    // colours.
    for text in ["theory", "packet", "\na\n", "\nb\n"] {
        assert!(svg.contains(text), "{text:?}");
    }
    let mut part = request(Metric::Throughput);
    part.time = Some(window(2, 4));
    part.engines = vec![Engine::Packet];
    part.of = vec!["a".into()];
    let csv = Figure::of(&stored, &part).unwrap().csv();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.ends_with(",packet,3,1200000\n,packet,4,1300000\n"), "{csv}");
}

#[test]
fn distributions_are_of_the_part_that_is_asked_for() {
    let scratch = Scratch::new("cdf");
    let stored = [stored(&scratch, &[("", 1.0)])];
    let mut wanted = request(Metric::Throughput);
    wanted.time = Some(window(0, 5));
    wanted.kind = Some(FigureKind::Cdf);
    let figure = Figure::of(&stored, &wanted).unwrap();
    let csv = figure.csv();
    // 1.0, 1.1, ... 1.4 Mbps: the median is the third, the quartiles their neighbours.
    for (value, share) in [(1_100_000, "0.25"), (1_200_000, "0.5"), (1_300_000, "0.75")] {
        assert!(csv.contains(&format!("a,packet,{value},{share}\n")), "{csv}");
    }
    assert!(figure.svg().contains("Share of samples (%)"));
}

#[test]
fn a_sweep_has_its_variable_across() {
    let scratch = Scratch::new("sweep");
    let scales = [("5 Mbps", 1.0), ("10 Mbps", 2.0), ("500 Kbps", 0.1)];
    let stored = [stored(&scratch, &scales)];
    let figure = Figure::of(&stored, &request(Metric::Throughput)).unwrap();
    let csv = figure.csv();
    assert!(csv.starts_with("of,engine,rate [Mbps],throughput [bit/s]\n"), "{csv}");
    // The steady part is seconds 2 to 6: 1.2 to 1.5 Mbps.
    assert!(csv.contains("a,packet,10,2700000\n"), "{csv}");
    assert!(csv.contains("a,theory,0.5,100000\n"), "{csv}");
    assert!(figure.svg().contains("rate (Mbps)"));
}

#[test]
fn what_cannot_be_drawn_is_said_with_what_can() {
    let scratch = Scratch::new("wrong");
    let stored = [stored(&scratch, &[("", 1.0)])];
    let mut wrong = request(Metric::Throughput);
    wrong.of = vec!["c".into()];
    let hint = |request: &Request| match Figure::of(&stored, request).unwrap_err() {
        FigureError::Wrong { hint, .. } => hint,
        FigureError::Unable(why) => panic!("{why}"),
    };
    assert!(hint(&wrong).contains("a, b"));
    assert!(hint(&request(Metric::Backlog)).contains("links"));
    wrong = request(Metric::Throughput);
    wrong.kind = Some(FigureKind::Map);
    assert!(hint(&wrong).contains("sweep"));
    wrong.kind = None;
    wrong.by = Some(accord_report::By::Link);
    assert!(hint(&wrong).contains("--by group or flow"));
    wrong.by = None;
    wrong.engines = vec![Engine::Live];
    assert!(hint(&wrong).contains("packet"));
}

/// Two things that differ have a colour and a shade, and a few values of a sweep are its ticks.
#[test]
fn two_sweeps_have_colours_and_shades() {
    let scratch = Scratch::new("shades");
    let mut points = Vec::new();
    for law in ["cubic", "bbr3"] {
        for buffer in ["1 ms", "4 ms"] {
            for rate in ["10 Mbps", "40 Mbps"] {
                let mut s = scenario(&[("a", 1), ("b", 1)], &["b1"], 6);
                let point = [("law", law), ("buffer", buffer), ("rate", rate)];
                s.point = point.map(|(k, v)| (k.to_string(), v.to_string())).to_vec();
                points.push(s);
            }
        }
    }
    let all: Vec<_> = points.iter().map(|_| runs(1.0)).collect();
    let dirs: Vec<RunDir> = (points.iter().zip(&all))
        .map(|(scenario, runs)| RunDir {
            scenario_toml: "",
            point: Point { scenario, runs, checks: &[] },
            page: None,
            csv: false,
        })
        .collect();
    let dir = scratch.0.join("run");
    write_sweep_dir(&dir, &dirs, "").unwrap();
    let stored = [load_stored(&dir).unwrap()];
    let mut part = request(Metric::Throughput);
    (part.of, part.engines) = (vec!["a".into()], vec![Engine::Packet]);
    part.kind = Some(FigureKind::Sweep);
    let figure = Figure::of(&stored, &part).unwrap();
    let svg = figure.svg();
    // The two colours in full, and both lighter by the same part.
    for colour in ["#0072B2", "#D55E00", "#A6CEE4", "#F0C7A6"] {
        assert!(svg.contains(colour), "{colour}");
    }
    let ticks = |text: &str| svg.lines().any(|line| line.trim() == text);
    assert!(ticks("1") && ticks("4") && !ticks("2"), "{svg}");
    let table = figure.table(Markup::Markdown).unwrap();
    let head = "| Throughput (Mbps) by buffer (ms) | 1 | 4 |\n|---|---:|---:|\n| cubic, rate 10 Mbps | 1.35 |";
    assert!(table.starts_with(head), "{table}");
    assert!(
        figure.table(Markup::Latex).unwrap().contains("cubic, rate 10 Mbps & 1.35 & 1.35 \\\\")
    );
    part.kind = Some(FigureKind::Cdf);
    assert!(Figure::of(&stored, &part).unwrap().table(Markup::Latex).is_err());
}
