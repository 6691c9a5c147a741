//! The rate of a flow at a given price of its path: the demand function x(q).
//!
//! A demand is a non-increasing function of the path price q. The utility behind it is the concave U with
//! U′(x) = q. The solver depends only on the following five functions of a demand, so a new demand is one
//! variant and one arm in each of them:
//!
//! | method | meaning |
//! |---|---|
//! | [`rate`](Demand::rate) | x(q) `[Low02 eq. 12]` |
//! | [`slope`](Demand::slope) | −dx/dq, the generalised derivative at a kink |
//! | [`price`](Demand::price) | U′(x), the inverse of x(q) `[Low02 eqs. 6, 25]` |
//! | [`integral`](Demand::integral) | ∫ x dq between two prices: a difference of `[Low02 eq. 9]` |
//! | [`least`](Demand::least) | the limit of x(q) at an infinite price |
//!
//! Sources. `Log` is `[Xia05 eq. 13]` and `[Low02 eq. 3]`. `Vegas` is Theorem 3 `[Low02 eqs.
//! 24-25]`. `Contract` is `[Har02 eqs. 12-16]`: the part above the contracted rate is shared in
//! proportion to its target accumulation ā, and the accumulation x·q stays below A. `Capped` (and
//! the cap of `Contract`) is a flow whose application offers no more. `Fixed` is an unresponsive
//! flow. `Reno` has the utility (√2/D)·arctan(x·D/√2), with the loss probability as its price
//! `[Low02 §3.2]`.

use crate::ProblemError;

/// The demand of one flow. `q` is the price of its path. Units are those of
/// [`Problem`](crate::Problem).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Demand {
    /// x = w/q: weighted proportional fairness.
    Log {
        /// w: the accumulation that the flow keeps in the network.
        weight: f64,
    },
    /// x = min(cap, w/q): weighted proportional fairness for a flow that cannot use more than
    /// `cap`.
    Capped {
        /// w: the accumulation that the flow keeps in the network.
        weight: f64,
        /// The largest rate.
        cap: f64,
    },
    /// x = min(A/q, x̂ + ā/q, cap): a contracted rate and a share of the rest.
    Contract {
        /// ā: the target accumulation of the share above the floor.
        weight: f64,
        /// x̂: the contracted rate, zero or more.
        floor: f64,
        /// A: the accumulation limit. It may be infinite.
        limit: f64,
        /// The largest rate, x̂ or more. It may be infinite. If it is x̂, the flow does not follow the price,
        /// unless A is finite.
        cap: f64,
    },
    /// x = (w/q)^(1/α): α-fairness. α = 1 is `Log`, and a large α approaches max-min fairness.
    AlphaFair {
        /// w, in the unit of the price times that of rate^α.
        weight: f64,
        /// α, positive.
        alpha: f64,
    },
    /// x = w/(q − b): Vegas with an error in its estimate of the propagation delay.
    ///
    /// With relative error ε, delay d and target α·d: w = (1 + ε)·α·d and b = ε·d.
    Vegas {
        /// w = (1 + ε)·α·d.
        weight: f64,
        /// b = ε·d, in the unit of the price. It is negative if the delay is underestimated.
        bias: f64,
    },
    /// x = min(cap, w/(q + s)): a flow that responds to the price of its path plus a surcharge s.
    /// For a flow that measures round-trip times the surcharge is the queuing delay of the reverse
    /// path.
    Surcharged {
        /// w: the accumulation that the flow keeps on its forward and reverse path.
        weight: f64,
        /// s, in the unit of the price. It is negative for a flow that responds to less than the
        /// price of its path.
        surcharge: f64,
        /// The largest rate. It may be infinite.
        cap: f64,
    },
    /// x = √(2·(1 − q)/q)/D below the price 1, and zero above it: Reno, whose price is the
    /// probability that a packet is lost.
    Reno {
        /// D, in packets over the unit of the rate: a round-trip time.
        round_trip: f64,
    },
    /// x = r at any price: an unresponsive flow.
    Fixed {
        /// The rate, zero or more.
        rate: f64,
    },
}

use Demand::{AlphaFair, Capped, Contract, Fixed, Log, Reno, Surcharged, Vegas};

impl Demand {
    /// Returns the demand of Vegas with target `alpha` (packets per unit of time), propagation
    /// delay `delay` and relative error `error` in it. The flow assumes (1 + `error`)·`delay` as
    /// its delay `[Low02 eq. 24]`.
    pub fn vegas(alpha: f64, delay: f64, error: f64) -> Self {
        let weight = (1.0 + error) * alpha * delay;
        if error == 0.0 {
            return Log { weight };
        }
        let bias = error * delay;
        Vegas { weight, bias }
    }

