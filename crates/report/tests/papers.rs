//! Verdicts on figures and tables of papers, on checks made by hand.

use crate::support::{expectation, scenario};
use accord_report::{
    Class, ExperimentRow, FigureCounts, FigureVerdict, PaperFigure, Papers, Point, RivalRecord,
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
        checks: vec![],
        except: vec![],
    }
}

fn papers(figures: Vec<PaperFigure>) -> Papers {
    Papers { rivals: vec![], figures }
}

/// `met` checks of packets against the paper that are met, and `missed` that are findings.
fn some(met: usize, missed: usize) -> Vec<Made<'static>> {
    let check = |class| (&[] as &[_], Engine::Packet, Claim::Paper, "x", class);
    let mut all = vec![check(Class::Met); met];
    all.extend(vec![check(Class::Finding); missed]);
    all
}

#[test]
fn a_figure_is_reproduced_by_all_checks_and_qualitatively_by_three_quarters() {
    use FigureVerdict::*;
    for (met, missed, verdict) in [
        (4, 0, Reproduced),
        (1, 0, Reproduced),
        (3, 1, Qualitatively),
        (7, 1, Qualitatively),
        (99, 33, Qualitatively),
        (2, 1, Not),
        (98, 33, Not),
        (0, 4, Not),
        (0, 0, Not),
    ] {
        let rows = [row("e", &some(met, missed))];
        let summary = papers(vec![figure("figure 1", &["e"])]).summary(&rows);
        let score = summary.figures[0].by_papers_scheme;
        assert_eq!(score.verdict, verdict, "{met} met, {missed} not");
        assert_eq!((score.checks.met, score.checks.of), (met, met + missed));
        assert_eq!(summary.figures[0].by_our_law, score, "there is no law");
    }
}

#[test]
fn only_checks_of_packets_against_the_paper_count() {
    let mut made = some(1, 0);
    made.extend([
        (&[] as &[_], Engine::Theory, Claim::Paper, "x", Class::Ours),
        (&[], Engine::Fluid, Claim::Paper, "x", Class::Ours),
        (&[], Engine::Packet, Claim::Ours, "x", Class::Ours),
        (&[], Engine::Packet, Claim::Theory, "x", Class::Unknown),
    ]);
    let rows = [row("e", &made), row("own", &made[1..])];
    let summary = papers(vec![figure("figure 1", &["e"])]).summary(&rows);
    assert_eq!(summary.figures[0].by_our_law.verdict, FigureVerdict::Reproduced);
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
    let summary = papers(vec![first, second]).summary(&rows);
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
    let summary = papers(vec![first]).summary(&rows);
    assert_eq!(summary.figures[0].by_our_law.checks, Share { met: 1, of: 1 });
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
    let summary = papers(vec![by_time, table, again]).summary(&[row("e", &made)]);
    let of = summary.figures.iter().map(|f| f.by_our_law.checks.of);
    assert_eq!(of.collect::<Vec<_>>(), [1, 2, 2]);
    assert_eq!(summary.figures[1].fails, "throughput 2");
    assert_eq!(summary.ours_at_fault_in_figures, 2, "each counts once");
    assert_eq!(summary.rivals, []);
}

#[test]
fn the_summary_ends_with_its_counts() {
    let rows = [row("e", &some(3, 1)), row("f", &some(2, 0))];
    let papers = papers(vec![figure("figure 1", &["e"]), figure("figure 2", &["f"])]);
    let summary = papers.summary(&rows);
    let counts = [
        "By the papers' schemes 1 of 2 figures and tables are reproduced, 1 come out qualitatively \
         and 0 do not; by our law 1, 1 and 0.",
        "6 checks, of which 5 are met: 6 compare packets with a paper (5 met), 0 packets with a \
         model (0 met), 0 packets with what we expect (0 met), 0 a model with a model (0 met). Not \
         met: 1 finding on the paper.",
    ];
    assert_eq!(summary.counts(), counts);
    let text = summary.text(Style::default());
    assert!(text.ends_with(&counts.join("\n")), "{text}");
    let line = |figure: &str| {
        let mut lines = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>());
        lines.find(|l| l.join(" ").contains(figure)).unwrap_or_default().join(" ")
    };
    assert_eq!(
        line("figure 1"),
        "P figure 1 a title qualitatively, 3 of 4 qualitatively, 3 of 4 throughput 1"
    );
    assert_eq!(line("figure 2"), "P figure 2 a title reproduced reproduced");
}
