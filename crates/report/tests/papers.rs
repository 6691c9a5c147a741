//! Verdicts on figures and tables of papers, on checks made by hand.

use crate::support::{expectation, scenario};
use accord_report::{
    Class, ExperimentRow, FigureCounts, FigureReadings, FigureVerdict, Never, OUR_LAW, Open,
    PaperFigure, PaperLaw, Papers, Permitted, Point, Reading, ReadingRow, Readings, RivalRecord,
    Share, Style, checks,
};
use accord_scenario::{Claim, Engine, Expectation, Target};

/// A check: the setting of its point, its engine, the claim, its name and whether it is met.
type Made<'a> = (&'a [(&'a str, &'a str)], Engine, Claim, &'a str, Class);

fn row(id: &str, made: &[Made]) -> ExperimentRow {
    let mut rows = Vec::new();
    for (point, engine, claim, name, class) in made {
        let mut scenario = scenario(&[("one", 1)], &["b1"], 4);
        let pairs = point.iter().map(|(k, v)| (k.to_string(), v.to_string()));
        scenario.point = pairs.collect();
        scenario.expectations = vec![Expectation {
            engine: *engine,
            claim: *claim,
            name: name.to_string(),
            ..expectation(Target::Value { value: 1.0, tolerance: 0.1 })
        }];
        let mut judged = checks(&scenario, &[]);
        judged[0].class = *class;
        rows.push((scenario, judged));
    }
    let points: Vec<Point> =
        (rows.iter()).map(|(scenario, checks)| Point { scenario, runs: &[], checks }).collect();
    ExperimentRow::of(id, &points)
}

fn figure(name: &str, experiments: &[&str]) -> PaperFigure {
    PaperFigure {
        paper: "P".into(),
        name: name.into(),
        title: "a title".into(),
        experiments: experiments.iter().map(|id| id.to_string()).collect(),
        law: None,
        at: [].into(),
        open: vec![],
        most: None,
        checks: vec![],
        except: vec![],
    }
}

fn papers(figures: Vec<PaperFigure>) -> Papers {
    Papers { rivals: vec![], laws: vec![], figures }
}

/// A setting or switch with values of these names. Each is a point of the axis `of`, if there is one.
fn open(name: &str, values: &[&str], axis: Option<&str>) -> Open {
    let value = |value: &&str| Permitted {
        value: value.to_string(),
        from: "the text".into(),
        set: vec![],
        at: axis.map(|axis| (axis.to_string(), value.to_string())).into_iter().collect(),
    };
    Open { name: name.into(), values: values.iter().map(value).collect() }
}

/// The checks that a reading meets, by seed, out of `of`.
fn reading(
    scheme: &str,
    switches: &[usize],
    settings: &[usize],
    met: [usize; 5],
    of: usize,
) -> ReadingRow {
    let (switches, settings) = (switches.to_vec(), settings.to_vec());
    let reading = Reading { scheme: scheme.into(), switches, settings };
    ReadingRow { reading, met: met.to_vec(), of }
}

/// The record of readings of figures of the paper P.
fn readings(figures: &[(&str, Vec<ReadingRow>)]) -> Readings {
    let mut all = Readings::default();
    for (figure, rows) in figures {
        let (paper, figure) = ("P".into(), figure.to_string());
        all.put(FigureReadings { paper, figure, rows: rows.clone(), never: vec![] });
    }
    all
}

/// `met` checks of packets against the paper that are met, and `missed` that are findings.
fn some(met: usize, missed: usize) -> Vec<Made<'static>> {
    let check = |class| (&[] as &[_], Engine::Packet, Claim::Paper, "x", class);
    let mut all = vec![check(Class::Met); met];
    all.extend(vec![check(Class::Finding); missed]);
    all
}

