//! The ACK-clocked link model: the distribution of the windows over wires and queues.
//!
//! Given the windows that have arrived, find delays p such that for every queue l
//!
//! ```text
//! y_l = Σ w_i(t − τ_il) / D_i,   D_i = d_i + Σ p over the queues on i's way there and back
//! least_l ≤ p_l ≤ most_l,   y_l = c_l between the bounds, y_l ≤ c_l at the least, y_l ≥ c_l at the most
//! ```
//!
//! The lower bound is an empty queue, or one that the link has drained for a step. The upper bound is a full
//! buffer, or all arrivals so far.
//!
//! For one queue the sum decreases in p and is convex, so Newton's method from below never overshoots. For
//! several queues, Newton's method is applied to the queues between their bounds. A step beyond a bound
//! becomes a step to it, and the others are solved again. The step is halved while the residual grows. If
//! that fails, single queues are swept.

use crate::wide::{WIDTH, padded, total, wide};
use nalgebra::{DMatrix, DVector};

/// The classes of flows at each queue, in contiguous arrays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loads {
    queues: Vec<Part>,
    classes: Vec<u32>,
    /// Windows at the queue times the number of flows, padded with zeros ([`padded`]).
    windows: Vec<f64>,
    /// Round-trip times over empty queues, padded likewise with arbitrary values.
    base_rtt: Vec<f64>,
}

/// The range of a queue's classes, and the shortest of their round-trip times over empty queues.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: usize,
    len: usize,
    shortest: f64,
}

impl Loads {
    /// Adds a queue with these classes and their round-trip times over empty queues. Their windows
    /// are set later.
    pub fn push(&mut self, classes: &[u32], base_rtt: impl Fn(u32) -> f64) {
        let first = self.classes.len();
        self.classes.extend(classes);
        self.base_rtt.extend(classes.iter().map(|&k| base_rtt(k)));
        let shortest = self.base_rtt[first..].iter().copied();
        self.queues.push(Part {
            first,
            len: classes.len(),
            shortest: shortest.fold(f64::INFINITY, f64::min),
        });
        // A single class is not padded.
        let room = match classes.len() {
            1 => 1,
            len => padded(len),
        };
        self.classes.resize(first + room, 0);
        self.base_rtt.resize(first + room, 1.0);
        self.windows.resize(first + room, 0.0);
    }

    /// Returns the windows at a queue for writing.
    #[inline]
    pub fn windows_mut(&mut self, queue: usize) -> &mut [f64] {
        let first = self.queues[queue].first;
        let end = match self.queues.get(queue + 1) {
            Some(next) => next.first,
            None => self.windows.len(),
        };
        &mut self.windows[first..end]
    }

    /// Returns the classes at a queue with their windows.
    #[inline]
    fn of(&self, queue: usize) -> impl Iterator<Item = (usize, f64)> {
        let Part { first, len, .. } = self.queues[queue];
        let classes = self.classes[first..][..len].iter().map(|&k| k as usize);
        classes.zip(self.windows[first..][..len].iter().copied())
    }
}

/// The queues on the forward and reverse path of each class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    ends: Vec<u32>,
    queues: Vec<u32>,
}

impl Routes {
    /// Adds the route of the next class.
    pub fn push(&mut self, queues: impl Iterator<Item = usize>) {
        self.queues.extend(queues.map(|q| q as u32));
        self.ends.push(self.queues.len() as u32);
    }

    /// Returns the routes in order.
    #[inline]
    fn all(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let spans = starts.zip(&self.ends);
        spans.map(|(start, &end)| &self.queues[start as usize..end as usize])
    }

    fn of(&self, class: usize) -> &[u32] {
        let start = class.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.queues[start as usize..self.ends[class] as usize]
    }

    /// Returns the largest number of queues on a route.
    pub fn longest(&self) -> usize {
        self.all().map(<[u32]>::len).max().unwrap_or(0)
    }
}

/// The windows at each queue, and the route of each class.
pub(crate) struct Problem<'a> {
    pub capacity: &'a [f64],
    pub loads: &'a Loads,
    pub base_rtt: &'a [f64],
    pub routes: &'a Routes,
    /// True if no class passes more than one queue.
    pub crossed_once: bool,
    /// True for queues of given delay: those of links that serve nothing, and those where nothing waits.
    pub given: &'a [bool],
    /// The bounds of each delay.
    pub bounds: &'a [(f64, f64)],
    /// Scratch space: the round-trip time of each class.
    pub round_trips: &'a mut [f64],
}

