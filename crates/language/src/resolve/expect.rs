//! Expectations.

use super::applies::{by, engines, listed};
use super::fails::Failures;
use super::network::Network;
use super::sample::sampled;
use super::{Context, event, window};
use crate::read::{self, Reader};
use crate::shape::Shape;
use crate::{figure, keys, limits};
use accord_form::{Data, Value};
use accord_form::{Problem, Problems, fail, quote};
use accord_scenario::{
    Across, Claim, Engine, Expectation, Metric, Of, Over, Recorded, Scenario, Subject, Target,
    Window, percentile,
};
use std::collections::BTreeSet;

pub(super) fn resolve(
    expected: &[Value],
    context: &Context<'_>,
    network: &Network,
    scenario: &mut Scenario,
    problems: &mut Problems,
) {
    let mut names = BTreeSet::new();
    if let Some(value) = expected.get(limits::EXPECTATIONS) {
        let message = format!("more than {} expectations", limits::EXPECTATIONS);
        problems.push(Problem::new(value.span, message));
        return;
    }
    for value in expected {
        if problems.is_full() {
            return;
        }
        let Some(table) = value.table() else {
            continue;
        };
        let reader = Reader::new(&keys::EXPECT, table, value.span);
        let expectations = expectations(&reader, context, network, scenario);
        for mut expectation in problems.keep(expectations).unwrap_or_default() {
            // An expectation of several engines has a single name.
            let engine = expectation.engine;
            let taken = |name: &str| names.contains(&(name.to_string(), engine));
            if taken(&expectation.name) {
                if let Some(name) = reader.given("name") {
                    let message = format!("{} is expected twice", quote(&expectation.name));
                    problems.push(Problem::new(name.span, message));
                }
                let free = |n: &usize| !taken(&format!("{} ({n})", expectation.name));
                let number = (2..).find(free).expect("names are finite");
                expectation.name = format!("{} ({number})", expectation.name);
            }
            names.insert((expectation.name.clone(), engine));
            scenario.inner |= expectation.metric.is_inner();
            scenario.expectations.push(expectation);
        }
    }
}

/// Returns one expectation per engine, or none if nothing is expected at this point.
fn expectations(
    reader: &Reader<'_>,
    context: &Context<'_>,
    network: &Network,
    scenario: &Scenario,
) -> Result<Vec<Expectation>, Problem> {
    if !listed(reader.given("when"), context)? {
        return Ok(Vec::new());
    }
    let metric: Metric = reader.get("metric", read::metric)?;
    let of = reader.given("of").ok_or_else(|| reader.missing("of"))?;
    let subject = subject(of, metric, network, scenario)?;
    has_variable(reader, metric, subject, scenario)?;
    let over = match state(reader, metric)? {
        Some(state) => Over::State(state),
        None => reader.get("over", read::over)?,
    };
    let across = reader.get("across", read::word::<Across>)?;
    if let Some(value) = reader.given("across") {
        let as_one = |group: usize| scenario.groups[group].recorded == Recorded::Group;
        let refuse = |message: String| Problem::new(value.span, message);
        let combines = matches!(subject, Subject::Group(_)) && metric.of() == Of::Flow;
        let nothing = "so there is nothing to combine";
        let of = of.describe();
        if across != Across::Each && !combines {
            return Err(refuse(format!("{of} has one value of this, {nothing}")));
        }
        if across == Across::Sum && metric.of() == Of::Flow && !metric.adds() {
            let message = format!("the {metric} of several flows does not add up to anything");
            return Err(refuse(message).hint("across = \"mean\""));
        }
        // The series of a group that is recorded as one is that sum.
        let is_one = matches!(subject, Subject::Group(group) if as_one(group));
        if is_one && !(across == Across::Sum && metric.adds()) {
            let hint = "its series are sums over the flows, and transfers are taken together; record = \"flows\" has each flow";
            return Err(refuse(format!("{of} is recorded as one group, {nothing}")).hint(hint));
        }
    }
    let during = match reader.given("during") {
        Some(value) => {
            let during = window(value, scenario.end())?;
            if metric.of() != Of::Transfer {
                sampled(during, scenario.sample, scenario.duration, value.span)?;
            }
            during
        }
        None => scenario.steady,
    };
    let plain = across.is_plain(over);
    let engines = reader.get("engine", engines)?;
    if let Some(value) = reader.given("engine").filter(|_| engines.is_empty()) {
        let problem = Problem::new(value.span, "no engine is named, so nothing is expected");
        return Err(problem.hint("name one, such as \"packet\", or leave `engine` out"));
    }
    let failures = Failures::read(reader, context, metric, plain, &engines)?;
    let given = match reader.given("name") {
        Some(value) => read::text(value, &Shape::Text)?,
        None => "",
    };
    engines
        .into_iter()
        .map(|engine| {
            let name = match given {
                "" => describe(metric, of, over, across, during),
                given => given.to_string(),
            };
            let target = target(reader, context, metric, plain, engine)?;
            let paper = reader.get("paper", |v| read::text(v, &Shape::Text).map(str::to_string))?;
            Ok(Expectation {
                name,
                engine,
                metric,
                of: subject,
                over,
                across,
                during,
                target,
                claim: claim(reader, &paper, target)?,
                paper,
                fails: failures.of(engine),
            })
        })
        .collect()
}