#[test]
fn a_figure_is_reproduced_by_all_checks_with_four_seeds_and_qualitatively_by_three_quarters() {
    use FigureVerdict::*;
    for (met, of, verdict, seeds) in [
        ([4, 4, 4, 4, 4], 4, Reproduced, 5),
        ([4, 0, 4, 4, 4], 4, Reproduced, 4),
        ([4, 4, 4, 3, 3], 4, Qualitatively, 3),
        // Of the median seed, not of the mean or the best.
        ([3, 3, 3, 0, 0], 4, Qualitatively, 0),
        ([4, 4, 2, 2, 2], 4, Not, 2),
        ([99, 98, 98, 98, 98], 132, Not, 0),
        ([99, 99, 99, 98, 98], 132, Qualitatively, 0),
        ([0, 0, 0, 0, 0], 4, Not, 0),
        ([0, 0, 0, 0, 0], 0, Not, 0),
    ] {
        let readings = readings(&[("figure 1", vec![reading("", &[], &[], met, of)])]);
        let summary = papers(vec![figure("figure 1", &["e"])]).summary(&[], &readings);
        let score = &summary.figures[0].by_papers_scheme;
        assert_eq!((score.verdict, score.seeds_met, score.seeds), (verdict, seeds, 5), "{met:?}");
        let mut sorted = met;
        sorted.sort_unstable();
        assert_eq!((score.checks.met, score.checks.of), (sorted[2], of));
        assert_eq!(score.readings_met, usize::from(verdict == Reproduced));
        assert_eq!(summary.figures[0].by_our_law, *score, "there is no law");
    }
    let summary = papers(vec![figure("figure 1", &["e"])]).summary(&[], &Readings::default());
    assert_eq!(summary.figures[0].by_papers_scheme.verdict, Not, "it is not recorded");
}

/// Settings are free among those declared, and counted; the switches of a law are not free.
#[test]
fn the_best_setting_counts_under_the_reading_of_the_law_alone() {
    let mut first = figure("figure 1", &["e"]);
    first.law = Some("theirs".into());
    first.open = vec![open("buffer", &["50", "60", "70"], Some("buffer"))];
    let mut papers = papers(vec![first]);
    papers.laws = vec![PaperLaw {
        name: "theirs".into(),
        papers: vec!["P".into()],
        open: vec![open("weight", &["0.25", "0.5"], None)],
    }];
    let readings = readings(&[(
        "figure 1",
        vec![
            reading("theirs", &[0], &[0], [3; 5], 4),
            reading("theirs", &[0], &[1], [4, 4, 4, 4, 2], 4),
            reading("theirs", &[0], &[2], [4, 4, 2, 2, 2], 4),
            // It would be reproduced with all seeds under a switch that is not chosen: there is no
            // second figure that confirms it.
            reading("theirs", &[1], &[0], [4; 5], 4),
            reading(OUR_LAW, &[], &[0], [2; 5], 4),
            reading(OUR_LAW, &[], &[1], [2; 5], 4),
            reading(OUR_LAW, &[], &[2], [3; 5], 4),
        ],
    )]);
    let summary = papers.summary(&[], &readings);
    let (theirs, ours) = (&summary.figures[0].by_papers_scheme, &summary.figures[0].by_our_law);
    assert_eq!((theirs.verdict, &*theirs.setting), (FigureVerdict::Reproduced, "buffer 60"));
    assert_eq!((theirs.seeds_met, theirs.readings_met, theirs.readings), (4, 2, 4));
    assert_eq!((ours.verdict, &*ours.setting), (FigureVerdict::Qualitatively, "buffer 70"));
    assert_eq!((ours.readings_met, ours.readings), (0, 3));
    assert_eq!(summary.by_papers_schemes, FigureCounts { reproduced: 1, qualitatively: 0, not: 0 });
}

