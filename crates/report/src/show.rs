//! The text of quantities, times and names, for people.

use crate::estimate::Estimate;
use accord_record::Certificate;
use accord_scenario::{MetricUnit, Target, Window};

/// The text for a missing number.
pub const NONE: &str = "–";

/// The largest number of characters of a title that are shown.
pub const TITLE: usize = 200;

/// Returns the unit in which to print values as large as `size`, as its size in the metric's own
/// unit and its symbol. 2e6 bit/s gives (1e6, "Mbps").
pub fn scale(size: f64, unit: MetricUnit) -> (f64, &'static str) {
    let steps: &[(f64, &'static str)] = match unit {
        MetricUnit::BitPerSecond => {
            &[(1.0, "bps"), (1e3, "Kbps"), (1e6, "Mbps"), (1e9, "Gbps"), (1e12, "Tbps")]
        }
        MetricUnit::Bytes => &[(1.0, "B"), (1e3, "KB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")],
        MetricUnit::Seconds if size == 0.0 => &[(1.0, "s")],
        MetricUnit::Seconds => &[(1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")],
        MetricUnit::Packets => &[(1.0, "pkt")],
        MetricUnit::Ratio => &[(0.01, "%")],
    };
    // 0.9995 is already printed as 1.000 of the next unit.
    let fits = |step: &&(f64, &str)| step.0 * 0.9995 <= size.abs();
    *steps.iter().rev().find(fits).unwrap_or(&steps[0])
}

/// Returns a value with its unit, with three significant digits, or four if the first is a 1: "2.01
/// Mbps", "12.34 ms", "98.4 %".
pub fn quantity(value: f64, unit: MetricUnit) -> String {
    if !value.is_finite() {
        return format!("{value}");
    }
    let value = unit.settled(value);
    let (one, symbol) = scale(value, unit);
    if unit == MetricUnit::Packets && value.fract() == 0.0 {
        return format!("{value} {symbol}"); // a count
    }
    format!("{} {symbol}", number(value / one, unit))
}

/// Returns two values as [`quantity`] does, or with more digits where they would look equal.
pub fn apart(values: [f64; 2], unit: MetricUnit) -> [String; 2] {
    let texts = values.map(|value| quantity(value, unit));
    let [one, other] = values.map(|value| unit.settled(value));
    if texts[0] != texts[1] || one == other || !(one - other).is_finite() {
        return texts;
    }
    let (scale, symbol) = scale(other, unit);
    let with = |decimals: usize| [one, other].map(|v| format!("{:.decimals$} {symbol}", v / scale));
    (1..=15).map(with).find(|[one, other]| one != other).unwrap_or(texts)
}

/// Returns a target or a bound as [`quantity`] does, without the zeros at the end.
pub fn round_quantity(value: f64, unit: MetricUnit) -> String {
    let text = quantity(value, unit);
    let Some((number, symbol)) = text.split_once(' ') else {
        return text;
    };
    let trimmed = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    };
    format!("{trimmed} {symbol}")
}

/// Returns a mean with the half-width of its confidence interval, if there is one: "2.01 ± 0.02
/// Mbps".
pub fn estimate(estimate: Estimate, unit: MetricUnit) -> String {
    let Some(half) = estimate.half_width else {
        return quantity(estimate.mean, unit);
    };
    if !estimate.mean.is_finite() {
        return quantity(estimate.mean, unit);
    }
    let (mean, half) = (unit.settled(estimate.mean), unit.settled(half));
    let (one, symbol) = scale(mean.abs().max(half), unit);
    let mean = number(mean / one, unit);
    let decimals = mean.split_once('.').map_or(0, |(_, d)| d.len());
    format!("{mean} ± {:.decimals$} {symbol}", half / one)
}

/// The ratio of the largest to the least value up to which values of a row share their digits.
const TOGETHER: f64 = 100.0;

/// Returns the values of a row, which is read across: all in one unit and with equal decimals,
/// unless they are too far apart for that. A missing value is [`NONE`].
pub fn row(values: &[Option<Estimate>], unit: MetricUnit) -> Vec<String> {
    row_beside(values, unit, 0.0)
}

/// Returns a row as [`row`] does, but in the unit for a value as large as `size` if that is larger. Adjacent
/// rows can thus share a unit.
pub fn row_beside(values: &[Option<Estimate>], unit: MetricUnit, size: f64) -> Vec<String> {
    let means = values.iter().flatten().map(|v| unit.settled(v.mean).abs());
    let means: Vec<f64> = means.filter(|v| *v != 0.0).collect();
    let largest = means.iter().copied().fold(0.0, f64::max);
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let counts = unit == MetricUnit::Packets && means.iter().all(|v| v.fract() == 0.0);
    let apart = !(largest.is_finite() && largest <= TOGETHER * least) || means.len() < 2 || counts;
    let (one, symbol) = scale(largest.max(size), unit);
    let decimals = number(largest / one, unit);
    let decimals = decimals.split_once('.').map_or(0, |(_, d)| d.len());
    // A single value also has the shared unit, unless it is too small for that.
    let beside = size > largest && size < TOGETHER * largest;
    let apart = apart && !(means.len() == 1 && beside && !counts);
    let text = |v: &Estimate| match (apart, v.half_width) {
        (true, _) => estimate(*v, unit),
        (false, None) => format!("{:.decimals$} {symbol}", unit.settled(v.mean) / one),
        (false, Some(half)) => format!(
            "{:.decimals$} ± {:.decimals$} {symbol}",
            unit.settled(v.mean) / one,
            unit.settled(half) / one
        ),
    };
    let cell = |v: &Option<Estimate>| v.as_ref().map_or(NONE.into(), text);
    values.iter().map(cell).collect()
}

/// Returns the values of a column, which is read downwards: all in the unit of the largest, each with its own
/// digits, except for those below a thousandth of it. A missing value is [`NONE`].
pub fn column(values: &[Option<Estimate>], unit: MetricUnit) -> Vec<String> {
    let means = values.iter().flatten().map(|v| unit.settled(v.mean).abs());
    let largest = means.filter(|v| v.is_finite()).fold(0.0, f64::max);
    let (one, symbol) = scale(largest, unit);
    let text = |v: &Estimate| {
        let mean = unit.settled(v.mean);
        // A tiny value would lose its digits.
        let little = mean != 0.0 && mean.abs() < 1e-3 * largest;
        if !mean.is_finite() || little || (unit == MetricUnit::Packets && mean.fract() == 0.0) {
            return estimate(*v, unit);
        }
        let text = number(mean / one, unit);
        let decimals = text.split_once('.').map_or(0, |(_, d)| d.len());
        match v.half_width {
            None => format!("{text} {symbol}"),
            Some(half) => format!("{text} ± {:.decimals$} {symbol}", unit.settled(half) / one),
        }
    };
    let cell = |v: &Option<Estimate>| v.as_ref().map_or(NONE.into(), text);
    values.iter().map(cell).collect()
}

/// Returns a relative difference with its sign: "+1.2 %". Beyond a hundred times the reference it is
/// the factor: "×230".
pub fn error(relative: f64) -> String {
    let percent = relative * 100.0;
    match percent.abs() {
        p if !p.is_finite() => format!("{percent}"),
        p if p < 0.005 => "0 %".into(),
        p if p < 0.995 => format!("{percent:+.2} %"),
        p if p < 99.95 => format!("{percent:+.1} %"),
        p if p < 9999.5 => format!("{percent:+.0} %"),
        _ => format!("×{:.0}", 1.0 + relative),
    }
}

/// Returns the range of a target: "3 Mbps ± 5 %", "theory ± 5 %", "≥ 97 %", "10–60 %".
pub fn allowed(target: Target, unit: MetricUnit) -> String {
    let percent = |t: f64| round_quantity(t, MetricUnit::Ratio);
    match target {
        Target::Value { value, tolerance } => {
            format!("{} ± {}", round_quantity(value, unit), percent(tolerance))
        }
        Target::Beyond { value, tolerance } => {
            let value = round_quantity(value, unit);
            format!("not {value} ± {}", percent(tolerance))
        }
        Target::Engine { engine, tolerance } => format!("{engine} ± {}", percent(tolerance)),
        Target::Range { min, max } => match (min > f64::NEG_INFINITY, max < f64::INFINITY) {
            (false, false) => "any".into(),
            (true, false) => format!("≥ {}", round_quantity(min, unit)),
            (false, true) => format!("≤ {}", round_quantity(max, unit)),
            (true, true) => {
                let (low, high) = (round_quantity(min, unit), round_quantity(max, unit));
                let same = |(n, u): (&str, &str)| high.ends_with(u).then(|| n.to_string());
                let low = low.split_once(' ').and_then(same).unwrap_or(low);
                format!("{low}–{high}")
            }
        },
    }
}

/// Returns the precision of equilibria, with the largest of each residual: "optimal in 3 phases;
/// ...".
pub fn certificates(certificates: &[Certificate]) -> String {
    let phases = match certificates.len() {
        1 => "optimal".to_string(),
        n => format!("optimal in each of {n} phases"),
    };
    let mut largest = [("", 0.0f64); 4];
    for c in certificates {
        for (most, (name, residual)) in largest.iter_mut().zip(c.residuals()) {
            *most = (name, most.1.max(residual));
        }
    }
    let residuals = largest.map(|(name, residual)| format!("{name} {}", self::residual(residual)));
    format!("{phases}, to within {}", residuals.join(", "))
}

/// Returns a residual: "2e-14".
pub fn residual(residual: f64) -> String {
    match residual {
        0.0 => "0".into(),
        r => format!("{r:.0e}"),
    }
}

/// Returns a number of items: "1 link", "2 links".
pub fn count(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// Returns the texts in order, each once.
pub fn once<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = std::collections::BTreeSet::new();
    texts.filter(|text| seen.insert(*text)).collect()
}

/// Returns the notes of engines in order, each once. A note shared by theory and the fluid names
/// both: "theory and fluid: ...".
pub fn shared<'a>(notes: impl Iterator<Item = &'a str>) -> Vec<String> {
    let notes = once(notes);
    let of = |engine: &str| -> std::collections::BTreeSet<&str> {
        notes.iter().filter_map(|n| n.strip_prefix(engine)).collect()
    };
    let (theory, fluid) = (of(THEORY), of(FLUID));
    let name = |note: &&str| match (note.strip_prefix(THEORY), note.strip_prefix(FLUID)) {
        (Some(text), _) if fluid.contains(text) => Some(format!("theory and fluid: {text}")),
        (_, Some(text)) if theory.contains(text) => None,
        _ => Some(note.to_string()),
    };
    notes.iter().filter_map(name).collect()
}

/// The engines at the head of their notes.
const THEORY: &str = "theory: ";
const FLUID: &str = "fluid: ";

/// Returns the first `most` notes, and the number of the others as a further note. A single
/// additional note is kept, because the number would take the same room.
pub fn few(notes: &[String], most: usize) -> Vec<String> {
    let shown = if notes.len() <= most + 1 { notes.len() } else { most };
    let mut few: Vec<String> = notes[..shown].to_vec();
    if notes.len() > shown {
        few.push(format!("... and {} more notes", notes.len() - shown));
    }
    few
}

/// A part of a run: "20–30 s". Times have three decimals, and more in a short part.
pub fn window(window: Window) -> String {
    let span = window.end.since(window.start).as_secs_f64();
    let places =
        if span > 0.0 { (2.0 - span.log10().floor()).clamp(3.0, 12.0) as usize } else { 3 };
    let seconds = |t: accord_units::Time| {
        let text = format!("{:.places$}", t.as_secs_f64());
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    format!("{}–{} s", seconds(window.start), seconds(window.end))
}

/// Returns a name or title from a file, made safe for a terminal or a page. It is one line without
/// control or direction-changing characters, of at most `limit` characters.
pub fn clean(text: &str, limit: usize) -> String {
    let safe = |c: char| match c {
        '\n' | '\t' | '\r' => ' ',
        c if is_hidden(c) => '\u{fffd}',
        c => c,
    };
    let mut chars = text.chars().map(safe);
    let mut out: String = chars.by_ref().take(limit).collect();
    if chars.next().is_some() {
        out.pop();
        out.push('…');
    }
    out
}

/// Returns the name of a group, a flow or a link as [`clean`] does. A name that is too long loses its middle,
/// because long names mostly begin the same and differ at their ends.
pub fn name(text: &str, limit: usize) -> String {
    let chars: Vec<char> = clean(text, usize::MAX).chars().collect();
    if chars.len() <= limit {
        return chars.into_iter().collect();
    }
    let kept = limit.saturating_sub(1);
    let (first, last) = (kept - kept / 2, kept / 2);
    let ends = [&chars[..first], &['…'], &chars[chars.len() - last..]];
    ends.concat().into_iter().collect()
}

/// Returns a text of many lines, made safe for a terminal in the same way. Each character keeps its
/// place in bytes, so spans of the text still fit.
pub fn visible(text: &str) -> String {
    let safe = |c: char| match c {
        '\n' | '\t' | '\r' => c,
        c if is_hidden(c) => match c.len_utf8() {
            1 => '?',
            2 => '¿',
            _ => '\u{fffd}',
        },
        c => c,
    };
    text.chars().map(safe).collect()
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns three significant digits, or four if the first is a 1, so each printed step is between 0.05 % and
/// 0.5 % of the value. A value below one per cent has two digits.
fn number(value: f64, unit: MetricUnit) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if value.abs() < 1e-4 || value.abs() >= 1e7 {
        return format!("{value:.2e}");
    }
    let magnitude = value.abs().log10().floor() as i32;
    let first_is_one = value.abs() / 10f64.powi(magnitude) < 1.9995;
    let mut digits = 3 + i32::from(first_is_one);
    if unit == MetricUnit::Ratio && value.abs() < 0.9995 {
        digits = 2;
    }
    let decimals = digits - 1 - magnitude;
    format!("{value:.*}", decimals.max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use MetricUnit::*;

    #[test]
    fn quantities_have_sensible_units() {
        let cases = [
            (2.009e6, BitPerSecond, "2.01 Mbps"),
            (3e6, BitPerSecond, "3.00 Mbps"),
            (12.344e6, BitPerSecond, "12.34 Mbps"),
            (999.6e3, BitPerSecond, "1.000 Mbps"),
            (2.4e9, BitPerSecond, "2.40 Gbps"),
            (0.0, BitPerSecond, "0 bps"),
            (31.24, Packets, "31.2 pkt"),
            (12345.0, Packets, "12345 pkt"),
            (12345.6, Packets, "12346 pkt"),
            (1.0, Packets, "1 pkt"),
            (0.00853, Seconds, "8.53 ms"),
            (2.5e-10, Seconds, "0.250 ns"),
            (0.0, Seconds, "0 s"),
            (3.2e-5, Seconds, "32.0 µs"),
            (0.984, Ratio, "98.4 %"),
            (1.0, Ratio, "100.0 %"),
            (-0.023, Ratio, "-2.30 %"),
            (2e-9, Ratio, "2.00e-7 %"),
            (2e-16, Ratio, "0 %"),
            (3041.0, Bytes, "3.04 KB"),
            (7.34e-10, Bytes, "0 B"),
            (-2e-7, BitPerSecond, "0 bps"),
            (3e-16, Seconds, "0 s"),
            (2e-6, Bytes, "2.00e-6 B"),
            (f64::NAN, Bytes, "NaN"),
            (f64::INFINITY, Bytes, "inf"),
        ];
        for (value, unit, text) in cases {
            assert_eq!(quantity(value, unit), text);
        }
        assert_eq!(apart([5e6, 5.004e6], BitPerSecond), ["5.000 Mbps", "5.004 Mbps"]);
        assert_eq!(apart([4e6, 5e6], BitPerSecond), ["4.00 Mbps", "5.00 Mbps"]);
        assert_eq!(apart([5e6, 5e6], BitPerSecond), ["5.00 Mbps", "5.00 Mbps"]);
        assert_eq!(round_quantity(3e6, BitPerSecond), "3 Mbps");
        assert_eq!(round_quantity(300.0, Packets), "300 pkt");
        assert_eq!(round_quantity(f64::INFINITY, Packets), "inf");
    }

    #[test]
    fn intervals_share_the_unit_and_the_decimals() {
        let e = |mean, half| Estimate { mean, half_width: half, runs: 5 };
        assert_eq!(estimate(e(2.009e6, Some(2.2e4)), BitPerSecond), "2.01 ± 0.02 Mbps");
        assert_eq!(estimate(e(2.009e6, None), BitPerSecond), "2.01 Mbps");
        assert_eq!(estimate(e(0.0, Some(0.0)), Packets), "0 ± 0 pkt");
        assert_eq!(estimate(e(7e-10, Some(2e-9)), Bytes), "0 ± 0 B");
    }

    #[test]
    fn values_of_a_row_share_their_unit_and_decimals() {
        let e = |mean| Some(Estimate { mean, half_width: None, runs: 1 });
        let rate = |values: &[Option<Estimate>]| row(values, BitPerSecond);
        assert_eq!(rate(&[e(1.5e6), e(958e3), None]), ["1.500 Mbps", "0.958 Mbps", "–"]);
        assert_eq!(row(&[e(3e3), e(1630.0)], Bytes), ["3.00 KB", "1.63 KB"]);
        assert_eq!(row(&[e(0.0), e(0.1798), e(7e-13)], Ratio), ["0 %", "17.98 %", "0 %"]);
        assert_eq!(row(&[e(0.0), e(0.274), e(0.1798)], Ratio), ["0.0 %", "27.4 %", "18.0 %"]);
        assert_eq!(row(&[e(362.0), e(12345.0)], Packets), ["362 pkt", "12345 pkt"]);
        let beside = |value| row_beside(&[e(value)], Bytes, 2e4);
        assert_eq!([beside(958.0), beside(4e-4)], [["0.958 KB"], ["0.000400 B"]]);
        // The values are too far apart to share digits.
        assert_eq!(rate(&[e(5e9), e(1200.0)]), ["5.00 Gbps", "1.200 Kbps"]);
    }

    #[test]
    fn targets_say_what_they_allow() {
        let range = |min, max| Target::Range { min, max };
        assert_eq!(allowed(range(0.1, 0.6), Ratio), "10–60 %");
        assert_eq!(allowed(range(9e5, 2e6), BitPerSecond), "900 Kbps–2 Mbps");
        assert_eq!(allowed(range(0.97, f64::INFINITY), Ratio), "≥ 97 %");
        assert_eq!(allowed(range(f64::NEG_INFINITY, 20.0), Packets), "≤ 20 pkt");
        let value = Target::Value { value: 3e6, tolerance: 0.005 };
        assert_eq!(allowed(value, BitPerSecond), "3 Mbps ± 0.5 %");
        let beyond = Target::Beyond { value: 3e6, tolerance: 0.05 };
        assert_eq!(allowed(beyond, BitPerSecond), "not 3 Mbps ± 5 %");
    }

    #[test]
    fn errors_keep_their_sign() {
        assert_eq!(error(0.0), "0 %");
        assert_eq!(error(0.0123), "+1.2 %");
        assert_eq!(error(-0.0012), "-0.12 %");
        assert_eq!(error(3.5), "+350 %");
        assert_eq!(error(229.0), "×230");
        assert_eq!(error(f64::INFINITY), "inf");
    }

    #[test]
    fn names_cannot_command_a_terminal() {
        assert_eq!(clean("a\x1b[31m\nb\u{202e}", 80), "a\u{fffd}[31m b\u{fffd}");
        assert_eq!(clean(&"x".repeat(1000), 10), "xxxxxxxxx…");
        assert_eq!(name("frankfurt-to-berlin.12", 22), "frankfurt-to-berlin.12");
        assert_eq!(name("frankfurt-to-berlin.12", 12), "frankf…in.12");
        assert_eq!(name("frankfurt-to-berlin.13", 11), "frank…in.13");
        assert_eq!(name("a\x1bb", 80), "a\u{fffd}b");
        let text = "a\x1b[31m\n\u{9b}\u{202e}\u{feff}ü\t";
        assert_eq!(visible(text), "a?[31m\n¿\u{fffd}\u{fffd}ü\t");
        assert_eq!(visible(text).len(), text.len());
    }

    #[test]
    fn a_column_has_one_unit() {
        let of = |mean: f64, half: f64| Some(Estimate { mean, half_width: Some(half), runs: 3 });
        let values = [of(896e3, 108e3), of(1.032e6, 43e3), None];
        let texts = column(&values, MetricUnit::BitPerSecond);
        assert_eq!(texts, ["0.896 ± 0.108 Mbps", "1.032 ± 0.043 Mbps", NONE]);
        let single = Some(Estimate { mean: 896e3, half_width: None, runs: 1 });
        let alone = row_beside(&[single], MetricUnit::BitPerSecond, 1.032e6);
        assert_eq!(alone, ["0.896 Mbps"]);
        assert_eq!(row(&[single], MetricUnit::BitPerSecond), ["896 Kbps"]);
        // A tiny value next to a large one keeps its digits.
        let texts = column(&[of(40.0, 1.0), of(1e6, 0.0)], MetricUnit::BitPerSecond);
        assert_eq!(texts, ["40.0 ± 1.0 bps", "1.000 ± 0.000 Mbps"]);
    }
}
