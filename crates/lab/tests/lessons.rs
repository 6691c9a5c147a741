//! The figures in the texts of lessons are those of their runs, and exercises accept right answers only.

use accord::record::Quiet;
use accord::report::checks;
use accord::scenario::{Entity, Metric, Scenario};
use accord::{Engine, File, Options, Run, run};
use accord_lab::{Exercise, LESSONS, Lesson};

/// The units of figures in texts.
const UNITS: [&str; 7] = ["Mbps", "KB", "%", "BDP", "ms", "s", "B"];

fn text(id: &str) -> &'static str {
    LESSONS.iter().find(|(name, _)| *name == id).expect(id).1
}

fn file(id: &str) -> File {
    File::parse(&format!("{id}.toml"), text(id)).expect("it is TOML")
}

fn points(file: &File) -> Vec<Scenario> {
    let points = file.points(&accord::catalogue(), None);
    points.unwrap_or_else(|e| panic!("{e}"))
}

fn made(scenario: &Scenario, engine: Engine) -> Run {
    let made = run(scenario, engine, &Options::default(), &mut Quiet);
    made.unwrap_or_else(|e| panic!("{}: {e}", scenario.id))
}

/// Returns the mean of a metric of a flow or link of that name, over the steady part.
fn mean(scenario: &Scenario, run: &Run, metric: Metric, name: &str) -> f64 {
    let flow = scenario.flows.iter().position(|f| f.name == name);
    let link = scenario.links.iter().position(|l| l.name == name);
    let entity = flow.map(Entity::Flow).or(link.map(Entity::Link));
    let mean = run.mean(metric, entity.expect(name), scenario.steady);
    mean.expect("it was recorded")
}

/// Returns the figures in a text: numbers followed by a unit.
fn figures(text: &str) -> Vec<(f64, &str)> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "\"#`(),:;".contains(c))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let pairs = words.windows(2);
    pairs
        .filter_map(|pair| {
            let number = pair[0].parse().ok()?;
            UNITS.contains(&pair[1]).then_some((number, pair[1]))
        })
        .collect()
}

/// Returns the findings of a lesson, the changes to try, and its TOML.
fn parts(id: &str) -> [&'static str; 3] {
    let lesson = Lesson::of(id).expect("it has texts");
    [&lesson.look, &lesson.tries, text(id)]
}

#[test]
fn each_lesson_asks_first_and_has_no_text_in_its_scenario() {
    for (i, (id, text)) in LESSONS.iter().enumerate() {
        let shown = serde_json::to_value(Lesson::shown(id).expect("it has texts")).expect("plain");
        assert_eq!(
            (shown["number"].as_u64(), shown["of"].as_u64()),
            (Some(i as u64 + 1), Some(12))
        );
        assert!(shown["question"].as_str().is_some_and(|q| q.ends_with('?')), "{id}");
        assert!(shown["guess"]["ask"].as_str().is_some_and(|q| q.ends_with('?')), "{id}");
        // The page of a lesson does not have what would judge a guess.
        assert!(!shown.to_string().contains("at_least"), "{id}");
        assert!(text.starts_with("title = \"Lesson "), "{id}");
        assert!(!text.contains('#'), "{id}");
        let lesson = Lesson::of(id).expect("it has texts");
        for part in [&lesson.about, &lesson.why, &lesson.look, &lesson.tries] {
            assert!(part.len() > 40 && part.matches('`').count() % 2 == 0, "{id}: {part}");
        }
    }
    assert!(Lesson::of("xia05-fig6").is_none());
}

/// The number that is the answer to a lesson's guess, or the index of the right choice.
const ANSWERS: [(&str, f64); 12] = [
    ("01-aimd", 5.0),
    ("02-vegas", 6.0),
    ("03-parking-lot", 3.0),
    ("04-base-rtt", 1.0),
    ("05-persistent-congestion", 420.0),
    ("06-rem", 2.0),
    ("07-avq", 2.0),
    ("08-buffers", 78.0),
    ("09-rtt-fairness", 8.1),
    ("10-contracts", 16.7),
    ("11-stability", 1.0),
    ("12-clcc", 2.6),
];

