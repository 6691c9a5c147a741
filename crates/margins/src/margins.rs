//! Stability margins of the delayed loop.
//!
//! On the imaginary axis, s = jω, the system is cut at the window laws. With the queues eliminated, (s·I −
//! A)·δw = g·M(s)·δw, where g multiplies all gains, and A is the motion of windows by themselves, unless that
//! is a gain. A root crosses where an eigenvalue of (jω·I − A)⁻¹·M(jω) is 1/g. The *gain margin* is the g at
//! which this happens first.
//!
//! With an additional delay T in every feedback, A(s) = A₀ + z·A₁ and z = e^(−sT). A root crosses
//! where z·K(jω) with K = (jω·I − A₀)⁻¹·A₁ has the eigenvalue one. The *delay margin* is the least
//! such T, and the phase margin is ωT. No term contains the signal of a queue twice, because
//! windows and rates see it once.

use crate::linear::Linear;
use nalgebra::{Complex, DMatrix};
use std::f64::consts::PI;

/// The margins of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// The factor on all gains at which the loop cycles. It is above one for a stable loop, and infinite if
    /// no larger gain makes it cycle. For an unstable loop it is below one, or zero if no smaller gain makes
    /// it stable. For flows that react to marks or losses, it is a factor on the gain of the loop (the strength
    /// of their response and the slope of the discipline) at the same equilibrium.
    pub gain: f64,
    /// The frequency of that cycle in rad/s.
    pub gain_frequency: f64,
    /// The factor on all gains, below one, at which a stable loop also cycles, as a loop with a virtual queue
    /// may. It is zero if no smaller gain makes the loop cycle, and for an unstable loop.
    pub least_gain: f64,
    /// The additional feedback delay in seconds at which a stable loop cycles. It is zero for an
    /// unstable loop.
    pub delay: f64,
    /// The frequency of that cycle in rad/s.
    pub delay_frequency: f64,
}

impl Margins {
    /// The phase margin in degrees.
    pub fn phase_degrees(&self) -> f64 {
        self.delay * self.delay_frequency * 180.0 / PI
    }
}

/// The number of frequencies per decade.
const DENSITY: f64 = 160.0;

/// Returns the margins of a system. `stable` says whether its rightmost root has a negative real
/// part.
pub fn margins(system: &Linear, stable: bool) -> Margins {
    let longest = system.longest();
    let shortest = (system.terms.iter().map(|t| t.delay))
        .filter(|d| *d > 1e-3 * longest)
        .fold(longest, f64::min);
    // An average or a virtual capacity may move much more slowly than a round trip.
    let slowest = (system.terms.iter().filter(|t| t.row == t.column))
        .map(|t| t.coefficient.abs())
        .filter(|c| *c > 1e-9 / longest)
        .fold(1.0 / longest, f64::min);
    let (low, high) = (1e-3 * slowest, 30.0 / shortest);
    let count = ((high / low).log10() * DENSITY) as usize;
    let frequency = |i: usize| low * (high / low).powf(i as f64 / count as f64);
    let mut best = Margins {
        gain: f64::INFINITY,
        gain_frequency: f64::NAN,
        least_gain: 0.0,
        delay: if stable { f64::INFINITY } else { 0.0 },
        delay_frequency: f64::NAN,
    };
    // The frequencies at which an eigenvalue of the loop at the windows becomes real.
    let imaginary = |v: &Complex<f64>| v.im;
    crossings(count, &frequency, &|w| loop_at_windows(system, w), &imaginary, &mut |w, v| {
        // A loop without gain does not count.
        if v.re > 1e-9 {
            let g = 1.0 / v.re;
            // The first limit that rising gains meet, from the current value or from zero.
            if (g > 1.0 || !stable) && g < best.gain {
                (best.gain, best.gain_frequency) = (g, w);
            }
            if stable && g < 1.0 {
                best.least_gain = best.least_gain.max(g);
            }
        }
    });
    if stable {
        let modulus = |v: &Complex<f64>| v.norm() - 1.0;
        crossings(count, &frequency, &|w| loop_at_feedback(system, w), &modulus, &mut |w, v| {
            let delay = v.arg().rem_euclid(2.0 * PI) / w;
            if delay < best.delay {
                (best.delay, best.delay_frequency) = (delay, w);
            }
        });
    }
    if !stable && best.gain >= 1.0 {
        (best.gain, best.gain_frequency) = (0.0, f64::NAN);
    }
    best
}