    /// Returns true if the rate depends on the price. It does not if the cap of a flow keeps it at its floor,
    /// unless an accumulation limit can take it below.
    pub fn is_elastic(&self) -> bool {
        match *self {
            Fixed { .. } => false,
            Contract { floor, limit, cap, .. } => cap > floor || limit.is_finite(),
            _ => true,
        }
    }

    /// Returns x(q) for a price q ≥ 0. It is infinite if the demand is unbounded there.
    pub fn rate(&self, q: f64) -> f64 {
        match *self {
            Log { weight } => weight / q,
            Capped { weight, cap } => (weight / q).min(cap),
            Contract { weight, floor, limit, cap } => (limit / q).min(floor + weight / q).min(cap),
            AlphaFair { weight, alpha } => (weight / q).powf(alpha.recip()),
            Vegas { weight, bias } => weight / (q - bias).max(0.0),
            Surcharged { weight, surcharge, cap } => (weight / (q + surcharge).max(0.0)).min(cap),
            Reno { round_trip } if q < 1.0 => (2.0 * (1.0 - q) / q).sqrt() / round_trip,
            Reno { .. } => 0.0,
            Fixed { rate } => rate,
        }
    }

    /// Returns −dx/dq ≥ 0 at a price q > 0 at which the demand is finite.
    pub fn slope(&self, q: f64) -> f64 {
        match *self {
            Log { weight } => weight / (q * q),
            Capped { weight, cap } if cap * q < weight => 0.0,
            Capped { weight, .. } => weight / (q * q),
            Contract { weight, floor, limit, cap } => match floor * q + weight {
                queued if cap * q < queued.min(limit) => 0.0,
                queued if limit > queued => weight / (q * q),
                _ => limit / (q * q),
            },
            AlphaFair { alpha, .. } => self.rate(q) / (alpha * q),
            Vegas { weight, bias } => weight / ((q - bias) * (q - bias)),
            Surcharged { weight, surcharge, cap } => match q + surcharge {
                paid if cap * paid.max(0.0) < weight => 0.0,
                paid => weight / (paid * paid),
            },
            // The slope has a pole at 1, where the rate ends. It is cut off there, because Newton
            // needs a number.
            Reno { round_trip } if q < 1.0 => {
                let left = (1.0 - q).max(1e-8);
                (q / (2.0 * left)).sqrt() / (q * q * round_trip)
            }
            Fixed { .. } | Reno { .. } => 0.0,
        }
    }

    /// Returns U′(x): the highest price at which the flow still sends at least x > 0. It is zero
    /// beyond the largest rate of the flow, infinite below its [`least`](Self::least) rate, and
    /// negative only for `Vegas` and `Surcharged`.
    pub fn price(&self, x: f64) -> f64 {
        match *self {
            Log { weight } => weight / x,
            Capped { cap, .. } if x > cap => 0.0,
            Capped { weight, .. } => weight / x,
            Contract { cap, .. } if x > cap => 0.0,
            Contract { weight, floor, limit, .. } if x > floor => {
                (weight / (x - floor)).min(limit / x)
            }
            Contract { limit, .. } => limit / x,
            AlphaFair { weight, alpha } => weight / x.powf(alpha),
            Vegas { weight, bias } => bias + weight / x,
            Surcharged { cap, .. } if x > cap => 0.0,
            Surcharged { weight, surcharge, .. } => weight / x - surcharge,
            Reno { round_trip } => {
                let window = x * round_trip;
                1.0 / (1.0 + 0.5 * window * window)
            }
            Fixed { rate } if x > rate => 0.0,
            Fixed { .. } => f64::INFINITY,
        }
    }

    /// Returns ∫ x(s) ds from `from` to `to`, where the demand is finite. It is negative if
    /// `to < from`.
    ///
    /// The result is exact to relative rounding, for prices at any distance. The solver's line
    /// search depends on this.
    pub fn integral(&self, from: f64, to: f64) -> f64 {
        match *self {
            Log { weight } => weight * log_ratio(from, to),
            Capped { weight, cap } => {
                let (below, above) = split(from, to, weight / cap);
                cap * (below.1 - below.0) + weight * log_ratio(above.0, above.1)
            }
            Contract { weight, floor, limit, cap } => {
                // At low prices the cap applies. Below the knee the share adds to the floor, and
                // above it the limit applies.
                let (capped, (from, to)) = split(from, to, self.price(cap));
                let (below, above) = split(from, to, knee(weight, floor, limit));
                let mut area = 0.0;
                if capped.0 != capped.1 {
                    area += cap * (capped.1 - capped.0);
                }
                if below.0 != below.1 {
                    area += floor * (below.1 - below.0) + weight * log_ratio(below.0, below.1);
                }
                if above.0 != above.1 {
                    area += limit * log_ratio(above.0, above.1);
                }
                area
            }
            AlphaFair { alpha, .. } => {
                let power = 1.0 - alpha.recip();
                let log = log_ratio(from, to);
                let scaled = power * log;
                let grown = if scaled == 0.0 { log } else { libm::expm1(scaled) / power };
                self.rate(from) * from * grown
            }
            Vegas { weight, bias } => weight * libm::log1p((to - from) / (from - bias)),
            Surcharged { weight, surcharge, cap } => {
                let (capped, above) = split(from, to, weight / cap - surcharge);
                let mut area = 0.0;
                if capped.0 != capped.1 {
                    area += cap * (capped.1 - capped.0);
                }
                if above.0 != above.1 {
                    area += weight * libm::log1p((above.1 - above.0) / (above.0 + surcharge));
                }
                area
            }
            Reno { round_trip } => {
                std::f64::consts::SQRT_2 / round_trip * cotangents(from.min(1.0), to.min(1.0))
            }
            Fixed { rate } => rate * (to - from),
        }
    }

