//! The queue of a link, and how it follows from what its flows send.
//!
//! ```text
//! integrator    dp/dt = (y − c)/c where p > 0, else its positive part      [Low02 eq. 16]
//! ack-clocked   Σ w(t − τ)/(d + p) = c where p > 0, else at most c
//! ```
//!
//! y is what arrives, p the queuing delay, c the capacity. Both are complementarity
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

    /// The queue is `next` because of the windows; `arrived` is what they then send.
    pub fn set(&mut self, next: f64, arrived: f64, h: f64) {
        let refused = self.judge(arrived, h);
        let overflow = if next >= self.longest {
            (arrived - refused.dropped - self.capacity * (h + next - self.delay)).max(0.0)
        } else {
            0.0
        };
        self.account(next.min(self.longest), arrived, refused, overflow, h);
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
