//! The axes of a sweep: its variables, and the place of each point on them.

use crate::show;
use accord_scenario::MetricUnit;
use accord_units::{Duration, Rate, Size};

/// The names of the variables of a sweep and their values at a point.
pub type Settings = [(String, String)];

/// The minimum number of values of a variable for a map. With fewer, lines show more.
const LEAST: usize = 3;

/// Returns the settings in one line: "law = accord, packet = 500 B".
pub fn label(settings: &Settings) -> String {
    let texts: Vec<String> = settings.iter().map(|(k, v)| format!("{k} = {v}")).collect();
    texts.join(", ")
}

/// Returns a name with its unit in brackets, if it has one: "rate (Mbps)".
pub fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.into() } else { format!("{name} ({unit})") }
}

/// Returns the place of a value among the known ones, and adds it if it is new.
pub fn place_among<T: PartialEq>(known: &mut Vec<T>, value: T) -> usize {
    known.iter().position(|k| *k == value).unwrap_or_else(|| {
        known.push(value);
        known.len() - 1
    })
}

/// Returns the text of a variable's value in a legend. A quantity needs its name, and a word does not.
fn told(name: &str, value: &str) -> String {
    if value.starts_with(|c: char| c.is_ascii_digit()) {
        format!("{name} {value}")
    } else {
        value.into()
    }
}

/// The horizontal axis: the variable, and the place of each point on it.
pub struct Axis {
    /// The index of the variable, if the axis shows one.
    pub variable: Option<usize>,
    /// The name.
    pub name: String,
    /// The unit of the values, or "".
    pub unit: &'static str,
    /// The values, or the positions 0, 1, ... of words.
    pub x: Vec<f64>,
    /// The words.
    pub ticks: Option<Vec<String>>,
    /// The index in `x` of each point.
    pub at: Vec<usize>,
}

impl Axis {
    /// Returns the axis of the variable with the most distinct values, with numbers preferred to
    /// words. If the points have no variables in common, it is the number of the point.
    pub fn of(points: &[&Settings]) -> Axis {
        let names: Vec<&String> = points[0].iter().map(|(name, _)| name).collect();
        let common = points.iter().all(|p| {
            let own = p.iter().map(|(name, _)| name);
            own.eq(names.iter().copied())
        });
        let mut best: Option<(bool, usize, Axis)> = None;
        for (v, name) in names.iter().enumerate().filter(|_| common) {
            let texts: Vec<&str> = points.iter().map(|p| p[v].1.as_str()).collect();
            let axis = Axis::along(v, show::clean(name, 60), &texts);
            let rank = (axis.ticks.is_none(), axis.x.len());
            if best.as_ref().is_none_or(|(n, x, _)| rank > (*n, *x)) {
                best = Some((rank.0, rank.1, axis));
            }
        }
        best.map_or_else(|| Axis::numbered(points.len()), |(_, _, axis)| axis)
    }

    /// Returns the values of the other variables at a point, for a legend.
    pub fn others(&self, point: &Settings) -> String {
        let others = point.iter().enumerate();
        let others = others.filter(|(v, _)| Some(*v) != self.variable);
        let others: Vec<String> = others.map(|(_, (name, value))| told(name, value)).collect();
        others.join(", ")
    }

    fn numbered(n: usize) -> Axis {
        Axis {
            variable: None,
            name: "point".into(),
            unit: "",
            x: (1..=n).map(|i| i as f64).collect(),
            ticks: None,
            at: (0..n).collect(),
        }
    }

    pub fn along(variable: usize, name: String, texts: &[&str]) -> Axis {
        if let Some((values, unit)) = numbers(texts) {
            let mut x = values.clone();
            x.sort_by(f64::total_cmp);
            x.dedup();
            let at = |v: &f64| x.iter().position(|x| x == v).expect("one of them");
            return Axis {
                variable: Some(variable),
                name,
                unit,
                at: values.iter().map(at).collect(),
                x,
                ticks: None,
            };
        }
        let mut distinct: Vec<&str> = Vec::new();
        let at = texts.iter().map(|text| place_among(&mut distinct, *text)).collect();
        Axis {
            variable: Some(variable),
            name,
            unit: "",
            x: (0..distinct.len()).map(|i| i as f64).collect(),
            ticks: Some(distinct.iter().map(|t| show::clean(t, 24)).collect()),
            at,
        }
    }
}

