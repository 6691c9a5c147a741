//! Random exponential marking: a price that matches the rate and clears the buffer, signalled to
//! the sources by the share of marked packets.
//!
//! The price is updated once per period. Here b is the number of packets waiting, and x − c the
//! number of arrivals less the number of packets that could have been sent [Low02 eq. 30]:
//!
//! ```text
//! p ← max(p + γ·(μ·b + x − c), 0)
//! ```
//!
//! A packet not yet marked is marked with probability 1 − φ^(−p) [Low02 eq. 31]. So over a path a
//! share 1 − φ^(−Σp) of the packets carries a mark [eq. 32]. In equilibrium x = c and b = 0: the
//! price needs no queue.
//!
//! Departures from the source: `docs/src/models/rem.md`.

use crate::bat::SHORTEST;
use crate::prelude::*;

accord_family::params! {
    /// The parameters of REM.
    pub struct Config of FAMILY => Rem() {
        /// Base of the exponential: a packet passes unmarked with probability φ^(−p), p the price in milliseconds.
        pub phi: f64 = number("1.1", 1.000001, 10.0).symbol("φ").source("[Low02 §6.3]"),
        /// Change of the price, in milliseconds, per excess packet.
        pub gain: f64 = number("0.005", 1e-9, 1.0).symbol("γ").source("[Low02 §6.3]"),
        /// Weight of a queued packet relative to an excess arrival.
        pub backlog_weight: f64 = number("0.5", 0.0, 1.0).symbol("μ").source("[Low02 §6.3]"),
        /// Interval between updates of the price.
        pub period: Duration = duration("1 ms").source("[Low02 §6.3]"),
        /// Size that counts as one packet, in bytes.
        pub packet: Size = size("1000 B").source("[Low02 §6]"),
        /// Marks ECN-capable packets instead of dropping them.
        pub ecn: bool = flag("true").source("[RFC 3168]"),
        /// Counts packets that it drops as arrivals, as in the source.
        pub count_dropped: bool = flag("true").source("[Low02 eq. 30]"),
    }
}

/// The declaration of REM.
pub static FAMILY: Family = Family {
    doc: "Random exponential marking: a price that matches rate and clears the buffer, signalled by the share of marked packets.",
    source: "[Low02 §5]",
    params: Config::PARAMS,
    check: |values| match values.size("packet") {
        _ if values.duration("period") < SHORTEST => {
            Err("period is shorter than 10 us, the shortest that is supported".into())
        }
        Size::Bytes(_) => Ok(()),
        Size::Packets(_) => Err("packet must be in bytes, not in packets".into()),
    },
    dynamics: Dynamics::Queue(|values, _| QueueDynamics {
        law: QueueLaw::Rem {
            ln_phi: libm::log(values.number("phi")),
            gain: values.number("gain") / packet(values),
            backlog: values.number("backlog_weight") / values.duration("period").as_secs_f64(),
            dropped: values.flag("count_dropped"),
        },
        ecn: values.flag("ecn"),
    }),
    page: "models/rem.md",
    maker: &Maker { build: |values| AnyAqm::Rem(Rem::new(values)) },
    ..Family::new("rem", Role::Queue(|values| Price::Marks { phi: values.number("phi") }))
};

/// The unit of the price, in seconds.
const UNIT: f64 = 1e-3;

/// The highest price. It marks every packet for any φ.
const HIGHEST: f64 = 1e9;

/// Returns the bytes that count as one packet.
fn packet(values: &Values) -> f64 {
    values.size("packet").bytes_f64(Bytes::new(1)).max(1.0)
}

/// Random exponential marking.
#[derive(Clone, Debug)]
pub struct Rem {
    /// The price p, in milliseconds.
    price: f64,
    /// The probability φ^(−p) that a packet passes without a mark.
    unmarked: f64,
    /// The bytes counted as arrivals since the last update.
    arrived: u64,
    updated: Time,
    /// The bytes that count as one packet.
    packet: f64,
    config: Config,
}

impl Rem {
    /// Creates a REM from its parameters.
    pub fn new(values: &Values) -> Rem {
        Rem {
            price: 0.0,
            unmarked: 1.0,
            arrived: 0,
            updated: Time::ZERO,
            packet: packet(values),
            config: Config::from(values),
        }
    }
}

impl Aqm for Rem {
    #[inline]
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        _: &QueueView,
        _: Time,
        entropy: &mut dyn Entropy,
    ) -> Verdict {
        let before = self.arrived;
        self.arrived = before.saturating_add(packet.size.get());
        let passes = packet.class == Class::OutOfBand || packet.ecn == Ecn::Marked;
        if passes || self.price == 0.0 || entropy.uniform() < self.unmarked {
            Verdict::Pass
        } else if self.config.ecn && packet.ecn.is_capable() {
            Verdict::Mark
        } else {
            if !self.config.count_dropped {
                self.arrived = before;
            }
            Verdict::Drop
        }
    }

    fn price(&self) -> Option<f64> {
        Some(self.price * UNIT)
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.updated + self.config.period)
    }

    fn on_timer(&mut self, queue: &QueueView, now: Time) {
        let could = queue.rate.as_bps_f64() / 8.0 * now.since(self.updated).as_secs_f64();
        let excess = self.config.backlog_weight * queue.waiting() + self.arrived as f64 - could;
        let price = self.price + self.config.gain * excess / self.packet;
        self.price = price.clamp(0.0, HIGHEST);
        self.unmarked = self.config.phi.powf(-self.price);
        self.arrived = 0;
        self.updated = now;
    }
}