/// Returns the state whose share of the samples is the value, for a metric that has states.
fn state(reader: &Reader<'_>, metric: Metric) -> Result<Option<&'static str>, Problem> {
    let states = metric.states();
    let Some(value) = reader.given("state") else {
        return match states {
            [] => Ok(None),
            _ => Err(Problem::new(reader.span, format!("{metric} is a state"))
                .hint(format!("state = \"{}\"", states.join("\", or \"")))),
        };
    };
    if states.is_empty() {
        return fail(value.span, format!("{metric} is not a state"));
    }
    if let Some(over) = reader.given("over") {
        return fail(over.span, "either `over` or `state`");
    }
    read::choice(value, states).map(Some)
}

/// Returns the author of the claim: the one named in the file, or else the one implied by the
/// target.
fn claim(reader: &Reader<'_>, paper: &str, target: Target) -> Result<Claim, Problem> {
    if let Some(value) = reader.given("claim") {
        return read::word(value);
    }
    Ok(match target {
        _ if !paper.is_empty() => Claim::Paper,
        Target::Engine { .. } => Claim::Theory,
        Target::Value { .. } | Target::Beyond { .. } | Target::Range { .. } => Claim::Ours,
    })
}

fn subject(
    of: &Value,
    metric: Metric,
    network: &Network,
    scenario: &Scenario,
) -> Result<Subject, Problem> {
    if metric.of() == Of::Aggregate {
        return aggregate(of, metric, network, scenario);
    }
    if metric.of() == Of::Link {
        let id = network.find_link(of).map_err(|p| Problem {
            message: format!("{}; {metric} is a metric of links", p.message),
            ..p
        })?;
        if network.links[id].attachment {
            return fail(of.span, "no series are recorded for links that attach hosts");
        }
        return Ok(Subject::Link(id));
    }
    let what = match metric.of() {
        Of::Group => "groups",
        _ => "flows",
    };
    let flows = event::flows(of, network, scenario).map_err(|p| Problem {
        message: format!("{}; {metric} is a metric of {what}", p.message),
        ..p
    })?;
    let group = scenario.flows[flows.start].group;
    let name = &scenario.groups[group].name;
    let whole = of.text() == Some(name);
    if metric.of() == Of::Group && (!whole || flows.len() < 2) {
        return fail(of.span, format!("{metric} is a metric of groups of two flows or more"));
    }
    let as_one = scenario.groups[group].recorded == Recorded::Group;
    if as_one && metric.of() == Of::Flow && !(whole && metric.adds()) {
        let message = if whole {
            format!("{name} is recorded as one group, which has no {metric}")
        } else {
            format!("{name} is recorded as one group, not flow by flow")
        };
        let hint = format!("record = \"flows\" in [flow.{name}]");
        return Err(Problem::new(of.span, message).hint(hint));
    }
    Ok(if whole { Subject::Group(group) } else { Subject::Flow(flows.start) })
}

/// Checks that the controller of the subject declares the metric, if that is a variable.
fn has_variable(
    reader: &Reader<'_>,
    metric: Metric,
    subject: Subject,
    scenario: &Scenario,
) -> Result<(), Problem> {
    let flow = match subject {
        Subject::Flow(flow) => flow,
        Subject::Group(group) => scenario.groups[group].flows.start,
        Subject::Link(_) | Subject::Aggregate { .. } => return Ok(()),
    };
    let family = scenario.flows[flow].controller.family();
    match metric {
        Metric::Inner(inner) if !family.inner.contains(inner) => {
            let span = reader.given("metric").map_or(reader.span, |v| v.span);
            let problem = Problem::new(span, format!("{} has no {metric}", family.name));
            let own: Vec<&str> = family.inner.iter().map(|inner| inner.name).collect();
            Err(match &own[..] {
                [] => problem.hint(format!("{} declares no inner state", family.name)),
                own => problem.hint(format!("it has {}", own.join(", "))),
            })
        }
        _ => Ok(()),
    }
}

/// Reads an aggregate at a link: "bottleneck.udp".
fn aggregate(
    of: &Value,
    metric: Metric,
    network: &Network,
    scenario: &Scenario,
) -> Result<Subject, Problem> {
    let name = read::name(of, true)?;
    let refuse = |message: String| {
        Problem::new(of.span, message).hint("LINK.AGGREGATE, such as \"bottleneck.udp\"")
    };
    let Some((link, aggregate)) = name.rsplit_once('.') else {
        let message = format!("{metric} is a metric of an aggregate at a link");
        return Err(refuse(message));
    };
    let of_link = Value { span: of.span, data: Data::Text(link.to_string()) };
    let link = network.find_link(&of_link)?;
    let told = network.links[link].queue.discipline.family();
    if told.aggregate_params().is_empty() {
        let message = format!("{} does not distinguish aggregates", told.name);
        return Err(refuse(message));
    }
    let found = scenario.aggregates.iter().position(|n| n == aggregate);
    let aggregate = found.ok_or_else(|| {
        let known = scenario.aggregates.iter().map(String::as_str);
        refuse(format!("there is no aggregate {}", quote(aggregate))).known(aggregate, known)
    })?;
    Ok(Subject::Aggregate { link, aggregate })
}

/// A share below that of a single sample in any run.
const SEEN: f64 = 1e-9;

fn target(
    reader: &Reader<'_>,
    context: &Context<'_>,
    metric: Metric,
    plain: bool,
    engine: Engine,
) -> Result<Target, Problem> {
    let here = |key| match reader.given(key) {
        Some(value) => at_point(reader, value, context).map(Some),
        None => Ok(None),
    };
    let bound = |value: Option<&Value>, none: f64| {
        value.map_or(Ok(none), |v| figure::read(v, metric, plain))
    };
    match (here("equals")?, here("at_least")?, here("at_most")?) {
        (Some(value), None, None) => {
            let beyond = reader.opt("beyond", read::tolerance)?;
            let within = reader.opt("within", read::tolerance)?;
            let tolerance = beyond.or(within).ok_or_else(|| reader.missing("within"))?;
            if let Some(both) = reader.given("beyond").filter(|_| within.is_some()) {
                return fail(both.span, "either `within` or `beyond`");
            }
            if let Some(other) = Engine::ALL.into_iter().find(|e| value.text() == Some(e.name())) {
                if let Some(beyond) = reader.given("beyond") {
                    return fail(beyond.span, "`beyond` needs a number, not an engine");
                }
                if other == engine {
                    let message = format!("the {engine} engine always agrees with itself");
                    return Err(Problem::new(value.span, message));
                }
                return Ok(Target::Engine { engine: other, tolerance });
            }
            let exact = figure::read(value, metric, plain)?;
            if exact == 0.0 {
                let message = "a relative tolerance has no meaning around zero";
                return Err(Problem::new(value.span, message).hint("use `at_most`"));
            }
            Ok(match beyond {
                Some(tolerance) => Target::Beyond { value: exact, tolerance },
                None => Target::Value { value: exact, tolerance },
            })
        }
        (None, least, most) if least.is_some() || most.is_some() => {
            for key in ["within", "beyond"] {
                if let Some(given) = reader.given(key) {
                    return fail(given.span, format!("`{key}` goes with `equals` only"));
                }
            }
            let (min, max) = (bound(least, f64::NEG_INFINITY)?, bound(most, f64::INFINITY)?);
            if min > max {
                let span = most.or(least).map_or(reader.span, |v| v.span);
                return Err(Problem::new(span, "`at_most` is less than `at_least`"));
            }
            Ok(Target::Range { min, max })
        }
        _ if !metric.states().is_empty() => Ok(Target::Range { min: SEEN, max: f64::INFINITY }),
        _ => Err(Problem::new(reader.span, "an expectation needs a target").hint(
            "either `equals` and `within` (or `beyond`), or `at_least` or `at_most` or both",
        )),
    }
}

/// Returns the value that applies at this point, out of a table of values by the labels of a sweep.
fn at_point<'a>(
    reader: &Reader<'_>,
    value: &'a Value,
    context: &Context<'_>,
) -> Result<&'a Value, Problem> {
    let Data::Table(table) = &value.data else {
        return Ok(value);
    };
    let (axis, here) = by(reader.given("by"), value.span, context)?;
    for entry in &table.entries {
        axis.check(&entry.key, entry.span)?;
    }
    table.get(here).ok_or_else(|| {
        let message = format!("there is no value for {} = {}", axis.name, quote(here));
        Problem::new(value.span, message)
    })
}

fn describe(metric: Metric, of: &Value, over: Over, across: Across, during: Window) -> String {
    let mut name = match over {
        Over::Mean => String::new(),
        Over::Min => "least ".to_string(),
        Over::Max => "greatest ".to_string(),
        Over::Variation => "variation of ".to_string(),
        Over::Quantile(q) => format!("{} of ", percentile(q)),
        Over::State(state) => format!("{state} of "),
    };
    name += &metric.name().replace('_', " ");
    name += match across {
        Across::Each => "",
        Across::Mean => ", mean",
        Across::Sum => ", sum",
        Across::Min => ", least",
        Across::Max => ", greatest",
        Across::Variation => ", variation",
        Across::Jain => ", Jain's index",
    };
    let of = of.text().unwrap_or_default();
    format!("{name} of {of}, {} to {}", during.start, during.end)
}