/// The value that meets most checks on figures 1 and 3 is confirmed by figures 2 and 4, or the first
/// one stays.
#[test]
fn a_law_has_one_reading_chosen_on_half_of_the_figures_and_confirmed_on_the_others() {
    let of = |name: &str| {
        let mut figure = figure(name, &["e"]);
        figure.law = Some("theirs".into());
        figure
    };
    let mut papers = papers(["figure 1", "figure 2", "figure 3", "figure 4"].map(of).to_vec());
    papers.laws = vec![PaperLaw {
        name: "theirs".into(),
        papers: vec!["P".into()],
        open: vec![open("weight", &["0.25", "0.5", "1"], None)],
    }];
    let record = |met: [[usize; 3]; 4]| {
        let names = ["figure 1", "figure 2", "figure 3", "figure 4"];
        let rows = |met: [usize; 3]| {
            let row = |i: usize| reading("theirs", &[i], &[], [met[i]; 5], 9);
            (0..3).map(row).collect::<Vec<_>>()
        };
        readings(&[0, 1, 2, 3].map(|i: usize| (names[i], rows(met[i]))))
    };
    for (met, chosen) in [
        // 0.5 is best on the first half, and better than the first on the second.
        ([[5, 7, 6], [5, 6, 9], [5, 5, 5], [5, 5, 9]], "weight 0.5"),
        // It is not confirmed; 1 would be, but was not chosen.
        ([[5, 7, 6], [5, 5, 9], [5, 5, 5], [5, 5, 9]], "weight 0.25"),
        // As many are not more.
        ([[5, 5, 5], [5, 6, 9], [5, 5, 5], [5, 5, 9]], "weight 0.25"),
    ] {
        let choice = &papers.summary(&[], &record(met)).laws[0];
        assert_eq!(choice.reading, chosen, "{}", choice.why);
    }
}

/// A large grid is sampled alike each time, and the record has the number of all readings.
#[test]
fn a_large_grid_is_sampled_alike_each_time() {
    let mut first = figure("figure 1", &["e"]);
    first.law = Some("theirs".into());
    let values = ["a", "b", "c", "d", "e"];
    first.open = vec![open("buffer", &values, None), open("load", &values, None)];
    let mut papers = papers(vec![first.clone()]);
    papers.laws = vec![PaperLaw {
        name: "theirs".into(),
        papers: vec!["P".into()],
        open: vec![open("weight", &["0.25", "0.5"], None)],
    }];
    assert_eq!(papers.declared(&first), 50);
    let at_first = papers.at_first_settings(&first);
    assert_eq!(at_first.len(), 2);
    let others = papers.others(&first, &[1]);
    assert_eq!(others, papers.others(&first, &[1]));
    let theirs: Vec<&Reading> = others.iter().filter(|r| r.scheme == "theirs").collect();
    // All law readings, and nine settings: the first, and each other value by itself.
    assert_eq!(at_first.len() + theirs.len(), 2 + 8);
    // Each value by itself under the chosen switch.
    for settings in [[0, 4], [4, 0], [0, 1], [1, 0]] {
        assert!(theirs.iter().any(|r| r.switches == [1] && r.settings == settings));
    }
    let ours = others.iter().filter(|r| r.scheme == OUR_LAW);
    assert_eq!(ours.count(), 9);
    let few = papers.others(&PaperFigure { most: Some(2), ..first.clone() }, &[1]);
    assert_eq!(few.iter().filter(|r| r.scheme == "theirs").count(), 1);
    assert_eq!(few.iter().filter(|r| r.scheme == OUR_LAW).count(), 2);
    let mut once = others.clone();
    once.extend(at_first);
    let n = once.len();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), n, "none is run twice");
}

/// Of the combinations of both, some are run as well.
#[test]
fn what_is_left_of_a_grid_is_sampled() {
    let mut first = figure("figure 1", &["e"]);
    first.law = Some("theirs".into());
    first.open = vec![open("buffer", &["a", "b", "c", "d"], None)];
    let mut papers = papers(vec![first.clone()]);
    papers.laws = vec![PaperLaw {
        name: "theirs".into(),
        papers: vec!["P".into()],
        open: vec![open("weight", &["0.25", "0.5", "1"], None)],
    }];
    assert_eq!(papers.declared(&first), 12);
    let others = papers.others(&first, &[0]);
    let theirs: Vec<&Reading> = others.iter().filter(|r| r.scheme == "theirs").collect();
    assert_eq!((papers.at_first_settings(&first).len(), theirs.len()), (3, 5));
    assert_eq!(theirs.iter().filter(|r| r.switches == [0]).count(), 3);
    assert!(theirs[3..].iter().all(|r| r.switches != [0] && r.settings != [0]));
}

