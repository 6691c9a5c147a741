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

use crate::wide::{WIDTH, padded, total, wide};
use nalgebra::{DMatrix, DVector};

/// The kinds of flows at each queue, side by side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loads {
    queues: Vec<Part>,
    kinds: Vec<u32>,
    /// Windows as they are at the queue, times the number of flows, and zeros as many as [`padded`] says.
    windows: Vec<f64>,
    /// Round trips over empty queues, as many with any behind.
    base_rtt: Vec<f64>,
}

/// The places of a queue's kinds, and the shortest of their round trips over empty queues.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: usize,
    len: usize,
    shortest: f64,
}

impl Loads {
    /// Adds a queue of kinds with these round trips over empty queues; their windows are yet to be told.
    pub fn push(&mut self, kinds: &[u32], base_rtt: impl Fn(u32) -> f64) {
        let first = self.kinds.len();
        self.kinds.extend(kinds);
        self.base_rtt.extend(kinds.iter().map(|&k| base_rtt(k)));
        let shortest = self.base_rtt[first..].iter().copied();
        self.queues.push(Part {
            first,
            len: kinds.len(),
            shortest: shortest.fold(f64::INFINITY, f64::min),
        });
        // One by itself is not written in groups.
        let room = match kinds.len() {
            1 => 1,
            len => padded(len),
        };
        self.kinds.resize(first + room, 0);
        self.base_rtt.resize(first + room, 1.0);
        self.windows.resize(first + room, 0.0);
    }

    /// Returns the windows at a queue, to be written.
    #[inline]
    pub fn windows_mut(&mut self, queue: usize) -> &mut [f64] {
        let first = self.queues[queue].first;
        let end = match self.queues.get(queue + 1) {
            Some(next) => next.first,
            None => self.windows.len(),
        };
        &mut self.windows[first..end]
    }

    /// Returns the kinds at a queue with their windows.
    #[inline]
    fn of(&self, queue: usize) -> impl Iterator<Item = (usize, f64)> {
        let Part { first, len, .. } = self.queues[queue];
        let kinds = self.kinds[first..][..len].iter().map(|&k| k as usize);
        kinds.zip(self.windows[first..][..len].iter().copied())
    }
}

/// The queues on the way of each kind of flows, there and back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    ends: Vec<u32>,
    queues: Vec<u32>,
}

impl Ways {
    /// Adds the way of the next kind.
    pub fn push(&mut self, queues: impl Iterator<Item = usize>) {
        self.queues.extend(queues.map(|q| q as u32));
        self.ends.push(self.queues.len() as u32);
    }

    /// Returns the ways in order.
    #[inline]
    fn all(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let spans = starts.zip(&self.ends);
        spans.map(|(start, &end)| &self.queues[start as usize..end as usize])
    }

    fn of(&self, kind: usize) -> &[u32] {
        let start = kind.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.queues[start as usize..self.ends[kind] as usize]
    }

    /// Returns the largest number of queues on a way.
    pub fn longest(&self) -> usize {
        self.all().map(<[u32]>::len).max().unwrap_or(0)
    }
}

/// The windows at each queue, and where each kind of flows queues.
pub(crate) struct Problem<'a> {
    pub capacity: &'a [f64],
    pub loads: &'a Loads,
    pub base_rtt: &'a [f64],
    pub ways: &'a Ways,
    /// No kind has more than one queue.
    pub crossed_once: bool,
    /// Queues whose delay is given: those of links that serve nothing, and those where nothing waits.
    pub given: &'a [bool],
    /// Room for the round trip of each kind.
    pub round_trips: &'a mut [f64],
}

/// Relative error of a rate that counts as none.
const EXACT: f64 = 1e-13;
const GOOD: f64 = 1e-9;
/// A singular value that counts as nothing.
const SINGULAR: f64 = 1e-9;

