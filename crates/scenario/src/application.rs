//! Applications: what gives a sender something to send, and when.

use crate::network::{Demand, Draw, Flow};
use crate::random::{Dice, Purpose};
use accord_units::{Bytes, Duration, Time};

/// The application of one flow.
#[derive(Clone, Debug)]
pub struct Application {
    demand: Demand,
    packet: Bytes,
    dice: Dice,
    /// Packets left of the burst (on-off with a rate).
    left: u64,
}

/// What an application does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Packets that it hands to the sender now.
    pub supply: u64,
    /// When it acts again: a time, or once all is delivered plus a pause, or never.
    pub then: Then,
}

/// See [`Step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// After this span.
    After(Duration),
    /// This span after all that was supplied has been delivered.
    AfterDelivery(Duration),
    /// Never.
    Never,
}

impl Application {
    /// The application of flow `id`.
    pub fn new(flow: &Flow, id: usize, seed: u64) -> Application {
        Application {
            demand: flow.demand,
            packet: flow.packet,
            dice: Dice::new(seed, id, Purpose::Demand),
            left: 0,
        }
    }

    /// It is started, or its time has come.
    pub fn act(&mut self, _now: Time) -> Step {
        match self.demand {
            Demand::Greedy => Step {
                supply: u64::MAX,
                then: Then::Never,
            },
            Demand::Size(size) => Step {
                supply: self.packets(size.as_f64()),
                then: Then::Never,
            },
            Demand::Constant(rate) => Step {
                supply: 1,
                then: Then::After(rate.transmission(self.packet)),
            },
            Demand::Poisson(rate) => {
                let gap = self.exponential(rate.transmission(self.packet).as_secs_f64());
                Step {
                    supply: 1,
                    then: Then::After(Duration::from_secs_f64(gap)),
                }
            }
            Demand::OnOff {
                rate: Some(rate),
                burst,
                pause,
            } => {
                if self.left == 0 {
                    self.left = self.burst(burst);
                }
                self.left -= 1;
                let gap = rate.transmission(self.packet);
                let then = if self.left > 0 {
                    gap
                } else {
                    gap + self.pause(pause)
                };
                Step {
                    supply: 1,
                    then: Then::After(then),
                }
            }
            Demand::OnOff {
                rate: None,
                burst,
                pause,
            } => {
                let supply = self.burst(burst);
                let pause = self.pause(pause);
                Step {
                    supply,
                    then: Then::AfterDelivery(pause),
                }
            }
        }
    }

    /// Whole packets that carry `bytes`; at least one.
    fn packets(&self, bytes: f64) -> u64 {
        (bytes / self.packet.as_f64()).ceil().max(1.0) as u64
    }

    /// Packets of a burst.
    fn burst(&mut self, size: Draw<Bytes>) -> u64 {
        let bytes = match size {
            Draw::Constant(size) => size.as_f64(),
            Draw::Exponential(mean) => self.exponential(mean.as_f64()),
        };
        self.packets(bytes)
    }

    fn pause(&mut self, length: Draw<Duration>) -> Duration {
        match length {
            Draw::Constant(length) => length,
            Draw::Exponential(mean) => {
                Duration::from_secs_f64(self.exponential(mean.as_secs_f64()))
            }
        }
    }

    /// Exponentially distributed with this mean.
    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.dice.uniform()).ln()
    }
}