#[test]
fn right_guesses_are_right_and_no_others() {
    let catalogue = accord::catalogue();
    for ((id, answer), (lesson, _)) in ANSWERS.iter().zip(LESSONS) {
        assert_eq!(id, lesson);
        let texts = Lesson::of(id).expect("it has texts");
        let judge = |guess| texts.judge(id, guess, &catalogue);
        let others: Vec<f64> = match texts.guess.choices.len() {
            0 => vec![0.5 * answer, 1.6 * answer],
            n => (0..n).map(|i| i as f64).filter(|i| i != answer).collect(),
        };
        let judged = judge(*answer).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert!(judged.right, "{id}: {judged:?}");
        assert!(!judged.rows.is_empty(), "{id}");
        for other in others {
            let judged = judge(other).unwrap_or_else(|e| panic!("{id}: {e}"));
            assert!(!judged.right && judged.message.len() > 10, "{id}: {other}: {judged:?}");
        }
    }
}

#[test]
fn what_is_no_guess_is_refused_with_a_sentence() {
    let catalogue = accord::catalogue();
    let judge = |id: &str, guess| Lesson::of(id).expect(id).judge(id, guess, &catalogue);
    for guess in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        let refused = judge("10-contracts", guess).expect_err("not a guess");
        assert_eq!(refused, "a guess is a number above zero and below 1e9", "{guess}");
    }
    for guess in [-1.0, 0.5, 3.0, f64::NAN] {
        let refused = judge("04-base-rtt", guess).expect_err("not a choice");
        assert_eq!(refused, "this is not one of the choices");
    }
}

/// The page shows these expectations with each run.
#[test]
fn each_lesson_shows_the_figures_that_it_expects() {
    for (id, _) in LESSONS {
        let points = points(&file(id));
        let judged: usize = points
            .iter()
            .map(|scenario| {
                let mut engines: Vec<Engine> =
                    scenario.expectations.iter().map(|e| e.engine).collect();
                engines.sort();
                engines.dedup();
                let runs: Vec<Run> = engines.iter().map(|e| made(scenario, *e)).collect();
                let all = checks(scenario, &runs.iter().collect::<Vec<_>>());
                for check in &all {
                    let figure = check.value(check.engine);
                    assert!(check.pass, "{id}: {}: {figure:?}", check.name);
                }
                all.len()
            })
            .sum();
        assert!(judged > 0, "{id}");
    }
}

#[test]
fn the_figures_to_look_at_are_those_that_are_expected() {
    for (id, _) in LESSONS {
        let [look, _, toml] = parts(id);
        let found = figures(look);
        assert!(!found.is_empty(), "{id}");
        for (number, unit) in found {
            let known = figures(toml).contains(&(number, unit));
            // Ratios have no unit there.
            let ratio = unit == "%" && toml.contains(&format!("= {}", number / 100.0));
            assert!(known || ratio, "{id}: {number} {unit}");
        }
    }
}

