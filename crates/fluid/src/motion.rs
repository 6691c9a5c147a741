//! The quantities that move in every step, for all kinds of flows, and the common cases, which a
//! compiler can turn into a few instructions for several kinds at once.

use crate::cubic::Epoch;
use crate::history::Histories;
use crate::law::{Control, Seen};
use crate::queue::is_never;
use crate::trouble::Trouble;
use crate::wide::{WIDTH, padded, wide};
use accord_family::{BaseRtt, WindowDynamics, WindowLaw};
use std::ops::Range;

/// What a queue shows to sources beside its queuing delay: its virtual delay, and the parts of what arrives
/// that it loses and marks.
pub(crate) type Signals = [f64; SIGNALS];
pub(crate) const SIGNALS: usize = 3;

/// The state of all kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    pub window: Vec<f64>,
    /// The base round-trip time as the source knows it.
    pub min_rtt: Vec<f64>,
    /// What losses have done to the flows, see [`crate::law::Control::spares`].
    pub trouble: Vec<Trouble>,
    /// What CUBIC knows of its last loss.
    pub epoch: Vec<Epoch>,
    /// Bytes per second, and all bytes sent, and those of them that were lost on the way.
    pub rate: Vec<f64>,
    pub sent: Vec<f64>,
    pub lost: Vec<f64>,
    /// The latest signals, see [`Seen`]; the queuing delay among them is in `inverse`.
    pub price: Vec<f64>,
    pub loss: Vec<f64>,
    pub base_rtt: Vec<f64>,
    /// The most that the application and links without queues let pass.
    pub most: Vec<f64>,
    /// One over the round-trip time.
    inverse: Vec<f64>,
    /// The place in the history at which the source sees its only queue, as a fraction of a step, and
    /// the signals there. All are [`padded`].
    pub fraction: Vec<f64>,
    pub sees: Sees,
}

/// Queuing delays, prices and losses, see [`Seen`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Sees {
    pub queue: Vec<f64>,
    price: Vec<f64>,
    loss: Vec<f64>,
}

impl Sees {
    pub fn set(&mut self, kind: usize, seen: &Seen) {
        self.queue[kind] = seen.queue;
        self.price[kind] = seen.price;
        self.loss[kind] = seen.loss;
    }
}

/// Kinds side by side that move by the same law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub first: usize,
    pub end: usize,
    pub law: Law,
}

/// The law of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// At queues that only delay, see [`glide`].
    Glides(Proportional),
    /// That of a control by its place, see [`move_on`].
    Of(u32),
}

/// Kinds side by side that see the same queue and nothing else, the same number of steps ago.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub first: usize,
    pub end: usize,
    pub queue: usize,
    pub back: usize,
}

/// Proportional control out of slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Proportional {
    pub gain: f64,
    pub target: f64,
    pub packet: f64,
    /// The most that a window grows by in a round trip.
    pub most: f64,
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

/// What kinds side by side move, and what they are moved by: `n` of each.
struct Part<'a> {
    n: usize,
    window: &'a mut [f64],
    min_rtt: &'a mut [f64],
    epoch: &'a mut [Epoch],
    rate: &'a mut [f64],
    sent: &'a mut [f64],
    lost: &'a mut [f64],
    price: &'a mut [f64],
    loss: &'a mut [f64],
    inverse: &'a mut [f64],
    base_rtt: &'a [f64],
    limit: &'a [f64],
    sees: [&'a [f64]; 3],
    past: &'a mut [f64],
    flight: &'a mut [f64],
}