type Spectrum = Vec<Complex<f64>>;

/// Finds where `value` of an eigenvalue of `matrix` changes sign over the frequencies.
fn crossings(
    count: usize,
    frequency: &dyn Fn(usize) -> f64,
    matrix: &dyn Fn(f64) -> Option<DMatrix<Complex<f64>>>,
    value: &dyn Fn(&Complex<f64>) -> f64,
    found: &mut dyn FnMut(f64, Complex<f64>),
) {
    let spectrum = |w: f64| -> Option<Spectrum> {
        let m = matrix(w)?;
        if m.nrows() == 1 {
            return Some(vec![m[(0, 0)]]);
        }
        let values = nalgebra::linalg::Schur::try_new(m, 1e-13, 1000)?;
        Some(values.unpack().1.diagonal().iter().copied().collect())
    };
    let mut last: Option<(f64, Spectrum)> = None;
    for i in 0..=count {
        let w = frequency(i);
        let Some(now) = spectrum(w) else {
            last = None;
            continue;
        };
        if let Some((before, spectrum_before)) = &last {
            for (a, b) in pairs(spectrum_before, &now) {
                if value(&a) * value(&b) < 0.0 {
                    let (w, v) = refine(*before, w, a, b, &spectrum, value);
                    found(w, v);
                }
            }
        }
        last = Some((w, now));
    }
}

/// Pairs the eigenvalues of neighbouring frequencies, each with the nearest one that remains.
fn pairs(a: &[Complex<f64>], b: &[Complex<f64>]) -> Vec<(Complex<f64>, Complex<f64>)> {
    let mut left = b.to_vec();
    let mut order = a.to_vec();
    order.sort_by(|x, y| y.norm().total_cmp(&x.norm()));
    let mut pairs = Vec::new();
    for v in order {
        let Some(nearest) = closest(&left, v) else {
            break;
        };
        pairs.push((v, left.swap_remove(nearest)));
    }
    pairs
}

fn closest(of: &[Complex<f64>], to: Complex<f64>) -> Option<usize> {
    let distance = |i: &usize| (of[*i] - to).norm();
    (0..of.len()).min_by(|i, j| distance(i).total_cmp(&distance(j)))
}

/// Refines a crossing by bisection along an eigenvalue.
fn refine(
    mut low: f64,
    mut high: f64,
    mut a: Complex<f64>,
    mut b: Complex<f64>,
    spectrum: &dyn Fn(f64) -> Option<Spectrum>,
    value: &dyn Fn(&Complex<f64>) -> f64,
) -> (f64, Complex<f64>) {
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        let Some(values) = spectrum(middle) else {
            break;
        };
        let Some(i) = closest(&values, 0.5 * (a + b)) else {
            break;
        };
        if value(&values[i]) * value(&a) > 0.0 {
            (low, a) = (middle, values[i]);
        } else {
            (high, b) = (middle, values[i]);
        }
    }
    (0.5 * (low + high), 0.5 * (a + b))
}

/// Returns (jω·I − A)⁻¹·M(jω): the effect of windows on themselves through the queues.
fn loop_at_windows(system: &Linear, w: f64) -> Option<DMatrix<Complex<f64>>> {
    let s = Complex::new(0.0, w);
    let (n, all) = (system.windows, system.size);
    let a = system.part(|t| system.gained(t)).at(s, 1.0);
    let fixed = system.part(|t| !system.gained(t)).at(s, 1.0);
    let mut through = a.view((0, 0), (n, n)).into_owned();
    if all > n {
        let others = all - n;
        let resolvent =
            DMatrix::identity(others, others) * s - fixed.view((n, n), (others, others));
        let queues = resolvent.lu().solve(&fixed.view((n, 0), (others, n)).into_owned())?;
        through += a.view((0, n), (n, others)) * queues;
    }
    let own = DMatrix::identity(n, n) * s - fixed.view((0, 0), (n, n));
    own.lu().solve(&through)
}

/// Returns K(jω): the response of one turn of the loop.
fn loop_at_feedback(system: &Linear, w: f64) -> Option<DMatrix<Complex<f64>>> {
    let s = Complex::new(0.0, w);
    let direct = system.part(|t| t.feedbacks == 0).at(s, 1.0);
    let without = DMatrix::identity(system.size, system.size) * s - direct;
    let fed = system.part(|t| t.feedbacks > 0).at(s, 1.0);
    without.lu().solve(&fed)
}
