//! Stability margins of the delayed loop.
//!
//! On the imaginary axis, s = jω, the system divides at the window laws: with the queues
//! eliminated, (s·I − A)·δw = g·M(s)·δw, where g multiplies all gains, and A is what windows do by
//! themselves where that is not a gain. A root crosses where an eigenvalue of (jω·I − A)⁻¹·M(jω) is
//! 1/g; the *gain margin* is the g at which that happens first.
//!
//! With an additional delay T in every feedback, A(s) = A₀ + z·A₁ and z = e^(−sT),
//! a root crosses where z·K(jω), K = (jω·I − A₀)⁻¹·A₁, has the eigenvalue one; the *delay
//! margin* is the least such T, and the phase margin ωT. Terms that hold the signal of a queue
//! twice do not occur: windows and rates see it once.

use crate::linear::Linear;
use nalgebra::{Complex, DMatrix};
use std::f64::consts::PI;

/// The margins of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// All gains times this: the loop cycles. Above one for a stable loop, infinite if no gain
    /// makes it cycle; below one for another, which is stable below, or zero. For flows that go by marks or losses, the gain of the loop: how strongly
    /// they answer and how steep the discipline is, at the same equilibrium.
    pub gain: f64,
    /// Frequency of that cycle in rad/s.
    pub gain_frequency: f64,
    /// Additional feedback delay in seconds at which a stable loop cycles; zero for an
    /// unstable one.
    pub delay: f64,
    /// Frequency of that cycle in rad/s.
    pub delay_frequency: f64,
}

impl Margins {
    /// Phase margin in degrees.
    pub fn phase_degrees(&self) -> f64 {
        self.delay * self.delay_frequency * 180.0 / PI
    }
}

/// Frequencies per decade.
const DENSITY: f64 = 160.0;

/// The margins of a system; `stable` says whether its rightmost root lies on the left.
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
        delay: if stable { f64::INFINITY } else { 0.0 },
        delay_frequency: f64::NAN,
    };
    // Frequencies at which an eigenvalue of the loop at the windows becomes real.
    let imaginary = |v: &Complex<f64>| v.im;
    crossings(count, &frequency, &|w| loop_at_windows(system, w), &imaginary, &mut |w, v| {
        // A loop without gain is none.
        if v.re > 1e-9 {
            let g = 1.0 / v.re;
            // The first that gains meet on their way up from here, or from none.
            if (g > 1.0 || !stable) && g < best.gain {
                (best.gain, best.gain_frequency) = (g, w);
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

/// Eigenvalues of neighbouring frequencies, each with the nearest that is left.
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

/// Bisection along an eigenvalue.
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

/// (jω·I − A)⁻¹·M(jω): what windows do to themselves, through the queues.
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

/// K(jω): the response of one turn of the loop.
fn loop_at_feedback(system: &Linear, w: f64) -> Option<DMatrix<Complex<f64>>> {
    let s = Complex::new(0.0, w);
    let direct = system.part(|t| t.feedbacks == 0).at(s, 1.0);
    let without = DMatrix::identity(system.size, system.size) * s - direct;
    let fed = system.part(|t| t.feedbacks > 0).at(s, 1.0);
    without.lu().solve(&fed)
}
