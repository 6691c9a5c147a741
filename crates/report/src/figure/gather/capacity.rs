//! The rate of a link behind the lines of a figure.

use super::values_axis;
use crate::figure::{Figure, FigureError, Kind, Request};
use crate::files::Stored;
use crate::range;
use accord_scenario::{Entity, Metric, MetricUnit};

/// Adds the rate of a link over time, of the first run that has it, and makes room for it.
pub fn add(
    figure: &mut Figure,
    link: &str,
    stored: &[Stored],
    request: &Request,
) -> Result<(), FigureError> {
    if figure.kind != Kind::Time || request.metric.unit() != MetricUnit::BitPerSecond {
        return Err(FigureError::wrong(
            "--capacity is for rates over time",
            "leave it out, or draw a rate such as throughput with --kind time",
        ));
    }
    let points = || stored.iter().flat_map(|s| &s.points);
    let found = points().find_map(|point| {
        let at = point.manifest.scenario.links.iter().position(|l| l.name == link)?;
        let run = point.runs.iter().find(|run| run.time.len() > 1)?;
        Some((run, run.series(Metric::LinkRate, Entity::Link(at))?))
    });
    let Some((run, series)) = found else {
        let all = points().flat_map(|point| &point.manifest.scenario.links);
        let names: Vec<&str> = all.filter(|l| l.shown).map(|l| l.name.as_str()).take(12).collect();
        return Err(FigureError::wrong(
            format!("--capacity: there is no link \"{link}\" in these runs"),
            format!("there is {}", names.join(", ")),
        ));
    };
    let part = request.time.map_or(0..run.time.len(), |window| run.within(window));
    let (x, y) = (run.time[part.clone()].to_vec(), series.values[part].to_vec());
    let most = y.iter().copied().filter(|v| v.is_finite()).fold(figure.y.ends.1, f64::max);
    if !figure.y.log && most > figure.y.ends.1 {
        let shown = range::Shown { low: figure.y.ends.0, high: most, positive: most };
        let row = request.metric.row();
        let ends = range::ends(shown, row.from_zero, row.most);
        figure.y = values_axis(request, figure.y.name.clone(), most, ends, false);
    }
    figure.capacity = Some((x, y));
    Ok(())
}
