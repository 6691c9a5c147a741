//! Random early detection: drops or marks packets with a probability that grows with the average
//! queue.
//!
//! The average follows the queue that each arrival finds [FJ93 §IV]:
//!
//! ```text
//! avg ← (1 − w)·avg + w·q              an arrival finds q > 0
//! avg ← (1 − w)^m·avg                  an arrival finds an idle link; m packets could
//!                                      have been sent since it became idle
//! p_b = max_p·(avg − min)/(max − min)  between the thresholds
//! p_a = p_b/(1 − count·p_b)            count: packets passed since the last mark
//! ```
//!
//! So the number of packets from one mark to the next is uniform on 1, 2, ..., 1/p_b [FJ93 eq. 2].
//! Above max every packet is dropped. With the gentle option p_b first rises from max_p to 1
//! between max and 2·max.
//!
//! Source: FJ93, Floyd and Jacobson, "Random Early Detection Gateways for Congestion
//! Avoidance", IEEE/ACM Transactions on Networking 1(4), 1993; the gentle option is
//! Floyd's note "Recommendation on using the gentle_ variant of RED" (2000).
//!
//! With thresholds in bytes p_b is scaled by the size of the arriving packet over `packet`. So a
//! flow's share of the marks is its share of the bytes [FJ93 §IV].
//!
//! The rule of `spare_short`, and departures from the source: `docs/src/models/red.md`.

use crate::prelude::*;

accord_family::params! {
    /// The parameters of RED.
    pub struct Config of FAMILY => Red() {
        /// Average queue below which every packet passes.
        pub min_threshold: Size = size("5 pkt").symbol("min_th").source("[FJ93 §VI]"),
        /// Average queue at which the probability reaches its maximum.
        pub max_threshold: Size = size("15 pkt").symbol("max_th").source("[FJ93 §VI]"),
        /// Weight of each arrival in the average queue.
        pub weight: f64 = number("0.002", 1e-9, 1.0).symbol("w_q").source("[FJ93 §VI]"),
        /// Probability at the upper threshold.
        pub max_probability: f64 = number("0.1", 1e-6, 1.0).symbol("max_p").source("[Floyd 1997]"),
        /// Lets the probability rise to 1 at twice the upper threshold, instead of jumping there.
        pub gentle: bool = flag("true").source("[Floyd 2000]"),
        /// Marks ECN-capable packets instead of dropping them.
        pub ecn: bool = flag("false").source("[RFC 3168]"),
        /// Passes a packet that finds at most one packet waiting behind the one in service, for any average, and the first one after it, as ns-2 does.
        pub spare_short: bool = flag("false").source("[ns-2]"),
        /// Packet size to which the probability applies if thresholds are in bytes; smaller packets are dropped or marked less often in proportion.
        pub packet: Size = size("1000 B").source("[FJ93 §IV]"),
    }
}

/// The declaration of RED.
pub static FAMILY: Family = Family {
    doc: "Random early detection: drops or marks at random, the more the longer the \
          average queue.",
    source: "[FJ93]",
    params: Config::PARAMS,
    check: |values| match thresholds(values) {
        _ if !matches!(values.size("packet"), Size::Bytes(size) if size > Bytes::ZERO) => {
            Err("packet must be in bytes and more than zero, such as \"1000 B\"".into())
        }
        Some((min, max, _)) if min < max => Ok(()),
        Some(_) => Err("max_threshold must be more than min_threshold".into()),
        None => {
            Err("min_threshold and max_threshold must have the same unit; write both in packets \
             or both in bytes"
                .into())
        }
    },
    dynamics: Dynamics::Queue(dynamics),
    page: "models/red.md",
    maker: &Maker { build: |values| AnyAqm::Red(Red::new(values)) },
    ..Family::new("red", Role::Queue(|_| Price::Loss))
};

/// Returns both thresholds and whether they count bytes, or `None` if their units differ.
fn thresholds(values: &Values) -> Option<(f64, f64, bool)> {
    match (values.size("min_threshold"), values.size("max_threshold")) {
        (Size::Packets(min), Size::Packets(max)) => Some((min, max, false)),
        (Size::Bytes(min), Size::Bytes(max)) => Some((min.as_f64(), max.as_f64(), true)),
        _ => None,
    }
}

