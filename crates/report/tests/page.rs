//! The page: self-contained, safe with any text, of bounded size, with a note on
//! the parts that it leaves out.

use crate::support::{expectation, run, scenario};
use accord_record::Run;
use accord_report::{Check, Point, checks, page};
use accord_scenario::{Engine, Entity, Metric, QUANTILES, Recorded, Scenario, Target};
use serde_json::Value;

const MIB: usize = 1 << 20;

fn page_of(points: &[(Scenario, Vec<Run>)]) -> String {
    let checks: Vec<Vec<Check>> =
        points.iter().map(|(s, runs)| checks(s, &runs.iter().collect::<Vec<_>>())).collect();
    let points: Vec<Point> = points
        .iter()
        .zip(&checks)
        .map(|((scenario, runs), checks)| Point { scenario, runs, checks })
        .collect();
    page(&points)
}

fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

fn throughput(flows: usize, samples: usize) -> Run {
    let series = (0..flows).map(|f| {
        let values = (0..samples).map(|i| ((f * 31 + i * 17) % 97) as f64 * 1e4);
        (Metric::Throughput, Entity::Flow(f), values.collect())
    });
    run(Engine::Packet, 1, series.collect())
}

#[test]
fn a_scenario_without_a_title_has_its_name() {
    let mut s = scenario(&[("a", 1)], &["link"], 4);
    s.id = "mine".into();
    s.title = String::new();
    let page = page_of(&[(s, vec![throughput(1, 4)])]);
    for place in ["<h1>mine</h1>", "<title>mine</title>"] {
        assert!(page.contains(place), "{place}");
    }
}

#[test]
fn hostile_text_stays_text() {
    let evil = "</script><script>alert(1)</script><!--\u{2028}\"'&\x1b[2J";
    let long = "x".repeat(100_000);
    let mut s = scenario(&[(evil, 2), (&long, 1)], &[evil], 4);
    s.id = evil.into();
    s.title = format!("{evil}{long}");
    s.source = evil.into();
    s.notes = format!("{evil}{long}");
    s.point = vec![(evil.into(), evil.into())];
    s.expectations = vec![accord_scenario::Expectation {
        name: evil.into(),
        paper: evil.into(),
        ..expectation(Target::Range { min: 0.0, max: 1.0 })
    }];
    let mut r = throughput(3, 4);
    r.notes = vec![evil.into()];
    r.manifest.scenario_hash = evil.into();
    let mut other = s.clone();
    other.point[0].1.push('2');
    let page = page_of(&[(s, vec![r.clone()]), (other, vec![r])]);
    // The two scripts of the page, and no other.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<!--") && !page.contains('\x1b') && !page.contains('\u{2028}'));
    assert!(page.len() < MIB, "long texts are cut: {}", page.len());
    // The script sees the text itself.
    let group = data(&page)["points"][0]["panels"][0]["subjects"][0].clone();
    assert!(group.as_str().unwrap().starts_with("</script><script>alert(1)"));
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let page = page_of(&[(scenario(&[("g", 1)], &["b"], 4), vec![throughput(1, 4)])]);
    // References within the page load nothing.
    let page = page.replace("href=\"#", "").replace("url(#", "");
    for loading in ["src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(loading), "{loading}");
    }
}

#[test]
fn ten_thousand_flows_are_a_band_and_a_few_lines() {
    let s = scenario(&[("many", 10_000)], &["b"], 60);
    let page = page_of(&[(s, vec![throughput(10_000, 60)])]);
    assert!(page.len() < MIB);
    assert!(page.contains("Of the 10000 flows of many, 4 can be drawn one by one"));
    let lines = data(&page)["points"][0]["panels"][0]["lines"].clone();
    let lines = lines.as_array().unwrap();
    let flows: Vec<&str> = lines.iter().filter_map(|l| l["flow"].as_str()).collect();
    assert_eq!(flows, ["many.0", "many.3333", "many.6666", "many.9999"]);
}

