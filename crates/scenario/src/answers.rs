//! The load that comes with a flow's data: acknowledgements, or the counts, pairs and reports of a tunnel.

use crate::Flow;
use accord_family::{FlowFacts, Objective, Role};
use accord_units::Rate;

/// The load that comes with a flow's data. It follows from the flow's rate and round-trip time. It consists
/// of answers on the reverse path and, for a tunnel, of one control pair there and one report back per round
/// trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answers {
    /// The size of a data packet, in bytes.
    packet: f64,
    /// The size of an answer, in bytes.
    size: f64,
    /// The number of answers per round trip, at most one per packet.
    most: f64,
    /// The size of each half of a control pair and of a report, in bytes, or 0 without them.
    pair: f64,
}

impl Flow {
    /// Returns the answers to the flow's data.
    pub fn answers(&self) -> Answers {
        let family = self.controller.family();
        let silent = family.role.objective(&self.controller) == Some(Objective::Unresponsive);
        let facts = FlowFacts {
            packet: self.packet,
            weight: self.service.weight,
            has_contract: self.service.contract > Rate::ZERO,
        };
        let dynamics = family.window_dynamics().map(|of| of(&self.controller, &facts));
        let tunnel = matches!(family.role, Role::Tunnel(_));
        let control = self.control.as_f64();
        Answers {
            packet: self.packet.as_f64(),
            size: if tunnel { control } else { self.ack.as_f64() },
            pair: if tunnel { control } else { 0.0 },
            most: match dynamics {
                _ if silent => 0.0,
                Ok(dynamics) => dynamics.answers,
                Err(_) => f64::INFINITY,
            },
        }
    }
}

impl Answers {
    /// Returns the load on the reverse path in bytes per second, for a rate of data in bytes per second and a
    /// round-trip time in seconds.
    pub fn rate(&self, data: f64, rtt: f64) -> f64 {
        self.size * self.answered(data, rtt) + self.pair * self.pairs(data, rtt)
    }

    /// Returns the packets per second on the reverse path.
    pub fn packets(&self, data: f64, rtt: f64) -> f64 {
        self.answered(data, rtt) + self.pairs(data, rtt)
    }

    /// Returns the load of the halves of control pairs that overtake queues, in bytes per second. The other
    /// halves, which wait in queues, are an equal load.
    pub fn half(&self, data: f64, rtt: f64) -> f64 {
        self.pair * self.pairs(data, rtt)
    }

    /// Returns the control pairs per second: one per round trip in which data is sent [Xia05
    /// §IV-B].
    pub fn pairs(&self, data: f64, rtt: f64) -> f64 {
        let sent = self.pair > 0.0 && data > 0.0;
        if sent { (data / self.packet).min(rtt.recip()) } else { 0.0 }
    }

    /// Returns the number of answers to data per second. If the number per round trip is given, the first
    /// packet that arrives after each due time is answered, on average half a packet late.
    fn answered(&self, data: f64, rtt: f64) -> f64 {
        let packets = data / self.packet;
        if self.most <= 0.0 || packets <= 0.0 {
            return 0.0;
        }
        packets.min((rtt / self.most + 0.5 / packets).recip())
    }
}
