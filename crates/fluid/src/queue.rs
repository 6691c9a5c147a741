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
//!
//! A link whose rate is 0 serves nothing: its queue counts the bytes that come until they fill
//! the buffer, and its delay is [`NEVER`]. The discipline goes by the rate that the link had
//! before. When the rate of an ACK-clocked link falls, or comes back, what the windows bound is
//! still on the wires: the queue fills by what arrives until it holds what the equation says.

use crate::discipline::{Discipline, Refused};
use accord_family::QueueLaw;

/// The queuing delay of a link that serves nothing, in seconds: a number, so that what follows
/// from it is one.
pub(crate) const NEVER: f64 = 1e12;

/// Whether a delay is that of a dead link, or interpolated to or from one: no other is so long.
#[inline]
pub(crate) fn is_never(delay: f64) -> bool {
    delay > 1e-3 * NEVER
}

/// The distance from the equation's queue at which a queue that fills by what arrives counts as it.
const NEAR: f64 = 1e-3;

/// A queue's state and what it counts.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub discipline: Discipline,
    /// Bytes per second.
    pub capacity: f64,
    /// The capacity, or the last one that was not 0.
    alive: f64,
    buffer: f64,
    /// Longest queuing delay that fits.
    pub longest: f64,
    /// Bytes queued.
    pub backlog: f64,
    /// Queuing delay and how it changes, for the prediction.
    pub delay: f64,
    pub slope: f64,
    /// True while it fills by what arrives, until it holds what the windows say.
    pub fills: bool,
    /// No window bounds what comes: it always does.
    pub open: bool,
    /// Fractions of arrivals lost and marked.
    pub loss: f64,
    pub mark: f64,
    /// The bytes of packets beside the fluid that come in a step, and those of them that did not fit.
    pub beside: f64,
    pub missed: f64,
    /// The bytes of both kinds that did not fit in a step.
    pub over: f64,
    /// The part of arrivals that the discipline dropped.
    pub dropped: f64,
    /// Fraction of the arrivals that the discipline dropped when it last looked.
    drops: f64,
    pub sums: Sums,
    /// Bytes served, that could have been served, and lost, since the start of the run.
    pub served: f64,
    pub could: f64,
    pub lost: f64,
}

/// Sums since the last sample, in bytes, and integrals over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub arrived: f64,
    pub served: f64,
    /// The bytes that could have been served.
    pub could: f64,
    pub lost: f64,
    pub marked: f64,
    /// Marked or dropped by the discipline.
    pub judged: f64,
    /// The backlog times seconds, and the longest.
    pub backlog: f64,
    pub longest: f64,
    /// Seconds in which the link served, and integrals over these.
    pub alive: f64,
    pub delay: f64,
    pub price: f64,
}

impl Queue {
    pub fn new(discipline: Discipline, capacity: f64, buffer: f64) -> Queue {
        Queue {
            discipline,
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
            beside: 0.0,
            missed: 0.0,
            over: 0.0,
            dropped: 0.0,
            drops: 0.0,
            sums: Sums::default(),
            served: 0.0,
            could: 0.0,
            lost: 0.0,
        }
    }

    /// Whether it does more than delay.
    pub fn signals(&self) -> bool {
        self.buffer.is_finite() || self.discipline.law != QueueLaw::DropTail
    }

    /// Whether the link serves nothing.
    pub fn is_dead(&self) -> bool {
        self.capacity == 0.0
    }

    /// The rate changes; the backlog stays.
    pub fn set_capacity(&mut self, capacity: f64) {
        if capacity == self.capacity {
            return;
        }
        self.fills |= capacity < self.capacity || self.is_dead();
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

    /// Predicts the delay after `h`.
    pub fn predicted(&self, h: f64) -> f64 {
        (self.delay + h * self.slope).clamp(0.0, self.longest)
    }

    /// `arrived` bytes came during `h`: the integrator.
    #[inline]
    pub fn integrate(&mut self, arrived: f64, h: f64) {
        let refused = self.judge(arrived, h);
        let enters = arrived - refused.dropped - self.missed;
        let end = self.backlog + enters - self.capacity * h;
        let next = end.clamp(0.0, self.buffer);
        self.account(next, arrived, refused, (end - next).max(0.0), h);
    }

    /// The equation's delay, or less if what arrived cannot have made it so long; if it can, the
    /// queue fills no more.
    pub fn filled(&mut self, next: f64, arrived: f64, h: f64) -> f64 {
        if self.is_dead() {
            return NEVER;
        }
        let most = self.backlog / self.capacity + arrived * (1.0 - self.drops) / self.capacity - h;
        self.fills = self.open || next * (1.0 - NEAR) > most;
        match self.fills {
            true => most.max(0.0),
            false => next,
        }
    }

    /// Returns the rate that may arrive so that as much enters as is served.
    pub fn admits(&self) -> f64 {
        match self.drops {
            0.0 => self.capacity,
            // Of which no more than this is dropped, so that it is a number.
            drops => self.capacity / (1.0 - drops).max(1e-6),
        }
    }

    /// The delay is `next` because of the windows, which then send at `rate`. What the discipline
    /// drops does not enter, by the share that it came to in the step before: what it comes to in
    /// this one depends on what arrives.
    pub fn set(&mut self, next: f64, rate: f64, h: f64) {
        let next = next.min(self.longest);
        let fills = (next - self.delay) * self.capacity;
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
        let refused = Refused {
            dropped: arrived - entered,
            marked: judged.marked,
        };
        let overflow = if next >= self.longest {
            (entered - self.capacity * h - fills).max(0.0)
        } else {
            0.0
        };
        self.account(next * self.capacity, arrived, refused, overflow, h);
    }

    fn judge(&mut self, arrived: f64, h: f64) -> Refused {
        self.discipline.step(arrived, self.backlog, self.alive, h)
    }

    /// The backlog becomes `next`.
    #[inline]
    fn account(&mut self, next: f64, arrived: f64, refused: Refused, overflow: f64, h: f64) {
        self.over = overflow + self.missed;
        let lost = refused.dropped + self.over;
        let part = |bytes: f64| {
            if bytes > 0.0 {
                (bytes / arrived).min(1.0)
            } else {
                0.0
            }
        };
        self.dropped = part(refused.dropped);
        self.loss = match self.beside > 0.0 {
            // What does not fit beside the packets that have entered is the fluid's.
            true if overflow > 0.0 => {
                let fluid = (arrived - self.beside).max(overflow);
                (self.dropped + overflow / fluid).min(1.0)
            }
            true => self.dropped,
            false => part(lost),
        };
        self.mark = part(refused.marked);
        // Rounding must not make it less than nothing, or something of nothing.
        let served = match self.is_dead() {
            true => 0.0,
            false => (arrived - lost - (next - self.backlog)).max(0.0),
        };
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
        sums.could += self.capacity * h;
        sums.backlog += 0.5 * h * (self.backlog + next);
        sums.longest = sums.longest.max(self.backlog).max(next);
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
