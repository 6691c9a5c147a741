//! Random exponential marking: a price that matches rate and clears the buffer, told to
//! sources by the share of marked packets.
//!
//! Once a period, with b the packets waiting and x − c what arrived less what could have been sent,
//! all in packets, the price follows [Low02 eq. 30]
//!
//! ```text
//! p ← max(p + γ·(μ·b + x − c), 0)
//! ```
//!
//! and a packet that no link before has marked is marked with probability 1 − φ^(−p)
//! [Low02 eq. 31], so that over a path 1 − φ^(−Σp) of the packets carry a mark [eq. 32].
//! At rest x = c and b = 0: the price stands without a queue to carry it.
//!
//! | symbol | field            | unit           | default | range     | source |
//! |--------|------------------|----------------|---------|-----------|--------|
//! | φ      | `phi`            | –              | 1.1     | 1.000001..10 | Low02 §6.3 |
//! | γ      | `gain`           | ms per packet  | 0.005   | 1e-9..1   | Low02 §6.3 |
//! | μ      | `backlog_weight` | –              | 0.5     | 0..1      | Low02 §6.3 |
//! | –      | `period`         | s              | 1 ms    | > 0       | Low02 §6.3 |
//! | –      | `packet`         | packets, bytes | 1000 B  | > 0       | Low02 §6   |
//! | –      | `ecn`            | –              | true    | –         | RFC 3168 |
//!
//! The unit of the price is the millisecond: a flow of x packets/ms at price p pays x·p
//! packets, which is what Vegas would keep queued. Both ends need the same φ, no more.
//!
//! Departures from the source. The queue is without the packet in service, which a fluid
//! does not have: with it, a link without any queue would be told to slow down. Packets count by size, `packet` to one, so that
//! acknowledgements weigh what they are. A packet that cannot be marked is dropped with
//! the same probability; the source has none such. The price is a millisecond whatever
//! the period, where the source ties one to the other.

use crate::{AnyAqm, Maker};
use crate::{Aqm, Class, Ecn, Entropy, PacketMeta, QueueView, Verdict};
use accord_family::{Dynamics, Family, Kind, Param, Price, QueueDynamics, QueueLaw, Role, Values};
use accord_units::{Bytes, Duration, Size, Time};

/// REM as the scenario language sees it.
pub static FAMILY: Family = Family {
    name: "rem",
    doc: "Random exponential marking: a price that matches rate and clears the buffer, \
          told by the share of marked packets.",
    source: "[Low02 §5]",
    params: &[
        Param {
            name: "phi",
            symbol: "φ",
            kind: Kind::Number {
                min: 1.000001,
                max: 10.0,
            },
            default: "1.1",
            doc: "Base of the exponential: a packet passes unmarked with probability φ to \
                  the minus price in milliseconds.",
            source: "[Low02 §6.3]",
        },
        Param {
            name: "gain",
            symbol: "γ",
            kind: Kind::Number {
                min: 1e-9,
                max: 1.0,
            },
            default: "0.005",
            doc: "Change of the price, in milliseconds, for each packet too many.",
            source: "[Low02 §6.3]",
        },
        Param {
            name: "backlog_weight",
            symbol: "μ",
            kind: Kind::Number { min: 0.0, max: 1.0 },
            default: "0.5",
            doc: "What a queued packet counts against one that arrived too many.",
            source: "[Low02 §6.3]",
        },
        Param {
            name: "period",
            symbol: "",
            kind: Kind::Duration,
            default: "1 ms",
            doc: "Time from one update of the price to the next.",
            source: "[Low02 §6.3]",
        },
        Param {
            name: "packet",
            symbol: "",
            kind: Kind::Size,
            default: "1000 B",
            doc: "What counts as one packet, in bytes.",
            source: "[Low02 §6]",
        },
        Param {
            name: "ecn",
            symbol: "",
            kind: Kind::Flag,
            default: "true",
            doc: "Marks packets that can be marked instead of dropping them.",
            source: "[RFC 3168]",
        },
    ],
    check: |values| match values.size("packet") {
        _ if values.duration("period") < SHORTEST => {
            Err("period is shorter than 10 us, which is all that a router would do".into())
        }
        Size::Bytes(_) => Ok(()),
        Size::Packets(_) => Err("packet says how large one is; write it in bytes".into()),
    },
    role: Role::Queue(|values| Price::Marks {
        phi: values.number("phi"),
    }),
    dynamics: Dynamics::Queue(|values, _| QueueDynamics {
        law: QueueLaw::Rem {
            ln_phi: values.number("phi").ln(),
            gain: values.number("gain") / packet(values),
            backlog: values.number("backlog_weight") / values.duration("period").as_secs_f64(),
        },
        ecn: values.flag("ecn"),
    }),
    kernel: None,
    page: "models/rem.md",
    maker: &Maker {
        build: |values| AnyAqm::Rem(Rem::new(values)),
    },
};