/// A change that a lesson suggests, and the figure that its text gives for it.
struct Tried {
    id: &'static str,
    /// The paths and values. The text has the values.
    set: &'static [(&'static str, &'static str)],
    /// The number of the sweep's point, from 0.
    point: usize,
    engine: Engine,
    metric: Metric,
    of: &'static str,
    figure: (f64, &'static str),
}

const fn tried(
    id: &'static str,
    set: &'static [(&'static str, &'static str)],
    point: usize,
    (engine, metric, of): (Engine, Metric, &'static str),
    figure: (f64, &'static str),
) -> Tried {
    Tried { id, set, point, engine, metric, of, figure }
}

const TRIED: &[Tried] = &[
    tried(
        "01-aimd",
        &[("topology.dumbbell.queue.limit", "20 pkt")],
        0,
        (Engine::Packet, Metric::Utilisation, "bottleneck"),
        (91.0, "%"),
    ),
    tried(
        "02-vegas",
        &[("flow.a.controller.alpha", "6 pkt"), ("flow.a.controller.beta", "6 pkt")],
        0,
        (Engine::Theory, Metric::Throughput, "a"),
        (6.67, "Mbps"),
    ),
    tried(
        "04-base-rtt",
        &[("flow.early.controller.base_rtt", "known"), ("flow.late.controller.base_rtt", "known")],
        0,
        (Engine::Theory, Metric::Throughput, "late"),
        (5.0, "Mbps"),
    ),
    tried(
        "05-persistent-congestion",
        &[("flow.host.controller.base_rtt", "known")],
        0,
        (Engine::Packet, Metric::Backlog, "bottleneck"),
        (102.0, "KB"),
    ),
    tried(
        "06-rem",
        &[("topology.dumbbell.queue.gain", "0.05")],
        0,
        (Engine::Packet, Metric::Utilisation, "bottleneck"),
        (85.0, "%"),
    ),
    tried(
        "07-avq",
        &[
            ("topology.dumbbell.queue.discipline", "droptail"),
            ("topology.dumbbell.queue.limit", "unlimited"),
        ],
        0,
        (Engine::Packet, Metric::Backlog, "bottleneck"),
        (9.5, "KB"),
    ),
    tried(
        "07-avq",
        &[
            ("topology.dumbbell.queue.discipline", "droptail"),
            ("topology.dumbbell.queue.limit", "unlimited"),
        ],
        0,
        (Engine::Packet, Metric::Throughput, "tunnel.1"),
        (10.0, "Mbps"),
    ),
    tried(
        "08-buffers",
        &[("flow.bulk.count", "10")],
        0,
        (Engine::Packet, Metric::Utilisation, "bottleneck"),
        (88.0, "%"),
    ),
    tried(
        "08-buffers",
        &[("flow.bulk.controller", "vegas")],
        0,
        (Engine::Packet, Metric::Utilisation, "bottleneck"),
        (100.0, "%"),
    ),
    tried(
        "09-rtt-fairness",
        &[("flow.far.access.delay", "100 ms")],
        0,
        (Engine::Packet, Metric::Throughput, "far"),
        (0.53, "Mbps"),
    ),
    tried(
        "09-rtt-fairness",
        &[("sweep.controller.values.cubic", "cubic")],
        2,
        (Engine::Packet, Metric::Throughput, "near"),
        (7.0, "Mbps"),
    ),
    tried(
        "10-contracts",
        &[("flow.gold.service.contract", "25 Mbps")],
        0,
        (Engine::Theory, Metric::Throughput, "gold"),
        (26.7, "Mbps"),
    ),
    tried(
        "12-clcc",
        &[("topology.dumbbell.queue", "{ discipline = \"droptail\", limit = \"100 KB\" }")],
        0,
        (Engine::Packet, Metric::Throughput, "blast"),
        (10.0, "Mbps"),
    ),
];

/// Expectations do not hold after a change. A sweep's value without one is not an error here, so they
/// are left out.
fn changed(id: &str, set: &[(&str, &str)]) -> Vec<Scenario> {
    let toml = text(id);
    let toml = toml.split("\n[[expect]]").next().expect("a first part");
    let mut file = File::parse(&format!("{id}.toml"), toml).expect("it is TOML");
    for (path, value) in set {
        file.set(path, value).unwrap_or_else(|e| panic!("{e}"));
    }
    points(&file)
}

#[test]
fn suggested_changes_have_the_figures_of_the_text() {
    let scale = |unit| match unit {
        "Mbps" => 1e6,
        "KB" => 1e3,
        "%" => 0.01,
        _ => panic!("{unit}"),
    };
    for t in TRIED {
        let [_, tried, _] = parts(t.id);
        for (_, value) in t.set {
            assert!(tried.contains(value), "{}: {value}", t.id);
        }
        assert!(figures(tried).contains(&t.figure), "{}: {:?}", t.id, t.figure);
        let scenario = &changed(t.id, t.set)[t.point];
        let found = mean(scenario, &made(scenario, t.engine), t.metric, t.of);
        let wanted = t.figure.0 * scale(t.figure.1);
        let error = found / wanted - 1.0;
        assert!(error.abs() < 0.03, "{}: {found} for {wanted}", t.id);
    }
}

/// Each figure behind a suggestion is in the list above, or is a setting.
#[test]
fn suggestions_have_no_other_figures() {
    for (id, _) in LESSONS {
        let [_, tried, _] = parts(id);
        for figure in figures(tried) {
            let listed = TRIED.iter().any(|t| t.id == *id && t.figure == figure);
            let (number, unit) = figure;
            let setting = format!("\"{number} {unit}\"");
            let cause = [("05-persistent-congestion", (20.0, "KB")), ("08-buffers", (0.1, "BDP"))];
            let said = cause.contains(&(*id, figure));
            assert!(listed || said || tried.contains(&setting), "{id}: {figure:?}");
        }
    }
}

/// With five bottlenecks, as the lesson suggests, the long flow gets a sixth.
#[test]
fn the_lesson_of_the_parking_lot_goes_on_with_five() {
    let [_, tried, _] = parts("03-parking-lot");
    for part in ["bottlenecks = 5", "to = \"r5\" for `long`"] {
        assert!(tried.contains(part), "{part}");
    }
    let set = [("topology.parking_lot.bottlenecks", "5"), ("flow.long.to", "r5")];
    let scenario = &changed("03-parking-lot", &set)[0];
    let theory = made(scenario, Engine::Theory);
    let rate = mean(scenario, &theory, Metric::Throughput, "long");
    assert!((rate - 2e6).abs() < 1e3, "{rate}");
}

#[test]
fn bat_alone_takes_limits_in_place_of_shares() {
    let aggregates = "aggregates = { bulk = { max = \"7 Mbps\" }, blast = { max = \"3 Mbps\" } }";
    let [_, tried, _] = parts("12-clcc");
    assert!(tried.contains(aggregates) && tried.contains("discipline = \"bat\""));
    let queue = format!("{{ discipline = \"bat\", limit = \"100 KB\", {aggregates} }}");
    let points = changed("12-clcc", &[("topology.dumbbell.queue", &queue)]);
    assert_eq!(points.len(), 1);
}

#[test]
fn contracts_beyond_the_link_have_a_note() {
    let contract = ("flow.gold.service.contract", "20 Mbps");
    let service = ("flow.best.service", "{ contract = \"20 Mbps\" }");
    let scenario = &changed("10-contracts", &[contract, service])[0];
    let theory = run(scenario, Engine::Theory, &Options::default(), &mut Quiet);
    let said = match theory {
        Ok(run) => run.notes.join("\n"),
        Err(e) => e.to_string(),
    };
    assert!(said.contains("add up to 60 Mbps of 30 Mbps"), "{said}");
}

#[test]
fn a_late_flow_takes_a_queue_for_propagation_delay() {
    let scenario = &points(&file("04-base-rtt"))[0];
    let run = made(scenario, Engine::Packet);
    let of = |flow| mean(scenario, &run, Metric::MinRtt, flow);
    assert!(of("late") > 1.1 * of("early"));
}

/// Returns the right answer to a lesson's exercise by hand, from the figures of the question.
fn by_hand(id: &str, question: &str) -> f64 {
    let found: Vec<f64> = figures(question).iter().map(|(number, _)| *number).collect();
    // The propagation delay of lessons 5 and 6, in ms.
    let round_trip = 10.0;
    match (id, &found[..]) {
        // Of 3 and α packets, α / (3 + α) are those of the flow.
        ("02-vegas", [rate, target]) => 3.0 * target / (rate - target),
        // n queues hold 3 packets of others each, and share out α.
        ("03-parking-lot", [rate, target]) => {
            let words = question.split_whitespace();
            let n: f64 = words.filter_map(|word| word.parse().ok()).next().expect("a number");
            3.0 * n * target / (rate - target)
        }
        // 5 flows · MB/s · ms = KB.
        ("05-persistent-congestion", [target]) => target / (5.0 * round_trip),
        // Each flow has a fifth of 48 Mbps = 6 MB/s.
        ("06-rem", [price]) => price * 6.0 / 5.0 / round_trip,
        ("10-contracts", [rate, target]) => (3.0 * target - rate) / 2.0,
        _ => panic!("{id}: {question}"),
    }
}

#[test]
fn exercises_accept_right_answers_and_no_others() {
    let catalogue = accord::catalogue();
    for id in Exercise::lessons() {
        let exercise = Exercise::of(id).expect("it is listed");
        let mut questions = Vec::new();
        for seed in 0..40 {
            let seed = format!("student {seed}");
            let question = exercise.task(&seed).question;
            if questions.contains(&question) {
                continue;
            }
            let answer = by_hand(id, &question);
            let grade = |answer| {
                let graded = exercise.grade(id, &seed, answer, &catalogue);
                graded.unwrap_or_else(|e| panic!("{id}: {e}")).0
            };
            assert!(grade(answer), "{id}: {question} {answer}");
            for wrong in [0.8 * answer, 1.25 * answer] {
                assert!(!grade(wrong), "{id}: {question} {wrong}");
            }
            questions.push(question);
        }
        assert!(questions.len() > 4, "{id}: cases are drawn by the seed");
        assert!(questions.iter().all(|q| !q.contains(['{', '}'])), "{id}");
    }
}

#[test]
fn a_seed_gives_the_same_case_again() {
    let exercise = Exercise::of("02-vegas").expect("it has one");
    let question = |seed| exercise.task(seed).question;
    assert_eq!(question("Ada"), question(" ada "));
    let seeds = ["Ada", "Grace", "Radia", "Sally", "Barbara"];
    assert!(seeds.iter().any(|seed| question(seed) != question("Ada")));
}