#[test]
fn long_runs_and_large_sweeps_stay_small() {
    let s = scenario(&[("a", 9), ("b", 1)], &["b"], 100_000);
    let one = page_of(&[(s.clone(), vec![throughput(10, 100_000)])]);
    assert!(one.len() < 3 * MIB, "{}", one.len());
    assert!(one.contains("2000 of 100000 samples a line"));

    let point = |i: usize| {
        let mut s = s.clone();
        s.point = vec![("n".into(), i.to_string())];
        (s, vec![throughput(10, 1000)])
    };
    let points: Vec<_> = (0..400).map(point).collect();
    let many = page_of(&points);
    assert!(many.len() < 4 * MIB, "{}", many.len());
    assert!(many.contains("of 400 points have plots over time here"));
}

#[test]
fn empty_runs_and_missing_values() {
    let s = || scenario(&[("g", 2)], &["b"], 4);
    assert!(page_of(&[]).contains("No runs"));
    let empty = page_of(&[(s(), vec![]), (s(), vec![run(Engine::Packet, 1, vec![])])]);
    assert_eq!(data(&empty)["points"][1]["panels"], Value::Array(vec![]));
    let nan = vec![f64::NAN; 4];
    let series = vec![
        (Metric::Throughput, Entity::Flow(0), vec![f64::NAN, 1e6, f64::INFINITY, 3e6]),
        (Metric::Throughput, Entity::Flow(1), nan.clone()),
        (Metric::Rtt, Entity::Flow(0), nan),
    ];
    let page = page_of(&[(s(), vec![run(Engine::Packet, 1, series)])]);
    let panels = data(&page)["points"][0]["panels"].clone();
    assert_eq!(panels.as_array().unwrap().len(), 1, "a plot needs a value");
    let mut lines = panels[0]["lines"].as_array().unwrap().iter();
    let main = lines.find(|l| l["kind"] == "main").unwrap();
    assert_eq!(main["v"], serde_json::json!([null, 1, null, 3]));

    // An engine that has nothing to say of a group has no line of it, nor a place in the legend.
    let silent = vec![(Metric::Throughput, Entity::Flow(0), vec![f64::NAN; 4])];
    let spoken = vec![(Metric::Throughput, Entity::Flow(0), vec![1e6; 4])];
    let runs = vec![run(Engine::Theory, 1, silent), run(Engine::Packet, 1, spoken)];
    let panels = &data(&page_of(&[(s(), runs)]))["points"][0]["panels"];
    assert_eq!(panels[0]["lines"].as_array().unwrap().len(), 1);
}

#[test]
fn sweeps_lie_along_their_numbers() {
    let point = |controller: &str, rate: &str, seeds: u64| {
        let mut s = scenario(&[("g", 1)], &["b"], 4);
        s.point = vec![("controller".into(), controller.into()), ("reverse".into(), rate.into())];
        let runs = (1..=seeds).map(|seed| {
            let used = vec![0.1 * seed as f64; 4];
            run(Engine::Packet, seed, vec![(Metric::Utilisation, Entity::Link(0), used)])
        });
        (s, runs.collect::<Vec<_>>())
    };
    let page = page_of(&[
        point("vegas", "10 Mbps", 1),
        point("vegas", "5000 Kbps", 3),
        point("monaco", "10 Mbps", 1),
    ]);
    let sweep = &data(&page)["sweep"];
    assert_eq!((&sweep["name"], &sweep["unit"]), (&"reverse".into(), &"Mbps".into()));
    assert_eq!(sweep["x"], serde_json::json!([5, 10]));
    let quantity = &sweep["quantities"][sweep["first"][0].as_u64().unwrap() as usize];
    assert_eq!(quantity["label"], "utilisation of b");
    assert_eq!(quantity["lines"][0]["of"], "vegas");
    assert_eq!(quantity["lines"][0]["v"], serde_json::json!([20, 10]));
    // 4.302653 · 0.1 / √3 of the three repetitions, in per cent.
    assert_eq!(quantity["lines"][0]["h"], serde_json::json!([24.841, null]));
    assert_eq!(quantity["lines"][1]["v"], serde_json::json!([null, 10]));

    let mut numbers = [point("3", "1 Mbps", 1), point("3", "2 Mbps", 1)];
    numbers.iter_mut().for_each(|(s, _)| s.point[0].0 = "weight".into());
    let sweep = &data(&page_of(&numbers))["sweep"];
    let of = &sweep["quantities"][0]["lines"][0]["of"];
    assert_eq!(of, "weight 3", "a number needs its name");

    let words = page_of(&[
        point("vegas", "slow", 1),
        point("monaco", "fast", 1),
        point("vegas", "fast", 1),
    ]);
    let sweep = &data(&words)["sweep"];
    assert_eq!(sweep["ticks"], serde_json::json!(["vegas", "monaco"]));
}

