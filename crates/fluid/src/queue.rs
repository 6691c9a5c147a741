//! The queue of a link, driven by the data that its flows send.
//!
//! ```text
//! integrator    dp/dt = (y − c)/c where p > 0, else its positive part      [Low02 eq. 16]
//! ack-clocked   (1 − m)·Σ w(t − τ)/(d + p) = c where p > 0, else at most c
//! ```
//!
//! y are the arrivals that the discipline does not drop, p is the queuing delay, c the capacity and m the
//! fraction dropped. A window sends the same amount per round trip, delivered or not. Both are
//! complementarity conditions: p ≥ 0, and either p or the slack is zero. A full buffer is the same condition
//! at the other end: the excess is lost.
//!
//! A link with rate 0 serves nothing: its queue accumulates arriving bytes until the buffer is full, and its
//! delay is [`NEVER`]. The discipline uses the last nonzero rate. When the rate of an ACK-clocked link falls,
//! or returns from 0, data bounded by the windows is still on the wires. The queue then grows by arrivals
//! until it reaches the solution of the equation.

use crate::discipline::{Discipline, Refused};
use accord_family::QueueLaw;

/// The queuing delay of a link with rate 0, in seconds. It is finite, so values derived from it are finite.
pub(crate) const NEVER: f64 = 1e12;

/// Returns true for the delay of a link with rate 0, or one interpolated to or from it. No other
/// delay is that long.
#[inline]
pub(crate) fn is_never(delay: f64) -> bool {
    delay > 1e-3 * NEVER
}

/// The relative distance up to which a queue that fills by arrivals counts as equal to the equation's.
const NEAR: f64 = 1e-3;

/// The largest part of a link that acknowledgements and counts take.
const MOST_TAKEN: f64 = 0.999;

/// The state of a queue, and its counters.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub discipline: Discipline,
    /// The rate of the link in bytes per second, and the part that answers and control pairs take.
    line: f64,
    pub taken: f64,
    /// The bytes that wait per waiting byte of data.
    waits: f64,
    /// The rate that is left for data.
    pub capacity: f64,
    /// The capacity, or the last nonzero one.
    alive: f64,
    buffer: f64,
    /// The queuing delay of a full buffer.
    pub longest: f64,
    /// The bytes queued.
    pub backlog: f64,
    /// The queuing delay and its rate of change, for the prediction.
    pub delay: f64,
    pub slope: f64,
    /// True while it fills by arrivals, until it holds the backlog that the windows imply.
    pub fills: bool,
    /// True if no window bounds the arrivals. The queue then always fills by arrivals.
    pub open: bool,
    /// The fractions of arrivals lost and marked.
    pub loss: f64,
    pub mark: f64,
    /// The fraction of arrivals that the discipline dropped.
    pub dropped: f64,
    /// The fraction of arrivals that the discipline dropped at its latest evaluation.
    drops: f64,
    pub sums: Sums,
    /// The bytes served, those that could have been served, and those lost, since the start of the run.
    pub served: f64,
    pub could: f64,
    pub lost: f64,
}

/// Sums since the last sample, in bytes, and integrals over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub arrived: f64,
    pub served: f64,
    /// The answers and control pairs.
    pub taken: f64,
    /// The bytes that the link could have served.
    pub could: f64,
    pub lost: f64,
    pub marked: f64,
    /// The bytes marked or dropped by the discipline.
    pub judged: f64,
    /// The integral of the backlog over time, and its maximum.
    pub backlog: f64,
    pub longest: f64,
    /// The seconds with a nonzero rate, and integrals over them.
    pub alive: f64,
    pub delay: f64,
    pub price: f64,
}

impl Queue {
    pub fn new(discipline: Discipline, capacity: f64, buffer: f64) -> Queue {
        Queue {
            discipline,
            line: capacity,
            taken: 0.0,
            waits: 1.0,
            capacity,
            alive: capacity,
            buffer,
            longest: buffer / capacity,
            backlog: 0.0,
            delay: 0.0,
            slope: 0.0,
            fills: false,
            open: false,
            loss: 0.0,
            mark: 0.0,
            dropped: 0.0,
            drops: 0.0,
            sums: Sums::default(),
            served: 0.0,
            could: 0.0,
            lost: 0.0,
        }
    }

    /// Returns true if the queue does more than delay.
    pub fn signals(&self) -> bool {
        self.buffer.is_finite() || self.discipline.law != QueueLaw::DropTail
    }

    /// Returns true if the link has rate 0.
    pub fn is_dead(&self) -> bool {
        self.capacity == 0.0
    }

