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
//!
//! Disciplines add their own state: AVQ and AVD a virtual queue with the capacity C̃
//! [Xia05 §IV-D], dV/dt = y − C̃, dC̃/dt = α(γc − y).

use accord_units::param::{Value, Values};

/// What a discipline adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Discipline {
    DropTail,
    /// Shows its virtual delay.
    Avd {
        utilisation: f64,
        gain: f64,
        longest: f64,
    },
    /// Marks or drops what overflows the virtual buffer.
    Avq {
        utilisation: f64,
        gain: f64,
        buffer: f64,
        drops: bool,
    },
}

impl Discipline {
    pub fn of(v: &Values, buffer: f64) -> Discipline {
        let (utilisation, gain) = match v.family().name {
            "avd" | "avq" => (v.number("utilisation"), v.number("gain")),
            _ => return Discipline::DropTail,
        };
        if v.family().name == "avd" {
            let longest = v.duration("max_delay").as_secs_f64();
            return Discipline::Avd {
                utilisation,
                gain,
                longest,
            };
        }
        let own = match v.get("buffer") {
            Value::Size(size) => Some(size.bytes_f64(accord_units::Bytes::new(1))),
            _ => None,
        };
        // As the discipline itself has it where nothing bounds the queue.
        let bounded = if buffer.is_finite() { buffer } else { 100e3 };
        Discipline::Avq {
            utilisation,
            gain,
            buffer: own.unwrap_or(bounded),
            drops: !v.flag("ecn"),
        }
    }
}

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
    virtual_backlog: f64,
    virtual_capacity: f64,
    /// Fraction of arrivals lost or marked.
    pub loss: f64,
    /// Sums since the last sample: bytes served and lost, marked, ∫ delay, ∫ virtual delay.
    pub served: f64,
    pub lost: f64,
    pub marked: f64,
    pub delay_integral: f64,
    pub virtual_integral: f64,
}

impl Queue {
    pub fn new(discipline: Discipline, capacity: f64, buffer: f64) -> Queue {
        let utilisation = match discipline {
            Discipline::Avd { utilisation, .. } | Discipline::Avq { utilisation, .. } => {
                utilisation
            }
            Discipline::DropTail => 1.0,
        };
        Queue {
            discipline,
            capacity,
            longest: buffer / capacity,
            delay: 0.0,
            slope: 0.0,
            virtual_backlog: 0.0,
            virtual_capacity: utilisation * capacity,
            loss: 0.0,
            served: 0.0,
            lost: 0.0,
            marked: 0.0,
            delay_integral: 0.0,
            virtual_integral: 0.0,
        }
    }

    /// The rate changes; the backlog stays.
    pub fn set_capacity(&mut self, capacity: f64, buffer: f64) {
        if capacity != self.capacity {
            self.delay *= self.capacity / capacity;
            self.virtual_capacity *= capacity / self.capacity;
            self.capacity = capacity;
            self.longest = buffer / capacity;
            self.slope = 0.0;
        }
    }

    /// Where the delay will be after `h`, as far as can be told.
    pub fn predicted(&self, h: f64) -> f64 {
        (self.delay + h * self.slope).clamp(0.0, self.longest)
    }

    pub fn virtual_delay(&self) -> f64 {
        match self.discipline {
            Discipline::Avd { longest, .. } => {
                if self.virtual_backlog >= longest * self.virtual_capacity {
                    longest
                } else {
                    self.virtual_backlog / self.virtual_capacity
                }
            }
            _ => 0.0,
        }
    }

    /// `arrived` bytes came during `h`: the integrator.
    #[inline]
    pub fn integrate(&mut self, arrived: f64, h: f64) {
        let (dropped, marked) = self.discipline_step(arrived, h);
        let end = self.delay + (arrived - dropped) / self.capacity - h;
        let next = end.clamp(0.0, self.longest);
        let overflow = (end - next).max(0.0) * self.capacity;
        self.account(next, arrived, dropped + overflow, marked, h);
    }

    /// The queue is `next` because of the windows; `arrived` is what they then send.
    pub fn set(&mut self, next: f64, arrived: f64, h: f64) {
        let (dropped, marked) = self.discipline_step(arrived, h);
        let overflow = if next >= self.longest {
            (arrived - dropped - self.capacity * (h + next - self.delay)).max(0.0)
        } else {
            0.0
        };
        self.account(
            next.min(self.longest),
            arrived,
            dropped + overflow,
            marked,
            h,
        );
    }

    #[inline]
    fn account(&mut self, next: f64, arrived: f64, lost: f64, marked: f64, h: f64) {
        let before = self.delay;
        let signalled = lost + marked;
        self.loss = if signalled > 0.0 {
            (signalled / arrived).min(1.0)
        } else {
            0.0
        };
        self.marked += marked;
        self.lost += lost;
        self.served += arrived - lost - (next - before) * self.capacity;
        self.delay_integral += 0.5 * h * (before + next);
        self.virtual_integral += h * self.virtual_delay();
        self.slope = (next - before) / h;
        self.delay = next;
    }

    /// Moves the virtual queue; gives what is dropped before the real one, and what is marked.
    #[inline]
    fn discipline_step(&mut self, arrived: f64, h: f64) -> (f64, f64) {
        let (utilisation, gain) = match self.discipline {
            Discipline::DropTail => return (0.0, 0.0),
            Discipline::Avd {
                utilisation, gain, ..
            }
            | Discipline::Avq {
                utilisation, gain, ..
            } => (utilisation, gain),
        };
        let target = utilisation * self.capacity;
        let before = self.virtual_capacity;
        self.virtual_capacity = (before + gain * (target * h - arrived)).clamp(0.0, self.capacity);
        let service = 0.5 * h * (before + self.virtual_capacity);
        let backlog = (self.virtual_backlog + arrived - service).max(0.0);
        match self.discipline {
            Discipline::Avd { longest, .. } => {
                self.virtual_backlog = backlog.min(longest * self.virtual_capacity);
                (0.0, 0.0)
            }
            Discipline::Avq { buffer, drops, .. } => {
                self.virtual_backlog = backlog.min(buffer);
                let over = (backlog - buffer).clamp(0.0, arrived);
                if drops { (over, 0.0) } else { (0.0, over) }
            }
            Discipline::DropTail => (0.0, 0.0),
        }
    }

    /// Forgets what was counted.
    pub fn reset_sums(&mut self) {
        self.served = 0.0;
        self.lost = 0.0;
        self.marked = 0.0;
        self.delay_integral = 0.0;
        self.virtual_integral = 0.0;
    }
}