/// Fails when the sources in `web/` have changed and `npm run build` was forgotten.
#[test]
fn the_bundle_is_that_of_the_sources() {
    let web = format!("{}/web", env!("CARGO_MANIFEST_DIR"));
    let mut scripts: Vec<_> = std::fs::read_dir(format!("{web}/src"))
        .unwrap()
        .map(|e| format!("src/{}", e.unwrap().file_name().to_str().unwrap()))
        .collect();
    scripts.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in ["package.json", "style.css"].map(String::from).iter().chain(&scripts) {
        for byte in std::fs::read(format!("{web}/{file}")).unwrap() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3); // FNV-1a
        }
    }
    let bundle = std::fs::read_to_string(format!("{web}/dist/page.js")).unwrap();
    let line = format!("/* sources {hash:016x} */\n");
    assert!(bundle.starts_with(&line), "run `npm run build` in crates/report/web");
}

/// A run in which one flow has `mbps` at all times.
fn steady(engine: Engine, mbps: f64) -> Run {
    let values = vec![mbps * 1e6; 4];
    run(engine, 1, vec![(Metric::Throughput, Entity::Flow(0), values)])
}

fn part<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = page.split_once(from).unwrap_or_else(|| panic!("{from}"));
    rest.split_once(to).unwrap_or_else(|| panic!("{to}")).0
}

/// The page begins with the engines' means, and says where they differ.
#[test]
fn means_stand_at_the_top() {
    let s = scenario(&[("g", 1)], &["b"], 4);
    let runs = vec![steady(Engine::Theory, 2.0), steady(Engine::Packet, 2.5)];
    let page = page_of(&[(s.clone(), runs)]);
    let means = part(&page, "<section id=\"means\"", "</section>");
    assert!(page.find("id=\"means\"") < page.find("id=\"plots\""));
    let row = part(means, "<td>throughput</td>", "</tr>");
    for cell in [">2.00 Mbps<", ">2.50 Mbps<", ">+25.0 %<", ">differs<"] {
        assert!(row.contains(cell), "{cell}: {row}");
    }
    assert!(means.contains("error: relative to theory"));
    // Each point of a sweep has its table, and many points do not fill the page.
    let point = |i: usize| {
        let mut s = s.clone();
        s.point = vec![("n".into(), i.to_string())];
        (s, vec![steady(Engine::Packet, 2.0)])
    };
    for (n, folded) in [(7, 0), (8, 2), (30, 18)] {
        let page = page_of(&(0..n).map(point).collect::<Vec<_>>());
        let means = part(&page, "<section id=\"means\"", "</section>");
        assert_eq!(means.matches("<table>").count(), n.min(24));
        assert_eq!(means.matches("<details").count(), means.matches("</details>").count());
        let more = means.contains(&format!("{folded} more points"));
        assert_eq!(more, folded > 0, "{n}");
        assert_eq!(means.contains("The first 24 of 30 points"), n == 30);
    }
    // One engine has nothing to be compared with.
    let alone = page_of(&[(s, vec![steady(Engine::Packet, 2.0)])]);
    let means = part(&alone, "<section id=\"means\"", "</section>");
    assert!(!means.contains("verdict") && means.contains("2.00 Mbps"));
}

/// The page begins with its figure: the plot that the scenario names, or throughput. Then comes the
/// verdict, and then the tables.
#[test]
fn the_figure_comes_before_the_verdict_and_the_tables() {
    let mut s = scenario(&[("g", 1)], &["b"], 4);
    s.expectations = vec![expectation(Target::Range { min: 0.0, max: 1e9 })];
    let series = vec![
        (Metric::Throughput, Entity::Flow(0), vec![1e6; 4]),
        (Metric::Rtt, Entity::Flow(0), vec![0.1; 4]),
    ];
    let runs = vec![run(Engine::Packet, 1, series)];
    for (figure, title) in [
        (None, "Throughput of a flow"),
        (Some(Metric::Rtt), "Round-trip time"),
        (Some(Metric::Price), "Throughput of a flow"),
    ] {
        s.figure = figure;
        let page = page_of(&[(s.clone(), runs.clone())]);
        let places = ["id=\"figure\"", "class=\"verdict ", "<table", "id=\"plots\""];
        let places = places.map(|place| page.find(place).expect(place));
        assert!(places.is_sorted(), "{places:?}");
        let data = data(&page);
        assert_eq!(data["points"][0]["panels"][0]["title"], title);
        let titles = data["points"][0]["panels"].as_array().map(Vec::len);
        assert_eq!(titles, Some(2), "no plot is there twice");
    }
}

