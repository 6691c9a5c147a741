//! Writes the page of a made-up run and of a made-up sweep, to look at them without any
//! engine: `cargo run -p accord-report --example demo [DIRECTORY]`.

#![expect(clippy::print_stdout, reason = "an example prints")]

#[path = "../tests/support/mod.rs"]
mod support;

use accord_record::Run;
use accord_report::{Check, Point, Style, checks, checks_table, page, table};
use accord_scenario::{
    Across, Engine, Entity, Expectation, Metric, Over, Scenario, Subject, Target,
};
use accord_units::{Duration, Time};
use std::path::PathBuf;
use support::{expectation, run_at, scenario, window};

/// Smooth noise between -1 and 1 that needs no random numbers.
fn wobble(t: f64, who: usize) -> f64 {
    let phase = who as f64 * 2.39996;
    let waves = [(7.3, 0.5), (17.9, 0.3), (41.7, 0.2)];
    waves.iter().map(|(w, a)| a * (w * t + phase * (1.0 + w)).sin()).sum()
}

/// Three groups of flows that come and go on one link of 30 Mbps.
fn dynamics() -> (Scenario, Vec<Run>) {
    let mut s = scenario(&[("first", 10), ("second", 5), ("third", 5)], &["bottleneck"], 50);
    s.id = "demo-dynamics".into();
    s.title = "Flows come and go on one 30 Mbps bottleneck".into();
    s.source = "Made up, after the set-up of Xia05 fig. 6".into();
    s.notes = "The numbers of this page are invented to look at it.".into();
    s.steady = window(22, 30);
    for (flow, (start, stop)) in [(0..10, (0, 30)), (10..15, (10, 40)), (15..20, (20, 50))]
        .into_iter()
        .flat_map(|(flows, span)| flows.map(move |f| (f, span)))
    {
        s.flows[flow].start = Time::ZERO + Duration::from_secs(start);
        s.flows[flow].stop = Some(Time::ZERO + Duration::from_secs(stop));
    }
    let phases = [(0, 3.0), (10, 2.0), (20, 1.5), (30, 3.0), (40, 6.0)];
    for (i, (start, mbps)) in phases.into_iter().enumerate() {
        let group = [0, 0, 1, 1, 2][i];
        s.expectations.push(Expectation {
            name: format!("each flow's share in phase {}", i + 1),
            of: Subject::Group(group),
            during: window(start + 3, start + 10),
            paper: format!("{mbps} Mbps"),
            ..expectation(Target::Value { value: mbps * 1e6, tolerance: 0.05 })
        });
    }
    s.expectations.push(Expectation {
        name: "about three packets a flow are queued".into(),
        metric: Metric::BacklogPackets,
        of: Subject::Link(0),
        during: s.steady,
        paper: "about 60 packets".into(),
        ..expectation(Target::Engine { engine: Engine::Theory, tolerance: 0.05 })
    });
    s.expectations.push(Expectation {
        name: "the queue is steady".into(),
        metric: Metric::BacklogPackets,
        of: Subject::Link(0),
        over: Over::Variation,
        during: s.steady,
        ..expectation(Target::Range { min: f64::NEG_INFINITY, max: 0.015 })
    });
    s.expectations.push(Expectation {
        name: "the flows are treated alike".into(),
        across: Across::Jain,
        during: s.steady,
        ..expectation(Target::Range { min: 0.99, max: f64::INFINITY })
    });
    let runs = vec![dynamics_run(&s, Engine::Theory, 0.0), dynamics_run(&s, Engine::Packet, 1.0)];
    (s, runs)
}

fn dynamics_run(s: &Scenario, engine: Engine, noise: f64) -> Run {
    let time: Vec<f64> = (1..=5000).map(|i| f64::from(i) * 0.01).collect();
    // A sample is of its period, not of the moment at which it ends.
    let middle = |t: f64| t - 0.005;
    let active = |f: usize, t: f64| {
        let flow = &s.flows[f];
        t > flow.start.as_secs_f64() && flow.stop.is_none_or(|stop| t <= stop.as_secs_f64())
    };
    let sending = |t: f64| (0..20).filter(|&f| active(f, t)).count() as f64;
    // The part of a change that is still to come a moment after it.
    let settling = |t: f64| noise * (-(t % 10.0) / 0.35).exp();
    let queue = |t: f64| {
        let n = sending(t);
        let rising = if t < 30.0 { 1.0 } else { -1.0 };
        (3.0 * n * (1.0 + 0.04 * noise * wobble(t, 0)) + 18.0 * rising * settling(t)).max(0.0)
    };
    let mut series = Vec::new();
    let mut add = |metric, entity, value: &dyn Fn(f64) -> f64| {
        series.push((metric, entity, time.iter().map(|&t| value(middle(t))).collect()));
    };
    for f in 0..20 {
        let when = |t: f64, v: f64| if active(f, t) { v } else { f64::NAN };
        let rate = move |t: f64| {
            let share = 30e6 / sending(t).max(1.0);
            let unfair = 1.0 + noise * 0.02 * (f as f64 - 9.5) / 9.5;
            share * (unfair + 0.06 * noise * wobble(t, f) + 0.5 * settling(t) * wobble(t / 9.0, f))
        };
        let base = [0.012, 0.022, 0.032][s.flows[f].group];
        let rtt = move |t: f64| base + queue(t) * 8e3 / 30e6;
        add(Metric::Throughput, Entity::Flow(f), &|t| when(t, rate(t)));
        add(Metric::Rtt, Entity::Flow(f), &|t| when(t, rtt(t)));
        add(Metric::Cwnd, Entity::Flow(f), &|t| when(t, rate(t) * rtt(t) / 8.0));
        add(Metric::Accumulation, Entity::Flow(f), &|t| {
            when(t, 1e3 * queue(t) / sending(t).max(1.0) * (1.0 + 0.05 * noise * wobble(t, f + 40)))
        });
        if engine == Engine::Packet {
            add(Metric::AccumulationEstimate, Entity::Flow(f), &|t| {
                when(
                    t,
                    1.03e3 * queue(t - 0.05) / sending(t).max(1.0)
                        * (1.0 + 0.1 * wobble(t, f + 80)),
                )
            });
        }
    }
    let link = Entity::Link(0);
    add(Metric::BacklogPackets, link, &queue);
    add(Metric::Utilisation, link, &|t| {
        let drop = if t > 30.0 { 0.35 * settling(t) } else { 0.0 };
        (1.0 - drop - 0.004 * noise * wobble(t, 5).abs()).clamp(0.0, 1.0)
    });
    add(Metric::Price, link, &|t| queue(t) * 8e3 / 30e6);
    add(Metric::Drops, link, &|_| 0.0);
    run_at(engine, u64::from(engine == Engine::Packet), time, series)
}