impl Problem<'_> {
    /// Brings `delay` from a guess to the solution; `rate` becomes what arrives at each
    /// queue. Gives the relative residual, which is small unless it fails.
    pub fn solve(&mut self, delay: &mut [f64], rate: &mut [f64]) -> f64 {
        if self.loads.queues.len() == 1 && self.crossed_once && !self.given[0] {
            return self.single(&mut delay[0], &mut rate[0]);
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
            for l in (0..delay.len()).filter(|&l| !self.given[l]) {
                self.sweep(l, delay);
            }
            residual = self.evaluate(delay, rate);
        }
        residual
    }

    /// One queue, crossed once. With S = Σ x, S′ = Σ x/D, S″ = Σ x/D² a step of third order
    /// is e/S′ + S″·e²/S′³, e = S − c; what it leaves is at most 3·S·(step/D)³, which from a good
    /// guess is known to be nothing before it is looked at.
    fn single(&self, p: &mut f64, rate: &mut f64) -> f64 {
        let (loads, c) = (self.loads, self.capacity[0]);
        let shortest = loads.queues[0].shortest;
        let mut last = f64::INFINITY;
        for _ in 0..50 {
            let [sum, slope, bend] = sums(loads, *p);
            *rate = sum;
            let error = sum - c;
            let residual = if *p > 0.0 {
                error.abs()
            } else {
                error.max(0.0)
            } / c;
            if slope == 0.0 {
                // Nothing is sent, so nothing stays queued.
                *p = 0.0;
                return 0.0;
            }
            if residual <= EXACT || residual >= last && residual <= GOOD {
                return residual;
            }
            last = residual;
            let newton = error / slope;
            let step = newton * (1.0 + bend / slope * newton);
            let part = step.abs() / (shortest + *p);
            if part > 0.1 {
                // From below Newton's step alone never overshoots.
                *p = (*p + newton).max(0.0);
                continue;
            }
            *p += step;
            if *p > 0.0 && 3.0 * sum / c * part.powi(3) <= EXACT {
                *rate = c;
                return EXACT;
            }
            *p = p.max(0.0);
        }
        last
    }

    fn round_trip(&self, kind: usize, way: &[u32], delay: &[f64]) -> f64 {
        let queuing: f64 = way.iter().map(|&l| delay[l as usize]).sum();
        self.base_rtt[kind] + queuing
    }

    /// Computes the rate that arrives at each queue, and the largest violation over the capacity.
    pub fn evaluate(&mut self, delay: &[f64], rate: &mut [f64]) -> f64 {
        if !self.crossed_once {
            for (kind, way) in self.ways.all().enumerate() {
                self.round_trips[kind] = self.round_trip(kind, way, delay);
            }
        }
        let mut worst = 0.0f64;
        for (l, &Part { first, len, .. }) in self.loads.queues.iter().enumerate() {
            rate[l] = if self.crossed_once {
                let windows = self.loads.windows[first..][..len].iter();
                let x = |(window, base_rtt)| window / (base_rtt + delay[l]);
                windows.zip(&self.loads.base_rtt[first..]).map(x).sum()
            } else {
                let x = |(kind, window): (usize, f64)| window / self.round_trips[kind];
                self.loads.of(l).map(x).sum()
            };
            if self.given[l] {
                continue;
            }
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
    fn newton(&mut self, delay: &mut [f64], rate: &mut [f64], residual: f64) -> Option<f64> {
        let active: Vec<usize> = (0..delay.len())
            .filter(|&l| !self.given[l] && (delay[l] > 0.0 || rate[l] > self.capacity[l]))
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
            for (kind, window) in self.loads.of(l) {
                let way = self.ways.of(kind);
                let round = self.round_trip(kind, way, delay);
                let slope = window / (round * round);
                for &m in way {
                    if place[m as usize] != usize::MAX {
                        matrix[(i, place[m as usize])] += slope;
                    }
                }
            }
        }
        let step = match matrix.clone().lu().solve(&right) {
            Some(step) => step,
            // Flows answer to sums of the delays only: the least step that will do.
            None => matrix.svd(true, true).solve(&right, SINGULAR).ok()?,
        };
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
            for (kind, window) in self.loads.of(l) {
                let round = self.round_trip(kind, self.ways.of(kind), delay);
                sum += window / round;
                slope += window / (round * round);
            }
            let error = sum - self.capacity[l];
            let violation = if delay[l] > 0.0 {
                error.abs()
            } else {
                error.max(0.0)
            };
            if slope == 0.0 {
                delay[l] = 0.0;
                return;
            }
            if violation <= EXACT * self.capacity[l] {
                return;
            }
            delay[l] = (delay[l] + error / slope).max(0.0);
        }
    }
}

wide! {
    /// Σ x, Σ x/D and Σ x/D² with x = w/D, D = d + p, of the only queue; four at a time.
    fn sums(loads: &Loads, p: f64) -> [f64; 3] {
        let kinds = loads.queues[0].len;
        let (windows, rest_w) = loads.windows[..kinds].as_chunks::<WIDTH>();
        let (base_rtt, rest_d) = loads.base_rtt[..kinds].as_chunks::<WIDTH>();
        let (mut sum, mut slope, mut bend) = ([0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH]);
        for (w, d) in windows.iter().zip(base_rtt) {
            for j in 0..WIDTH {
                let inverse = 1.0 / (d[j] + p);
                let x = w[j] * inverse;
                let y = x * inverse;
                sum[j] += x;
                slope[j] += y;
                bend[j] += y * inverse;
            }
        }
        for (w, d) in rest_w.iter().zip(rest_d) {
            let inverse = 1.0 / (d + p);
            let x = w * inverse;
            let y = x * inverse;
            sum[0] += x;
            slope[0] += y;
            bend[0] += y * inverse;
        }
        [total(sum), total(slope), total(bend)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two queues in a row, one long flow and a cross flow at each; found by bisection of the
    /// symmetric problem, not by Newton.
    #[test]
    fn two_queues_hold_what_does_not_fit() {
        let (mut loads, mut ways) = (Loads::default(), Ways::default());
        for (queue, cross) in [1, 2].into_iter().enumerate() {
            loads.push(&[0, cross], |kind| if kind == 0 { 0.03 } else { 0.02 });
            loads.windows_mut(queue)[..2].copy_from_slice(&[3000.0, 5000.0]);
        }
        let queues: [&[usize]; 3] = [&[0, 1], &[0], &[1]];
        for way in queues {
            ways.push(way.iter().copied());
        }
        let mut problem = Problem {
            capacity: &[1e5, 1e5],
            loads: &loads,
            base_rtt: &[0.03, 0.02, 0.02],
            ways: &ways,
            crossed_once: false,
            given: &[false, false],
            round_trips: &mut [0.0; 3],
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
