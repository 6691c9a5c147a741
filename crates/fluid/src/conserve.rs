//! The ACK-clocked link model: which queues hold what does not fit on the wires.
//!
//! With the windows that have arrived, find delays p with, for every queue l,
//!
//! ```text
//! p_l ≥ 0,   Σ w_i(t − τ_il) / D_i ≤ c_l,   one of the two with equality,
//! D_i = d_i + Σ p over the queues on i's way there and back
//! ```
//!
//! For one queue the sum falls in p and is convex, and Newton's method from below never
//! overshoots. For several, Newton on the queues that are not empty, with the step halved
//! while it makes matters worse, then sweeps over single queues where that fails.

use nalgebra::{DMatrix, DVector};

/// A flow at a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub kind: u32,
    /// Its window as it is at the queue, times the number of flows.
    pub window: f64,
}

/// The windows at each queue, and where each kind of flows queues.
pub(crate) struct Problem<'a> {
    pub capacity: &'a [f64],
    pub loads: &'a [Vec<Load>],
    pub base_rtt: &'a [f64],
    pub queues: &'a [Vec<u32>],
}

/// Relative error of a rate that counts as none.
const EXACT: f64 = 1e-13;
const GOOD: f64 = 1e-9;

impl Problem<'_> {
    /// Brings `delay` from a guess to the solution; `rate` becomes what arrives at each
    /// queue. Gives the relative residual, which is small unless it fails.
    pub fn solve(&self, delay: &mut [f64], rate: &mut [f64]) -> f64 {
        if let [loads] = self.loads
            && self.queues.iter().all(|q| q.len() <= 1)
        {
            return self.single(loads, &mut delay[0], &mut rate[0]);
        }
        let mut residual = self.evaluate(delay, rate);
        for _ in 0..30 {
            if residual <= EXACT {
                return residual;
            }
            let Some(better) = self.newton(delay, rate, residual) else {
                break;
            };
            residual = better;
        }
        for _ in 0..200 {
            if residual <= GOOD {
                break;
            }
            for l in 0..delay.len() {
                self.sweep(l, delay);
            }
            residual = self.evaluate(delay, rate);
        }
        residual
    }

    /// One queue, crossed once.
    fn single(&self, loads: &[Load], p: &mut f64, rate: &mut f64) -> f64 {
        let c = self.capacity[0];
        let mut last = f64::INFINITY;
        for _ in 0..50 {
            let (mut sum, mut slope) = (0.0, 0.0);
            for load in loads {
                let inverse = 1.0 / (self.base_rtt[load.kind as usize] + *p);
                let x = load.window * inverse;
                sum += x;
                slope += x * inverse;
            }
            *rate = sum;
            let error = sum - c;
            let residual = if *p > 0.0 {
                error.abs()
            } else {
                error.max(0.0)
            } / c;
            if residual <= EXACT || residual >= last && residual <= GOOD || slope == 0.0 {
                return residual;
            }
            last = residual;
            *p = (*p + error / slope).max(0.0);
        }
        last
    }

    fn round_trip(&self, kind: usize, delay: &[f64]) -> f64 {
        let queuing: f64 = self.queues[kind].iter().map(|&l| delay[l as usize]).sum();
        self.base_rtt[kind] + queuing
    }

    /// What arrives at each queue, and the largest violation over the capacity.
    pub fn evaluate(&self, delay: &[f64], rate: &mut [f64]) -> f64 {
        let mut worst = 0.0f64;
        for (l, loads) in self.loads.iter().enumerate() {
            let x = |load: &Load| load.window / self.round_trip(load.kind as usize, delay);
            rate[l] = loads.iter().map(x).sum();
            let error = rate[l] - self.capacity[l];
            let violation = if delay[l] > 0.0 {
                error.abs()
            } else {
                error.max(0.0)
            };
            worst = worst.max(violation / self.capacity[l]);
        }
        worst
    }

    /// A damped Newton step; `None` if none is better.
    fn newton(&self, delay: &mut [f64], rate: &mut [f64], residual: f64) -> Option<f64> {
        let active: Vec<usize> = (0..delay.len())
            .filter(|&l| delay[l] > 0.0 || rate[l] > self.capacity[l])
            .collect();
        let mut place = vec![usize::MAX; delay.len()];
        for (i, &l) in active.iter().enumerate() {
            place[l] = i;
        }
        let n = active.len();
        let mut matrix = DMatrix::<f64>::zeros(n, n);
        let mut right = DVector::<f64>::zeros(n);
        for (i, &l) in active.iter().enumerate() {
            right[i] = rate[l] - self.capacity[l];
            for load in &self.loads[l] {
                let round = self.round_trip(load.kind as usize, delay);
                let slope = load.window / (round * round);
                for &m in &self.queues[load.kind as usize] {
                    if place[m as usize] != usize::MAX {
                        matrix[(i, place[m as usize])] += slope;
                    }
                }
            }
        }
        let step = matrix.lu().solve(&right)?;
        let before = delay.to_vec();
        let mut part = 1.0;
        while part > 1e-3 {
            for (i, &l) in active.iter().enumerate() {
                delay[l] = (before[l] + part * step[i]).max(0.0);
            }
            let now = self.evaluate(delay, rate);
            if now < residual {
                return Some(now);
            }
            part *= 0.5;
        }
        delay.copy_from_slice(&before);
        self.evaluate(delay, rate);
        None
    }

    /// Solves queue `l` alone.
    fn sweep(&self, l: usize, delay: &mut [f64]) {
        for _ in 0..50 {
            let (mut sum, mut slope) = (0.0, 0.0);
            for load in &self.loads[l] {
                let x = load.window / self.round_trip(load.kind as usize, delay);
                sum += x;
                slope += x * x / load.window;
            }
            let error = sum - self.capacity[l];
            let violation = if delay[l] > 0.0 {
                error.abs()
            } else {
                error.max(0.0)
            };
            if violation <= EXACT * self.capacity[l] || slope == 0.0 {
                return;
            }
            delay[l] = (delay[l] + error / slope).max(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two queues in a row, one long flow and a cross flow at each; found by bisection of the
    /// symmetric problem, not by Newton.
    #[test]
    fn two_queues_hold_what_does_not_fit() {
        let loads = [
            vec![(0, 3000.0), (1, 5000.0)],
            vec![(0, 3000.0), (2, 5000.0)],
        ]
        .map(|l| {
            l.into_iter()
                .map(|(kind, window)| Load { kind, window })
                .collect()
        });
        let queues = [vec![0, 1], vec![0], vec![1]];
        let problem = Problem {
            capacity: &[1e5, 1e5],
            loads: &loads,
            base_rtt: &[0.03, 0.02, 0.02],
            queues: &queues,
        };
        let (mut delay, mut rate) = ([0.0, 0.0], [0.0, 0.0]);
        assert!(problem.solve(&mut delay, &mut rate) <= GOOD);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..200 {
            let p = 0.5 * (low + high);
            if 3000.0 / (0.03 + 2.0 * p) + 5000.0 / (0.02 + p) > 1e5 {
                low = p;
            } else {
                high = p;
            }
        }
        assert!(
            (delay[0] - low).abs() < 1e-12 && (delay[1] - low).abs() < 1e-12,
            "{delay:?} {low}"
        );
    }
}
