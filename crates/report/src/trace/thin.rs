//! The thinning of lines, which makes them small enough for a page.

use serde::ser::{Serialize, Serializer};

/// The thinning of a line. A stretch of `factor` samples becomes two, and a stretch of one stays one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thinning {
    factor: usize,
}

impl Thinning {
    /// Creates the thinning of lines of `samples` to at most `most`.
    pub fn to(most: usize, samples: usize) -> Thinning {
        Thinning { factor: if samples <= most { 1 } else { (2 * samples).div_ceil(most.max(2)) } }
    }

    /// Returns the thinned line. The smallest and the largest value of each stretch remain, in
    /// their original order, so no peak is lost. A stretch becomes NaN only if it has no other
    /// value.
    pub fn line(self, values: &[f64]) -> Vec<f64> {
        if self.factor == 1 {
            return values.to_vec();
        }
        let mut out = Vec::with_capacity(2 * values.len().div_ceil(self.factor));
        for stretch in values.chunks(self.factor) {
            let known = || stretch.iter().enumerate().filter(|(_, v)| !v.is_nan());
            let low = known().min_by(|a, b| a.1.total_cmp(b.1));
            let high = known().max_by(|a, b| a.1.total_cmp(b.1));
            match (low, high) {
                (Some((i, low)), Some((j, high))) if i <= j => out.extend([*low, *high]),
                (Some((_, low)), Some((_, high))) => out.extend([*high, *low]),
                _ => out.extend([f64::NAN; 2]),
            }
        }
        out
    }

    /// Returns the times of the thinned samples, for evenly spaced times: the first, the step
    /// between them, and their number. They are accurate to within a stretch.
    pub fn axis(self, time: &[f64]) -> (f64, f64, usize) {
        let Some(&first) = time.first() else {
            return (0.0, 1.0, 0);
        };
        let last = time[time.len() - 1];
        let period = match time.len() {
            1 => first,
            n => (last - first) / (n - 1) as f64,
        };
        if self.factor == 1 {
            return (first, period, time.len());
        }
        let stretch = period * self.factor as f64;
        let stretches = time.len().div_ceil(self.factor);
        (first - period + stretch / 4.0, stretch / 2.0, 2 * stretches)
    }
}

/// A line in the page's JSON: numbers of five significant digits, and null for NaN. If values repeat, `{"n":
/// [..], "v": [..]}` states how often each occurs.
#[derive(Clone, Debug)]
pub struct Line(pub Vec<f64>);

impl Serialize for Line {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values: Vec<Number> = self.0.iter().copied().map(Number::rounded).collect();
        let mut runs: Vec<(usize, Number)> = Vec::new();
        for &value in &values {
            match runs.last_mut() {
                Some((n, last)) if last.same(value) => *n += 1,
                _ => runs.push((1, value)),
            }
        }
        if runs.len() * 3 > self.0.len() || runs.is_empty() {
            return values.serialize(serializer);
        }
        #[derive(serde::Serialize)]
        struct Repeated {
            n: Vec<usize>,
            v: Vec<Number>,
        }
        let (n, v) = runs.into_iter().unzip();
        Repeated { n, v }.serialize(serializer)
    }
}

/// A number with as many digits as a plot can show.
#[derive(Clone, Copy, Debug)]
pub struct Number(f64);

impl Number {
    /// Rounds to five significant digits.
    pub fn rounded(value: f64) -> Number {
        let places = 4.0 - value.abs().log10().floor();
        // Powers of ten up to this one are exact, so the quotient is the float nearest to the
        // decimal.
        if (0.0..=22.0).contains(&places) {
            let one = 10f64.powi(places as i32);
            return Number((value * one).round() / one);
        }
        let text = format!("{value:.4e}");
        Number(text.parse().expect("a printed number can be read"))
    }

    fn same(self, other: Number) -> bool {
        self.0 == other.0 || self.0.is_nan() && other.0.is_nan()
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            v if !v.is_finite() => serializer.serialize_none(),
            // A whole number is written without ".0".
            v if v.fract() == 0.0 && v.abs() < 1e15 => serializer.serialize_i64(v as i64),
            v => serializer.serialize_f64(v),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_survive_in_their_order() {
        let mut values: Vec<f64> = (0..10_000).map(|i| f64::from(i % 7)).collect();
        values[1234] = 1e6;
        values[8765] = -1e6;
        let thinning = Thinning::to(2000, values.len());
        let line = thinning.line(&values);
        assert_eq!(line.len(), 2000);
        assert_eq!(line.iter().filter(|v| v.abs() == 1e6).count(), 2);
        let at = |v: f64| line.iter().position(|w| *w == v).unwrap();
        let (start, step, n) = thinning.axis(&(1..=10_000).map(f64::from).collect::<Vec<_>>());
        assert_eq!(n, 2000);
        assert!((start + step * at(1e6) as f64 - 1235.0).abs() <= 10.0);
        assert!((start + step * at(-1e6) as f64 - 8766.0).abs() <= 10.0);
    }

    #[test]
    fn short_lines_stay_as_they_are() {
        let thinning = Thinning::to(2000, 3);
        assert_eq!(thinning.line(&[1.0, 3.0, 2.0]), [1.0, 3.0, 2.0]);
        assert_eq!(thinning.axis(&[0.5, 1.0, 1.5]), (0.5, 0.5, 3));
        assert_eq!(thinning.axis(&[]).2, 0);
        assert_eq!(thinning.axis(&[2.0]), (2.0, 2.0, 1));
    }

    #[test]
    fn nothing_remains_only_where_there_was_nothing() {
        let nan = f64::NAN;
        let line = Thinning { factor: 2 }.line(&[nan, 1.0, nan, nan, 3.0, 2.0, nan]);
        assert_eq!(format!("{line:?}"), "[1.0, 1.0, NaN, NaN, 3.0, 2.0, NaN, NaN]");
    }

    #[test]
    fn rounding_gives_the_nearest_decimal() {
        for i in 0..20_000 {
            let (digits, exponent) = (10_000 + 7 * i % 90_000, i % 60 - 30);
            let value: f64 = format!("{digits}.3e{exponent}").parse().unwrap();
            let nearest: f64 = format!("{digits}e{exponent}").parse().unwrap();
            assert_eq!(Number::rounded(value).0, nearest, "{value}");
            assert_eq!(Number::rounded(-value).0, -nearest, "{value}");
        }
    }

    #[test]
    fn json_is_compact() {
        let json = |values: &[f64]| serde_json::to_string(&Line(values.to_vec())).unwrap();
        assert_eq!(json(&[1.0, 2.000049, f64::NAN]), "[1,2,null]");
        assert_eq!(json(&[1234567.0, -0.00012345678]), "[1234600,-0.00012346]");
        assert_eq!(json(&[3.0; 100]), r#"{"n":[100],"v":[3]}"#);
        assert_eq!(json(&[f64::NAN; 9]), r#"{"n":[9],"v":[null]}"#);
        assert_eq!(json(&[f64::INFINITY, 1.0]), "[null,1]");
        assert_eq!(json(&[]), "[]");
    }
}