    /// Returns the rate that the flow takes at any price: lim x(q) for q → ∞.
    pub fn least(&self) -> f64 {
        match *self {
            Contract { floor, limit, .. } if limit.is_infinite() => floor,
            Fixed { rate } => rate,
            _ => 0.0,
        }
    }

    /// Returns the weight w of a demand x = w/q, or `None` for any other.
    pub fn log_weight(&self) -> Option<f64> {
        match *self {
            Log { weight } => Some(weight),
            _ => None,
        }
    }

    /// Checks that every parameter is in its range.
    pub(crate) fn check(&self, flow: usize) -> Result<(), ProblemError> {
        let check = |what, expected, value, holds: bool| match holds {
            true => Ok(()),
            false => Err(ProblemError::BadDemand { flow, what, expected, value }),
        };
        let finite = |what, value: f64| check(what, "finite", value, value.is_finite());
        let bound = |what, value: f64| check(what, "positive, or infinite", value, value > 0.0);
        let positive = |what, value: f64| {
            check(what, "positive and finite", value, value > 0.0 && value.is_finite())
        };
        let not_negative = |what, value: f64| {
            check(what, "finite and not negative", value, value >= 0.0 && value.is_finite())
        };
        match *self {
            Log { weight } => positive("weight", weight),
            Capped { weight, cap } => positive("weight", weight).and(positive("cap", cap)),
            Contract { weight, floor, limit, cap } => {
                positive("weight", weight).and(not_negative("floor", floor))?;
                bound("accumulation limit", limit).and(bound("cap", cap))?;
                check("cap", "the floor at least", cap, cap >= floor)
            }
            AlphaFair { weight, alpha } => positive("weight", weight).and(positive("alpha", alpha)),
            Vegas { weight, bias } => positive("weight", weight).and(finite("bias", bias)),
            Surcharged { weight, surcharge, cap } => {
                positive("weight", weight).and(finite("surcharge", surcharge))?;
                bound("cap", cap)
            }
            Reno { round_trip } => positive("round-trip time", round_trip),
            Fixed { rate } => not_negative("rate", rate),
        }
    }
}

/// Returns the price at which A/q = x̂ + ā/q. It is zero if the limit always applies, and may be infinite.
fn knee(weight: f64, floor: f64, limit: f64) -> f64 {
    if limit <= weight { 0.0 } else { (limit - weight) / floor }
}

/// Returns ∫ √((1 − q)/q) dq for prices up to 1. With q = sin²θ it is Δ + cos(θ + θ′)·sin Δ, where
/// Δ = θ′ − θ. The parts are separated so that none cancels, neither for near prices nor near 1.
fn cotangents(from: f64, to: f64) -> f64 {
    let (sin, cos) = ((from.sqrt(), to.sqrt()), ((1.0 - from).sqrt(), (1.0 - to).sqrt()));
    let sin_delta = (to - from) / (sin.1 * cos.0 + sin.0 * cos.1).max(f64::MIN_POSITIVE);
    let delta = libm::atan2(sin_delta, cos.0 * cos.1 + sin.0 * sin.1);
    let beyond_sine = if delta.abs() < 0.05 {
        let square = delta * delta;
        delta * square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0))
    } else {
        delta - sin_delta
    };
    let sines = sin.0 * sin.1;
    let one_less_sines = ((1.0 - from) + from * (1.0 - to)) / (1.0 + sines);
    beyond_sine + sin_delta * (cos.0 * cos.1 + one_less_sines)
}

/// Returns ln(to/from) without cancellation.
fn log_ratio(from: f64, to: f64) -> f64 {
    libm::log1p((to - from) / from)
}

/// Returns the parts of the interval from `from` to `to` that lie below and above `at`.
fn split(from: f64, to: f64, at: f64) -> ((f64, f64), (f64, f64)) {
    ((from.min(at), to.min(at)), (from.max(at), to.max(at)))
}
