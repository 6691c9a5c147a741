//! Figures of states over time: a row per flow, with a band per state.

use super::canvas::*;
use super::legend::{Entry, legend, legend_height};
use super::look::Look;
use super::{Axis, Figure, Line};
use plotters::prelude::*;
use std::collections::BTreeSet;

/// The fraction of a row that a band fills.
const FILLED: f64 = 0.7;

/// Draws the figure. The values of the lines are indices of states.
pub fn draw(figure: &Figure, traces: &[Line]) -> String {
    let engines: BTreeSet<_> = traces.iter().map(|t| t.engine).collect();
    let names = traces.iter().map(|t| match (engines.len() > 1, t.of.is_empty()) {
        (false, _) => t.of.clone(),
        (true, true) => t.engine.to_string(),
        (true, false) => format!("{}, {}", t.of, t.engine),
    });
    // The first row is at the top.
    let names: Vec<String> = names.rev().collect();
    let rows = names.len() as f64;
    let y = Axis { ticks: Some(names), ..Axis::linear("", "", (-0.5, rows - 0.5)) };
    let seen: BTreeSet<usize> =
        traces.iter().flat_map(|t| &t.y).filter(|v| v.is_finite()).map(|v| *v as usize).collect();
    let states = figure.states.iter().enumerate().filter(|(i, _)| seen.contains(i));
    let entries: Vec<Entry> = states
        .map(|(i, name)| Entry::Subject((*name).to_string(), Look::plain(i), false))
        .collect();
    let (width, height) = size(figure.width);
    let top = legend_height(width, &entries);
    let more = (top - LINE - 6 * POINT).max(0);
    on_area((width, height + more), |area| {
        legend(area, &entries);
        let frame = Frame::draw(area, (&figure.x, &y), 0, top);
        for (row, t) in traces.iter().rev().enumerate() {
            let [low, high] = [-1.0, 1.0].map(|side| row as f64 + side * FILLED / 2.0);
            for (state, from, to) in bands(&t.x, &t.y) {
                let x = [from, to].map(|at| frame.x_at(at / figure.x.one));
                let x = x.map(|x| x.clamp(frame.left, frame.right));
                let corners = [(x[0], frame.y_at(high)), (x[1], frame.y_at(low))];
                area.draw(&Rectangle::new(corners, colour(Look::plain(state)).filled()))
                    .expect(SURE);
            }
        }
    })
}

/// The stretches of samples in one state, with the times of their ends. A sample applies from the end of the
/// previous period.
fn bands(x: &[f64], y: &[f64]) -> Vec<(usize, f64, f64)> {
    let period = match x {
        [first, second, ..] => second - first,
        _ => x.first().copied().unwrap_or_default(),
    };
    let mut bands: Vec<(usize, f64, f64)> = Vec::new();
    for (&end, &state) in x.iter().zip(y).filter(|(_, state)| state.is_finite()) {
        let (state, start) = (state as usize, end - period);
        match bands.last_mut() {
            Some((same, _, until)) if *same == state && start - *until < period / 2.0 => {
                *until = end
            }
            _ => bands.push((state, start, end)),
        }
    }
    bands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_end_where_the_state_changes_or_the_flow_pauses() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let y = [0.0, 0.0, 2.0, f64::NAN, 2.0, 2.0];
        assert_eq!(bands(&x, &y), [(0, 0.0, 2.0), (2, 2.0, 3.0), (2, 4.0, 6.0)]);
        assert_eq!(bands(&[0.5], &[1.0]), [(1, 0.0, 0.5)]);
        assert_eq!(bands(&[], &[]), []);
    }
}
