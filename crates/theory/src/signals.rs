//! Signals between flows and links: the prices of links, the reactions of flows to them, and the
//! base round-trip times that flows measure.

use crate::equilibrium::{Equilibrium, Left, State, leaves_queues};
use accord_family::{Objective, Price, Role, Target, Values};
use accord_record::Notes;
use accord_scenario::{LinkId, Phase};
use accord_solver::Demand;
use accord_traffic::Demand as Wants;

/// The least price, in seconds. A price below a picosecond, the resolution of time, counts as zero.
pub(crate) const LEAST_PRICE: f64 = 1e-12;

/// The sizes of notes on a load that is assumed to be steady, and on one that is left out.
const STEADY: f64 = 0.05;
const MISSING: f64 = 0.5;

pub(crate) fn objective(controller: &Values) -> Option<Objective> {
    controller.family().role.objective(controller)
}

impl State<'_> {
    /// Updates `measured`, the smallest round-trip time that each flow has measured so far, in
    /// seconds. At the start of `phase` a flow finds the queues of the previous phase. The excess
    /// over the base is the flow's bias.
    pub(crate) fn measure(&mut self, phase: &Phase, before: Option<&Left>, measured: &mut [f64]) {
        for &flow in &phase.active {
            let base = self.base_rtt(flow);
            let queued = match before {
                Some(left) if leaves_queues(left.length, base) => {
                    let links =
                        self.network.path(flow).iter().chain(self.network.reverse_path(flow));
                    links.map(|&l| left.queuing_delay[l]).sum()
                }
                _ => 0.0,
            };
            measured[flow] = measured[flow].min(base + queued);
            self.bias[flow] = measured[flow] - base;
        }
    }

    pub(crate) fn price_of(&self, link: LinkId) -> Price {
        let discipline = &self.scenario.links[link].queue.discipline;
        match discipline.family().role {
            Role::Queue(price) => price(discipline),
            Role::Controller(_) | Role::Tunnel(_) => Price::QueuingDelay,
        }
    }

    /// Removes the flows from `phase` that disturb the equilibrium without being part of it: web users
    /// without a mean load in the scenario, and transfers that end before the network can respond. Adds notes
    /// on these flows and on given loads.
    pub(crate) fn leave_out(&self, phase: &mut Phase, notes: &mut Notes) {
        let s = self.scenario;
        let mut note = |size: f64, text: String| notes.add(text.clone(), size, text);
        phase.active.retain(|&flow| {
            let f = &s.flows[flow];
            let (group, count) = (&s.groups[f.group].name, s.groups[f.group].flows.len());
            match f.demand {
                Wants::Web(web) => {
                    match web.load {
                        Some(load) => note(STEADY, format!("{group} ({count} web users) counts as a steady load of {load} a user")),
                        None => note(MISSING, format!("{group} ({count} web users) is left out: this is the equilibrium without it")),
                    }
                    web.load.is_some()
                }
                Wants::Size(size) if self.is_short(flow, size.as_f64()) => {
                    note(STEADY, format!("transfers of {group} that take less than a round trip on an empty path are left out: this is the equilibrium without them"));
                    false
                }
                _ => true,
            }
        });
    }

    /// Returns whether a transfer of `size` bytes alone on its path would be sent within a round
    /// trip. Feedback does not reach such a transfer.
    fn is_short(&self, flow: usize, size: f64) -> bool {
        let rates = self.network.path(flow).iter().map(|&l| self.rate[l]);
        size <= rates.fold(f64::INFINITY, f64::min) * self.base_rtt(flow)
    }

    /// Returns the rate that the flows of a link may share in equilibrium, in bytes per second.
    pub(crate) fn capacity(&self, link: LinkId) -> f64 {
        match self.price_of(link) {
            Price::VirtualDelay { utilisation } => self.rate[link] * utilisation,
            Price::QueuingDelay | Price::Marks { .. } | Price::Loss => self.rate[link],
        }
    }

    /// Returns the mean rate of a flow's application, or of the traffic in a tunnel, in bytes per
    /// second, unless it is greedy.
    pub(crate) fn offered(&self, flow: usize) -> Option<f64> {
        if let Some(carried) = self.carried.get(&flow) {
            return *carried;
        }
        self.network.demand(flow).mean_rate().map(|bps| bps / 8.0)
    }

    /// Returns whether a flow cannot send, because a link of its path has stopped or its
    /// application has.
    pub(crate) fn is_still(&self, flow: usize) -> bool {
        let dead = |&l: &LinkId| self.rate[l] == 0.0;
        self.network.path(flow).iter().any(dead) || self.offered(flow) == Some(0.0)
    }

    /// Returns the demand of a flow, or `None` if theory has no model of it.
    pub(crate) fn demand(&self, flow: usize) -> Option<Demand> {
        let demand = self.unlimited(flow)?;
        let limit = self.scenario.flows[flow].service.limit;
        let limit = limit.map_or(f64::INFINITY, |limit| limit.as_f64());
        Some(match demand {
            Demand::Log { weight } if limit < weight => Demand::Log { weight: limit },
            Demand::Capped { weight, cap } => Demand::Capped { weight: weight.min(limit), cap },
            Demand::Contract { weight, floor, cap, .. } => {
                Demand::Contract { weight, floor, limit, cap }
            }
            demand => demand,
        })
    }

    /// Returns the demand of a flow without its accumulation limit.
    pub(crate) fn unlimited(&self, flow: usize) -> Option<Demand> {
        let f = &self.scenario.flows[flow];
        let objective = objective(&f.controller)?;
        let offered = self.offered(flow);
        if let Wants::Web(_) = f.demand {
            // Transfers over separate connections are a load that does not follow the price.
            return offered.map(|rate| Demand::Fixed { rate });
        }
        let amount = |target: Target, base_rtt: f64| match target {
            Target::Amount(size) => size.bytes_f64(f.packet),
            Target::PerRoundTrip(rate) => rate.as_bps_f64() / 8.0 * base_rtt,
        };
        let base_rtt = self.base_rtt(flow);
        let bias = self.bias[flow];
        let weight = match objective {
            // A flow of limited rate counts as one that knows its base.
            Objective::MeasuredAccumulation { target } if bias != 0.0 && offered.is_none() => {
                let weight = amount(target, base_rtt + bias);
                return Some(Demand::Vegas { weight, bias });
            }
            Objective::Accumulation { target } | Objective::AccumulationUnlessOthers { target } => {
                target.bytes_f64(f.packet)
            }
            Objective::AccumulationPerRoundTrip { rate } => {
                amount(Target::PerRoundTrip(rate), base_rtt)
            }
            Objective::MeasuredAccumulation { target } | Objective::Marks { target, .. } => {
                amount(target, base_rtt)
            }
            Objective::Unresponsive => return offered.map(|rate| Demand::Fixed { rate }),
            Objective::Loss | Objective::WeightedLoss | Objective::Other => return None,
        };
        let weight = weight * f.service.weight;
        let floor = f.service.contract.as_bps_f64() / 8.0;
        // The contract counts to the extent that the application uses it.
        let cap = offered.unwrap_or(f64::INFINITY);
        Some(match offered {
            _ if floor > 0.0 => {
                Demand::Contract { weight, floor: floor.min(cap), limit: f64::INFINITY, cap }
            }
            Some(cap) => Demand::Capped { weight, cap },
            None => Demand::Log { weight },
        })
    }

    /// Returns whether a flow reads the price of a link. Loss counts as a queuing delay, because
    /// the flow's accumulation is queued there as well.
    fn reads(&self, flow: usize, link: LinkId) -> bool {
        let f = &self.scenario.flows[flow];
        let Some(objective) = objective(&f.controller) else {
            return false;
        };
        match (objective, self.price_of(link)) {
            (Objective::Unresponsive, _) => true,
            _ if matches!(f.demand, Wants::Web(_)) => true,
            (_, Price::QueuingDelay | Price::Loss) if self.hidden(flow, link) => false,
            (Objective::Marks { phi, .. }, Price::Marks { phi: of_link }) => phi == of_link,
            (Objective::Marks { .. }, _) | (_, Price::Marks { .. }) => false,
            // Only control pairs carry virtual delay.
            (_, Price::VirtualDelay { .. }) => {
                matches!(f.controller.family().role, Role::Tunnel(_))
            }
            _ => true,
        }
    }

    /// Returns whether the delay of a link is hidden from a flow. The flow measures with pairs of control
    /// packets, and both halves wait in the queue of the link, so their spacing does not reveal the delay.
    pub(crate) fn hidden(&self, flow: usize, link: LinkId) -> bool {
        self.scenario.flows[flow].goes_by_pairs() && !self.scenario.links[link].control_priority
    }

    /// Returns whether control packets of a flow overtake the queue of a link.
    pub(crate) fn overtakes(&self, flow: usize, link: LinkId) -> bool {
        self.scenario.flows[flow].goes_by_pairs() && self.scenario.links[link].control_priority
    }

    /// Returns a flow and a link that limits it through a price that the flow does not read.
    pub(crate) fn misread(&self, phase: &Phase, prices: &[f64]) -> Option<(usize, LinkId)> {
        let hops = (phase.active.iter())
            .flat_map(|&flow| self.network.path(flow).iter().map(move |&link| (flow, link)));
        hops.into_iter().find(|&(flow, link)| prices[link] > LEAST_PRICE && !self.reads(flow, link))
    }

    /// Returns the bias of a flow that measures its base round-trip time, and zero for others.
    pub(crate) fn believed_bias(&self, flow: usize) -> f64 {
        let controller = &self.scenario.flows[flow].controller;
        match objective(controller) {
            Some(Objective::MeasuredAccumulation { .. }) => self.bias[flow],
            _ => 0.0,
        }
    }

    /// Fills in the shares of marked packets [Low02 eq. 31]. Each link marks a fraction of the
    /// packets that no earlier link has marked.
    pub(crate) fn mark(&self, active: &[usize], e: &mut Equilibrium) {
        let mut marked = vec![0.0; e.load.len()];
        for &flow in active {
            let mut unmarked = e.rate[flow];
            for &l in self.network.path(flow) {
                if let Price::Marks { phi } = self.price_of(l) {
                    let share = -libm::expm1(-e.price[l] * 1e3 * libm::log(phi));
                    marked[l] += unmarked * share;
                    unmarked *= 1.0 - share;
                }
            }
        }
        for (l, marked) in marked.into_iter().enumerate() {
            if matches!(self.price_of(l), Price::Marks { .. }) {
                e.marking[l] = if e.load[l] > 0.0 { marked / e.load[l] } else { 0.0 };
            }
        }
    }
}
