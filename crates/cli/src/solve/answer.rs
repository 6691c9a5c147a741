//! The solution of a network: one type for both criteria of fairness.

use super::network::Network;
use accord::solver::{
    Bottleneck, Certificate, MaxMin, MaxMinCertificate, Problem, Solution, Status,
};
use rayon::prelude::*;

pub enum Proof {
    /// The certificate for utilities.
    Utility {
        certificate: Certificate,
        /// Intervals that contain each flow's optimal rate; empty if the problem is infeasible.
        bounds: Vec<(f64, f64)>,
        iterations: usize,
    },
    /// The certificate for max-min fairness.
    MaxMin { certificate: MaxMinCertificate, bottlenecks: Vec<Bottleneck> },
}

/// Rates of the flows, loads and prices of the links.
pub struct Answer {
    pub status: Status,
    pub rates: Vec<f64>,
    pub loads: Vec<f64>,
    /// Prices of the links; empty for max-min fairness.
    pub prices: Vec<f64>,
    pub proof: Proof,
    pub seconds: f64,
}

impl Answer {
    pub fn of_utilities(problem: &Problem, solution: Solution, seconds: f64) -> Answer {
        let certificate = solution.certificate;
        let bound = |flow| certificate.rate_bounds(problem, &solution.prices, flow);
        let bounds = match solution.status {
            Status::Infeasible { .. } => Vec::new(),
            _ => {
                let flows = 0..problem.routes().flows();
                flows.into_par_iter().map(bound).collect()
            }
        };
        Answer {
            status: solution.status,
            loads: problem.routes().loads(&solution.rates),
            proof: Proof::Utility { certificate, bounds, iterations: solution.iterations },
            rates: solution.rates,
            prices: solution.prices,
            seconds,
        }
    }

    pub fn of_max_min(problem: &Problem, found: MaxMin, seconds: f64) -> Answer {
        Answer {
            status: found.status,
            loads: problem.routes().loads(&found.rates),
            rates: found.rates,
            prices: Vec::new(),
            proof: Proof::MaxMin { certificate: found.certificate, bottlenecks: found.bottlenecks },
            seconds,
        }
    }

    /// Returns names and values of the parts of the certificate.
    pub fn certificate(&self) -> Vec<(&'static str, f64)> {
        match &self.proof {
            Proof::Utility { certificate: c, .. } => vec![
                ("stationarity", c.stationarity),
                ("primal_feasibility", c.primal),
                ("dual_feasibility", c.dual),
                ("complementary_slackness", c.complementarity),
                ("relative_gap", c.relative_gap),
            ],
            Proof::MaxMin { certificate: c, .. } => {
                vec![("primal_feasibility", c.primal), ("bottleneck", c.bottleneck)]
            }
        }
    }

    pub fn status_word(&self) -> &'static str {
        match self.status {
            Status::Solved => "solved",
            Status::Infeasible { .. } => "infeasible",
            Status::NotConverged => "did not converge",
        }
    }

    /// Returns the reason why there is no solution, if there is none.
    pub fn problem(&self, network: &Network) -> Option<String> {
        match self.status {
            Status::Solved => None,
            Status::Infeasible { link, insisted, capacity } => {
                let link = &network.links[link];
                let more = insisted / capacity - 1.0;
                Some(if more > 0.0 {
                    format!(
                        "fixed rates and floors take {insisted:.6e} bit/s of link \"{link}\", which has {capacity:.6e}: {:.2e} % more than it has",
                        100.0 * more
                    )
                } else {
                    format!(
                        "fixed rates and floors take all {capacity:.6e} bit/s of link \"{link}\", and leave nothing to flows that need more than their floor at any price"
                    )
                })
            }
            Status::NotConverged => {
                Some("rates and prices are the best found; see the certificate".into())
            }
        }
    }

    /// Returns the maximum relative error of a flow's rate.
    pub fn uncertainty(&self, flow: usize) -> Option<f64> {
        let Proof::Utility { bounds, .. } = &self.proof else {
            return None;
        };
        let ((low, high), rate) = (*bounds.get(flow)?, self.rates[flow]);
        let off = (high - rate).max(rate - low);
        Some(if off <= 0.0 { 0.0 } else { off / rate })
    }
}
