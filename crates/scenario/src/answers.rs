//! The answers to a flow's data: acknowledgements, or the counts of a tunnel.

use crate::Flow;
use accord_family::{FlowFacts, Objective, Role};
use accord_units::Rate;

/// The load of the answers to a flow's data, which follows from its rate and its round-trip time.
/// Control pairs and their reports, a few packets per round trip whatever the rate, are not part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answers {
    /// The size of a data packet, in bytes.
    packet: f64,
    /// The size of an answer, in bytes.
    size: f64,
    /// The answers per round trip, at most one per packet.
    most: f64,
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
        Answers {
            packet: self.packet.as_f64(),
            size: match family.role {
                Role::Tunnel(_) => self.control.as_f64(),
                _ => self.ack.as_f64(),
            },
            most: match dynamics {
                _ if silent => 0.0,
                Ok(dynamics) => dynamics.answers,
                Err(_) => f64::INFINITY,
            },
        }
    }
}

impl Answers {
    /// Returns the answers in bytes per second to a rate of data in bytes per second, with a
    /// round-trip time in seconds.
    pub fn rate(&self, data: f64, rtt: f64) -> f64 {
        self.size * self.packets(data, rtt)
    }

    /// Returns the answers per second. With a number per round trip the first packet that arrives
    /// after its time is answered, half a packet late on average.
    pub fn packets(&self, data: f64, rtt: f64) -> f64 {
        let packets = data / self.packet;
        if self.most <= 0.0 || packets <= 0.0 {
            return 0.0;
        }
        packets.min((rtt / self.most + 0.5 / packets).recip())
    }
}
