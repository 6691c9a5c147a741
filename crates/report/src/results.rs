//! The verdicts on experiments, from runs just made or from a record.

use crate::class::Class;
use crate::json::Point;
use crate::verdict::{Judged, Kind};
use accord_scenario::{Engine, Scenario};
use accord_units::Words as _;
use std::collections::BTreeMap;

/// One experiment and its verdicts.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentRow {
    /// The id.
    pub id: String,
    /// The checks, without those of live runs, because no two live runs are the same.
    pub judged: Vec<Judged>,
}

impl ExperimentRow {
    /// Returns the row of the experiment `id`.
    pub fn of(id: &str, points: &[Point]) -> ExperimentRow {
        let judged = |p: &Point| {
            let checks = p.checks.iter().filter(|c| c.engine != Engine::Live);
            checks.map(|c| Judged::of(p.scenario, c, c.class)).collect::<Vec<_>>()
        };
        ExperimentRow { id: id.to_string(), judged: points.iter().flat_map(judged).collect() }
    }

    /// Returns the kinds and classes of its checks, for [`totals`](crate::totals).
    pub fn checks(&self) -> impl Iterator<Item = (Kind, Class)> {
        self.judged.iter().map(|c| (c.kind, c.class))
    }

    /// Returns its checks of packets against a paper.
    pub(crate) fn against_paper(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|c| c.kind == Kind::Paper)
    }
}

/// The class, the engine and the name of a check.
type Recorded = (Class, Engine, String);

/// Recorded results of experiments.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The checks, by the experiment and the label of the point.
    points: BTreeMap<(String, String), Vec<Recorded>>,
}

impl Results {
    /// Parses a text with a block per experiment and point of its sweep, so the difference
    /// between two versions can be read line by line:
    ///
    /// ```text
    /// xia05-fig4 | reverse = 5 Mbps
    ///   digest | seed 1 | 5d0c1b0e6ac0f7a2
    ///   met | packet | 9.14200e-1 | utilisation of the forward link
    /// ```
    ///
    /// # Errors
    /// Fails if a line is wrong. The error names the line.
    pub fn parse(text: &str) -> Result<Results, String> {
        let mut results = Results::default();
        let mut point = None;
        for (i, line) in text.lines().enumerate() {
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            let wrong = || format!("line {}: \"{line}\"", i + 1);
            let Some(inner) = line.strip_prefix("  ") else {
                let (id, label) = line.split_once(" | ").ok_or_else(wrong)?;
                let key = (id.to_string(), label.to_string());
                point = Some(results.points.entry(key).or_default());
                continue;
            };
            let checks = point.as_mut().ok_or_else(wrong)?;
            match inner.splitn(4, " | ").collect::<Vec<_>>()[..] {
                ["digest", _, _] => {}
                [class, engine, _, name] => checks.push((
                    Class::of_word(class).ok_or_else(wrong)?,
                    engine.parse().map_err(|_| wrong())?,
                    name.to_string(),
                )),
                _ => return Err(wrong()),
            }
        }
        Ok(results)
    }

    /// Returns the recorded row of the experiment `id`. `scenarios` are the points of its sweep.
    ///
    /// # Errors
    /// Fails if the results do not belong to these scenarios. The error shows the difference.
    pub fn row(&self, id: &str, scenarios: &[Scenario]) -> Result<ExperimentRow, String> {
        let mut judged = Vec::new();
        for scenario in scenarios {
            let key = (id.to_string(), crate::axis::label(&scenario.point));
            let title = if key.1.is_empty() { id.into() } else { format!("{id}, {}", key.1) };
            let recorded = self.points.get(&key).ok_or(format!("{title}: not recorded"))?;
            let expectations = scenario.expectations.iter().filter(|e| e.engine != Engine::Live);
            let named = expectations.clone().map(|e| (e.engine, &e.name));
            if !named.eq(recorded.iter().map(|(_, engine, name)| (*engine, name))) {
                return Err(format!("{title}: other checks are recorded"));
            }
            let checks = expectations.zip(recorded);
            judged.extend(checks.map(|(e, (class, ..))| Judged::of(scenario, e, *class)));
        }
        Ok(ExperimentRow { id: id.to_string(), judged })
    }
}