    /// Changes the rate of the link. The backlog stays.
    pub fn set_capacity(&mut self, line: f64) {
        if line == self.line {
            return;
        }
        self.fills |= line < self.line || self.is_dead();
        self.line = line;
        self.taken = self.taken.min(MOST_TAKEN * line);
        let capacity = line - self.taken;
        self.capacity = capacity;
        self.slope = 0.0;
        if capacity > 0.0 {
            self.discipline.scale(capacity / self.alive);
            self.alive = capacity;
            self.delay = self.backlog / capacity;
            self.longest = self.buffer / capacity;
        } else {
            self.delay = NEVER;
            self.longest = NEVER;
        }
    }

    /// Sets the rate of the answers and control pairs that cross the link, and of those that overtake the
    /// queue. The rest is left for data, which waits longer.
    pub fn take(&mut self, taken: f64, overtakes: f64) {
        let taken = taken.clamp(0.0, MOST_TAKEN * self.line);
        if self.is_dead() || taken == self.taken {
            return;
        }
        self.taken = taken;
        self.capacity = self.line - taken;
        self.waits = (self.line - overtakes.min(taken)) / self.capacity;
        self.alive = self.capacity;
        self.delay = self.backlog / self.capacity;
        self.longest = self.buffer / self.capacity;
    }

    /// Returns the predicted delay after `h`.
    pub fn predicted(&self, h: f64) -> f64 {
        (self.delay + h * self.slope).clamp(0.0, self.longest)
    }

    /// Adds `arrived` bytes during `h`, in the integrator model.
    #[inline]
    pub fn integrate(&mut self, arrived: f64, h: f64) {
        let refused = self.judge(arrived, h);
        let enters = arrived - refused.dropped;
        let end = self.backlog + enters - self.capacity * h;
        let next = end.clamp(0.0, self.buffer);
        self.account(next, arrived, refused, (end - next).max(0.0), h);
    }

    /// Returns the bounds of the delay after `h`. A link drains its queue no faster than it serves, less the
    /// part `arriving` of that which applications send in any case. Data
    /// beyond a full buffer is lost, and a queue that fills holds no more than has arrived.
    pub fn bounds(&self, arrived: f64, arriving: f64, h: f64) -> (f64, f64) {
        if self.is_dead() {
            return (NEVER, NEVER);
        }
        let most = if self.fills {
            self.longest.min(self.with(arrived, h) / (1.0 - NEAR))
        } else {
            self.longest
        };
        ((self.delay - h * (1.0 - arriving)).max(0.0).min(most), most)
    }

    /// Returns the delay of all that has arrived by the end of a step.
    fn with(&self, arrived: f64, h: f64) -> f64 {
        let enters = arrived * (1.0 - self.drops);
        ((self.backlog + enters) / self.capacity - h).max(0.0)
    }

    /// Returns the delay of a queue that fills, given the equation's delay and its upper bound. Filling
    /// ends below that bound.
    pub fn filled(&mut self, next: f64, most: f64, arrived: f64, h: f64) -> f64 {
        if self.is_dead() {
            return NEVER;
        }
        self.fills = self.open || next >= most;
        if self.fills { self.with(arrived, h) } else { next }
    }

    /// Returns the arrival rate at which the queue takes in as much as it serves.
    pub fn admits(&self) -> f64 {
        match self.drops {
            0.0 => self.capacity,
            // Bounded, so the rate is finite.
            drops => self.capacity / (1.0 - drops).max(1e-6),
        }
    }

    /// Sets the delay to `next`, which follows from the windows, sent at `rate`. Subtracts the discipline's
    /// drops at the fraction of the previous step, since that of this step depends on the arrivals.
    pub fn set(&mut self, next: f64, rate: f64, h: f64) {
        let next = next.min(self.longest);
        let fills = next * self.capacity - self.backlog;
        let kept = 1.0 - self.drops;
        let entered = (rate * kept * h + fills).max(0.0);
        let arrived = match kept {
            1.0 => entered,
            0.0 => rate * h,
            _ => entered / kept,
        };
        let judged = self.judge(arrived, h);
        if judged.dropped > 0.0 {
            self.drops = (judged.dropped / arrived).min(1.0);
        } else if arrived > 0.0 {
            self.drops = 0.0;
        }
        let refused = Refused { dropped: arrived - entered, marked: judged.marked };
        let overflow =
            if next >= self.longest { (entered - self.capacity * h - fills).max(0.0) } else { 0.0 };
        self.account(next * self.capacity, arrived, refused, overflow, h);
    }

    fn judge(&mut self, arrived: f64, h: f64) -> Refused {
        self.discipline.step(arrived, self.backlog, self.alive, h)
    }

