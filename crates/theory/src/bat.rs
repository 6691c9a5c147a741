//! BAT and CLCC in equilibrium: the rates of aggregates for given decrease factors, their target
//! rates, and the gains for which the closed loop converges.
//!
//! **Rates for given factors.** In a Δt without excess bandwidth BAT takes D_i·O_i·f_i from the rate of an
//! aggregate. With excess bandwidth it adds C_i·B̄·O_i [Ple03 eq. 1]. If both balance, f_i ∝ C_i/D_i with the
//! same factor for all aggregates, regardless of their offers. The rates are therefore weighted max-min fair
//! with weights C_i/D_i, which [`weights`] returns for our constants. The offered rates (and f_max) are the
//! caps, and the f_min are the floors. This holds to first order in the steps, for aggregates whose offered
//! rate does not respond to drops.
//!
//! **The loop.** With f ∝ 1/D, eqs. 5 and 6 of Ple03 with b_0 = β·D become D ← D − |β|·(D − D*), where D* is
//! the factor with r = r_ref. The bilinear law is linear in D. It converges from anywhere if and only if |β|
//! < 2, without overshoot if |β| ≤ 1. For traffic that responds, ε = −d ln r / d ln D replaces the 1, to
//! first order around D*. If a fraction m of the measured traffic was still sent under the previous factor,
//! the loop has memory: see [`step_is_stable`].

use accord_solver::{Demand, MaxMin, Problem, ProblemError, Routes, max_min};

/// An aggregate at a link. Rates are in any common unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregate {
    /// The relative rate: the share, or C_i/D_i for the rate under BAT.
    pub weight: f64,
    /// The floor f_min.
    pub floor: f64,
    /// The cap: f_max, or the offered rate if that is less. It is infinite for an aggregate without a
    /// limit.
    pub cap: f64,
}

/// Returns the weights C_i/D_i of aggregates by their floors, C·(S + f_i − Σf) / (D·(S − f_i)) for a
/// link of rate S. `weight` of an aggregate is its C/D without floors.
///
/// Constants that would be negative are zero. The weight is therefore 0 for an aggregate that grows only due
/// to its floor, and infinite for one whose floor is the rate of the link.
///
/// ```
/// use accord_theory::bat::{Aggregate, weights};
///
/// let of = |floor| Aggregate { weight: 1.0, floor, cap: f64::INFINITY };
/// assert_eq!(weights(100.0, &[of(50.0), of(0.0)]), [2.0, 0.5]);
/// ```
pub fn weights(capacity: f64, aggregates: &[Aggregate]) -> Vec<f64> {
    let floors: f64 = aggregates.iter().map(|a| a.floor).sum();
    let weight = |a: &Aggregate| {
        let increase = (capacity + a.floor - floors).max(0.0);
        a.weight * increase / (capacity - a.floor).max(0.0)
    };
    aggregates.iter().map(weight).collect()
}

/// Returns max-min fair rates at a link with floors: max(floor, min(weight·λ, cap)), with λ such
/// that the link is full or all are at their caps.
///
/// An aggregate whose cap is below its floor gets its cap. If the floors alone exceed the link, the
/// status says so, and the aggregates that are not at their floors get nothing.
///
/// # Errors
///
/// Fails as [`Problem`] does: if a rate or weight is not positive and finite (caps may be infinite).
///
/// ```
/// use accord_theory::bat::{Aggregate, fair_rates};
///
/// let of = |weight, floor, cap| Aggregate { weight, floor, cap };
/// // 100 between three: the third wants 10 only, the second has a floor of 50.
/// let rates = fair_rates(100.0, &[
///     of(1.0, 0.0, f64::INFINITY), of(1.0, 50.0, 90.0), of(1.0, 0.0, 10.0),
/// ])?;
/// assert_eq!(rates.rates, [40.0, 50.0, 10.0]);
/// # Ok::<(), accord_solver::ProblemError>(())
/// ```
pub fn fair_rates(capacity: f64, aggregates: &[Aggregate]) -> Result<MaxMin, ProblemError> {
    // Aggregates that would get less than their floor get the floor, and the others share the rest. That
    // lowers the share of each, so aggregates at their floors stay there, and there are at most as many
    // rounds as aggregates.
    let mut at_floor = vec![false; aggregates.len()];
    loop {
        let demand = |(a, fixed): (&Aggregate, &bool)| match *fixed {
            true => Demand::Fixed { rate: a.floor.min(a.cap) },
            false if a.cap.is_finite() => Demand::Capped { weight: a.weight, cap: a.cap },
            false => Demand::Log { weight: a.weight },
        };
        let demands = aggregates.iter().zip(&at_floor).map(demand).collect();
        let routes = Routes::new(1, vec![vec![0]; aggregates.len()])?;
        let rates = max_min(&Problem::new(routes, vec![capacity], demands)?)?;
        let mut settled = true;
        for ((a, fixed), rate) in aggregates.iter().zip(&mut at_floor).zip(&rates.rates) {
            if !*fixed && *rate < a.floor {
                *fixed = true;
                settled = false;
            }
        }
        if settled {
            return Ok(rates);
        }
    }
}

/// Returns whether a step of CLCC with gain |β| reduces a small error. ε is the elasticity of the
/// ratio, −d ln r / d ln D (1 for traffic that does not respond). m is the fraction of the measured
/// rates that still follows the factor of the previous step.
///
/// With δ = ln D − ln D*, a step is δ ← δ − |β|·ε·((1 − m)·δ + m·δ_before). Both roots of z² − (1 −
/// |β|ε(1 − m))·z + |β|ε·m lie within the unit circle if and only if |β|ε·m < 1 and |β|ε·(1 − 2m) <
/// 2 (Jury).
pub fn step_is_stable(gain: f64, elasticity: f64, memory: f64) -> bool {
    let loop_gain = gain * elasticity;
    loop_gain > 0.0 && loop_gain * memory < 1.0 && loop_gain * (1.0 - 2.0 * memory) < 2.0
}