/// The relative error of a rate that counts as zero.
const EXACT: f64 = 1e-13;
const GOOD: f64 = 1e-9;
/// The largest singular value that counts as zero.
const SINGULAR: f64 = 1e-9;
/// The step, in round-trip times, above which the equations may be singular except for rounding.
const FAR: f64 = 100.0;

impl Problem<'_> {
    /// Solves for `delay` from a guess, and sets `rate` to the arrival rate of each queue. Returns
    /// the relative residual, which is small if the solver succeeds.
    pub fn solve(&mut self, delay: &mut [f64], rate: &mut [f64]) -> f64 {
        if self.loads.queues.len() == 1 && self.crossed_once && !self.given[0] {
            let residual = self.single(&mut delay[0], &mut rate[0]);
            let bounded = self.within(0, delay[0]);
            if bounded != delay[0] {
                delay[0] = bounded;
                self.evaluate(delay, rate);
            }
            return residual;
        }
        for (l, delay) in delay.iter_mut().enumerate() {
            if !self.given[l] {
                *delay = self.within(l, *delay);
            }
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

    /// Solves for a single queue that each class passes once. With S = Σ x, S′ = Σ x/D, S″ = Σ x/D²
    /// and e = S − c, a third-order step is e/S′ + S″·e²/S′³. Its remainder is at most
    /// 3·S·(step/D)³, so from a good guess no second evaluation is needed.
    fn single(&self, p: &mut f64, rate: &mut f64) -> f64 {
        let (loads, c) = (self.loads, self.capacity[0]);
        let shortest = loads.queues[0].shortest;
        let mut last = f64::INFINITY;
        for _ in 0..50 {
            let [sum, slope, bend] = sums(loads, *p);
            *rate = sum;
            let error = sum - c;
            let residual = if *p > 0.0 { error.abs() } else { error.max(0.0) } / c;
            if slope == 0.0 {
                // Nothing is sent, so nothing remains queued.
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
                // From below, Newton's step alone never overshoots.
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

    /// Returns the delay within the bounds of a queue.
    fn within(&self, queue: usize, delay: f64) -> f64 {
        let (least, most) = self.bounds[queue];
        delay.max(least).min(most)
    }

    /// Returns the violation of a queue's condition, where `error` is the excess of its arrivals.
    fn violation(&self, queue: usize, delay: f64, error: f64) -> f64 {
        let (least, most) = self.bounds[queue];
        let above = if delay > least { (-error).max(0.0) } else { 0.0 };
        let below = if delay < most { error.max(0.0) } else { 0.0 };
        above.max(below)
    }

    fn round_trip(&self, class: usize, way: &[u32], delay: &[f64]) -> f64 {
        let queuing: f64 = way.iter().map(|&l| delay[l as usize]).sum();
        self.base_rtt[class] + queuing
    }

    /// Computes the arrival rate of each queue, and returns the largest violation relative to the
    /// capacity.
    pub fn evaluate(&mut self, delay: &[f64], rate: &mut [f64]) -> f64 {
        if !self.crossed_once {
            for (class, way) in self.routes.all().enumerate() {
                self.round_trips[class] = self.round_trip(class, way, delay);
            }
        }
        let mut worst = 0.0f64;
        for (l, &Part { first, len, .. }) in self.loads.queues.iter().enumerate() {
            rate[l] = if self.crossed_once {
                let windows = self.loads.windows[first..][..len].iter();
                let x = |(window, base_rtt)| window / (base_rtt + delay[l]);
                windows.zip(&self.loads.base_rtt[first..]).map(x).sum()
            } else {
                let x = |(class, window): (usize, f64)| window / self.round_trips[class];
                self.loads.of(l).map(x).sum()
            };
            if self.given[l] {
                continue;
            }
            let error = rate[l] - self.capacity[l];
            worst = worst.max(self.violation(l, delay[l], error) / self.capacity[l]);
        }
        worst
    }

    /// Takes a damped Newton step. Returns `None` if no step reduces the residual.
    fn newton(&mut self, delay: &mut [f64], rate: &mut [f64], residual: f64) -> Option<f64> {
        let violated = |l: usize| self.violation(l, delay[l], rate[l] - self.capacity[l]) > 0.0;
        let inside = |l: usize| self.bounds[l].0 < delay[l] && delay[l] < self.bounds[l].1;
        let mut active: Vec<usize> =
            (0..delay.len()).filter(|&l| !self.given[l] && (inside(l) || violated(l))).collect();
        let mut moves: Vec<(usize, f64)> = Vec::new();
        loop {
            let step = self.linear(&active, &moves, delay, rate)?;
            // A queue moves no further than its bound, and the others take that into account.
            let beyond =
                |&(&l, &step): &(&usize, &f64)| self.within(l, delay[l] + step) != delay[l] + step;
            let steps = active.iter().zip(&step);
            let bounded: Vec<usize> = steps.clone().filter(beyond).map(|(&l, _)| l).collect();
            if bounded.is_empty() {
                moves.extend(steps.map(|(&l, &step)| (l, step)));
                break;
            }
            let steps: Vec<(usize, f64)> =
                steps.filter(beyond).map(|(&l, &step)| (l, step)).collect();
            moves.extend(
                steps.iter().map(|&(l, step)| (l, self.within(l, delay[l] + step) - delay[l])),
            );
            active.retain(|l| !bounded.contains(l));
        }
        let before = delay.to_vec();
        let mut part = 1.0;
        while part > 1e-3 {
            for &(l, step) in &moves {
                delay[l] = self.within(l, before[l] + part * step);
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

    /// Returns the steps of the `active` queues by the linearised equations, where other queues make the
    /// steps in `moves`.
    fn linear(
        &self,
        active: &[usize],
        moves: &[(usize, f64)],
        delay: &[f64],
        rate: &[f64],
    ) -> Option<Vec<f64>> {
        if active.is_empty() {
            return Some(Vec::new());
        }
        let mut place = vec![usize::MAX; delay.len()];
        for (i, &l) in active.iter().enumerate() {
            place[l] = i;
        }
        let mut moved = vec![0.0; delay.len()];
        moves.iter().for_each(|&(l, step)| moved[l] = step);
        let n = active.len();
        let mut matrix = DMatrix::<f64>::zeros(n, n);
        let mut right = DVector::<f64>::zeros(n);
        let mut longest = 0.0f64;
        for (i, &l) in active.iter().enumerate() {
            right[i] = rate[l] - self.capacity[l];
            for (class, window) in self.loads.of(l) {
                let way = self.routes.of(class);
                let round = self.round_trip(class, way, delay);
                longest = longest.max(round);
                let slope = window / (round * round);
                for &m in way {
                    match place[m as usize] {
                        usize::MAX => right[i] -= slope * moved[m as usize],
                        place => matrix[(i, place)] += slope,
                    }
                }
            }
        }
        let step = matrix.clone().lu().solve(&right);
        let step = match step.filter(|step| step.amax() <= FAR * longest) {
            Some(step) => step,
            // Flows respond only to sums of delays, so the matrix may be singular. The minimum-norm step is taken.
            None => matrix.svd(true, true).solve(&right, SINGULAR).ok()?,
        };
        Some(step.iter().copied().collect())
    }

    /// Solves for queue `l` alone.
    fn sweep(&self, l: usize, delay: &mut [f64]) {
        for _ in 0..50 {
            let (mut sum, mut slope) = (0.0, 0.0);
            for (class, window) in self.loads.of(l) {
                let round = self.round_trip(class, self.routes.of(class), delay);
                sum += window / round;
                slope += window / (round * round);
            }
            let error = sum - self.capacity[l];
            if slope == 0.0 {
                delay[l] = self.bounds[l].0;
                return;
            }
            if self.violation(l, delay[l], error) <= EXACT * self.capacity[l] {
                return;
            }
            delay[l] = self.within(l, delay[l] + error / slope);
        }
    }
}

wide! {
    /// Returns Σ x, Σ x/D and Σ x/D² with x = w/D, D = d + p, for the only queue, four terms at a
    /// time.
    fn sums(loads: &Loads, p: f64) -> [f64; 3] {
        let classes = loads.queues[0].len;
        let (windows, rest_w) = loads.windows[..classes].as_chunks::<WIDTH>();
        let (base_rtt, rest_d) = loads.base_rtt[..classes].as_chunks::<WIDTH>();
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

    /// Two queues in series with one long flow and a cross flow at each; the expected value comes
    /// from bisection of the symmetric problem, not from Newton's method.
    #[test]
    fn two_queues_hold_what_does_not_fit() {
        let (mut loads, mut routes) = (Loads::default(), Routes::default());
        for (queue, cross) in [1, 2].into_iter().enumerate() {
            loads.push(&[0, cross], |class| if class == 0 { 0.03 } else { 0.02 });
            loads.windows_mut(queue)[..2].copy_from_slice(&[3000.0, 5000.0]);
        }
        let queues: [&[usize]; 3] = [&[0, 1], &[0], &[1]];
        for way in queues {
            routes.push(way.iter().copied());
        }
        let mut problem = Problem {
            capacity: &[1e5, 1e5],
            loads: &loads,
            base_rtt: &[0.03, 0.02, 0.02],
            routes: &routes,
            crossed_once: false,
            given: &[false, false],
            bounds: &[(0.0, f64::INFINITY); 2],
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
