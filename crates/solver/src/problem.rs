//! The problem: the paths of flows, the capacities of links and the demands.

use crate::{Demand, ProblemError, Routes, Status};

/// A network whose capacity is shared by prices `[Xia05 eq. 13]`, `[Low02 eqs. 4-5]`.
///
/// The caller chooses consistent units: capacities and rates have one unit (say bit/s), and weights
/// have that unit times the unit of the price. With weights in bits of accumulation and rates in
/// bit/s, prices are queuing delays in seconds `[Low02 eq. 21]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    routes: Routes,
    capacities: Vec<f64>,
    demands: Vec<Demand>,
    price_limits: Vec<f64>,
}

impl Problem {
    /// Creates a problem with one capacity per link and one demand per flow of `routes`.
    ///
    /// # Errors
    ///
    /// Fails for a count that does not match, a capacity that is not positive and finite, or a
    /// parameter of a demand that is out of range.
    pub fn new(
        routes: Routes,
        capacities: Vec<f64>,
        demands: Vec<Demand>,
    ) -> Result<Self, ProblemError> {
        let (links, flows) = (routes.links(), routes.flows());
        if capacities.len() != links {
            let capacities = capacities.len();
            return Err(ProblemError::CapacityCount { capacities, links });
        }
        if demands.len() != flows {
            let demands = demands.len();
            return Err(ProblemError::DemandCount { demands, flows });
        }
        for (link, &value) in capacities.iter().enumerate() {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ProblemError::BadCapacity { link, value });
            }
        }
        for (flow, demand) in demands.iter().enumerate() {
            demand.check(flow)?;
        }
        Ok(Self { price_limits: vec![f64::INFINITY; links], routes, capacities, demands })
    }

    /// Returns the same problem with a highest price P per link, which is infinite for a link
    /// without one.
    ///
    /// With delays as prices, P = B/c is the delay of a full buffer `[Har02 eq. 17]`. A link at its
    /// limit may be overloaded, and drops the excess. The problem is then max Σ U(x) − Σ P·z
    /// subject to R·x ≤ c + z, z ≥ 0, where z is the lost rate. Its dual is the one without limits
    /// on 0 ≤ p ≤ P, so rates remain unique.
    ///
    /// # Errors
    ///
    /// Fails for a count that does not match, or a limit that is not positive.
    pub fn with_price_limits(mut self, limits: Vec<f64>) -> Result<Self, ProblemError> {
        let links = self.routes.links();
        if limits.len() != links {
            let limits = limits.len();
            return Err(ProblemError::PriceLimitCount { limits, links });
        }
        for (link, &value) in limits.iter().enumerate() {
            if value.is_nan() || value <= 0.0 {
                return Err(ProblemError::BadPriceLimit { link, value });
            }
        }
        self.price_limits = limits;
        Ok(self)
    }

    /// The highest price of each link.
    pub fn price_limits(&self) -> &[f64] {
        &self.price_limits
    }

    /// The routes.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The capacity of each link.
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// The demand of each flow.
    pub fn demands(&self) -> &[Demand] {
        &self.demands
    }

    /// Returns the rate that the flows of each link need at any price (the sum of [`Demand::least`]
    /// over the link), and whether any of them needs more than that. On a link with a highest price
    /// only unresponsive flows count.
    pub(crate) fn insisted(&self) -> (Vec<f64>, Vec<bool>) {
        let mut load = vec![0.0; self.routes.links()];
        let mut elastic = vec![false; self.routes.links()];
        for (path, demand) in self.routes.iter().zip(&self.demands) {
            let least = demand.least();
            for &link in path {
                let link = link as usize;
                if self.price_limits[link].is_infinite() || !demand.is_elastic() {
                    load[link] += least;
                }
                elastic[link] |= demand.is_elastic();
            }
        }
        (load, elastic)
    }

    /// Returns the link that is oversubscribed by rates needed at any price, if there is one
    /// `[Har02 eq. 15]`.
    ///
    /// A problem is infeasible for no other reason. If every link has capacity left for the flows that need
    /// more than their least rate, there are rates strictly within all capacities.
    pub(crate) fn oversubscribed(&self) -> Option<Status> {
        let (insisted, elastic) = self.insisted();
        let links = insisted.into_iter().zip(self.capacities()).zip(elastic).enumerate();
        links
            .filter(|&(_, ((insisted, &capacity), elastic))| {
                insisted > capacity || elastic && insisted >= capacity
            })
            .map(|(link, ((insisted, &capacity), _))| Status::Infeasible {
                link,
                insisted,
                capacity,
            })
            .reduce(|worst, next| if factor(&next) > factor(&worst) { next } else { worst })
    }
}

fn factor(status: &Status) -> f64 {
    match status {
        Status::Infeasible { insisted, capacity, .. } => insisted / capacity,
        _ => 0.0,
    }
}