impl Motion {
    #[inline(always)]
    fn part<'a>(
        &'a mut self,
        kinds: Range<usize>,
        past: &'a mut [f64],
        flight: &'a mut [f64],
    ) -> Part<'a> {
        let (first, n) = (kinds.start, kinds.len());
        let Sees { queue, price, loss } = &self.sees;
        Part {
            n,
            window: &mut self.window[first..][..n],
            min_rtt: &mut self.min_rtt[first..][..n],
            epoch: &mut self.epoch[first..][..n],
            rate: &mut self.rate[first..][..n],
            sent: &mut self.sent[first..][..n],
            lost: &mut self.lost[first..][..n],
            price: &mut self.price[first..][..n],
            loss: &mut self.loss[first..][..n],
            inverse: &mut self.inverse[first..][..n],
            base_rtt: &self.base_rtt[first..][..n],
            limit: &self.most[first..][..n],
            sees: [queue, price, loss].map(|signal| &signal[first..][..n]),
            past: &mut past[first..][..n],
            flight: &mut flight[first..][..n],
        }
    }

    pub fn new(kinds: usize) -> Motion {
        let zeros = || vec![0.0; kinds];
        Motion {
            window: zeros(),
            min_rtt: vec![f64::INFINITY; kinds],
            trouble: vec![Trouble::default(); kinds],
            epoch: vec![Epoch::default(); kinds],
            rate: zeros(),
            sent: zeros(),
            lost: zeros(),
            price: zeros(),
            loss: zeros(),
            base_rtt: zeros(),
            most: vec![f64::INFINITY; kinds],
            inverse: zeros(),
            fraction: vec![0.0; padded(kinds)],
            sees: Sees {
                queue: vec![0.0; padded(kinds)],
                price: vec![0.0; padded(kinds)],
                loss: vec![0.0; padded(kinds)],
            },
        }
    }

    /// Returns the latest signals that a source has seen.
    #[inline]
    pub fn seen(&self, kind: usize) -> Seen {
        Seen {
            queue: self.queue(kind),
            price: self.price[kind],
            loss: self.loss[kind],
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
    /// Reads the queuing delays that views see. Of the kinds behind a view some are written, too: views are
    /// read in order.
    pub(crate) fn see(
        queue: &mut [f64],
        fraction: &[f64],
        views: &[View],
        delays: &Histories,
        now: usize,
    ) {
        for view in views {
            let at = now - view.back;
            let (before, after) = (delays.get(view.queue, at), delays.get(view.queue, at + 1));
            let groups = (view.end - view.first).div_ceil(WIDTH);
            let (queue, _) = queue[view.first..].as_chunks_mut::<WIDTH>();
            let (fraction, _) = fraction[view.first..].as_chunks::<WIDTH>();
            for (queue, fraction) in queue[..groups].iter_mut().zip(&fraction[..groups]) {
                for j in 0..WIDTH {
                    queue[j] = before + fraction[j] * (after - before);
                }
            }
        }
    }
}

wide! {
    /// The same of what queues show beside that, as `Integration::look` and `Flow::heed` have it.
    pub(crate) fn hear(
        sees: &mut Sees,
        fraction: &[f64],
        views: &[View],
        signals: &Histories,
        now: usize,
    ) {
        for view in views {
            let of = |at| -> Signals { signals.of(at).as_chunks().0[view.queue] };
            let (before, after) = (of(now - view.back), of(now - view.back + 1));
            let groups = (view.end - view.first).div_ceil(WIDTH);
            let (price, _) = sees.price[view.first..].as_chunks_mut::<WIDTH>();
            let (loss, _) = sees.loss[view.first..].as_chunks_mut::<WIDTH>();
            let (fraction, _) = fraction[view.first..].as_chunks::<WIDTH>();
            let sees = price[..groups].iter_mut().zip(&mut loss[..groups]);
            for ((price, loss), fraction) in sees.zip(&fraction[..groups]) {
                for j in 0..WIDTH {
                    let [virtual_delay, lost, mark] =
                        std::array::from_fn(|i| before[i] + fraction[j] * (after[i] - before[i]));
                    let marks = 1.0 - (1.0 - mark);
                    let lost = 1.0 - (1.0 - lost);
                    price[j] = virtual_delay;
                    loss[j] = 1.0 - (1.0 - lost) * (1.0 - marks);
                }
            }
        }
    }
}

wide! {
    /// Moves a run of proportional laws by `h`, as `Control::advance` does and then what is sent. All that is
    /// sent then is written to `past`, too, and what is in flight to `flight`.
    pub(crate) fn glide(
        motion: &mut Motion,
        kinds: Range<usize>,
        law: Proportional,
        h: f64,
        past: &mut [f64],
        flight: &mut [f64],
    ) {
        let Part { n, window, min_rtt, rate, sent, inverse, base_rtt, limit, sees, past, flight, .. } =
            motion.part(kinds, past, flight);
        let (half, floor) = (0.5 * h, 1e-3 * law.packet);
        for k in 0..n {
            let seen = sees[0][k];
            let rtt = base_rtt[k] + seen;
            let over = 1.0 / rtt;
            let w = window[k];
            let first = law.slope(w, 1.0 - base_rtt[k] * inverse[k], inverse[k]);
            let second = law.slope(most(w + h * first, floor), seen * over, over);
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
    /// Moves a run by `h` by the law of its control, with every operation as `Control::advance` and
    /// [`Motion::set_rate`] have it: whether kinds are side by side must not be seen in the result. If
    /// nothing is `heard`, there are no prices and losses, and have been none.
    pub(crate) fn move_on(
        motion: &mut Motion,
        kinds: Range<usize>,
        control: &Control,
        heard: bool,
        h: f64,
        past: &mut [f64],
        flight: &mut [f64],
    ) {
        let part = motion.part(kinds, past, flight);
        // The law as a constant to each of the loops, so that none has a branch for it.
        match control.dynamics.law {
            WindowLaw::Proportional { gain, target } => {
                part.advance(&with(control, WindowLaw::Proportional { gain, target }), heard, h);
            }
            WindowLaw::MoWalrand { gain, target } => {
                part.advance(&with(control, WindowLaw::MoWalrand { gain, target }), heard, h);
            }
            WindowLaw::Additive { gain, target } => {
                part.advance(&with(control, WindowLaw::Additive { gain, target }), heard, h);
            }
            WindowLaw::Vegas { low, high, per_second } => {
                part.advance(&with(control, WindowLaw::Vegas { low, high, per_second }), heard, h);
            }
            WindowLaw::Reno => part.advance(&with(control, WindowLaw::Reno), heard, h),
            WindowLaw::Cubic { c, beta, fast_convergence, hystart } => {
                let law = WindowLaw::Cubic { c, beta, fast_convergence, hystart };
                part.advance(&with(control, law), heard, h);
            }
            WindowLaw::Unresponsive => {}
        }
    }
}

#[inline(always)]
fn with(control: &Control, law: WindowLaw) -> Control {
    let dynamics = WindowDynamics {
        law,
        ..control.dynamics
    };
    Control {
        dynamics,
        ..*control
    }
}

impl Part<'_> {
    #[inline(always)]
    fn advance(self, control: &Control, heard: bool, h: f64) {
        match heard {
            true => self.each::<true>(control, h),
            false => self.each::<false>(control, h),
        }
    }

    #[inline(always)]
    fn each<const HEARD: bool>(self, control: &Control, h: f64) {
        let knows = matches!(control.dynamics.base, BaseRtt::Known);
        let signal = |value: f64| if HEARD { value } else { 0.0 };
        for k in 0..self.n {
            let base_rtt = self.base_rtt[k];
            let from = Seen {
                queue: (1.0 / self.inverse[k] - base_rtt).max(0.0),
                price: signal(self.price[k]),
                loss: signal(self.loss[k]),
            };
            let to = Seen {
                queue: self.sees[0][k],
                price: signal(self.sees[1][k]),
                loss: signal(self.sees[2][k]),
            };
            let rtt = base_rtt + to.queue;
            let min_rtt = match knows {
                true => base_rtt,
                false => self.min_rtt[k].min(rtt),
            };
            let w = self.window[k];
            let next = match control.cubic() {
                Some(cubic) => control.grown(&cubic, &mut self.epoch[k], w, rtt, &to, h),
                None => control.next(w, base_rtt, min_rtt, &from, &to, h),
            };
            let (over, sends) = (1.0 / rtt, (next / rtt).min(self.limit[k]));
            let bytes = 0.5 * h * (self.rate[k] + sends);
            self.window[k] = next;
            self.min_rtt[k] = min_rtt;
            self.inverse[k] = over;
            self.rate[k] = sends;
            self.past[k] = self.sent[k] + bytes;
            self.sent[k] = self.past[k];
            self.flight[k] = match is_never(rtt) {
                true => next.min(self.limit[k] * base_rtt),
                false => sends / over,
            };
            if HEARD {
                self.lost[k] += bytes * to.loss;
                self.price[k] = to.price;
                self.loss[k] = to.loss;
            }
        }
    }
}