/// Failures come first, folded by cause; met checks are folded if there are many.
#[test]
fn failing_expectations_come_first() {
    let mut s = scenario(&[("g", 1)], &["b"], 4);
    for i in 0..30 {
        let least = if i % 3 == 2 { 3e6 } else { 1e6 };
        s.expectations.push(accord_scenario::Expectation {
            name: format!("number {i}."),
            ..expectation(Target::Range { min: least, max: 1e9 })
        });
    }
    let all = page_of(&[(s.clone(), vec![steady(Engine::Packet, 2.0)])]);
    let checks = part(&all, "<section id=\"checks\"", "</section>");
    let (shown, folded) = checks.split_once("<details>").expect("much is folded");
    assert!(shown.contains("10 FAILED"), "{shown}");
    assert!(shown.contains("number 2.") && !shown.contains("number 0."));
    assert!(folded.contains("20 met"));
    assert_eq!(checks.matches("<td class=\"mark\"").count(), 30, "none is lost");
    // Two causes are folded apart from each other, each with its text once.
    let known = |because: &str| accord_scenario::KnownFailure {
        why: accord_scenario::Cause::Paper,
        because: because.into(),
        record: None,
    };
    let mut caused = s.clone();
    for (i, e) in caused.expectations.iter_mut().enumerate() {
        e.fails = Some(known(if i % 2 == 0 { "the <i>moon" } else { "the tide" }));
    }
    let all = page_of(&[(caused, vec![steady(Engine::Packet, 2.0)])]);
    let checks = part(&all, "<section id=\"checks\"", "</section>");
    assert_eq!(checks.matches("the &lt;i&gt;moon").count(), 1, "{checks}");
    assert_eq!(checks.matches("the tide").count(), 1);
    assert_eq!(checks.matches("5 findings on the paper").count(), 2);
    assert!(!checks.contains("<details open>"));
    s.expectations.truncate(3);
    let few = page_of(&[(s, vec![steady(Engine::Packet, 2.0)])]);
    let checks = part(&few, "<section id=\"checks\"", "</section>");
    assert!(checks.contains("<details open>") && checks.contains("2 met"));
    assert!(checks.find("number 2.") < checks.find("number 0."));
}

#[test]
fn one_is_not_many() {
    let s = scenario(&[("g", 1)], &["b"], 4);
    let page = page_of(&[(s, vec![steady(Engine::Packet, 2.0)])]);
    assert!(page.contains("1 flow in 1 group, 1 link that data crosses"));
    let s = scenario(&[("g", 2), ("h", 1)], &["b", "c"], 4);
    let page = page_of(&[(s, vec![steady(Engine::Packet, 2.0)])]);
    assert!(page.contains("3 flows in 2 groups, 2 links that data crosses"));
}

/// Two thousand phases make neither two thousand rows nor two thousand notes.
#[test]
fn many_phases_are_folded() {
    let point = |phases: usize| {
        let mut theory = steady(Engine::Theory, 2.0);
        theory.notes = (0..phases).map(|i| format!("phase {i} is so")).collect();
        theory.certificates = (0..phases)
            .map(|i| accord_record::Certificate {
                start: accord_units::Time::from_secs_f64(i as f64),
                end: accord_units::Time::from_secs_f64(i as f64 + 1.0),
                stationarity: 1e-9 * (i + 1) as f64,
                feasibility: 0.0,
                complementarity: 0.0,
                gap: 0.0,
            })
            .collect();
        (scenario(&[("g", 1)], &["b"], 4), vec![theory])
    };
    let page = page_of(&[point(2000)]);
    assert!(page.contains("2000 phases: ") && page.contains("stationarity 2e-6"));
    assert!(page.matches("<tr").count() < 20);
    let notes = part(&page, "<section id=\"notes\"", "</section>");
    let (shown, _) = notes.split_once("<details>").unwrap();
    assert_eq!(shown.matches("<li>").count(), 10);
    assert_eq!(notes.matches("<li>").count(), 210);
    assert!(notes.contains("1990 more notes") && notes.contains("and 1790 that"));
    let few = page_of(&[point(3)]);
    let rows = part(&few, "<table id=\"certificates\"", "</table>");
    assert_eq!(rows.matches("<tr>").count(), 4, "a head and three phases");
    assert!(!part(&few, "<section id=\"notes\"", "</section>").contains("<details"));
}

