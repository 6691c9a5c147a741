//! Longer phases.

use accord_scenario::{Scenario, Window};
use accord_traffic::Demand;
use accord_units::{Duration, Time};

/// The length of the shortest phase that leaves a queue behind according to theory, in base round-trip times.
/// A shorter phase keeps its length, so a flow that starts before there is a queue still does so.
const SETTLED: u64 = 20;

/// A phase before and after stretching.
struct Piece {
    start: Time,
    end: Time,
    new_start: Time,
    times: u64,
}

/// Makes phases `times` longer, with all their events and measured windows. So windows begin later
/// after each change, and last longer.
pub(crate) fn stretch(scenario: &Scenario, times: u64) -> Result<Scenario, &'static str> {
    let finite = |d: &Demand| matches!(d, Demand::Size(_));
    if scenario.flows.iter().any(|f| finite(&f.demand)) {
        return Err("flows end by themselves, so phases cannot be longer");
    }
    if scenario.duration.as_ps().checked_mul(times).is_none() {
        return Err("the run is too long to be longer");
    }
    let state = scenario.at(Time::ZERO);
    let longest = (0..scenario.flows.len()).map(|f| state.base_rtt(f));
    let settled = longest.max().unwrap_or(Duration::ZERO) * SETTLED;
    let mut pieces: Vec<Piece> = Vec::new();
    let mut now = Time::ZERO;
    for phase in scenario.phases() {
        let length = phase.end.since(phase.start);
        let times = if length > settled { times } else { 1 };
        pieces.push(Piece { start: phase.start, end: phase.end, new_start: now, times });
        now += length * times;
    }
    if pieces.iter().all(|p| p.times == 1) {
        return Err("no phase is longer than 20 base round-trip times");
    }
    let later = |t: Time| match pieces.iter().find(|p| t <= p.end) {
        Some(p) => p.new_start + t.since(p.start) * p.times,
        None => now + t.since(scenario.end()),
    };
    let window = |w: Window| Window { start: later(w.start), end: later(w.end) };
    let mut s = scenario.clone();
    s.duration = now.since_start();
    s.steady = window(s.steady);
    for f in &mut s.flows {
        f.start = later(f.start);
        f.stop = f.stop.map(later);
    }
    for e in &mut s.events {
        e.at = later(e.at);
    }
    for e in &mut s.expectations {
        e.during = window(e.during);
    }
    Ok(s)
}
