//! Applications: they supply a sender with packets to send.

use crate::browsing::{Act, Browsing};
use crate::demand::{Demand, Draw};
use crate::draw::{exponential, pareto};
use crate::media::Encoder;
use crate::random::{Dice, Purpose};
use crate::sizes::PacketSizes;
use accord_units::{Bytes, Duration, Rate, Time};

/// The application of one flow.
#[derive(Clone, Debug)]
pub struct Application {
    demand: Demand,
    packet: Bytes,
    /// The mean size of the packets in bytes, if sizes are random.
    mean: Option<f64>,
    dice: Dice,
    /// The remaining packets of the burst (on-off with a rate).
    left: u64,
    /// The state of a web user.
    browsing: Browsing,
    /// The state of the encoder of live video.
    encoder: Encoder,
    /// The transfer under way.
    transfer: Option<UnderWay>,
}

/// The next action of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The packets that the application hands to the sender now.
    pub supply: u64,
    /// True if these packets are a transfer and the application must be notified of its end.
    pub is_transfer: bool,
    /// True if the packets go over a new connection.
    pub new_connection: bool,
    /// The time after which the application acts again by itself. It is `None` if it acts after a
    /// transfer, or never.
    pub again: Option<Duration>,
}

/// A transfer that is not yet complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// The time at which the application handed the transfer to the sender.
    pub start: Time,
    /// The amount. It is carried in whole packets.
    pub size: Bytes,
    /// The pause after the end of the transfer. It is `None` if the application does not act again.
    pub pause: Option<Duration>,
}

impl Application {
    /// Creates the application of flow `id`. `packet` is the mean size of its packets, and `sizes`
    /// their law if they are random.
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
            encoder: Encoder::default(),
            transfer: None,
        }
    }

    /// Returns the next action of an application that starts or whose time has come.
    pub fn act(&mut self, now: Time) -> Step {
        match self.demand {
            Demand::Greedy => Step { supply: u64::MAX, ..NOTHING },
            Demand::Size(size) => self.begin(now, size, None),
            Demand::Constant(rate) => packet_then(self.gap(rate)),
            Demand::Poisson(rate) => {
                let mean = self.gap(rate).as_secs_f64();
                packet_then(Duration::from_secs_f64(exponential(&mut self.dice, mean)))
            }
            Demand::OnOff { rate: Some(rate), burst, pause } => {
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
            Demand::OnOff { rate: None, burst, pause } => {
                let size = self.burst(burst);
                let pause = self.pause(pause);
                self.begin(now, size, Some(pause))
            }
            Demand::Media(media) => {
                let (packets, again) =
                    (self.encoder).frame(&media, self.packet, now, &mut self.dice);
                Step { supply: packets, ..packet_then(again) }
            }
            Demand::Web(web) => match self.browsing.act(&web, &mut self.dice) {
                Act::Wait(span) => Step { again: Some(span), ..NOTHING },
                Act::Fetch(size, pause) => {
                    Step { new_connection: true, ..self.begin(now, size, Some(pause)) }
                }
            },
        }
    }

    /// Returns true if the application follows the rate that congestion control allows.
    pub fn follows(&self) -> bool {
        matches!(self.demand, Demand::Media(_))
    }

    /// Notifies the application of the rate that congestion control allows, in bit/s.
    pub fn allow(&mut self, allowed: f64, now: Time) {
        if let Demand::Media(media) = &self.demand {
            self.encoder.allow(media, allowed, now);
        }
    }

    /// Sets the rate of the demand from the next packet on, if the demand has a rate.
    pub fn set_rate(&mut self, rate: Rate) {
        self.demand = self.demand.at_rate(rate);
    }

    /// Ends the transfer under way, if there is one.
    pub fn end(&mut self) -> Option<UnderWay> {
        self.transfer.take()
    }

    fn begin(&mut self, now: Time, size: Bytes, pause: Option<Duration>) -> Step {
        self.transfer = Some(UnderWay { start: now, size, pause });
        Step { supply: self.packets(size), is_transfer: true, ..NOTHING }
    }

    /// Returns the mean time from packet to packet at this rate.
    fn gap(&self, rate: Rate) -> Duration {
        match self.mean {
            None => rate.transmission(self.packet),
            Some(mean) => Duration::from_secs_f64(mean * 8.0 / rate.as_bps_f64()),
        }
    }

    /// Returns the number of whole packets that carry `bytes`, which is at least one.
    fn packets(&self, bytes: Bytes) -> u64 {
        bytes.get().div_ceil(self.packet.get()).max(1)
    }

    fn burst(&mut self, size: Draw<Bytes>) -> Bytes {
        match size {
            Draw::Constant(size) => size,
            law => Bytes::new(self.draw(law, Bytes::as_f64).ceil() as u64),
        }
    }

    fn pause(&mut self, length: Draw<Duration>) -> Duration {
        match length {
            Draw::Constant(length) => length,
            law => Duration::from_secs_f64(self.draw(law, Duration::as_secs_f64)),
        }
    }

    /// Draws a value from a law of quantities. `number` converts a quantity to a number.
    fn draw<T>(&mut self, law: Draw<T>, number: fn(T) -> f64) -> f64 {
        match law {
            Draw::Constant(x) => number(x),
            Draw::Exponential(mean) => exponential(&mut self.dice, number(mean)),
            Draw::Pareto { mean, shape } => {
                pareto(&mut self.dice, number(mean) * (shape - 1.0) / shape, shape)
            }
        }
    }
}

/// The step of an application that does nothing.
const NOTHING: Step = Step { supply: 0, is_transfer: false, new_connection: false, again: None };

fn packet_then(gap: Duration) -> Step {
    Step { supply: 1, again: Some(gap), ..NOTHING }
}