/// The script's ranges, ticks and tables, where there is node.
#[test]
fn ranges_of_the_script() {
    let web = format!("{}/web", env!("CARGO_MANIFEST_DIR"));
    let mut node = std::process::Command::new("node");
    let tests = node.args(["--test", "test/range.test.mjs"]).current_dir(web);
    let Ok(done) = tests.output() else {
        return; // No node; `page.js` is in the repository.
    };
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{text}");
    assert!(text.contains("pass 19"), "they are all run: {text}");
}

fn panel<'a>(data: &'a Value, title: &str) -> &'a Value {
    let panels = data["points"][0]["panels"].as_array().unwrap();
    let found = panels.iter().find(|p| p["title"] == title);
    found.unwrap_or_else(|| panic!("{title}"))
}

/// Samples of a packet or two are drawn as means over a time that the page says; figures are of
/// the samples, and fast lines stay as they are.
#[test]
fn teeth_of_single_packets_are_smoothed_and_said() {
    // 8 kbit packets: every second of 1000 samples of 1 s has one.
    let teeth: Vec<f64> = (0..1000).map(|i| 8e3 * f64::from(i % 2)).collect();
    let of = |factor: f64| {
        let values = teeth.iter().map(|v| v * factor).collect();
        let s = scenario(&[("g", 1)], &["b"], 1000);
        let series = vec![(Metric::Throughput, Entity::Flow(0), values)];
        data(&page_of(&[(s, vec![run(Engine::Packet, 1, series)])]))
    };
    let slow = of(1.0);
    let slow = panel(&slow, "Throughput of a flow");
    // At most a hundredth of the run, and an odd number of samples.
    assert_eq!(slow["smooth"], 9.0);
    let figures = &slow["lines"][0]["f"];
    assert_eq!(figures, &serde_json::json!([0, 4, 4, 8, 8, 8]));
    let line = slow["lines"][0]["v"].as_array().unwrap();
    let values: Vec<f64> = line.iter().filter_map(Value::as_f64).collect();
    assert!(values[4..996].iter().all(|v| (v - 4.0).abs() < 0.5));
    let fast = of(100.0);
    let fast = panel(&fast, "Throughput of a flow");
    assert_eq!(fast["smooth"], Value::Null);
    assert_eq!(fast["lines"][0]["v"][1], 800);
}

#[test]
fn shares_say_what_all_is_and_fairness_shows_unasked() {
    let s = scenario(&[("g", 2)], &["b"], 4);
    let series = vec![
        (Metric::Utilisation, Entity::Link(0), vec![0.9; 4]),
        (Metric::FairnessIndex, Entity::Group(0), vec![0.7; 4]),
        (Metric::Throughput, Entity::Flow(0), vec![1e6; 4]),
    ];
    let data = data(&page_of(&[(s, vec![run(Engine::Packet, 1, series)])]));
    let used = panel(&data, "Utilisation");
    assert_eq!((&used["most"], &used["kind"]), (&100.0.into(), &"link".into()));
    let fair = panel(&data, "Fairness within a group");
    assert_eq!(fair["most"], 100.0);
    // The same name as in the other plots, so it has the same colour.
    let rates = panel(&data, "Throughput of a flow");
    assert_eq!(fair["subjects"], rates["subjects"]);
    assert_eq!(rates["most"], Value::Null);
}

