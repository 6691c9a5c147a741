//! The changes that a request makes to a gathered figure: the ends of its axes and the names of its
//! lines.

use super::{Axis, Content, Figure, FigureError, Kind, Line, Request};

/// Applies limits and labels.
pub fn adjust(figure: &mut Figure, request: &Request) -> Result<(), FigureError> {
    limit(&mut figure.x, request.x, "xlim")?;
    limit(&mut figure.y, request.y, "ylim")?;
    for (axis, text) in [&mut figure.x, &mut figure.y].into_iter().zip(&request.axes) {
        if let Some(text) = text {
            (axis.name, axis.unit) = (text.clone(), "");
        }
    }
    for (name, text) in &request.labels {
        rename(&mut figure.content, name, text)?;
    }
    if let Some(facet) = &request.facet {
        check_facet(figure, facet)?;
    }
    figure.facet.clone_from(&request.facet);
    Ok(())
}

/// Facets that are not variables of a sweep.
const FACETS: [&str; 2] = ["engine", "of"];

/// Returns the title of the plot that a line is in, if it has one.
pub fn facet_of(line: &Line, facet: &str) -> Option<String> {
    match facet {
        "engine" => Some(line.engine.to_string()),
        "of" => Some(line.of.clone()),
        variable => {
            let (name, value) = line.settings.iter().find(|(name, _)| name == variable)?;
            Some(format!("{name} = {value}"))
        }
    }
}

fn check_facet(figure: &Figure, facet: &str) -> Result<(), FigureError> {
    let Content::Lines(lines) = &figure.content else {
        let kind = figure.kind.name();
        let kinds = [Kind::Time, Kind::Cdf, Kind::Sweep].map(Kind::name).join(", ");
        return Err(FigureError::wrong(
            format!("a figure of the kind {kind} has no facets"),
            format!("--facet is for lines: --kind {kinds}"),
        ));
    };
    if lines.iter().all(|line| facet_of(line, facet).is_some()) {
        return Ok(());
    }
    let swept = lines.first().into_iter().flat_map(|line| &line.settings);
    let known: Vec<&str> = FACETS.into_iter().chain(swept.map(|(name, _)| &**name)).collect();
    Err(FigureError::wrong(
        format!("--facet {facet}: no such dimension"),
        format!("there are: {}", known.join(", ")),
    ))
}

/// Sets the ends of an axis, in the unit of its display.
fn limit(axis: &mut Axis, ends: Option<(f64, f64)>, option: &str) -> Result<(), FigureError> {
    let Some((from, to)) = ends else {
        return Ok(());
    };
    let wrong = |why: &str, hint: &str| Err(FigureError::wrong(format!("--{option}: {why}"), hint));
    if axis.ticks.is_some() {
        return wrong("the axis has words and no numbers", "leave it out");
    }
    if axis.log && from <= 0.0 {
        let hint = "begin above zero, or leave the logarithmic axis out";
        return wrong("a logarithmic axis has no zero", hint);
    }
    axis.ends = (from * axis.one, to * axis.one);
    Ok(())
}

/// Renames the lines of this name.
fn rename(content: &mut Content, name: &str, text: &str) -> Result<(), FigureError> {
    let names: Vec<&mut String> = match content {
        Content::Lines(traces) => traces.iter_mut().map(|t| &mut t.of).collect(),
        Content::Map(map) => map.panels.iter_mut().map(|(title, _)| title).collect(),
    };
    let mut known: Vec<String> = names.iter().map(|of| of.to_string()).collect();
    let mut found = false;
    for of in names.into_iter().filter(|of| **of == name) {
        *of = text.into();
        found = true;
    }
    known.retain(|of| !of.is_empty());
    known.dedup();
    let hint = if known.is_empty() {
        "a single line has no name".into()
    } else {
        format!("there are: {}", known.join("; "))
    };
    if found {
        Ok(())
    } else {
        Err(FigureError::wrong(format!("--label: there is no line \"{name}\""), hint))
    }
}
