//! Applications: what gives a sender something to send, and when.

use crate::browsing::{Act, Browsing};
use crate::demand::{Demand, Draw};
use crate::draw::{exponential, pareto};
use crate::random::{Dice, Purpose};
use crate::sizes::PacketSizes;
use accord_units::{Bytes, Duration, Rate, Time};

/// The application of one flow.
#[derive(Clone, Debug)]
pub struct Application {
    demand: Demand,
    packet: Bytes,
    /// Mean size of its packets in bytes, where they are random.
    mean: Option<f64>,
    dice: Dice,
    /// Packets left of the burst (on-off with a rate).
    left: u64,
    /// The state of a web user.
    browsing: Browsing,
    /// The transfer under way.
    transfer: Option<UnderWay>,
}

/// The next action of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Packets that it hands to the sender now.
    pub supply: u64,
    /// These packets are all of a transfer, of which it wants to know when it is done.
    pub is_transfer: bool,
    /// They go over a new connection, not over the one that is there.
    pub new_connection: bool,
    /// When it acts again on its own: after this span. `None` is after a transfer, or never.
    pub again: Option<Duration>,
}

/// A transfer that is not done yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// When the application handed it to the sender.
    pub start: Time,
    /// The amount; it is carried in whole packets.
    pub size: Bytes,
    /// The application acts again so long after it is done; never, where it is `None`.
    pub pause: Option<Duration>,
}

impl Application {
    /// The application of flow `id`, which sends packets of this size in the mean; by a law where
    /// they are random.
    pub fn new(
        demand: Demand,
        packet: Bytes,
        sizes: Option<&PacketSizes>,
        id: usize,
        seed: u64,
    ) -> Application {
        Application {
            demand,
            packet,
            mean: sizes.map(PacketSizes::mean),
            dice: Dice::new(seed, id, Purpose::Demand),
            left: 0,
            browsing: Browsing::default(),
            transfer: None,
        }
    }

    /// It is started, or its time has come.
    pub fn act(&mut self, now: Time) -> Step {
        match self.demand {
            Demand::Greedy => Step {
                supply: u64::MAX,
                is_transfer: false,
                new_connection: false,
                again: None,
            },
            Demand::Size(size) => self.begin(now, size, None),
            Demand::Constant(rate) => packet_then(self.gap(rate)),
            Demand::Poisson(rate) => {
                let mean = self.gap(rate).as_secs_f64();
                packet_then(Duration::from_secs_f64(exponential(&mut self.dice, mean)))
            }
            Demand::OnOff {
                rate: Some(rate),
                burst,
                pause,
            } => {
                if self.left == 0 {
                    let burst = self.burst(burst);
                    self.left = self.packets(burst);
                }
                self.left -= 1;
                let gap = self.gap(rate);
                packet_then(match self.left {
                    0 => gap + self.pause(pause),
                    _ => gap,
                })
            }
            Demand::OnOff {
                rate: None,
                burst,
                pause,
            } => {
                let size = self.burst(burst);
                let pause = self.pause(pause);
                self.begin(now, size, Some(pause))
            }
            Demand::Web(web) => match self.browsing.act(&web, &mut self.dice) {
                Act::Wait(span) => Step {
                    supply: 0,
                    is_transfer: false,
                    new_connection: false,
                    again: Some(span),
                },
                Act::Fetch(size, pause) => Step {
                    new_connection: true,
                    ..self.begin(now, size, Some(pause))
                },
            },
        }
    }

    /// Its demand has this rate from the next packet on, if it has one at all.
    pub fn set_rate(&mut self, rate: Rate) {
        self.demand = self.demand.at_rate(rate);
    }

    /// The transfer under way, if there is one, is over: it is done, or so is the run.
    pub fn end(&mut self) -> Option<UnderWay> {
        self.transfer.take()
    }

    fn begin(&mut self, now: Time, size: Bytes, pause: Option<Duration>) -> Step {
        self.transfer = Some(UnderWay {
            start: now,
            size,
            pause,
        });
        Step {
            supply: self.packets(size),
            is_transfer: true,
            new_connection: false,
            again: None,
        }
    }

    /// From packet to packet at this rate, in the mean.
    fn gap(&self, rate: Rate) -> Duration {
        match self.mean {
            None => rate.transmission(self.packet),
            Some(mean) => Duration::from_secs_f64(mean * 8.0 / rate.as_bps_f64()),
        }
    }

    /// Whole packets that carry `bytes`; at least one.
    fn packets(&self, bytes: Bytes) -> u64 {
        bytes.get().div_ceil(self.packet.get()).max(1)
    }

    fn burst(&mut self, size: Draw<Bytes>) -> Bytes {
        match size {
            Draw::Constant(size) => size,
            Draw::Exponential(mean) => {
                Bytes::new(exponential(&mut self.dice, mean.as_f64()).ceil() as u64)
            }
            Draw::Pareto { mean, shape } => {
                let least = pareto_least(mean.as_f64(), shape);
                Bytes::new(pareto(&mut self.dice, least, shape).ceil() as u64)
            }
        }
    }

    fn pause(&mut self, length: Draw<Duration>) -> Duration {
        match length {
            Draw::Constant(length) => length,
            Draw::Exponential(mean) => {
                Duration::from_secs_f64(exponential(&mut self.dice, mean.as_secs_f64()))
            }
            Draw::Pareto { mean, shape } => {
                let least = pareto_least(mean.as_secs_f64(), shape);
                Duration::from_secs_f64(pareto(&mut self.dice, least, shape))
            }
        }
    }
}

/// The least value of a Pareto law with this mean.
fn pareto_least(mean: f64, shape: f64) -> f64 {
    mean * (shape - 1.0) / shape
}

fn packet_then(gap: Duration) -> Step {
    Step {
        supply: 1,
        is_transfer: false,
        new_connection: false,
        again: Some(gap),
    }
}
