//! The recorded results of experiments: the digest of each packet run, and the figures.
//!
//! The results are a text with a block per experiment and point of its sweep. So a difference
//! between two versions can be read line by line:
//!
//! ```text
//! xia05-fig4 | reverse = 5 Mbps
//!   digest | seed 1 | 5d0c1b0e6ac0f7a2
//!   met | packet | 9.14200e-1 | utilisation of the forward link
//! ```

use crate::class::Class;
use crate::json::Point;
use crate::show;
use crate::verdict::{Judged, Kind};
use accord_scenario::{Engine, Expectation, Scenario};
use accord_units::Words as _;
use std::fmt::Write;

/// The relative difference up to which figures of models count as the same. Models iterate to a
/// tolerance, on machines whose last bits may differ. Figures of packets are the same to the digit.
const SAME: f64 = 1e-3;

/// The longest name or label, in characters. None has a line's end.
const LONGEST: usize = 200;

/// The results of some experiments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    points: Vec<PointResults>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PointResults {
    /// The experiment.
    id: String,
    /// The point of its sweep, or "".
    label: String,
    /// The digest of the packet run of each seed, such as "seed 1".
    digests: Vec<(String, String)>,
    figures: Vec<Figure>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Figure {
    class: Class,
    engine: Engine,
    /// The figure in the metric's unit, or "-" if there is none.
    measured: String,
    name: String,
}

impl Results {
    /// Adds the experiment `id`. Live runs are left out, because no two of them are the same.
    pub fn add(&mut self, id: &str, points: &[Point]) {
        for point in points {
            let runs = point.runs.iter().map(|run| &run.manifest);
            let packets = runs.filter(|m| m.engine == Engine::Packet);
            let checks = point.checks.iter().filter(|c| c.engine != Engine::Live);
            self.points.push(PointResults {
                id: id.to_string(),
                label: show::clean(&point.label(), LONGEST),
                digests: packets.map(|m| (format!("seed {}", m.seed), m.digest.clone())).collect(),
                figures: checks
                    .map(|c| Figure {
                        class: c.class,
                        engine: c.engine,
                        measured: c.measured().map_or("-".into(), |v| format!("{:.5e}", v.mean)),
                        name: show::clean(&c.name, LONGEST),
                    })
                    .collect(),
            });
        }
    }

    /// Adds other experiments behind these.
    pub fn extend(&mut self, more: Results) {
        self.points.extend(more.points);
    }

    /// Returns these results, with the experiments of `now` in the place of their own.
    pub fn with(mut self, now: &Results) -> Results {
        let again = |p: &PointResults| now.points.iter().any(|n| n.id == p.id);
        let first = self.points.iter().position(again);
        self.points.retain(|p| !again(p));
        let at = first.unwrap_or(self.points.len()).min(self.points.len());
        self.points.splice(at..at, now.points.iter().cloned());
        self
    }

    /// Returns a text that [`Results::parse`] reads. `command` is the command that writes it.
    pub fn print(&self, command: &str) -> String {
        let mut out =
            format!("# Digests of all packet runs, and their figures. Written by\n# {command}\n");
        for point in &self.points {
            _ = writeln!(out, "{} | {}", point.id, point.label);
            for (seed, digest) in &point.digests {
                _ = writeln!(out, "  digest | {seed} | {digest}");
            }
            for f in &point.figures {
                let class = f.class.word();
                _ = writeln!(out, "  {class} | {} | {} | {}", f.engine, f.measured, f.name);
            }
        }
        out
    }

    /// Parses the text that [`Results::print`] has written. The error names the line that is wrong.
    pub fn parse(text: &str) -> Result<Results, String> {
        let mut results = Results::default();
        for (i, line) in text.lines().enumerate() {
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            let wrong = || format!("line {}: \"{}\"", i + 1, show::clean(line, 60));
            let Some(inner) = line.strip_prefix("  ") else {
                let (id, label) = line.split_once(" | ").ok_or_else(wrong)?;
                results.points.push(PointResults {
                    id: id.to_string(),
                    label: label.to_string(),
                    digests: Vec::new(),
                    figures: Vec::new(),
                });
                continue;
            };
            let point = results.points.last_mut().ok_or_else(wrong)?;
            let parts: Vec<&str> = inner.splitn(4, " | ").collect();
            match parts[..] {
                ["digest", seed, digest] => {
                    point.digests.push((seed.to_string(), digest.to_string()));
                }
                [class, engine, measured, name] => point.figures.push(Figure {
                    class: Class::of_word(class).ok_or_else(wrong)?,
                    engine: engine.parse().map_err(|_| wrong())?,
                    measured: measured.to_string(),
                    name: name.to_string(),
                }),
                _ => return Err(wrong()),
            }
        }
        Ok(results)
    }