    /// Sets the backlog to `next` and updates the counters.
    #[inline]
    fn account(&mut self, next: f64, arrived: f64, refused: Refused, overflow: f64, h: f64) {
        let lost = refused.dropped + overflow;
        let part = |bytes: f64| {
            if bytes > 0.0 { (bytes / arrived).min(1.0) } else { 0.0 }
        };
        self.dropped = part(refused.dropped);
        self.loss = part(lost);
        self.mark = part(refused.marked);
        // Rounding must make it neither negative, nor positive where nothing was served.
        let served =
            if self.is_dead() { 0.0 } else { (arrived - lost - (next - self.backlog)).max(0.0) };
        self.served += served;
        self.could += self.capacity * h;
        self.lost += lost;
        let dead = self.is_dead();
        let sums = &mut self.sums;
        sums.arrived += arrived;
        sums.marked += refused.marked;
        sums.judged += refused.marked + refused.dropped;
        sums.lost += lost;
        sums.served += served;
        sums.taken += self.taken * h;
        sums.could += self.capacity * h;
        sums.backlog += 0.5 * h * self.waits * (self.backlog + next);
        sums.longest = sums.longest.max(self.waits * self.backlog.max(next));
        self.backlog = next;
        if dead {
            return;
        }
        let (before, delay) = (self.delay, next / self.capacity);
        sums.alive += h;
        sums.delay += 0.5 * h * (before + delay);
        sums.price += h * self.discipline.price(0.5 * (before + delay));
        self.slope = (delay - before) / h;
        self.delay = delay;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_family::QueueDynamics;

    /// A queue of 1e6 B/s with room for 1e5 bytes.
    fn queue(law: QueueLaw) -> Queue {
        Queue::new(Discipline::new(QueueDynamics::plain(law), true, 1e6), 1e6, 1e5)
    }

    /// A queue fills by arrivals when its rate falls or comes back, and follows its windows when it rises.
    #[test]
    fn a_queue_fills_after_a_fall_and_an_outage() {
        let after = |rates: &[f64]| {
            let mut queue = queue(QueueLaw::DropTail);
            for &rate in rates {
                queue.fills = false;
                queue.set_capacity(rate);
            }
            queue.fills
        };
        assert!(after(&[5e5]) && after(&[0.0]) && after(&[0.0, 2e6]));
        assert!(!after(&[2e6]) && !after(&[1e6]));
    }

    /// A virtual capacity changes with the rate; over a dead link it is the last one, so arrivals at that
    /// rate change no price.
    #[test]
    fn a_discipline_follows_the_last_rate() {
        let longest = 10.0;
        let (utilisation, gain, holds_physical) = (1.0, 0.0, false);
        let mut queue = queue(QueueLaw::Avd { utilisation, gain, longest, holds_physical });
        queue.integrate(2e4, 0.01);
        assert!((queue.discipline.virtual_delay(0.0) - 0.01).abs() < 1e-12);
        queue.set_capacity(5e5);
        assert!((queue.discipline.virtual_delay(0.0) - 0.02).abs() < 1e-12);
        queue.set_capacity(0.0);
        queue.integrate(5e5 * 0.01, 0.01);
        assert!((queue.discipline.virtual_delay(0.0) - 0.02).abs() < 1e-12);
    }

    /// From empty to 0.04 s in a step: the mean price of the sample is half of that, and its longest backlog the
    /// last one.
    #[test]
    fn a_sample_has_the_mean_price_and_the_longest_backlog() {
        let mut queue = queue(QueueLaw::DropTail);
        queue.integrate(5e4, 0.01);
        assert!((queue.sums.price - 0.01 * 0.02).abs() < 1e-12, "{:?}", queue.sums);
        assert_eq!(queue.sums.longest, 4e4);
    }

    /// A queue that fills holds no more than its arrivals less drops, and serves its rate.
    #[test]
    fn a_queue_that_fills_holds_no_more_than_has_come() {
        let mut queue = queue(QueueLaw::DropTail);
        queue.integrate(5e4, 0.01);
        assert_eq!(queue.bounds(5e4, 0.0, 0.01), (0.03, 0.1));
        assert_eq!(queue.bounds(5e4, 0.5, 0.01), (0.035, 0.1));
        queue.fills = true;
        let with = |queue: &Queue| queue.bounds(3e4, 0.0, 0.01).1 * (1.0 - NEAR);
        assert!((with(&queue) - 0.06).abs() < 1e-12, "{}", with(&queue));
        queue.drops = 0.5;
        assert!((with(&queue) - 0.045).abs() < 1e-12, "{}", with(&queue));
    }

    /// Without drops as much enters as is served.
    #[test]
    fn drops_end_with_their_cause() {
        let mut queue = queue(QueueLaw::DropTail);
        queue.drops = 0.5;
        assert_eq!(queue.admits(), 2e6);
        queue.set(0.0, 2e6, 0.01);
        assert_eq!(queue.admits(), 1e6);
    }
}
