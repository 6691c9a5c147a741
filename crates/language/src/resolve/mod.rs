//! From a checked tree to the network model: names become indices, defaults are filled in, and
//! random choices are made.

mod applies;
mod carrier;
mod event;
mod expect;
mod fails;
mod flow;
mod network;
mod parts;
mod port;
mod processing;
mod route;
mod sample;
mod traffic;

use crate::keys;
use crate::read::{self, Reader};
use crate::shape::Shape;
use crate::sweep::Axis;
use accord_family::Catalogue;
use accord_form::{Entry, Table, Value};
use accord_form::{Problem, Problems, Span, fail};
use accord_scenario::{Fluid, Scenario, Window};
use accord_units::Time;
use network::Network;

/// The context in which a point of a file is resolved.
pub(crate) struct Context<'a> {
    pub catalogue: &'a Catalogue,
    /// The id derived from the file's name.
    pub id: &'a str,
    /// The seed to use instead of the file's own.
    pub seed: Option<u64>,
    /// The sweeps of the file.
    pub axes: &'a [Axis],
    /// The index of each sweep's value at this point.
    pub chosen: &'a [usize],
}

impl Context<'_> {
    /// Returns a sweep and its label at this point.
    fn label(&self, sweep: &str) -> Option<(&Axis, &str)> {
        let i = self.axes.iter().position(|a| a.name == sweep)?;
        let axis = &self.axes[i];
        Some((axis, &axis.values[self.chosen[i]].0))
    }
}

/// Resolves a tree whose form has been checked. Returns `None` if there are problems.
pub(crate) fn resolve(
    tree: &Table,
    context: &Context<'_>,
    problems: &mut Problems,
) -> Option<Scenario> {
    let file = Reader::new(&keys::FILE, tree, Span::default());
    let mut scenario = problems.keep(head(&file, context))?;
    let mut network = Network::default();
    network.declare(&file, context.catalogue, scenario.seed, problems);
    if !problems.is_empty() {
        return None;
    }
    let entries = entries(file.given("flow"));
    let wanted = flow::resolve(entries, context.catalogue, &mut network, &mut scenario, problems);
    if !problems.is_empty() {
        return None;
    }
    // Most of the memory of a large scenario is here.
    scenario.flows.shrink_to_fit();
    network.links.shrink_to_fit();
    if scenario.flows.is_empty() {
        let problem = Problem::new(file.span, "there are no flows");
        problems.push(problem.hint("a group of flows is a table [flow.NAME]"));
        return None;
    }
    problems.keep(sample::choose(&file, &network.links, &mut scenario))?;
    event::resolve(list(file.given("event")), &network, &mut scenario, problems);
    processing::resolve(&wanted, &network.links, &mut scenario, problems);
    let expected = list(file.given("expect"));
    expect::resolve(expected, context, &network, &mut scenario, problems);
    network.finish(&mut scenario, problems);
    problems.is_empty().then_some(scenario)
}

fn entries(value: Option<&Value>) -> &[Entry] {
    value.and_then(Value::table).map_or(&[], |t| &t.entries)
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::list).unwrap_or_default()
}

/// Reads the keys that do not concern the network.
fn head(file: &Reader<'_>, context: &Context<'_>) -> Result<Scenario, Problem> {
    let duration = file.get("duration", read::span)?;
    let text = |key| file.get(key, |v| read::text(v, &Shape::Text).map(str::to_string));
    let id = file.opt("id", |v| read::name(v, false).map(str::to_string))?;
    let steady = match file.given("steady") {
        Some(value) => window(value, Time::ZERO + duration)?,
        None => Window { start: Time::from_ps(duration.as_ps() / 2), end: Time::ZERO + duration },
    };
    Ok(Scenario {
        id: id.unwrap_or_else(|| context.id.to_string()),
        title: text("title")?,
        source: text("source")?,
        notes: text("notes")?,
        figure: file.opt("figure", read::word)?,
        point: context
            .axes
            .iter()
            .zip(context.chosen)
            .map(|(axis, &i)| (axis.name.clone(), axis.values[i].0.clone()))
            .collect(),
        seed: match context.seed {
            Some(seed) => seed,
            None => file.get("seed", port::seed)?,
        },
        duration,
        sample: sample::given(file, duration)?,
        inner: file.get("inner", read::flag)?,
        steady,
        fluid: fluid(file)?,
        nodes: Vec::new(),
        links: Vec::new(),
        groups: Vec::new(),
        flows: Vec::new(),
        aggregates: Vec::new(),
        events: Vec::new(),
        expectations: Vec::new(),
    })
}

fn fluid(file: &Reader<'_>) -> Result<Fluid, Problem> {
    let Some(reader) = file.table("fluid", &keys::FLUID) else {
        return Ok(Fluid::default());
    };
    Ok(Fluid {
        link_model: reader.get("link_model", read::word)?,
        step: reader.opt("step", read::span)?,
    })
}

/// Reads a window of a run that ends at `end`.
fn window(value: &Value, end: Time) -> Result<Window, Problem> {
    let (start, stop) = read::interval(value, false)?;
    if stop > end {
        return fail(value.span, format!("the window ends at {stop}, but the run at {end}"));
    }
    Ok(Window { start, end: stop })
}