/// A finding needs a row, by each scheme that it is of.
#[test]
fn a_finding_is_a_check_that_no_reading_meets() {
    let mut first = figure("figure 1", &["e"]);
    first.law = Some("theirs".into());
    first.open = vec![open("buffer", &["50", "60"], Some("buffer"))];
    let papers = papers(vec![first]);
    let mut record = readings(&[("figure 1", vec![])]);
    let never = |scheme: &str, name: &str| Never {
        scheme: scheme.into(),
        experiment: "e".into(),
        place: "load = 3".into(),
        name: name.into(),
        line: 7,
    };
    record.figures[0].never = vec![never("theirs", "x"), never(OUR_LAW, "x"), never(OUR_LAW, "y")];
    let of = |law, buffer, engine, claim, name| {
        let point = [("law", law), ("buffer", buffer), ("load", "3")];
        let point: &[_] = Box::leak(Box::new(point));
        let rows = [row("e", &[(point, engine, claim, name, Class::Finding)])];
        let summary = papers.summary(&rows, &record);
        assert!(summary.findings.iter().all(|f| f.row == "scenarios/readings.txt:7"));
        (summary.findings.len(), papers.unproven(&rows, &record).join(""))
    };
    let packets = |law, buffer, name| of(law, buffer, Engine::Packet, Claim::Paper, name);
    let proven = (1, String::new());
    assert_eq!(packets("theirs", "50", "x"), proven);
    assert_eq!(packets("theirs", "60", "x"), proven);
    assert_eq!(packets(OUR_LAW, "60", "x"), proven);
    // The paper's own scheme meets it, so it is not a finding on the paper.
    let why = "e [law = accord, buffer = 50, load = 3], y: P figure 1 by theirs meets it under some \
               reading and seed";
    assert_eq!(packets(OUR_LAW, "50", "y"), (0, why.into()));
    let (n, why) = packets("theirs", "99", "x");
    assert_eq!(n, 0);
    assert!(why.ends_with("no figure of a paper shows it"), "{why}");
    let (n, why) = of("theirs", "50", Engine::Theory, Claim::Paper, "x");
    assert_eq!(n, 0);
    assert!(why.ends_with("it does not compare packets with a paper"), "{why}");
}

#[test]
fn a_record_is_read_as_it_was_written_and_a_wrong_line_is_named() {
    let mut first = figure("figure 1", &["e"]);
    first.law = Some("theirs".into());
    first.open = vec![open("buffer", &["50 KB", "60 KB"], None)];
    let mut papers = papers(vec![first, figure("table 2", &["f"])]);
    papers.laws = vec![PaperLaw {
        name: "theirs".into(),
        papers: vec!["P".into()],
        open: vec![open("weight", &["0.25", "0.5"], None)],
    }];
    let mut record = readings(&[
        (
            "figure 1",
            vec![
                reading("theirs", &[1], &[0], [1, 2, 3, 4, 5], 6),
                reading(OUR_LAW, &[], &[1], [6; 5], 6),
            ],
        ),
        ("table 2", vec![reading("", &[], &[], [2; 5], 2)]),
    ]);
    let (scheme, experiment, name) = ("theirs".into(), "e".into(), "queue | of hop 1".into());
    let never = Never { scheme, experiment, place: "N = 5".into(), name, line: 8 };
    record.figures[0].never = vec![never];
    let text = record.text(&papers);
    assert!(text.contains("\nP | figure 1 | 1 of 4 readings\n"), "{text}");
    assert!(text.contains("\n  theirs | 0.5 | 50 KB | 1 2 3 4 5 of 6\n"), "{text}");
    assert_eq!(Readings::parse(&text, &papers).as_ref(), Ok(&record));
    let wrong = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        Readings::parse(&text.replace(from, to), &papers).expect_err("it is wrong")
    };
    for (from, to, why) in [
        (
            "readings 1 |",
            "readings 2 |",
            "it is of another version: \"readings 2 | seeds 1 2 3 4 5\", not \"readings 1 | seeds 1 2 3 4 5\"",
        ),
        (
            "seeds 1 2 3 4 5",
            "seeds 1 2",
            "it is of another version: \"readings 1 | seeds 1 2\", not \"readings 1 | seeds 1 2 3 4 5\"",
        ),
        ("readings 1 |", "results 1 |", "it is not a record of readings"),
        (
            "0.5 | 50 KB",
            "0.7 | 50 KB",
            "line 6: P figure 1: \"0.7\" is not declared for weight; declared are 0.25, 0.5",
        ),
        (
            "0.5 | 50 KB",
            "0.5 | 70 KB",
            "line 6: P figure 1: \"70 KB\" is not declared for buffer; declared are 50 KB, 60 KB",
        ),
        ("0.5 | 50 KB", "- | 50 KB", "line 6: P figure 1: \"-\" needs a value for each of: weight"),
        ("  theirs | 0.5", "  other | 0.5", "line 6: P figure 1: \"other\" is not its law"),
        ("1 2 3 4 5 of", "1 2 3 of", "line 6: P figure 1: 3 seeds, not 5"),
        (
            "1 2 3 4 5 of",
            "1 2 x 4 5 of",
            "line 6: \"  theirs | 0.5 | 50 KB | 1 2 x 4 5 of 6\" is not a line of such a record",
        ),
        ("P | table 2", "P | table 3", "line 9: P table 3 is not declared"),
    ] {
        assert_eq!(wrong(from, to), why);
    }
    let missing = "P figure 1 is not recorded under a reading: theirs, weight 0.25, buffer 50 KB";
    assert_eq!(record.check(&papers), Err(missing.into()));
}

