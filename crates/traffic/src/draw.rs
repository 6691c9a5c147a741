//! Random quantities by inverse transforms.
//!
//! Logarithms and powers are those of `libm`, in software. Those of system libraries differ in the last bit
//! between machines, and a run must be the same on all.

use crate::random::Dice;
use libm::{cos, exp, log, pow, sqrt};

/// Draws a uniform number that is never zero.
fn positive(dice: &mut Dice) -> f64 {
    1.0 - dice.uniform()
}

/// Draws an exponential variable with this mean.
pub fn exponential(dice: &mut Dice, mean: f64) -> f64 {
    -mean * log(positive(dice))
}

/// Draws a Laplace variable with mean 0: P(more than x) = exp(−x/scale)/2 for x above 0.
pub fn laplace(dice: &mut Dice, scale: f64) -> f64 {
    exponential(dice, scale) - exponential(dice, scale)
}

/// Draws a Pareto variable: P(more than x) = (least/x)^shape from `least` on.
pub fn pareto(dice: &mut Dice, least: f64, shape: f64) -> f64 {
    least * pow(positive(dice), -1.0 / shape)
}

/// Draws a Weibull variable: P(more than x) = exp(−(x/scale)^shape).
pub fn weibull(dice: &mut Dice, scale: f64, shape: f64) -> f64 {
    scale * pow(-log(positive(dice)), 1.0 / shape)
}

/// Draws a normal variable with mean 0 and standard deviation 1.
pub fn normal(dice: &mut Dice) -> f64 {
    let (radius, angle) = polar(dice);
    radius * cos(angle)
}

/// Draws a radius and an angle by the method of Box and Muller. The second number of the pair is
/// not used, so every draw takes two uniform numbers.
fn polar(dice: &mut Dice) -> (f64, f64) {
    let radius = sqrt(-2.0 * log(positive(dice)));
    (radius, std::f64::consts::TAU * dice.uniform())
}

/// Draws a variable whose logarithm is normal with mean `mu` and standard deviation `sigma`.
pub fn lognormal(dice: &mut Dice, mu: f64, sigma: f64) -> f64 {
    // The order of the factors decides the last bit of the result.
    let (radius, angle) = polar(dice);
    exp(mu + sigma * radius * cos(angle))
}
