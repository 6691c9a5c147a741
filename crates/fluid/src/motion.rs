//! The quantities that change in every step, for all classes of flows. Common cases are loops that a compiler
//! can vectorise.

use crate::cubic::Epoch;
use crate::history::Histories;
use crate::law::{Control, Seen};
use crate::queue::is_never;
use crate::wide::{WIDTH, padded, wide};
use accord_family::{BaseRtt, WindowDynamics, WindowLaw};
use std::ops::Range;

/// The signals of a queue in addition to its queuing delay: the virtual delay, and the fractions of
/// arrivals that it loses and marks.
pub(crate) type Signals = [f64; SIGNALS];
pub(crate) const SIGNALS: usize = 3;

/// The state of all classes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    pub window: Vec<f64>,
    /// The source's estimate of the base round-trip time.
    pub min_rtt: Vec<f64>,
    /// CUBIC's memory of the last loss.
    pub epoch: Vec<Epoch>,
    /// The sending rate in bytes per second, all bytes sent, and the bytes lost on the way.
    pub rate: Vec<f64>,
    pub sent: Vec<f64>,
    pub lost: Vec<f64>,
    /// The latest signals: see [`Seen`]. `inverse` holds the queuing delay.
    pub price: Vec<f64>,
    pub loss: Vec<f64>,
    pub base_rtt: Vec<f64>,
    /// The maximum rate of the application and of links without queues.
    pub most: Vec<f64>,
    /// The inverse of the round-trip time.
    inverse: Vec<f64>,
    /// The fraction of a step at which the source sees its only queue in the history, and the
    /// signals there. All are [`padded`].
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
    pub fn set(&mut self, class: usize, seen: &Seen) {
        self.queue[class] = seen.queue;
        self.price[class] = seen.price;
        self.loss[class] = seen.loss;
    }
}

/// A batch of adjacent classes with the same law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub first: usize,
    pub end: usize,
    pub law: Law,
}

/// The law of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// Proportional control at queues that only delay, see [`move_proportional`].
    Proportional(Proportional),
    /// The law of a control, by its index: see [`move_on`].
    Of(u32),
}

/// A span of adjacent classes that see only one queue, the same one, the same number of steps ago.
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
    /// The maximum growth of a window per round trip.
    pub most: f64,
}

impl Proportional {
    /// Returns dw/dt of a window w, a fraction `share` of which is queued. `inverse` is one over the
    /// round-trip time.
    #[inline(always)]
    fn slope(&self, w: f64, share: f64, inverse: f64) -> f64 {
        least(self.gain * (self.target - w * share), self.most) * inverse
    }
}