#[test]
fn only_checks_of_packets_against_the_paper_count() {
    let mut made = some(1, 0);
    made.extend([
        (&[] as &[_], Engine::Theory, Claim::Paper, "x", Class::Ours),
        (&[], Engine::Fluid, Claim::Paper, "x", Class::Ours),
        (&[], Engine::Packet, Claim::Ours, "x", Class::Ours),
        (&[], Engine::Packet, Claim::Theory, "x", Class::Failed),
    ]);
    let rows = [row("e", &made), row("own", &made[1..])];
    let summary = papers(vec![figure("figure 1", &["e"])]).summary(&rows, &Readings::default());
    assert_eq!(summary.figures[0].fails, "");
    assert_eq!(summary.ours_at_fault, 6);
    assert_eq!(summary.ours_at_fault_in_figures, 0);
    assert_eq!(summary.own.len(), 1);
    assert_eq!(summary.own[0].experiment, "own");
    assert_eq!(summary.own[0].checks, Share { met: 0, of: 2 });
}

#[test]
fn laws_have_verdicts_of_their_own_and_schemes_without_one_count_for_both() {
    let of = |law, class| (law, Engine::Packet, Claim::Paper, "x", class);
    let made = [
        of(&[("law", "paper")] as &[_], Class::Finding),
        of(&[("law", "accord")], Class::Met),
        of(&[("law", "accord")], Class::Met),
        of(&[("law", "vegas")], Class::Met),
        of(&[("law", "other")], Class::Ours),
    ];
    let mut first = figure("figure 1", &["e"]);
    first.law = Some("paper".into());
    let mut second = figure("figure 2", &["f"]);
    second.law = Some("other".into());
    let rows = [row("e", &made), row("f", &some(1, 0))];
    let readings = readings(&[
        (
            "figure 1",
            vec![reading("paper", &[], &[], [1; 5], 2), reading(OUR_LAW, &[], &[], [3; 5], 3)],
        ),
        (
            "figure 2",
            vec![reading("other", &[], &[], [1; 5], 1), reading(OUR_LAW, &[], &[], [1; 5], 1)],
        ),
    ]);
    let summary = papers(vec![first, second]).summary(&rows, &readings);
    let figure = &summary.figures[0];
    assert_eq!(figure.by_papers_scheme.checks, Share { met: 1, of: 2 });
    assert_eq!(figure.by_our_law.checks, Share { met: 3, of: 3 });
    assert_eq!(summary.by_papers_schemes, FigureCounts { reproduced: 1, qualitatively: 0, not: 1 });
    assert_eq!(summary.by_our_law.reproduced, 2);
    // The scheme of the other paper is another setting here.
    assert_eq!(summary.rivals.len(), 1);
    assert_eq!(summary.rivals[0].setting, "law = other");
    assert_eq!((summary.ours_at_fault, summary.ours_at_fault_in_figures), (1, 0));
}

