//! Tables as a person sees them, kept as text.

use crate::support::{expectation, run, scenario, window};
use accord_record::Run;
use accord_report::{Outline, Style, checks, checks_table, columns, comparison, table};
use accord_scenario::{Across, Engine, Entity, Expectation, Metric, Scenario, Subject, Target};
use insta::assert_snapshot;

fn pair() -> (Scenario, Run, Run) {
    let mut s = scenario(&[("short", 2), ("long", 1)], &["bottleneck"], 4);
    let flat = |v: f64| vec![v; 4];
    let flows = |t: [f64; 3], extra: Vec<(Metric, Entity, Vec<f64>)>| {
        let each = t.into_iter().enumerate();
        let mut series: Vec<_> =
            each.map(|(i, v)| (Metric::Throughput, Entity::Flow(i), flat(v))).collect();
        series.extend(extra);
        series
    };
    let link = Entity::Link(0);
    let theory = run(
        Engine::Theory,
        0,
        flows(
            [2e6, 2e6, 3e6],
            vec![
                (Metric::Utilisation, link, flat(1.0)),
                (Metric::Backlog, link, flat(30e3)),
                (Metric::Drops, link, flat(0.0)),
                (Metric::Accumulation, Entity::Flow(2), flat(3000.0)),
            ],
        ),
    );
    let packet = run(
        Engine::Packet,
        1,
        flows(
            [1.9e6, 2.1e6, 2.7e6],
            vec![
                (Metric::Utilisation, link, flat(0.984)),
                (Metric::Backlog, link, flat(31.2e3)),
                (Metric::Drops, link, vec![9.0, 0.0, 1.0, 0.0]),
                (Metric::Price, link, flat(0.00853)),
                (Metric::Accumulation, Entity::Flow(2), flat(2900.0)),
                (Metric::AccumulationEstimate, Entity::Flow(2), flat(3045.0)),
            ],
        ),
    );
    let near = |value, tolerance| Target::Value { value, tolerance };
    s.expectations = vec![
        Expectation {
            name: "each short flow gets 2 Mbps".into(),
            paper: "2 Mbps".into(),
            ..expectation(near(2e6, 0.06))
        },
        Expectation {
            name: "the long flow gets what theory says".into(),
            of: Subject::Group(1),
            during: window(1, 4),
            ..expectation(Target::Engine { engine: Engine::Theory, tolerance: 0.05 })
        },
        Expectation {
            name: "fair".into(),
            across: Across::Jain,
            engine: Engine::Theory,
            ..expectation(near(1.0, 0.01))
        },
        Expectation {
            name: "the link is full".into(),
            metric: Metric::Utilisation,
            of: Subject::Link(0),
            ..expectation(Target::Range { min: 0.97, max: f64::INFINITY })
        },
    ];
    (s, theory, packet)
}

#[test]
fn two_engines() {
    let (scenario, theory, packet) = pair();
    let text = table(&scenario, &[&theory, &packet], Style::default());
    assert_snapshot!("comparison", text);
}

/// Two run directories with two engines each: names give way to figures, at spaces only.
#[test]
fn four_columns_break_no_word() {
    let (scenario, theory, packet) = pair();
    let outline = Outline::of(&scenario);
    let mut four = Vec::new();
    for of in ["xia05-fig6", "other-name"] {
        let mut two = columns(&outline, &[&theory, &packet]);
        for column in &mut two {
            column.label = format!("{of}: {}", column.label);
        }
        four.extend(two);
    }
    let text = comparison(&four, Style::default());
    assert_snapshot!("four", text);
    // With more of them figures and units part, and words still stay whole.
    for n in 4..=6 {
        let mut columns = four.clone();
        columns.extend_from_slice(&four[..n - 4]);
        let text = comparison(&columns, Style::default());
        for word in ["throughput", "accumulation", "bottleneck", "utilisation"] {
            let whole = |line: &str| line.split_whitespace().any(|w| w == word);
            assert!(text.lines().any(whole), "{word} of {n} columns\n{text}");
        }
    }
    // Ten have no room for that, and keep within the width all the same.
    let ten: Vec<_> = four.iter().cycle().take(10).cloned().collect();
    let text = comparison(&ten, Style::default());
    assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
}

/// An interval stays on the line of its mean and unit as long as there is room.
#[test]
fn intervals_are_not_parted_from_their_means() {
    let (scenario, _, packet) = pair();
    let mut other = packet.clone();
    for series in &mut other.series {
        for value in &mut series.values {
            *value *= 1.01;
        }
    }
    let outline = Outline::of(&scenario);
    let mut two = columns(&outline, &[&packet, &other]);
    assert_eq!(two.len(), 1, "two seeds of one engine");
    two.push(two[0].clone());
    for width in [76, 80, 100] {
        let text = comparison(&two, Style { width, ..Style::default() });
        let rows = text.lines().filter(|line| line.contains(" ± ") && line.contains("  "));
        let mut figures = 0;
        for row in rows.filter(|row| !row.starts_with("Means")) {
            figures += row.matches(" ± ").count();
            let units = ["bps", "KB", "ms", "%", "pkt"].map(|unit| row.matches(unit).count());
            assert!(units.iter().sum::<usize>() >= row.matches(" ± ").count(), "{width}\n{text}");
        }
        assert!(figures >= 10, "{width}\n{text}");
    }
}

