//! The data of figures as tables.

use super::{Content, Figure, Kind};
use accord_columns::csv_text;
use std::io;

/// Returns the data as CSV, with one row per value and the units in the header.
pub fn table(figure: &Figure) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    write(figure, &mut out).expect("nothing fails in memory");
    let bytes = out.into_inner().expect("nothing fails in memory");
    String::from_utf8(bytes).expect("only text was written")
}

/// Returns a value as text: "" if there is none.
fn text(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

fn write(figure: &Figure, out: &mut csv::Writer<Vec<u8>>) -> io::Result<()> {
    let (x, y) = (figure.x.heading(), figure.y.heading());
    match &figure.content {
        Content::Lines(traces) => {
            let wide = traces.iter().any(|t| t.low.iter().any(|v| v.is_finite()));
            let mut header = vec!["of".to_string(), "engine".into(), x, y];
            if wide {
                header.extend(["low".into(), "high".into()]);
            }
            out.write_record(&header)?;
            for t in traces {
                for i in 0..t.x.len() {
                    if figure.kind == Kind::Sweep && !t.y[i].is_finite() {
                        continue;
                    }
                    let at = match &figure.x.ticks {
                        Some(ticks) => csv_text(&ticks[t.x[i] as usize]).into_owned(),
                        None => text(t.x[i]),
                    };
                    let of = csv_text(&t.of).into_owned();
                    let mut row = vec![of, t.engine.to_string(), at, text(t.y[i])];
                    if wide {
                        let end = |band: &[f64]| text(band.get(i).copied().unwrap_or(f64::NAN));
                        row.extend([end(&t.low), end(&t.high)]);
                    }
                    out.write_record(&row)?;
                }
            }
        }
        Content::Map(map) => {
            let (across, up) = x.split_once(" / ").unwrap_or((&x, ""));
            out.write_record(["of", across, up, &y])?;
            for (title, values) in &map.panels {
                for (i, value) in values.iter().enumerate() {
                    let (row, column) = (i / map.across.len(), i % map.across.len());
                    let at = [title, &map.across[column], &map.up[row]].map(|t| csv_text(t));
                    out.write_record(at.iter().map(|t| &**t).chain([&*text(*value)]))?;
                }
            }
        }
    }
    Ok(())
}