#[test]
fn other_settings_have_lines_of_their_own() {
    let of = |point, name, class| (point, Engine::Packet, Claim::Paper, name, class);
    let own: &[_] = &[("buffer", "55 pkt")];
    let other: &[_] = &[("buffer", "55 KB")];
    let made = [
        of(own, "rate", Class::Met),
        of(own, "queue in packets, late", Class::Open),
        of(other, "rate", Class::Ours),
        of(other, "queue in packets, late", Class::Met),
    ];
    let mut first = figure("figure 1", &["e"]);
    first.at = [("buffer".into(), "55 pkt".into())].into();
    first.except = vec!["queue in packets".into()];
    let rows = [row("e", &made), row("claim", &some(1, 1))];
    let summary = papers(vec![first]).summary(&rows, &Readings::default());
    assert_eq!(summary.figures[0].fails, "");
    let line = |experiment: &str, setting: &str, of| RivalRecord {
        experiment: experiment.into(),
        setting: setting.into(),
        by_papers_scheme: Share { met: 1, of },
        by_our_law: Share { met: 1, of },
    };
    let mut excepted = line("e", "queue in packets", 1);
    excepted.by_papers_scheme.met = 0;
    excepted.by_our_law.met = 0;
    assert_eq!(summary.rivals, [excepted, line("e", "buffer = 55 KB", 2), line("claim", "", 2)]);
}

/// Each figure of an experiment takes the checks whose names begin as it says.
#[test]
fn an_experiment_may_show_two_figures() {
    let of = |name, class| (&[] as &[_], Engine::Packet, Claim::Paper, name, class);
    let made = [of("figure 2: 1a", Class::Met), of("rate", Class::Ours), of("queue", Class::Ours)];
    let mut by_time = figure("figure 2", &["e"]);
    by_time.checks = vec!["figure 2".into()];
    let mut table = figure("table 1", &["e"]);
    table.except = vec!["figure 2".into()];
    let again = PaperFigure { paper: "Q".into(), ..table.clone() };
    let summary =
        papers(vec![by_time, table, again]).summary(&[row("e", &made)], &Readings::default());
    assert_eq!(summary.figures[1].fails, "throughput 2");
    assert_eq!(summary.ours_at_fault_in_figures, 2, "each counts once");
    assert_eq!(summary.rivals, []);
}

#[test]
fn the_summary_ends_with_its_counts() {
    let rows = [row("e", &some(3, 1)), row("f", &some(2, 0))];
    let papers = papers(vec![figure("figure 1", &["e"]), figure("figure 2", &["f"])]);
    let readings = readings(&[
        ("figure 1", vec![reading("", &[], &[], [3; 5], 4)]),
        ("figure 2", vec![reading("", &[], &[], [2; 5], 2)]),
    ]);
    let summary = papers.summary(&rows, &readings);
    let counts = [
        "By the papers' schemes 1 of 2 figures and tables are reproduced, 1 come out qualitatively \
         and 0 do not; by our law 1, 1 and 0.",
        "6 checks, of which 5 are met: 6 compare packets with a paper (5 met), 0 packets with a \
         model (0 met), 0 packets with what we expect (0 met), 0 a model with a model (0 met). Of \
         the unmet checks, 1 contradicts the paper.",
    ];
    assert_eq!(summary.counts(), counts);
    // Wide enough that no cell is wrapped.
    let text = summary.text(Style { width: 300, colour: false });
    assert!(text.ends_with(&counts.join("\n")), "{text}");
    let line = |figure: &str| {
        let mut lines = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>());
        lines.find(|l| l.join(" ").contains(figure)).unwrap_or_default().join(" ")
    };
    assert_eq!(
        line("figure 1"),
        "P figure 1 a title qualitatively, 3 of 4; 0 of 1 reading, 0 of 5 seeds qualitatively, 3 of \
         4; 0 of 1 reading, 0 of 5 seeds throughput 1"
    );
    assert_eq!(
        line("figure 2"),
        "P figure 2 a title reproduced; 1 of 1 reading, 5 of 5 seeds reproduced; 1 of 1 reading, 5 of \
         5 seeds"
    );
}
