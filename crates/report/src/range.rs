//! Ranges and ticks of axes. The page has the same functions in `web/src/range.js`, since its reader can
//! zoom. `web/test/ranges.json` ensures that both give the same results.

use crate::measure::quantile;

/// The kind of a line, which decides how much of it counts at each end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A measured mean.
    Line,
    /// An end of a band.
    Span,
    /// Theory, which counts as a line if there are no others.
    Model,
}

impl Role {
    const fn trimmed(self) -> f64 {
        match self {
            Role::Line => 0.01,
            Role::Span => 0.05,
            Role::Model => 0.1,
        }
    }
}

/// The number of samples that may be cut off at each end of a line: at most a tenth of it.
const FEW: f64 = 2.5;
/// The longest spike, as a share of its line, and the factor by which it must stand out.
const TAIL: f64 = 0.05;
const SPIKE: f64 = 3.0;
/// A value is shown anyway if it costs less than this share of the height.
const CHEAP: f64 = 1.25;

/// A line of a plot.
pub struct Plotted<'a> {
    /// The times.
    pub x: &'a [f64],
    /// The values. NaN is a gap.
    pub y: &'a [f64],
    /// The kind of the line.
    pub role: Role,
}

/// The range of its lines that a plot shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// The least value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
    /// The least positive value that counts.
    pub positive: f64,
}

impl Shown {
    /// The range of no values.
    pub const NOTHING: Shown =
        Shown { low: f64::INFINITY, high: f64::NEG_INFINITY, positive: f64::INFINITY };
}

/// Returns the range that a plot shows of its lines between the times `from` and `to`, or `None`
/// without values. The range holds all but one per cent of a line at each end (of short lines, two
/// samples) and all of the steady part, so a spike at the start does not flatten the rest.
pub fn robust(
    lines: &[Plotted],
    (from, to): (f64, f64),
    (steady_from, steady_to): (f64, f64),
) -> Option<Shown> {
    let measured = lines.iter().any(|line| line.role != Role::Model);
    let mut shown = Shown::NOTHING;
    let mut all = (f64::INFINITY, f64::NEG_INFINITY);
    for line in lines {
        let mut values = Vec::new();
        for (&x, &v) in line.x.iter().zip(line.y) {
            if !v.is_finite() || x < from || x > to {
                continue;
            }
            values.push(v);
            if x > steady_from && x <= steady_to {
                shown.low = shown.low.min(v);
                shown.high = shown.high.max(v);
            }
        }
        if values.is_empty() {
            continue;
        }
        values.sort_unstable_by(f64::total_cmp);
        // A single spike is more than a hundredth of a short line.
        let least = (FEW / values.len() as f64).min(Role::Model.trimmed());
        let role = match line.role {
            Role::Model if !measured => Role::Line,
            role => role,
        };
        let trim = role.trimmed().max(least);
        let at = |share: f64| (quantile(&values, share), quantile(&values, 1.0 - share));
        let (mut low, mut high) = at(trim);
        // In a longer spike, a few per cent of the values are several times as far from zero as all others.
        let inner = at(TAIL.max(trim));
        let base = inner.0.min(0.0);
        if high - base > SPIKE * (inner.1 - base) {
            high = inner.1;
        }
        if inner.0 - low > SPIKE * (high - inner.0) {
            low = inner.0;
        }
        shown.low = shown.low.min(low);
        shown.high = shown.high.max(high);
        let positive: Vec<f64> = values.iter().copied().filter(|v| *v > 0.0).collect();
        if !positive.is_empty() {
            shown.positive = shown.positive.min(quantile(&positive, trim));
        }
        all = (all.0.min(values[0]), all.1.max(values[values.len() - 1]));
    }
    if all.0 > all.1 {
        return None;
    }
    let span = shown.high - shown.low.min(0.0);
    if all.1 - shown.high <= span * (CHEAP - 1.0) {
        shown.high = all.1;
    }
    if shown.low - all.0 <= span * (CHEAP - 1.0) {
        shown.low = all.0;
    }
    Some(shown)
}

/// Returns an axis' ends around the shown range. `zero` is true if the axis starts at zero, and
/// `most` is the largest possible value.
pub fn ends(shown: Shown, zero: bool, most: Option<f64>) -> (f64, f64) {
    let Shown { low, high, .. } = shown;
    let first = |a: f64, b: f64, c: f64| match (a != 0.0, b != 0.0) {
        (true, _) => a,
        (false, true) => b,
        (false, false) => c,
    };
    let room = first((high - low) * 0.08, high.abs() * 0.1, 1.0);
    let mut top = match zero {
        true if high > 0.0 => high * 1.06,
        true if low < 0.0 => 0.0,
        true => 1.0,
        false => high + room,
    };
    // A line at the very top must also be visible.
    if let Some(most) = most.filter(|most| high <= *most) {
        top = top.min(most * 1.02);
    }
    let bottom = if zero {
        (low * 1.06).min(0.0)
    } else {
        let room = first((high - low) * 0.08, low.abs() * 0.1, 1.0);
        let floor = if low < 0.0 { f64::NEG_INFINITY } else { 0.0 };
        (low - room).max(floor)
    };
    (bottom, top)
}

