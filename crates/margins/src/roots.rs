//! The rightmost characteristic roots of a linear system with delays.
//!
//! The solution operator's generator is d/dθ on functions over the longest delay, with the equation
//! itself as the boundary condition. Chebyshev collocation discretises it. Its eigenvalues approach
//! the roots, the rightmost first, with geometric convergence. Newton's method on det(s·I − Σ A
//! e^(−s·τ)) = 0 then supplies their last digits.

use crate::linear::Linear;
use nalgebra::{Complex, DMatrix};

/// The order of the largest matrix whose eigenvalues are computed.
const LARGEST: usize = 400;

/// Returns the rightmost roots, in 1/s, the rightmost first. Of a conjugate pair it is the one
/// above the real axis. All gains are multiplied by `gain`.
pub fn rightmost_roots(system: &Linear, gain: f64) -> Vec<Complex<f64>> {
    let n = system.size;
    let longest = system.longest();
    if n == 0 || longest == 0.0 {
        return Vec::new();
    }
    let nodes = (LARGEST / n).clamp(4, 32);
    let matrix = generator(system, gain, nodes);
    let mut found: Vec<Complex<f64>> = Vec::new();
    let mut guesses: Vec<Complex<f64>> = (matrix.complex_eigenvalues().iter().copied())
        .filter(|s| s.im >= -1e-9 / longest && s.is_finite())
        .collect();
    guesses.sort_by(|a, b| b.re.total_cmp(&a.re));
    for guess in guesses.into_iter().take(8 + n) {
        if let Some(root) = polish(system, gain, guess) {
            let root = Complex::new(root.re, root.im.abs());
            let near =
                |r: &&Complex<f64>| (**r - root).norm() < 1e-6 * (1.0 / longest + root.norm());
            if found.iter().find(near).is_none() {
                found.push(root);
            }
        }
    }
    found.sort_by(|a, b| b.re.total_cmp(&a.re));
    found
}

/// Returns the generator on the nodes θ_j = (cos(jπ/N) − 1)·longest/2, θ_0 = 0 first.
fn generator(system: &Linear, gain: f64, count: usize) -> DMatrix<f64> {
    let n = system.size;
    let longest = system.longest();
    let angle = |j: usize| std::f64::consts::PI * j as f64 / count as f64;
    let x: Vec<f64> = (0..=count).map(|j| angle(j).cos()).collect();
    let end = |j: usize| if j == 0 || j == count { 2.0 } else { 1.0 };
    let sign = |j: usize| if j.is_multiple_of(2) { 1.0 } else { -1.0 };
    let mut matrix = DMatrix::zeros(n * (count + 1), n * (count + 1));
    for i in 1..=count {
        let mut diagonal = 0.0;
        for j in 0..=count {
            if i == j {
                continue;
            }
            let d = end(i) / end(j) * sign(i + j) / (x[i] - x[j]) * 2.0 / longest;
            diagonal -= d;
            for k in 0..n {
                matrix[(i * n + k, j * n + k)] = d;
            }
        }
        for k in 0..n {
            matrix[(i * n + k, i * n + k)] = diagonal;
        }
    }
    for t in &system.terms {
        let at = 1.0 - 2.0 * t.delay / longest;
        let c = t.coefficient * system.scale(t, gain);
        let exact = x.iter().position(|v| (v - at).abs() < 1e-14);
        let weight = |j: usize| sign(j) / end(j) / (at - x[j]);
        let total: f64 = match exact {
            Some(_) => 1.0,
            None => (0..=count).map(weight).sum(),
        };
        for j in 0..=count {
            let share = match exact {
                Some(e) => f64::from(e == j),
                None => weight(j) / total,
            };
            matrix[(t.row, j * n + t.column)] += c * share;
        }
    }
    matrix
}

/// Applies Newton's method to the characteristic function f: f/f′ = 1/tr(Δ⁻¹Δ′).
fn polish(system: &Linear, gain: f64, guess: Complex<f64>) -> Option<Complex<f64>> {
    let mut s = guess;
    let scale = 1.0 / system.longest();
    for _ in 0..40 {
        let delta =
            DMatrix::<Complex<f64>>::identity(system.size, system.size) * s - system.at(s, gain);
        let mut slope = DMatrix::<Complex<f64>>::identity(system.size, system.size);
        for t in &system.terms {
            slope[(t.row, t.column)] +=
                (-s * t.delay).exp() * (t.coefficient * system.scale(t, gain) * t.delay);
        }
        let Some(product) = delta.lu().solve(&slope) else {
            return Some(s);
        };
        let step = Complex::new(1.0, 0.0) / product.trace();
        if !step.is_finite() {
            return None;
        }
        s -= step;
        if step.norm() < 1e-13 * (s.norm() + scale) {
            break;
        }
        // The iteration has left for another root.
        if (s - guess).norm() > 0.5 * (guess.norm() + scale) {
            return None;
        }
    }
    Some(s)
}