/// Returns the texts as numbers in one unit for people, if all are quantities of one kind.
fn numbers(texts: &[&str]) -> Option<(Vec<f64>, &'static str)> {
    let (values, unit) = measured(texts)?;
    let Some(unit) = unit else {
        return Some((values, ""));
    };
    let largest = values.iter().copied().fold(0.0, f64::max);
    let (one, symbol) = show::scale(largest, unit);
    Some((values.into_iter().map(|v| v / one).collect(), symbol))
}

/// Returns the texts as numbers with the symbol of their unit as in files, if all are quantities of
/// one kind.
pub fn plain_numbers(texts: &[&str]) -> Option<(Vec<f64>, &'static str)> {
    let (values, unit) = measured(texts)?;
    Some((values, unit.map_or("1", MetricUnit::symbol)))
}

/// Returns the texts as numbers, with their unit if they have one.
fn measured(texts: &[&str]) -> Option<(Vec<f64>, Option<MetricUnit>)> {
    fn all(texts: &[&str], read: impl Fn(&str) -> Option<f64>) -> Option<Vec<f64>> {
        texts.iter().map(|t| read(t)).collect()
    }
    let plain = |t: &str| t.parse::<f64>().ok().filter(|v| v.is_finite());
    if let Some(values) = all(texts, plain) {
        return Some((values, None));
    }
    if let Some(values) = all(texts, |t| Some(t.parse::<Rate>().ok()?.as_bps_f64())) {
        return Some((values, Some(MetricUnit::BitPerSecond)));
    }
    if let Some(values) = all(texts, |t| Some(t.parse::<Duration>().ok()?.as_secs_f64())) {
        return Some((values, Some(MetricUnit::Seconds)));
    }
    let size = |packets: bool| {
        move |t: &str| match t.parse().ok()? {
            Size::Packets(n) if packets => Some(n),
            Size::Bytes(b) if !packets => Some(b.as_f64()),
            _ => None,
        }
    };
    if let Some(values) = all(texts, size(true)) {
        return Some((values, Some(MetricUnit::Packets)));
    }
    all(texts, size(false)).map(|values| (values, Some(MetricUnit::Bytes)))
}

/// Two variables whose values form each pair exactly once.
pub struct Grid<'a> {
    /// The names: down and across.
    pub names: [&'a str; 2],
    /// The values: down and across.
    pub values: [Vec<&'a str>; 2],
    /// The point of each pair, row by row.
    pub points: Vec<usize>,
}

impl<'a> Grid<'a> {
    /// Returns the grid if the points form one and are numerous enough.
    pub fn of(points: &[&'a Settings]) -> Option<Grid<'a>> {
        let [(down, _), (across, _)] = points.first()? else {
            return None;
        };
        let mut values = [Vec::new(), Vec::new()];
        let mut pairs = Vec::new();
        for point in points {
            let [a, b] = point else {
                return None;
            };
            if (&a.0, &b.0) != (down, across) {
                return None;
            }
            for (values, value) in values.iter_mut().zip([a.1.as_str(), b.1.as_str()]) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            pairs.push((a.1.as_str(), b.1.as_str()));
        }
        let full = values[0].len() * values[1].len() == points.len();
        if !full || values.iter().any(|v| v.len() < LEAST) {
            return None;
        }
        let place = |a, b| pairs.iter().position(|pair| *pair == (a, b));
        let rows = values[0].iter();
        let all = rows.flat_map(|a| values[1].iter().map(move |b| place(*a, *b)));
        Some(Grid { points: all.collect::<Option<Vec<_>>>()?, names: [down, across], values })
    }
}
