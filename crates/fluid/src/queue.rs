//! The queue of a link, and how it follows from what its flows send.
//!
//! ```text
//! integrator    dp/dt = (y − c)/c where p > 0, else its positive part      [Low02 eq. 16]
//! ack-clocked   (1 − m)·Σ w(t − τ)/(d + p) = c where p > 0, else at most c
//! ```
//!
//! y is what arrives and is not dropped by the discipline, p the queuing delay, c the capacity, m
//! the share dropped: a window sends as much in a round trip whether or not it gets through. Both are complementarity
//! conditions: p ≥ 0, and either p or the slack is zero. A full buffer is the same at the
//! other end: what does not fit is lost.

use crate::discipline::{Discipline, Law, Refused};

/// A queue's state and what it counts.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub discipline: Discipline,
    /// Bytes per second.
    pub capacity: f64,
    /// Longest queuing delay that fits.
    pub longest: f64,
    /// Queuing delay and how it changes, for the prediction.
    pub delay: f64,
    pub slope: f64,
    /// Fractions of arrivals lost and marked.
    pub loss: f64,
    pub mark: f64,
    /// Fraction of the arrivals that the discipline dropped when it last looked.
    drops: f64,
    pub sums: Sums,
}

/// Sums since the last sample, in bytes, and integrals over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub arrived: f64,
    pub served: f64,
    pub lost: f64,
    pub marked: f64,
    /// Marked or dropped by the discipline.
    pub judged: f64,
    pub delay: f64,
    pub price: f64,
}

impl Queue {
    pub fn new(discipline: Discipline, capacity: f64, buffer: f64) -> Queue {
        Queue {
            discipline,
            capacity,
            longest: buffer / capacity,
            delay: 0.0,
            slope: 0.0,
            loss: 0.0,
            mark: 0.0,
            drops: 0.0,
            sums: Sums::default(),
        }
    }

    /// Whether it does more than delay.
    pub fn signals(&self) -> bool {
        self.longest.is_finite() || self.discipline.law != Law::DropTail
    }

    /// The rate changes; the backlog stays.
    pub fn set_capacity(&mut self, capacity: f64, buffer: f64) {
        if capacity != self.capacity {
            self.delay *= self.capacity / capacity;
            self.discipline.scale(capacity / self.capacity);
            self.capacity = capacity;
            self.longest = buffer / capacity;
            self.slope = 0.0;
        }
    }

    /// Where the delay will be after `h`, as far as can be told.
    pub fn predicted(&self, h: f64) -> f64 {
        (self.delay + h * self.slope).clamp(0.0, self.longest)
    }

    /// `arrived` bytes came during `h`: the integrator.
    #[inline]
    pub fn integrate(&mut self, arrived: f64, h: f64) {
        let refused = self.judge(arrived, h);
        let end = self.delay + (arrived - refused.dropped) / self.capacity - h;
        let next = end.clamp(0.0, self.longest);
        let overflow = (end - next).max(0.0) * self.capacity;
        self.account(next, arrived, refused, overflow, h);
    }

    /// What may arrive so that as much enters as is served.
    pub fn admits(&self) -> f64 {
        // Of which no more than this is dropped, so that it is a number.
        self.capacity / (1.0 - self.drops).max(1e-6)
    }

    /// The queue is `next` because of the windows, which then send at `rate`. What the discipline
    /// drops does not enter, by the share that it came to in the step before: what it comes to in
    /// this one depends on what arrives.
    pub fn set(&mut self, next: f64, rate: f64, h: f64) {
        let next = next.min(self.longest);
        let fills = (next - self.delay) * self.capacity;
        let kept = 1.0 - self.drops;
        let entered = (rate * kept * h + fills).max(0.0);
        let arrived = match kept > 0.0 {
            true => entered / kept,
            false => rate * h,
        };
        let judged = self.judge(arrived, h);
        if arrived > 0.0 {
            self.drops = (judged.dropped / arrived).clamp(0.0, 1.0);
        }
        let refused = Refused {
            dropped: arrived - entered,
            marked: judged.marked,
        };
        let overflow = if next >= self.longest {
            (entered - self.capacity * h - fills).max(0.0)
        } else {
            0.0
        };
        self.account(next, arrived, refused, overflow, h);
    }

    fn judge(&mut self, arrived: f64, h: f64) -> Refused {
        let backlog = self.delay * self.capacity;
        self.discipline.step(arrived, backlog, self.capacity, h)
    }

    #[inline]
    fn account(&mut self, next: f64, arrived: f64, refused: Refused, overflow: f64, h: f64) {
        let before = self.delay;
        let lost = refused.dropped + overflow;
        let part = |bytes: f64| {
            if bytes > 0.0 {
                (bytes / arrived).min(1.0)
            } else {
                0.0
            }
        };
        self.loss = part(lost);
        self.mark = part(refused.marked);
        let sums = &mut self.sums;
        sums.arrived += arrived;
        sums.marked += refused.marked;
        sums.judged += refused.marked + refused.dropped;
        sums.lost += lost;
        sums.served += arrived - lost - (next - before) * self.capacity;
        sums.delay += 0.5 * h * (before + next);
        sums.price += h * self.discipline.price(0.5 * (before + next));
        self.slope = (next - before) / h;
        self.delay = next;
    }
}
