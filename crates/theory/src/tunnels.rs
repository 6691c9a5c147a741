//! Tunnels between gateways, and the shares of the flows in them.
//!
//! A tunnel is a flow of the network: its contract and weight determine its share of the links. It sends the
//! traffic of its riders, so it is greedy unless all of them have a rate. The share is then divided inside
//! the tunnel. The edge queue serves the queues of flows in turns of equal bytes, regardless of their
//! controllers. Shares are therefore max-min fair, and a flow whose application has a rate gets at most that
//! rate. Theory needs no model of the controllers of riders.
//!
//! Departures. Riders are assumed to keep the edge busy. A controller that leaves the edge empty at
//! times, such as Vegas, gets less. The delay at the edge depends on CoDel and the controllers of
//! riders, so their round trips and accumulations have no value here.

use crate::EquilibriumError;
use crate::equilibrium::{Equilibrium, State};
use accord_scenario::{LinkId, Phase};
use accord_solver::{Demand, Problem, Routes, Status, max_min};
use std::collections::BTreeMap;

/// The rounding error by which the load of a link outside tunnels may exceed its rate.
const NEAR: f64 = 1e-9;

/// The riders of a phase, which are not flows of the network.
pub(crate) struct Riders {
    /// The riders of each tunnel that has any.
    of: BTreeMap<usize, Vec<usize>>,
}

impl State<'_> {
    /// Removes the riders from a phase, and sets the offered rates of their tunnels.
    pub(crate) fn take_riders(&mut self, phase: &mut Phase) -> Riders {
        let mut of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let s = self.scenario;
        for &flow in &phase.active {
            if s.flows[flow].tunnel.is_some() {
                of.entry(flow).or_default();
            }
        }
        phase.active.retain(|&flow| {
            let Some(tunnel) = s.flows[flow].through else {
                return true;
            };
            if let Some(riders) = of.get_mut(&tunnel) {
                riders.push(flow);
            }
            false
        });
        for (&tunnel, riders) in &of {
            let rates = riders.iter().map(|&rider| self.offered_inside(rider));
            let sum = rates.sum::<f64>();
            self.carried.insert(tunnel, Some(sum).filter(|sum| sum.is_finite()));
        }
        Riders { of }
    }

    /// Returns the offered rate of a rider's application, in bytes per second with the overhead of its
    /// tunnel. It is infinite for a greedy one. A stopped link on the rider's own path stops it.
    fn offered_inside(&self, rider: usize) -> f64 {
        if self.outside(rider).any(|l| self.rate[l] == 0.0) {
            return 0.0;
        }
        let offered = self.offered(rider).unwrap_or(f64::INFINITY);
        offered * self.growth(rider)
    }

    /// Returns the ratio of the size of a rider's packets inside the tunnel to their size outside.
    fn growth(&self, rider: usize) -> f64 {
        let s = self.scenario;
        let flow = &s.flows[rider];
        let tunnel = flow.through.and_then(|tunnel| s.flows[tunnel].tunnel);
        let overhead = tunnel.map_or(0.0, |t| t.overhead.as_f64());
        1.0 + overhead / flow.packet.as_f64()
    }

    /// Returns the links of a rider's path that its tunnel does not have.
    fn outside(&self, rider: usize) -> impl Iterator<Item = LinkId> {
        let tunnel = self.scenario.flows[rider].through;
        let inside = tunnel.map_or(&[][..], |tunnel| self.network.path(tunnel));
        let links = self.network.path(rider).iter().copied();
        links.filter(move |link| !inside.contains(link))
    }

    /// Divides the share of each tunnel among its riders. Returns the reason if this overloads a
    /// link.
    ///
    /// # Errors
    /// Fails if the shares of a tunnel are not a valid problem.
    pub(crate) fn share_out(
        &self,
        riders: &Riders,
        phase: &Phase,
        e: &mut Equilibrium,
    ) -> Result<Option<String>, EquilibriumError> {
        let s = self.scenario;
        let invalid = EquilibriumError::of(phase);
        for (&tunnel, riders) in &riders.of {
            let rate = e.rate[tunnel];
            let demand = |&rider: &usize| match self.offered_inside(rider) {
                f64::INFINITY => Demand::Log { weight: 1.0 },
                cap => Demand::Capped { weight: 1.0, cap },
            };
            // A rider that offers nothing has no demand.
            let (still, moving): (Vec<usize>, Vec<usize>) = (riders.iter())
                .partition(|&&rider| rate == 0.0 || self.offered_inside(rider) == 0.0);
            still.into_iter().for_each(|rider| e.rate[rider] = 0.0);
            if moving.is_empty() {
                continue;
            }
            let routes = Routes::new(1, vec![vec![0]; moving.len()]).map_err(&invalid)?;
            let demands = moving.iter().map(demand).collect();
            let problem = Problem::new(routes, vec![rate], demands).map_err(&invalid)?;
            let shares = max_min(&problem).map_err(&invalid)?;
            debug_assert_eq!(shares.status, Status::Solved, "no rider insists on a rate");
            for (&rider, share) in moving.iter().zip(shares.rates) {
                e.rate[rider] = share / self.growth(rider);
                e.base_rtt[rider] = self.base_rtt(rider);
                for link in self.outside(rider) {
                    e.load[link] += e.rate[rider];
                    e.arrivals[link] += e.rate[rider] / s.flows[rider].packet.as_f64();
                }
            }
        }
        let riders = || riders.of.values().flatten();
        let full = riders().flat_map(|&rider| self.outside(rider).map(move |l| (rider, l)));
        let mut full = full.filter(|&(_, l)| e.load[l] > self.capacity(l) * (1.0 + NEAR));
        Ok(full.next().map(|(rider, link)| {
            format!(
                "no equilibrium: {} holds back {}, which rides in a tunnel; theory covers only tunnels with all queues at their edges",
                s.links[link].name, self.group(rider),
            )
        }))
    }
}