/// Returns `a.min(b)` in one instruction. Neither may be NaN.
#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline(always)]
fn most(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The state and inputs of `n` adjacent classes.
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

/// The fraction of an application's rate that its window must allow for the application to bind. An unused
/// window is kept at this rate, except for rounding.
const BINDS: f64 = 1.0 - 1e-9;

impl Motion {
    #[inline(always)]
    fn part<'a>(
        &'a mut self,
        classes: Range<usize>,
        past: &'a mut [f64],
        flight: &'a mut [f64],
    ) -> Part<'a> {
        let (first, n) = (classes.start, classes.len());
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

    pub fn new(classes: usize) -> Motion {
        let zeros = || vec![0.0; classes];
        Motion {
            window: zeros(),
            min_rtt: vec![f64::INFINITY; classes],
            epoch: vec![Epoch::default(); classes],
            rate: zeros(),
            sent: zeros(),
            lost: zeros(),
            price: zeros(),
            loss: zeros(),
            base_rtt: zeros(),
            most: vec![f64::INFINITY; classes],
            inverse: zeros(),
            fraction: vec![0.0; padded(classes)],
            sees: Sees {
                queue: vec![0.0; padded(classes)],
                price: vec![0.0; padded(classes)],
                loss: vec![0.0; padded(classes)],
            },
        }
    }

    /// Returns the latest signals that a source has seen.
    #[inline]
    pub fn seen(&self, class: usize) -> Seen {
        Seen { queue: self.queue(class), price: self.price[class], loss: self.loss[class] }
    }

    /// Returns the queuing delay that the source sees, in seconds.
    #[inline]
    pub fn queue(&self, class: usize) -> f64 {
        // Rounding must not make it negative.
        (1.0 / self.inverse[class] - self.base_rtt[class]).max(0.0)
    }

    /// Sets the rate from the window, the queuing delay seen, and whether the class is active.
    #[inline]
    pub fn set_rate(&mut self, class: usize, queue: f64, active: bool) {
        let rtt = self.base_rtt[class] + queue;
        self.inverse[class] = 1.0 / rtt;
        self.rate[class] =
            if active { (self.window[class] / rtt).min(self.most[class]) } else { 0.0 };
    }

    /// Returns the rate of a class if its application binds and not its window, or else zero.
    #[inline]
    pub fn bound(&self, class: usize) -> f64 {
        let binds = self.window[class] * self.inverse[class] >= BINDS * self.most[class];
        if binds && !is_never(1.0 / self.inverse[class]) { self.rate[class] } else { 0.0 }
    }

    /// Returns the bytes that a class has in flight: the window, or less if the application offers
    /// less. Bytes offered to a link with rate 0 count for the propagation time.
    #[inline]
    pub fn flight(&self, class: usize) -> f64 {
        if is_never(1.0 / self.inverse[class]) {
            return self.window[class].min(self.most[class] * self.base_rtt[class]);
        }
        self.rate[class] / self.inverse[class]
    }
}

wide! {
    /// Reads the queuing delays of views. Views must be read in order, because padding may overwrite classes
    /// behind a view.
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
    /// Reads the other signals of queues, as `Integration::look` and `Flow::signal` do.
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
    /// Moves a batch with proportional laws by `h`, as `Control::advance` does, and then its sent bytes.
    /// Writes the total sent bytes to `past`, and the bytes in flight to `flight`.
    pub(crate) fn move_proportional(
        motion: &mut Motion,
        classes: Range<usize>,
        law: Proportional,
        h: f64,
        past: &mut [f64],
        flight: &mut [f64],
    ) {
        let Part { n, window, min_rtt, rate, sent, inverse, base_rtt, limit, sees, past, flight, .. } =
            motion.part(classes, past, flight);
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
            // Not `least`: the compiler would emit a masked store, which is slow.
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
    /// Moves a batch by `h` under the law of its control. Every operation is as in `Control::advance` and
    /// [`Motion::set_rate`], so batching does not change the result. If `heard` is false, there are no prices
    /// and losses now, nor were there earlier.
    pub(crate) fn move_on(
        motion: &mut Motion,
        classes: Range<usize>,
        control: &Control,
        heard: bool,
        h: f64,
        past: &mut [f64],
        flight: &mut [f64],
    ) {
        let part = motion.part(classes, past, flight);
        // The law is a constant in each of the loops, so none branches on it.
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
            WindowLaw::Cubic { c, beta, hystart } => {
                part.advance(&with(control, WindowLaw::Cubic { c, beta, hystart }), heard, h);
            }
            WindowLaw::Unresponsive => {}
        }
    }
}

#[inline(always)]
fn with(control: &Control, law: WindowLaw) -> Control {
    let dynamics = WindowDynamics { law, ..control.dynamics };
    Control { dynamics, ..*control }
}

impl Part<'_> {
    #[inline(always)]
    fn advance(self, control: &Control, heard: bool, h: f64) {
        if heard { self.each::<true>(control, h) } else { self.each::<false>(control, h) }
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
            let min_rtt = if knows { base_rtt } else { self.min_rtt[k].min(rtt) };
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
            self.flight[k] =
                if is_never(rtt) { next.min(self.limit[k] * base_rtt) } else { sends / over };
            if HEARD {
                self.lost[k] += bytes * to.loss;
                self.price[k] = to.price;
                self.loss[k] = to.loss;
            }
        }
    }
}