/// Shortest period: a shorter one has a simulator do nothing else.
const SHORTEST: Duration = Duration::from_us(10);

/// The price's unit, in seconds.
const UNIT: f64 = 1e-3;

/// Prices beyond this mark every packet, whatever φ is.
const HIGHEST: f64 = 1e9;

/// Bytes that count as one packet.
fn packet(values: &Values) -> f64 {
    values.size("packet").bytes_f64(Bytes::new(1)).max(1.0)
}

/// Random exponential marking.
#[derive(Clone, Debug)]
pub struct Rem {
    /// p, in milliseconds.
    price: f64,
    /// φ^(−p): the probability that a packet passes without a mark.
    unmarked: f64,
    /// Bytes that arrived since the last update.
    arrived: u64,
    updated: Time,
    phi: f64,
    gain: f64,
    backlog_weight: f64,
    period: Duration,
    /// Bytes that count as one packet.
    packet: f64,
    ecn: bool,
}

impl Rem {
    /// Builds it from its parameters.
    pub fn new(values: &Values) -> Rem {
        Rem {
            price: 0.0,
            unmarked: 1.0,
            arrived: 0,
            updated: Time::ZERO,
            phi: values.number("phi"),
            gain: values.number("gain"),
            backlog_weight: values.number("backlog_weight"),
            period: values.duration("period"),
            packet: packet(values),
            ecn: values.flag("ecn"),
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
        self.arrived = self.arrived.saturating_add(packet.size.get());
        let passes = packet.class == Class::OutOfBand || packet.ecn == Ecn::Marked;
        if passes || self.price == 0.0 || entropy.uniform() < self.unmarked {
            Verdict::Pass
        } else if self.ecn && packet.ecn.is_capable() {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }

    fn price(&self) -> Option<f64> {
        Some(self.price * UNIT)
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.updated + self.period)
    }

    fn on_timer(&mut self, queue: &QueueView, now: Time) {
        let could = queue.rate.as_bps_f64() / 8.0 * now.since(self.updated).as_secs_f64();
        let excess = self.backlog_weight * queue.waiting() + self.arrived as f64 - could;
        let price = self.price + self.gain * excess / self.packet;
        self.price = price.clamp(0.0, HIGHEST);
        self.unmarked = self.phi.powf(-self.price);
        self.arrived = 0;
        self.updated = now;
    }
}

accord_family::config! {
    /// The parameters of REM.
    pub struct Config of FAMILY {
        /// Base of the exponential: a packet passes unmarked with probability φ to the minus price in milliseconds.
        pub phi: f64,
        /// Change of the price, in milliseconds, for each packet too many.
        pub gain: f64,
        /// What a queued packet counts against one that arrived too many.
        pub backlog_weight: f64,
        /// Time from one update of the price to the next.
        pub period: Duration,
        /// What counts as one packet, in bytes.
        pub packet: Size,
        /// Marks packets that can be marked instead of dropping them.
        pub ecn: bool,
    }
}

impl Config {
    /// Makes the queue discipline.
    ///
    /// # Errors
    /// As [`Config::values`].
    pub fn build(&self) -> Result<Rem, String> {
        let values = self.values()?;
        Ok(Rem::new(&values))
    }
}
