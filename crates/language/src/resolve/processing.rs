//! Processing times of hosts. They are resolved after the events, because a host must not be slower than its
//! path at any time.

use crate::shape::Processing;
use accord_family::{Objective, Values};
use accord_form::{Problem, Problems, Span};
use accord_scenario::{Change, Link, LinkId, Scenario};
use accord_units::{Duration, Rate};

/// The processing time of a host as given in the file, with its place.
pub(super) type Wanted = (Processing, Span);

/// Sets the longest processing times of all flows. It is zero for hosts that send no stream.
pub(super) fn resolve(
    wanted: &[Wanted],
    links: &[Link],
    scenario: &mut Scenario,
    problems: &mut Problems,
) {
    let fastest = fastest(links, scenario);
    let slowest = |path: &[LinkId]| path.iter().map(|&l| fastest[l]).min();
    let mut rates: Vec<_> = scenario.flows.iter().map(|f| slowest(&f.path)).collect();
    for event in &scenario.events {
        if let Change::Route { flow, path, .. } = &event.change {
            rates[*flow] = rates[*flow].max(slowest(path));
        }
    }
    for ((flow, &(wanted, span)), rate) in scenario.flows.iter_mut().zip(wanted).zip(rates) {
        let longest = rate.unwrap_or(Rate::ZERO).transmission(flow.packet);
        flow.processing = match wanted {
            Processing::Time(time) if time > longest => {
                let message = format!(
                    "{time} is too long: the slowest link of the path takes {longest} for a packet"
                );
                let hint =
                    "a host that takes longer than the slowest link would slow the flow down";
                problems.push(Problem::new(span, message).hint(hint));
                if problems.is_full() {
                    return;
                }
                continue;
            }
            Processing::Time(time) => time,
            Processing::Packet if flow.controller.is_stream() => longest,
            Processing::Auto if fills_queues(&flow.controller) => longest,
            Processing::Packet | Processing::Auto => Duration::ZERO,
        };
    }
}

/// Returns whether the phases of a controller's packets decide which of them a full queue drops.
/// Controllers that measure a delay keep queues short, and would take the host's time for part of
/// the delay.
fn fills_queues(controller: &Values) -> bool {
    let objective = controller.family().role.objective(controller);
    matches!(objective, Some(Objective::Loss | Objective::WeightedLoss))
}

/// Returns the highest rate of each link at any time of the run.
fn fastest(links: &[Link], scenario: &Scenario) -> Vec<Rate> {
    let of = |link: &Link| {
        let trace = link.parts.as_ref().and_then(|p| p.trace.as_ref());
        trace.map_or(link.rate, |t| t.peak_rate())
    };
    let mut fastest: Vec<Rate> = links.iter().map(of).collect();
    for event in &scenario.events {
        if let Change::Rate(link, rate) = event.change {
            fastest[link] = fastest[link].max(rate);
        }
    }
    fastest
}
