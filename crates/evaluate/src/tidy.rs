//! The results as a table: a row per value.

use crate::evaluation::{Evaluation, Key, Sample};
use crate::plan::Plan;
use accord::columns::{Cells, Damaged, Field, Kind, Reader, Table};
use std::collections::BTreeMap;
use std::fs::File;

/// The columns: name, meaning, kind.
const COLUMNS: &[(&str, &str, Kind)] = &[
    ("pack", "name of the pack", Kind::Text),
    ("section", "section of the standard", Kind::Text),
    ("case", "name of the case", Kind::Text),
    ("point", "point of the case's sweep, or empty", Kind::Text),
    ("measure", "name of the measure", Kind::Text),
    ("unit", "unit of the value: bit/s, B, s, pkt, or 1 for a ratio", Kind::Text),
    ("better", "the direction of better values: more, less, near 100 %, or none", Kind::Text),
    ("subject", "the subject, or one of its rivals", Kind::Text),
    ("role", "subject, or rival", Kind::Text),
    ("engine", "the engine", Kind::Text),
    ("tier", "the part of the pack that was run: quick or whole", Kind::Text),
    ("seed", "the seed of the run", Kind::Long),
    ("value", "the value, in the unit; missing where the run has none", Kind::Optional),
];

/// Returns the table of an evaluation: a row per measure, subject and seed.
pub fn tidy(evaluation: &Evaluation) -> Table<'static> {
    let mut texts: Vec<Vec<String>> = vec![Vec::new(); 11];
    let (mut seeds, mut values) = (Vec::new(), Vec::new());
    let order = &evaluation.order;
    for (result, case, row) in evaluation.rows() {
        let (section, definition) = case.planned.within(&result.pack);
        let measure = result.measure(row);
        for (i, subject) in order.subjects.iter().enumerate() {
            for k in 0..order.reps {
                let seed = order.seed.wrapping_add(k);
                let value = row.values[i].iter().find(|(s, _)| *s == seed);
                let line: [&str; 11] = [
                    &result.pack.name,
                    &section.number,
                    &definition.name,
                    &row.point,
                    &measure.name,
                    row.unit.symbol(),
                    measure.better.name(),
                    &subject.label,
                    if i == 0 { "subject" } else { "rival" },
                    order.engine.name(),
                    order.tier.name(),
                ];
                for (column, text) in texts.iter_mut().zip(line) {
                    column.push(text.to_string());
                }
                seeds.push(seed as i64);
                values.push(value.map_or(f64::NAN, |(_, v)| *v));
            }
        }
    }
    let mut texts = texts.into_iter();
    let mut table = Table::default();
    for (name, doc, kind) in COLUMNS {
        let cells = match kind {
            Kind::Text => Cells::text(texts.next().expect("as many as columns of text")),
            Kind::Long => Cells::Long(std::mem::take(&mut seeds)),
            _ => Cells::Number(std::mem::take(&mut values)),
        };
        table.add(name, doc, *kind, cells);
    }
    table
}

/// The values of the subject of an earlier evaluation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    /// The subject.
    pub subject: String,
    /// The tier and the engine.
    pub settings: (String, String),
    /// The values by measure. A run without a value may be one that the machine did not keep up with.
    pub values: BTreeMap<Key, Sample>,
}

/// Returns the names of all measures of a plan.
fn keys(plan: &Plan) -> impl Iterator<Item = Key> {
    plan.cases.iter().flat_map(|planned| {
        let (_, case) = planned.within(&plan.pack);
        planned.points.iter().flat_map(|point| {
            case.measures.iter().map(|&measure| Key {
                pack: plan.pack.name.clone(),
                case: case.name.clone(),
                point: point.clone(),
                measure: plan.pack.measures[measure].name.clone(),
            })
        })
    })
}

impl Baseline {
    /// Returns whether the baseline has a measure of these plans.
    pub fn matches(&self, plans: &[Plan]) -> bool {
        plans.iter().any(|plan| keys(plan).any(|key| self.values.contains_key(&key)))
    }

    /// Reads the values of the subject from the Parquet file that [`tidy`] makes.
    ///
    /// # Errors
    /// Fails if the file is damaged or another table.
    pub fn read(file: File) -> Result<Baseline, Damaged> {
        let fields = COLUMNS.iter().map(|(name, doc, kind)| Field::new(*name, *doc, *kind));
        let reader = Reader::open(file, &fields.collect::<Vec<_>>())?;
        let mut baseline = Baseline::default();
        for group in 0..reader.groups() {
            let column = |name| -> Result<Vec<String>, Damaged> {
                let runs = reader.texts(group, name)?.into_iter();
                Ok(runs.flat_map(|(text, n)| std::iter::repeat_n(text, n)).collect())
            };
            let (pack, case, point) = (column("pack")?, column("case")?, column("point")?);
            let (measure, role) = (column("measure")?, column("role")?);
            let (subject, tier, engine) = (column("subject")?, column("tier")?, column("engine")?);
            let values = reader.numbers(group, "value")?;
            for (i, value) in values.into_iter().enumerate() {
                if role[i] != "subject" {
                    continue;
                }
                baseline.subject.clone_from(&subject[i]);
                baseline.settings = (tier[i].clone(), engine[i].clone());
                let key = Key {
                    pack: pack[i].clone(),
                    case: case[i].clone(),
                    point: point[i].clone(),
                    measure: measure[i].clone(),
                };
                let found = baseline.values.entry(key).or_default();
                found.values.extend((!value.is_nan()).then_some(value));
                found.without += usize::from(value.is_nan());
            }
        }
        Ok(baseline)
    }
}