    /// Returns the differences of `now` from these recorded results, in lines. Experiments that are
    /// recorded and were not run count only if `of_all` is set.
    pub fn differences(&self, now: &Results, of_all: bool) -> Vec<String> {
        let mut lines = Vec::new();
        for point in &now.points {
            match self.find(point) {
                Some(before) => before.differences(point, &mut lines),
                None => lines.push(format!("{}: not recorded", point.title())),
            }
        }
        let ran = |p: &&PointResults| of_all || now.points.iter().any(|q| q.id == p.id);
        for gone in self.points.iter().filter(ran) {
            if now.find(gone).is_none() {
                lines.push(format!("{}: recorded, and not there any more", gone.title()));
            }
        }
        lines
    }

    fn find(&self, point: &PointResults) -> Option<&PointResults> {
        self.at(&point.id, &point.label)
    }

    fn at(&self, id: &str, label: &str) -> Option<&PointResults> {
        let same = |p: &&PointResults| p.id == id && p.label == label;
        self.points.iter().find(same)
    }

    /// Returns the recorded verdicts on the expectations of a point of the experiment `id`. The error
    /// says where the results are not of this scenario.
    pub(crate) fn judged(&self, id: &str, scenario: &Scenario) -> Result<Vec<Judged>, String> {
        let label = show::clean(&crate::axis::label(&scenario.point), LONGEST);
        let title = match label.as_str() {
            "" => id.to_string(),
            label => format!("{id}, {label}"),
        };
        let point = self.at(id, &label);
        let point = point.ok_or_else(|| format!("{title}: not recorded"))?;
        let expectations = scenario.expectations.iter();
        let expectations = expectations.filter(|e| e.engine != Engine::Live);
        let expectations: Vec<&Expectation> = expectations.collect();
        let same = |(e, f): (&&Expectation, &Figure)| {
            e.engine == f.engine && show::clean(&e.name, LONGEST) == f.name
        };
        if expectations.len() != point.figures.len()
            || !expectations.iter().zip(&point.figures).all(same)
        {
            return Err(format!("{title}: other checks are recorded"));
        }
        let judged = expectations.into_iter().zip(&point.figures);
        let judged = judged.map(|(e, f)| Judged {
            point: scenario.point.clone(),
            name: e.name.clone(),
            engine: e.engine,
            metric: e.metric,
            kind: Kind::of(e.engine, e.claim),
            class: f.class,
        });
        Ok(judged.collect())
    }
}

impl PointResults {
    fn title(&self) -> String {
        match self.label.as_str() {
            "" => self.id.clone(),
            label => format!("{}, {label}", self.id),
        }
    }

    fn differences(&self, now: &PointResults, lines: &mut Vec<String>) {
        let before = lines.len();
        for (seed, digest) in &now.digests {
            let recorded = self.digests.iter().find(|(s, _)| s == seed);
            match recorded {
                Some((_, recorded)) if recorded == digest => {}
                recorded => lines.push(format!(
                    "{}, {seed}: the digest of the packet run was {}, and is {digest}",
                    self.title(),
                    recorded.map_or("not recorded", |(_, d)| d)
                )),
            }
        }
        let mut moved = Vec::new();
        for figure in &now.figures {
            match self.find(figure) {
                None => moved.push(format!("  {}: not recorded", figure.title())),
                Some(recorded) => moved.extend(recorded.difference(figure)),
            }
        }
        for gone in self.figures.iter().filter(|f| now.find(f).is_none()) {
            moved.push(format!("  {}: not there any more", gone.title()));
        }
        if !moved.is_empty() && lines.len() == before {
            lines.push(format!("{}:", self.title()));
        }
        lines.extend(moved);
    }

    fn find(&self, figure: &Figure) -> Option<&Figure> {
        let same = |f: &&Figure| f.engine == figure.engine && f.name == figure.name;
        self.figures.iter().find(same)
    }
}

impl Figure {
    fn title(&self) -> String {
        format!("{} ({})", self.name, self.engine)
    }

    fn difference(&self, now: &Figure) -> Option<String> {
        let value = |f: &Figure| f.measured.parse::<f64>().ok();
        let near = match (value(self), value(now)) {
            _ if self.measured == now.measured => true,
            (Some(a), Some(b)) if self.engine != Engine::Packet => (a - b).abs() <= SAME * a.abs(),
            _ => false,
        };
        if near && self.class == now.class {
            return None;
        }
        let mut text = format!("  {}: {} to {}", self.title(), self.measured, now.measured);
        if self.class != now.class {
            text += &format!(", {} to {}", self.class.word(), now.class.word());
        }
        Some(text)
    }
}
