//! Queue disciplines: their state, and the fraction of arrivals that they mark or drop.
//!
//! With y the arrivals and b the backlog, both in packets, and c the capacity:
//!
//! ```text
//! avd, avq  dV/dt = y − C̃, dC̃/dt = α(γc − y); avd shows V/C̃, avq refuses what
//!           overflows the virtual buffer                              [Xia05 §IV-D]
//! rem       dp/dt = γ·(μ·b/T + y − c), p ≥ 0; marks 1 − φ^(−p)        [Low02 eqs. 30, 31]
//! red       d avg/dt = −ln(1 − w)·y·(b − avg), with c for y where the queue is empty;
//!           marks 2·p/(1 + p), p the probability for avg              [FJ93]
//! codel     √count/interval packets per second, see `codel.rs`        [RFC 8289]
//! ```
//!
//! RED spaces marks evenly over 1, 2, ..., 1/p packets, (1 + 1/p)/2 in the mean. Departure: a
//! discipline that marks drops instead if any flow of its queue is not ECN-capable.

use crate::codel::Codel;
use accord_family::{QueueDynamics, QueueLaw};

/// A discipline in operation.
#[derive(Clone, Debug)]
pub struct Discipline {
    /// The law of the discipline.
    pub law: QueueLaw,
    /// True if it marks rather than drops where it can.
    pub marks: bool,
    /// The virtual backlog; REM's price in milliseconds; RED's average.
    level: f64,
    /// The capacity of the virtual queue.
    virtual_capacity: f64,
    codel: Codel,
}

/// The drops and marks among the bytes that arrive.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Refused {
    pub dropped: f64,
    pub marked: f64,
}

impl Discipline {
    /// Returns true if a law marks or drops bytes that would fit.
    pub(crate) fn refuses(law: &QueueLaw) -> bool {
        matches!(
            law,
            QueueLaw::Avq { .. }
                | QueueLaw::Rem { .. }
                | QueueLaw::Red { .. }
                | QueueLaw::Codel { .. }
        )
    }

    /// Creates a discipline with this law at a capacity in bytes per second. It may mark if all
    /// packets are `capable`.
    pub(crate) fn new(dynamics: QueueDynamics, capable: bool, capacity: f64) -> Discipline {
        let virtual_capacity = match dynamics.law {
            QueueLaw::Avd { utilisation, .. } | QueueLaw::Avq { utilisation, .. } => {
                utilisation * capacity
            }
            _ => capacity,
        };
        Discipline {
            law: dynamics.law,
            marks: dynamics.ecn && capable,
            level: 0.0,
            virtual_capacity,
            codel: Codel::default(),
        }
    }

    /// Scales the capacity by `factor`.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.virtual_capacity *= factor;
    }

    /// Returns the virtual delay that arrivals collect behind a queue of `queuing_delay`, in seconds.
    pub(crate) fn virtual_delay(&self, queuing_delay: f64) -> f64 {
        match self.law {
            QueueLaw::Avd { longest, holds_physical, .. } => {
                let physical = if holds_physical { queuing_delay } else { 0.0 };
                if self.level >= longest * self.virtual_capacity {
                    longest
                } else {
                    (self.level / self.virtual_capacity - physical).max(0.0)
                }
            }
            _ => 0.0,
        }
    }

    /// Returns the price of a link with this discipline and queuing delay, in seconds.
    pub(crate) fn price(&self, queuing_delay: f64) -> f64 {
        match self.law {
            QueueLaw::Rem { .. } => 1e-3 * self.level,
            _ => queuing_delay + self.virtual_delay(queuing_delay),
        }
    }

    /// Takes a step of `h` in which `arrived` bytes come to a queue of `backlog` bytes.
    #[inline]
    pub(crate) fn step(&mut self, arrived: f64, backlog: f64, capacity: f64, h: f64) -> Refused {
        let refused = match self.law {
            QueueLaw::DropTail => return Refused::default(),
            QueueLaw::Avd { utilisation, gain, longest, .. } => {
                self.virtual_queue(utilisation, gain, arrived, capacity, h);
                self.level = self.level.min(longest * self.virtual_capacity);
                0.0
            }
            QueueLaw::Avq { utilisation, gain, buffer } => {
                self.virtual_queue(utilisation, gain, arrived, capacity, h);
                let over = (self.level - buffer).clamp(0.0, arrived);
                self.level = self.level.min(buffer);
                over
            }
            QueueLaw::Rem { gain, backlog: weight, dropped, .. } => {
                let counted = if dropped || self.marks {
                    arrived
                } else {
                    arrived * (1.0 - self.share(self.level).0)
                };
                let excess = weight * backlog * h + counted - capacity * h;
                self.level = (self.level + gain * excess).max(0.0);
                arrived * self.share(self.level).0
            }
            QueueLaw::Red { unit, packet, ln_keep, .. } => {
                let seen = if backlog > 0.0 { arrived } else { capacity * h };
                let kept = (seen / packet * ln_keep).exp();
                let found = backlog / unit;
                self.level = found + (self.level - found) * kept;
                let (share, _) = self.share(self.level);
                if share >= 1.0 {
                    // RED drops every packet here, rather than marks it.
                    return Refused { dropped: arrived, marked: 0.0 };
                }
                arrived * share
            }
            QueueLaw::Codel { target, interval, packet } => {
                // A single packet is never late.
                let late = backlog >= target * capacity && backlog > packet;
                (packet * self.codel.drops(late, interval, h)).min(arrived)
            }
        };
        if self.marks {
            Refused { dropped: 0.0, marked: refused }
        } else {
            Refused { dropped: refused, marked: 0.0 }
        }
    }

    fn virtual_queue(&mut self, utilisation: f64, gain: f64, arrived: f64, capacity: f64, h: f64) {
        let before = self.virtual_capacity;
        let moved = before + gain * (utilisation * capacity * h - arrived);
        self.virtual_capacity = moved.clamp(0.0, capacity);
        let service = 0.5 * h * (before + self.virtual_capacity);
        self.level = (self.level + arrived - service).max(0.0);
    }

    /// Returns the level at which RED's average is this backlog, in bytes; `None` for other
    /// disciplines.
    pub fn average(&self, backlog: f64) -> Option<f64> {
        match self.law {
            QueueLaw::Red { unit, .. } => Some(backlog / unit),
            _ => None,
        }
    }

    /// Returns the probability that RED marks or drops at an average, or REM at a price, and its
    /// slope.
    pub fn share(&self, level: f64) -> (f64, f64) {
        match self.law {
            QueueLaw::Rem { ln_phi, .. } => {
                let unmarked = (-level * ln_phi).exp();
                (-(-level * ln_phi).exp_m1(), ln_phi * unmarked)
            }
            QueueLaw::Red { min, max, probability, gentle, .. } => {
                let (p, slope) = if level < min {
                    (0.0, 0.0)
                } else if level < max {
                    let slope = probability / (max - min);
                    (slope * (level - min), slope)
                } else if gentle && level < 2.0 * max {
                    let slope = (1.0 - probability) / max;
                    (probability + slope * (level - max), slope)
                } else {
                    (1.0, 0.0)
                };
                (2.0 * p / (1.0 + p), slope * 2.0 / (1.0 + p).powi(2))
            }
            _ => (0.0, 0.0),
        }
    }
}
