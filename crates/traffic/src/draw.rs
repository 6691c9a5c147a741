//! Random quantities by inverse transforms.
//!
//! Logarithms and powers are those of `libm`, in software: those of the machine's library
//! differ in the last bit from one to the next, and a run has to be the same on all.

use crate::random::Dice;
use libm::{cos, exp, log, pow, sqrt};

/// Uniform, never zero.
fn positive(dice: &mut Dice) -> f64 {
    1.0 - dice.uniform()
}

/// Exponential with this mean.
pub fn exponential(dice: &mut Dice, mean: f64) -> f64 {
    -mean * log(positive(dice))
}

/// P(more than x) = (least/x)^shape from `least` on.
pub fn pareto(dice: &mut Dice, least: f64, shape: f64) -> f64 {
    least * pow(positive(dice), -1.0 / shape)
}

/// P(more than x) = exp(−(x/scale)^shape).
pub fn weibull(dice: &mut Dice, scale: f64, shape: f64) -> f64 {
    scale * pow(-log(positive(dice)), 1.0 / shape)
}

/// Its logarithm is normal with mean `mu` and standard deviation `sigma`.
pub fn lognormal(dice: &mut Dice, mu: f64, sigma: f64) -> f64 {
    // Box and Muller; the second of the pair is left, so that a draw takes two numbers always.
    let radius = sqrt(-2.0 * log(positive(dice)));
    let angle = std::f64::consts::TAU * dice.uniform();
    exp(mu + sigma * radius * cos(angle))
}
