//! The number of packets that a run moves, estimated from max-min fair rates at several instants of
//! the run.

use accord::family::{Objective, Role};
use accord::scenario::{Scenario, State};
use accord::solver::{Demand as Share, Problem, Routes, max_min};
use accord::traffic::Demand;
use accord::units::{Bytes, Rate, Time};

/// The number of instants at which rates are computed: large for a small scenario, small for a
/// large one.
const INSTANTS: usize = 24;
/// The maximum number of flows and hops over all instants.
const WORK: usize = 3_000_000;
/// The mean rate of a web user with the default laws, in bit/s: 70 Mbps for 500
/// (docs/src/traffic.md).
const WEB_USER: f64 = 140e3;

/// The traffic of a run's flows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Packets that cross a link, summed over links, including acknowledgements and control
    /// packets.
    pub hops: f64,
    /// The cost of the packets, in packet-hops of the reference run.
    pub work: f64,
}

/// The cost of a packet-hop: for a stream at its first shared queue, for a tunnel, and for a sender
/// without a controller, whose packets meet queues that drop them.
const STREAM: f64 = 1.1;
const TUNNEL: f64 = 2.2;
const UNRESPONSIVE: f64 = 1.0;

/// Estimates the traffic of a scenario's flows.
pub fn load(scenario: &Scenario) -> Load {
    let hops: usize = scenario.flows.iter().map(|f| f.path.len() + 1).sum();
    let instants = (WORK / hops.max(1)).clamp(1, INSTANTS);
    let seconds = scenario.duration.as_secs_f64() / instants as f64;
    // The remaining data of finite flows, in bits.
    let mut left: Vec<f64> = (scenario.flows.iter())
        .map(|f| match f.demand {
            Demand::Size(size) => size.bits_f64(),
            _ => f64::INFINITY,
        })
        .collect();
    let mut sum = Load::default();
    for i in 0..instants {
        let middle = (i as f64 + 0.5) * seconds;
        let state = scenario.at(Time::from_secs_f64(middle));
        let slice = (middle - seconds / 2.0, middle + seconds / 2.0);
        add(&mut sum, &state, slice, &mut left);
    }
    sum
}

/// Returns the part of a time slice in which a flow may send, in seconds.
fn active(scenario: &Scenario, flow: usize, (from, to): (f64, f64)) -> f64 {
    let f = &scenario.flows[flow];
    let stop = f.stop.map_or(f64::INFINITY, Time::as_secs_f64);
    (to.min(stop) - from.max(f.start.as_secs_f64())).max(0.0)
}

/// The packets per second that an application with a rate of its own makes. A burst has at least one.
fn made(demand: &Demand, packet: Bytes) -> f64 {
    let bits = 8.0 * packet.as_f64().max(1.0);
    match demand {
        Demand::OnOff { rate: Some(rate), burst, pause } => {
            let packets = (burst.mean().bits_f64() / bits).ceil().max(1.0);
            packets / (packets * bits / rate.as_bps_f64().max(1.0) + pause.mean().as_secs_f64())
        }
        Demand::Constant(rate) | Demand::Poisson(rate) => rate.as_bps_f64() / bits,
        _ => 0.0,
    }
}

/// Adds the traffic of a time slice.
fn add(sum: &mut Load, state: &State<'_>, slice: (f64, f64), left: &mut [f64]) {
    let scenario = state.scenario;
    // A tunnel sends the data of the flows in it.
    let carries = |flow: usize| scenario.riders(flow).next().is_some();
    let flows: Vec<(usize, f64)> = (0..scenario.flows.len())
        .filter(|&flow| scenario.flows[flow].tunnel.is_none() || !carries(flow))
        .map(|flow| (flow, active(scenario, flow, slice)))
        .filter(|&(flow, time)| time > 0.0 && left[flow] > 0.0)
        .collect();
    let Some(rates) = rates(state, &flows) else {
        return;
    };
    for (&(flow, time), rate) in flows.iter().zip(rates) {
        let f = &scenario.flows[flow];
        let bits = (rate * time).min(left[flow]);
        left[flow] -= bits;
        let packets = bits / 8.0 / f.packet.as_f64().max(1.0);
        let (there, back) = (state.path(flow).len() as f64, state.reverse_path(flow).len() as f64);
        let role = f.controller.family().role;
        let (hops, cost, sent) = match (role, role.objective(&f.controller)) {
            // A pair of control packets and a report, once per round trip.
            (Role::Tunnel(_), _) => {
                let rounds = time / state.base_rtt(flow).as_secs_f64().max(1e-6);
                let control = rounds.min(packets.max(1.0)) * (2.0 * there + back);
                (packets * there + control, TUNNEL, packets)
            }
            // It sends as much as it can, and a queue drops the excess. Drops of the first queue cross no link, but
            // take its time.
            (_, Some(Objective::Unresponsive)) => {
                let first = state.rate[state.path(flow)[0]].as_bps_f64() * time;
                let own = state.demand(flow).mean_rate().unwrap_or(rate) * time;
                let packet = 8.0 * f.packet.as_f64().max(1.0);
                let sent = own.min(first).max(bits) / packet;
                (sent + packets * (there - 1.0), UNRESPONSIVE, sent)
            }
            // An acknowledgement for each packet.
            _ if f.through.is_some() => (packets * (there + back), TUNNEL, packets),
            _ => (packets * (there + back), STREAM, packets),
        };
        // An application that makes more packets than are sent takes its time all the same.
        sum.work += UNRESPONSIVE * (made(&state.demand(flow), f.packet) * time - sent).max(0.0);
        sum.hops += hops;
        sum.work += cost * hops;
    }
}

/// Returns the rate of each of these flows, in bit/s.
fn rates(state: &State<'_>, flows: &[(usize, f64)]) -> Option<Vec<f64>> {
    let scenario = state.scenario;
    let path = |&(flow, _): &(usize, f64)| -> Vec<u32> {
        state.path(flow).iter().map(|&l| l as u32).collect()
    };
    let share = |&(flow, _): &(usize, f64)| {
        let demand = state.demand(flow);
        let cap = demand.mean_rate().or(match demand {
            Demand::Web(_) => Some(WEB_USER),
            _ => None,
        });
        let weight = scenario.flows[flow].share.clamp(1e-6, 1e9);
        match cap {
            Some(cap) if cap.is_finite() && cap > 0.0 => Share::Capped { weight, cap },
            _ => Share::Log { weight },
        }
    };
    // An outage moves almost no data.
    let capacity = |rate: &Rate| rate.as_bps_f64().max(1.0);
    let capacities: Vec<f64> = state.rate.iter().map(capacity).collect();
    let routes = Routes::new(capacities.len(), flows.iter().map(path)).ok()?;
    let shares = flows.iter().map(share).collect();
    let problem = Problem::new(routes, capacities, shares).ok()?;
    Some(max_min(&problem).ok()?.rates)
}
