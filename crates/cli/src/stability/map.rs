//! Maps of stability over one or two parameters, with packet simulations on top.

use crate::args::Stability as Args;
use crate::axis::Axis;
use crate::fail::Failure;
use crate::output::{data, json, note};
use crate::progress::{at_once, parts};
use crate::source::load;
use accord::Catalogue;
use accord::record::{Observer, Quiet};
use accord::report::{Cell, FORMAT_VERSION, StabilityMap, check_map_place, joined, write_map_dir};
use accord::scenario::Scenario;
use rayon::prelude::*;
use serde_json::json;
use std::path::Path;

/// Computes the map, writes it, and prints its path.
pub fn run(args: &Args, catalogue: &Catalogue) -> Result<bool, Failure> {
    let count = args.points as usize;
    let x = Axis::parse(args.x.as_deref().unwrap_or_default(), count)?;
    let y = args.y.as_ref().map(|text| Axis::parse(text, count)).transpose()?;
    if y.as_ref().is_some_and(|y| y.path == x.path) {
        return Err(Failure::new(format!("both axes set \"{}\"", x.path))
            .hint("give --y another path, or leave it out"));
    }
    let rows = y.as_ref().map_or(1, |y| y.count);
    let every = match args.packets {
        0 => usize::MAX,
        n => (count / n).max(1),
    };
    let jobs: Vec<(usize, usize)> =
        (0..rows).flat_map(|j| (0..count).map(move |i| (i, j))).collect();
    let id = single(args, catalogue, &args.set)?.id;
    let default = || Path::new("runs").join(format!("{id}-stability"));
    let dir = args.output.clone().unwrap_or_else(default);
    let at = |i: usize, j: usize| {
        let mut set = args.set.clone();
        set.push(format!("{}={}", x.path, x.text(i)));
        set.extend(y.as_ref().map(|y| format!("{}={}", y.path, y.text(j))));
        single(args, catalogue, &set)
    };
    // An invalid axis is reported before anything is computed.
    at(0, 0)?;
    check_map_place(&dir)?;
    let cells: Result<Vec<Cell>, Failure> = at_once(|| {
        let progress = parts(jobs.len(), args.quiet || args.json);
        let cells = jobs.par_iter().map(|&(i, j)| {
            let scenario = at(i, j)?;
            let packets = i % every == every / 2 && (y.is_none() || j % every == every / 2);
            let packets = args.packets > 0 && (packets || every == 1);
            let mut quiet = Quiet;
            let observer: Option<&mut dyn Observer> = packets.then_some(&mut quiet as _);
            let mut cell = accord::stability_cell(&scenario, observer);
            cell.place = [i, j];
            cell.at.push(x.value(i));
            cell.at.extend(y.as_ref().map(|y| y.value(j)));
            progress.done();
            Ok(cell)
        });
        cells.collect()
    })?;
    let cells = cells?;
    let axes = [Some(&x), y.as_ref()];
    let axes = axes.into_iter().flatten().map(Axis::parameter).collect();
    let map = StabilityMap { id, axes, cells };
    write_map_dir(&dir, &map)?;
    if args.json {
        json(&joined(json!({ "format_version": FORMAT_VERSION }), json!(map)))?;
        return Ok(true);
    }
    let stable = map.cells.iter().filter(|c| c.growth_per_s < 0.0).count();
    data(format_args!(
        "{}: no known mode grows at {stable} of {} points",
        map.id,
        map.cells.len()
    ))?;
    if let Some(error) = map.cells.iter().find_map(|c| c.error.as_ref()) {
        data(format_args!("without a result, for example: {error}"))?;
    }
    if y.is_none() || args.csv {
        data(map.csv().trim_end())?;
    }
    if !args.quiet {
        note(format_args!(
            "map:   {}\ntable: {}",
            dir.join("map.html").display(),
            dir.join("map.csv").display()
        ));
    }
    Ok(true)
}

/// Returns the scenario with the values of the map. A sweep of the file would override them.
fn single(args: &Args, catalogue: &Catalogue, settings: &[String]) -> Result<Scenario, Failure> {
    let scenario = load(&args.scenario, settings)?.points(catalogue, args.seed)?.swap_remove(0);
    let names: Vec<&str> = scenario.point.iter().map(|(name, _)| &name[..]).collect();
    if names.is_empty() {
        return Ok(scenario);
    }
    let wrong =
        format!("{} has the sweep {}, and a map has its own axes", args.scenario, names.join(", "));
    Err(Failure::new(wrong)
        .hint("remove the sweep from a copy of the file, and set its values by --x, --y or --set"))
}
