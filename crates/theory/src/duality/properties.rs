//! Delay, fairness and loss of an equilibrium `[Low02 §3]`.

/// The two readings of Vegas's parameter α, its target `[Low02 §3.2]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Thresholds {
    /// Packets per round trip: proportional fairness (PF).
    PerRoundTrip {
        /// α·d, in packets.
        packets: f64,
    },
    /// Packets per unit of time: fairness weighted by propagation delay (WPF).
    PerTime {
        /// α, in packets over time.
        rate: f64,
    },
}

impl Thresholds {
    /// α·d: what a source of propagation delay `delay` keeps queued, its weight.
    pub fn weight(&self, delay: f64) -> f64 {
        match *self {
            Self::PerRoundTrip { packets } => packets,
            Self::PerTime { rate } => rate * delay,
        }
    }
}

/// b = c·p: what is queued at each link `[Low02 eq. 21]`.
pub fn backlogs(capacities: &[f64], prices: &[f64]) -> Vec<f64> {
    capacities.iter().zip(prices).map(|(c, p)| c * p).collect()
}

/// The links whose buffer does not hold the backlog of the equilibrium: there is loss, and Vegas
/// behaves as Reno does `[Low02 §3.3]`. `buffers` are in the unit of the backlogs.
pub fn overflowing(capacities: &[f64], prices: &[f64], buffers: &[f64]) -> Vec<usize> {
    let backlogs = backlogs(capacities, prices).into_iter().zip(buffers);
    backlogs
        .enumerate()
        .filter(|(_, (backlog, buffer))| backlog > buffer)
        .map(|(link, _)| link)
        .collect()
}

/// Σ w·(x − x*)/x*: not above zero for any feasible `rates` x if `fair` x* are the rates of weighted
/// proportional fairness `[Low02 §3.2]`.
pub fn fairness_inequality(weights: &[f64], fair: &[f64], rates: &[f64]) -> f64 {
    let flows = weights.iter().zip(fair).zip(rates);
    flows
        .map(|((w, fair), rate)| w * (rate - fair) / fair)
        .sum()
}

/// Jain's index (Σx)²/(n·Σx²): 1 if all have the same, 1/n if one has everything. Divide rates by
/// weights before for a weighted one. Not a number without rates, or if all are zero.
pub fn jain_index(rates: &[f64]) -> f64 {
    // Relative to the largest, so that squares neither overflow nor vanish.
    let largest = rates.iter().copied().fold(0.0, f64::max);
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| {
        let part = rate / largest;
        (sum + part, squares + part * part)
    });
    sum * sum / (rates.len() as f64 * squares)
}