fn dynamics(values: &Values, facts: &QueueFacts) -> QueueDynamics {
    let (min, max, in_bytes) = thresholds(values).expect("the family's check has passed");
    let packet = facts.packet.as_f64();
    QueueDynamics {
        law: QueueLaw::Red {
            min,
            max,
            unit: if in_bytes { 1.0 } else { packet },
            packet,
            ln_keep: libm::log1p(-values.number("weight")),
            probability: values.number("max_probability"),
            gentle: values.flag("gentle"),
        },
        ecn: values.flag("ecn"),
    }
}

/// Random early detection.
#[derive(Clone, Debug)]
pub struct Red {
    average: f64,
    /// The packets passed since the last mark while the average was above the lower threshold.
    count: f64,
    /// The time at which the last packet arrived, and the bytes then queued, including that packet.
    last: (Time, Bytes),
    config: Config,
    /// The thresholds, in bytes or packets.
    min: f64,
    max: f64,
    in_bytes: bool,
    /// The reference packet size of the probability, in bytes.
    packet: f64,
    /// True if the last packet was exempt or found an average below the lower threshold.
    exempt: bool,
}

impl Red {
    /// Creates a RED from its parameters.
    pub fn new(values: &Values) -> Red {
        let (min, max, in_bytes) = thresholds(values).expect("the family's check has passed");
        let config = Config::from(values);
        Red {
            average: 0.0,
            count: 0.0,
            last: (Time::ZERO, Bytes::ZERO),
            min,
            max,
            in_bytes,
            packet: config.packet.bytes_f64(Bytes::new(1)),
            config,
            exempt: true,
        }
    }

    /// The average queue, in the unit of the thresholds.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// Returns the number of packets of `size` that could have been sent since the link became
    /// idle.
    fn idle_packets(&self, size: Bytes, queue: &QueueView, now: Time) -> f64 {
        let (last, left) = self.last;
        let served = now.since(last).as_secs_f64() * queue.rate.as_bps_f64();
        ((served - left.bits_f64()) / size.bits_f64().max(1.0)).max(0.0)
    }

    /// Returns true if the queue is short enough to exempt another packet by ns-2's rule.
    fn is_short(&self, queue: &QueueView) -> bool {
        self.config.spare_short && queue.packets <= if self.in_bytes { 1 } else { 2 }
    }

    /// Returns p_b for the current average. It is 1 while every packet is dropped.
    fn probability(&self) -> f64 {
        if self.average < self.max {
            self.config.max_probability * (self.average - self.min) / (self.max - self.min)
        } else if self.config.gentle && self.average < 2.0 * self.max {
            self.config.max_probability
                + (1.0 - self.config.max_probability) * (self.average / self.max - 1.0)
        } else {
            1.0
        }
    }
}

impl Aqm for Red {
    fn ignores_lone(&self) -> bool {
        // The average stays at zero.
        self.min > 0.0
    }

    #[inline]
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        queue: &QueueView,
        now: Time,
        entropy: &mut dyn Entropy,
    ) -> Verdict {
        if packet.class == Class::OutOfBand {
            return Verdict::Pass;
        }
        if queue.packets == 0 {
            let m = self.idle_packets(packet.size, queue, now);
            self.average *= (1.0 - self.config.weight).powf(m);
        } else {
            let found = if self.in_bytes {
                queue.bytes.as_f64()
            } else {
                // The conversion of a signed integer is one instruction.
                queue.packets as i64 as f64
            };
            self.average += self.config.weight * (found - self.average);
        }
        self.last = (now, queue.bytes);
        if self.average < self.min || self.is_short(queue) {
            (self.count, self.exempt) = (0.0, true);
        } else {
            let any = self.probability();
            if self.config.spare_short && std::mem::take(&mut self.exempt) && any < 1.0 {
                self.count = 1.0;
                self.last.1 += packet.size;
                return Verdict::Pass;
            }
            let p = match self.in_bytes {
                true if any < 1.0 => (any * packet.size.as_f64() / self.packet).min(1.0),
                _ => any,
            };
            // 1 − count·p reaches zero when a mark is certain.
            if entropy.uniform() * (1.0 - self.count * p) < p {
                self.count = 0.0;
                if any >= 1.0 || !self.config.ecn || !packet.ecn.is_capable() {
                    return Verdict::Drop;
                }
                self.last.1 += packet.size;
                return Verdict::Mark;
            }
            self.count += 1.0;
        }
        self.last.1 += packet.size;
        Verdict::Pass
    }
}
