//! Runs that are kept while a command goes on: exactly as they were, or not at all.

use crate::support::{run, scenario, window};
use accord_record::{Certificate, Run, Transfer};
use accord_report::Kept;
use accord_scenario::{Engine, Entity, Metric, Scenario};
use accord_units::Bytes;
use std::fs;
use std::path::PathBuf;

/// A directory that is removed at the end of its test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("accord-{}-{test}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }

    fn kept(&self, build: &str) -> Kept {
        Kept::beside(&self.0.join("out"), build).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Numbers that lose something where they are rounded or printed with less care.
fn example() -> (Scenario, Run) {
    let scenario = scenario(&[("short", 2), ("=long, \"<é>", 1)], &["b1"], 4);
    let odd = vec![f64::NAN, -0.0, 0.1 + 0.2, f64::MIN_POSITIVE / 3.0];
    let wide = vec![1.0 / 3.0, f64::MAX, f64::INFINITY, 123456789.12345679];
    let series = vec![
        (Metric::Throughput, Entity::Flow(0), odd.clone()),
        (Metric::Throughput, Entity::Flow(2), wide),
        (Metric::Price, Entity::Link(0), vec![f64::NAN; 4]),
        (Metric::Drops, Entity::Link(0), odd),
    ];
    let mut run = run(Engine::Packet, scenario.seed, series);
    run.time = vec![0.1, 0.1 + 0.2, 0.7000000000000001, 1.1];
    run.manifest.scenario_hash = scenario.hash();
    let (start, end) = (window(0, 4).start, window(0, 4).end);
    // Read with less than full care, some of these come back one bit off.
    run.certificates = (1..200)
        .map(|i| f64::from(i).sqrt() * 1e-13)
        .map(|residual| Certificate {
            start,
            end,
            stationarity: residual,
            feasibility: residual.sqrt(),
            complementarity: residual * residual,
            gap: -residual,
        })
        .collect();
    run.statistics.packet_hops = u64::MAX;
    run.transfers = [(0, 0, 0.1 + 0.2, f64::NAN), (1, 0, 1.0 / 3.0, 7e-12), (2, 1, 0.0, 1e9)]
        .map(|(flow, group, start, duration)| Transfer {
            flow,
            group,
            start,
            size: Bytes::new(u64::MAX >> 1),
            duration,
        })
        .to_vec();
    run.notes = vec!["a \"note\"\n".into()];
    (scenario, run)
}

/// The run as text, in which NaN equals itself and -0 differs from 0.
fn text(run: &Run) -> String {
    format!("{run:#?}")
}

#[test]
fn a_kept_run_comes_back_bit_by_bit() {
    let scratch = Scratch::new("kept");
    let (scenario, run) = example();
    let kept = scratch.kept("one");
    assert!(kept.load(&scenario, Engine::Packet).is_none());
    kept.keep(&scenario, &run).unwrap();
    let loaded = kept.load(&scenario, Engine::Packet).unwrap();
    assert_eq!(text(&loaded), text(&run));

    // Kept again, it is replaced, and nothing half written stays.
    let mut other = run.clone();
    other.notes.clear();
    kept.keep(&scenario, &other).unwrap();
    let loaded = kept.load(&scenario, Engine::Packet).unwrap();
    assert_eq!(text(&loaded), text(&other));
    let resume = scratch.0.join(".out.resume");
    assert_eq!(fs::read_dir(&resume).unwrap().count(), 1);
    kept.discard();
    assert!(!resume.exists());
    assert!(kept.load(&scenario, Engine::Packet).is_none());
}

#[test]
fn only_the_same_run_of_the_same_program_comes_back() {
    let scratch = Scratch::new("kept-other");
    let (scenario, run) = example();
    let kept = scratch.kept("one");
    kept.keep(&scenario, &run).unwrap();
    assert!(kept.load(&scenario, Engine::Theory).is_none());
    let mut other = scenario.clone();
    other.seed += 1;
    assert!(kept.load(&other, Engine::Packet).is_none());
    let mut other = scenario.clone();
    other.duration = window(0, 3).end.since_start();
    assert!(kept.load(&other, Engine::Packet).is_none());
    let built = scratch.kept("two");
    assert!(built.load(&scenario, Engine::Packet).is_none());
    assert!(kept.load(&scenario, Engine::Packet).is_some());

    // Of another version, although the name is right.
    let mut old = run.clone();
    old.manifest.version = "0.0.9".into();
    kept.discard();
    kept.keep(&scenario, &old).unwrap();
    assert!(kept.load(&scenario, Engine::Packet).is_none());

    // Its time axis would be lost.
    let mut empty = run.clone();
    empty.series.clear();
    kept.keep(&scenario, &empty).unwrap();
    assert!(kept.load(&scenario, Engine::Packet).is_none());
}

/// Every single byte counts.
#[test]
fn damage_is_noticed() {
    let scratch = Scratch::new("kept-damage");
    let (scenario, run) = example();
    let kept = scratch.kept("one");
    kept.keep(&scenario, &run).unwrap();
    let unit = fs::read_dir(scratch.0.join(".out.resume")).unwrap().next();
    let unit = unit.unwrap().unwrap().path();
    for file in ["manifest.json", "series.parquet", "checksum"] {
        let path = unit.join(file);
        let whole = fs::read(&path).unwrap();
        for i in (0..whole.len()).step_by(211) {
            let mut bytes = whole.clone();
            bytes[i] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            assert!(kept.load(&scenario, Engine::Packet).is_none(), "{file} {i}");
            fs::write(&path, &whole[..i]).unwrap();
            assert!(kept.load(&scenario, Engine::Packet).is_none(), "{file} {i}");
        }
        fs::remove_file(&path).unwrap();
        assert!(kept.load(&scenario, Engine::Packet).is_none(), "no {file}");
        fs::write(&path, &whole).unwrap();
        assert!(kept.load(&scenario, Engine::Packet).is_some(), "{file}");
    }
}
