//! `accord check`: validity of a scenario, and warnings of theory before a run.

use crate::args::Check;
use crate::cost::{self, twins};
use crate::fail::Failure;
use crate::output::{data, escaped, json, note, prose};
use crate::source::load;
use accord::Catalogue;
use accord::family::{Dynamics, FlowFacts, Objective, QueueFacts, QueueLaw, WindowLaw};
use accord::margins::{Loop, largest};
use accord::record::Quiet;
use accord::report::{Point, show::count};
use accord::scenario::{self, Carrier, Flow, Scenario, print};
use accord::theory::{Outcome, Shortfall, unmet_contracts};
use accord::units::{Bytes, Rate, Time};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The maximum number of printed warnings; the others are counted.
const SHOWN: usize = 5;
/// The part of a link from which on unresponsive traffic is worth a warning.
const FIXED: f64 = 0.5;

/// Returns a line per kind of connections of other stacks, which says if they are repeatable.
fn stacks(scenario: &Scenario) -> Vec<String> {
    let flows = scenario.flows.iter();
    let lines = flows.filter_map(|flow| match flow.carrier {
        Carrier::Quic(stack) => {
            let who = format!("{} with {}", stack.name, flow.controller.family().name);
            Some(match (stack.repeats)(&flow.controller) {
                Ok(()) => format!("connections of {who}: repeatable in packets"),
                Err(why) => format!("connections of {who}: not repeatable, as {why}"),
            })
        }
        Carrier::Ours | Carrier::Kernel(_) => None,
    });
    lines.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Checks a scenario. Warnings are not failures.
pub fn run(args: Check, catalogue: &Catalogue) -> Result<bool, Failure> {
    let file = load(&args.scenario, &args.set)?;
    let points = file.points(catalogue, args.seed)?;
    if args.print {
        for point in &points {
            data(escaped(&print(point)))?;
        }
        return Ok(true);
    }
    let s = &points[0];
    let whole = (Time::ZERO, s.end());
    let odd = file.events_without_effect().into_iter();
    let odd = odd.map(|text| Warning { text, ..Warning::of(s, whole, "event") });
    let warnings: Vec<Warning> = points.iter().flat_map(warnings).chain(odd).collect();
    let twins = twins(&points);
    let cost = cost::estimate(&points, &args.engine, args.reps, false, catalogue);
    let plan = accord::sim::plan(s).to_string();
    if args.json {
        let alike = twins.iter().map(|&(a, b)| [a, b].map(|i| label(&points[i])));
        json(&json!({
            "id": s.id,
            "points": points.len(),
            "nodes": s.nodes.len(),
            "links": s.links.len(),
            "flows": s.flows.len(),
            "expectations": s.expectations.len(),
            "duration_s": s.duration.as_secs_f64(),
            "warnings": warnings,
            "cost": cost,
            "plan": plan,
            "stacks": stacks(s),
            "alike": alike.collect::<Vec<_>>(),
        }))?;
        return Ok(true);
    }
    let runs = match points.len() {
        1 => String::new(),
        n => format!(", {n} points"),
    };
    prose(format_args!(
        "{}: valid; {}, {}, {}, {}, {} simulated{runs}",
        s.id,
        count(s.nodes.len(), "node"),
        count(s.links.len(), "link"),
        count(s.flows.len(), "flow"),
        count(s.expectations.len(), "expectation"),
        s.duration
    ))?;
    prose(format_args!("accord run: {}", cost.text()))?;
    match plan.strip_prefix("events: ") {
        Some(because) => {
            prose(format_args!("packet engine: event by event (slower), because {because}"))?;
        }
        None => prose("packet engine: in windows of time (faster)")?,
    }
    for stack in stacks(s) {
        prose(format_args!("{stack}"))?;
    }
    for (a, b) in twins.iter().take(SHOWN) {
        let (a, b) = (label(&points[*a]), label(&points[*b]));
        note(format_args!("warning: {a} and {b} cannot differ: no run depends on the swept value"));
    }
    for w in warnings.iter().take(SHOWN) {
        let point = match w.point.as_str() {
            "" => String::new(),
            point => format!("{point}, "),
        };
        note(format_args!("warning: {point}{} s to {} s: {}", w.start_s, w.end_s, w.text));
    }
    let more = warnings.len().saturating_sub(SHOWN) + twins.len().saturating_sub(SHOWN);
    if more > 0 {
        note(format_args!("and {more} more warnings; --json shows all"));
    }
    Ok(true)
}

/// Unmet contracts in a phase, gains that make a queue cycle, prices without a bound, or queues that are too short.
#[derive(Serialize)]
struct Warning {
    /// The point of the sweep, or "".
    point: String,
    start_s: f64,
    end_s: f64,
    /// The text of the warning.
    text: String,
    /// "equilibrium", "full buffers", "none", "cycle" for a gain that is too large,
    /// "idle" for a price that rises without end, "short queue", or "event" for one without effect.
    outcome: &'static str,
    /// The links whose contracts exceed their capacity.
    oversubscribed: Vec<Value>,
    /// The flows below their guaranteed rate.
    held: Vec<Value>,
}

impl Warning {
    fn of(scenario: &Scenario, (start, end): (Time, Time), outcome: &'static str) -> Warning {
        Warning {
            point: label(scenario),
            start_s: start.as_secs_f64(),
            end_s: end.as_secs_f64(),
            text: String::new(),
            outcome,
            oversubscribed: Vec::new(),
            held: Vec::new(),
        }
    }
}

fn warnings(scenario: &Scenario) -> Vec<Warning> {
    // A run reports the errors of theory; they do not make a scenario invalid.
    let shortfalls = unmet_contracts(scenario, &mut Quiet).unwrap_or_default();
    let unmet = shortfalls.iter().map(|s| warning(scenario, s));
    unmet.chain(unstable(scenario)).chain(unmarkable(scenario)).chain(shallow(scenario)).collect()
}

/// Finds queues that are too short for their packets.
fn shallow(scenario: &Scenario) -> Vec<Warning> {
    let whole = (Time::ZERO, Time::ZERO + scenario.duration);
    let sentences = scenario.shallow_queues().into_iter();
    sentences.map(|text| Warning { text, ..Warning::of(scenario, whole, "short queue") }).collect()
}

/// Finds gains beyond those at which a flow that decides once per round trip is stable.
fn unstable(scenario: &Scenario) -> Vec<Warning> {
    let large = |f: &Flow| {
        let facts = FlowFacts {
            packet: f.packet,
            weight: f.service.weight,
            has_contract: f.service.contract > Rate::ZERO,
        };
        let Dynamics::Window(of) = f.controller.family().dynamics else {
            return false;
        };
        let dynamics = of(&f.controller, &facts);
        match (dynamics.law, dynamics.rounds) {
            (WindowLaw::Proportional { gain, .. }, Some(rounds)) => gain > largest(rounds),
            _ => false,
        }
    };
    if !scenario.flows.iter().any(large) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for phase in scenario.phases() {
        // Without an equilibrium or a linearisation, stability is unknown.
        let Ok(stability) = accord::margins::stability(scenario, phase.start) else {
            continue;
        };
        let mut named = BTreeSet::new();
        for rest in &stability.rest {
            let exceeded = |closed: &Option<Loop>| closed.filter(|c| !c.is_stable());
            let (closed, outcome) = match (exceeded(&rest.mode), exceeded(&rest.bound)) {
                (Some(mode), _) => (mode, "the gain from which its queue cycles"),
                (None, Some(bound)) => {
                    (bound, "the gain up to which its queue is guaranteed to be stable")
                }
                (None, None) => continue,
            };
            if named.insert(rest.group) {
                found.push(Warning {
                    text: format!(
                        "a gain of {:.3} for {} is beyond {:.3}, {outcome}; accord stability has the margins",
                        closed.gain,
                        scenario.groups[rest.group].name,
                        closed.largest,
                    ),
                    ..Warning::of(scenario, (phase.start, phase.end), "cycle")
                });
            }
        }
    }
    found
}

/// Finds links with a price that counts dropped packets, where most traffic does not react to drops.
/// The price rises until the others send the rest of the rate.
fn unmarkable(scenario: &Scenario) -> Vec<Warning> {
    let counts_drops = |l: &scenario::Link| {
        let facts = QueueFacts { packet: Bytes::new(1), buffer: f64::INFINITY };
        let discipline = &l.queue.discipline;
        let law = discipline.family().queue_dynamics();
        law.is_ok_and(|of| {
            matches!(of(discipline, &facts).law, QueueLaw::Rem { dropped: true, .. })
        })
    };
    if !scenario.links.iter().any(counts_drops) {
        return Vec::new();
    }
    let reacts = |f: &Flow| {
        let role = f.controller.family().role;
        role.objective(&f.controller) != Some(Objective::Unresponsive)
    };
    let mut found = Vec::new();
    for phase in scenario.phases() {
        let state = scenario.at(phase.start);
        let mut fixed = vec![0.0; scenario.links.len()];
        for &flow in phase.active.iter().filter(|f| !reacts(&scenario.flows[**f])) {
            let rate = state.demand(flow).mean_rate().unwrap_or_default();
            state.path(flow).iter().for_each(|&l| fixed[l] += rate);
        }
        for (l, link) in scenario.links.iter().enumerate() {
            let rate = state.rate[l].as_bps_f64();
            if fixed[l] <= FIXED * rate || !counts_drops(link) {
                continue;
            }
            let name = link.queue.discipline.family().name;
            found.push(Warning {
                text: format!(
                    "{} counts {} of unmarkable, unresponsive traffic on {} even where it drops \
                     it: as little as {:.0} % of {} may be used; count_dropped = false counts the \
                     packets that it lets in",
                    name,
                    Rate::from_bps_f64(fixed[l]),
                    link.name,
                    100.0 * (1.0 - fixed[l] / rate).max(0.0),
                    state.rate[l],
                ),
                ..Warning::of(scenario, (phase.start, phase.end), "idle")
            });
        }
    }
    found
}

/// Returns the settings of a point of a sweep in one line, or "".
fn label(scenario: &Scenario) -> String {
    let (runs, checks) = (&[], &[]);
    Point { scenario, runs, checks }.label()
}

fn warning(scenario: &Scenario, shortfall: &Shortfall) -> Warning {
    let oversubscribed = shortfall.oversubscribed.iter().map(|o| {
        json!({
            "link": scenario.links[o.link].name,
            "contracts_bps": o.contracts,
            "capacity_bps": o.capacity,
        })
    });
    let held = shortfall.held.iter().map(|h| {
        let names = h.flows.iter().map(|&f| &scenario.flows[f].name);
        json!({
            "flows": names.collect::<Vec<_>>(),
            "rate_bps": h.rate,
            "due_bps": h.due,
            "contract_bps": h.contract,
            "limit_bytes": h.limit.map(|limit| limit.get()),
        })
    });
    let outcome = match shortfall.outcome {
        Outcome::Equilibrium => "equilibrium",
        Outcome::FullBuffers(_) => "full buffers",
        Outcome::None => "none",
    };
    Warning {
        text: shortfall.text(scenario),
        oversubscribed: oversubscribed.collect(),
        held: held.collect(),
        ..Warning::of(scenario, (shortfall.start, shortfall.end), outcome)
    }
}
