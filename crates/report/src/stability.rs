//! Maps of stability over one or two parameters, as a table (CSV) and, in `page`, as a page.

use serde::Serialize;
use std::fmt::Write;

/// The margins of an equilibrium over one or two parameters. In JSON, an infinite or unknown number
/// is null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StabilityMap {
    /// The id of the scenario.
    pub id: String,
    /// The parameters: one or two.
    pub axes: Vec<Parameter>,
    /// A cell per combination of values.
    pub cells: Vec<Cell>,
}

/// A parameter of a map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// The path in the scenario.
    pub path: String,
    /// The unit of its values, or "".
    pub unit: String,
    /// The values, evenly spaced.
    #[serde(skip)]
    pub values: Vec<f64>,
}

/// The result at one place of a map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The value of each parameter.
    pub at: Vec<f64>,
    /// The index of each value. The second is 0 in a map of one parameter.
    #[serde(skip)]
    pub place: [usize; 2],
    /// The factor by which all gains can be multiplied before small deviations grow.
    pub gain_margin: f64,
    /// The delay that can be added before small deviations grow, in seconds.
    pub delay_margin_s: f64,
    /// The rate at which small deviations grow, in 1/s. It is negative if the equilibrium is
    /// stable.
    pub growth_per_s: f64,
    /// The coefficient of variation of the longest queue in packets, if packets were run.
    pub packet_queue_variation: Option<f64>,
    /// The reason why there is no result.
    pub error: Option<String>,
}

impl Parameter {
    pub(crate) fn label(&self) -> String {
        if self.unit.is_empty() {
            self.path.clone()
        } else {
            format!("{} in {}", self.path, self.unit)
        }
    }
}

impl StabilityMap {
    /// Returns the values of the parameters at a cell.
    pub(crate) fn values<'a>(
        &'a self,
        cell: &'a Cell,
    ) -> impl Iterator<Item = (&'a Parameter, f64)> {
        self.axes.iter().zip(cell.at.iter().copied())
    }

    /// Returns the map as CSV: the parameters, the margins and the results of packets.
    pub fn csv(&self) -> String {
        let mut out = String::new();
        for axis in &self.axes {
            _ = write!(out, "\"{}\",", axis.label());
        }
        out += "gain_margin,delay_margin_s,growth_per_s,packet_queue_variation\n";
        for c in &self.cells {
            for (_, value) in self.values(c) {
                _ = write!(out, "{value},");
            }
            let swing = c.packet_queue_variation;
            _ = writeln!(
                out,
                "{},{},{},{}",
                known(c.gain_margin, |v| format!("{v:.6}")),
                known(c.delay_margin_s, |v| format!("{v:.6e}")),
                known(c.growth_per_s, |v| format!("{v:.6e}")),
                swing.map_or(String::new(), |s| format!("{s:.4}"))
            );
        }
        out
    }
}

/// Returns an empty text if there is no value.
fn known(value: f64, text: impl Fn(f64) -> String) -> String {
    if value.is_nan() { String::new() } else { text(value) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn map() -> StabilityMap {
        let cell = |i: usize, gain_margin, error: Option<&str>| Cell {
            at: vec![0.5 * (i + 1) as f64],
            place: [i, 0],
            gain_margin,
            delay_margin_s: f64::INFINITY,
            growth_per_s: 1.0 - gain_margin,
            packet_queue_variation: (i == 0).then_some(0.25),
            error: error.map(str::to_string),
        };
        StabilityMap {
            id: "a<b".into(),
            axes: vec![Parameter {
                path: "flow.f.controller.gain".into(),
                unit: String::new(),
                values: vec![0.5, 1.0, 1.5],
            }],
            cells: vec![
                cell(0, 2.0, None),
                cell(1, 0.5, None),
                cell(2, f64::NAN, Some("no <law>")),
            ],
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_cell() {
        assert_eq!(
            map().csv(),
            "\"flow.f.controller.gain\",gain_margin,delay_margin_s,growth_per_s,packet_queue_variation\n\
             0.5,2.000000,inf,-1.000000e0,0.2500\n\
             1,0.500000,inf,5.000000e-1,\n\
             1.5,,inf,,\n"
        );
    }
}
