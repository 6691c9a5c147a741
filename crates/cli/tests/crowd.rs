//! `--check-crowd` reports if flows may be a fluid among packets.

use crate::common::*;

/// Ten flows among 200, over a queue with this discipline.
fn text(controller: &str, queue: &str) -> String {
    let flow = format!(
        "controller = {controller}\nstart = {{ uniform = [\"0 s\", \"2 s\"] }}\n\
         access = {{ rate = \"1 Gbps\", delay = {{ spread = [\"1 ms\", \"20 ms\"] }} }}\n"
    );
    format!(
        "duration = \"15 s\"\nsteady = [\"8 s\", \"15 s\"]\n\
         [topology.dumbbell]\nrate = \"420 Mbps\"\ndelay = \"10 ms\"\nqueue = {queue}\n\
         [flow.crowd]\ncount = 200\nas = \"fluid\"\nfrom = \"left\"\nto = \"right\"\n{flow}\
         [flow.own]\ncount = 10\nfrom = \"left\"\nto = \"right\"\n{flow}"
    )
}

#[test]
fn a_crowd_that_is_as_packets_are_agrees() {
    let queue = "{ discipline = \"droptail\", limit = \"2 MB\" }";
    let dir = folder(&[("crowd.toml", &text("\"monaco\"", queue))]);
    let words = ["run", "crowd.toml", "-e", "packet", "--check-crowd=40"];
    let shown = accord(dir.path(), &words).with(0);
    let verdict = "crowd: with 40 of 200 fluid flows, 5 of 5 figures within 5 % of packets";
    assert!(shown.stdout.contains(verdict), "{shown:#?}");
    // Each flow has its rate in the full crowd.
    for group in ["crowd (40 flows)", "own (10 flows)"] {
        let mut rows = shown.stdout.lines().filter(|line| line.contains(group));
        let row = rows.next_back().unwrap_or_else(|| panic!("{shown:#?}"));
        let rate = row
            .split_whitespace()
            .nth(4)
            .and_then(|word| word.parse().ok());
        assert!(
            rate.is_some_and(|rate: f64| (rate - 2.0).abs() < 0.05),
            "{row}"
        );
    }
    // Readers of the run find it there.
    for file in ["runs/crowd/manifest.json", "runs/crowd/page.html"] {
        let kept = std::fs::read_to_string(dir.path().join(file)).unwrap();
        assert!(kept.contains(verdict), "{file}");
    }
}

/// With AVD, Monaco's queue is a few packets, which a fluid does not have.
#[test]
fn a_crowd_that_is_not_as_packets_are_differs() {
    let queue = "{ discipline = \"avd\", limit = \"2 MB\" }";
    let dir = folder(&[("crowd.toml", &text("\"monaco\"", queue))]);
    let words = ["run", "crowd.toml", "-e", "packet", "--check-crowd=40"];
    let shown = accord(dir.path(), &words).with(0);
    assert!(shown.stdout.contains("; not "), "{shown:#?}");
    assert!(shown.stdout.contains("bottleneck: backlog "), "{shown:#?}");
    assert!(shown.stdout.contains("differs"), "{shown:#?}");
}

#[test]
fn seeds_give_intervals_and_points_their_own_checks() {
    let queue = "{ discipline = \"droptail\", limit = \"2 MB\" }";
    let swept = text("\"monaco\"", queue)
        + "[sweep.delay]\nset = [\"topology.dumbbell.delay\"]\nvalues = [\"10 ms\", \"20 ms\"]\n";
    let dir = folder(&[("crowd.toml", &swept)]);
    let words = [
        "run",
        "crowd.toml",
        "-e",
        "packet",
        "--reps",
        "2",
        "--check-crowd=20",
    ];
    let shown = accord(dir.path(), &words).with(0);
    assert_eq!(
        shown.stdout.matches("crowd: with 20 of 200").count(),
        2,
        "{shown:#?}"
    );
    assert!(shown.stdout.contains("interval over 2 runs"), "{shown:#?}");
}

#[test]
fn what_has_no_crowd_is_refused() {
    let queue = "{ discipline = \"droptail\", limit = \"2 MB\" }";
    let crowd = text("\"monaco\"", queue);
    let alone = crowd.replace("as = \"fluid\"\n", "");
    let rem = text("\"newreno\"", "{ discipline = \"rem\", gain = 0.5 }");
    let dir = folder(&[
        ("crowd.toml", &crowd),
        ("alone.toml", &alone),
        ("rem.toml", &rem),
    ]);
    let none = accord(dir.path(), &["run", "alone.toml", "--check-crowd"]).with(2);
    assert!(
        none.stderr
            .contains("--check-crowd needs flows with `as = \"fluid\"`"),
        "{none:#?}"
    );
    let theory = ["run", "crowd.toml", "-e", "theory", "--check-crowd"];
    let none = accord(dir.path(), &theory).with(2);
    assert!(
        none.stderr
            .contains("--check-crowd needs the packet engine"),
        "{none:#?}"
    );
    let few = accord(dir.path(), &["run", "crowd.toml", "--check-crowd=0"]).with(2);
    assert!(few.stderr.contains("--check-crowd"), "{few:#?}");
    // A price that moves too much per packet.
    let small = accord(
        dir.path(),
        &["run", "rem.toml", "-e", "packet", "--check-crowd=20"],
    )
    .with(2);
    assert!(
        small
            .stderr
            .contains("rem on bottleneck: gain with fewer flows: "),
        "{small:#?}"
    );
    assert!(small.stderr.contains("--check-crowd=FLOWS"), "{small:#?}");
}