#[test]
fn expectations() {
    let (scenario, theory, packet) = pair();
    let checks = checks(&scenario, &[&theory, &packet]);
    let text = checks_table(&checks, Style::default());
    assert_snapshot!("checks", text);
}

#[test]
fn repetitions_show_intervals() {
    let (scenario, theory, packet) = pair();
    let mut other = packet.clone();
    for series in other.series.iter_mut() {
        // The link itself is the same.
        if series.metric != Metric::LinkRate {
            series.values.iter_mut().for_each(|v| *v *= 1.01);
        }
    }
    let text = table(&scenario, &[&theory, &packet, &other], Style::default());
    assert_snapshot!("repetitions", text);
}

#[test]
fn colour_only_when_asked_and_hostile_names_only_as_text() {
    let (mut scenario, theory, packet) = pair();
    let long = "x".repeat(500);
    scenario.groups[0].name = format!("\x1b[2J<script>\n{long}");
    scenario.links[0].name = long.clone();
    scenario.expectations[0].name = format!("\x07{long}");
    scenario.expectations[0].paper = format!("\r\n{long}");
    let checks = checks(&scenario, &[&theory, &packet]);
    let plain = Style::default();
    let text = table(&scenario, &[&theory, &packet], plain) + &checks_table(&checks, plain);
    assert!(!text.contains(['\x1b', '\x07', '\r']));
    for line in text.lines().filter(|l| !l.starts_with("FAILED")) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let colour = Style { colour: true, ..plain };
    let text = checks_table(&checks, colour);
    assert!(text.contains("\x1b[32mmet\x1b[0m"));
}

#[test]
fn nothing_to_show() {
    let nothing = "There is nothing to compare.\n";
    let (scenario, _, _) = pair();
    assert_eq!(table(&scenario, &[], Style::default()), nothing);
    assert_eq!(
        checks_table(&[], Style::default()),
        "No expectations to check. Add `[[expect]]` for a verdict.\n"
    );
    // A run without series has a sentence in place of an empty table.
    let empty = run(Engine::Packet, 1, vec![]);
    let text = table(&scenario, &[&empty], Style::default());
    assert!(text.starts_with("No values of packet.\n"), "{text}");
    assert!(!text.contains("utilisation"), "{text}");
}

/// A comparison with a model names the assumptions of the model.
#[test]
fn models_say_what_they_leave_out() {
    let scenario = scenario(&[("long", 1)], &["b1"], 10);
    let with = |engine: Engine, note: &str| {
        let mut run = run(engine, 0, vec![]);
        run.notes = vec![note.into()];
        run
    };
    let runs = [
        with(Engine::Theory, "theory: no jitter"),
        with(Engine::Fluid, "fluid: no losses"),
        with(Engine::Live, "live: late"),
    ];
    let text = table(&scenario, &runs.each_ref(), Style::default());
    let end = text.lines().rev().take(2).collect::<Vec<_>>();
    assert_eq!(end, ["fluid: no losses", "theory: no jitter"]);
}

/// A terminal shows the first notes of theory and how many more there are.
#[test]
fn many_notes_are_counted() {
    let with = |n: usize| {
        let mut theory = run(Engine::Theory, 0, vec![]);
        theory.notes = (0..n).map(|i| format!("note {i}")).collect();
        // The same again says nothing new.
        theory.notes.push("note 0".into());
        accord_report::remarks(&[&theory])
    };
    assert_eq!(with(2), "note 0\nnote 1\n");
    assert_eq!(with(6).lines().count(), 6, "a count would not be shorter");
    let many = with(1584);
    assert_eq!(many.lines().count(), 6);
    assert!(many.starts_with("note 0\n") && many.ends_with("... and 1579 more notes\n"));
}

/// A group in which no transfer ended has a row: that says more than a table without it.
#[test]
fn a_group_without_finished_transfers_has_a_row() {
    let s = scenario(&[("quick", 1), ("slow", 1), ("none", 1)], &["bottleneck"], 4);
    let transfer = |group: usize, duration: f64| accord_record::Transfer {
        group,
        flow: group,
        start: 1.0,
        size: accord_units::Bytes::new(1000),
        duration,
    };
    let rtt = vec![(Metric::Rtt, Entity::Flow(0), vec![0.1; 4])];
    let mut packet = run(Engine::Packet, 1, rtt);
    packet.transfers = vec![transfer(0, 2.0), transfer(1, f64::NAN), transfer(1, f64::NAN)];
    let text = table(&s, &[&packet], Style::default());
    let (_, transfers) = text.split_once("transfers of").expect("a table of transfers");
    let row = transfers.lines().find(|line| line.starts_with("slow"));
    let cells: Vec<&str> = row.unwrap_or_else(|| panic!("{text}")).split_whitespace().collect();
    assert_eq!(cells, ["slow", "all", "0,", "2", "not", "done", "–", "–", "–", "–", "–"], "{text}");
    assert!(transfers.lines().any(|line| line.starts_with("quick")), "{text}");
    assert!(!transfers.lines().any(|line| line.starts_with("none")), "{text}");
}