/// Two controllers against nine reverse rates, with repetitions.
fn sweep() -> Vec<(Scenario, Vec<Run>)> {
    let mut points = Vec::new();
    for controller in ["vegas", "monaco"] {
        for reverse in (5..=45).step_by(5) {
            let mut s = scenario(&[("forward", 7), ("backward", 7)], &["there", "back"], 30);
            s.id = "demo-reverse".into();
            s.title = "Traffic in the reverse direction".into();
            s.source = "Made up, after the set-up of Xia05 fig. 4".into();
            s.point = vec![
                ("controller".into(), controller.into()),
                ("reverse".into(), format!("{reverse} Mbps")),
            ];
            s.expectations.push(Expectation {
                name: "the forward link is used".into(),
                metric: Metric::Utilisation,
                of: Subject::Link(0),
                paper: if controller == "vegas" { "10-60 %" } else { "at least 97 %" }.into(),
                during: s.steady,
                ..expectation(match controller {
                    "vegas" => Target::Range { min: 0.1, max: 0.6 },
                    _ => Target::Range { min: 0.97, max: f64::INFINITY },
                })
            });
            let mut runs = vec![sweep_run(Engine::Theory, 0, 1.0)];
            let used = match controller {
                "vegas" => 0.08 + 0.6 * (f64::from(reverse) / 45.0).powf(0.7),
                _ => 0.985,
            };
            runs.extend((1..=5).map(|seed| sweep_run(Engine::Packet, seed, used)));
            points.push((s, runs));
        }
    }
    points
}

fn sweep_run(engine: Engine, seed: u64, used: f64) -> Run {
    let time: Vec<f64> = (1..=300).map(|i| f64::from(i) * 0.1).collect();
    let noise = if engine == Engine::Theory { 0.0 } else { 1.0 };
    let line = |mean: f64, who: usize| -> Vec<f64> {
        let bias = 1.0 + 0.02 * noise * wobble(seed as f64, who);
        let at = |t: &f64| mean * bias * (1.0 + 0.03 * noise * wobble(*t, who + seed as usize));
        time.iter().map(at).collect()
    };
    let mut series = Vec::new();
    for f in 0..14 {
        let rate = 45e6 * used / 7.0;
        series.push((Metric::Throughput, Entity::Flow(f), line(rate, f)));
    }
    for l in 0..2 {
        series.push((Metric::Utilisation, Entity::Link(l), line(used, 20 + l)));
        series.push((Metric::BacklogPackets, Entity::Link(l), line(21.0 * used, 30 + l)));
    }
    run_at(engine, seed, time, series)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "runs/demo".into()));
    std::fs::create_dir_all(&dir)?;
    let style = Style { colour: true, ..Style::default() };

    let (s, runs) = dynamics();
    let all: Vec<&Run> = runs.iter().collect();
    let verdicts = checks(&s, &all);
    println!("{}", table(&s, &all, style));
    println!("{}", checks_table(&verdicts, style));
    let point = Point { scenario: &s, runs: &runs, checks: &verdicts };
    std::fs::write(dir.join("dynamics.html"), page(&[point]))?;

    let sweep = sweep();
    let verdicts: Vec<Vec<Check>> =
        sweep.iter().map(|(s, runs)| checks(s, &runs.iter().collect::<Vec<_>>())).collect();
    let points: Vec<Point> = sweep
        .iter()
        .zip(&verdicts)
        .map(|((scenario, runs), checks)| Point { scenario, runs, checks })
        .collect();
    std::fs::write(dir.join("sweep.html"), page(&points))?;
    println!("Pages are in {}", dir.display());
    Ok(())
}
