//! Means over a sweep, as tables for a paper or a page.

use super::canvas::number;
use super::{Content, Figure, FigureError, Kind};
use crate::cells::{Cells, Markup};

/// Returns the table: a row per line and a column per value of the sweep, or vice versa.
pub fn table(figure: &Figure, markup: Markup) -> Result<String, FigureError> {
    let (head, rows) = cells(figure)?;
    Ok(Cells { head, rows, names: 1 }.text(markup))
}

type Lines = (Vec<String>, Vec<Vec<String>>);

fn cells(figure: &Figure) -> Result<Lines, FigureError> {
    let (x, y) = (&figure.x, &figure.y);
    match &figure.content {
        Content::Lines(lines) if figure.kind == Kind::Sweep => {
            let engines: std::collections::BTreeSet<_> = lines.iter().map(|l| l.engine).collect();
            let name = |l: &super::Line| match (l.of.as_str(), engines.len()) {
                ("", _) => l.engine.to_string(),
                (of, 1) => of.to_string(),
                (of, _) => format!("{of}, {}", l.engine),
            };
            let value = |l: &super::Line, i: usize| match (l.y[i], l.high[i] - l.y[i]) {
                (v, _) if !v.is_finite() => "–".into(),
                (v, half) if half.is_finite() && half > 0.0 => {
                    let decimals = decimals(half / y.one);
                    format!("{:.decimals$} ± {:.decimals$}", v / y.one, half / y.one)
                }
                (v, _) => format!("{:.*}", decimals(v / y.one / 10.0), v / y.one),
            };
            let count = lines.first().map_or(0, |l| l.x.len());
            let at = |i: usize| match &x.ticks {
                Some(words) => words[i].clone(),
                None => number(lines[0].x[i] / x.one),
            };
            let corner = format!("{} by {}", y.label(), x.label());
            // The longer side is vertical.
            if lines.len() > count {
                let row = |l: &super::Line| {
                    std::iter::once(name(l)).chain((0..count).map(|i| value(l, i))).collect()
                };
                let head = std::iter::once(corner).chain((0..count).map(at)).collect();
                return Ok((head, lines.iter().map(row).collect()));
            }
            let row = |i: usize| {
                std::iter::once(at(i)).chain(lines.iter().map(|l| value(l, i))).collect()
            };
            let head = std::iter::once(corner).chain(lines.iter().map(name)).collect();
            Ok((head, (0..count).map(row).collect()))
        }
        Content::Map(map) => {
            let mut head = vec![format!("{} by {}", y.label(), x.label())];
            head.extend(map.across.iter().cloned());
            let mut rows = Vec::new();
            for (title, values) in &map.panels {
                for (up, values) in map.up.iter().zip(values.chunks(map.across.len())) {
                    let name =
                        if map.panels.len() > 1 { format!("{title}: {up}") } else { up.clone() };
                    let cell = |v: &f64| match v.is_finite() {
                        true => format!("{:.*}", decimals(v / y.one / 10.0), v / y.one),
                        false => "–".into(),
                    };
                    rows.push(std::iter::once(name).chain(values.iter().map(cell)).collect());
                }
            }
            Ok((head, rows))
        }
        _ => Err(FigureError::wrong(
            format!("a figure of the kind {} is not a table", figure.kind.name()),
            "--kind sweep has a table of means, and --csv the data of the others",
        )),
    }
}

/// Returns the number of decimals with which a value has two digits, or one if it is large.
fn decimals(value: f64) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 2;
    }
    (1 - value.abs().log10().floor() as i32).clamp(0, 6) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_two_digits_of_their_interval() {
        assert_eq!([0.012, 0.5, 3.0, 40.0, 900.0].map(decimals), [3, 2, 1, 0, 0]);
    }
}
