//! The packet engine against values from ns-2. The cases, ns-2's figures for them and the figures
//! that are known to differ are in `tools/ns2`; the table of `docs/src/validation.md` has the
//! latter.

use accord_family::Catalogue;
use accord_language::File;
use accord_record::{Quiet, Run, fairness_index};
use accord_scenario::{Entity, Metric, Scenario};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };

/// Seeds of each case, from 1 up.
const SEEDS: u64 = 5;

/// The bound of the difference of two means, in standard errors of the difference.
const ERRORS: f64 = 4.0;

/// The largest error due to counting whole packets at the ends of the window and sampling the
/// queue.
const RESOLUTION: f64 = 0.002;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The mean of several runs, their standard deviation and their number.
#[derive(Clone, Copy)]
struct Sample {
    mean: f64,
    sd: f64,
    n: f64,
}

impl Sample {
    fn of(values: &[f64]) -> Sample {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let sd = (squares / (n - 1.0).max(1.0)).sqrt();
        Sample { mean, sd, n }
    }

    /// Variance of the mean.
    fn variance(&self) -> f64 {
        self.sd * self.sd / self.n
    }
}

/// The runs of a scenario file with the seeds from 1 up.
fn runs(path: &str) -> Vec<(Scenario, Run)> {
    let file = File::open(&root().join(path)).unwrap_or_else(|e| panic!("{e}"));
    let run = |seed| {
        let points = file.points(&CATALOGUE, Some(seed));
        let mut points = points.unwrap_or_else(|e| panic!("{e}"));
        let scenario = points.remove(0);
        let run = accord_sim::run(&scenario, &mut Quiet).expect("the observer does not stop it");
        (scenario, run)
    };
    (1..=SEEDS).map(run).collect()
}

/// A figure of a run by ns-2's name for it, such as "goodput.forward": Mbit/s for a flow of the
/// group, packets, drops a second, or a ratio, over the steady part.
fn figure(scenario: &Scenario, run: &Run, name: &str) -> f64 {
    let (what, whose) = name.split_once('.').expect("a figure of somebody");
    let window = scenario.steady;
    let rates = || -> Vec<f64> {
        let group = scenario.groups.iter().find(|g| g.name == whose);
        let flows = group.expect("a group of the case").flows.clone();
        let rate = |f| run.mean(Metric::Goodput, Entity::Flow(f), window);
        flows.map(|f| rate(f).expect("recorded") / 1e6).collect()
    };
    let link = |metric| {
        let back = if whose == "back" { ".reverse" } else { "" };
        let names = ["bottleneck", "hop1"].map(|name| format!("{name}{back}"));
        let link = scenario.links.iter().position(|l| names.contains(&l.name));
        let link = Entity::Link(link.expect("a link of the case"));
        run.mean(metric, link, window).expect("recorded")
    };
    match what {
        "goodput" => Sample::of(&rates()).mean,
        "fairness" => fairness_index(rates().into_iter().map(|r| (r, 1.0))),
        // In these cases ns-2 also counts the packet in service, which is there while the link is busy.
        "queue" => link(Metric::BacklogPackets) + link(Metric::Utilisation),
        "utilisation" => link(Metric::Utilisation),
        "drops" => {
            let seconds = window.end.as_secs_f64() - window.start.as_secs_f64();
            link(Metric::Drops) / seconds
        }
        _ => panic!("{name}: no such figure"),
    }
}

/// ns-2's figures: by case and name, in the order of the file.
fn references() -> Vec<(String, Vec<(String, Sample)>)> {
    let mut cases: Vec<(String, Vec<(String, Sample)>)> = Vec::new();
    let csv = text("tools/ns2/figures.csv");
    for line in csv.lines().filter(|l| !l.starts_with('#')).skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let [case, figure, mean, sd, n] = fields[..] else {
            panic!("figures.csv: {line}");
        };
        let [mean, sd, n] = [mean, sd, n].map(|v| v.parse().expect("a number"));
        if cases.last().is_none_or(|(name, _)| name != case) {
            cases.push((case.into(), Vec::new()));
        }
        let last = cases.last_mut().expect("just made");
        last.1.push((figure.into(), Sample { mean, sd, n }));
    }
    cases
}

