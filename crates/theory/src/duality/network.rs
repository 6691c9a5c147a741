//! The network model of Vegas in discrete time `[Low02 eqs. 16-19]`, with the step γ of §2.5.

use accord_solver::{Problem, ProblemError, Routes};

/// The windows and prices of Vegas sources on links that queue.
///
/// Prices are γ times the queuing delays `[Low02 eq. 20]`. So with a smaller γ the sources respond
/// more calmly to a queue, and the queues are 1/γ times as long.
#[derive(Clone, Debug)]
pub struct VegasNetwork {
    routes: Routes,
    capacities: Vec<f64>,
    targets: Vec<f64>,
    delays: Vec<f64>,
    gamma: f64,
    /// The price p of each link, in units of time.
    pub prices: Vec<f64>,
    /// The window w of each source, in packets.
    pub windows: Vec<f64>,
}

impl VegasNetwork {
    /// Creates sources with the `Log` weights α_s·d_s of `problem` and propagation delays `delays`,
    /// empty queues, and windows of one packet.
    ///
    /// # Errors
    ///
    /// Fails for a demand other than `Log`, a delay that is not positive, or a number of delays
    /// that is not the number of flows.
    pub fn new(problem: &Problem, delays: Vec<f64>, gamma: f64) -> Result<Self, ProblemError> {
        let flows = problem.routes().flows();
        if delays.len() != flows {
            let delays = delays.len();
            return Err(ProblemError::DelayCount { delays, flows });
        }
        let mut targets = Vec::with_capacity(flows);
        for (flow, (demand, &delay)) in problem.demands().iter().zip(&delays).enumerate() {
            let Some(target) = demand.log_weight() else {
                let expected = "the model of Vegas is for flows of weighted log utility";
                return Err(ProblemError::WrongDemand { flow, expected });
            };
            if !(delay > 0.0 && delay.is_finite()) {
                return Err(ProblemError::BadDemand {
                    flow,
                    what: "propagation delay",
                    expected: "positive and finite",
                    value: delay,
                });
            }
            targets.push(target);
        }
        Ok(Self {
            routes: problem.routes().clone(),
            capacities: problem.capacities().to_vec(),
            targets,
            delays,
            gamma,
            prices: vec![0.0; problem.routes().links()],
            windows: vec![1.0; flows],
        })
    }

    /// Returns the round-trip times D, with queuing `[Low02 eq. 19]`.
    pub fn round_trips(&self) -> Vec<f64> {
        let path_prices = self.routes.path_prices(&self.prices);
        let delays = self.delays.iter().zip(path_prices);
        delays.map(|(d, p)| d + p / self.gamma).collect()
    }

    /// Returns the rates x = w/D `[Low02 eq. 19]`.
    pub fn rates(&self) -> Vec<f64> {
        let windows = self.windows.iter().zip(self.round_trips());
        windows.map(|(w, d)| w / d).collect()
    }

    /// Advances the model by one unit of time `[Low02 eqs. 16-18]`.
    pub fn step(&mut self) {
        let round_trips = self.round_trips();
        let rates = self.rates();
        let path_prices = self.routes.path_prices(&self.prices);
        let loads = self.routes.loads(&rates);
        for (source, window) in self.windows.iter_mut().enumerate() {
            let missing = self.targets[source] - rates[source] * path_prices[source];
            let sign = if missing == 0.0 { 0.0 } else { missing.signum() };
            *window = (*window + sign / round_trips[source]).max(0.0);
        }
        let links = self.prices.iter_mut().zip(&self.capacities).zip(loads);
        for ((price, capacity), load) in links {
            *price = (*price + self.gamma / capacity * (load - capacity)).max(0.0);
        }
    }
}