/// Returns the ends of a logarithmic axis.
pub fn log_ends(shown: Shown) -> (f64, f64) {
    let Shown { high, positive, .. } = shown;
    if high.is_nan() || high <= 0.0 {
        return (0.1, 1.0);
    }
    let least = if positive.is_finite() && positive > 0.0 { positive } else { high / 1000.0 };
    ((least * 0.8).max(high * 1e-6), high * 1.25)
}

/// Returns round numbers from `min` to `max`, about `count` of them.
pub fn ticks(min: f64, max: f64, count: usize) -> Vec<f64> {
    let rough = (max - min) / count.max(1) as f64;
    if !(rough > 0.0 && rough.is_finite()) {
        return vec![];
    }
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|n| n * power);
    let step = steps.into_iter().find(|s| *s >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let first = (min / step - 1e-9).ceil() as i64;
    let last = (max / step + 1e-9).floor() as i64;
    (first..=last).map(|i| rounded(i as f64 * step)).collect()
}

/// Returns powers of ten, with their multiples by 2 and 5 if few fit. A smaller range has round numbers.
pub fn decades(min: f64, max: f64) -> Vec<f64> {
    let (first, last) = (min.log10().floor() as i32, max.log10().floor() as i32);
    let few = last - first < 4;
    let steps: &[u8] = if few { &[1, 2, 5] } else { &[1] };
    let all = (first..=last).flat_map(|e| {
        // The number is parsed from text, because a power with a negative exponent is not always
        // the nearest number.
        steps.iter().map(move |s| format!("{s}e{e}"))
    });
    let all = all.filter_map(|text| text.parse::<f64>().ok());
    let found: Vec<f64> = all.filter(|v| (min..=max).contains(v)).collect();
    match found.len() {
        0 | 1 => ticks(min, max, 4),
        _ => found,
    }
}

/// Returns twelve significant digits of a number.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Cases {
        robust: Vec<Robust>,
        ends: Vec<Ends>,
        ticks: Vec<Ticks>,
    }

    #[derive(Deserialize)]
    struct Robust {
        lines: Vec<Line>,
        from: f64,
        to: f64,
        steady: (f64, f64),
        low: f64,
        high: f64,
        positive: f64,
    }

    #[derive(Deserialize)]
    struct Line {
        x: Vec<f64>,
        y: Vec<Option<f64>>,
        role: String,
    }

    #[derive(Deserialize)]
    struct Ends {
        low: f64,
        high: f64,
        positive: f64,
        zero: bool,
        most: Option<f64>,
        log: bool,
        ends: (f64, f64),
    }

    #[derive(Deserialize)]
    struct Ticks {
        min: f64,
        max: f64,
        count: usize,
        log: bool,
        ticks: Vec<f64>,
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
    }

    /// `web/test/range.test.mjs` tests the page's script with the same file.
    #[test]
    fn ranges_are_those_of_the_page() {
        let cases: Cases = serde_json::from_str(include_str!("../web/test/ranges.json")).unwrap();
        assert!(cases.robust.len() >= 5 && cases.ends.len() >= 5 && cases.ticks.len() >= 5);
        for case in &cases.robust {
            let values: Vec<(Vec<f64>, Role)> = (case.lines.iter())
                .map(|line| {
                    let role = match line.role.as_str() {
                        "line" => Role::Line,
                        "span" => Role::Span,
                        _ => Role::Model,
                    };
                    let y = line.y.iter().map(|v| v.unwrap_or(f64::NAN)).collect();
                    (y, role)
                })
                .collect();
            let lines: Vec<Plotted> = (case.lines.iter().zip(&values))
                .map(|(line, (y, role))| Plotted { x: &line.x, y, role: *role })
                .collect();
            let found = robust(&lines, (case.from, case.to), case.steady).unwrap();
            let all = [(found.low, case.low), (found.high, case.high)];
            assert!(all.iter().all(|(a, b)| near(*a, *b)), "{found:?}");
            assert!(near(found.positive, case.positive), "{found:?}");
        }
        for case in &cases.ends {
            let shown = Shown { low: case.low, high: case.high, positive: case.positive };
            let found = if case.log { log_ends(shown) } else { ends(shown, case.zero, case.most) };
            let same = near(found.0, case.ends.0) && near(found.1, case.ends.1);
            assert!(same, "{shown:?}: {found:?}, not {:?}", case.ends);
        }
        for case in &cases.ticks {
            let found = if case.log {
                decades(case.min, case.max)
            } else {
                ticks(case.min, case.max, case.count)
            };
            assert_eq!(found, case.ticks);
        }
    }
}