/// The values that are known to differ by more than seeds explain, by case and name, with the
/// reasons.
fn open() -> BTreeMap<(String, String), String> {
    let csv = text("tools/ns2/open.csv");
    let line = |line: &str| {
        let fields: Vec<_> = line.splitn(3, ',').collect();
        let [case, figure, why] = fields[..] else {
            panic!("open.csv: {line}");
        };
        ((case.into(), figure.into()), why.into())
    };
    csv.lines().skip(1).map(line).collect()
}

/// Four digits.
fn short(value: f64) -> String {
    let digits = 3 - value.abs().max(1e-3).log10().floor() as i32;
    format!("{value:.*}", digits.clamp(0, 4) as usize)
}

/// Prints all figures. The page has those that differ; UPDATE_DOCS=1 writes it, with the same bounds.
#[test]
fn packets_are_as_in_ns2() {
    let open = open();
    let mut table = String::from(
        "| case | figure | ns-2 | Accord | deviation | allowed | |\n|---|---|---|---|---|---|---|\n",
    );
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (case, figures) in references() {
        let runs = runs(&format!("tools/ns2/cases/{case}.toml"));
        for (name, theirs) in figures {
            let values: Vec<_> = runs.iter().map(|(s, r)| figure(s, r, &name)).collect();
            let ours = Sample::of(&values);
            let spread = ERRORS * (ours.variance() + theirs.variance()).sqrt();
            let allowed = spread + RESOLUTION * theirs.mean;
            let deviation = ours.mean - theirs.mean;
            let why = open.get(&(case.clone(), name.clone()));
            seen += usize::from(why.is_some());
            let agrees = deviation.abs() <= allowed;
            let row = format!(
                "{case} | {name} | {} ± {} | {} ± {} | {} | {}",
                short(theirs.mean),
                short(theirs.sd),
                short(ours.mean),
                short(ours.sd),
                short(deviation),
                short(allowed),
            );
            match (agrees, why.is_some()) {
                (false, false) => wrong.push(format!("differs: {row}")),
                (true, true) => wrong.push(format!("agrees, so strike it from open.csv: {row}")),
                _ => {}
            }
            println!("{row}");
            if let Some(why) = why {
                writeln!(table, "| {row} | {why} |").expect("a string takes all");
            }
        }
    }
    assert_eq!(seen, open.len(), "open.csv names figures that there are not");
    let wrong = wrong.join("\n");
    let page = page(&table);
    assert!(wrong.is_empty(), "{wrong}\n{page}");
    assert!(page.is_empty(), "{page}");
}

/// A test by file and function, as the page names it: "crates/sim/tests/links.rs::name".
#[test]
fn the_tests_that_the_page_names_exist() {
    let page = text("docs/src/validation.md");
    let named: Vec<_> = page
        .split('`')
        .filter(|quoted| {
            ["crates/", "integrations/", "gateway/"].iter().any(|p| quoted.starts_with(p))
        })
        .filter_map(|quoted| quoted.split_once("::"))
        .collect();
    assert!(named.len() > 20, "the page names {} tests", named.len());
    for (file, function) in named {
        let test = format!("#[test]\nfn {function}(");
        // Tests of a module are indented.
        let lines = text(file).replace("\n    ", "\n");
        assert!(lines.contains(&test), "{file} has no test {function}");
    }
}

/// Compares the page's table with this one, or writes it there. Returns the differences.
fn page(table: &str) -> &'static str {
    const BEGIN: &str = "<!-- ns-2 -->";
    const END: &str = "<!-- end of ns-2 -->";
    let old = text("docs/src/validation.md");
    let (head, rest) = old.split_once(BEGIN).expect("the page has a place for it");
    let (_, tail) = rest.split_once(END).expect("the place has an end");
    let new = format!("{head}{BEGIN}\n\n{table}\n{END}{tail}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(root().join("docs/src/validation.md"), new).expect("writable");
    } else if old != new {
        return "docs/src/validation.md is out of date; \
                UPDATE_DOCS=1 cargo test -p accord-sim --test all validation";
    }
    ""
}
