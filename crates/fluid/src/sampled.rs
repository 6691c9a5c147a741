//! The loop of a flow that hears one report per round trip, beside flows that keep their rates.
//!
//! The delay equations of this crate let a window act at once, as acknowledgements do. A sender with
//! one report per round trip acts in steps. So its loop is stable for smaller gains, the more so if
//! it has a small share of its bottleneck. Deviations are in bytes of the flow, steps are round
//! trips: ε is the share of the link that moves together with the flow, θ the part of the round trip
//! that is queue, m = min(1, ε·max(1, clocked·ε)).
//!
//! ```text
//! λ̄(n)   = λ̄ + weight·((1 − ε)·u(n−2) − λ̄)                    the egress rate, as reported
//! W(n)   = W(n−1) − κ·(Y(n−1) + θ·λ̄(n))                        the window
//! c(n)   = λ̄(n) + ΔW + correction·(W(n−1) − u(n−1) − Y(n−1))   clocked
//! u(n)   = m·c(n) + (1 − m)·(W(n) − Y(n−1))                    the rate, times a round trip
//! Y(n+1) = Y(n) + ε·u(n)                                       the queue
//! ```

use accord_family::Reports;
use nalgebra::{Complex, SMatrix};

/// The loop at one equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// The gain κ of the flow, contracted part taken off.
    pub gain: f64,
    /// The largest stable gain, for the share at which it is least.
    pub largest: f64,
    /// The share of the bottleneck at which it is.
    pub share: f64,
    /// Frequency of the cycle at that gain, in rad/s.
    pub frequency: f64,
    /// The rightmost root at the flow's gain and that share, in 1/s.
    pub root: Complex<f64>,
}

/// The gains between which the limit is looked for.
const GAINS: (f64, f64) = (0.01, 16.0);

/// Gains per factor of two among which the first unstable one is looked for, before bisection.
const STEPS: u32 = 8;

/// Shares from the least to the largest.
const SHARES: u32 = 12;

impl Sampled {
    /// The loop of a flow of `gain` whose bottleneck it has `shares.0` of, and with all flows that
    /// react `shares.1`. `queued` is the part of its round trip `rtt`, in seconds, that is queue.
    /// Any of those flows may move together, so that each share between counts.
    pub fn new(reports: &Reports, gain: f64, shares: (f64, f64), queued: f64, rtt: f64) -> Sampled {
        let (low, high) = (shares.0.min(1.0), shares.1.clamp(shares.0.min(1.0), 1.0));
        let share = |i| low * (high / low).powf(f64::from(i) / f64::from(SHARES));
        let limits = (0..=SHARES).map(|i| (share(i), limit(reports, share(i), queued)));
        let (share, largest) = limits
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("some shares");
        let root = |gain| leading(reports, gain, share, queued).ln() / rtt;
        Sampled {
            gain,
            largest,
            share,
            frequency: root(largest).im.abs(),
            root: root(gain),
        }
    }

    /// Returns the factor on the flow's gain from which on the loop cycles.
    pub fn factor(&self) -> f64 {
        self.largest / self.gain
    }

    /// Whether the loop does not grow at the flow's gain. At the limit itself, which bisection finds to a
    /// millionth, it only goes on.
    pub fn is_stable(&self) -> bool {
        self.gain <= self.largest * (1.0 + 2e-6)
    }
}

/// The largest stable gain; infinite beyond [`GAINS`].
fn limit(reports: &Reports, share: f64, queued: f64) -> f64 {
    let stable = |gain| leading(reports, gain, share, queued).norm() < 1.0;
    let factor = 2f64.powf(1.0 / f64::from(STEPS));
    let (mut low, mut high) = (0.0, GAINS.0);
    while stable(high) {
        if high > GAINS.1 {
            return f64::INFINITY;
        }
        (low, high) = (high, high * factor);
    }
    while high - low > 1e-6 * high {
        let middle = 0.5 * (low + high);
        (low, high) = match stable(middle) {
            true => (middle, high),
            false => (low, middle),
        };
    }
    0.5 * (low + high)
}

/// The eigenvalue of the largest modulus, with a positive imaginary part.
fn leading(reports: &Reports, gain: f64, share: f64, queued: f64) -> Complex<f64> {
    let m = (share * (reports.clocked * share).max(1.0)).min(1.0);
    let step = |s: &[f64; 6]| -> [f64; 6] {
        let [y, w, mean, u1, u2, y1] = *s;
        let mean = mean + reports.weight * ((1.0 - share) * u2 - mean);
        let step = -gain * (y1 + queued * mean);
        let clocked = mean + step + reports.correction * (w - u1 - y1);
        let u = m * clocked + (1.0 - m) * (w + step - y1);
        [y + share * u, w + step, mean, u, u1, y]
    };
    let mut matrix = SMatrix::<f64, 6, 6>::zeros();
    for column in 0..6 {
        let mut unit = [0.0; 6];
        unit[column] = 1.0;
        for (row, value) in step(&unit).into_iter().enumerate() {
            matrix[(row, column)] = value;
        }
    }
    let values = matrix.complex_eigenvalues();
    let largest = values.iter().max_by(|a, b| a.norm().total_cmp(&b.norm()));
    let v = largest.copied().unwrap_or_default();
    Complex::new(v.re, v.im.abs())
}