/// Samples in which most flows get no packet are said to be short.
#[test]
fn a_page_says_that_samples_are_too_short_for_rates_of_flows() {
    for (medians, said) in [([0.0, 0.0, 0.0, 3e6], true), ([0.0, 3e6, 3e6, 3e6], false)] {
        let mut s = scenario(&[("crowd", 2000)], &["b"], 4);
        s.groups[0].recorded = Recorded::Group;
        let median = Entity::Quantile { group: 0, percent: 50 };
        let series = vec![
            (Metric::Throughput, Entity::Group(0), vec![1e9; 4]),
            (Metric::Throughput, median, medians.to_vec()),
        ];
        let html = page_of(&[(s, vec![run(Engine::Packet, 1, series)])]);
        let hint = "a longer <code>sample</code> shows rates";
        let plain = "a longer `sample` shows rates";
        assert_eq!(html.contains(hint) || html.contains(plain), said);
    }
}

/// A group that is recorded as one shows the median of its flows with two bands, and not their sum.
#[test]
fn a_group_recorded_as_one_has_bands() {
    let mut s = scenario(&[("crowd", 2000)], &["b"], 4);
    s.groups[0].recorded = Recorded::Group;
    let quantile = |percent| {
        let entity = Entity::Quantile { group: 0, percent };
        let rate = f64::from(percent) * 1e6;
        (Metric::Throughput, entity, vec![rate; 4])
    };
    let mut series = vec![(Metric::Throughput, Entity::Group(0), vec![1e11; 4])];
    series.extend(QUANTILES.map(quantile));
    let runs = vec![run(Engine::Theory, 1, series.clone()), run(Engine::Packet, 1, series)];
    let data = data(&page_of(&[(s, runs)]));
    let rates = panel(&data, "Throughput of a flow");
    let lines = rates["lines"].as_array().unwrap();
    let shown: Vec<(u64, &str, &Value)> = (lines.iter())
        .map(|l| (l["engine"].as_u64().unwrap(), l["kind"].as_str().unwrap(), &l["v"]["v"][0]))
        .collect();
    let packet = [("p5", 5), ("p25", 25), ("main", 50), ("p75", 75), ("p95", 95)];
    assert_eq!(shown[0], (0, "main", &50.into()));
    for (line, (kind, value)) in shown[1..].iter().zip(packet) {
        assert_eq!(*line, (1, kind, &value.into()));
    }
    assert_eq!((shown.len(), &rates["unit"]), (6, &"Mbps".into()));
    assert!(rates["about"].as_str().unwrap().contains("the median of its flows"));
}

/// Distributions are those of the steady part, of all flows, and of transfers that ended in it.
#[test]
fn distributions_are_of_the_steady_part() {
    let s = scenario(&[("g", 2)], &["b"], 100);
    let delay = |one: f64| (0..100).map(|i| if i < 2 { 9.0 } else { one }).collect();
    let series = vec![
        (Metric::Rtt, Entity::Flow(0), delay(0.1)),
        (Metric::Rtt, Entity::Flow(1), delay(0.3)),
        (Metric::BacklogPackets, Entity::Link(0), vec![5.0; 100]),
    ];
    let mut packet = run(Engine::Packet, 1, series);
    let transfer = |end: f64, duration: f64| accord_record::Transfer {
        group: 0,
        flow: 0,
        start: end - duration,
        size: accord_units::Bytes::new(1000),
        duration,
    };
    packet.transfers = vec![
        transfer(1.9, 1.0),
        transfer(50.0, 2.0),
        transfer(60.0, 4.0),
        transfer(70.0, f64::NAN),
    ];
    let data = data(&page_of(&[(s, vec![packet])]));
    let spreads = data["points"][0]["spreads"].as_array().unwrap();
    let titles: Vec<&str> = spreads.iter().filter_map(|s| s["title"].as_str()).collect();
    assert_eq!(titles, ["Round-trip time", "Completion time"], "a constant has none");
    let rtt = &spreads[0]["lines"][0];
    assert_eq!(
        (&spreads[0]["unit"], &rtt["n"], &rtt["mean"]),
        (&"ms".into(), &196.into(), &200.into())
    );
    let quantiles = serde_json::to_string(&rtt["q"]).unwrap();
    assert_eq!(quantiles, r#"{"n":[50,1,50],"v":[100,200,300]}"#);
    let done = &spreads[1]["lines"][0];
    assert_eq!((&done["n"], &done["mean"]), (&2.into(), &3.into()));
    assert_eq!(done["q"][50], 3);
}
