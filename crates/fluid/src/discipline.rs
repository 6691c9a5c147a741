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
//! RED spaces marks evenly over 1, 2, ..., 1/p packets, (1 + 1/p)/2 on average. Departure: a
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

    /// Takes a step of `h`, in which `arrived` bytes arrive at a queue of `backlog` bytes.
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
                let kept = libm::exp(seen / packet * ln_keep);
                let found = backlog / unit;
                self.level = found + (self.level - found) * kept;
                let (share, _) = self.share(self.level);
                if share >= 1.0 {
                    // RED drops every packet here, instead of marking it.
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

    /// Returns the level at which RED's average is this backlog, in bytes. Returns `None` for other disciplines.
    pub fn average(&self, backlog: f64) -> Option<f64> {
        match self.law {
            QueueLaw::Red { unit, .. } => Some(backlog / unit),
            _ => None,
        }
    }

    /// Returns the probability of a mark or drop by RED at an average, or by REM at a price, and its slope.
    pub fn share(&self, level: f64) -> (f64, f64) {
        match self.law {
            QueueLaw::Rem { ln_phi, .. } => {
                let unmarked = libm::exp(-level * ln_phi);
                (-libm::expm1(-level * ln_phi), ln_phi * unmarked)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A link of 1e6 B/s, and packets of 1000 bytes.
    const C: f64 = 1e6;

    fn of(law: QueueLaw, ecn: bool) -> Discipline {
        Discipline::new(QueueDynamics { law, ecn }, true, C)
    }

    fn avd(gain: f64, holds_physical: bool) -> Discipline {
        of(QueueLaw::Avd { utilisation: 0.9, gain, longest: 0.1, holds_physical }, false)
    }

    fn near(is: f64, should: f64) {
        assert!((is - should).abs() < 1e-9 * should.abs() + 1e-15, "{is} {should}");
    }

    /// Of arrivals at the rate of the link a tenth stays behind 0.9 of it, 1/9 s of that capacity per second; the
    /// capacity follows that of the link.
    #[test]
    fn a_virtual_queue_is_behind_a_part_of_the_capacity() {
        let mut queue = avd(0.0, false);
        queue.step(C * 0.01, 0.0, C, 0.01);
        near(queue.virtual_delay(0.05), 0.01 / 9.0);
        queue.scale(0.5);
        near(queue.virtual_delay(0.0), 0.02 / 9.0);
        let mut inside = avd(0.0, true);
        inside.step(C * 0.01, 0.0, C, 0.01);
        near(inside.virtual_delay(0.001), 0.001 / 9.0);
        assert_eq!(inside.virtual_delay(0.002), 0.0);
    }

    /// A virtual queue of any arrivals shows its longest delay at most, and is empty after as long.
    #[test]
    fn a_virtual_queue_has_a_longest_delay() {
        let mut queue = avd(0.0, true);
        queue.step(10.0 * C, 0.0, C, 0.01);
        assert_eq!(queue.virtual_delay(0.02), 0.1);
        queue.step(0.0, 0.0, C, 0.05);
        near(queue.virtual_delay(0.02), 0.03);
    }

    /// While nothing comes the virtual capacity rises to that of the link, and not above.
    #[test]
    fn a_virtual_capacity_is_at_most_that_of_the_link() {
        let mut queue = avd(1e-3, false);
        queue.step(0.0, 0.0, C, 1e6);
        queue.step(2e-3 * C, 0.0, C, 1e-3);
        assert!((queue.virtual_delay(0.0) - 1e-3).abs() < 1e-5, "{}", queue.virtual_delay(0.0));
    }

    /// AVQ refuses what overflows once: afterwards as much as it serves fits again.
    #[test]
    fn what_a_virtual_buffer_refuses_is_not_kept() {
        let law = QueueLaw::Avq { utilisation: 0.9, gain: 0.0, buffer: 5000.0 };
        let mut queue = of(law, true);
        near(queue.step(1e4 + 9000.0, 0.0, C, 0.01).marked, 5000.0);
        near(queue.step(9000.0, 0.0, C, 0.01).marked, 0.0);
    }

    /// [Low02 eq. 30]: γ·(μ·b + y − c), where marked bytes arrive; the price is that of the marks alone.
    #[test]
    fn the_price_of_rem_by_hand() {
        let law = QueueLaw::Rem { ln_phi: 0.1, gain: 1e-3, backlog: 0.5, dropped: false };
        let mut queue = of(law, true);
        queue.step(C * 0.1, 2000.0, C, 0.1);
        near(queue.price(0.7), 1e-3 * 1e-3 * 0.5 * 2000.0 * 0.1);
        let mut high = of(law, true);
        high.step(C * 0.1 + 1e4, 0.0, C, 0.1);
        let marked = high.step(C * 0.1 + 1e4, 0.0, C, 0.1).marked;
        near(high.price(0.0), 1e-3 * 1e-3 * 2e4);
        near(marked, (C * 0.1 + 1e4) * (1.0 - f64::exp(-2.0)));
        // A packet that is dropped does not arrive.
        let mut drops = of(law, false);
        drops.step(C * 0.1 + 1e4, 0.0, C, 0.1);
        let enters = (C * 0.1 + 1e4) * f64::exp(-1.0);
        drops.step(C * 0.1 + 1e4, 0.0, C, 0.1);
        near(drops.price(0.0), 1e-6 * (1e4 + enters - C * 0.1).max(0.0));
    }

    fn red(gentle: bool) -> QueueLaw {
        let ln_keep = 0.998f64.ln();
        let (unit, packet) = (1000.0, 1000.0);
        QueueLaw::Red { min: 5.0, max: 15.0, unit, packet, ln_keep, probability: 0.1, gentle }
    }

    /// While the queue is empty the average falls as if packets came at the rate of the link [FJ93].
    #[test]
    fn red_s_average_falls_over_an_empty_queue() {
        let mut queue = of(red(true), false);
        queue.level = 10.0;
        queue.step(0.0, 0.0, C, 0.1);
        near(queue.level, 10.0 * 0.998f64.powf(100.0));
        queue.step(0.0, 4000.0, C, 0.1);
        near(queue.level, 10.0 * 0.998f64.powf(100.0));
    }

    /// One in 1 to 1/p packets, (1 + 1/p)/2 on average: p rises from the upper threshold to 1 at twice of it, or
    /// is 1 there. RED drops all of that, rather than marking it.
    #[test]
    fn red_above_its_upper_threshold() {
        let share = |level: f64, gentle: bool| of(red(gentle), true).share(level).0;
        near(share(10.0, true), 2.0 / (1.0 + 1.0 / 0.05));
        near(share(22.5, true), 2.0 / (1.0 + 1.0 / 0.55));
        assert_eq!((share(22.5, false), share(30.0, true)), (1.0, 1.0));
        let slope = of(red(true), true).share(10.0).1;
        near(slope, 0.01 * 2.0 / 1.05f64.powi(2));
        let mut queue = of(red(false), true);
        queue.level = 20.0;
        let refused = queue.step(1000.0, 20_000.0, C, 1e-3);
        assert_eq!((refused.dropped, refused.marked), (1000.0, 0.0));
    }

    /// A single packet is never late, and no more is dropped than comes [RFC 8289 §4.4].
    #[test]
    fn codel_leaves_a_packet_and_drops_no_more_than_comes() {
        let law = QueueLaw::Codel { target: 1e-4, interval: 0.1, packet: 1000.0 };
        let dropped = |backlog: f64, arrived: f64| {
            let mut queue = of(law, false);
            let steps = (0..1000).map(|_| queue.step(arrived, backlog, C, 1e-2).dropped);
            steps.fold((0.0, 0.0), |(sum, most): (f64, f64), d| (sum + d, most.max(d)))
        };
        assert_eq!(dropped(1000.0, 1e4).0, 0.0);
        assert!(dropped(1001.0, 1e4).0 > 0.0);
        assert_eq!(dropped(5000.0, 10.0).1, 10.0);
    }
}
