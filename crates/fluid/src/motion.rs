//! The quantities that move in every step, for all kinds of flows, and the common case, which a
//! compiler can turn into a few instructions for several kinds at once.

use crate::queue::is_never;
use crate::trouble::Trouble;
use crate::wide::{WIDTH, padded, wide};

/// The state of all kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    pub window: Vec<f64>,
    /// The base round-trip time as the source knows it.
    pub min_rtt: Vec<f64>,
    /// What losses have done to the flows, see [`crate::law::Control::spares`].
    pub trouble: Vec<Trouble>,
    /// Bytes per second, and all bytes sent.
    pub rate: Vec<f64>,
    pub sent: Vec<f64>,
    pub base_rtt: Vec<f64>,
    /// The most that the application and links without queues let pass.
    pub most: Vec<f64>,
    /// One over the round-trip time.
    inverse: Vec<f64>,
    /// The place in the history at which the source sees its only queue, as a fraction of a step, and
    /// the values there. Both are [`padded`].
    pub fraction: Vec<f64>,
    pub seen: Vec<f64>,
}

/// Kinds side by side that glide by the same law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub first: usize,
    pub end: usize,
    pub law: Proportional,
}

/// Kinds side by side that see the same queue and nothing else, the same number of steps ago.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub first: usize,
    pub end: usize,
    pub queue: usize,
    pub back: usize,
}

/// The law of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Proportional {
    pub gain: f64,
    pub target: f64,
    pub packet: f64,
    /// The most that a window grows by in a round trip.
    pub most: f64,
    /// Its queue does more than delay at times, so that it may cease to glide in any step.
    pub for_now: bool,
}

impl Proportional {
    /// dw/dt of a window w of which `share` queues, by one over the round-trip time.
    #[inline(always)]
    fn slope(&self, w: f64, share: f64, inverse: f64) -> f64 {
        least(self.gain * (self.target - w * share), self.most) * inverse
    }
}

/// Returns `a.min(b)` in one instruction: neither is NaN.
#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline(always)]
fn most(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// What a run moves, and what it is moved by: `n` of each.
struct Part<'a> {
    n: usize,
    window: &'a mut [f64],
    min_rtt: &'a mut [f64],
    rate: &'a mut [f64],
    sent: &'a mut [f64],
    inverse: &'a mut [f64],
    base_rtt: &'a [f64],
    limit: &'a [f64],
    sees: &'a [f64],
    past: &'a mut [f64],
    flight: &'a mut [f64],
}

impl Motion {
    #[inline(always)]
    fn part<'a>(&'a mut self, run: Run, past: &'a mut [f64], flight: &'a mut [f64]) -> Part<'a> {
        let (i, n) = (run.first, run.end - run.first);
        Part {
            n,
            window: &mut self.window[i..][..n],
            min_rtt: &mut self.min_rtt[i..][..n],
            rate: &mut self.rate[i..][..n],
            sent: &mut self.sent[i..][..n],
            inverse: &mut self.inverse[i..][..n],
            base_rtt: &self.base_rtt[i..][..n],
            limit: &self.most[i..][..n],
            sees: &self.seen[i..][..n],
            past: &mut past[i..][..n],
            flight: &mut flight[i..][..n],
        }
    }

    pub fn new(kinds: usize) -> Motion {
        let zeros = || vec![0.0; kinds];
        Motion {
            window: zeros(),
            min_rtt: vec![f64::INFINITY; kinds],
            trouble: vec![Trouble::default(); kinds],
            rate: zeros(),
            sent: zeros(),
            base_rtt: zeros(),
            most: vec![f64::INFINITY; kinds],
            inverse: zeros(),
            fraction: vec![0.0; padded(kinds)],
            seen: vec![0.0; padded(kinds)],
        }
    }

    /// Queuing delay that the source sees, in seconds.
    #[inline]
    pub fn queue(&self, kind: usize) -> f64 {
        // Rounding must not make it less than nothing.
        (1.0 / self.inverse[kind] - self.base_rtt[kind]).max(0.0)
    }

    /// Sets the rate that follows from the window, the queuing delay seen, and whether the kind runs.
    #[inline]
    pub fn set_rate(&mut self, kind: usize, queue: f64, active: bool) {
        let rtt = self.base_rtt[kind] + queue;
        self.inverse[kind] = 1.0 / rtt;
        self.rate[kind] = match active {
            true => (self.window[kind] / rtt).min(self.most[kind]),
            false => 0.0,
        };
    }

    /// Returns the bytes that a kind has in flight: the window, unless less is offered. Bytes that are
    /// offered to a link that serves nothing count for the time of the wires.
    #[inline]
    pub fn flight(&self, kind: usize) -> f64 {
        if is_never(1.0 / self.inverse[kind]) {
            return self.window[kind].min(self.most[kind] * self.base_rtt[kind]);
        }
        self.rate[kind] / self.inverse[kind]
    }
}

