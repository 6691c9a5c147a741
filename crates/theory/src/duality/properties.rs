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
    /// Returns the target α·d of a source of propagation delay `delay`, which is its weight.
    pub fn weight(&self, delay: f64) -> f64 {
        match *self {
            Self::PerRoundTrip { packets } => packets,
            Self::PerTime { rate } => rate * delay,
        }
    }
}

/// Returns the backlog b = c·p of each link `[Low02 eq. 21]`.
pub fn backlogs(capacities: &[f64], prices: &[f64]) -> Vec<f64> {
    capacities.iter().zip(prices).map(|(c, p)| c * p).collect()
}

/// Returns the links whose buffer does not hold the backlog of the equilibrium. There is loss on
/// them, and Vegas behaves as Reno does `[Low02 §3.3]`. `buffers` are in the unit of the backlogs.
pub fn overflowing(capacities: &[f64], prices: &[f64], buffers: &[f64]) -> Vec<usize> {
    let backlogs = backlogs(capacities, prices).into_iter().zip(buffers);
    backlogs
        .enumerate()
        .filter(|(_, (backlog, buffer))| backlog > buffer)
        .map(|(link, _)| link)
        .collect()
}

/// Returns Σ w·(x − x*)/x*. It is not above zero for any feasible `rates` x if `fair` x* are the
/// rates of weighted proportional fairness `[Low02 §3.2]`.
pub fn fairness_inequality(weights: &[f64], fair: &[f64], rates: &[f64]) -> f64 {
    let flows = weights.iter().zip(fair).zip(rates);
    flows.map(|((w, fair), rate)| w * (rate - fair) / fair).sum()
}

/// Returns Jain's index (Σx)²/(n·Σx²). It is 1 if all rates are equal, and 1/n if one flow has
/// everything. For a weighted index, divide rates by weights first. It is NaN without rates, or if
/// all are zero.
pub fn jain_index(rates: &[f64]) -> f64 {
    // The rates are taken relative to the largest, so that squares neither overflow nor vanish.
    let largest = rates.iter().copied().fold(0.0, f64::max);
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| {
        let part = rate / largest;
        (sum + part, squares + part * part)
    });
    sum * sum / (rates.len() as f64 * squares)
}