wide! {
    /// The queuing delay was `before` and is `after` at the steps that a view reads. Of the kinds behind
    /// it some are written, too: views are read in order.
    pub(crate) fn see(seen: &mut [f64], fraction: &[f64], view: View, before: f64, after: f64) {
        let groups = (view.end - view.first).div_ceil(WIDTH);
        let (seen, _) = seen[view.first..].as_chunks_mut::<WIDTH>();
        let (fraction, _) = fraction[view.first..].as_chunks::<WIDTH>();
        for (seen, fraction) in seen[..groups].iter_mut().zip(fraction) {
            for j in 0..WIDTH {
                seen[j] = before + fraction[j] * (after - before);
            }
        }
    }
}

wide! {
    /// Moves a run of proportional laws by `h`, as `Control::advance` does and then what is sent. All that is
    /// sent then is written to `past`, too, and what is in flight to `flight`.
    pub(crate) fn glide(motion: &mut Motion, run: Run, h: f64, past: &mut [f64], flight: &mut [f64]) {
        let Part { n, window, min_rtt, rate, sent, inverse, base_rtt, limit, sees, past, flight } =
            motion.part(run, past, flight);
        let (half, floor) = (0.5 * h, 1e-3 * run.law.packet);
        for k in 0..n {
            let seen = sees[k];
            let rtt = base_rtt[k] + seen;
            let over = 1.0 / rtt;
            let w = window[k];
            let first = run.law.slope(w, 1.0 - base_rtt[k] * inverse[k], inverse[k]);
            let second = run.law.slope(most(w + h * first, floor), seen * over, over);
            let next = most(w + half * (first + second), floor);
            let sends = least(next * over, limit[k]);
            window[k] = next;
            // Not `least`: the compiler would make it a store under a mask, which takes long.
            min_rtt[k] = min_rtt[k].min(rtt);
            inverse[k] = over;
            past[k] = sent[k] + half * (rate[k] + sends);
            sent[k] = past[k];
            rate[k] = sends;
            flight[k] = least(next, limit[k] * rtt);
        }
    }
}

wide! {
    /// Does as [`glide`], with every operation as `Control::advance` and [`Motion::set_rate`] have it: whether
    /// a kind glides for now must not be seen in the result.
    pub(crate) fn glide_for_now(
        motion: &mut Motion,
        run: Run,
        h: f64,
        past: &mut [f64],
        flight: &mut [f64],
    ) {
        let Part { n, window, min_rtt, rate, sent, inverse, base_rtt, limit, sees, past, flight } =
            motion.part(run, past, flight);
        let Proportional { gain, target, packet, most: largest, .. } = run.law;
        let (half, floor) = (0.5 * h, 1e-3 * packet);
        let slope = |w: f64, queue: f64, inverse: f64| {
            least(-gain * (w * queue * inverse - target), largest) * inverse
        };
        for k in 0..n {
            let before = most(1.0 / inverse[k] - base_rtt[k], 0.0);
            let rtt = base_rtt[k] + sees[k];
            let over = 1.0 / rtt;
            let w = window[k];
            let first = slope(w, before, 1.0 / (base_rtt[k] + before));
            let second = slope(most(w + h * first, floor), sees[k], over);
            let next = most(w + half * (first + second), floor);
            let sends = least(next / rtt, limit[k]);
            window[k] = next;
            min_rtt[k] = min_rtt[k].min(rtt);
            inverse[k] = over;
            past[k] = sent[k] + half * (rate[k] + sends);
            sent[k] = past[k];
            rate[k] = sends;
            flight[k] = sends / over;
        }
    }
}
